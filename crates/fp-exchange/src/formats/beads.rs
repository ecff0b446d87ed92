//! Beads: `issues.jsonl`, an issue a line, with what blocks it and what it is a part of.

use std::collections::HashMap;

use fp_plan::text::one_line;
use serde_json::{Map, Value};

use super::{ReadResult, SourceFormat, parents_first};
use crate::folder::{SourceFolder, folder_of, not_json};
use crate::json_task::{id_of, read_json_task};
use crate::portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};
use crate::words::commit_in;

/// Types of dependencies that make an issue wait.
const BLOCKING: [&str; 3] = ["blocks", "waits-for", "conditional-blocks"];
/// Types of issues that the program makes for itself.
const INTERNAL: [&str; 9] =
    ["event", "agent", "message", "molecule", "gate", "role", "rig", "convoy", "merge-request"];

fn has_issues(text: &str) -> bool {
    let is_issue = |map: &Map<String, Value>| {
        map.get("id").is_some_and(Value::is_string)
            && (map.contains_key("issue_type") || (map.contains_key("title") && map.contains_key("status")))
    };
    // What is no issue at the beginning is none further down.
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(20);
    lines.any(|line| serde_json::from_str(line).is_ok_and(|map| is_issue(&map)))
}

pub(super) fn recognise(folder: &SourceFolder) -> Option<&str> {
    folder.files_in("jsonl").find(|(_, text)| has_issues(text)).map(|(path, _)| path)
}

pub(super) fn read(folder: &SourceFolder) -> ReadResult {
    let files = || folder.files_in("jsonl").filter(|(_, text)| has_issues(text));
    let base = folder.only(SourceFormat::Beads, files().map(|(path, _)| folder_of(path)))?;
    let mut reader = BeadsReader::default();
    for (path, text) in files().filter(|(path, _)| folder_of(path) == base) {
        reader.read_file(path, text);
    }
    Ok(reader.finish())
}

#[derive(Default)]
struct BeadsReader {
    tasks: Vec<PortableTask>,
    /// What each is a part of.
    parts_of: Vec<Option<String>>,
    internal: usize,
    notices: Vec<ImportNotice>,
}

impl BeadsReader {
    fn read_file(&mut self, path: &str, text: &str) {
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let told = self.notices.len();
            match serde_json::from_str::<Map<String, Value>>(line) {
                Ok(map) => match id_of(&map) {
                    Some(id) => self.read_issue(&id, &map, path),
                    None if map.contains_key("_schema") || map.contains_key("_type") => {}
                    None => {
                        let text = "an issue without an id; it is left out";
                        self.notices.push(ImportNotice::problem(text).in_file(path));
                    }
                },
                Err(fault) => {
                    let notice = not_json(&fault).in_file(path);
                    let text = format!("{}; the line is left out", notice.text);
                    self.notices.push(ImportNotice { text, ..notice });
                }
            }
            self.notices[told..].iter_mut().for_each(|notice| notice.line = Some(number));
        }
    }

    fn read_issue(&mut self, id: &str, map: &Map<String, Value>, path: &str) {
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        if text("issue_type").is_some_and(|kind| INTERNAL.contains(&kind)) {
            self.internal += 1;
            return;
        }
        let (waits, part_of) = links_of(map);
        let mut own = map.clone();
        own.entry("dependencies").and_modify(|links| *links = waits.into());
        let mut task = PortableTask { ext: map.clone(), ..read_json_task(id, &own, path, &mut self.notices) };
        let reason = map.get("close_reason").and_then(Value::as_str).unwrap_or_default();
        match &mut task.work {
            work @ TaskWork::Done { .. } if ["wontfix", "duplicate"].contains(&reason) => {
                *work = TaskWork::Cancelled
            }
            TaskWork::Done { commit } => *commit = commit_in(reason),
            _ => {}
        }
        self.tasks.push(task);
        self.parts_of.push(part_of);
    }

    fn finish(mut self) -> (PortablePlan, Vec<ImportNotice>) {
        let mut positions: HashMap<&str, usize> = HashMap::new();
        for (at, task) in self.tasks.iter().enumerate() {
            positions.entry(&task.id).or_insert(at);
        }
        let parent = |(task, part_of): (&PortableTask, &Option<String>)| {
            let dotted = || task.id.rsplit_once('.').map(|(above, _)| above);
            positions.get(part_of.as_deref().or_else(dotted)?).copied()
        };
        let parents: Vec<Option<usize>> = self.tasks.iter().zip(&self.parts_of).map(parent).collect();
        for ((task, part_of), parent) in self.tasks.iter().zip(self.parts_of).zip(&parents) {
            if let Some(above) = part_of.filter(|_| parent.is_none()) {
                let text = format!("{} is a part of {above}, which is not there", task.id);
                self.notices.push(ImportNotice::problem(text));
            }
        }
        if self.internal > 0 {
            let text = format!("issues of the program's own, such as messages, stay out: {}", self.internal);
            self.notices.push(ImportNotice::note(text));
        }
        let tasks = parents_first(self.tasks, parents, &mut self.notices);
        (PortablePlan { tasks, ..PortablePlan::default() }, self.notices)
    }
}

/// What blocks an issue, and what it is a part of.
fn links_of(map: &Map<String, Value>) -> (Vec<String>, Option<String>) {
    let (mut waits, mut part_of) = (Vec::new(), None);
    for link in map.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| link.get(key).and_then(Value::as_str).map(one_line);
        let target = text("depends_on_id").or_else(|| text("id")).or_else(|| link.as_str().map(one_line));
        let kind = text("type").unwrap_or_else(|| "blocks".into());
        match target {
            Some(target) if BLOCKING.contains(&kind.as_str()) => waits.push(target),
            Some(target) if kind == "parent-child" => drop(part_of.get_or_insert(target)),
            _ => {}
        }
    }
    (waits, part_of)
}
