//! What `fp` knows of a plan and another system's format has no field for. It stands in the format under one key, by
//! the names of the portable plan, and is laid over what an importer reads from the format's own fields.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::portable::{PortablePlan, PortableTask, Work};

/// The key under which it stands.
pub const KEY: &str = "fp";
/// Names the parent of a task here, by its id; a position means nothing where tasks are apart.
const PARENT: &str = "parent";

/// What of a plan or a task a format has yet to say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rest(Map<String, Value>);

impl Rest {
    /// All that is said of `task`, but for its id and its place among the others.
    #[must_use]
    pub fn of_task(task: &PortableTask) -> Self {
        let mut rest = Self::of(task);
        rest.placed("id");
        rest.placed(PARENT);
        if task.work == Work::Todo {
            rest.placed("work");
        }
        rest
    }

    /// All that is said of the whole.
    #[must_use]
    pub fn of_plan(plan: &PortablePlan) -> Self {
        let mut rest = Self::default();
        rest.keep("title", plan.title.as_str());
        if let Some(goal) = &plan.goal {
            rest.keep("goal", goal.as_str());
        }
        if !plan.ext.is_empty() {
            rest.keep("ext", plan.ext.clone());
        }
        rest
    }

    fn of(said: &impl Serialize) -> Self {
        match serde_json::to_value(said) {
            Ok(Value::Object(fields)) => Self(fields),
            _ => Self::default(),
        }
    }

    /// The format says `field` in a way of its own that is read back as it was.
    pub fn placed(&mut self, field: &str) -> &mut Self {
        self.0.remove(field);
        self
    }

    /// The format has to say something of `field`, of which the task says nothing.
    pub fn unsaid(&mut self, field: &str) -> &mut Self {
        self.keep(field, Value::Null)
    }

    /// `field` is this.
    pub fn keep(&mut self, field: &str, value: impl Into<Value>) -> &mut Self {
        self.0.insert(field.to_owned(), value.into());
        self
    }

    /// `task` is called `name` in the format, and stands below the task `parent`, if that can't be told from the
    /// format.
    pub fn place(&mut self, task: &PortableTask, name: &str, parent: Option<&str>) -> &mut Self {
        if task.id != name {
            self.keep("id", task.id.as_str());
        }
        if let Some(parent) = parent {
            self.keep(PARENT, parent);
        }
        self
    }

    /// The fields that are left, by name.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The same as the value of the key; `None` where nothing is left.
    #[must_use]
    pub fn value(self) -> Option<Value> {
        (!self.0.is_empty()).then_some(Value::Object(self.0))
    }
}

/// A task as an importer read it from the fields of a format, with what stands there under [`KEY`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The task by the format's own names; its parent by its position among those found.
    pub task: PortableTask,
    /// What stands under the key.
    pub rest: Map<String, Value>,
}

/// The tasks that were exported as `found`: each rest is laid over its task, and names of the format that stand for
/// ids are ids again. A rest that is not what an export writes is kept in the task's `ext` as it is.
#[must_use]
pub fn restored(found: Vec<Found>) -> Vec<PortableTask> {
    let mut ids: HashMap<String, String> = HashMap::new();
    for Found { task, rest } in &found {
        if let Some(id) = rest.get("id").and_then(Value::as_str) {
            ids.entry(task.id.clone()).or_insert_with(|| id.to_owned());
        }
    }
    let parents: Vec<Option<String>> =
        found.iter().map(|found| found.rest.get(PARENT)?.as_str().map(str::to_owned)).collect();
    let mut tasks: Vec<PortableTask> = found.into_iter().map(|found| laid_over(found, &ids)).collect();
    place(&mut tasks, &parents);
    tasks
}

fn laid_over(found: Found, ids: &HashMap<String, String>) -> PortableTask {
    let Found { mut task, mut rest } = found;
    for id in task.dependencies.iter_mut().flatten() {
        if let Some(own) = ids.get(id) {
            id.clone_from(own);
        }
    }
    rest.remove(PARENT);
    if rest.is_empty() {
        return task;
    }
    let as_read = rest.clone();
    if let Some(Value::Object(ext)) = rest.get_mut("ext") {
        let mut whole = task.ext.clone();
        whole.append(ext);
        *ext = whole;
    }
    let mut fields = Rest::of(&task).0;
    fields.append(&mut rest);
    fields.retain(|_, value| !value.is_null());
    if let Ok(whole) = serde_json::from_value(Value::Object(fields)) {
        return whole;
    }
    task.ext.insert(KEY.to_owned(), Value::Object(as_read));
    task
}

/// Gives each task the parent that is named for it. Where that one comes later, the task stays where it is.
fn place(tasks: &mut [PortableTask], parents: &[Option<String>]) {
    let mut before: HashMap<String, usize> = HashMap::new();
    for (at, (task, parent)) in tasks.iter_mut().zip(parents).enumerate() {
        if let Some(&parent) = parent.as_ref().and_then(|parent| before.get(parent)) {
            task.parent = Some(parent);
        }
        before.entry(task.id.clone()).or_insert(at);
    }
}
