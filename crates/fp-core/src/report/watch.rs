//! A run at this moment: what a view that refreshes itself shows.

use jiff::Timestamp;

use super::status::{Counts, Phase, StatusReport, TaskLine};
use crate::plan::id::{AgentName, PlanId};
use crate::run::state::{Activity, Role, RunAgent, State, Status};

/// The report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchReport {
    /// The plan.
    pub plan_id: PlanId,
    /// Where it is.
    pub phase: Phase,
    /// When its run first started.
    pub started_at: Option<Timestamp>,
    /// When the last event was.
    pub last_at: Option<Timestamp>,
    /// How many tasks are where.
    pub counts: Counts,
    /// The builders of this session, and the verifiers that are at work.
    pub agents: Vec<AgentLine>,
    /// The tasks in document order.
    pub tasks: Vec<TaskLine>,
    /// Questions that wait for the user.
    pub questions: Vec<String>,
}

/// An agent, and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLine {
    /// Its name.
    pub name: AgentName,
    /// What it does.
    pub doing: String,
    /// Since when.
    pub since: Timestamp,
}

impl WatchReport {
    /// The report on `state`.
    #[must_use]
    pub fn new(state: &State) -> Self {
        let StatusReport { plan_id, phase, counts, tasks, questions, .. } = StatusReport::new(state);
        let agents = state.agents.iter().filter_map(|(name, agent)| agent_line(state, name, agent));
        Self {
            plan_id,
            phase,
            started_at: state.run.as_ref().map(|run| run.started_at),
            last_at: state.last_at,
            counts,
            agents: agents.collect(),
            tasks,
            questions,
        }
    }
}

fn agent_line(state: &State, name: &AgentName, agent: &RunAgent) -> Option<AgentLine> {
    let doing = match (agent.role, agent.activity) {
        (Role::Verifier, Activity::Idle) => return None,
        (Role::Verifier, _) => match &agent.task {
            Some(task) => format!("verifies {task}"),
            None => "verifies".into(),
        },
        (Role::Builder, activity) => builds(state, name, activity),
    };
    Some(AgentLine { name: name.clone(), doing, since: agent.since })
}

fn builds(state: &State, name: &AgentName, activity: Activity) -> String {
    let Some(held) = state.held_by(name) else {
        return if activity == Activity::Dispatched { "is to take a task" } else { "is idle" }.into();
    };
    let id = &held.leaf.id;
    match (held.status, activity) {
        (Status::AwaitingVerification, _) if held.awaits_commit() => format!("waits for the commit of {id}"),
        (Status::AwaitingVerification, _) => format!("waits for the verdict on {id}"),
        (_, Activity::Idle) => format!("has stopped in the middle of {id}"),
        _ => format!("builds {id}"),
    }
}
