//! `csv`: a row for each task, for spreadsheets.

use csv::WriterBuilder;

use super::{parent_id, state_and_commit};
use crate::portable::{PortablePlan, TaskWork};

const COLUMNS: [&str; 21] = [
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
];

pub(super) fn csv_text(plan: &PortablePlan) -> String {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    let mut write = |row: [String; COLUMNS.len()]| {
        writer.write_record(row.map(|cell| escape_formula(&cell))).expect("memory takes every row");
    };
    write(COLUMNS.map(str::to_owned));
    (0..plan.tasks.len()).for_each(|at| write(row_of(plan, at)));
    let bytes = writer.into_inner().expect("memory takes every row");
    String::from_utf8(bytes).expect("it is made of texts")
}

fn row_of(plan: &PortablePlan, at: usize) -> [String; COLUMNS.len()] {
    let task = &plan.tasks[at];
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let files = task.files.as_ref().map(|files| files.iter().map(ToString::to_string).collect());
    let (status, commit) = state_and_commit(&task.work);
    let reason = match &task.work {
        TaskWork::Failed { reason } => reason.clone(),
        _ => None,
    };
    [
        task.id.clone(),
        task.title.clone(),
        parent_id(plan, at).unwrap_or_default().to_owned(),
        status.to_owned(),
        list_cell(&task.dependencies),
        list_cell(&files),
        task.complexity.map(|complexity| complexity.to_string()).unwrap_or_default(),
        text(&task.priority),
        text(&task.risk),
        text(&task.group),
        text(&task.description),
        list_cell(&task.acceptance),
        task.tests_required
            .map(|required| if required { "yes" } else { "no" })
            .unwrap_or_default()
            .to_owned(),
        list_cell(&task.test_commands),
        text(&task.verify),
        list_cell(&task.hints),
        list_cell(&task.references),
        list_cell(&task.guardrails),
        list_cell(&task.covers),
        commit.unwrap_or_default().to_owned(),
        reason.unwrap_or_default(),
    ]
}

/// An entry a line; `none` for a list without entries.
fn list_cell(texts: &Option<Vec<String>>) -> String {
    match texts.as_deref() {
        None => String::new(),
        Some([]) => "none".to_owned(),
        Some(texts) => texts.join("\n"),
    }
}

/// Puts an apostrophe in front of what a spreadsheet would calculate, and of what begins with one, so that taking one
/// away gives back every cell.
fn escape_formula(cell: &str) -> String {
    let marked = cell.starts_with(['=', '+', '-', '@', '\'', '\t', '\r', '\n']);
    if marked { format!("'{cell}") } else { cell.to_owned() }
}
