//! What an exporter is given to write, and what it has written.

use serde_json::{Map, Value};

use super::object::Object;
use crate::exchange::folder::Folder;
use crate::exchange::kept::Kept;
use crate::exchange::portable::{PortablePlan, PortableTask};

/// A plan that is to be written.
#[derive(Debug)]
pub(super) struct Said<'p> {
    pub(super) plan: &'p PortablePlan,
    /// Whether it came from the system that it is written for.
    pub(super) comes_back: bool,
    /// Of each task, whether what that system said of it is still what is said of it here, so that it is to have its
    /// own words.
    pub(super) as_it_was: Vec<bool>,
    /// What the format doesn't give back by itself.
    pub(super) kept: Kept,
}

/// What was written, and what each task is called there; a task without a name has no place in the format.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) folder: Folder,
    pub(crate) names: Vec<Option<String>>,
}

impl<'p> Said<'p> {
    pub(super) fn new(plan: &'p PortablePlan, comes_back: bool) -> Self {
        let as_it_was = vec![comes_back; plan.tasks.len()];
        Self { plan, comes_back, as_it_was, kept: Kept::default() }
    }

    /// Puts what the system said of the task at this position back to where it was.
    pub(super) fn give_back(&self, at: usize, object: &mut Object) {
        if self.comes_back {
            object.fill(&self.plan.tasks[at].ext, self.as_it_was[at]);
        }
    }

    /// The same for what it said of the whole.
    pub(super) fn whole(&self) -> Option<&'p Map<String, Value>> {
        Some(&self.plan.ext).filter(|_| self.comes_back)
    }

    /// The description without what an importer has put behind it and the system has under `key`.
    pub(super) fn description(&self, at: usize, key: &str) -> Option<&'p str> {
        let task: &PortableTask = &self.plan.tasks[at];
        let whole = task.description.as_deref()?;
        let own = task.ext.get(key).and_then(Value::as_str).filter(|_| self.as_it_was[at]);
        match own.and_then(|own| whole.strip_suffix(own)) {
            Some(before) => before.strip_suffix("\n\n"),
            None => Some(whole),
        }
    }
}
