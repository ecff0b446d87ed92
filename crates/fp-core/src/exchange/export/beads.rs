//! Beads' `issues.jsonl`: an issue a line, parents as epics, whatever a task waits for as issues that block it.

use serde_json::{Value, json};

use super::family::Family;
use super::names::Names;
use super::object::Object;
use super::said::{Said, Written};
use crate::exchange::kept::PLAN;
use crate::exchange::portable::{PortableTask, Work};
use crate::exchange::rest::KEY;
use crate::plan::id::TaskId;

/// The file.
const ISSUES: &str = "issues.jsonl";
/// The priority of an issue of which nothing else is said, between 0, the highest, and 4.
const PRIORITY: u64 = 2;

pub(super) fn write(said: &Said<'_>) -> Written {
    let family = Family::new(said.plan);
    let names = Names::new(said.plan, is_own_id, |plain| format!("fp-{plain}"));
    let exporter = Exporter { said, family, names };
    let all = 0..said.plan.tasks.len();
    let mut text = String::new();
    for at in all.clone() {
        let line = serde_json::to_string(&exporter.issue(at));
        text.push_str(&line.expect("the keys are texts, and nothing else can't be written"));
        text.push('\n');
    }
    let names = all.map(|at| Some(exporter.names.of(at).to_owned()));
    Written { names: names.collect(), folder: [(ISSUES, text)].into_iter().collect() }
}

/// Whether `id` is one that the system could have made: a prefix, and a number or a hash behind it.
fn is_own_id(id: &str) -> bool {
    let is_prefix = |prefix: &str| prefix.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    TaskId::new(id).is_ok()
        && id.split_once('-').is_some_and(|(prefix, rest)| is_prefix(prefix) && !rest.is_empty())
}

struct Exporter<'p> {
    said: &'p Said<'p>,
    family: Family<'p>,
    names: Names<'p>,
}

impl Exporter<'_> {
    fn issue(&self, at: usize) -> Object {
        let task = &self.said.plan.tasks[at];
        let mut issue = Object::default();
        issue.put("id", self.names.of(at));
        issue.put("title", task.title.as_str());
        issue.put_some("description", self.said.description(at, "design"));
        issue.put("status", status(&task.work));
        issue.put("priority", priority(task));
        let has_type = self.said.comes_back && task.ext.contains_key("issue_type");
        if !has_type {
            issue.put("issue_type", if self.family.is_parent(at) { "epic" } else { "task" });
        }
        issue.put_some("acceptance_criteria", task.acceptance.as_ref().map(|list| entries(list)));
        issue.put_some("notes", task.hints.as_ref().map(|list| entries(list)));
        self.dependencies(at, &mut issue);
        self.said.give_back(at, &mut issue);
        issue.put_some(KEY, self.kept(at));
        issue
    }

    /// The first line has what is kept of the whole too.
    fn kept(&self, at: usize) -> Option<Value> {
        let whole = self.said.kept.whole().filter(|_| at == 0);
        let mut kept = self.said.kept.task(at);
        if let Some(whole) = whole {
            kept.get_or_insert_with(|| json!({}))[PLAN] = whole;
        }
        kept
    }

    /// The links that the system has beside are behind those that are known here.
    fn dependencies(&self, at: usize, issue: &mut Object) {
        let task = &self.said.plan.tasks[at];
        let name = self.names.of(at);
        let on =
            |target: &str, kind: &str| json!({ "issue_id": name, "depends_on_id": target, "type": kind });
        let parent = self.family.parent(at).map(|parent| on(self.names.of(parent), "parent-child"));
        let blocks = self.names.dependencies(task);
        let others = task.ext.get("dependencies").and_then(Value::as_array).filter(|_| self.said.comes_back);
        let all = parent.into_iter().chain(blocks.iter().map(|target| on(target, "blocks")));
        let all: Vec<Value> = all.chain(others.into_iter().flatten().cloned()).collect();
        if !all.is_empty() {
            issue.put("dependencies", all);
        }
    }
}

fn entries(list: &[String]) -> String {
    list.iter().map(|entry| format!("- {entry}\n")).collect()
}

fn priority(task: &PortableTask) -> u64 {
    let word = task.priority.as_deref().map(str::to_ascii_lowercase);
    match word.as_deref() {
        Some("0" | "p0" | "critical") => 0,
        Some("1" | "p1" | "high") => 1,
        Some("3" | "p3" | "low") => 3,
        Some("4" | "p4") => 4,
        _ => PRIORITY,
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
