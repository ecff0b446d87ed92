//! Claude-Code-Workflow, the form of its version 7: `plan.json`, a file for each task that is worked on, and
//! `TODO_LIST.md`. It has no parents, so that who waits for one waits for all its leaves.

use serde_json::json;

use super::family::Family;
use super::names::Names;
use super::object::{Object, document};
use super::said::{Said, Written};
use crate::exchange::portable::{PortableFile, PortableTask, Work};
use crate::exchange::rest::KEY;
use crate::markdown;
use crate::plan::id::TaskId;

const PRIORITIES: [&str; 4] = ["critical", "high", "medium", "low"];

pub(super) fn write(said: &Said<'_>) -> Written {
    let family = Family::new(said.plan);
    let names = Names::new(said.plan, is_own_id, |plain| format!("IMPL-{plain}"));
    let exporter = Exporter { said, family, names };
    let mut files = vec![
        ("plan.json".to_owned(), document(&exporter.whole())),
        ("TODO_LIST.md".to_owned(), exporter.todo_list()),
    ];
    for at in exporter.family.leaves() {
        files.push((format!(".task/{}.json", exporter.names.of(at)), document(&exporter.task(at))));
    }
    let name = |at: usize| (!exporter.family.is_parent(at)).then(|| exporter.names.of(at).to_owned());
    Written { folder: files.into_iter().collect(), names: (0..said.plan.tasks.len()).map(name).collect() }
}

/// Whether `id` is one that the system could have made, and a name that a file can have.
fn is_own_id(id: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    TaskId::new(id).is_ok() && id.split_once('-').is_some_and(|(word, _)| is_word(word))
}

struct Exporter<'p> {
    said: &'p Said<'p>,
    family: Family<'p>,
    names: Names<'p>,
}

impl Exporter<'_> {
    fn whole(&self) -> Object {
        let plan = self.said.plan;
        let ids: Vec<&str> = self.family.leaves().map(|at| self.names.of(at)).collect();
        let mut whole = Object::default();
        let own = self.said.whole();
        if own.is_none_or(|own| !own.contains_key("summary")) {
            whole.put("summary", plan.title.as_str());
            whole.put("approach", plan.goal.as_deref().unwrap_or_default());
        }
        whole.put("task_count", ids.len());
        whole.put("task_ids", json!(ids));
        if let Some(own) = own {
            whole.fill(own, false);
        }
        whole.put_some(KEY, self.said.kept.whole());
        whole
    }

    fn task(&self, at: usize) -> Object {
        let task = &self.said.plan.tasks[at];
        let mut object = Object::default();
        object.put("id", self.names.of(at));
        object.put("title", task.title.as_str());
        object.put("description", task.description.as_deref().unwrap_or_default());
        object.put("status", status(&task.work));
        object.put("depends_on", self.names.leaf_dependencies(&self.family, at, task));
        object.put_some("effort", task.complexity.map(effort));
        object
            .put_some("priority", task.priority.as_deref().filter(|priority| PRIORITIES.contains(priority)));
        object.put_some("parallel_group", task.group.as_deref());
        contents(task, &mut object);
        self.said.give_back(at, &mut object);
        object.put_some(KEY, self.said.kept.task(at));
        object
    }

    /// A line for each task with a file, ticked where it is done.
    fn todo_list(&self) -> String {
        let mut text = String::from("# Tasks: ");
        line(&mut text, &self.said.plan.title);
        text.push_str("\n\n## Task Progress\n");
        for at in self.family.leaves() {
            let task = &self.said.plan.tasks[at];
            let mark = if matches!(task.work, Work::Done { .. }) { 'x' } else { ' ' };
            let name = self.names.of(at);
            text.push_str(&format!("- [{mark}] **{name}**: "));
            line(&mut text, &task.title);
            text.push_str(&format!(" → [📋](./.task/{name}.json)\n"));
        }
        text
    }
}

fn status(work: &Work) -> &'static str {
    match work {
        Work::Todo => "pending",
        Work::Running => "in_progress",
        Work::Done { .. } => "completed",
        Work::Failed { .. } => "failed",
        Work::Skipped => "skipped",
    }
}

fn effort(complexity: u32) -> &'static str {
    match complexity {
        0..=3 => "small",
        4..=6 => "medium",
        _ => "large",
    }
}

/// What is to be done, and how that is shown.
fn contents(task: &PortableTask, object: &mut Object) {
    let mut convergence = Object::default();
    convergence.put("criteria", task.acceptance.clone().unwrap_or_default());
    convergence.put_some("verification", task.verify.as_deref());
    object.put_object("convergence", convergence);
    if let Some(files) = &task.files {
        object.put_objects("files", files.iter().map(file).collect());
    }
    object.put_some("implementation", task.hints.clone());
    let within = |key: &str, list: &Option<Vec<String>>| {
        let mut object = Object::default();
        object.put_some(key, list.clone());
        object
    };
    object.put_object("test", within("commands", &task.test_commands));
    object.put_object("reference", within("files", &task.references));
}

/// What an importer reads as the note of the file.
fn file(file: &PortableFile) -> Object {
    let note = file.note.as_deref().map(|note| note.trim_start_matches('(').trim_end_matches(')'));
    let (word, change) = match note.and_then(|note| note.split_once(": ")) {
        Some((word, change)) => (Some(word), Some(change)),
        None => (note, None),
    };
    let (action, change) = match word {
        Some("new") => ("create", change),
        Some("deleted") => ("delete", change),
        _ => ("modify", note),
    };
    let mut object = Object::default();
    object.put("path", file.path.as_str());
    object.put("action", action);
    object.put_some("change", change);
    object
}

fn line(text: &mut String, title: &str) {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    markdown::inline(text, &title).expect("a text takes whatever is written to it");
}
