//! The agent that brings Linear up to date with a run. It is no part of the run: nothing waits for it, and that it was
//! started is remembered beside what was sent, not in the log.

use fp_core::linear::outbox;
use fp_core::plan::id::AgentName;
use fp_core::run::State;
use fp_core::run::next::LeadAction;
use fp_host::linear::{read, write};
use fp_host::plan::OpenPlan;
use jiff::{SignedDuration, Timestamp};

use crate::error::CommandError;

/// Name of the agent.
const NAME: &str = "tracker";
/// Its type, as the client addresses it.
const AGENT: &str = "fp:task-tracker";

/// Takes the tracker out of the agents that have `ended`; whether it was among them.
pub(super) fn ended(ended: &mut Vec<AgentName>) -> bool {
    let before = ended.len();
    ended.retain(|name| name.as_str() != NAME);
    ended.len() < before
}

/// The action that starts it, where something is due in Linear and none is under way, which counts until it is said to
/// have `ended` or the time for it is over. The caller holds the plan's lock.
///
/// Fails where the record of what was sent can't be read or written.
pub(super) fn due(
    plan: &OpenPlan,
    state: &State,
    ended: bool,
    now: Timestamp,
) -> Result<Option<LeadAction>, CommandError> {
    if !plan.settings.linear.enabled {
        return Ok(None);
    }
    let Some(mut mapping) = read(plan)?.filter(|mapping| !mapping.absent) else { return Ok(None) };
    let before = mapping.tracked_since;
    if ended {
        mapping.tracked_since = None;
    }
    let time = SignedDuration::from_mins(plan.settings.dispatch_timeout_minutes.into());
    let is_under_way = mapping.tracked_since.is_some_and(|since| now.duration_since(since) < time);
    let is_due = !is_under_way && !outbox(state, &mapping, 1).changes.is_empty();
    if is_due {
        mapping.tracked_since = Some(now);
    }
    if mapping.tracked_since != before {
        write(plan, &mapping)?;
    }
    let id = plan.id();
    Ok(is_due.then(|| LeadAction::Spawn {
        name: AgentName::new(NAME).expect("it is a name"),
        agent: AGENT,
        prompt: format!(
            "You are {NAME}. Bring Linear up to date with plan {id}: run `fp linear outbox {id}` and go by what it prints."
        ),
    }))
}
