//! A lead that ends its turn although something is due.

use super::{Decision, Reply};
use crate::run::State;
use crate::run::event::Event;
use crate::run::message;
use crate::run::next::{LeadAction, RunSurroundings};
use crate::run::state::Activity;

/// What is left to do for a lead that stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing: an agent wakes it, the user is asked, or the run is over.
    Nothing,
    /// To start or wake an agent, to judge, or to have a commit made.
    Work,
    /// To tell the user why nothing can go on.
    Deadlock,
}

/// Whether `fp next` has something for the lead to do. It is not asked, only looked at: nothing counts as handed out.
#[must_use]
pub fn due(state: &State, around: &RunSurroundings) -> Due {
    let actions = state.next(&[], around).map(|turn| turn.actions).unwrap_or_default();
    let starts = |action: &LeadAction| {
        matches!(
            action,
            LeadAction::Spawn { .. }
                | LeadAction::Resume { .. }
                | LeadAction::Verify { .. }
                | LeadAction::Judge { .. }
        )
    };
    let ends_in = |is: fn(&LeadAction) -> bool| actions.iter().any(is);
    let nobody_works = state.agents.values().all(|agent| agent.activity == Activity::Idle);
    if !state.unstarted.is_empty()
        || actions.iter().any(starts)
        || (nobody_works && ends_in(|a| matches!(a, LeadAction::Wait { .. })))
    {
        // An agent that it was told to start is not heard of before that is done. What nobody works on and is waited
        // for all the same is a commit, which `fp next` makes.
        Due::Work
    } else if ends_in(|a| matches!(a, LeadAction::Deadlock { .. })) {
        Due::Deadlock
    } else {
        Due::Nothing
    }
}

/// Tells a lead that stops what is due, at most `nudges` times until anything happens in the run, and not when it
/// goes on only because it was told so just now (`may_continue`). Of a deadlock it is told once: only the user can
/// end it.
#[must_use]
pub fn lead_stops(state: &State, due: Due, nudges: u32, may_continue: bool) -> Decision {
    let (most, reason) = match due {
        Due::Nothing => (0, String::new()),
        Due::Work => (nudges, message::lead_nudge(&state.plan_id)),
        Due::Deadlock => (nudges.min(1), message::lead_deadlock(&state.plan_id)),
    };
    if !state.is_running() || !may_continue || state.lead_nudges >= most {
        return Decision { events: Vec::new(), reply: Reply::Silent };
    }
    Decision { events: vec![Event::LeadNudged], reply: Reply::Continue(reason) }
}
