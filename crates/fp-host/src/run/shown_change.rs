//! Reads what a task changed, so that whoever judges it sees the change at once.

use fp_run::report::change_text::change_text;
use fp_run::run::state::TaskState;
use fp_run::verification::change::Change;

use crate::error::{HostErrorKind, HostResult};
use crate::git::{Git, Oid};

/// Maximum size of all that is shown, and of what changed since the attempt before, in bytes.
const MOST_SHOWN: usize = 16 * 1024;
const MOST_SINCE: usize = 8 * 1024;

/// A task's change as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownChange {
    pub whole: String,
    /// The differences to the task's last failed attempt; `None` if there was none, or git no longer has it.
    pub since: Option<String>,
}

/// Shows the `changes` of `task` from the tree `base` to `tree`, which are in the object store of `git`.
pub fn shown_change(
    git: &Git,
    task: &TaskState,
    base: &Oid,
    tree: &Oid,
    changes: &[Change],
) -> HostResult<ShownChange> {
    let since = match &task.failed {
        None => None,
        Some(failed) => {
            let both: Vec<Change> = changes.iter().chain(&failed.files).cloned().collect();
            match git.changed_files(&failed.tree.parse()?, tree, &both) {
                Err(error) if error.kind == HostErrorKind::MissingObject => None,
                files => Some(change_text(&files?, MOST_SINCE)),
            }
        }
    };
    let left = MOST_SHOWN - since.as_ref().map_or(0, String::len).min(MOST_SINCE);
    let whole = change_text(&git.changed_files(base, tree, changes)?, left);
    Ok(ShownChange { whole, since })
}
