//! Beads' `issues.jsonl`: an issue a line, parents as epics, whatever a task waits for as issues that block it.

use serde_json::{Value, json};

use super::back::Back;
use super::family::Family;
use super::names::Names;
use super::object::Object;
use crate::exchange::portable::{PortablePlan, PortableTask, Work};
use crate::exchange::rest::{KEY, Rest};
use crate::plan::id::TaskId;

/// Under this name the first issue says what the whole is.
const PLAN: &str = "plan";
/// The priority of an issue of which nothing else is said, between 0, the highest, and 4.
const PRIORITY: u64 = 2;

pub(super) fn text(plan: &PortablePlan, comes_back: bool) -> String {
    let exporter = Exporter {
        plan,
        family: Family::new(plan),
        names: Names::new(plan, is_own_id, |plain| format!("fp-{plain}")),
        back: Back(comes_back),
    };
    let mut text = String::new();
    for at in 0..plan.tasks.len() {
        let line = serde_json::to_string(&exporter.issue(at));
        text.push_str(&line.expect("the keys are texts, and nothing else can't be written"));
        text.push('\n');
    }
    text
}

/// Whether `id` is one that the system could have made: a prefix, and a number or a hash behind it.
fn is_own_id(id: &str) -> bool {
    let is_prefix = |prefix: &str| prefix.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    TaskId::new(id).is_ok()
        && id.split_once('-').is_some_and(|(prefix, rest)| is_prefix(prefix) && !rest.is_empty())
}

struct Exporter<'p> {
    plan: &'p PortablePlan,
    family: Family<'p>,
    names: Names<'p>,
    back: Back,
}

impl Exporter<'_> {
    fn issue(&self, at: usize) -> Object {
        let task = &self.plan.tasks[at];
        let name = self.names.of(at);
        let mut rest = Rest::of_task(task);
        rest.place(task, name, None);
        let mut issue = Object::default();
        issue.put("id", name);
        issue.put("title", task.title.as_str());
        issue.put_some("description", task.description.as_deref());
        rest.placed("title").placed("description");
        issue.put("status", self.back.status(task, means).unwrap_or_else(|| status(&task.work)));
        if matches!(task.work, Work::Running | Work::Done { commit: None }) {
            rest.placed("work");
        }
        priority(task, &mut issue, &mut rest);
        if self.back.own(task, "issue_type").is_none() {
            issue.put("issue_type", issue_type(self.family.is_parent(at)));
        }
        self.back.derived(&mut issue, task, derived(task));
        self.dependencies(at, &mut issue, &mut rest);
        self.back.ext(&mut issue, &task.ext, &mut rest);
        if at == 0 {
            rest.keep(PLAN, Rest::of_plan(self.plan).value());
        }
        issue.put_some(KEY, rest.value());
        issue
    }

    fn dependencies(&self, at: usize, issue: &mut Object, rest: &mut Rest) {
        let task = &self.plan.tasks[at];
        let name = self.names.of(at);
        let (names, exact) = self.names.dependencies(task);
        let on =
            |target: &str, kind: &str| json!({ "issue_id": name, "depends_on_id": target, "type": kind });
        let parent = self.family.parent(at).map(|parent| on(self.names.of(parent), "parent-child"));
        let all: Vec<Value> =
            parent.into_iter().chain(names.iter().map(|target| on(target, "blocks"))).collect();
        if exact && !names.is_empty() {
            rest.placed("dependencies");
        }
        if !all.is_empty() {
            issue.put("dependencies", all);
        }
    }
}

/// What an issue is of which nothing else is said.
#[must_use]
pub fn issue_type(is_parent: bool) -> &'static str {
    if is_parent { "epic" } else { "task" }
}

fn priority(task: &PortableTask, issue: &mut Object, rest: &mut Rest) {
    let number = task.priority.as_deref().map(|priority| match priority.to_ascii_lowercase().as_str() {
        "0" | "p0" | "critical" => 0,
        "1" | "p1" | "high" => 1,
        "3" | "p3" | "low" => 3,
        "4" | "p4" => 4,
        _ => PRIORITY,
    });
    let number = number.unwrap_or(PRIORITY);
    issue.put("priority", number);
    match &task.priority {
        None => drop(rest.unsaid("priority")),
        Some(priority) if *priority == number.to_string() => drop(rest.placed("priority")),
        Some(_) => {}
    }
}

fn status(work: &Work) -> &'static str {
    match work {
        Work::Todo => "open",
        Work::Running => "in_progress",
        Work::Done { .. } => "closed",
        // Neither is done, and nobody is to wait for them as if they were.
        Work::Failed { .. } | Work::Skipped => "blocked",
    }
}

/// Whether a state is the one that the system's word `status` says.
fn means(status: &str) -> Option<fn(&Work) -> bool> {
    Some(match status {
        "open" | "blocked" | "deferred" | "pinned" => |work| *work == Work::Todo,
        "in_progress" | "hooked" => |work| *work == Work::Running,
        "closed" => |work| matches!(work, Work::Done { .. }),
        _ => return None,
    })
}

/// Texts of the system that are made of other fields: an importer that finds exactly these has learnt nothing from
/// them.
#[must_use]
pub fn derived(task: &PortableTask) -> Vec<(&'static str, Value)> {
    let list = |items: &Option<Vec<String>>| {
        let items = items.as_deref().unwrap_or_default();
        items.iter().map(|item| format!("- {item}\n")).collect::<String>()
    };
    let texts = [("acceptance_criteria", list(&task.acceptance)), ("design", list(&task.hints))];
    texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key, text.into())).collect()
}
