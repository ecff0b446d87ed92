//! Runs the mechanical checks of a submitted task, measured from git and run in the working tree, and records
//! them before anybody judges.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_plan::plan::field::FieldKind;
use fp_plan::plan::id::TaskId;
use fp_plan::plan::{Task, parse};
use fp_plan::repo_path::RepoPath;
use fp_plan::settings::Settings;
use fp_run::run::event::Event;
use fp_run::run::state::{MeasuredWork, Status, TaskState};
use fp_run::run::{Refusal, State, approval, refuse};
use fp_run::verification::change::{Change, ChangeStatus};
use fp_run::verification::ownership::{OwnershipEvidence, divide};
use fp_run::verification::{
    self, Boundary, ChangeFacts, Check, CheckVerdict, CommandRun, GitSurroundings, OtherTask,
    TaskScope, command_check,
};
use jiff::Timestamp;

use super::worktree::{self, Worktrees};
use crate::changes::{self, ChangeRequest, MeasuredChange};
use crate::error::{HostErrorKind, HostResult};
use crate::git::{EntryState, Git, Oid, Snapshot};
use crate::plan::{self, OpenPlan};
use crate::process::Limits;
use crate::store::acquire;
use crate::trust::AgreedCommands;

/// Bytes kept of the beginning and the end of a command's output, from which its check takes what failed.
const OUTPUT_HEAD: usize = 16 * 1024;
const OUTPUT_TAIL: usize = 48 * 1024;

/// The results of the checks, and what is left to judge.
#[derive(Debug, Clone)]
pub struct Verified {
    pub title: String,
    pub iteration: u32,
    /// The builder's worktree, unless the task was done in the user's checkout.
    pub worktree: Option<PathBuf>,
    pub checks: Vec<Check>,
    /// The task's changes.
    pub files: Vec<Change>,
    pub criteria: Vec<String>,
    pub tests_required: bool,
    /// The ids of the requirements that the task covers.
    pub covers: Vec<String>,
}

impl Verified {
    /// True if a check failed, so that the task can't pass.
    pub fn failed(&self) -> bool {
        self.checks.iter().any(Check::fails)
    }
}

/// A task's change as it is about to be handed in.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The working tree as a git tree.
    pub tree: String,
    /// The task's own changes.
    pub files: Vec<Change>,
    /// The checks that it is bound to fail, whatever its commands say.
    pub failed: Vec<Check>,
    /// The paths that it may not touch, each with true if it was there at the claim.
    pub outside: Vec<(RepoPath, bool)>,
    /// The tree at the claim.
    pub base: String,
}

/// Measures the change of `id` so far.
pub fn measure(plan: &OpenPlan, state: &State, id: &TaskId) -> HostResult<Submission> {
    let task = state.expect_task(id)?;
    let git = worktree::of(plan, state, task)?;
    let tree = plan.tree()?;
    let part = tree.part_with(&task.leaf);
    let (parsed, _) = parse(&part);
    let leaf = plan::leaf(&parsed, id).filter(|leaf| approval::is_approved(leaf, &task.leaf));
    let text = leaf.map(|leaf| TaskScope::new(leaf, &[], Vec::new()).text);
    let is_edited = text.is_none();
    let scope = TaskScope {
        files: task.files().map(str::to_owned).collect(),
        text: text.unwrap_or_default(),
        others: others(state, task),
        ignores_case: git.ignores_case(),
    };
    let mut measured = measured(&git, state, task, &scope)?;
    measured.read_lines(&git)?;
    // The words of an edited task, which may allow what it did, are the verification's to refuse.
    let failed = match is_edited {
        true => Vec::new(),
        false => verification::failed_at_hand(&scope, &measured.facts),
    };
    let outside = verification::outside(&scope, &measured.facts).into_iter();
    let outside = outside.map(|(path, change)| {
        (
            path.clone(),
            path != &change.path || change.status != ChangeStatus::Added,
        )
    });
    Ok(Submission {
        tree: measured.tree.to_string(),
        outside: outside.collect(),
        failed,
        base: task
            .base
            .as_ref()
            .map_or_else(String::new, |base| base.tree.clone()),
        files: measured.facts.changes,
    })
}

fn measured(
    git: &Git,
    state: &State,
    task: &TaskState,
    scope: &TaskScope,
) -> HostResult<MeasuredChange> {
    let base = task
        .base
        .as_ref()
        .ok_or_else(|| refuse(task, "only a task that was claimed has a change"))?;
    let committed = state
        .tasks
        .iter()
        .filter_map(|t| t.commit.as_ref())
        .chain(&state.undone);
    let committed = committed.filter_map(|commit| commit.parse().ok()).collect();
    let request = ChangeRequest {
        base: &base.tree.parse()?,
        head: &base.head.parse()?,
        around: base.around.as_ref(),
        scope,
        shared: !scope.others.is_empty(),
        committed: &committed,
        seen: &task.edited.iter().cloned().collect(),
    };
    changes::measure(git, &request)
}

/// The tasks whose uncommitted changes may have entered the working tree since `id` was first claimed: those
/// under way, those released, and those that ended since then. A worktree has no others.
fn others(state: &State, task: &TaskState) -> Vec<OtherTask> {
    if task.worktree().is_some() {
        return Vec::new();
    }
    let since = task.started_at;
    let ended_before = |t: &TaskState| {
        t.ended_at
            .zip(since)
            .is_some_and(|(ended, since)| ended <= since)
    };
    let in_checkout = |t: &TaskState| t.base.is_some() && t.worktree().is_none();
    let others = state
        .tasks
        .iter()
        .filter(|t| t.leaf.id != task.leaf.id && in_checkout(t));
    let others = others.filter(|t| t.commit.is_none() && !ended_before(t));
    others
        .map(|t| OtherTask {
            id: t.leaf.id.to_string(),
            files: t.files().map(str::to_owned).collect(),
        })
        .collect()
}

/// The paths of `snapshot`, of the checkout, that changed since a task last left it, though no task under way could
/// have changed them. What is committed has its own question; a new file that no task lists is the user's.
pub fn unexplained(
    plan: &OpenPlan,
    git: &Git,
    state: &State,
    snapshot: &Snapshot,
) -> HostResult<Vec<RepoPath>> {
    let Some(left) = &state.checkout_left else {
        return Ok(Vec::new());
    };
    let changes = match git.diff(&left.parse()?, &snapshot.tree) {
        Err(error) if error.kind == HostErrorKind::MissingObject => return Ok(Vec::new()),
        changes => changes?,
    };
    let files = |tasks: &mut dyn Iterator<Item = &TaskState>| {
        Boundary::new(tasks.flat_map(TaskState::files).collect::<Vec<_>>())
            .ignoring_case(git.ignores_case())
    };
    let listed = files(
        &mut state
            .tasks
            .iter()
            .filter(|task| task.status != Status::Completed),
    );
    // A commit or its undoing may be under way.
    let busy = acquire(&plan.commit_lock(), Duration::ZERO).is_err();
    let begun =
        |task: &&TaskState| task.base.is_some() && (busy || task.status != Status::Completed);
    let under_way = files(&mut state.tasks.iter().filter(begun));
    let entries = snapshot
        .status
        .entries
        .iter()
        .map(|entry| (&entry.path, entry.state));
    let uncommitted: HashMap<&RepoPath, EntryState> = entries.collect();
    let mut paths: Vec<RepoPath> = changes
        .iter()
        .flat_map(|change| change.ends().cloned().collect::<Vec<_>>())
        .collect();
    paths.retain(|path| {
        let known = uncommitted
            .get(path)
            .is_some_and(|s| *s != EntryState::Untracked || listed.covers(path));
        known && !under_way.allows(path, || true)
    });
    Ok(paths)
}

/// Time limit and kept output of a command.
pub(super) fn limits(time: Duration) -> Limits {
    Limits {
        time,
        head: OUTPUT_HEAD,
        tail: OUTPUT_TAIL,
    }
}

/// The working tree of the submitted `task`. Recreates a missing worktree as it was submitted.
fn submitted_in(plan: &OpenPlan, state: &State, task: &TaskState) -> HostResult<Git> {
    match worktree::of(plan, state, task) {
        Err(error) if error.kind == HostErrorKind::NoWorktree => {
            Worktrees::lock(plan)?.restore(task)?;
            worktree::of(plan, state, task)
        }
        found => found,
    }
}

/// Runs the mechanical checks of the submitted task `id` and records their results. Reuses earlier results of
/// this attempt while the working tree is unchanged.
pub fn verify(
    plan: &OpenPlan,
    id: &TaskId,
    iteration: Option<u32>,
    now: impl Fn() -> Timestamp,
) -> HostResult<Verified> {
    let state = plan.load()?.state;
    let task = state.expect_submitted(id, iteration)?;
    let tree = plan.tree()?;
    let part = tree.part_with(&task.leaf);
    let (parsed, _) = parse(&part);
    let leaf = plan::leaf(&parsed, id).ok_or_else(|| Refusal::UnknownTask(id.clone()))?;
    if !approval::is_approved(leaf, &task.leaf) {
        return Err(Refusal::Edited(id.clone()).into());
    }
    let git = submitted_in(plan, &state, task)?;
    let granted: Vec<String> = task
        .granted
        .iter()
        .map(|granted| granted.path.clone())
        .collect();
    let scope = TaskScope {
        ignores_case: git.ignores_case(),
        ..TaskScope::new(leaf, &granted, others(&state, task))
    };
    // What a commit of another task puts into the checkout at this moment is nobody's edit.
    let leave_out_commits = |facts: &mut ChangeFacts| {
        if acquire(&plan.commit_lock(), Duration::ZERO).is_err()
            && let Some((began, now)) = &mut facts.around
        {
            now.checkout.clone_from(&began.checkout);
        }
    };
    let measure = || {
        let mut measured = measured(&git, &state, task, &scope)?;
        leave_out_commits(&mut measured.facts);
        HostResult::Ok(measured)
    };
    let measured = measure()?;
    let tree = measured.tree.to_string();
    let mut verified = Verified {
        title: task.leaf.title.clone(),
        iteration: task.iteration,
        worktree: task.worktree().map(|_| git.worktree().to_owned()),
        checks: Vec::new(),
        files: measured.facts.changes.clone(),
        criteria: leaf.acceptance().map(str::to_owned).collect(),
        tests_required: leaf.tests_required(),
        covers: leaf
            .fields
            .items(FieldKind::Covers)
            .iter()
            .map(|item| item.text.to_string())
            .collect(),
    };
    if let Some(before) = task
        .verification
        .as_ref()
        .filter(|v| v.tree == tree && v.files == verified.files)
    {
        verified.checks.clone_from(&before.checks);
        // A hook made since then would run in the commit.
        let around = verification::check_around(&measured.facts);
        if around.iter().all(|check| before.checks.contains(check)) {
            return Ok(verified);
        }
        verified
            .checks
            .retain(|known| around.iter().all(|check| check.name != known.name));
        verified.checks.extend(around);
        record(plan, id, &verified, tree, now())?;
        return Ok(verified);
    }
    let time = Duration::from_secs(plan.settings.verify.timeout_seconds.into());
    let lines = leaf.test_commands().chain(leaf.verify());
    let (dropped, lines): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| task.dropped.contains(*line));
    let agreed = plan.agreed_commands(&state)?;
    let (seen, limits) = (&task.edited, limits(time));
    let trial = Trial {
        git: &git,
        scope: &scope,
        seen,
        agreed,
        lines: &lines,
        limits,
    };
    let mut tried = trial.run(&measured)?;
    let mut measured = if tried.tree == measured.tree {
        measured
    } else {
        measure()?
    };
    if !tried.own.is_empty() && tried.faults.is_empty() {
        // A tool such as a formatter changed the task's files: what counts is what it made of them.
        tried = trial.run(&measured)?;
        let again = std::mem::take(&mut tried.own)
            .into_iter()
            .map(|fault| format!("{fault} each time"));
        tried.faults.extend(again);
        measured = if tried.tree == measured.tree {
            measured
        } else {
            measure()?
        };
    }
    if let (Some((_, now)), Some(last)) = (&mut measured.facts.around, tried.around) {
        *now = last;
    }
    leave_out_commits(&mut measured.facts);
    measured.read(&git)?;
    verified.files.clone_from(&measured.facts.changes);
    verified.checks = verification::check(&scope, &measured.facts, &tried.runs);
    let ran_before = |line: &str| state.tests_ran.get(line).copied();
    let counts = verification::check_counts(&scope, &verified.checks, ran_before);
    verified.checks.extend(counts);
    verified
        .checks
        .extend(dropped.into_iter().map(verification::dropped_check));
    verified
        .checks
        .extend(verification::disturbed(&tried.faults));
    verified.checks.extend(
        state
            .kept_in_checkout(&lines)
            .filter(|_| task.worktree().is_none()),
    );
    verified.checks.extend(state.test_first(task));
    record(plan, id, &verified, measured.tree.to_string(), now())?;
    Ok(verified)
}

/// Records the results for `id`, whose working tree was `tree`.
fn record(
    plan: &OpenPlan,
    id: &TaskId,
    verified: &Verified,
    tree: String,
    now: Timestamp,
) -> HostResult<()> {
    let mut ledger = plan.lock()?;
    ledger
        .state()
        .expect_submitted(id, Some(verified.iteration))?;
    let work = MeasuredWork {
        tree,
        files: verified.files.clone(),
        checks: verified.checks.clone(),
    };
    let event = Event::Verified {
        task: id.clone(),
        iteration: verified.iteration,
        work,
    };
    ledger.append(vec![event], now)
}

/// The commands of a task, to be run in its working tree.
struct Trial<'t> {
    git: &'t Git,
    scope: &'t TaskScope,
    seen: &'t BTreeSet<RepoPath>,
    agreed: AgreedCommands,
    lines: &'t [&'t str],
    limits: Limits,
}

/// The commands as they ran, and what they did to the working tree.
struct Tried {
    runs: Vec<CommandRun>,
    /// The working tree after the last one.
    tree: Oid,
    /// Its surroundings, if known.
    around: Option<GitSurroundings>,
    /// Changes of the task's own files.
    own: Vec<String>,
    /// Changes of others.
    faults: Vec<String>,
}

impl Trial<'_> {
    /// Runs the commands one after the other in the working tree just `measured`, and measures it after each: none may
    /// change what a later one or the commit depends on.
    fn run(&self, measured: &MeasuredChange) -> HostResult<Tried> {
        let mut tried = Tried {
            runs: Vec::new(),
            tree: measured.tree.clone(),
            around: measured.facts.around.as_ref().map(|(_, now)| now.clone()),
            own: Vec::new(),
            faults: Vec::new(),
        };
        for line in self.lines {
            tried
                .runs
                .extend(self.agreed.run([*line], self.git.worktree(), self.limits));
            let (now, surroundings) = self.git.observe()?;
            for change in self.changes(&tried.tree, &now.tree)? {
                let fault = format!("`{line}` changed {}", change.path);
                let own = change
                    .ends()
                    .all(|path| self.scope.boundary().allows(path, || true));
                if own {
                    tried.own.push(fault)
                } else {
                    tried.faults.push(fault)
                }
            }
            tried.tree = now.tree;
            if tried
                .around
                .as_ref()
                .is_some_and(|before| before.disturbed(&surroundings))
            {
                tried.faults.push(format!(
                    "`{line}` changed git's settings, or an installed program"
                ));
            }
            tried.around = Some(surroundings);
        }
        Ok(tried)
    }

    /// The changes from one tree to another that are not those of other running tasks.
    fn changes(&self, before: &Oid, after: &Oid) -> HostResult<Vec<Change>> {
        let evidence = OwnershipEvidence {
            shared: !self.scope.others.is_empty(),
            seen: self.seen.iter().cloned().collect(),
            ..OwnershipEvidence::default()
        };
        Ok(divide(self.git.diff(before, after)?, self.scope, &evidence).own)
    }
}

/// Runs the `Verify` commands of `leaf`, as `agreed`, in `directory`: the checks, and true if they passed; `None` without
/// such a command.
pub fn check_before(
    leaf: &Task,
    agreed: AgreedCommands,
    directory: &Path,
    settings: &Settings,
) -> Option<(Vec<Check>, bool)> {
    let time = Duration::from_secs(settings.verify.timeout_seconds.into());
    let runs = agreed.run(leaf.verify(), directory, limits(time));
    let checks: Vec<Check> = runs.iter().map(command_check).collect();
    let passed = checks
        .iter()
        .all(|check| check.verdict == CheckVerdict::Pass);
    (!checks.is_empty()).then_some((checks, passed))
}
