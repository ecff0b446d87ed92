//! Task Master's `tasks.json`: numbered tasks with numbered subtasks and nothing below these, so that deeper tasks
//! stand among the subtasks and name their parent.

use std::collections::HashSet;

use serde_json::Value;

use super::family::Family;
use super::names::Names;
use super::object::{Object, document};
use super::said::{Said, Written};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};
use crate::exchange::rest::KEY;

/// The file.
const TASKS: &str = "tasks.json";
/// Under this name an importer keeps what is said of each tag.
const TAGS: &str = "tags";
/// The tag that the system works in unless it is told otherwise.
const TAG: &str = "master";
const PRIORITIES: [&str; 3] = ["high", "medium", "low"];

pub(super) fn write(said: &Said<'_>) -> Written {
    let family = Family::new(said.plan);
    let numbers = numbers(said.plan, &family);
    let all: Vec<String> = numbers.iter().map(|number| number.name()).collect();
    let names = Names::given(said.plan, all.clone());
    let text = document(&Exporter { said, family, numbers, names }.whole());
    Written { folder: [(TASKS, text)].into_iter().collect(), names: all.into_iter().map(Some).collect() }
}

/// The number of a task without a parent, and below one that of the subtask too.
#[derive(Debug, Clone, Copy)]
struct Number {
    top: u64,
    subtask: Option<u64>,
}

impl Number {
    fn name(self) -> String {
        match self.subtask {
            None => self.top.to_string(),
            Some(subtask) => format!("{}.{subtask}", self.top),
        }
    }
}

/// The number of each task: the one that its id is, where those beside it have such ids too.
fn numbers(plan: &PortablePlan, family: &Family<'_>) -> Vec<Number> {
    let all = 0..plan.tasks.len();
    let tops: Vec<usize> = all.clone().filter(|&at| family.parent(at).is_none()).collect();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); plan.tasks.len()];
    for at in all.filter(|&at| family.parent(at).is_some()) {
        below[family.top(at)].push(at);
    }
    let mut numbers = vec![Number { top: 0, subtask: None }; plan.tasks.len()];
    for (&at, top) in tops.iter().zip(counted(tops.iter().map(|&at| number(&plan.tasks[at].id)))) {
        numbers[at].top = top;
        let id = format!("{}.", plan.tasks[at].id);
        let own = below[at].iter().map(|&task| number(plan.tasks[task].id.strip_prefix(&id)?));
        for (&task, subtask) in below[at].iter().zip(counted(own)) {
            numbers[task] = Number { top, subtask: Some(subtask) };
        }
    }
    numbers
}

/// These numbers, if all are there and different, else as many from 1.
fn counted(numbers: impl Iterator<Item = Option<u64>>) -> Vec<u64> {
    let numbers: Vec<Option<u64>> = numbers.collect();
    let mut seen = HashSet::new();
    let own: Option<Vec<u64>> =
        numbers.iter().map(|number| number.filter(|&number| seen.insert(number))).collect();
    own.unwrap_or_else(|| (1..).take(numbers.len()).collect())
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| *number > 0 && number.to_string() == text)
}

struct Exporter<'p> {
    said: &'p Said<'p>,
    family: Family<'p>,
    numbers: Vec<Number>,
    names: Names<'p>,
}

impl Exporter<'_> {
    /// With the tags that it had, or as a mere list, if it was one.
    fn whole(&self) -> Object {
        let own = self.said.whole();
        let tags = own.and_then(|own| own.get(TAGS)).and_then(Value::as_object);
        let mut list = Object::default();
        list.put_objects("tasks", self.tasks());
        let about = match tags {
            Some(tags) => tags.get(TAG).and_then(Value::as_object),
            None => own,
        };
        match about {
            Some(about) => list.fill(about, false),
            None if own.is_none() => {
                let mut metadata = Object::default();
                metadata.put("description", self.said.plan.title.as_str());
                list.put_object("metadata", metadata);
            }
            None => {}
        }
        list.put_some(KEY, self.said.kept.whole());
        if own.is_some() && tags.is_none() {
            return list;
        }
        let mut whole = Object::default();
        whole.put_object(TAG, list);
        if let Some(tags) = tags {
            whole.fill(tags, false);
        }
        whole
    }

    fn tasks(&self) -> Vec<Object> {
        let all = 0..self.said.plan.tasks.len();
        let mut subtasks: Vec<Vec<Object>> = vec![Vec::new(); all.len()];
        for at in all.filter(|&at| self.numbers[at].subtask.is_some()) {
            subtasks[self.family.top(at)].push(self.task(at, None));
        }
        let tops = subtasks.into_iter().enumerate().filter(|(at, _)| self.numbers[*at].subtask.is_none());
        tops.map(|(at, subtasks)| self.task(at, Some(subtasks))).collect()
    }

    fn task(&self, at: usize, subtasks: Option<Vec<Object>>) -> Object {
        let task = &self.said.plan.tasks[at];
        let Number { top, subtask } = self.numbers[at];
        let mut object = Object::default();
        object.put("id", subtask.unwrap_or(top));
        object.put("title", task.title.as_str());
        object.put("description", self.said.description(at, "details").unwrap_or_default());
        object.put("status", status(&task.work));
        object
            .put_some("priority", task.priority.as_deref().filter(|priority| PRIORITIES.contains(priority)));
        object.put_some("complexity", task.complexity);
        object.put("dependencies", self.dependencies(at));
        if !self.said.as_it_was[at] {
            object.put_some("details", details(task));
            object.put_some("testStrategy", strategy(task));
        }
        if let Some(subtasks) = subtasks {
            object.put_objects("subtasks", subtasks);
        }
        self.said.give_back(at, &mut object);
        object.put_some(KEY, self.said.kept.task(at));
        object
    }

    /// In a subtask a number is one of the subtasks beside it, so that everything else is a text there.
    fn dependencies(&self, at: usize) -> Vec<Value> {
        let task = &self.said.plan.tasks[at];
        let own = self.numbers[at];
        let all = task.dependencies.iter().flatten().zip(self.names.dependencies(task));
        let values = all.map(|(id, name)| {
            let target = self.names.position(id).map(|target| self.numbers[target]);
            match (own.subtask, target) {
                (None, Some(Number { top, subtask: None })) => top.into(),
                (None, None) => number(id).map_or_else(|| Value::from(name), Value::from),
                (Some(_), Some(Number { top, subtask: Some(subtask) })) if top == own.top => subtask.into(),
                _ => name.into(),
            }
        });
        values.collect()
    }
}

fn status(work: &Work) -> &'static str {
    match work {
        Work::Todo => "pending",
        Work::Running => "in-progress",
        Work::Done { .. } => "done",
        Work::Failed { .. } => "deferred",
        Work::Skipped => "cancelled",
    }
}

/// What else is said of a task, to be read by whoever does it; `None` where that is nothing.
fn details(task: &PortableTask) -> Option<String> {
    let files: Option<Vec<String>> =
        task.files.as_ref().map(|files| files.iter().map(ToString::to_string).collect());
    let verify = task.verify.iter();
    let commands = task.test_commands.iter().flatten().chain(verify);
    let mut text = String::new();
    section(&mut text, "Files", files.iter().flatten());
    section(&mut text, "Hints", task.hints.iter().flatten());
    section(&mut text, "References", task.references.iter().flatten());
    section(&mut text, "Guardrails", task.guardrails.iter().flatten());
    section(&mut text, "Commands that have to pass", commands);
    (!text.is_empty()).then_some(text)
}

fn section<'t>(text: &mut String, title: &str, items: impl Iterator<Item = &'t String>) {
    for (number, item) in items.enumerate() {
        if number == 0 {
            text.push_str(&format!("{title}:\n"));
        }
        text.push_str(&format!("- {item}\n"));
    }
}

fn strategy(task: &PortableTask) -> Option<String> {
    let criteria = task.acceptance.as_ref().filter(|criteria| !criteria.is_empty())?;
    Some(criteria.iter().map(|criterion| format!("- {criterion}\n")).collect())
}
