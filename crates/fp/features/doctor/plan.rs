//! The checks of a plan.

use fp_host::error::HostResult;
use fp_host::git::Git;
use fp_host::plan::OpenPlan;
use fp_host::store::ExaminedLog;
use fp_plan::hint::Hint as _;
use fp_plan::plan::id::PlanId;
use fp_plan::text::{counted, first_few};
use fp_run::report::handoff::next_steps;
use fp_run::report::standing::RunStanding;
use fp_run::run::State;

use super::DoctorFinding;
use super::git::way_of_commit;
use crate::error::CommandError;

/// Most ids that a finding lists.
const LISTED: usize = 5;

/// Checks everything that belongs to `plan`. Changes nothing, takes no lock, and continues after every fault. Without a
/// log that can be read, the checks of the run are left out.
pub(super) fn examine(plan: &OpenPlan) -> Vec<DoctorFinding> {
    let mut found = files(plan);
    let lead = plan.look_at_lead();
    let examined = match plan.store.examine() {
        Ok(examined) => examined,
        Err(error) => {
            found.push(DoctorFinding::of_error("log", error));
            return found;
        }
    };
    found.extend(log(plan.id(), &examined));
    if examined.fault.is_some() {
        return found;
    }
    let state = State::replay(plan.id().clone(), &examined.entries);
    let standing = RunStanding::of(&state, lead.presence(&state));
    found.push(run(&state, standing));
    match plan.git() {
        Ok(git) => {
            found.push(
                commits(&git, &state).unwrap_or_else(|error| DoctorFinding::of_error("git", error)),
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
    let found: Vec<DoctorFinding> = read
        .map(|error| DoctorFinding::of_error(check, error))
        .collect();
    match found.is_empty() {
        true => vec![DoctorFinding::ok(check, "all can be read")],
        false => found,
    }
}

pub(super) fn log(plan: &PlanId, examined: &ExaminedLog) -> Vec<DoctorFinding> {
    let check = "log";
    let mut found = Vec::new();
    if let Some(fault) = &examined.fault {
        let hint = fault.hint().unwrap_or_default();
        found.push(DoctorFinding::error(check, format!("{fault}; {hint}")));
    }
    let last = examined.entries.last().map_or(0, |entry| entry.seq);
    if examined.fault.is_none() && examined.written > last {
        let detail = format!(
            "it ends at entry {last}, and {} were written: restore events.jsonl if you have a copy, since only the log \
             counts",
            examined.written
        );
        found.push(DoctorFinding::error(check, detail));
    }
    if examined.torn > 0 {
        let detail = format!(
            "its last line was cut off while it was written ({} bytes); the next change drops it",
            examined.torn
        );
        found.push(DoctorFinding::warning(check, detail));
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

/// Says whether anything goes on by itself.
fn run(state: &State, standing: RunStanding) -> DoctorFinding {
    let check = "run";
    match (standing, next_steps(state, standing).into_iter().next()) {
        (RunStanding::Interrupted | RunStanding::WaitsForYou, Some(step)) => {
            DoctorFinding::warning(check, standing.into_str()).fixed_by(step.command)
        }
        _ => DoctorFinding::ok(check, standing.into_str()),
    }
}

/// The commits of completed tasks, which should be in the history of HEAD.
fn commits(git: &Git, state: &State) -> HostResult<DoctorFinding> {
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
    let Some(&(_, first)) = lost.first() else {
        return Ok(DoctorFinding::ok(
            check,
            format!("{} in the history of HEAD", counted(kept.len(), "commit")),
        ));
    };
    let lost: Vec<&str> = lost.iter().map(|(task, _)| task.as_str()).collect();
    let tasks = counted(lost.len(), "task");
    let ids = first_few(&lost, LISTED);
    let detail = format!(
        "the commits of {tasks} are not in the history of HEAD ({ids}): another branch is checked out, or the history was rewritten"
    );
    Ok(DoctorFinding::warning(check, detail).fixed_by(format!("git branch --contains {first}")))
}
