//! What `fp` knows of a plan and another system's format has no field for. It stands in the format under one key, by
//! the names of the portable plan.

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

    /// `field` is this.
    pub fn keep(&mut self, field: &str, value: impl Into<Value>) -> &mut Self {
        self.0.insert(field.to_owned(), value.into());
        self
    }

    /// What is left; `None` where that is nothing.
    #[must_use]
    pub fn value(self) -> Option<Value> {
        (!self.0.is_empty()).then_some(Value::Object(self.0))
    }
}
