//! Commits passed tasks, one at a time under a lock. The intent is logged before the commit and the hash after it, so
//! that a crash in between is recognised and nothing is committed twice. Work from a builder's worktree is brought into
//! the checkout between logging the intent and committing.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fp_plan::hint::{Exit, Hint as _};
use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_run::commit_style::{CommitHistory, SUBJECTS};
use fp_run::report::evidence::commit_trailers;
use fp_run::run::State;
use fp_run::run::decide::RunDecision;
use fp_run::run::drift::{Moved, SeenCommit};
use fp_run::run::event::Event;
use fp_run::run::question::Topic;
use fp_run::run::state::{CommitIntent, MeasuredWork, Status, TaskState};
use fp_run::verification::Check;
use jiff::Timestamp;

use super::evidence::note_evidence;
use super::frozen::Frozen;
use super::integrate::{
    Incoming, Newest, fails_together, follow_commands, in_the_way, merge_newest,
};
use super::paths;
use super::verify::recheck;
use super::worktree::{Worktrees, follow_branch};
use crate::bench::expect_same_objects;
use crate::error::{HostErrorKind, HostResult};
use crate::file::acquire;
use crate::fleet;
use crate::git::{Blocked, CommitOutcome, Git, GitCommit, Merge, Oid, stays_as_edited};
use crate::plan::OpenPlan;

/// Time to wait for another process that commits; its hooks may be slow.
pub const COMMIT_PATIENCE: Duration = Duration::from_secs(60);

/// The outcome for a passed task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// Committed, with this hash.
    Committed(TaskId, String),
    /// Done without a commit, for this reason.
    Uncommitted(TaskId, String),
    /// Not committed, for this reason; the user will be asked.
    Blocked(TaskId, String),
    /// The change conflicts with commits made since the task began. The task is sent back, or fails permanently.
    Conflict(TaskId, String),
}

/// Completes every passed task that is not done yet; calls `now` for each event. Waits up to `patience` for another
/// process that commits, then leaves the rest to that process.
pub fn settle(
    plan: &OpenPlan,
    now: impl Fn() -> Timestamp,
    patience: Duration,
) -> HostResult<Vec<Settled>> {
    if due(&plan.load()?.state).is_none() {
        return Ok(Vec::new());
    }
    let lock = match acquire(&plan.commit_lock(), patience) {
        Ok(lock) => Arc::new(lock),
        Err(error) if error.is_locked() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut settled, mut tries) = (Vec::new(), 0);
    loop {
        let begun = Instant::now();
        // The commit is made on top of the newest commit from any machine.
        plan.sync()?;
        plan.agreed_commands(&plan.load()?.state)?;
        follow_branch(plan)?;
        let Some(task) = due(&plan.load()?.state).cloned() else {
            return Ok(settled);
        };
        let settling = Settling {
            plan,
            id: &task.leaf.id,
            now: &now,
        };
        match settling.complete(&task, &lock) {
            Err(error) if error.exit_status() == Exit::Overtaken && tries < fleet::TRIES => {
                tries += 1;
                fleet::pause(tries, begun.elapsed());
            }
            Err(error) if error.kind == HostErrorKind::InTheWay => {
                settled.push(settling.ask(&error.to_string())?);
            }
            completed => settled.push(completed?),
        }
    }
}

/// The first task of a running run that has passed, is not done, and has no open question about its commit.
fn due(state: &State) -> Option<&TaskState> {
    if !state.is_running() {
        return None;
    }
    let asked = |id: &TaskId| state.asks_about_commit(id);
    state
        .own_running()
        .find(|t| t.awaits_commit() && !asked(&t.leaf.id))
}

/// A passed task on its way to completion.
struct Settling<'a> {
    plan: &'a OpenPlan,
    id: &'a TaskId,
    now: &'a dyn Fn() -> Timestamp,
}

impl Settling<'_> {
    fn record(&self, decide: impl FnOnce(&State) -> RunDecision) -> HostResult<()> {
        let mut ledger = self.plan.lock()?;
        let events = decide(ledger.state())?;
        ledger.append(events, (self.now)())
    }

    /// Like [`Settling::record`], for entries that all machines must see in the same order. The commit is based on the
    /// newest known commit, so the remote rejects it exactly when the branch has moved since.
    fn record_in_order(&self, decide: impl FnOnce(&State) -> RunDecision) -> HostResult<()> {
        let mut ledger = match self.plan.try_lock_in_order()? {
            Ok(ledger) => ledger,
            Err(synced) => {
                self.plan.keep_lost(&synced);
                return Err(fleet::overtaken());
            }
        };
        let events = decide(ledger.state())?;
        ledger.append(events, (self.now)())
    }

    fn complete(&self, task: &TaskState, lock: &Arc<File>) -> HostResult<Settled> {
        let Self { plan, id, .. } = *self;
        let state = plan.load()?.state;
        if state.terms().no_commit {
            bring(plan, &state, task)?;
            return self.done(None, "commits are off");
        }
        let Some(mut work) = judged_work(task)? else {
            return self.done(None, "it changed nothing");
        };
        // If this process dies, its git still holds the lock until the commit succeeds or fails.
        let git = plan.checkout(&state)?.with_commit_lock(Arc::clone(lock));
        let before = task.commit_intent.as_ref();
        let intended =
            |commit: &GitCommit, intent: &CommitIntent| intent.subject() == commit.subject;
        if let Some(hash) = made_before(&git, before, intended)? {
            return self.recovered(&git, &hash, task);
        }
        let mut files = paths(task.measured_changes());
        if files.is_empty() {
            return self.nothing_left(&git, task);
        }
        if let Some(reason) = changed_since(&git, task, &work.tree, &files)? {
            return self.ask(&reason);
        }
        work = match merge_newest(&git, task, &work)? {
            Newest::Fits(newest) if newest.tree == work.tree => newest,
            Newest::Fits(newest) => match self.recheck(&git, &state, task, newest)? {
                Ok(checked) => checked,
                Err(feedback) => return self.send_back(feedback),
            },
            Newest::Conflict(feedback) => return self.send_back(feedback),
        };
        if work.tree == work.base {
            return self.nothing_left(&git, task);
        }
        expect_same_objects(plan, &git, &work.tree, &work.base)?;
        let incoming = match task.worktree() {
            None => None,
            Some(_) => {
                let (head, tree) = (work.onto.clone(), work.tree.clone());
                Incoming::stage(Worktrees::lock(plan)?, &git, head, tree)?
            }
        };
        if let Some(incoming) = &incoming {
            files = incoming.files();
        }
        let commits = match state.commits() {
            Some(settled) => settled.clone(),
            None => CommitHistory::from_subjects(&git.recent_subjects(SUBJECTS)?),
        };
        let mut message = commits.compose(&task.leaf.title, &files);
        if state.terms().branch.is_some() && plan.settings.commit.trailers {
            message += &format!("\n{}", commit_trailers(&state.plan_id, task));
        }
        let intent = CommitIntent {
            files: files.iter().map(ToString::to_string).collect(),
            message: message.clone(),
            head: match before {
                Some(before) => before.head.clone(),
                None => work.onto.to_string(),
            },
        };
        self.record(|state| state.begin_commit(id, intent))?;
        let placed = incoming.map(Incoming::place).transpose()?;
        match git.commit_tree(&work.tree, &files, &message)? {
            CommitOutcome::Committed { hash } => {
                if let (None, Some(submitted)) = (task.worktree(), &task.submission) {
                    let trees = (&submitted.tree.parse()?, &work.tree);
                    follow_commands(plan, &git, trees, &files)?;
                }
                self.committed(&git, &hash, &work.tree, &files)
            }
            CommitOutcome::NothingToCommit => self.nothing_left(&git, task),
            CommitOutcome::Blocked(blocked) => {
                let edited = placed.map(|placed| placed.put_back(plan)).transpose()?;
                let stays = edited.and_then(|files| stays_as_edited(&files));
                let reason = format!("{blocked}{}", stays.unwrap_or_default());
                match blocked {
                    Blocked::Locked(_) => self.ask_about(Topic::IndexLocked, &reason),
                    _ => self.ask(&reason),
                }
            }
        }
    }

    /// Completes a task with its commit. Asks the user if the commit differs from the verified `files` in `tree`.
    fn committed(
        &self,
        git: &Git,
        hash: &Oid,
        tree: &Oid,
        files: &[RepoPath],
    ) -> HostResult<Settled> {
        let rewritten = git.rewritten(hash, tree, files)?;
        let paths: Vec<String> = rewritten.iter().map(ToString::to_string).collect();
        let commit = hash.to_string();
        self.record_in_order(|state| state.complete_with(self.id, commit.clone(), &paths))?;
        let state = self.plan.load()?.state;
        if let (Some(_), Some(task)) = (&state.terms().branch, state.task(self.id)) {
            // A note that is missing is added before the next push.
            let _ = note_evidence(self.plan, &state, task, git);
        }
        Ok(Settled::Committed(self.id.clone(), commit))
    }

    /// Runs the commands of `task` once more, on `work`, whose tree they haven't seen. If they pass, records that.
    fn recheck(
        &self,
        git: &Git,
        state: &State,
        task: &TaskState,
        work: Frozen,
    ) -> HostResult<Result<Frozen, String>> {
        let agreed = self.plan.agreed_commands(state)?;
        let (work, checks) = recheck(self.plan, git, state, task, work, agreed)?;
        let failed = checks.iter().filter(|check| check.fails());
        let reasons: Vec<String> = failed.map(Check::told).collect();
        if !reasons.is_empty() {
            return Ok(Err(fails_together(&reasons.join("\n"))));
        }
        let event = Event::Verified {
            task: self.id.clone(),
            iteration: task.iteration,
            work: MeasuredWork {
                tree: work.tree.to_string(),
                onto: Some(work.onto.to_string()),
                files: git.diff(&work.base, &work.tree)?,
                checks,
            },
        };
        self.record(|_| Ok(vec![event]))?;
        Ok(Ok(work))
    }

    /// Sends work that doesn't go together with newer commits back: the claim of the next attempt merges it onto the
    /// newest commit.
    fn send_back(&self, feedback: String) -> HostResult<Settled> {
        self.record(|state| state.conflict(self.id, &feedback))?;
        Ok(Settled::Conflict(self.id.clone(), feedback))
    }

    /// Completes a task whose change is already in HEAD, either from the intended commit, whose subject a hook may have
    /// changed, or from another commit.
    fn nothing_left(&self, git: &Git, task: &TaskState) -> HostResult<Settled> {
        match made_before(git, task.commit_intent.as_ref(), |_, _| true)? {
            Some(hash) => self.recovered(git, &hash, task),
            None => self.done(None, "its change is in HEAD already"),
        }
    }

    /// Completes a task whose commit exists although the process that requested it died, perhaps along with its git
    /// process. Then updates the index unless it is locked: the commit counts either way.
    fn recovered(&self, git: &Git, hash: &Oid, task: &TaskState) -> HostResult<Settled> {
        let files = task.commit_intent.iter().flat_map(|intent| &intent.files);
        let files: Vec<RepoPath> = files.map(|file| RepoPath::from_text(file)).collect();
        let settled = match verified_on(git, task, hash)? {
            Some(tree) => self.committed(git, hash, &tree, &files)?,
            None => self.done(Some(hash), "")?,
        };
        git.follow_commit(&files)?;
        Ok(settled)
    }

    fn ask(&self, reason: &str) -> HostResult<Settled> {
        self.ask_about(Topic::CommitBlocked, reason)
    }

    fn ask_about(&self, topic: impl FnOnce(TaskId) -> Topic, reason: &str) -> HostResult<Settled> {
        self.record(|state| state.block_commit(self.id, topic(self.id.clone()), reason))?;
        Ok(Settled::Blocked(self.id.clone(), reason.to_owned()))
    }

    fn done(&self, commit: Option<&Oid>, note: &str) -> HostResult<Settled> {
        let commit = commit.map(ToString::to_string);
        let note = commit.is_none().then(|| note.to_owned());
        self.record_in_order(|state| state.complete(self.id, commit.clone(), note.clone()))?;
        let id = self.id;
        Ok(match commit {
            Some(hash) => Settled::Committed(id.clone(), hash),
            None => Settled::Uncommitted(id.clone(), note.unwrap_or_default()),
        })
    }
}

/// Brings the changes of `task` from its worktree, if it has one, into the checkout, and leaves them
/// uncommitted.
fn bring(plan: &OpenPlan, state: &State, task: &TaskState) -> HostResult<()> {
    if task.worktree().is_none() {
        return Ok(());
    }
    let (git, Some(work)) = (plan.checkout(state)?, judged_work(task)?) else {
        return Ok(());
    };
    match merge_newest(&git, task, &work)? {
        Newest::Fits(work) => {
            match Incoming::stage(Worktrees::lock(plan)?, &git, work.onto, work.tree)? {
                Some(incoming) => incoming.place().map(drop),
                None => Ok(()),
            }
        }
        Newest::Conflict(feedback) => Err(in_the_way(&feedback)),
    }
}

/// The judged work of `task`; `None` if nothing was measured.
fn judged_work(task: &TaskState) -> HostResult<Option<Frozen>> {
    let (Some(base), Some(measured)) = (&task.base, task.measured()) else {
        return Ok(None);
    };
    let onto: Oid = measured.onto.as_ref().unwrap_or(&base.head).parse()?;
    Ok(Some(Frozen {
        tree: measured.tree.parse()?,
        base: onto.clone(),
        onto,
    }))
}

/// Prepares the checkout before `events`, the user's answer, are logged: brings in a change that stays uncommitted, so
/// that the user sees it.
///
/// # Errors
/// [`HostErrorKind::InTheWay`] if the change would overwrite something of the user's.
pub fn before_answer(plan: &OpenPlan, state: &State, events: &[Event]) -> HostResult<()> {
    let left = events.iter().filter_map(|event| match event {
        Event::Completed {
            task, commit: None, ..
        } => state.task(task),
        _ => None,
    });
    for task in left {
        let _lock = acquire(&plan.commit_lock(), COMMIT_PATIENCE)?;
        bring(plan, state, task)?;
    }
    Ok(())
}

/// The reason why a passed task whose commit was blocked must be verified again: its files in the checkout have changed
/// since.
fn changed_since(
    git: &Git,
    task: &TaskState,
    verified: &Oid,
    files: &[RepoPath],
) -> HostResult<Option<String>> {
    if task.reason.is_none() || task.worktree().is_some() {
        return Ok(None);
    }
    let changes = git.diff(verified, &git.snapshot_tree()?.tree)?;
    let changed: Vec<String> = paths(&changes)
        .iter()
        .filter(|path| files.contains(path))
        .map(ToString::to_string)
        .collect();
    let reason = || {
        format!(
            "changed after it was verified, and has to be verified again: {}",
            changed.join(", ")
        )
    };
    Ok((!changed.is_empty()).then(reason))
}

/// The tree that the commit `hash` of `task` should have: the verified tree, or that tree merged onto the commit's
/// parent. `None` if it no longer merges cleanly.
fn verified_on(git: &Git, task: &TaskState, hash: &Oid) -> HostResult<Option<Oid>> {
    let Some(work) = judged_work(task)? else {
        return Ok(None);
    };
    let parent = git.parent(hash)?;
    if task.worktree().is_none() || parent == work.onto {
        return Ok(Some(work.tree));
    }
    let files = paths(task.measured_changes());
    let merged = git.merge(&work.onto, &work.tree, &files, &parent)?;
    Ok(match merged {
        Merge::Clean(merged) => Some(merged),
        Merge::Conflict { .. } => None,
    })
}

/// Finds the commit for an intent whose process died before it could log the hash: a later commit that changes only the
/// intended files and satisfies `is_it`.
fn made_before(
    git: &Git,
    intent: Option<&CommitIntent>,
    is_it: impl Fn(&GitCommit, &CommitIntent) -> bool,
) -> HostResult<Option<Oid>> {
    let Some(intent) = intent else {
        return Ok(None);
    };
    let since = match git.commits_since(&intent.head.parse()?) {
        // The user has rewritten history since, so that commit is gone.
        Err(error) if error.kind == HostErrorKind::MissingObject => return Ok(None),
        commits => commits?,
    };
    let listed = |file: &RepoPath| intent.files.contains(&file.to_string());
    let made = since.into_iter().find(|commit| {
        !commit.files.is_empty() && commit.files.iter().all(listed) && is_it(commit, intent)
    });
    Ok(made.map(|commit| commit.hash))
}

/// The commits that HEAD, or `tip` instead if given, has gained since `state` last recorded HEAD. `None` if there are
/// none, no task waits for them, there is no HEAD, or a commit is being made, which can't be attributed until its hash
/// is logged. Runs no process if git's files show that HEAD hasn't moved, otherwise two.
///
/// # Errors
/// Git fails.
pub fn head_moved(plan: &OpenPlan, state: &State, tip: Option<&Oid>) -> HostResult<Option<Moved>> {
    let waits = |status| state.count_in(status) > 0;
    let Some(seen) = &state.head else {
        return Ok(None);
    };
    if !state.is_running() || !(waits(Status::Pending) || waits(Status::Skipped)) {
        return Ok(None);
    }
    let git = match tip {
        Some(_) => plan.git()?,
        None => plan.checkout(state)?,
    };
    if tip.is_none() && git.head_in_files().as_ref() == Some(seen) {
        return Ok(None);
    }
    let _lock = match acquire(&plan.commit_lock(), Duration::ZERO) {
        Err(error) if error.is_locked() => return Ok(None),
        lock => lock?,
    };
    let head = match tip {
        Some(tip) => tip.to_string(),
        None => match git.head() {
            Ok(head) => head.to_string(),
            Err(error) if error.kind == HostErrorKind::NoCommit => return Ok(None),
            Err(error) => return Err(error),
        },
    };
    if head == *seen {
        return Ok(None);
    }
    let since = seen
        .parse::<Oid>()
        .map(|seen| git.commits_between(&seen, &head));
    let commits = match since {
        Err(_) => Vec::new(),
        Ok(Err(error)) if error.kind == HostErrorKind::MissingObject => Vec::new(),
        Ok(commits) => commits?,
    };
    let commits: Vec<SeenCommit> = commits.iter().map(told).collect();
    Ok(Some(Moved { head, commits }))
}

fn told(commit: &GitCommit) -> SeenCommit {
    SeenCommit {
        hash: commit.hash.to_string(),
        told: format!("{} {:?}", commit.hash.short(), commit.subject),
        files: commit
            .files
            .iter()
            .map(ToString::to_string)
            .zip(commit.counts.iter().cloned())
            .collect(),
    }
}
