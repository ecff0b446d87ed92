//! What an approval binds: each leaf by a hash of all that it says, so that an edit afterwards is noticed.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::event::Leaf;
use super::ready::covers;
use super::state::State;
use crate::plan::id::{InvalidId, TaskId};
use crate::plan::{Index, Plan, Task, canonical};
use crate::schedule;
use crate::verification::is_lock_of;

/// SHA-256 of `bytes` as 64 hexadecimal digits.
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The leaves of a valid tree, as a run needs them; `exclusive` are the files that one task at a time may change.
/// Fails on an id that is none; validation finds it before.
pub fn leaves(plan: &Plan, exclusive: &[String]) -> Result<Vec<Leaf>, InvalidId> {
    let index = Index::new(plan);
    let phases = schedule::phases(plan);
    index
        .leaves()
        .iter()
        .map(|&number| {
            let task = &plan.tasks[number];
            let dependencies = index.leaf_dependencies(task);
            Ok(Leaf {
                id: TaskId::new(&*task.id)?,
                title: task.description.to_string(),
                hash: hash(canonical::leaf_text(plan, task).as_bytes()),
                dependencies: dependencies.into_iter().map(TaskId::new).collect::<Result<_, _>>()?,
                files: task.files().map(str::to_owned).collect(),
                exclusive: exclusive_of(task, exclusive),
                complexity: task.complexity.unwrap_or(1),
                phase: phases[number],
            })
        })
        .collect()
}

/// Those of `exclusive` that `task` may change: it lists their manifest, or something in them.
fn exclusive_of(task: &Task, exclusive: &[String]) -> Vec<String> {
    let may_change = |entry: &&String| {
        task.files().any(|file| is_lock_of(entry, file) || covers(entry, file) || covers(file, entry))
    };
    exclusive.iter().filter(may_change).cloned().collect()
}

/// The approved leaves that `plan` has no more, or has with another content.
#[must_use]
pub fn edited(state: &State, plan: &Plan) -> BTreeSet<TaskId> {
    let now = leaves(plan, &[]).unwrap_or_default();
    let hashes: HashMap<&str, &str> = now.iter().map(|l| (l.id.as_str(), l.hash.as_str())).collect();
    let same = |leaf: &Leaf| hashes.get(leaf.id.as_str()).is_some_and(|hash| *hash == leaf.hash);
    state.tasks.iter().filter(|t| !same(&t.leaf)).map(|t| t.leaf.id.clone()).collect()
}
