//! Work in a builder's own worktree that came to no commit. Before the worktree is emptied or removed it is kept as a
//! patch in the plan's folder, since nobody but its author decides that work is worth nothing.

use std::fs;
use std::path::PathBuf;

use fp_core::plan::id::AgentName;
use fp_core::run::State;
use fp_core::run::state::{Status, TaskState};

use super::RunError;
use crate::file::{self, FileError};
use crate::git::Git;
use crate::plan::OpenPlan;

/// The folder of the patches, below the plan's.
const FOLDER: &str = "unfinished";

/// Keeps what the worktree `git` of `owner` has of the last task that it claimed there, unless that has passed; a later
/// patch replaces an earlier one of the same task. Returns its path; `None` where nothing has changed.
pub(super) fn keep(
    plan: &OpenPlan,
    state: &State,
    owner: &AgentName,
    git: &Git,
) -> Result<Option<PathBuf>, RunError> {
    let last = state.worktrees.get(owner).and_then(|id| state.task(id));
    let Some(task) = last.filter(|task| !has_passed(task)) else { return Ok(None) };
    let Some(base) = &task.base else { return Ok(None) };
    let patch = git.patch(&base.tree.parse()?, &git.snapshot_tree()?.tree)?;
    if patch.is_empty() {
        return Ok(None);
    }
    let folder = plan.folder.file(FOLDER);
    if folder.is_symlink() {
        return Err(FileError::Link { path: folder }.into());
    }
    fs::create_dir_all(&folder).map_err(|source| FileError::Write { path: folder.clone(), source })?;
    let path = folder.join(format!("task-{}.patch", task.leaf.id));
    file::replace(&path, &patch)?;
    // The work itself is about to go.
    let synced = fs::File::open(&path).and_then(|file| file.sync_all());
    synced.map_err(|source| FileError::Write { path: path.clone(), source })?;
    Ok(Some(path))
}

/// Whether nothing of it can be lost: it is committed, or git has the tree that is to be.
fn has_passed(task: &TaskState) -> bool {
    task.status == Status::Completed || task.awaits_commit()
}
