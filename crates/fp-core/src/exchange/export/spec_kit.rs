//! Spec Kit's `tasks.md`: a line for each task below the heading of its phase. All that such a line has no room for
//! is a list below it, and what is said of parents and of the whole is a block at the end.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::family::Family;
use super::names::Names;
use crate::exchange::portable::{PortableFile, PortablePlan, PortableTask, Work};
use crate::exchange::rest::{KEY, Rest};
use crate::markdown;

/// Under this name the tasks that only hold others stand in the block at the end.
const PARENTS: &str = "parents";
/// What a task depends on that depends on nothing.
const NONE: &str = "none";
/// The phase of tasks that have none.
const PHASE: &str = "Tasks";
/// The fields that a reader looks for first, in their order.
const FIRST: [&str; 12] = [
    "id",
    "parent",
    "description",
    "dependencies",
    "acceptance",
    "files",
    "hints",
    "references",
    "guardrails",
    "testsRequired",
    "testCommands",
    "verify",
];

pub(super) fn text(plan: &PortablePlan) -> String {
    let family = Family::new(plan);
    let names = Names::given(plan, numbered(plan, &family));
    let exporter = Exporter { plan, family, names };
    let mut text = String::from("# Tasks: ");
    inline(&mut text, &plan.title);
    text.push('\n');
    exporter.phases(&mut text);
    exporter.block(&mut text);
    text
}

/// The numbers that the leaves have already, or those from 1 in their order. A parent has no line, and keeps its id.
fn numbered(plan: &PortablePlan, family: &Family<'_>) -> Vec<String> {
    let mut names: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    let mut seen = HashSet::new();
    let is_own = |id: &str| {
        let number = id.strip_prefix('T').unwrap_or_default();
        number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !family.leaves().all(|at| is_own(&names[at]) && seen.insert(&*plan.tasks[at].id)) {
        for (number, at) in family.leaves().enumerate() {
            names[at] = format!("T{:03}", number + 1);
        }
    }
    names
}

struct Exporter<'p> {
    plan: &'p PortablePlan,
    family: Family<'p>,
    names: Names<'p>,
}

impl Exporter<'_> {
    fn phases(&self, text: &mut String) {
        let leaves: Vec<usize> = self.family.leaves().collect();
        let phases = leaves.chunk_by(|&a, &b| self.phase(a) == self.phase(b));
        for (number, leaves) in phases.enumerate() {
            text.push_str(&format!("\n## Phase {}: ", number + 1));
            inline(text, self.phase(leaves[0]));
            text.push_str("\n\n");
            let phase = Phase::new(self.plan, leaves);
            for &at in leaves {
                self.line(text, at, phase.is_apart(&self.plan.tasks[at]));
            }
        }
    }

    /// The group that a leaf is in, or else what holds it.
    fn phase(&self, at: usize) -> &str {
        let top = self.family.top(at);
        let task = &self.plan.tasks[at];
        match &task.group {
            Some(group) => group,
            None if top == at => PHASE,
            None => &self.plan.tasks[top].title,
        }
    }

    fn line(&self, text: &mut String, at: usize, is_apart: bool) {
        let task = &self.plan.tasks[at];
        let mut rest = Rest::of_task(task);
        rest.place(task, self.names.of(at), self.family.parent_id(at));
        let mark = if matches!(task.work, Work::Done { .. }) { 'x' } else { ' ' };
        if task.work == (Work::Done { commit: None }) {
            rest.placed("work");
        }
        let apart = if is_apart { "[P] " } else { "" };
        let story = task.covers.iter().flatten().find(|id| is_story(id));
        let story = story.map(|story| format!("[{story}] ")).unwrap_or_default();
        let title = titled(&task.title, task.files.as_deref());
        let is_read_back = untitled(&title, task.files.as_deref()) == task.title;
        if is_read_back && read_inline(&written(&title)) == title {
            rest.placed("title");
        }
        text.push_str(&format!("- [{mark}] {} {apart}{story}", self.names.of(at)));
        inline(text, &title);
        text.push('\n');
        let (names, exact) = self.names.leaf_dependencies(&self.family, at, task);
        if task.dependencies.is_some() {
            text.push_str("  - depends on: ");
            let list = if names.is_empty() { NONE.to_owned() } else { names.join(", ") };
            inline(text, &list);
            text.push('\n');
            if exact && names.iter().all(|name| is_plain(name) && name != NONE) {
                rest.placed("dependencies");
            }
        }
        fields(text, rest.fields());
    }

    /// What is said of the whole, and of the parents, for a program to read.
    fn block(&self, text: &mut String) {
        let mut rest = Rest::of_plan(self.plan);
        rest.placed("title");
        if read_inline(&written(&self.plan.title)) != self.plan.title {
            rest.keep("title", self.plan.title.as_str());
        }
        let parents: Vec<Value> = self.family.parents().map(|at| self.parent(at)).collect();
        if !parents.is_empty() {
            rest.keep(PARENTS, parents);
        }
        let Some(value) = rest.value() else { return };
        // A backtick at the beginning of a line can't be in it.
        text.push_str(&format!("\n## {KEY}\n\n```json\n{value:#}\n```\n"));
    }

    fn parent(&self, at: usize) -> Value {
        let task = &self.plan.tasks[at];
        let mut rest = Rest::of_task(task);
        rest.keep("id", task.id.as_str()).place(task, &task.id, self.family.parent_id(at));
        Value::Object(rest.fields().clone())
    }
}

/// What is waited for within a phase, and which files more than one of its tasks changes.
struct Phase<'p> {
    is_alone: bool,
    ids: HashSet<&'p str>,
    shared: HashSet<&'p str>,
}

impl<'p> Phase<'p> {
    fn new(plan: &'p PortablePlan, leaves: &[usize]) -> Self {
        let (mut seen, mut shared) = (HashSet::new(), HashSet::new());
        for &at in leaves {
            let files: HashSet<&str> = files(&plan.tasks[at]).collect();
            shared.extend(files.into_iter().filter(|&path| !seen.insert(path)));
        }
        let mut ids: HashSet<&str> = leaves.iter().map(|&at| plan.tasks[at].id.as_str()).collect();
        // Whoever waits for a parent may wait for a task of this phase.
        ids.extend(
            plan.tasks.iter().filter_map(|task| plan.tasks.get(task.parent?)).map(|task| task.id.as_str()),
        );
        Self { is_alone: leaves.len() == 1, ids, shared }
    }

    /// Whether `task`, which is in the phase, can be done beside all others there.
    fn is_apart(&self, task: &PortableTask) -> bool {
        !self.is_alone
            && files(task).all(|path| !self.shared.contains(path))
            && task.dependencies.iter().flatten().all(|id| !self.ids.contains(id.as_str()))
    }
}

fn files(task: &PortableTask) -> impl Iterator<Item = &str> {
    task.files.iter().flatten().map(|file| file.path.as_str())
}

fn is_story(id: &str) -> bool {
    let number = id.strip_prefix("US").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// The title with the files behind it, unless it names the first of them already.
fn titled(title: &str, files: Option<&[PortableFile]>) -> String {
    match files {
        Some(files @ [first, ..]) if !title.contains(&first.path) => format!("{title}{}", behind(files)),
        _ => title.to_owned(),
    }
}

/// The title that [`titled`] has made `line` of.
fn untitled(line: &str, files: Option<&[PortableFile]>) -> String {
    let title = files.and_then(|files| line.strip_suffix(&behind(files)));
    title.filter(|title| titled(title, files) == line).unwrap_or(line).to_owned()
}

fn behind(files: &[PortableFile]) -> String {
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    format!(" in {}", paths.join(", "))
}

/// Each field as an entry: a text as it is, a list below its name, anything else as JSON.
fn fields(text: &mut String, fields: &Map<String, Value>) {
    let first = FIRST.iter().filter_map(|name| fields.get_key_value(*name));
    for (name, value) in first.chain(fields.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()))) {
        text.push_str(&format!("  - {name}:"));
        match value {
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                for item in items {
                    let file = serde_json::from_value(item.clone()).ok().and_then(|file| on_a_line(&file));
                    text.push_str(&format!("    - {}\n", file.unwrap_or_else(|| entry(item))));
                }
            }
            value => text.push_str(&format!(" {}\n", entry(value))),
        }
    }
}

/// A file as its path with its note, where that can be read back.
fn on_a_line(file: &PortableFile) -> Option<String> {
    let text = file.to_string();
    let line = entry(&Value::from(text.as_str()));
    (PortableFile::from(&*text) == *file && !line.starts_with(['"', '{'])).then_some(line)
}

/// A text on one line, or JSON: whatever can be read as JSON is that.
fn entry(value: &Value) -> String {
    if let Value::String(text) = value {
        let line = written(text);
        if !text.is_empty() && serde_json::from_str::<Value>(&line).is_err() && read_inline(&line) == *text {
            return line;
        }
    }
    // Within JSON a sign of Markdown is one too, and can be written otherwise.
    value.to_string().replace('<', "\\u003c").replace('`', "\\u0060")
}

fn written(text: &str) -> String {
    let mut line = String::new();
    inline(&mut line, text);
    line
}

fn inline(text: &mut String, line: &str) {
    let line = line.split(['\n', '\r']).collect::<Vec<_>>().join(" ");
    markdown::inline(text, line.trim()).expect("a text takes whatever is written to it");
}

/// The text that [`markdown::inline`] wrote as `line`.
fn read_inline(line: &str) -> String {
    let mut text = String::new();
    for (part, is_code) in markdown::spans(line) {
        let mut escaped = false;
        for c in part.chars() {
            if c == '\\' && !is_code && !escaped {
                escaped = true;
            } else {
                text.push(c);
                escaped = false;
            }
        }
    }
    text
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
