//! Has the result of a run judged as a whole, by its requirements, and lets the checks of tasks without a verifier of
//! their own decide.

use std::path::PathBuf;

use fp_plan::plan::id::TaskId;
use fp_run::run::State;
use fp_run::run::event::{Event, Note};
use fp_run::run::verdict::VerifierOpinion;
use jiff::Timestamp;

use super::evidence;
use super::frozen::Place;
use super::verify::{RecordedVerdict, record_judged, verify};
use crate::error::{HostError, HostResult};
use crate::plan::OpenPlan;

/// Lets the checks of the submitted task `id` decide, and settles passed tasks.
pub fn judge_by_checks(
    plan: &OpenPlan,
    id: &TaskId,
    iteration: u32,
    now: impl Fn() -> Timestamp,
) -> HostResult<RecordedVerdict> {
    let verified = verify(plan, id, Some(iteration), &now)?;
    let ledger = plan.lock()?;
    let events = ledger.state().judge_by_checks(id, iteration)?;
    record_judged(plan, ledger, events, id, &verified.criteria, now)
}

/// The folder with the newest commit, in which a verifier of the whole works.
///
/// # Errors
/// No verdict on the whole is due, or no bench can be brought to the commit.
pub fn whole_folder(plan: &OpenPlan, state: &State) -> HostResult<PathBuf> {
    if !state.is_whole_due() {
        let said = "no verdict on the whole is due";
        let hint = format!("`fp status {}` says what is", plan.id());
        return Err(HostError::refused(said).with_hint(hint));
    }
    Ok(Place::of_newest(plan, state)?.folder().to_owned())
}

/// Records the verdict on the whole by its `criteria`. Returns true if it passed.
pub fn judge_whole(
    plan: &OpenPlan,
    opinion: VerifierOpinion,
    notes: &[Note],
    criteria: &[String],
    now: impl Fn() -> Timestamp,
) -> HostResult<bool> {
    let opinion = opinion.check_complete(criteria.len()).map_err(|error| {
        HostError::failed(error)
            .with_hint("judge each requirement once: --pass 'N: …' or --fail 'N: …'")
    })?;
    let mut ledger = plan.lock()?;
    let mut events = ledger.state().judge_whole(opinion, criteria)?;
    events.extend(notes.iter().cloned().map(|note| Event::Noted { note }));
    if !notes.is_empty() {
        evidence::write_notepad(plan, &ledger.after(&events, now()))?;
    }
    ledger.append(events, now())?;
    let verdict = ledger.state().whole_verdict.as_ref();
    Ok(verdict.is_some_and(|verdict| verdict.pass))
}
