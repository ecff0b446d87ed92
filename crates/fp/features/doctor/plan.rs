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
use serde_json::json;

use super::git::check_way_of_commit;
use super::{DoctorFinding, DoctorReport};
use crate::context::Context;
use crate::error::CommandError;

/// Maximum number of ids that a finding lists.
const LISTED: usize = 5;

/// Checks everything that belongs to the plan that `selector` names. Changes nothing, takes no lock, and doesn't stop
/// at a problem. If the log can't be read, the checks of the run are skipped.
pub(super) fn examine_plan(
    selector: &str,
    context: &Context,
) -> Result<DoctorReport, CommandError> {
    let folder = context.plans()?.resolve(selector)?;
    // Unreadable settings of the plan are a separate finding.
    let settings = context.settings_for(&folder);
    let settings = settings.or_else(|_| context.settings().cloned())?;
    let plan = OpenPlan::new(context.repo().clone(), settings, folder);
    let mut report = DoctorReport {
        title: format!("Plan {}", plan.id()),
        facts: json!({ "planId": plan.id() }),
        findings: check_files(&plan),
        offer: String::new(),
    };
    report.findings.extend(check_run(&plan));
    report.shorten_paths(plan.folder.path(), "");
    Ok(report)
}

/// Checks the files that people and agents wrote.
fn check_files(plan: &OpenPlan) -> Vec<DoctorFinding> {
    let check = "files";
    let mut found = Vec::new();
    match plan.tree() {
        Ok(_) => {}
        Err(error) if error.is_missing() => found.push(DoctorFinding::error(
            check,
            "there is no tasks.md; plan again, or put it back",
        )),
        Err(error) => found.push(DoctorFinding::of_error(check, error)),
    }
    if let Err(error) = plan.folder.settings() {
        found.push(DoctorFinding::of_error(check, error));
    }
    if found.is_empty() {
        found.push(DoctorFinding::ok(check, "all can be read"));
    }
    found
}

/// Checks the log, and the run and commits that it records.
fn check_run(plan: &OpenPlan) -> Vec<DoctorFinding> {
    let lead = plan.look_at_lead();
    let examined = match plan.store.examine() {
        Ok(examined) => examined,
        Err(error) => return vec![DoctorFinding::of_error("log", error)],
    };
    let mut found = check_log(plan.id(), &examined);
    if examined.fault.is_some() {
        return found;
    }
    let state = State::replay(plan.id().clone(), &examined.entries);
    let standing = RunStanding::of(&state, lead.presence(&state));
    found.push(check_standing(&state, standing));
    match plan.checkout(&state).or_else(|_| plan.git()) {
        Ok(git) => {
            let commits = check_commits(&git, &state);
            found.push(commits.unwrap_or_else(|error| DoctorFinding::of_error("git", error)));
            found.push(check_way_of_commit(&git));
        }
        Err(error) => found.push(DoctorFinding::of_error("git", error)),
    }
    found
}

pub(super) fn check_log(plan: &PlanId, examined: &ExaminedLog) -> Vec<DoctorFinding> {
    let check = "log";
    let mut found = Vec::new();
    if let Some(fault) = &examined.fault {
        let hint = fault.hint().unwrap_or_default();
        found.push(DoctorFinding::error(check, format!("{fault}; {hint}")));
    }
    let last = examined.entries.last().map_or(0, |entry| entry.seq);
    if examined.fault.is_none() && examined.written > last {
        let written = examined.written;
        let detail = format!(
            "it ends at entry {last}, and {written} were written: restore events.jsonl if you have a copy, since only the log \
             counts"
        );
        found.push(DoctorFinding::error(check, detail));
    }
    if examined.torn > 0 {
        let torn = examined.torn;
        let detail = format!(
            "its last line was cut off while it was written ({torn} bytes); the next change drops it"
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

/// Checks whether the run makes progress without the user.
fn check_standing(state: &State, standing: RunStanding) -> DoctorFinding {
    let check = "run";
    match (standing, next_steps(state, standing).into_iter().next()) {
        (RunStanding::Interrupted | RunStanding::WaitsForYou, Some(step)) => {
            DoctorFinding::warning(check, standing.into_str()).fixed_by(step.command)
        }
        _ => DoctorFinding::ok(check, standing.into_str()),
    }
}

/// Checks that the commits of completed tasks are in the history of HEAD.
fn check_commits(git: &Git, state: &State) -> HostResult<DoctorFinding> {
    let check = "commits";
    let made = state.tasks.iter();
    let made = made.filter_map(|task| Some((task.leaf.id.as_str(), task.commit.as_ref()?)));
    let made: Vec<(&str, &String)> = made.collect();
    let there = git.behind_head(&made.iter().map(|(_, commit)| (*commit).clone()).collect())?;
    let is_lost = |commit: &str| there.get(commit).is_none_or(|oid| oid.as_str() != commit);
    let lost = made.iter().filter(|(_, commit)| is_lost(commit));
    let (lost, commits): (Vec<&str>, Vec<&String>) = lost.copied().unzip();
    let Some(first) = commits.first() else {
        let kept = counted(made.len(), "commit");
        return Ok(DoctorFinding::ok(
            check,
            format!("{kept} in the history of HEAD"),
        ));
    };
    let (tasks, ids) = (counted(lost.len(), "task"), first_few(&lost, LISTED));
    let detail = format!(
        "the commits of {tasks} are not in the history of HEAD ({ids}): another branch is checked out, or the history was rewritten"
    );
    Ok(DoctorFinding::warning(check, detail).fixed_by(format!("git branch --contains {first}")))
}
