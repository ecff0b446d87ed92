//! What a hook answers, decided from facts. The binary gathers them and speaks the client's language.

pub mod guard;
pub mod identity;
pub mod lead;
pub mod legacy;
pub mod own_command;
pub mod recovery;

use crate::plan::id::AgentName;
use crate::run::State;
use crate::run::event::Event;
use crate::run::message;
use crate::run::state::{Activity, Status};

/// What the client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing: it goes on as if there were no hook.
    Silent,
    /// The agent goes on, and is told this.
    Continue(String),
}

/// A reply, and what has to be in the log before it is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// To be logged first.
    pub events: Vec<Event>,
    /// What the client is told.
    pub reply: Reply,
}

/// An agent that stops.
#[derive(Debug, Clone, Copy)]
pub struct Stopping<'a> {
    /// The run that it belongs to.
    pub state: &'a State,
    /// Its name in that run.
    pub agent: &'a AgentName,
    /// How often a builder is nudged in one iteration; 0 when nudging is off.
    pub nudges: u32,
    /// Whether it may be kept from stopping: not when a stop hook has just done so.
    pub may_continue: bool,
}

/// Nudges a builder that stops while it holds a task it has not handed in. Everybody else may stop; that an
/// agent has stopped is logged, so that what it leaves behind becomes due.
#[must_use]
pub fn agent_stops(stopping: Stopping<'_>) -> Decision {
    let Stopping { state, agent, nudges, may_continue } = stopping;
    if !state.is_running() {
        return Decision { events: Vec::new(), reply: Reply::Silent };
    }
    let held =
        state.held_by(agent).filter(|t| t.status == Status::Implementing && !state.awaits_answer(&t.leaf.id));
    match held {
        Some(task) if may_continue && task.nudges < nudges => Decision {
            events: vec![Event::Nudged { task: task.leaf.id.clone(), owner: agent.clone() }],
            reply: Reply::Continue(message::nudge(&state.plan_id, &task.leaf.id, agent)),
        },
        _ => {
            let known = state.agents.get(agent).is_some_and(|a| a.activity != Activity::Idle);
            let events = if known { vec![Event::AgentEnded { name: agent.clone() }] } else { Vec::new() };
            Decision { events, reply: Reply::Silent }
        }
    }
}
