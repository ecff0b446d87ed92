//! Beads: `issues.jsonl`, an issue a line, with what blocks it and what it is a part of.

use fp_plan::text::one_line;
use serde_json::{Map, Value};

use super::{ReadResult, place_tasks};
use crate::folder::{SourceFolder, folder_of, not_json};
use crate::json_task::{id_of, read_json_task};
use crate::portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};
use crate::words::commit_in;

/// Types of dependencies that make an issue wait.
const BLOCKING: [&str; 3] = ["blocks", "waits-for", "conditional-blocks"];
/// Types of issues that the program makes for itself.
const INTERNAL: [&str; 9] = [
    "event",
    "agent",
    "message",
    "molecule",
    "gate",
    "role",
    "rig",
    "convoy",
    "merge-request",
];

fn has_issues(text: &str) -> bool {
    let is_issue = |map: &Map<String, Value>| {
        map.get("id").is_some_and(Value::is_string)
            && (map.contains_key("issue_type")
                || (map.contains_key("title") && map.contains_key("status")))
    };
    // A file whose first lines are no issues has none further down.
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(20);
    lines.any(|line| serde_json::from_str(line).is_ok_and(|map| is_issue(&map)))
}

pub(super) fn files(folder: &SourceFolder) -> Vec<&str> {
    folder
        .files_in("jsonl")
        .filter(|(_, text)| has_issues(text))
        .map(|(path, _)| path)
        .collect()
}

pub(super) fn read(folder: &SourceFolder, base: &str) -> ReadResult {
    let mut plan = PortablePlan::default();
    let mut above = Vec::new();
    let mut internal = 0;
    for (path, text) in folder
        .files_in("jsonl")
        .filter(|(path, _)| folder_of(path) == base)
    {
        for (line, number) in text
            .lines()
            .zip(1..)
            .filter(|(line, _)| !line.trim().is_empty())
        {
            let map = match serde_json::from_str::<Map<String, Value>>(line) {
                Ok(map) => map,
                Err(fault) => {
                    let ImportNotice { text, column, .. } = not_json(&fault);
                    let notice = ImportNotice::problem(format!("{text}; the line is left out"))
                        .in_file(path);
                    plan.notices.push(ImportNotice {
                        line: Some(number),
                        column,
                        ..notice
                    });
                    continue;
                }
            };
            let Some(id) = id_of(&map) else {
                if !map.contains_key("_schema") && !map.contains_key("_type") {
                    plan.problem_at(path, number, "an issue without an id; it is left out");
                }
                continue;
            };
            if map
                .get("issue_type")
                .and_then(Value::as_str)
                .is_some_and(|kind| INTERNAL.contains(&kind))
            {
                internal += 1;
                continue;
            }
            let told = plan.notices.len();
            above.push(read_issue(&mut plan, path, &id, &map));
            plan.notices[told..]
                .iter_mut()
                .for_each(|notice| notice.line = Some(number));
        }
    }
    place_tasks(&mut plan, above, true);
    if internal > 0 {
        plan.note(format!(
            "issues of the program's own, such as messages, stay out: {internal}"
        ));
    }
    Ok(plan)
}

/// Adds an issue, and returns the id of its parent.
fn read_issue(
    plan: &mut PortablePlan,
    path: &str,
    id: &str,
    map: &Map<String, Value>,
) -> Option<String> {
    let (waits, part_of) = links_of(map);
    let mut own = map.clone();
    own.entry("dependencies")
        .and_modify(|links| *links = waits.into());
    let mut task = PortableTask {
        ext: map.clone(),
        ..read_json_task(plan, path, id, &own)
    };
    let reason = map
        .get("close_reason")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match &mut task.work {
        work @ TaskWork::Done { .. } if ["wontfix", "duplicate"].contains(&reason) => {
            *work = TaskWork::Cancelled;
        }
        TaskWork::Done { commit } => *commit = commit_in(reason),
        _ => {}
    }
    plan.tasks.push(task);
    part_of
}

/// The ids of the issues that block an issue, and the id of its parent.
fn links_of(map: &Map<String, Value>) -> (Vec<String>, Option<String>) {
    let (mut waits, mut part_of) = (Vec::new(), None);
    for link in map
        .get("dependencies")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let text = |key: &str| link.get(key).and_then(Value::as_str).map(one_line);
        let target = text("depends_on_id")
            .or_else(|| text("id"))
            .or_else(|| link.as_str().map(one_line));
        let kind = text("type").unwrap_or_else(|| "blocks".into());
        match target {
            Some(target) if BLOCKING.contains(&kind.as_str()) => waits.push(target),
            Some(target) if kind == "parent-child" => drop(part_of.get_or_insert(target)),
            _ => {}
        }
    }
    (waits, part_of)
}
