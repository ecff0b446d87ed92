//! The doctor of a plan: gathers the facts that `fp_core::doctor` judges, and makes the fixes that take no judgement.

mod files;
mod mend;
mod repository;
pub mod setup;

use fp_core::doctor::{self, Finding, Lead};
use fp_core::hint::Hint;
use fp_core::plan::Plan;
use fp_core::plan::id::TaskId;
use fp_core::run::{State, notepad};
use jiff::Timestamp;

use crate::file::{self, TASKS_CAP};
use crate::linear;
use crate::plan::OpenPlan;

pub use mend::mend;

/// Name of the notepad in a plan's folder.
const NOTEPAD: &str = "notepad.md";

/// Looks at everything that belongs to `plan`. Changes nothing, takes no lock, and goes on behind every fault: what
/// rests on a log that can't be read is left out.
#[must_use]
pub fn examine(plan: &OpenPlan, now: Timestamp) -> Vec<Finding> {
    let mut found = examined(plan, now);
    // Paths are told as they are seen from the plan's folder, or else from the repository.
    for above in [plan.folder.path(), &plan.repo.root] {
        let above = above.join("").display().to_string();
        for finding in &mut found {
            finding.detail = finding.detail.replace(&above, "");
        }
    }
    found
}

fn examined(plan: &OpenPlan, now: Timestamp) -> Vec<Finding> {
    let mut found = files::files(plan);
    let examined = match plan.store.examine() {
        Ok(examined) => examined,
        Err(error) => {
            found.push(Finding::error("log", advised(&error)));
            return found;
        }
    };
    found.extend(doctor::log(plan.id(), &examined.log));
    if examined.log.fault.is_none() {
        found.push(doctor::snapshot(plan.id(), &examined.log.entries, &examined.snapshot));
        let state = State::replay(plan.id().clone(), &examined.log.entries);
        run(plan, &state, &mut found);
    }
    found.extend(files::leftovers(plan, now));
    found
}

fn run(plan: &OpenPlan, state: &State, found: &mut Vec<Finding>) {
    let tree = plan.tree().ok();
    let parsed = tree.as_ref().map(|tree| tree.parse());
    if let Some((tree, parsed)) = tree.as_ref().zip(parsed.as_ref()) {
        found.push(doctor::approval(state, parsed, &tree.hash));
    }
    found.push(doctor::claims(state, lead(state)));
    found.push(doctor::evidence(state, |id| evidence_file(plan, id).is_file()));
    found.push(notepad_finding(plan, state));
    found.extend(repository::repository(plan, state));
    found.extend(mirror(plan, parsed.as_ref()));
}

/// Whether the process that leads the run is there.
fn lead(state: &State) -> Lead {
    match state.run.as_ref().and_then(|run| run.terms.client).and_then(is_there) {
        Some(true) => Lead::There,
        Some(false) => Lead::Gone,
        None => Lead::Unknown,
    }
}

#[cfg(unix)]
fn is_there(process: u32) -> Option<bool> {
    let process = rustix::process::Pid::from_raw(i32::try_from(process).ok()?)?;
    // Another error is that of a process that is there, and not ours.
    Some(rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_there(_process: u32) -> Option<bool> {
    None
}

fn evidence_file(plan: &OpenPlan, id: &TaskId) -> std::path::PathBuf {
    plan.folder.file("evidence").join(format!("task-{id}-verification.md"))
}

fn notepad_finding(plan: &OpenPlan, state: &State) -> Finding {
    let count = state.notes.len();
    let there = file::read_text_if_there(&plan.folder.file(NOTEPAD), TASKS_CAP);
    match there {
        Ok(None) if count == 0 => Finding::ok("notepad", "no note"),
        Ok(Some(text)) if text == notepad::render(state) => {
            Finding::ok("notepad", format!("{count} note{}", if count == 1 { "" } else { "s" }))
        }
        _ => Finding::warning("notepad", "notepad.md is not what the log says")
            .fixable(plan.id(), doctor::Fix::WriteNotepad),
    }
}

fn mirror(plan: &OpenPlan, tree: Option<&Plan<'_>>) -> Vec<Finding> {
    match linear::read(plan) {
        Ok(None) => Vec::new(),
        Ok(Some(mapping)) => doctor::mirror(&mapping, tree),
        Err(error) => {
            vec![Finding::error("linear", advised(&error))]
        }
    }
}

/// An error with its hint, in one line.
fn advised(error: &impl Hint) -> String {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{error}{hint}")
}
