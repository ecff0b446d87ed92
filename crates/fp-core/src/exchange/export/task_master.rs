//! Task Master's `tasks.json`: numbered tasks with numbered subtasks and nothing below these, so that deeper tasks
//! stand among the subtasks and name their parent.

use std::collections::HashSet;

use serde_json::Value;

use super::back::Back;
use super::family::Family;
use super::names::Names;
use super::object::{Object, document};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};
use crate::exchange::rest::{KEY, Rest};

/// The tag that the system works in unless it is told otherwise.
const TAG: &str = "master";
const PRIORITIES: [&str; 3] = ["high", "medium", "low"];

pub(super) fn text(plan: &PortablePlan, comes_back: bool) -> String {
    let family = Family::new(plan);
    let numbers = numbers(plan, &family);
    let names = Names::given(plan, numbers.iter().map(|number| number.name()).collect());
    document(&Exporter { plan, family, numbers, names, back: Back(comes_back) }.whole())
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
    plan: &'p PortablePlan,
    family: Family<'p>,
    numbers: Vec<Number>,
    names: Names<'p>,
    back: Back,
}

impl Exporter<'_> {
    fn whole(&self) -> Object {
        let mut rest = Rest::of_plan(self.plan);
        let mut metadata = Object::default();
        metadata.put("description", self.plan.title.as_str());
        let mut tag = Object::default();
        let mut subtasks: Vec<Vec<Object>> = vec![Vec::new(); self.plan.tasks.len()];
        for at in (0..self.plan.tasks.len()).filter(|&at| self.numbers[at].subtask.is_some()) {
            subtasks[self.family.top(at)].push(self.task(at, None));
        }
        let all = subtasks.into_iter().enumerate().filter(|(at, _)| self.numbers[*at].subtask.is_none());
        let tasks = all.map(|(at, subtasks)| self.task(at, Some(subtasks))).collect();
        tag.put_objects("tasks", tasks);
        // What the system says of the whole is its metadata.
        self.back.ext(&mut metadata, &self.plan.ext, &mut rest);
        metadata.put_some(KEY, rest.value());
        tag.put_object("metadata", metadata);
        let mut whole = Object::default();
        whole.put_object(TAG, tag);
        whole
    }

    fn task(&self, at: usize, subtasks: Option<Vec<Object>>) -> Object {
        let task = &self.plan.tasks[at];
        let Number { top, subtask } = self.numbers[at];
        let mut rest = Rest::of_task(task);
        let parent = self.family.parent(at).filter(|&parent| parent != self.family.top(at));
        rest.place(task, self.names.of(at), parent.map(|parent| self.plan.tasks[parent].id.as_str()));
        let mut object = Object::default();
        object.put("id", subtask.unwrap_or(top));
        object.put("title", task.title.as_str());
        object.put("description", task.description.as_deref().unwrap_or_default());
        rest.placed("title").placed("description");
        if task.description.is_none() {
            rest.unsaid("description");
        }
        object.put("status", self.back.status(task, means).unwrap_or_else(|| status(&task.work)));
        if matches!(task.work, Work::Running | Work::Done { commit: None } | Work::Skipped) {
            rest.placed("work");
        }
        if let Some(priority) = task.priority.as_deref().filter(|priority| PRIORITIES.contains(priority)) {
            object.put("priority", priority);
            rest.placed("priority");
        }
        self.dependencies(at, &mut object, &mut rest);
        self.back.derived(&mut object, task, derived(task));
        if let Some(subtasks) = subtasks {
            object.put_objects("subtasks", subtasks);
        }
        self.back.ext(&mut object, &task.ext, &mut rest);
        object.put_some(KEY, rest.value());
        object
    }

    /// In a subtask a number is one of the subtasks beside it, so that everything else is a text there.
    fn dependencies(&self, at: usize, object: &mut Object, rest: &mut Rest) {
        let task = &self.plan.tasks[at];
        let (names, exact) = self.names.dependencies(task);
        let ids = task.dependencies.iter().flatten();
        let own = self.numbers[at];
        let values = ids.zip(names).map(|(id, name)| {
            let target = self.names.position(id).map(|target| self.numbers[target]);
            match (own.subtask, target) {
                (None, Some(Number { top, subtask: None })) => top.into(),
                (None, None) => number(id).map_or_else(|| Value::from(name), Value::from),
                (Some(_), Some(Number { top, subtask: Some(subtask) })) if top == own.top => subtask.into(),
                _ => name.into(),
            }
        });
        object.put("dependencies", values.collect::<Vec<Value>>());
        if exact {
            rest.placed("dependencies");
        }
        if task.dependencies.is_none() {
            rest.unsaid("dependencies");
        }
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

/// Whether a state is the one that the system's word `status` says.
fn means(status: &str) -> Option<fn(&Work) -> bool> {
    Some(match status {
        "pending" | "deferred" | "blocked" => |work| *work == Work::Todo,
        "in-progress" | "review" => |work| *work == Work::Running,
        "done" | "completed" => |work| matches!(work, Work::Done { .. }),
        "cancelled" => |work| *work == Work::Skipped,
        _ => return None,
    })
}

/// Texts of the system that are made of other fields: an importer that finds exactly these has learnt nothing from
/// them.
#[must_use]
pub fn derived(task: &PortableTask) -> Vec<(&'static str, Value)> {
    let mut details = String::new();
    let files: Option<Vec<String>> =
        task.files.as_ref().map(|files| files.iter().map(ToString::to_string).collect());
    section(&mut details, "Acceptance", &task.acceptance);
    section(&mut details, "Files", &files);
    section(&mut details, "Hints", &task.hints);
    section(&mut details, "References", &task.references);
    section(&mut details, "Guardrails", &task.guardrails);
    let mut strategy = String::new();
    section(&mut strategy, "Commands that have to pass", &task.test_commands);
    section(&mut strategy, "Decides", &task.verify.clone().map(|command| vec![command]));
    if task.tests_required == Some(true) {
        strategy.push_str("Tests have to be written.\n");
    }
    let texts = [("details", details), ("testStrategy", strategy)];
    texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key, text.into())).collect()
}

fn section(text: &mut String, title: &str, items: &Option<Vec<String>>) {
    let items = items.as_deref().unwrap_or_default();
    if !items.is_empty() {
        text.push_str(&format!("{title}:\n"));
        items.iter().for_each(|item| text.push_str(&format!("- {item}\n")));
    }
}
