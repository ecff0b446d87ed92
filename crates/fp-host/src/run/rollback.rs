//! Rolls a completed task back: reverts its commit with another one and makes the task pending again. If the process
//! dies halfway, the same command picks up where it stopped: it recognises a half-done revert by its files, and a
//! finished commit by its message.

use std::sync::Arc;

use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_run::run::decline;
use fp_run::run::state::Status;
use jiff::Timestamp;

use super::commit::COMMIT_PATIENCE;
use super::integrate::Incoming;
use super::worktree::{Worktrees, follow_branch};
use crate::error::{HostError, HostErrorKind, HostResult};
use crate::file::acquire;
use crate::git::{Blocked, CommitOutcome, Git, Merge, Oid, file_list, stays_as_edited};
use crate::plan::OpenPlan;

/// A possible rollback.
pub struct Prepared<'p> {
    /// The task's commit, if it has one.
    pub commit: Option<Oid>,
    /// The reason why the task has no commit.
    pub note: Option<String>,
    /// The tasks that depend on the task, directly or indirectly, with their states.
    pub waiting: Vec<(TaskId, Status)>,
    /// The files that change; empty if nothing of the commit is left.
    pub files: Vec<RepoPath>,
    undo: Option<Incoming<'p>>,
}

/// Prepares rolling `id` back, without changing anything.
fn prepare<'p>(plan: &'p OpenPlan, id: &TaskId) -> HostResult<Prepared<'p>> {
    let state = plan.load()?.state;
    let task = state.expect_revertible(id, &[])?;
    let commit: Option<Oid> = task.commit.as_deref().map(str::parse).transpose()?;
    let undo = match &commit {
        Some(commit) => undo(plan, &plan.checkout(&state)?, id, commit)?,
        None => None,
    };
    let files = undo.as_ref().map(Incoming::files).unwrap_or_default();
    let names: Vec<String> = files.iter().map(ToString::to_string).collect();
    state.expect_revertible(id, &names)?;
    let waiting = state.dependents(id).into_iter();
    Ok(Prepared {
        commit,
        note: task.note.clone(),
        waiting: waiting
            .map(|user| (user.leaf.id.clone(), user.status))
            .collect(),
        files,
        undo,
    })
}

/// Stages HEAD of `git` without the changes of `commit`; `None` if HEAD no longer has any of them.
fn undo<'p>(
    plan: &'p OpenPlan,
    git: &Git,
    id: &TaskId,
    commit: &Oid,
) -> HostResult<Option<Incoming<'p>>> {
    if !git.contains(commit)? {
        return Err(decline(
            format!("commit {} of task {id} is not in what is checked out", commit.short()),
            "check out the branch that has it; where the history was rewritten, undo the change by hand and add a task \
             that does it again",
        )
        .into());
    }
    if let Some(blocked) = git.commit_obstacle()? {
        return Err(impossible(&blocked));
    }
    let head = git.head()?;
    let tree = match git.undo(commit, &head)? {
        Merge::Clean(tree) => tree,
        Merge::Conflict { files, .. } => {
            return Err(decline(
                format!(
                    "later commits have changed the same lines: {}",
                    file_list(&files)
                ),
                "nothing is changed; undo it by hand and commit that, then run this again",
            )
            .into());
        }
    };
    match Incoming::stage(Worktrees::lock(plan)?, git, head, tree) {
        Err(error) if error.kind == HostErrorKind::InTheWay => {
            let hint = "nothing is changed; settle that and run this again";
            Err(decline(error.to_string(), hint).into())
        }
        staged => staged,
    }
}

/// Rolls back `id`; calls `now` for the event's time. Returns the rollback and the reverting commit, if there is one.
///
/// # Errors
/// The rollback isn't possible. If the log can't be written after the commit, calling this again picks up from there.
pub fn roll_back<'p>(
    plan: &'p OpenPlan,
    id: &TaskId,
    now: impl FnOnce() -> Timestamp,
) -> HostResult<(Prepared<'p>, Option<Oid>)> {
    let lock = Arc::new(acquire(&plan.commit_lock(), COMMIT_PATIENCE)?);
    plan.sync()?;
    follow_branch(plan)?;
    let mut prepared = prepare(plan, id)?;
    let git = plan.checkout(&plan.load()?.state)?.with_commit_lock(lock);
    let revert = match (&prepared.commit, prepared.undo.take()) {
        (Some(commit), Some(undo)) => Some(revert(plan, &git, commit, undo)?),
        (Some(commit), None) => git.revert_of(commit)?,
        (None, _) => None,
    };
    let text = |oid: &Oid| oid.to_string();
    let mut ledger = plan.lock_in_order()?;
    let events = ledger.state().roll_back(
        id,
        prepared.commit.as_ref().map(text),
        revert.as_ref().map(text),
    )?;
    ledger.append(events, now())?;
    Ok((prepared, revert))
}

fn revert(plan: &OpenPlan, git: &Git, commit: &Oid, undo: Incoming<'_>) -> HostResult<Oid> {
    let (tree, files) = (undo.tree().clone(), undo.files());
    let message = git.revert_message(commit)?;
    // A killed process may have left the revert staged.
    git.take_back(&files)?;
    let placed = undo.place()?;
    let blocked = match git.commit_tree(&tree, &files, &message)? {
        CommitOutcome::Committed { hash } => return Ok(hash),
        CommitOutcome::NothingToCommit => {
            let said = "git sees nothing to commit after undoing it".to_owned();
            return Err(
                decline(said, "`git revert` its commit by hand, and run this again").into(),
            );
        }
        CommitOutcome::Blocked(blocked) => blocked,
    };
    match stays_as_edited(&placed.put_back(plan)?) {
        Some(stays) => Err(decline(
            format!("the commit that undoes it could not be made: {blocked}{stays}"),
            "settle that and see to these files, then run this again",
        )
        .into()),
        None => Err(impossible(&blocked)),
    }
}

fn impossible(blocked: &Blocked) -> HostError {
    let said = format!("the commit that undoes it could not be made: {blocked}");
    decline(said, "nothing is changed; settle that and run this again").into()
}
