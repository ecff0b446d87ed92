//! Agents and leads that stop: which of them go on, and why.

use crate::plan::id::AgentName;
use crate::run::State;
use crate::run::event::Event;
use crate::run::message;
use crate::run::next::{LeadAction, RunSurroundings};
use crate::run::state::{Activity, Status};

/// The answer to somebody who stops.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StopDecision {
    /// To be logged before it is told.
    pub events: Vec<Event>,
    /// The reason to go on; `None` lets it stop.
    pub told: Option<String>,
}

/// An agent that stops.
#[derive(Debug, Clone, Copy)]
pub struct StoppingAgent<'a> {
    /// The run that it belongs to.
    pub state: &'a State,
    /// Its name in that run.
    pub agent: &'a AgentName,
    /// How often a builder is nudged in one iteration; 0 if nudging is off.
    pub nudges: u32,
    /// Whether it may be kept from stopping; `false` if a stop hook has just done so.
    pub may_continue: bool,
}

/// Nudges a builder that stops before it hands in the task that it holds. All others may stop. The stop of an agent is
/// logged, so that the work it leaves behind becomes due.
#[must_use]
pub fn agent_stops(stopping: StoppingAgent<'_>) -> StopDecision {
    let StoppingAgent { state, agent, nudges, may_continue } = stopping;
    if !state.is_running() {
        return StopDecision::default();
    }
    let held =
        state.held_by(agent).filter(|t| t.status == Status::Implementing && !state.awaits_answer(&t.leaf.id));
    match held {
        Some(task) if may_continue && task.nudges < nudges => StopDecision {
            events: vec![Event::Nudged { task: task.leaf.id.clone(), owner: agent.clone() }],
            told: Some(message::nudge(&state.plan_id, &task.leaf.id, agent)),
        },
        _ => {
            let known = state.agents.get(agent).is_some_and(|a| a.activity != Activity::Idle);
            let events = if known { vec![Event::AgentEnded { name: agent.clone() }] } else { Vec::new() };
            StopDecision { events, told: None }
        }
    }
}

/// The work that a lead leaves undone when it stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadDue {
    /// Nothing: an agent wakes it, the user is asked, or the run is over.
    Nothing,
    /// To start or wake an agent, to judge, or to have a commit made.
    Work,
    /// To tell the user why the run can't go on.
    Deadlock,
}

/// The work that `fp next` has for the lead. It is only looked at: nothing counts as handed out.
#[must_use]
pub fn lead_due(state: &State, around: &RunSurroundings) -> LeadDue {
    let actions = state.next(&[], around).map(|turn| turn.actions).unwrap_or_default();
    let has = |is: fn(&LeadAction) -> bool| actions.iter().any(is);
    let starts = has(|action| {
        matches!(
            action,
            LeadAction::Spawn { .. }
                | LeadAction::Resume { .. }
                | LeadAction::Verify { .. }
                | LeadAction::Judge { .. }
        )
    });
    let is_idle = state.agents.values().all(|agent| agent.activity == Activity::Idle);
    // An agent that the lead was told to start stays silent until it is started. A wait while every agent is idle is for
    // a commit, which `fp next` makes.
    if !state.unstarted.is_empty() || starts || (is_idle && has(|a| matches!(a, LeadAction::Wait { .. }))) {
        LeadDue::Work
    } else if has(|a| matches!(a, LeadAction::Deadlock { .. })) {
        LeadDue::Deadlock
    } else {
        LeadDue::Nothing
    }
}

/// Tells a lead that stops what is due, at most `nudges` times until something happens in the run, and only if it
/// `may_continue`, as above. Of a deadlock it is told once: only the user can end it.
#[must_use]
pub fn lead_stops(state: &State, due: LeadDue, nudges: u32, may_continue: bool) -> StopDecision {
    let (most, reason) = match due {
        LeadDue::Nothing => return StopDecision::default(),
        LeadDue::Work => (nudges, message::lead_nudge(&state.plan_id)),
        LeadDue::Deadlock => (nudges.min(1), message::lead_deadlock(&state.plan_id)),
    };
    if !state.is_running() || !may_continue || state.lead_nudges >= most {
        return StopDecision::default();
    }
    StopDecision { events: vec![Event::LeadNudged], told: Some(reason) }
}
