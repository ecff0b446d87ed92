//! `linear-mapping.json` on disk, and who reads it besides `fp linear`: `fp next`, `fp doctor` and `fp import`.

use std::borrow::Cow;
use std::path::PathBuf;

use fp_host::file::{self, FileError};
use fp_host::plan::OpenPlan;
use fp_plan::hint::Hint;
use fp_plan::plan::Plan;
use fp_plan::plan::id::{AgentName, PlanId, TaskId};
use fp_plan::text::counted;
use fp_run::run::State;
use fp_run::run::next::LeadAction;
use jiff::{SignedDuration, Timestamp};

use super::mapping::{LinearMapping, MAX_ATTEMPTS};
use super::outbox::LinearOutbox;
use crate::error::CommandError;
use crate::features::doctor::{DoctorFinding, listed_tasks};

const MAPPING: &str = "linear-mapping.json";
/// Largest mapping that is read, in bytes.
const CAP: u64 = 64 * 1024 * 1024;
/// Name of the agent that brings Linear up to date with a run.
const TRACKER: &str = "tracker";
/// Its type, as the client addresses it.
const TRACKER_AGENT: &str = "fp:task-tracker";

/// Why the mapping of a plan can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinearError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {fault}", path.display())]
    Mapping { path: PathBuf, fault: String },
}

impl Hint for LinearError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::File(error) => error.hint(),
            Self::Mapping { .. } => Some(
                "update fp if a newer one wrote it; otherwise correct that place, or move the file away: each issue is found again by the marker in its description"
                    .into(),
            ),
        }
    }
}

/// The mapping of `plan`; `None` where nothing was sent or told yet.
pub(super) fn read_mapping(plan: &OpenPlan) -> Result<Option<LinearMapping>, LinearError> {
    let path = plan.folder.file(MAPPING);
    let Some(text) = file::read_text_if_there(&path, CAP)? else { return Ok(None) };
    LinearMapping::parse(&text, plan.id()).map(Some).map_err(|fault| LinearError::Mapping { path, fault })
}

/// Writes the mapping of `plan`. The caller holds the plan's lock.
pub(super) fn write_mapping(plan: &OpenPlan, mapping: &LinearMapping) -> Result<(), LinearError> {
    Ok(file::atomic_write(&plan.folder.file(MAPPING), mapping.to_json().as_bytes())?)
}

/// `text`, the mapping of another plan, as that of the plan `id`; `None` where it can't be read.
pub(crate) fn mapping_moved_to(text: &str, id: &PlanId) -> Option<String> {
    let mut mapping: LinearMapping = serde_json::from_str(text).ok()?;
    mapping.plan_id = id.clone();
    Some(mapping.to_json())
}

/// Takes the tracker out of the agents that have `ended`; whether it was among them.
pub(crate) fn tracker_ended(ended: &mut Vec<AgentName>) -> bool {
    let before = ended.len();
    ended.retain(|name| name.as_str() != TRACKER);
    ended.len() < before
}

/// The action that starts the tracker, where something is due in Linear and none is under way, which counts until it is
/// said to have `ended` or its time is over. The caller holds the plan's lock.
///
/// The tracker is no part of the run: nothing waits for it, and its start is remembered in the mapping, not in the log.
pub(crate) fn tracker_due(
    plan: &OpenPlan,
    state: &State,
    ended: bool,
    now: Timestamp,
) -> Result<Option<LeadAction>, CommandError> {
    if !plan.settings.linear.enabled {
        return Ok(None);
    }
    let Some(mut mapping) = read_mapping(plan)?.filter(|mapping| !mapping.absent) else { return Ok(None) };
    let before = mapping.tracked_since;
    if ended {
        mapping.tracked_since = None;
    }
    let time = SignedDuration::from_mins(plan.settings.dispatch_timeout_minutes.into());
    let is_under_way = mapping.tracked_since.is_some_and(|since| now.duration_since(since) < time);
    let is_due = !is_under_way && LinearOutbox::of_leaves(state, &mapping).is_due();
    if is_due {
        mapping.tracked_since = Some(now);
    }
    if mapping.tracked_since != before {
        write_mapping(plan, &mapping)?;
    }
    let id = plan.id();
    Ok(is_due.then(|| LeadAction::Spawn {
        name: AgentName::new(TRACKER).expect("it is a name"),
        agent: TRACKER_AGENT,
        prompt: format!(
            "You are {TRACKER}. Bring Linear up to date with plan {id}: run `fp linear outbox {id}` and go by what it prints."
        ),
    }))
}

/// What the doctor finds about the mirror of `plan`, whose tree is `tree` where that can be read.
pub(crate) fn mirror_findings(plan: &OpenPlan, tree: Option<&Plan<'_>>) -> Vec<DoctorFinding> {
    match read_mapping(plan) {
        Ok(None) => Vec::new(),
        Ok(Some(mapping)) => judge_mapping(&mapping, tree),
        Err(error) => vec![DoctorFinding::of_error("linear", error)],
    }
}

/// Whether the mapping fits the tree, and whether something in it needs the user.
pub(super) fn judge_mapping(mapping: &LinearMapping, tree: Option<&Plan<'_>>) -> Vec<DoctorFinding> {
    let check = "linear";
    let retry = format!("fp linear retry {}", mapping.plan_id);
    let mut found = Vec::new();
    let is_gone = |id: &&TaskId| tree.is_some_and(|tree| tree.find(id.as_str()).is_none());
    let gone: Vec<&TaskId> = mapping.tasks.keys().filter(is_gone).collect();
    if !gone.is_empty() {
        let detail = format!("no longer in the tree: {}; close what is left in Linear", listed_tasks(gone));
        found.push(DoctorFinding::warning(check, detail));
    }
    let given_up = mapping.failures.values().filter(|failure| failure.attempts >= MAX_ATTEMPTS).count();
    if given_up > 0 {
        let detail = format!("{} failed too often", counted(given_up, "call"));
        found.push(DoctorFinding::warning(check, detail).fixed_by(&retry));
    }
    if mapping.absent {
        let detail = "Linear could not be reached, and is left alone";
        found.push(DoctorFinding::warning(check, detail).fixed_by(&retry));
    }
    if found.is_empty() {
        found.push(DoctorFinding::ok(check, counted(mapping.tasks.len(), "issue")));
    }
    found
}
