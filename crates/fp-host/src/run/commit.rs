//! Commits of passed tasks: one at a time under a lock of their own, the intent logged before and the hash
//! after, so that a crash in between is recognised and never commits twice.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use fp_core::commit_message;
use fp_core::plan::id::TaskId;
use fp_core::repo_path::RepoPath;
use fp_core::run::State;
use fp_core::run::question::Topic;
use fp_core::run::state::{CommitIntent, TaskState};
use jiff::Timestamp;

use super::{RunError, paths};
use crate::git::{Blocked, Commit, Git, GitError, Oid, Outcome};
use crate::plan::OpenPlan;
use crate::store::{StoreError, acquire};

/// How long a commit is waited for that another process makes, whose hooks may be slow.
pub const COMMIT_PATIENCE: Duration = Duration::from_secs(60);

/// What became of a passed task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It has a commit.
    Committed(TaskId, String),
    /// It is done without one, for this reason.
    Uncommitted(TaskId, String),
    /// Its commit could not be made, for this reason; the user will be asked.
    Blocked(TaskId, String),
}

/// Completes every task that has passed and is not done yet; `now` is asked for each event. Waits up to
/// `patience` for another process that commits, and leaves the rest to it when that is not enough.
pub fn settle(
    plan: &OpenPlan,
    now: impl Fn() -> Timestamp,
    patience: Duration,
) -> Result<Vec<Settled>, RunError> {
    if due(&plan.load()?.state).is_none() {
        return Ok(Vec::new());
    }
    let lock = match acquire(&plan.commit_lock(), patience) {
        Ok(lock) => Arc::new(lock),
        Err(StoreError::Locked { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut settled = Vec::new();
    while let Some(task) = due(&plan.load()?.state).cloned() {
        settled.push(complete(plan, &task, &lock, &now)?);
    }
    Ok(settled)
}

/// The first passed task of a running run that is not done, and about whose commit no question is open.
fn due(state: &State) -> Option<&TaskState> {
    if !state.is_running() {
        return None;
    }
    let asked = |id: &TaskId| state.open_questions().any(|q| q.topic == Topic::CommitBlocked(id.clone()));
    state.tasks.iter().find(|t| t.awaits_commit() && !asked(&t.leaf.id))
}

fn complete(
    plan: &OpenPlan,
    task: &TaskState,
    lock: &Arc<File>,
    now: &impl Fn() -> Timestamp,
) -> Result<Settled, RunError> {
    let id = &task.leaf.id;
    if plan.load()?.state.run.is_some_and(|r| r.no_commit) {
        return done(plan, id, None, "commits are off", now);
    }
    let files = paths(task.changed());
    if files.is_empty() {
        return done(plan, id, None, "it changed nothing", now);
    }
    // Should this process die, the git that it started still holds the lock until its commit is made or not.
    let git = plan.git()?.with_commit_lock(Arc::clone(lock));
    let before = task.commit_intent.as_ref();
    let intended =
        |commit: &Commit, intent: &CommitIntent| intent.message.lines().next() == Some(&commit.subject);
    if let Some(hash) = made_before(&git, before, intended)? {
        return recovered(plan, id, &git, (&hash, &files), now);
    }
    let subjects = git.recent_subjects(commit_message::SUBJECTS)?;
    let message = commit_message::for_task(&subjects, &task.leaf.title, &files);
    let intent = CommitIntent {
        files: files.iter().map(ToString::to_string).collect(),
        message: message.clone(),
        head: match before {
            Some(before) => before.head.clone(),
            None => git.head()?.commit.to_string(),
        },
    };
    let mut ledger = plan.lock()?;
    let events = ledger.state().begin_commit(id, intent.files, intent.message, intent.head)?;
    ledger.append(events, now())?;
    drop(ledger);
    match git.commit(&files, &message)? {
        Outcome::Committed { hash } => done(plan, id, Some(&hash), "", now),
        Outcome::NothingToCommit => {
            // A hook may have given it another subject.
            match made_before(&git, before, |_, _| true)? {
                Some(hash) => recovered(plan, id, &git, (&hash, &files), now),
                None => done(plan, id, None, "its change is in HEAD already", now),
            }
        }
        Outcome::Blocked(blocked) => ask(plan, id, &blocked, now),
    }
}

/// The commit was made by a git whose caller died, and maybe that git with it.
fn recovered(
    plan: &OpenPlan,
    id: &TaskId,
    git: &Git,
    (hash, files): (&Oid, &[RepoPath]),
    now: &impl Fn() -> Timestamp,
) -> Result<Settled, RunError> {
    match git.follow_commit(files)? {
        None => done(plan, id, Some(hash), "", now),
        Some(blocked) => ask(plan, id, &blocked, now),
    }
}

fn ask(
    plan: &OpenPlan,
    id: &TaskId,
    blocked: &Blocked,
    now: &impl Fn() -> Timestamp,
) -> Result<Settled, RunError> {
    let reason = blocked.to_string();
    let mut ledger = plan.lock()?;
    let events = ledger.state().block_commit(id, &reason)?;
    ledger.append(events, now())?;
    Ok(Settled::Blocked(id.clone(), reason))
}

/// The commit that an intent led to, when its process died before it could say so: of those made since, one of
/// nothing but the intended files that `is_it`.
fn made_before(
    git: &Git,
    intent: Option<&CommitIntent>,
    is_it: impl Fn(&Commit, &CommitIntent) -> bool,
) -> Result<Option<Oid>, RunError> {
    let Some(intent) = intent else { return Ok(None) };
    let since = match git.commits_since(&intent.head.parse()?) {
        // Whoever has rewritten the history since then has that commit no more.
        Err(GitError::MissingObject { .. }) => return Ok(None),
        commits => commits?,
    };
    let listed = |file: &RepoPath| intent.files.contains(&file.to_string());
    let made = since
        .into_iter()
        .find(|commit| !commit.files.is_empty() && commit.files.iter().all(listed) && is_it(commit, intent));
    Ok(made.map(|commit| commit.hash))
}

fn done(
    plan: &OpenPlan,
    id: &TaskId,
    commit: Option<&Oid>,
    note: &str,
    now: &impl Fn() -> Timestamp,
) -> Result<Settled, RunError> {
    let mut ledger = plan.lock()?;
    let commit = commit.map(ToString::to_string);
    let note = commit.is_none().then(|| note.to_owned());
    let events = ledger.state().complete(id, commit.clone(), note.clone())?;
    ledger.append(events, now())?;
    Ok(match commit {
        Some(hash) => Settled::Committed(id.clone(), hash),
        None => Settled::Uncommitted(id.clone(), note.unwrap_or_default()),
    })
}
