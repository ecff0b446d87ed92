//! What can be claimed now, and why the rest can't: derived from the state, never stored.

use std::collections::HashMap;

use super::state::{State, Status, TaskState};
use crate::plan::id::TaskId;
use crate::plan::path::{self, literal_prefix};

impl State {
    /// Why `task` can't be claimed now; `None` when it is ready.
    #[must_use]
    pub fn obstacle(&self, task: &TaskState) -> Option<Obstacle> {
        match task.status {
            Status::Pending => {}
            other => return Some(Obstacle::Status(other)),
        }
        let waits: Vec<TaskId> = task
            .leaf
            .dependencies
            .iter()
            .filter(|id| self.task(id).is_none_or(|t| t.status != Status::Completed))
            .cloned()
            .collect();
        if !waits.is_empty() {
            return Some(Obstacle::Waits(waits));
        }
        self.running()
            .find(|other| overlap(&other.leaf.files, &task.leaf.files))
            .map(|other| Obstacle::File(other.leaf.id.clone()))
    }

    /// The tasks that can be claimed now, in document order.
    pub fn ready(&self) -> impl Iterator<Item = &TaskState> {
        self.tasks.iter().filter(|t| self.obstacle(t).is_none())
    }

    /// The leaves that wait for `id`, directly or through others, in document order.
    #[must_use]
    pub fn dependents(&self, id: &TaskId) -> Vec<TaskId> {
        let mut users: HashMap<&TaskId, Vec<usize>> = HashMap::new();
        for (i, task) in self.tasks.iter().enumerate() {
            for dependency in &task.leaf.dependencies {
                users.entry(dependency).or_default().push(i);
            }
        }
        let mut found = vec![false; self.tasks.len()];
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            for &i in users.get(id).map_or(&[][..], |v| v) {
                if !found[i] {
                    found[i] = true;
                    open.push(&self.tasks[i].leaf.id);
                }
            }
        }
        self.tasks.iter().zip(found).filter(|(_, f)| *f).map(|(t, _)| t.leaf.id.clone()).collect()
    }
}

/// Why a task can't be claimed now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// It is not pending.
    Status(Status),
    /// These dependencies are not completed.
    Waits(Vec<TaskId>),
    /// This running task may change one of its files.
    File(TaskId),
}

/// Whether a file of one list is in the other, or below a folder of it.
#[must_use]
pub fn overlap(one: &[String], other: &[String]) -> bool {
    one.iter().any(|a| other.iter().any(|b| covers(a, b) || covers(b, a)))
}

/// Whether `path` is `listed`, or lies below it. A pattern counts as the folder that it begins with: what is
/// held must never be less than what may be changed.
#[must_use]
pub fn covers(listed: &str, path: &str) -> bool {
    let (Ok(listed), Ok(path)) = (path::normal(literal_prefix(listed)), path::normal(literal_prefix(path)))
    else {
        return false;
    };
    listed == path || path::is_above(&listed, &path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_covers_what_is_below_it() {
        let check = |listed: &str, path: &str, expect: bool| {
            assert_eq!(covers(listed, path), expect, "{listed} {path}")
        };
        check("src/a.rs", "src/a.rs", true);
        check("./src/a.rs", "src/a.rs", true);
        check("src", "src/a.rs", true);
        check("src/", "src/a.rs", true);
        check("src", "src2/a.rs", false);
        check("src/a.rs", "src", false);
        check("src/**/*.rs", "src/b/c.rs", true);
        check("src/**/*.rs", "tests/c.rs", false);
        check(".", "a", true);
    }
}
