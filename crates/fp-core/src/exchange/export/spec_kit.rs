//! Spec Kit's `tasks.md`: a line for each task below the heading of its phase, and below the line a list of all that it
//! has no room for. What came from the system itself, and is as it was, has its line alone.

use std::collections::HashSet;

use serde_json::Value;

use super::family::Family;
use super::names::Names;
use super::said::{Said, Written};
use crate::exchange::bullets::{self, titled, written};
use crate::exchange::portable::{PortablePlan, PortableTask, Work};
use crate::exchange::rest::KEY;

/// The file.
const TASKS: &str = "tasks.md";
/// The phase of tasks that have none.
const PHASE: &str = "Tasks";
/// Under this name an importer keeps the sections that have no tasks.
const SECTIONS: &str = "sections";

pub(super) fn write(said: &Said<'_>) -> Written {
    let family = Family::new(said.plan);
    let names = Names::given(said.plan, numbered(said.plan, &family));
    let exporter = Exporter { said, family, names };
    let mut text = format!("# Tasks: {}\n", written(&said.plan.title));
    exporter.phases(&mut text);
    exporter.sections(&mut text);
    if let Some(kept) = said.kept.whole() {
        // A line of JSON doesn't begin with a backtick.
        text.push_str(&format!("\n## {KEY}\n\n```json\n{kept:#}\n```\n"));
    }
    let name = |at: usize| (!exporter.family.is_parent(at)).then(|| exporter.names.of(at).to_owned());
    let names = (0..said.plan.tasks.len()).map(name).collect();
    Written { folder: [(TASKS, text)].into_iter().collect(), names }
}

/// The numbers that the leaves have already, or those from 1 in their order. A parent has no line, and keeps its id.
fn numbered(plan: &PortablePlan, family: &Family<'_>) -> Vec<String> {
    let mut names: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    let mut seen = HashSet::new();
    let is_own = |id: &str| {
        let number = id.strip_prefix('T').unwrap_or_default();
        number.len() >= 2 && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !family.leaves().all(|at| is_own(&names[at]) && seen.insert(&*plan.tasks[at].id)) {
        for (number, at) in family.leaves().enumerate() {
            names[at] = format!("T{:03}", number + 1);
        }
    }
    names
}

struct Exporter<'p> {
    said: &'p Said<'p>,
    family: Family<'p>,
    names: Names<'p>,
}

impl Exporter<'_> {
    fn phases(&self, text: &mut String) {
        let leaves: Vec<usize> = self.family.leaves().collect();
        let phases = leaves.chunk_by(|&a, &b| self.phase(a) == self.phase(b));
        for (number, leaves) in phases.enumerate() {
            let name = written(self.phase(leaves[0]));
            let heading = if self.said.comes_back { name } else { format!("Phase {}: {name}", number + 1) };
            text.push_str(&format!("\n## {heading}\n\n"));
            let phase = Phase::new(self.said.plan, leaves);
            leaves.iter().for_each(|&at| self.task(text, at, &phase));
        }
    }

    /// The group that a leaf is in, or else what holds it.
    fn phase(&self, at: usize) -> &str {
        let top = self.family.top(at);
        let task = &self.said.plan.tasks[at];
        match &task.group {
            Some(group) => group,
            None if top == at => PHASE,
            None => &self.said.plan.tasks[top].title,
        }
    }

    fn task(&self, text: &mut String, at: usize, phase: &Phase<'_>) {
        let task = &self.said.plan.tasks[at];
        let name = self.names.of(at);
        let mark = if matches!(task.work, Work::Done { .. }) { 'x' } else { ' ' };
        let stories = task.covers.iter().flatten().filter(|id| is_story(id));
        let stories: String = stories.map(|story| format!("[{story}] ")).collect();
        if self.said.as_it_was[at] {
            let title = task.title.replace(['\n', '\r'], " ");
            text.push_str(&format!("- [{mark}] {name} {}{stories}{title}\n", own_tags(task)));
            for line in task.description.iter().flat_map(|text| text.lines()) {
                text.push_str(&format!("  {line}\n"));
            }
            return;
        }
        let apart = if phase.is_apart(task) { "[P] " } else { "" };
        let title = written(&titled(&task.title, task.files.as_deref()));
        text.push_str(&format!("- [{mark}] {name} {apart}{stories}{title}\n"));
        let names = self.names.leaf_dependencies(&self.family, at, task);
        bullets::write(text, task, &names, self.said.kept.task(at));
    }

    /// What the page had beside its tasks.
    fn sections(&self, text: &mut String) {
        let sections = self.said.whole().and_then(|own| own.get(SECTIONS)).and_then(Value::as_object);
        for (heading, section) in sections.into_iter().flatten() {
            let section = section.as_str().unwrap_or_default();
            text.push_str(&format!("\n## {heading}\n\n{section}\n"));
        }
    }
}

/// The marks between number and title that the page had.
fn own_tags(task: &PortableTask) -> String {
    let parallel = task.ext.get("parallel").and_then(Value::as_bool).unwrap_or_default();
    let others =
        task.ext.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let all = parallel.then_some("P").into_iter().chain(others);
    all.map(|tag| format!("[{tag}] ")).collect()
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
        let mut ids = HashSet::new();
        for &at in leaves {
            let task = &plan.tasks[at];
            let files: HashSet<&str> = files(task).collect();
            shared.extend(files.into_iter().filter(|&path| !seen.insert(path)));
            ids.insert(task.id.as_str());
            // Whoever waits for a parent may wait for a task of this phase.
            ids.extend(
                task.parent.and_then(|parent| plan.tasks.get(parent)).map(|parent| parent.id.as_str()),
            );
        }
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
