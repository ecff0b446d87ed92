//! Takes a submitted task to its commit: runs its mechanical checks on its bench, records them and the verifier's
//! verdict, and settles passed tasks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_plan::hint::{Exit, Hint as _};
use fp_plan::plan::Task;
use fp_plan::plan::field::FieldKind;
use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_plan::settings::Settings;
use fp_run::run::State;
use fp_run::run::event::{Event, Note};
use fp_run::run::state::{MeasuredWork, Status, TaskState};
use fp_run::run::verdict::VerifierOpinion;
use fp_run::verification::change::{Change, ChangeStatus};
use fp_run::verification::{self, Boundary, Check, CheckVerdict, TaskScope, command_check};
use jiff::Timestamp;

use super::commit::{COMMIT_PATIENCE, Settled, settle};
use super::{evidence, worktree};
use crate::bench::Bench;
use crate::error::{HostError, HostErrorKind, HostResult};
use crate::file::acquire;
use crate::git::{EntryState, Git, Snapshot};
use crate::plan::OpenPlan;
use crate::process::Limits;
use crate::trust::AgreedCommands;

/// The results of the checks, and the criteria left to judge.
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

/// A task as it is in the approved tree.
struct ApprovedWork {
    scope: TaskScope,
    commands: Vec<String>,
    criteria: Vec<String>,
    tests_required: bool,
    covers: Vec<String>,
}

impl ApprovedWork {
    fn of(leaf: &Task<'_>, task: &TaskState) -> Self {
        let granted = task.granted.iter().map(|granted| granted.path.clone());
        let covers = leaf.fields.items(FieldKind::Covers).iter();
        let commands = leaf.test_commands().chain(leaf.verify());
        Self {
            scope: TaskScope::new(leaf, &granted.collect::<Vec<_>>(), Vec::new()),
            commands: commands.map(str::to_owned).collect(),
            criteria: leaf.acceptance().map(str::to_owned).collect(),
            tests_required: leaf.tests_required(),
            covers: covers.map(|item| item.text.to_string()).collect(),
        }
    }
}

/// A task's change just before it is submitted.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The working tree as a git tree.
    pub tree: String,
    /// The task's own changes.
    pub files: Vec<Change>,
    /// The checks that the task is bound to fail, whatever the outcome of its commands.
    pub failed: Vec<Check>,
    /// The changed paths that the task may not touch, each with true if the file existed at the claim.
    pub outside: Vec<(RepoPath, bool)>,
    /// The tree at the claim.
    pub base: String,
}

/// Measures the change of `id` so far.
pub fn measure(plan: &OpenPlan, state: &State, id: &TaskId) -> HostResult<Submission> {
    let task = state.expect_task(id)?;
    let words = |leaf: &Task<'_>| TaskScope::new(leaf, &[], Vec::new()).text;
    let approved = plan.tree()?.with_approved(&task.leaf, words);
    let git = worktree::of(plan, state, task)?;
    let is_edited = approved.is_err();
    let scope = TaskScope {
        files: task.files().map(str::to_owned).collect(),
        text: approved.unwrap_or_default(),
        ..TaskScope::default()
    };
    let bench = Bench::of(&git, state, task, scope)?;
    let mut measured = bench.measure()?;
    measured.read_lines(&git)?;
    // The new text of an edited task may allow this change, so only verification can reject it.
    let failed = match is_edited {
        true => Vec::new(),
        false => verification::failed_at_hand(&bench.scope, &measured.facts),
    };
    let was_there = |path: &RepoPath, change: &Change| {
        *path != change.path || change.status != ChangeStatus::Added
    };
    let outside = verification::outside(&bench.scope, &measured.facts).into_iter();
    let outside = outside.map(|(path, change)| (path.clone(), was_there(path, change)));
    Ok(Submission {
        tree: measured.tree.to_string(),
        outside: outside.collect(),
        failed,
        base: bench.base.to_string(),
        files: measured.facts.changes,
    })
}

/// The paths in `snapshot`, taken of the checkout, that changed since a task last left the checkout, although no task
/// in progress could have changed them. Leaves out committed changes, which the user is asked about separately, and new
/// files that no task lists, which are the user's.
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
    // A commit or a rollback may be under way.
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

/// Time and output limits of a check.
pub(super) fn check_limits(settings: &Settings) -> Limits {
    Limits {
        time: Duration::from_secs(settings.verify.timeout_seconds.into()),
        // Failures are read from this output.
        head: 16 * 1024,
        tail: 48 * 1024,
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
    let of_leaf = |leaf: &Task<'_>| ApprovedWork::of(leaf, task);
    let work = plan.tree()?.with_approved(&task.leaf, of_leaf)?;
    let agreed = plan.agreed_commands(&state)?;
    let git = worktree::submitted(plan, &state, task)?;
    let limits = check_limits(&plan.settings);
    let is_dropped = |line: &&str| task.dropped.contains(*line);
    let lines = work.commands.iter().map(String::as_str);
    let (dropped, lines): (Vec<&str>, Vec<&str>) = lines.partition(is_dropped);
    let bench = Bench::of(&git, &state, task, work.scope)?;
    let mut measured = bench.measure()?;
    let is_known = |known: &&MeasuredWork| {
        known.tree == measured.tree.as_str() && known.files == measured.facts.changes
    };
    let known = task.verification.as_ref().filter(is_known);
    let tried = match known {
        Some(_) => None,
        None => Some(bench.try_commands(&mut measured, agreed, &lines, limits)?),
    };
    // Files that another task's commit is putting into the checkout right now don't count as anybody's edit.
    let is_committing = acquire(&plan.commit_lock(), Duration::ZERO).is_err();
    if let (true, Some((began, now))) = (is_committing, &mut measured.facts.around) {
        now.checkout.clone_from(&began.checkout);
    }
    let checks = match tried {
        None => {
            let before = known.map_or(&[][..], |known| &known.checks);
            verification::renewed(before, &measured.facts)
        }
        Some(tried) => {
            measured.read(&git)?;
            let mut checks = verification::check(&bench.scope, &measured.facts, &tried.runs);
            let ran_before = |line: &str| state.tests_ran.get(line).copied();
            checks.extend(verification::check_counts(
                &bench.scope,
                &checks,
                ran_before,
            ));
            checks.extend(dropped.into_iter().map(verification::dropped_check));
            checks.extend(verification::disturbed(&tried.faults));
            if task.worktree().is_none() {
                checks.extend(state.kept_in_checkout(&lines));
            }
            checks.extend(state.test_first(task));
            checks
        }
    };
    let verified = Verified {
        title: task.leaf.title.clone(),
        iteration: task.iteration,
        worktree: task.worktree().map(|_| git.worktree().to_owned()),
        checks,
        files: measured.facts.changes,
        criteria: work.criteria,
        tests_required: work.tests_required,
        covers: work.covers,
    };
    if known.is_none_or(|known| known.checks != verified.checks) {
        let work = MeasuredWork {
            tree: measured.tree.to_string(),
            files: verified.files.clone(),
            checks: verified.checks.clone(),
        };
        let (task, iteration) = (id.clone(), verified.iteration);
        let mut ledger = plan.lock()?;
        ledger.state().expect_submitted(id, Some(iteration))?;
        let event = Event::Verified {
            task,
            iteration,
            work,
        };
        ledger.append(vec![event], now())?;
    }
    Ok(verified)
}

/// Runs the `Verify` commands of `leaf` in `directory`, with the consent `agreed`. Returns the checks, and true if they
/// passed; `None` if there is no such command.
pub fn check_before(
    leaf: &Task,
    agreed: AgreedCommands,
    directory: &Path,
    settings: &Settings,
) -> Option<(Vec<Check>, bool)> {
    let runs = agreed.run(leaf.verify(), directory, check_limits(settings));
    let checks: Vec<Check> = runs.iter().map(command_check).collect();
    let passed = checks
        .iter()
        .all(|check| check.verdict == CheckVerdict::Pass);
    (!checks.is_empty()).then_some((checks, passed))
}

/// A verifier's verdict on a task.
#[derive(Debug)]
pub struct VerifierVerdict {
    pub task: TaskId,
    /// The attempt that was judged.
    pub iteration: Option<u32>,
    pub opinion: VerifierOpinion,
    pub notes: Vec<Note>,
}

/// A recorded verdict.
#[derive(Debug)]
pub struct RecordedVerdict {
    /// The path of its evidence file below the plan's folder.
    pub evidence: String,
    pub settled: Vec<Settled>,
    /// The reason why the commit has been postponed.
    pub delayed: Option<HostError>,
}

/// Records `verdict` on the verified task, with its evidence, and settles passed tasks.
pub fn judge(
    plan: &OpenPlan,
    verdict: &VerifierVerdict,
    now: impl Fn() -> Timestamp,
) -> HostResult<RecordedVerdict> {
    let id = &verdict.task;
    let verified = verify(plan, id, verdict.iteration, &now)?;
    let opinion = verdict
        .opinion
        .clone()
        .check_complete(verified.criteria.len())
        .map_err(|error| {
            HostError::failed(error)
                .with_hint("judge each criterion once: --pass 'N: …' or --fail 'N: …'")
        })?;
    let mut ledger = plan.lock()?;
    let (iteration, criteria) = (Some(verified.iteration), &verified.criteria);
    let mut events = ledger
        .state()
        .judge_task(id, iteration, opinion, criteria)?;
    let notes = verdict
        .notes
        .iter()
        .cloned()
        .map(|note| note.learned_in(id));
    events.extend(notes.map(|note| Event::Noted { note }));
    let after = ledger.after(&events, now());
    if !verdict.notes.is_empty() {
        evidence::write_notepad(plan, &after)?;
    }
    let evidence = evidence::write_verdict(plan, &after, id, criteria, now())?;
    ledger.append(events, now())?;
    drop(ledger);
    let (settled, delayed) = match settle(plan, now, COMMIT_PATIENCE) {
        Ok(settled) => (settled, None),
        Err(error) => match error.exit_status() {
            Exit::CutOff | Exit::Overtaken => (Vec::new(), Some(error)),
            _ => return Err(error),
        },
    };
    Ok(RecordedVerdict {
        evidence,
        settled,
        delayed,
    })
}
