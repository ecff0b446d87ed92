//! Rolls a completed task back: undoes its commit with another one and makes the task pending again. If the
//! process dies on the way, the same command continues: it recognises a half-done undo by its files, and a
//! finished commit by its message.

use std::sync::Arc;

use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_run::run::State;
use fp_run::run::decline;
use fp_run::run::state::Status;
use jiff::Timestamp;

use super::RunError;
use super::commit::COMMIT_PATIENCE;
use super::worktree::follow_branch;
use crate::git::{
    Blocked, CommitOutcome, Git, GitError, Oid, Undo, Undoing, listed, stays_as_edited,
};
use crate::plan::OpenPlan;
use crate::store::acquire;

/// A rollback that is possible.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The task's commit, if it has one.
    pub commit: Option<Oid>,
    /// The reason why it has no commit.
    pub note: Option<String>,
    /// The tasks that depend on it, directly or not, and their states.
    pub waiting: Vec<(TaskId, Status)>,
    undo: Option<Undo>,
}

impl Prepared {
    /// The files that change; none if nothing of the commit is left.
    pub fn files(&self) -> Vec<RepoPath> {
        self.undo.as_ref().map(Undo::files).unwrap_or_default()
    }
}

/// Prepares rolling `id` back, without changing anything.
fn prepare(plan: &OpenPlan, id: &TaskId) -> Result<Prepared, RunError> {
    let state = plan.load()?.state;
    let task = state.expect_revertible(id, &[])?;
    let commit: Option<Oid> = task.commit.as_deref().map(str::parse).transpose()?;
    let undo = commit
        .as_ref()
        .map(|commit| undo(&place(plan, &state)?, id, commit))
        .transpose()?;
    if let Some(undo) = &undo {
        let files: Vec<String> = undo.files().iter().map(ToString::to_string).collect();
        state.expect_revertible(id, &files)?;
    }
    let waiting = state.dependents(id).into_iter();
    Ok(Prepared {
        commit,
        note: task.note.clone(),
        waiting: waiting
            .filter_map(|id| Some((id.clone(), state.task(&id)?.status)))
            .collect(),
        undo,
    })
}

/// The checkout in which a commit is undone.
fn place(plan: &OpenPlan, state: &State) -> Result<Git, GitError> {
    if state.is_shared() {
        plan.checkout(state)
    } else {
        plan.git()
    }
}

fn undo(git: &Git, id: &TaskId, commit: &Oid) -> Result<Undo, RunError> {
    if !git.contains(commit)? {
        return Err(decline(
            format!("commit {} of task {id} is not in what is checked out", commit.short()),
            "check out the branch that has it; where the history was rewritten, undo the change by hand and add a task \
             that does it again",
        )
        .into());
    }
    let undo = match git.undo(commit)? {
        Undoing::Clean(undo) => undo,
        Undoing::Conflict(files) => {
            let hint = "nothing is changed; undo it by hand and commit that, then run this again";
            return Err(of_files(
                "later commits have changed the same lines",
                &files,
                hint,
            ));
        }
    };
    let submodules = undo.submodules();
    if !submodules.is_empty() {
        return Err(of_files(
            "the commit changes submodules",
            &submodules,
            BY_HAND,
        ));
    }
    if let Some(blocked) = git.commit_obstacle()?.filter(|_| !undo.changes.is_empty()) {
        return Err(impossible(&blocked));
    }
    let in_the_way = git.in_the_way(&undo)?;
    if in_the_way.is_empty() {
        return Ok(undo);
    }
    let said = "files of the commit have uncommitted changes";
    Err(of_files(said, &in_the_way, "commit or stash them first"))
}

/// Rolls `id` back; calls `now` for the event. Returns the rollback and the reverting commit, if it took one.
///
/// # Errors
/// Anything that prevents it. If the log can't be written after the commit, calling this again continues.
pub fn roll_back(
    plan: &OpenPlan,
    id: &TaskId,
    now: impl FnOnce() -> Timestamp,
) -> Result<(Prepared, Option<Oid>), RunError> {
    let lock = Arc::new(acquire(&plan.commit_lock(), COMMIT_PATIENCE)?);
    let state = plan.load()?.state;
    if state.is_shared() {
        plan.sync()?;
        follow_branch(plan)?;
    }
    let prepared = prepare(plan, id)?;
    let revert = match (&prepared.commit, &prepared.undo) {
        (Some(commit), Some(undo)) => {
            revert(&place(plan, &state)?.with_commit_lock(lock), commit, undo)?
        }
        _ => None,
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

fn revert(git: &Git, commit: &Oid, undo: &Undo) -> Result<Option<Oid>, RunError> {
    if undo.changes.is_empty() {
        return Ok(git.revert_of(commit)?);
    }
    let (made, edited) = git.commit_undo(undo)?;
    match made {
        CommitOutcome::Committed { hash } => Ok(Some(hash)),
        CommitOutcome::NothingToCommit => Err(of_files(
            "git sees nothing to commit after undoing it",
            &undo.files(),
            BY_HAND,
        )),
        CommitOutcome::Blocked(blocked) => match stays_as_edited(&edited) {
            Some(stays) => Err(decline(
                format!("the commit that undoes it could not be made: {blocked}{stays}"),
                "settle that and see to these files, then run this again",
            )
            .into()),
            None => Err(impossible(&blocked)),
        },
    }
}

/// What is left where `fp` can't undo a commit.
const BY_HAND: &str = "nothing is changed; `git revert` its commit by hand, and run this again";

fn of_files(said: &str, files: &[RepoPath], hint: &str) -> RunError {
    decline(format!("{said}: {}", listed(files)), hint).into()
}

fn impossible(blocked: &Blocked) -> RunError {
    let said = format!("the commit that undoes it could not be made: {blocked}");
    decline(said, "nothing is changed; settle that and run this again").into()
}
