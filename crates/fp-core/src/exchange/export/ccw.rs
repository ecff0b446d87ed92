//! Claude-Code-Workflow, the form of its version 7: `plan.json`, a file for each task that is worked on, and
//! `TODO_LIST.md`. It has no parents, so they stand with the plan, and who waits for one waits for all its leaves.

use serde_json::{Value, json};

use super::back::Back;
use super::family::Family;
use super::names::Names;
use super::object::{Object, document};
use crate::exchange::folder::Folder;
use crate::exchange::portable::{PortableFile, PortablePlan, PortableTask, Work};
use crate::exchange::rest::{KEY, Rest};
use crate::markdown;
use crate::plan::id::TaskId;

/// Under this name the tasks that only hold others stand with the plan.
const PARENTS: &str = "parents";

pub(super) fn folder(plan: &PortablePlan, comes_back: bool) -> Folder {
    let exporter = Exporter {
        plan,
        names: Names::new(plan, is_own_id, |plain| format!("IMPL-{plain}")),
        family: Family::new(plan),
        back: Back(comes_back),
    };
    let mut files = vec![
        ("plan.json".to_owned(), document(&exporter.whole())),
        ("TODO_LIST.md".to_owned(), exporter.todo_list()),
    ];
    for at in exporter.family.leaves() {
        files.push((format!(".task/{}.json", exporter.names.of(at)), document(&exporter.task(at))));
    }
    files.into_iter().collect()
}

/// Whether `id` is one that the system could have made, and a name that a file can have.
fn is_own_id(id: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    TaskId::new(id).is_ok() && id.split_once('-').is_some_and(|(word, _)| is_word(word))
}

struct Exporter<'p> {
    plan: &'p PortablePlan,
    names: Names<'p>,
    family: Family<'p>,
    back: Back,
}

impl Exporter<'_> {
    fn whole(&self) -> Object {
        let mut rest = Rest::of_plan(self.plan);
        let ids: Vec<&str> = self.family.leaves().map(|at| self.names.of(at)).collect();
        let mut whole = Object::default();
        whole.put("summary", self.plan.title.as_str());
        whole.put("approach", self.plan.goal.as_deref().unwrap_or_default());
        whole.put("task_count", ids.len());
        whole.put("task_ids", json!(ids));
        rest.placed("title").placed("goal");
        if self.plan.goal.is_none() {
            rest.unsaid("goal");
        }
        self.back.ext(&mut whole, &self.plan.ext, &mut rest);
        let parents: Vec<Value> = self.family.parents().map(|at| self.parent(at)).collect();
        if !parents.is_empty() {
            rest.keep(PARENTS, parents);
        }
        whole.put_some(KEY, rest.value());
        whole
    }

    /// A task that has no file, with all that is said of it.
    fn parent(&self, at: usize) -> Value {
        let task = &self.plan.tasks[at];
        let mut rest = Rest::of_task(task);
        rest.keep("id", task.id.as_str());
        rest.place(task, &task.id, self.family.parent_id(at));
        Value::Object(rest.fields().clone())
    }

    fn task(&self, at: usize) -> Object {
        let task = &self.plan.tasks[at];
        let mut rest = Rest::of_task(task);
        let mut object = Object::default();
        object.put("id", self.names.of(at));
        object.put("title", task.title.as_str());
        object.put("description", task.description.as_deref().unwrap_or_default());
        object.put("status", self.back.status(task, means).unwrap_or_else(|| status(&task.work)));
        rest.placed("title").placed("description").place(task, self.names.of(at), self.family.parent_id(at));
        if task.description.is_none() {
            rest.unsaid("description");
        }
        if matches!(task.work, Work::Running | Work::Skipped)
            || matches!(task.work, Work::Done { commit: None } | Work::Failed { reason: None })
        {
            rest.placed("work");
        }
        self.dependencies(at, &mut object, &mut rest);
        self.back.derived(&mut object, task, derived(task));
        if let Some(priority) = task.priority.as_deref().filter(|priority| PRIORITIES.contains(priority)) {
            object.put("priority", priority);
            rest.placed("priority");
        }
        if let Some(group) = &task.group {
            object.put("parallel_group", group.as_str());
            rest.placed("group");
        }
        contents(task, &mut object, &mut rest);
        self.back.ext(&mut object, &task.ext, &mut rest);
        object.put_some(KEY, rest.value());
        object
    }

    fn dependencies(&self, at: usize, object: &mut Object, rest: &mut Rest) {
        let task = &self.plan.tasks[at];
        let (names, exact) = self.names.leaf_dependencies(&self.family, at, task);
        if exact {
            rest.placed("dependencies");
        }
        if task.dependencies.is_none() {
            rest.unsaid("dependencies");
        }
        object.put("depends_on", names);
    }

    /// A line for each task with a file, ticked where it is done.
    fn todo_list(&self) -> String {
        let mut text = String::from("# Tasks: ");
        line(&mut text, &self.plan.title);
        text.push_str("\n\n## Task Progress\n");
        for at in self.family.leaves() {
            let task = &self.plan.tasks[at];
            let mark = if matches!(task.work, Work::Done { .. }) { 'x' } else { ' ' };
            let name = self.names.of(at);
            text.push_str(&format!("- [{mark}] **{name}**: "));
            line(&mut text, &task.title);
            text.push_str(&format!(" → [📋](./.task/{name}.json)\n"));
        }
        text
    }
}

const PRIORITIES: [&str; 4] = ["critical", "high", "medium", "low"];

fn status(work: &Work) -> &'static str {
    match work {
        Work::Todo => "pending",
        Work::Running => "in_progress",
        Work::Done { .. } => "completed",
        Work::Failed { .. } => "failed",
        Work::Skipped => "skipped",
    }
}

/// Whether a state is the one that the system's word `status` says.
fn means(status: &str) -> Option<fn(&Work) -> bool> {
    Some(match status {
        "pending" | "blocked" => |work| *work == Work::Todo,
        "in_progress" | "active" => |work| *work == Work::Running,
        "completed" | "done" => |work| matches!(work, Work::Done { .. }),
        "failed" => |work| matches!(work, Work::Failed { .. }),
        "skipped" => |work| *work == Work::Skipped,
        _ => return None,
    })
}

/// Fields of the system that follow from others: an importer that finds exactly these has learnt nothing from them.
#[must_use]
pub fn derived(task: &PortableTask) -> Vec<(&'static str, Value)> {
    let effort = task.complexity.map(|complexity| match complexity {
        0..=3 => "small",
        4..=6 => "medium",
        _ => "large",
    });
    effort.map(|effort| ("effort", effort.into())).into_iter().collect()
}

/// What is to be done, and how that is shown.
fn contents(task: &PortableTask, object: &mut Object, rest: &mut Rest) {
    let mut convergence = Object::default();
    convergence.put("criteria", task.acceptance.clone().unwrap_or_default());
    convergence.put_some("verification", task.verify.as_deref());
    object.put_object("convergence", convergence);
    rest.placed("acceptance").placed("verify");
    if task.acceptance.is_none() {
        rest.unsaid("acceptance");
    }
    if let Some(files) = &task.files {
        object.put_objects("files", files.iter().map(file).collect());
        rest.placed("files");
    }
    if let Some(hints) = &task.hints {
        object.put("implementation", hints.clone());
        rest.placed("hints");
    }
    let within = |key: &str, list: &Option<Vec<String>>| {
        let mut object = Object::default();
        object.put_some(key, list.clone());
        object
    };
    object.put_object("test", within("commands", &task.test_commands));
    object.put_object("reference", within("files", &task.references));
    rest.placed("testCommands").placed("references");
}

/// A new file is created, one of which something else is said has it as its change.
fn file(file: &PortableFile) -> Object {
    let is_new = file.note.as_deref() == Some("new");
    let mut object = Object::default();
    object.put("path", file.path.as_str());
    object.put("action", if is_new { "create" } else { "modify" });
    object.put_some("change", file.note.as_deref().filter(|_| !is_new));
    object
}

fn line(text: &mut String, title: &str) {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    markdown::inline(text, &title).expect("a text takes whatever is written to it");
}
