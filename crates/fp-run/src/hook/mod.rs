//! Decides for hooks, from facts alone, which agent of a run is acting, and whether that agent or the lead may stop.
//! The binary gathers the facts and speaks the client's language.
//!
//! A teammate's type is its name. A background agent has only the client's id until something that it or its lead does
//! reveals its name; the log then remembers the name.

pub mod guard;
pub mod own_command;
pub mod recovery;

use crate::run::State;
use crate::run::event::Event;
use crate::run::message;
pub use crate::run::next::{BUILDER, VERIFIER};
use crate::run::next::{LeadAction, RunSurroundings};
use crate::run::state::{Activity, Role, RunAgent, Status, TaskState};
use fp_plan::plan::id::{AgentName, TaskId};

/// Maximum length of a remembered client id, in bytes.
const CLIENT_ID_BYTES: usize = 200;

/// An agent as the client describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAgent<'e> {
    Named(AgentName),
    /// An agent whose type is one of this plugin's.
    Background {
        is_builder: bool,
        id: Option<&'e str>,
        /// The agent's description, if it has the form of a name.
        described: Option<AgentName>,
    },
}

impl<'e> HookAgent<'e> {
    /// Identifies an agent by type, id and description; `None` if it can't belong to any run.
    pub fn new(kind: &str, id: Option<&'e str>, description: Option<&str>) -> Option<Self> {
        if kind != BUILDER && kind != VERIFIER {
            return AgentName::new(kind).ok().map(Self::Named);
        }
        let described = description.and_then(|text| AgentName::new(text).ok());
        Some(Self::Background {
            is_builder: kind == BUILDER,
            id,
            described,
        })
    }

    /// The agent's name in the run, if the agent definitely belongs to it.
    pub fn known_in(&self, state: &State) -> Option<AgentName> {
        let name = match self {
            Self::Named(name) => Some(name),
            Self::Background { id, .. } => id.and_then(|id| state.agent_ids.get(id)),
        };
        name.filter(|name| state.has_agent(name)).cloned()
    }

    /// The agent's name in the run, if the agent probably belongs to it: if the run has one builder, an unnamed
    /// background builder is assumed to be that one.
    pub fn name_in(&self, state: &State) -> Option<AgentName> {
        let guess = match self {
            Self::Background {
                described: Some(name),
                ..
            } => Some(name.clone()),
            Self::Background {
                is_builder: true, ..
            } if state.terms().builders == 1 => state.builder(1),
            Self::Background { .. } | Self::Named(_) => None,
        };
        let known = self.known_in(state);
        known.or_else(|| guess.filter(|name| state.has_agent(name)))
    }
}

/// The reason why a builder may not claim as `name`: the log knows the builder under another name, the run has no
/// builder with this name, or another agent at work has it. `id` is the client's id of the builder, if any.
pub fn refuse_name(state: &State, name: &AgentName, id: Option<&str>) -> Option<String> {
    let plan = &state.plan_id;
    let known = id.and_then(|id| state.agent_ids.get(id));
    if let Some(known) = known.filter(|known| *known != name) {
        return Some(format!(
            "you are {known} in the run of {plan}: fp claim {plan} --as {known}"
        ));
    }
    let mut builders = (1..=state.terms().builders).map(|number| state.builder(number));
    let is_of_run = state.has_agent(name) || builders.any(|builder| builder.as_ref() == Some(name));
    if state.is_running() && !is_of_run {
        return Some(format!(
            "{plan} has no builder with that name: use the one in your prompt"
        ));
    }
    let agent = state.agents.get(name);
    let is_at_work = agent.is_some_and(|agent| agent.activity == Activity::Working);
    let mut ids = state.agent_ids.iter().filter(|(_, of)| *of == name);
    (is_at_work && ids.any(|(known, _)| Some(known.as_str()) != id))
        .then(|| format!("another agent of the run of {plan} has the name {name}"))
}

/// The reason why `agent` (`None` for the lead) may not judge `task` (`None` for the whole): only the verifier that was
/// asked about it may.
pub fn refuse_verdict(
    state: &State,
    agent: Option<&HookAgent<'_>>,
    task: Option<&TaskId>,
) -> Option<String> {
    state.run.as_ref()?;
    let plan = &state.plan_id;
    let what = task.map_or_else(|| "the whole".to_owned(), |task| format!("task {task}"));
    let Some(agent) = agent else {
        return Some(format!("a verifier judges {what}: run fp next {plan}"));
    };
    let mut asked = state
        .agents
        .iter()
        .filter(|(_, of)| of.role == Role::Verifier && of.task.as_ref() == task);
    let is_asked = match (agent, agent.known_in(state)) {
        (_, Some(known)) => asked.any(|(name, _)| *name == known),
        (HookAgent::Named(_), None) => false,
        // The agent may be a verifier whose start no hook saw.
        (HookAgent::Background { .. }, None) => {
            asked.any(|(name, _)| !state.agent_ids.values().any(|known| known == name))
        }
    };
    (!is_asked).then(|| format!("you were not asked to judge {what}: end your turn"))
}

/// The event that records `name` for the client's agent `id`, unless the log already has it.
pub fn agent_known(state: &State, name: &AgentName, id: &str) -> Option<Event> {
    let fits = !id.is_empty() && id.len() <= CLIENT_ID_BYTES && !id.chars().any(char::is_control);
    let new = state.agent_ids.get(id) != Some(name);
    (state.is_running() && fits && new).then(|| Event::AgentKnown {
        name: name.clone(),
        id: id.to_owned(),
    })
}

/// The event that records that the lead's message reached `name`, if the lead was told to send one.
pub fn message_reached(state: &State, name: &AgentName) -> Option<Event> {
    let mut due = state.untold.iter().chain(&state.unwoken);
    (state.is_running() && due.any(|due| due.name == *name))
        .then(|| Event::Reached { name: name.clone() })
}

/// The answer to a stopping agent or lead.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StopDecision {
    /// Events to log before the answer is given.
    pub events: Vec<Event>,
    /// The reason to continue; `None` allows the stop.
    pub told: Option<String>,
}

impl StopDecision {
    /// Records `events` and says nothing.
    pub fn without_reply(events: Vec<Event>) -> Self {
        Self { events, told: None }
    }
}

/// Nudges a builder that stops before it submits its task; all other agents may stop. Logs the stop, so that the work
/// left behind is due again.
///
/// Nudges at most `nudges` times per iteration, and only if it `may_continue`, that is, if no stop hook has just
/// prevented a stop. `said` is the agent's last message.
pub fn agent_stops(
    state: &State,
    agent: &AgentName,
    said: &str,
    nudges: u32,
    may_continue: bool,
) -> StopDecision {
    if !state.is_running() {
        return StopDecision::default();
    }
    let is_left = |task: &&TaskState| {
        task.status == Status::Implementing && !state.awaits_answer(&task.leaf.id)
    };
    if let Some(task) = state.held_by(agent).filter(is_left)
        && may_continue
        && task.nudges < nudges
    {
        let (task, owner) = (task.leaf.id.clone(), agent.clone());
        let told = message::builder_nudge(&state.plan_id, &task, &owner);
        return StopDecision {
            events: vec![Event::Nudged { task, owner }],
            told: Some(told),
        };
    }
    let known = state.agents.get(agent);
    let is_active = known.is_some_and(RunAgent::is_at_work);
    let ended = state.ended_empty(agent, said, None);
    let ended = ended.or_else(|| is_active.then(|| Event::agent_ended(agent.clone())));
    StopDecision::without_reply(ended.into_iter().collect())
}

/// The work that a lead would leave undone by stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadDue {
    /// Nothing: an agent will wake the lead, the user has been asked, or the run is over.
    Nothing,
    /// Start or wake an agent, judge, or have a commit made.
    Work,
    /// Tell the user what keeps the run from continuing.
    Deadlock,
}

/// Finds the work that `fp next` has for the lead, without handing it out.
pub fn lead_due(state: &State, around: &RunSurroundings) -> LeadDue {
    let turn = state.next(&[], around);
    let actions = turn.map(|turn| turn.actions).unwrap_or_default();
    let has = |is: fn(&LeadAction) -> bool| actions.iter().any(is);
    // The end of an agent's turn wakes the lead for what is new.
    let is_woken = state.agents.values().any(|agent| agent.is_ending);
    let starts = actions.iter().any(|action| match action {
        LeadAction::Spawn { again, .. }
        | LeadAction::Resume { again, .. }
        | LeadAction::Verify { again, .. } => *again || !is_woken,
        LeadAction::Check { .. } => !is_woken,
        _ => false,
    });
    let mut agents = state.agents.values();
    let is_idle = agents.all(|agent| !agent.is_at_work());
    let commits = state.own_running().any(TaskState::awaits_commit);
    let waits_for_others = state.is_shared() && !commits && state.end_commands_due().is_empty();
    // If every agent is idle, a wait can only be for a commit, which `fp next` makes, or for other machines.
    if starts || (is_idle && !waits_for_others && has(|a| matches!(a, LeadAction::Wait { .. }))) {
        LeadDue::Work
    } else if has(|a| matches!(a, LeadAction::Deadlock { .. } | LeadAction::Revise { .. })) {
        LeadDue::Deadlock
    } else {
        LeadDue::Nothing
    }
}

/// Tells a stopping lead what is due, at most `nudges` times until something happens in the run, and only if it
/// `may_continue`. A deadlock is mentioned once, because only the user can end it.
pub fn lead_stops(state: &State, due: LeadDue, nudges: u32, may_continue: bool) -> StopDecision {
    let (most, reason) = match due {
        LeadDue::Nothing => return StopDecision::default(),
        LeadDue::Work => (nudges, message::lead_nudge(&state.plan_id)),
        LeadDue::Deadlock => (nudges.min(1), message::lead_deadlock(&state.plan_id)),
    };
    if !state.is_running() || !may_continue || state.lead_nudges >= most {
        return StopDecision::default();
    }
    StopDecision {
        events: vec![Event::LeadNudged],
        told: Some(reason),
    }
}
