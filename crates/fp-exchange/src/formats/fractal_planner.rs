//! A plan folder of Fractal Planner, 0.1 or the current version: the tree comes from `tasks.md`, the progress from the
//! state of its run, its reports and its evidence.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fp_plan::plan::{Lines, parse};
use fp_plan::text::one_line;
use regex::Regex;
use serde_json::{Map, Value};

use super::ReadResult;
use crate::export::portable_plan;
use crate::folder::{SourceFolder, folder_of, name_of};
use crate::page::{cells_of, plain_text};
use crate::portable::{ImportNotice, TaskWork};
use crate::words::{pattern, work_of};

/// A task of the list dialect.
static TASK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s*(?:[-*+]|\d+[.)])\s+\W{0,3}\[ID:\s*\S+\]"));
/// A task of the heading dialect. Other pages have such headings too, but no complexity below them.
static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?mi)^#{1,6}\s+\[[\w.-]+\]\s[^\n]*\n\s*[-*+]\s+\W{0,2}Complexity\b")
});
/// `- 1.1: Title | Iterations: 1/3 | Commit: abc1234`.
static DONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*[-*]\s+\W{0,2}(?:Task\s+)?T?([\w][\w.-]*?)\]?\W{0,2}[:\s].*?\bcommit:?\s+`?([0-9a-f]{7,64})\b",
    )
});
static EVIDENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^task-T?(.+)-verification\.md$"));
static PASSED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?im)^\W*Result\W+PASS"));
static COMMIT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^`?([0-9a-fA-F]{7,64})`?$"));

pub(super) fn plan_files(folder: &SourceFolder) -> Vec<&str> {
    folder.task_pages(|text| TASK.is_match(text) || HEADING.is_match(text))
}

pub(super) fn read_plan(folder: &SourceFolder, base: &str) -> ReadResult {
    let path = plan_files(folder)
        .into_iter()
        .find(|path| folder_of(path) == base)
        .unwrap_or_default();
    let text = folder.file_text(path).unwrap_or_default();
    let (tree, faults) = parse(text);
    let lines = Lines::new(text);
    let record = folder.object(base, "plan.json");
    let goal = record.and_then(|record| record.get("goal")?.as_str());
    let mut plan = portable_plan(&tree, goal, |_| TaskWork::Todo);
    for fault in faults {
        let place = lines.position(fault.span.start);
        let notice = ImportNotice::problem(fault.detail).in_file(path);
        plan.notices.push(notice.at_place(place.line, place.column));
    }
    let state = folder.object(base, "execution-state.json");
    let mut known = known_work(folder, base, state);
    for task in &mut plan.tasks {
        task.title = one_line(&task.title);
        if let Some(work) = known.remove(plain_id(&task.id)) {
            task.work = work;
        }
    }
    if let Some(state) = state {
        // Leaves out the entries that this program keeps for its own use.
        let kept = state
            .iter()
            .filter(|(key, _)| !["state", "checksum", "log"].contains(&key.as_str()));
        let kept: Map<String, Value> = kept
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        plan.ext.insert("executionState".into(), kept.into());
    }
    Ok(plan)
}

type WorkById = BTreeMap<String, TaskWork>;

/// The progress of each task. The sources are read in order of increasing reliability: evidence, reports, state.
fn known_work(folder: &SourceFolder, base: &str, state: Option<&Map<String, Value>>) -> WorkById {
    let mut known = WorkById::new();
    let evidence = if base.is_empty() {
        "evidence".to_owned()
    } else {
        format!("{base}/evidence")
    };
    for (path, text) in folder
        .files_in("md")
        .filter(|(path, _)| folder_of(path) == evidence)
    {
        let Some(id) = EVIDENCE.captures(name_of(path)) else {
            continue;
        };
        if PASSED.is_match(text) {
            set_work(&mut known, &id[1], TaskWork::Done { commit: None });
        }
    }
    for page in ["progress.md", "handoff.md"] {
        let text = folder.page(base, page).map_or("", |(_, text)| text);
        for found in text.lines().filter_map(|line| DONE.captures(line)) {
            set_work(
                &mut known,
                &found[1],
                TaskWork::Done {
                    commit: Some(found[2].to_lowercase()),
                },
            );
        }
        for row in text.lines().filter(|line| line.starts_with('|')) {
            read_row(&cells_of(row), &mut known);
        }
    }
    if let Some(state) = state {
        read_state(state, &mut known);
    }
    known
}

/// Reads a row of a report: an id, somewhere a state, and perhaps a commit.
fn read_row(row: &[String], known: &mut WorkById) {
    let Some((id, cells)) = row.split_first() else {
        return;
    };
    let commit = cells
        .iter()
        .find_map(|cell| COMMIT.captures(cell))
        .map(|found| found[1].to_lowercase());
    match cells.iter().find_map(|cell| work_of(cell)) {
        Some(TaskWork::Todo) | None => {}
        Some(work) => set_work(known, &plain_text(id), work.detailed(commit, None)),
    }
}

/// `1.1` for `T1.1`, as 0.1 sometimes names its tasks.
fn plain_id(id: &str) -> &str {
    id.strip_prefix('T')
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(id)
}

/// Sets a task's state, but keeps the commit from an earlier source if this one names none.
fn set_work(known: &mut WorkById, id: &str, work: TaskWork) {
    let work = match (work, known.remove(plain_id(id))) {
        (TaskWork::Done { commit: None }, Some(TaskWork::Done { commit })) => {
            TaskWork::Done { commit }
        }
        (work, _) => work,
    };
    known.insert(plain_id(id).to_owned(), work);
}

fn read_state(state: &Map<String, Value>, known: &mut WorkById) {
    let entries = |key: &str| {
        state
            .get(key)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    };
    for (id, reason) in entries("failureReasons") {
        set_work(
            known,
            id,
            TaskWork::Failed {
                reason: reason.as_str().map(one_line),
            },
        );
    }
    entries("skippedTasks").for_each(|(id, _)| set_work(known, id, TaskWork::Skipped));
    // A task that has an iteration but no end was in progress.
    for (id, _) in entries("iterationMap") {
        known
            .entry(plain_id(id).to_owned())
            .or_insert(TaskWork::Running);
    }
    let own = state.get("state").and_then(|state| state.get("tasks"));
    let tasks: Vec<(&str, &Value)> = match own.or(state.get("tasks")) {
        Some(Value::Object(map)) => map.iter().map(|(id, task)| (id.as_str(), task)).collect(),
        Some(Value::Array(all)) => all
            .iter()
            .filter_map(|task| Some((id_in(task)?, task)))
            .collect(),
        _ => Vec::new(),
    };
    for (id, task) in tasks {
        let text = |key: &str| {
            task.get(key)
                .or(task.get("metadata").and_then(|metadata| metadata.get(key)))
                .and_then(Value::as_str)
        };
        let word = text("fpStatus")
            .or_else(|| text("status"))
            .or(task.as_str());
        if let Some(work) = word.and_then(work_of) {
            let work = work.detailed(
                text("commit").map(str::to_owned),
                text("reason").map(one_line),
            );
            set_work(known, id, work);
        }
    }
}

fn id_in(task: &Value) -> Option<&str> {
    task.get("id")
        .or_else(|| task.get("leaf")?.get("id"))?
        .as_str()
}
