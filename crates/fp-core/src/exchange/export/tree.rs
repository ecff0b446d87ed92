//! The portable plan of a task tree and its run.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use crate::exchange::draft::UNWRITTEN;
use crate::exchange::of_task::portable_task;
use crate::exchange::origin::Origin;
use crate::exchange::portable::{PortablePlan, PortableTask, Work};
use crate::exchange::rest::Rest;
use crate::plan::id::TaskId;
use crate::plan::task::{Plan, TaskIndex};
use crate::run::State;
use crate::run::state::Status;

/// The plan of `tree`, whose run is at `state` and whose user said `goal`. The root is the plan itself, unless it is
/// all there is. With the `origin` of an imported plan its tasks have the ids of the source again, as far as they are
/// free, and what the source said beside.
#[must_use]
pub fn portable(tree: &Plan<'_>, state: &State, goal: Option<&str>, origin: Option<&Origin>) -> PortablePlan {
    let root = tree.root.filter(|&root| !tree.tasks[root].is_leaf());
    let own: Vec<TaskIndex> = (0..tree.tasks.len()).filter(|&task| Some(task) != root).collect();
    let mut places = vec![None; tree.tasks.len()];
    for (place, &task) in own.iter().enumerate() {
        places[task] = Some(place);
    }
    let names = Names::new(tree, &own, origin);
    let mut works = works(tree, state);
    let tasks = own.iter().map(|&index| {
        let task = &tree.tasks[index];
        let mut ext = origin
            .and_then(|origin| origin.tasks.get(&*task.id))
            .map_or_else(Map::new, |found| found.ext.clone());
        let unwritten = ext.remove(UNWRITTEN);
        let mut said = portable_task(task);
        let (remarks, dependencies) = (std::mem::take(&mut said.ext), said.dependencies.take());
        let said = with_unwritten(said, unwritten);
        PortableTask {
            id: names.of[index].clone(),
            parent: task.parent.and_then(|parent| places[parent]),
            dependencies: dependencies
                .map(|ids| ids.into_iter().map(|id| names.by_id.get(&*id).cloned().unwrap_or(id)).collect()),
            work: std::mem::take(&mut works[index]),
            ext: with_remarks(ext, remarks),
            ..said
        }
    });
    PortablePlan {
        title: title(tree, state, goal),
        goal: goal.map(str::to_owned),
        tasks: tasks.collect(),
        ext: whole(tree, root, origin),
    }
}

fn title(tree: &Plan<'_>, state: &State, goal: Option<&str>) -> String {
    let root = tree.root.map(|root| &tree.tasks[root]).filter(|root| !root.synthetic);
    match root {
        Some(root) => root.description.to_string(),
        None => {
            let line = goal.and_then(|goal| goal.lines().map(str::trim).find(|line| !line.is_empty()));
            line.map_or_else(|| state.plan_id.to_string(), str::to_owned)
        }
    }
}

/// What is said of the whole beside title and goal: by the source, by the root, and outside all tasks.
fn whole(tree: &Plan<'_>, root: Option<TaskIndex>, origin: Option<&Origin>) -> Map<String, Value> {
    let mut ext = origin.map_or_else(Map::new, |origin| origin.ext.clone());
    if let Some(root) = root.map(|root| &tree.tasks[root]).filter(|root| !root.synthetic) {
        let mut fields = portable_task(root);
        let dependencies = fields.dependencies.take();
        let mut rest = Rest::of_task(&fields);
        if let Some(ids) = dependencies {
            rest.keep("dependencies", ids);
        }
        if let Some(root) = rest.placed("title").clone().value() {
            ext.insert("root".to_owned(), root);
        }
    }
    if !tree.prose.is_empty() {
        let prose: Vec<&str> = tree.prose.iter().map(|(_, block)| &*block.text).collect();
        ext.insert("prose".to_owned(), json!(prose));
    }
    ext
}

/// What the tasks are called, by their place and by the id in the tree.
struct Names<'p> {
    of: Vec<String>,
    by_id: HashMap<&'p str, String>,
}

impl<'p> Names<'p> {
    fn new(tree: &'p Plan<'_>, own: &[TaskIndex], origin: Option<&Origin>) -> Self {
        let source = |task: TaskIndex| origin?.tasks.get(&*tree.tasks[task].id).map(|task| task.id.as_str());
        let taken: HashSet<&str> = own.iter().filter_map(|&task| source(task)).collect();
        let mut names = Self { of: vec![String::new(); tree.tasks.len()], by_id: HashMap::new() };
        for &task in own {
            let id: &str = &tree.tasks[task].id;
            let name = match source(task) {
                Some(name) => name.to_owned(),
                None => free(id, &taken),
            };
            names.by_id.entry(id).or_insert_with(|| name.clone());
            names.of[task] = name;
        }
        names
    }
}

/// `id` for a task that was added here, unless another one has it in the source.
fn free(id: &str, taken: &HashSet<&str>) -> String {
    let mut name = id.to_owned();
    while taken.contains(name.as_str()) {
        name.insert_str(0, "fp-");
    }
    name
}

/// Adds what the source says and no tree can: entries of lists, and texts where the tree has none.
fn with_unwritten(task: PortableTask, unwritten: Option<Value>) -> PortableTask {
    let Some(Value::Object(unwritten)) = unwritten else { return task };
    let Ok(Value::Object(mut fields)) = serde_json::to_value(&task) else { return task };
    for (name, mut value) in unwritten {
        if let (Value::Array(paths), "files") = (&mut value, name.as_str()) {
            paths.iter_mut().for_each(|path| *path = json!({ "path": path.take() }));
        }
        match (fields.get_mut(&name), value) {
            (Some(Value::Array(there)), Value::Array(lost)) => there.extend(lost),
            (Some(_), _) => {}
            (None, value) => drop(fields.insert(name, value)),
        }
    }
    serde_json::from_value(Value::Object(fields)).unwrap_or(task)
}

/// `ext` of the source with the remarks of the tree, which come behind what stands there under the same label.
fn with_remarks(mut ext: Map<String, Value>, remarks: Map<String, Value>) -> Map<String, Value> {
    let texts = |value: Value| match value {
        Value::Array(texts) => texts,
        text => vec![text],
    };
    for (label, remark) in remarks {
        let both = match ext.remove(&label) {
            Some(before) => Value::Array(texts(before).into_iter().chain(texts(remark)).collect()),
            None => remark,
        };
        ext.insert(label, both);
    }
    ext
}

/// How far each task is: a leaf by the run, a parent by its leaves.
fn works(tree: &Plan<'_>, state: &State) -> Vec<Work> {
    let mut works = vec![Work::Todo; tree.tasks.len()];
    for (index, task) in tree.tasks.iter().enumerate().rev() {
        works[index] = match task.is_leaf() {
            true => TaskId::new(&*task.id).map_or(Work::Todo, |id| work(state, &id, &task.description)),
            false => together(task.children.iter().map(|&child| &works[child])),
        };
    }
    works
}

fn work(state: &State, id: &TaskId, title: &str) -> Work {
    let Some(task) = state.task(id) else {
        // Until the plan is approved, what its source says is all that is known.
        let done = state.imported.get(id).filter(|done| done.title == title);
        return done.map_or(Work::Todo, |done| Work::Done { commit: done.commit.clone() });
    };
    match task.status {
        Status::Pending => Work::Todo,
        Status::Implementing | Status::AwaitingVerification => Work::Running,
        Status::Completed => Work::Done { commit: task.commit.clone() },
        Status::Failed => Work::Failed { reason: task.reason.clone() },
        Status::Skipped => Work::Skipped,
    }
}

fn together<'w>(children: impl Iterator<Item = &'w Work> + Clone) -> Work {
    let all = |is: fn(&Work) -> bool| children.clone().all(is);
    if all(|work| *work == Work::Todo) {
        Work::Todo
    } else if all(|work| matches!(work, Work::Done { .. })) {
        Work::Done { commit: None }
    } else if all(|work| *work == Work::Skipped) {
        Work::Skipped
    } else if all(|work| !matches!(work, Work::Todo | Work::Running)) {
        Work::Failed { reason: None }
    } else {
        Work::Running
    }
}
