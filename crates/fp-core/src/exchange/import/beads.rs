//! beads: `issues.jsonl`, an issue a line, with what blocks it and what it is a part of.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::arrange::parents_first;
use super::converged;
use super::documents::{Documents, folder_of, not_json, only};
use super::fields::Fields;
use super::words::{self, one_line};
use super::{Found, Source};
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};

/// Whether an object is an issue, and no event or message.
fn is_issue(map: &Map<String, Value>) -> bool {
    map.get("id").is_some_and(Value::is_string)
        && (map.contains_key("issue_type") || (map.contains_key("title") && map.contains_key("status")))
}

fn issue(line: &str) -> Option<Map<String, Value>> {
    serde_json::from_str::<Map<String, Value>>(line).ok().filter(is_issue)
}

fn has_issues(text: &str) -> bool {
    // What is no issue at the beginning is none further down.
    text.lines().filter(|line| !line.trim().is_empty()).take(20).any(|line| issue(line).is_some())
}

pub(super) fn recognise(documents: &Documents<'_>) -> Option<String> {
    let (path, _) = documents.files_in("jsonl").find(|(_, text)| has_issues(text))?;
    Some(format!("{path} has an issue a line"))
}

pub(super) fn read(documents: &Documents<'_>) -> Found {
    let ours = || documents.files_in("jsonl").filter(|(_, text)| has_issues(text));
    let folder = only(Source::Beads, ours().map(|(path, _)| folder_of(path)))?;
    let mut reading = Reading::default();
    for (path, text) in ours().filter(|(path, _)| folder_of(path) == folder) {
        reading.file(path, text);
    }
    Ok(reading.finish())
}

#[derive(Default)]
struct Reading {
    tasks: Vec<PortableTask>,
    /// What each is a part of.
    parts_of: Vec<Option<String>>,
    notices: Vec<Notice>,
}

impl Reading {
    fn file(&mut self, path: &str, text: &str) {
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            match serde_json::from_str::<Map<String, Value>>(line) {
                Ok(map) if map.get("id").is_some_and(|id| id.is_string() || id.is_number()) => {
                    self.issue(path, number, &map)
                }
                Ok(_) => {
                    let notice = Notice::new(Kind::Broken, "an issue without an id; it is left out");
                    self.notices.push(notice.in_file(path).at_line(number));
                }
                Err(fault) => {
                    let notice = not_json(&fault);
                    let text = format!("{}; the line is left out", notice.text);
                    self.notices.push(Notice { text, ..notice }.in_file(path).at_line(number));
                }
            }
        }
    }

    fn issue(&mut self, path: &str, line: usize, map: &Map<String, Value>) {
        let mut fields = Fields::of(map);
        let id = fields.text("id").map(|id| one_line(&id)).unwrap_or_default();
        let (title, rest) = words::title(&fields.said("title").unwrap_or_default());
        let (design, criteria) = (fields.said("design"), fields.said("acceptance_criteria"));
        let description = fields.said("description");
        for (key, text) in [("design", &design), ("acceptance_criteria", &criteria)] {
            text.iter().for_each(|text| fields.put(key, text.clone().into()));
        }
        let mut task = PortableTask {
            title: if title.is_empty() { id.clone() } else { title },
            id,
            description: words::paragraphs(rest.into_iter().chain(description).chain(design)),
            acceptance: criteria.map(|text| words::entries(&text)).filter(|list| !list.is_empty()),
            priority: fields.text("priority").map(|priority| one_line(&priority)),
            ..PortableTask::default()
        };
        let status = fields.get("status").cloned();
        match converged::status(&mut fields) {
            Ok(work) => task.work = work,
            Err(word) => {
                let text = format!("{} has a status that means nothing here: {}", task.id, one_line(&word));
                self.notices
                    .push(Notice::new(Kind::UnknownValue, text).in_file(path).at_line(line).about(&task.id));
            }
        }
        // Several of its words mean the same here.
        if let Some(status) =
            status.filter(|s| !matches!(s.as_str(), Some("open" | "closed" | "in_progress")))
        {
            fields.put("status", status);
        }
        if let Work::Done { commit } = &mut task.work {
            *commit = fields.get("close_reason").and_then(Value::as_str).and_then(words::commit);
        }
        let part_of = links(&mut fields, &mut task);
        task.ext = fields.rest();
        self.tasks.push(task);
        self.parts_of.push(part_of);
    }

    fn finish(mut self) -> (PortablePlan, Vec<Notice>) {
        let mut place: HashMap<&str, usize> = HashMap::new();
        for (at, task) in self.tasks.iter().enumerate() {
            place.entry(&task.id).or_insert(at);
        }
        let parent = |(task, part_of): (&PortableTask, &Option<String>)| {
            let dotted = || task.id.rsplit_once('.').map(|(above, _)| above);
            place.get(part_of.as_deref().or_else(dotted)?).copied()
        };
        let parents: Vec<Option<usize>> = self.tasks.iter().zip(&self.parts_of).map(parent).collect();
        let known: HashSet<String> = place.keys().map(|id| (*id).to_owned()).collect();
        for (task, above) in
            self.tasks.iter_mut().zip(self.parts_of).filter_map(|(task, of)| Some((task, of?)))
        {
            if !known.contains(&above) {
                let text = format!("{} is a part of {above}, which is not there", task.id);
                self.notices.push(Notice::new(Kind::DanglingDependency, text).about(&task.id));
                task.ext.insert("parent".into(), above.into());
            }
        }
        let tasks = parents_first(self.tasks, &parents, &mut self.notices);
        (PortablePlan { tasks, ..PortablePlan::default() }, self.notices)
    }
}

/// Takes what blocks an issue, and returns what it is a part of. Whatever else it is linked with is kept.
fn links(fields: &mut Fields, task: &mut PortableTask) -> Option<String> {
    let links = fields.get("dependencies")?.as_array()?.clone();
    let mut part_of = None;
    let mut others = Vec::new();
    let mut blockers = Vec::new();
    for link in links {
        let text = |key: &str| link.get(key).and_then(Value::as_str).map(one_line);
        let target = text("depends_on_id").or_else(|| text("id")).or_else(|| link.as_str().map(one_line));
        match (target, text("type").as_deref()) {
            (Some(target), Some("blocks") | None) => blockers.push(target),
            (Some(target), Some("parent-child")) if part_of.is_none() => part_of = Some(target),
            _ => others.push(link),
        }
    }
    fields.put("dependencies", if others.is_empty() { Value::Null } else { others.into() });
    task.dependencies = Some(blockers);
    part_of
}
