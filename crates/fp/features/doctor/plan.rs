//! The checks of a plan, and the fixes that need no judgement.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fp_host::file::FileError;
use fp_host::git::{Git, GitError};
use fp_host::plan::{OpenPlan, leaf};
use fp_host::run::{RunError, evidence};
use fp_host::store::{ExaminedLog, ExaminedSnapshot, SNAPSHOT};
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{counted, shell_quoted};
use fp_run::report::handoff::NextStep;
use fp_run::report::standing::{LeadPresence, RunStanding};
use fp_run::run::event::{Entry, Event};
use fp_run::run::state::Status;
use fp_run::run::{Refusal, State};

use super::{DoctorFinding, DoctorFix, DoctorLevel, listed_tasks, show_paths};
use crate::error::CommandError;

/// Checks everything that belongs to `plan`. Changes nothing, takes no lock, and continues after every fault. Without a
/// log that can be read, the checks of the run are left out.
pub(super) fn examine(plan: &OpenPlan) -> Vec<DoctorFinding> {
    let mut found = examined(plan);
    show_paths(&mut found, plan.folder.path(), "");
    show_paths(&mut found, &plan.repo.root, "");
    found
}

fn examined(plan: &OpenPlan) -> Vec<DoctorFinding> {
    let mut found = files(plan);
    let lead = plan.look_at_lead();
    let examined = match plan.store.examine() {
        Ok(examined) => examined,
        Err(error) => {
            found.push(DoctorFinding::of_error("log", error));
            return found;
        }
    };
    found.extend(log(plan.id(), &examined.log));
    if examined.log.fault.is_none() {
        found.push(snapshot(
            plan.id(),
            &examined.log.entries,
            &examined.snapshot,
        ));
        let state = State::replay(plan.id().clone(), &examined.log.entries);
        found.extend(run(plan, &state, lead.presence(&state)));
    }
    found.push(leftovers(plan));
    found
}

fn run(plan: &OpenPlan, state: &State, lead: LeadPresence) -> Vec<DoctorFinding> {
    let mut found = vec![claims(state, lead), evidence_files(plan, state)];
    match plan.git() {
        Ok(git) => {
            found.push(
                commits(&git, state).unwrap_or_else(|error| DoctorFinding::of_error("git", error)),
            );
            found.push(way_of_commit(&git));
        }
        Err(error) => found.push(DoctorFinding::of_error("git", error)),
    }
    found
}

/// The files that people and agents wrote.
fn files(plan: &OpenPlan) -> Vec<DoctorFinding> {
    let check = "files";
    let tree = plan
        .tree()
        .map(drop)
        .map_err(|error| match error.is_missing() {
            true => CommandError::failed("there is no tasks.md").hint("plan again, or put it back"),
            false => error.into(),
        });
    let settings = plan.folder.settings().map(drop).map_err(CommandError::from);
    let read = [tree, settings].into_iter().filter_map(Result::err);
    let mut found: Vec<DoctorFinding> = read
        .map(|error| DoctorFinding::of_error(check, error))
        .collect();
    for name in names_in(plan.folder.path()) {
        if plan.folder.path().join(&name).is_symlink() {
            let detail = format!(
                "{name} is a symbolic link, which fp does not follow; put the real one in its place"
            );
            found.push(DoctorFinding::warning(check, detail));
        }
    }
    if found.is_empty() {
        found.push(DoctorFinding::ok(check, "all can be read"));
    }
    found
}

pub(super) fn log(plan: &PlanId, examined: &ExaminedLog) -> Vec<DoctorFinding> {
    let check = "log";
    let mut found = Vec::new();
    if let Some((fault, hint)) = &examined.fault {
        found.push(DoctorFinding::error(check, format!("{fault}; {hint}")));
    }
    if examined.torn > 0 {
        let detail = format!(
            "its last line was cut off while it was written ({} bytes)",
            examined.torn
        );
        found.push(DoctorFinding::warning(check, detail).fixable(plan, DoctorFix::DropTornLine));
    }
    if let Some(seq) = examined.foreign {
        let detail = format!(
            "entry {seq} was not written by fp on this machine: nothing goes on from here until `fp approve {plan}`"
        );
        found.push(DoctorFinding::warning(check, detail));
    }
    if found.is_empty() {
        let count = examined.entries.len();
        let entries = if count == 1 { "entry" } else { "entries" };
        found.push(DoctorFinding::ok(check, format!("{count} {entries}")));
    }
    found
}

/// The snapshot of `plan`, whose log has these `entries` without a fault.
pub(super) fn snapshot(
    plan: &PlanId,
    entries: &[Entry],
    examined: &ExaminedSnapshot,
) -> DoctorFinding {
    let check = "snapshot";
    let rebuilt = |detail: &str| {
        DoctorFinding::warning(check, detail).fixable(plan, DoctorFix::RebuildSnapshot)
    };
    let state = match examined {
        ExaminedSnapshot::Missing => {
            return DoctorFinding::ok(check, "none; the next change writes it");
        }
        ExaminedSnapshot::Unreadable => {
            return rebuilt("damaged, edited by hand, or from another plan or version");
        }
        ExaminedSnapshot::Read(state) => state,
    };
    let last = entries.last().map_or(0, |entry| entry.seq);
    if state.seq > last {
        return DoctorFinding::error(
            check,
            format!(
                "it has entry {}, and the log ends at entry {last}: entries are lost; restore events.jsonl if you \
                 have a copy, since only the log counts",
                state.seq
            ),
        );
    }
    let before = entries.iter().take_while(|entry| entry.seq <= state.seq);
    let mut replayed = State::replay(plan.clone(), before);
    // Only the ledger knows the codes of its lines.
    replayed.foreign = state.foreign;
    let code = state.approval.as_ref().and_then(|a| a.code.clone());
    replayed
        .approval
        .iter_mut()
        .for_each(|a| a.code.clone_from(&code));
    if replayed != **state {
        return rebuilt("does not match the log: one of them was edited by hand");
    }
    DoctorFinding::ok(check, "matches the log")
}

/// The tasks that somebody holds.
pub(super) fn claims(state: &State, lead: LeadPresence) -> DoctorFinding {
    let held: Vec<&TaskId> = state.running().map(|task| &task.leaf.id).collect();
    let what = if held.is_empty() {
        "no task is held".into()
    } else {
        format!("held: {}", listed_tasks(held.clone()))
    };
    let go_on = NextStep::if_interrupted(state, RunStanding::of(state, lead));
    let (fault, command) = match go_on {
        Some(step) => ("interrupted: nobody leads the run", step.command),
        None if !state.is_running() && !held.is_empty() => {
            ("the run is over", format!("fp start {}", state.plan_id))
        }
        None => return DoctorFinding::ok("claims", what),
    };
    DoctorFinding::warning("claims", format!("{what}; {fault}")).fixed_by(command)
}

/// The completed tasks whose verdict has no evidence file.
fn without_evidence(plan: &OpenPlan, state: &State) -> Vec<TaskId> {
    let judged = state
        .tasks
        .iter()
        .filter(|t| t.status == Status::Completed && t.verdict.is_some());
    let file = |id: &TaskId| {
        plan.folder
            .file("evidence")
            .join(format!("task-{id}-verification.md"))
    };
    judged
        .map(|task| task.leaf.id.clone())
        .filter(|id| !file(id).is_file())
        .collect()
}

fn evidence_files(plan: &OpenPlan, state: &State) -> DoctorFinding {
    let check = "evidence";
    let missing = without_evidence(plan, state);
    if missing.is_empty() {
        return DoctorFinding::ok(check, "complete");
    }
    let detail = format!(
        "no file for {}; the log has its contents",
        listed_tasks(&missing)
    );
    DoctorFinding::warning(check, detail).fixable(&state.plan_id, DoctorFix::WriteEvidence)
}

/// The commits of completed tasks, which should be in the history of HEAD.
fn commits(git: &Git, state: &State) -> Result<DoctorFinding, GitError> {
    let check = "commits";
    let commits = || {
        state
            .tasks
            .iter()
            .filter_map(|task| Some((&task.leaf.id, task.commit.as_ref()?)))
    };
    let there = git.behind_head(&commits().map(|(_, commit)| commit.clone()).collect())?;
    let is_there = |commit: &str| there.get(commit).is_some_and(|oid| oid.as_str() == commit);
    let (kept, lost): (Vec<_>, Vec<_>) = commits().partition(|(_, commit)| is_there(commit));
    let Some((_, first)) = lost.first() else {
        return Ok(DoctorFinding::ok(
            check,
            format!("{} in the history of HEAD", counted(kept.len(), "commit")),
        ));
    };
    let tasks = listed_tasks(lost.iter().map(|(task, _)| *task));
    let detail = format!(
        "not in the history of HEAD: {tasks}; another branch is checked out, or the history was rewritten"
    );
    Ok(DoctorFinding::warning(check, detail).fixed_by(format!("git branch --contains {first}")))
}

/// The obstacles to the next commit.
pub(super) fn way_of_commit(git: &Git) -> DoctorFinding {
    let check = "git";
    if let Some(lock) = git.locks().first() {
        let detail = format!(
            "{} keeps git from committing; if no git is running, a killed one has left it: remove it",
            lock.display()
        );
        return DoctorFinding::error(check, detail)
            .fixed_by(format!("rm {}", shell_quoted(&lock.to_string_lossy())));
    }
    match git.state() {
        Some(operation) => {
            let detail = format!("a {operation} is in progress; {}", operation.way_out());
            DoctorFinding::warning(check, detail)
        }
        None => DoctorFinding::ok(check, "ready to commit"),
    }
}

/// The worktrees of a run that is over.
fn leftovers(plan: &OpenPlan) -> DoctorFinding {
    let check = "leftovers";
    let worktrees = names_in(&plan.folder.path().join("worktrees"));
    let running = plan.load().is_ok_and(|loaded| loaded.state.is_running());
    if worktrees.is_empty() || running {
        return DoctorFinding::ok(check, "none");
    }
    let detail = format!(
        "worktrees of a run that is over, in worktrees/: {}",
        worktrees.join(", ")
    );
    DoctorFinding::warning(check, detail).fixed_by("git worktree list")
}

/// The readable names in `folder`, sorted; none where it can't be read, or is a link, which may lead anywhere.
fn names_in(folder: &Path) -> Vec<String> {
    if folder.is_symlink() {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Makes the fixes of `findings`, and returns a line for each. Changes nothing where the log can't be read.
pub(super) fn fix(plan: &OpenPlan, findings: &[DoctorFinding]) -> Result<Vec<String>, RunError> {
    let readable = !findings
        .iter()
        .any(|found| found.check == "log" && found.level == DoctorLevel::Error);
    let fixes: Vec<DoctorFix> = findings.iter().filter_map(|found| found.fix).collect();
    if fixes.is_empty() || !readable {
        return Ok(Vec::new());
    }
    if fixes.contains(&DoctorFix::RebuildSnapshot) {
        let path = plan.folder.file(SNAPSHOT);
        fs::remove_file(&path).map_err(|source| FileError::Write { path, source })?;
    }
    // Taking the lock drops a torn line, and writes the snapshot where there is none.
    let ledger = plan.lock()?;
    let mut done = Vec::new();
    for fix in fixes {
        done.push(match fix {
            DoctorFix::DropTornLine => "dropped the torn line of the log".to_owned(),
            DoctorFix::RebuildSnapshot => "rebuilt the snapshot from the log".to_owned(),
            DoctorFix::WriteEvidence => {
                let missing = without_evidence(plan, ledger.state());
                write_evidence(plan, &missing)?;
                format!(
                    "wrote {} from the log",
                    counted(missing.len(), "evidence file")
                )
            }
        });
    }
    Ok(done)
}

/// Writes the evidence of `tasks` as of their last verdicts.
fn write_evidence(plan: &OpenPlan, tasks: &[TaskId]) -> Result<(), RunError> {
    let tree = plan.tree()?;
    let parsed = tree.parse();
    let mut state = plan.store.empty_state();
    for entry in plan.store.examine()?.log.entries {
        state.apply(&entry);
        let judged: BTreeSet<&TaskId> = entry.events.iter().filter_map(judged_task).collect();
        for id in judged.into_iter().filter(|id| tasks.contains(id)) {
            let leaf = leaf(&parsed, id).ok_or_else(|| Refusal::UnknownTask(id.clone()))?;
            let criteria: Vec<String> = leaf.acceptance().map(str::to_owned).collect();
            evidence::write(plan, &state, id, &criteria, entry.at)?;
        }
    }
    Ok(())
}

fn judged_task(event: &Event) -> Option<&TaskId> {
    if let Event::Judged { task, .. } = event {
        Some(task)
    } else {
        None
    }
}
