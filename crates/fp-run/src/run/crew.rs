//! Tracks the processes that play the agents of a run: which program and model plays each agent, and how much each has
//! cost.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::question::{AnswerChoice, Topic};
use super::state::{Activity, Role, RunAgent, RunStatus, State, TaskState};
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::settings::SpendingLimit;
use fp_plan::text::last_part;

/// Maximum number of refused calls recorded with a cost.
const MAX_DENIED: usize = 20;
/// Maximum length of an agent's last words, in bytes.
const MAX_SAID: usize = 600;

/// The last process of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentProcess {
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The conversation that the program can resume, if it has reported one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The mark by which a later process finds the agent's processes on this machine.
    pub mark: String,
    /// Number of model requests in the conversation so far. The following fields cover the same period.
    #[serde(default)]
    pub turns: u64,
    #[serde(default)]
    pub tokens: TokenUse,
    /// Cost in millionths of a US dollar; 0 if the program doesn't report it.
    #[serde(default)]
    pub micro_usd: u64,
}

/// Tokens, as the program counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUse {
    /// Input tokens not read from the cache.
    pub input: u64,
    /// Input tokens read from the service's cache.
    pub cached: u64,
    pub output: u64,
}

impl TokenUse {
    /// The usage since `before`.
    pub fn since(&self, before: Self) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            cached: self.cached.saturating_sub(before.cached),
            output: self.output.saturating_sub(before.output),
        }
    }

    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.cached)
            .saturating_add(self.output)
    }

    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}

/// The cost of one agent process, or of several on the same attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCost {
    /// The task that the agent held at the end, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The iteration of the task.
    #[serde(default)]
    pub iteration: u32,
    pub role: Role,
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Requests to the model.
    pub turns: u64,
    pub tokens: TokenUse,
    /// Cost in millionths of a US dollar, if the program reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    pub seconds: u64,
    /// The refused calls, as rules that would allow them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub denied: BTreeSet<String>,
}

impl AgentCost {
    fn is_like(&self, other: &Self) -> bool {
        self.task == other.task
            && self.iteration == other.iteration
            && self.role == other.role
            && self.program == other.program
            && self.model == other.model
    }

    /// Adds the usage of another part of the same work.
    pub fn spend(&mut self, turns: u64, tokens: TokenUse, micro_usd: Option<u64>) {
        self.turns = self.turns.saturating_add(turns);
        self.tokens.add(tokens);
        self.micro_usd = match (self.micro_usd, micro_usd) {
            (Some(before), Some(more)) => Some(before.saturating_add(more)),
            (before, more) => before.or(more),
        };
    }

    fn add(&mut self, other: &Self) {
        self.spend(other.turns, other.tokens, other.micro_usd);
        self.seconds = self.seconds.saturating_add(other.seconds);
        let room = MAX_DENIED.saturating_sub(self.denied.len());
        self.denied.extend(other.denied.iter().take(room).cloned());
    }
}

/// The sum of `costs`.
pub fn total_cost<'c>(costs: impl IntoIterator<Item = &'c AgentCost>) -> (TokenUse, Option<u64>) {
    let mut sum = AgentCost::default();
    for cost in costs {
        sum.spend(0, cost.tokens, cost.micro_usd);
    }
    (sum.tokens, sum.micro_usd)
}

/// Returns events that record what agent `name` of a session has used so far in its conversation `id`, unless the log
/// already has it. `fp run` records the cost of its processes itself.
pub fn session_spent(
    state: &State,
    name: &AgentName,
    id: &str,
    turns: u64,
    tokens: TokenUse,
    model: Option<String>,
) -> Vec<Event> {
    let known = state.processes.get(name);
    let known = known.filter(|known| known.session.as_deref() == Some(id));
    let before = known.cloned().unwrap_or_default();
    let tokens = tokens.since(before.tokens);
    if !state.is_running() || state.has_processes() || tokens.total() == 0 {
        return Vec::new();
    }
    let program = "claude".to_owned();
    let mut events = Vec::new();
    if known.is_none() {
        events.push(Event::AgentStarted {
            name: name.clone(),
            process: AgentProcess {
                program: program.clone(),
                model: model.clone(),
                session: Some(id.to_owned()),
                ..AgentProcess::default()
            },
        });
    }
    let agent = state.agents.get(name);
    let judged = || state.task(agent?.task.as_ref()?);
    let task = judged().or_else(|| state.last_of(name));
    let cost = AgentCost {
        task: task.map(|task| task.leaf.id.clone()),
        iteration: task.map_or(0, |task| task.iteration),
        role: agent.map_or(Role::Builder, |agent| agent.role),
        program,
        model,
        turns: turns.saturating_sub(before.turns),
        tokens,
        ..AgentCost::default()
    };
    let name = name.clone();
    events.push(Event::AgentSpent { name, cost });
    events
}

impl State {
    /// Returns the event that agent `name` ended without a result, with `said` as its last words. `None` if it has one,
    /// or wasn't started for anything: a builder's result is a submission or a question, a verifier's is a verdict.
    /// `silent` is the silence limit, in minutes, if the agent exceeded it.
    pub fn ended_empty(&self, name: &AgentName, said: &str, silent: Option<u32>) -> Option<Event> {
        let agent = self.agents.get(name)?;
        let held = self.held_by(name).map(|task| &task.leaf.id);
        if agent.activity == Activity::Idle || held.is_some_and(|id| self.awaits_answer(id)) {
            return None;
        }
        let said = last_part(said, MAX_SAID);
        Some(Event::AgentEnded {
            name: name.clone(),
            task: held.or(agent.task.as_ref()).cloned(),
            said: Some(said).filter(|said| !said.is_empty()),
            silent,
        })
    }

    /// The known reasons why `name` didn't submit `task`, each preceded by a semicolon.
    pub(super) fn reasons_left(&self, name: &AgentName, task: &TaskState) -> String {
        let said = self.agents.get(name).and_then(RunAgent::last_words);
        let refused = task
            .refused
            .iter()
            .map(|reason| format!("; refused: {reason}"));
        refused.chain(said).collect()
    }

    /// The last words of the latest verifier that gave no verdict on `task`, preceded by a semicolon.
    pub(super) fn said_by_verifiers(&self, task: &TaskId) -> String {
        let of_task = |agent: &&RunAgent| agent.task.as_ref() == Some(task) && agent.said.is_some();
        let verifiers = self.agents.values().filter(of_task);
        let last = verifiers.max_by_key(|agent| agent.since);
        last.and_then(RunAgent::last_words).unwrap_or_default()
    }

    /// The last words of a builder that took no task, preceded by a semicolon.
    pub(super) fn said_by_fruitless(&self) -> String {
        let fruitless = self.agents.values().filter(|agent| agent.fruitless > 0);
        fruitless
            .filter_map(RunAgent::last_words)
            .next_back()
            .unwrap_or_default()
    }
}

impl RunAgent {
    /// The agent's last words, quoted as data because they may contain anything.
    fn last_words(&self) -> Option<String> {
        Some(format!("; its last words: {:?}", self.said.as_ref()?))
    }
}

impl State {
    /// Records that the client's agent `id` goes by `name`, and that no other agent does.
    pub(super) fn know_agent(&mut self, name: &AgentName, id: &str) {
        self.agent_ids.retain(|_, known| known != name);
        self.agent_ids.insert(id.to_owned(), name.clone());
    }

    pub(super) fn fold_process(&mut self, name: &AgentName, process: &AgentProcess) {
        if let Some(session) = &process.session {
            self.know_agent(name, session);
        }
        let before = self.processes.remove(name);
        let before = before
            .filter(|before| before.session == process.session)
            .unwrap_or_default();
        let process = AgentProcess {
            turns: before.turns,
            tokens: before.tokens,
            micro_usd: before.micro_usd,
            ..process.clone()
        };
        self.processes.insert(name.clone(), process);
    }

    pub(super) fn fold_cost(&mut self, name: &AgentName, cost: &AgentCost) {
        if let Some(process) = self.processes.get_mut(name) {
            process.turns = process.turns.saturating_add(cost.turns);
            process.tokens.add(cost.tokens);
            process.micro_usd = process
                .micro_usd
                .saturating_add(cost.micro_usd.unwrap_or(0));
        }
        match self.costs.iter_mut().find(|known| known.is_like(cost)) {
            Some(known) => known.add(cost),
            None => self.costs.push(cost.clone()),
        }
    }

    /// The cost of `task`, or of the run, in the unit of `limit`.
    pub fn spent_of(&self, limit: SpendingLimit, task: Option<&TaskId>) -> SpendingLimit {
        let is_counted = |cost: &&AgentCost| task.is_none() || cost.task.as_ref() == task;
        let (tokens, usd) = total_cost(self.costs.iter().filter(is_counted));
        match limit {
            SpendingLimit::MicroUsd(_) => SpendingLimit::MicroUsd(usd.unwrap_or(0)),
            SpendingLimit::Tokens(_) => SpendingLimit::Tokens(tokens.total()),
        }
    }

    /// True if the cost of `task`, or of the run, has reached `limit`. Each time the user chose to continue, another
    /// `limit` may be spent on top.
    pub fn is_spent(&self, limit: SpendingLimit, task: Option<&TaskId>) -> bool {
        let mut allowed = limit;
        for asked in self.answered_with(AnswerChoice::Continue) {
            if let Topic::Budget {
                spent, task: of, ..
            } = &asked.question.topic
                && of.as_ref() == task
            {
                allowed = limit.on_top_of(spent.unwrap_or(allowed).max(allowed));
            }
        }
        self.spent_of(limit, task) >= allowed
    }

    /// The budget for continuing a run that was stopped by its budget: the amount spent so far plus the same limit
    /// again.
    pub fn higher_budget(&self) -> Option<SpendingLimit> {
        let is_cancelled = self.has_status(RunStatus::Cancelled);
        let mut stopped = self
            .answered_with(AnswerChoice::Stop)
            .filter(|_| is_cancelled);
        match &stopped.next_back()?.question.topic {
            Topic::Budget {
                limit, task: None, ..
            } => Some(limit.on_top_of(self.spent_of(*limit, None))),
            _ => None,
        }
    }
}
