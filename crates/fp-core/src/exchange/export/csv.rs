//! `csv`: a row for each task, for spreadsheets. A list has an entry a line within its cell, and a cell that a
//! spreadsheet would calculate begins with an apostrophe.

use csv::WriterBuilder;
use serde_json::Value;

use super::family::Family;
use crate::exchange::kept::PLAN;
use crate::exchange::portable::{PortableFile, PortablePlan, PortableTask, Work};
use crate::exchange::rest::{KEY, Rest};

/// The columns, in their order. All but the last are fields of a portable task; of its work there are three.
const COLUMNS: [&str; 22] = [
    "id",
    "title",
    "parent",
    "status",
    "dependencies",
    "files",
    "complexity",
    "priority",
    "risk",
    "group",
    "description",
    "acceptance",
    "testsRequired",
    "testCommands",
    "verify",
    "hints",
    "references",
    "guardrails",
    "covers",
    "commit",
    "reason",
    KEY,
];
/// What stands in the cell of a list that has no entry.
const NONE: &str = "none";

pub(super) fn text(plan: &PortablePlan) -> String {
    let family = Family::new(plan);
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    let mut write = |row: &[String]| {
        writer.write_record(row).expect("every row has as many cells, and memory takes them all");
    };
    write(&COLUMNS.map(str::to_owned));
    for at in 0..plan.tasks.len() {
        write(&row(plan, &family, at).map(|cell| harmless(&cell)));
    }
    let bytes = writer.into_inner().expect("memory takes them all");
    String::from_utf8(bytes).expect("it is made of texts")
}

fn row(plan: &PortablePlan, family: &Family<'_>, at: usize) -> [String; COLUMNS.len()] {
    let task = &plan.tasks[at];
    let mut rest = Rest::of_task(task);
    let files: Option<Vec<String>> =
        task.files.as_ref().map(|files| files.iter().map(ToString::to_string).collect());
    if task
        .files
        .as_ref()
        .is_none_or(|files| files.iter().all(|file| PortableFile::from(&*file.to_string()) == *file))
    {
        place_list(&mut rest, "files", &files);
    }
    for (field, texts) in lists(task) {
        place_list(&mut rest, field, texts);
    }
    for (field, text) in one_text(task) {
        if text.as_ref().is_none_or(|text| !text.is_empty()) {
            rest.placed(field);
        }
    }
    let (status, commit, reason) = work(&task.work);
    let said = |text: Option<&str>| text.is_none_or(|text| !text.is_empty());
    if said(commit) && said(reason) {
        rest.placed("work");
    }
    rest.placed("title").placed("complexity").placed("testsRequired");
    if at == 0 {
        rest.keep(PLAN, Rest::of_plan(plan).value());
    }
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    [
        task.id.clone(),
        task.title.clone(),
        family.parent_id(at).unwrap_or_default().to_owned(),
        status.to_owned(),
        list(&task.dependencies),
        list(&files),
        task.complexity.map(|complexity| complexity.to_string()).unwrap_or_default(),
        text(&task.priority),
        text(&task.risk),
        text(&task.group),
        text(&task.description),
        list(&task.acceptance),
        task.tests_required
            .map(|required| if required { "yes" } else { "no" })
            .unwrap_or_default()
            .to_owned(),
        list(&task.test_commands),
        text(&task.verify),
        list(&task.hints),
        list(&task.references),
        list(&task.guardrails),
        list(&task.covers),
        commit.unwrap_or_default().to_owned(),
        reason.unwrap_or_default().to_owned(),
        rest.value().as_ref().map(Value::to_string).unwrap_or_default(),
    ]
}

fn lists(task: &PortableTask) -> [(&'static str, &Option<Vec<String>>); 7] {
    [
        ("dependencies", &task.dependencies),
        ("acceptance", &task.acceptance),
        ("testCommands", &task.test_commands),
        ("hints", &task.hints),
        ("references", &task.references),
        ("guardrails", &task.guardrails),
        ("covers", &task.covers),
    ]
}

fn one_text(task: &PortableTask) -> [(&'static str, &Option<String>); 5] {
    [
        ("priority", &task.priority),
        ("risk", &task.risk),
        ("group", &task.group),
        ("description", &task.description),
        ("verify", &task.verify),
    ]
}

fn work(work: &Work) -> (&'static str, Option<&str>, Option<&str>) {
    match work {
        Work::Todo => ("todo", None, None),
        Work::Running => ("running", None, None),
        Work::Done { commit } => ("done", commit.as_deref(), None),
        Work::Failed { reason } => ("failed", None, reason.as_deref()),
        Work::Skipped => ("skipped", None, None),
    }
}

/// What a spreadsheet would take for a formula, behind an apostrophe; so is what begins with one, so that taking one
/// away gives back every cell.
fn harmless(cell: &str) -> String {
    let marked = cell.starts_with(['=', '+', '-', '@', '\'', '\t', '\r', '\n']);
    if marked { format!("'{cell}") } else { cell.to_owned() }
}

/// Leaves a list to its cell, where that can be read back.
fn place_list(rest: &mut Rest, field: &str, texts: &Option<Vec<String>>) {
    if read_list(&list(texts)) == *texts {
        rest.placed(field);
    }
}

fn list(texts: &Option<Vec<String>>) -> String {
    match texts.as_deref() {
        None => String::new(),
        Some([]) => NONE.to_owned(),
        Some(texts) => {
            let lines = texts.iter().map(|text| text.replace('\\', r"\\").replace('\n', r"\n"));
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

fn read_list(cell: &str) -> Option<Vec<String>> {
    match cell {
        "" => None,
        NONE => Some(Vec::new()),
        cell => Some(cell.split('\n').map(read_line).collect()),
    }
}

fn read_line(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(chars.next().map(|c| if c == 'n' { '\n' } else { c })),
            c => text.push(c),
        }
    }
    text
}
