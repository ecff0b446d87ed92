//! What the system that a plan came from said of it goes back to where it was, when it is exported to that system.

use serde_json::{Map, Value};

use super::object::Object;
use crate::exchange::portable::{PortableTask, Work};
use crate::exchange::rest::Rest;

/// Whether the plan came from the system that it is exported to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Back(pub(super) bool);

/// How far a task is that a system's word says this of; `None` for a word that it doesn't have.
pub(super) type Meaning = fn(&str) -> Option<fn(&Work) -> bool>;

impl Back {
    /// Puts `ext` back into `object`, if it is the system's own. What is said otherwise there by now stays in the rest.
    pub(super) fn ext(self, object: &mut Object, ext: &Map<String, Value>, rest: &mut Rest) {
        if self.0 {
            let left = object.fill(ext);
            rest.placed("ext");
            if !left.is_empty() {
                rest.keep("ext", left);
            }
        }
    }

    /// The system's own text for `key`, where it had one.
    pub(super) fn own<'t>(self, task: &'t PortableTask, key: &str) -> Option<&'t str> {
        task.ext.get(key).and_then(Value::as_str).filter(|_| self.0)
    }

    /// The word that the system had for the state of `task`, where it still says the same.
    pub(super) fn status(self, task: &PortableTask, meaning: Meaning) -> Option<&str> {
        self.own(task, "status").filter(|word| meaning(word).is_some_and(|is| is(&task.work)))
    }

    /// Adds texts that are made of other fields, unless the system had its own in their place.
    pub(super) fn derived(
        self,
        object: &mut Object,
        task: &PortableTask,
        derived: Vec<(&'static str, Value)>,
    ) {
        for (key, value) in derived {
            if !self.0 || !task.ext.contains_key(key) {
                object.put(key, value);
            }
        }
    }
}
