//! What an approval binds: each leaf by a hash of all that it says, so that an edit afterwards is noticed.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::event::Leaf;
use super::state::State;
use crate::plan::id::{InvalidId, TaskId};
use crate::plan::{Index, Plan, canonical};

/// SHA-256 of `bytes` as 64 hexadecimal digits.
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The leaves of a valid tree, as a run needs them. Fails on an id that is none; validation finds it before.
pub fn leaves(plan: &Plan) -> Result<Vec<Leaf>, InvalidId> {
    let index = Index::new(plan);
    plan.leaves()
        .map(|task| {
            let dependencies = index.leaf_dependencies(task);
            Ok(Leaf {
                id: TaskId::new(&*task.id)?,
                title: task.description.to_string(),
                hash: hash(canonical::leaf_text(plan, task).as_bytes()),
                dependencies: dependencies.into_iter().map(TaskId::new).collect::<Result<_, _>>()?,
                files: task.files().map(str::to_owned).collect(),
                complexity: task.complexity.unwrap_or(1),
            })
        })
        .collect()
}

/// The approved leaves that `plan` has no more, or has with another content.
#[must_use]
pub fn edited(state: &State, plan: &Plan) -> BTreeSet<TaskId> {
    let now = leaves(plan).unwrap_or_default();
    let hashes: HashMap<&str, &str> = now.iter().map(|l| (l.id.as_str(), l.hash.as_str())).collect();
    let same = |leaf: &Leaf| hashes.get(leaf.id.as_str()).is_some_and(|hash| *hash == leaf.hash);
    state.tasks.iter().filter(|t| !same(&t.leaf)).map(|t| t.leaf.id.clone()).collect()
}
