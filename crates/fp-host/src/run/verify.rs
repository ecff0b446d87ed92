//! Takes a submitted task to its commit: runs its mechanical checks on its bench, records them and the verifier's
//! verdict, and settles passed tasks.

use std::collections::HashMap;
use std::path::PathBuf;
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
use super::frozen::{Frozen, Place};
use super::{evidence, worktree};
use crate::error::{HostError, HostErrorKind, HostResult};
use crate::file::acquire;
use crate::git::{EntryState, Git, Oid, Snapshot};
use crate::measure::{MeasuredChange, TaskFolder, tasks_beside};
use crate::plan::OpenPlan;
use crate::process::Limits;
use crate::store::Ledger;
use crate::trust::AgreedCommands;

/// The results of the checks, and the criteria left to judge.
#[derive(Debug, Clone)]
pub struct Verified {
    pub title: String,
    pub iteration: u32,
    /// The root of the checkout with exactly what is judged.
    pub place: PathBuf,
    /// The tree that is judged, and committed if it passes.
    pub tree: Oid,
    /// The tree to which the task's change is added.
    pub base: Oid,
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
    /// The working tree, and the task's own changes in it.
    pub work: MeasuredWork,
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
    let folder = TaskFolder::of(&git, state, task, scope)?;
    let mut measured = folder.measure()?;
    measured.read_lines(&git)?;
    // Files that another task's commit is putting into the checkout right now don't count as anybody's edit.
    let is_committing = acquire(&plan.commit_lock(), Duration::ZERO).is_err();
    if let (true, Some((began, now))) = (is_committing, &mut measured.facts.around) {
        now.checkout.clone_from(&began.checkout);
    }
    // The new text of an edited task may allow this change, so only verification can reject it.
    let failed = match is_edited {
        true => Vec::new(),
        false => verification::failed_at_hand(&folder.scope, &measured.facts),
    };
    let was_there = |path: &RepoPath, change: &Change| {
        *path != change.path || change.status != ChangeStatus::Added
    };
    let outside = verification::outside(&folder.scope, &measured.facts).into_iter();
    let outside = outside.map(|(path, change)| (path.clone(), was_there(path, change)));
    Ok(Submission {
        outside: outside.collect(),
        failed,
        base: folder.base.to_string(),
        work: MeasuredWork {
            tree: measured.tree.to_string(),
            onto: None,
            checks: verification::check_submission(&folder.scope, &measured.facts),
            files: measured.facts.changes,
        },
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
/// this attempt for the same tree.
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
    let git = plan.checkout(&state)?;
    let limits = check_limits(&plan.settings);
    let is_dropped = |line: &&str| task.dropped.contains(*line);
    let lines = work.commands.iter().map(String::as_str);
    let (dropped, lines): (Vec<&str>, Vec<&str>) = lines.partition(is_dropped);
    let mut frozen = Frozen::of(plan, &git, &state, task)?;
    let place = Place::of(plan, &state, task)?;
    place.bring(&git, &frozen)?;
    let mut scope = work.scope;
    if let Place::Checkout(_) = place {
        scope.others = tasks_beside(&state, task);
    }
    let is_known = |known: &&MeasuredWork| {
        known.tree == frozen.tree.as_str() && known.onto.as_deref() == Some(frozen.onto.as_str())
    };
    let (checks, files) = match task.verification.as_ref().filter(is_known) {
        Some(known) => {
            let now = git.surroundings()?;
            let began = state.git_surroundings();
            let checks = began.map(|began| verification::renewed(&known.checks, began, &now));
            (
                checks.unwrap_or_else(|| known.checks.clone()),
                known.files.clone(),
            )
        }
        None => {
            let submitted = task.submission.iter();
            let change: Vec<Change> = submitted.flat_map(|work| work.files.clone()).collect();
            let (consent, lines) = ((&*state, agreed), &lines[..]);
            let (tried, unready) =
                place.set_up_and_try((&git, &frozen), &scope, consent, (lines, limits), &change)?;
            frozen.tree = tried.tree;
            let mut measured = MeasuredChange::between(&git, &frozen.base, &frozen.tree)?;
            measured.read(&git)?;
            let submitted = task.submission.iter().flat_map(|work| work.checks.clone());
            let mut checks: Vec<Check> = submitted.collect();
            checks.extend(verification::check_change(
                &scope,
                &measured.facts,
                &tried.runs,
            ));
            checks.extend(unready);
            let ran_before = |line: &str| state.tests_ran.get(line).copied();
            checks.extend(verification::check_counts(&scope, &checks, ran_before));
            checks.extend(dropped.into_iter().map(verification::dropped_check));
            checks.extend(verification::disturbed(&tried.faults));
            if let Place::Checkout(_) = place {
                checks.extend(state.kept_in_checkout(lines));
            }
            checks.extend(state.test_first(task));
            (checks, measured.facts.changes)
        }
    };
    let verified = Verified {
        title: task.leaf.title.clone(),
        iteration: task.iteration,
        place: place.folder().to_owned(),
        checks,
        files,
        criteria: work.criteria,
        tests_required: work.tests_required,
        covers: work.covers,
        tree: frozen.tree,
        base: frozen.base,
    };
    let work = MeasuredWork {
        tree: verified.tree.to_string(),
        onto: Some(frozen.onto.to_string()),
        files: verified.files.clone(),
        checks: verified.checks.clone(),
    };
    if task.verification.as_ref() != Some(&work) {
        let (task, iteration) = (id.clone(), verified.iteration);
        let mut ledger = plan.lock()?;
        let latest = ledger.state().expect_submitted(id, Some(iteration))?;
        if latest.submission != state.expect_task(id)?.submission {
            let said = format!("task {id} was submitted anew meanwhile");
            return Err(HostError::refused(said).with_hint("run `fp verify` again"));
        }
        let event = Event::Verified {
            task,
            iteration,
            work,
        };
        ledger.append(vec![event], now())?;
    }
    Ok(verified)
}

/// The folder in which a verifier of the submitted task `id` starts. It has the newest commit, and the work only once
/// that is verified, so that no instructions or settings of the work reach the verifier.
///
/// # Errors
/// The task isn't submitted, or its bench can't be brought to the commit.
pub fn verifier_folder(plan: &OpenPlan, state: &State, id: &TaskId) -> HostResult<PathBuf> {
    let task = state.expect_submitted(id, None)?;
    let place = Place::of(plan, state, task)?;
    if let Place::Bench(bench) = &place {
        bench.bring_newest(plan, state)?;
    }
    Ok(place.folder().to_owned())
}

/// Runs the commands of `task`, all of which passed, on `work`. Returns the work as they left it, and the checks of the
/// verification with their results.
pub(super) fn recheck(
    plan: &OpenPlan,
    git: &Git,
    state: &State,
    task: &TaskState,
    mut work: Frozen,
    agreed: AgreedCommands,
) -> HostResult<(Frozen, Vec<Check>)> {
    let before = task.measured().map_or(&[][..], |measured| &measured.checks);
    let has_run = |check: &&Check| check.verdict == CheckVerdict::Pass;
    let lines = before.iter().filter(has_run).filter_map(Check::command);
    let lines: Vec<&str> = lines.collect();
    let scope = TaskScope {
        files: task.files().map(str::to_owned).collect(),
        ..TaskScope::default()
    };
    let place = Place::of(plan, state, task)?;
    place.bring(git, &work)?;
    let limits = check_limits(&plan.settings);
    let change = task.measured_changes();
    let consent = (state, agreed);
    let (tried, unready) =
        place.set_up_and_try((git, &work), &scope, consent, (&lines, limits), change)?;
    work.tree = tried.tree;
    let is_other = |check: &&Check| check.command().is_none_or(|line| !lines.contains(&line));
    let mut checks: Vec<Check> = before.iter().filter(is_other).cloned().collect();
    checks.extend(tried.runs.iter().map(command_check));
    checks.extend(unready);
    checks.extend(verification::disturbed(&tried.faults));
    Ok((work, checks))
}

/// Runs the `Verify` commands of `leaf` on the newest commit, with the consent `agreed`. Returns the checks, and true if
/// they passed; `None` if there is no such command.
pub fn check_before(
    plan: &OpenPlan,
    state: &State,
    leaf: &Task,
    agreed: AgreedCommands,
) -> HostResult<Option<(Vec<Check>, bool)>> {
    if leaf.verify().is_none() {
        return Ok(None);
    }
    let (place, limits) = (Place::of_newest(plan, state)?, check_limits(&plan.settings));
    place.expect_set_up(state, agreed, limits)?;
    let runs = agreed.run(leaf.verify(), place.folder(), limits);
    let checks: Vec<Check> = runs.iter().map(command_check).collect();
    let passed = checks
        .iter()
        .all(|check| check.verdict == CheckVerdict::Pass);
    Ok(Some((checks, passed)))
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
    let state = plan.load()?.state;
    let task = state.expect_submitted(id, verdict.iteration)?;
    let is_judged = |work: &MeasuredWork| work.onto.is_some();
    let (iteration, criteria, renewed) = match task.verification.clone().filter(is_judged) {
        Some(mut work) => {
            let criteria = |leaf: &Task<'_>| ApprovedWork::of(leaf, task).criteria;
            let criteria = plan.tree()?.with_approved(&task.leaf, criteria)?;
            if let Some(began) = state.git_surroundings() {
                let now = plan.checkout(&state)?.surroundings()?;
                work.checks = verification::renewed(&work.checks, began, &now);
            }
            let is_new = Some(&work) != task.verification.as_ref();
            (task.iteration, criteria, is_new.then_some(work))
        }
        None => {
            let verified = verify(plan, id, verdict.iteration, &now)?;
            (verified.iteration, verified.criteria, None)
        }
    };
    let opinion = verdict
        .opinion
        .clone()
        .check_complete(criteria.len())
        .map_err(|error| {
            HostError::failed(error)
                .with_hint("judge each criterion once: --pass 'N: …' or --fail 'N: …'")
        })?;
    let ledger = plan.lock()?;
    let judged = ledger
        .state()
        .judge_task(id, Some(iteration), opinion, &criteria)?;
    let renewed = renewed.map(|work| Event::Verified {
        task: id.clone(),
        iteration,
        work,
    });
    let mut events: Vec<Event> = renewed.into_iter().chain(judged).collect();
    let notes = verdict
        .notes
        .iter()
        .cloned()
        .map(|note| note.learned_in(id));
    events.extend(notes.map(|note| Event::Noted { note }));
    if !verdict.notes.is_empty() {
        evidence::write_notepad(plan, &ledger.after(&events, now()))?;
    }
    record_judged(plan, ledger, events, id, &criteria, now)
}

/// Records the verdict `events` on `id`, with its evidence, and settles passed tasks.
pub(super) fn record_judged(
    plan: &OpenPlan,
    mut ledger: Ledger<'_>,
    events: Vec<Event>,
    id: &TaskId,
    criteria: &[String],
    now: impl Fn() -> Timestamp,
) -> HostResult<RecordedVerdict> {
    // What follows a failure, the next attempt, has no checks yet.
    let mut parts = events.split_inclusive(|event| matches!(event, Event::Judged { .. }));
    let after = ledger.after(parts.next().unwrap_or_default(), now());
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
