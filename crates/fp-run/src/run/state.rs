//! Holds the state of a run, folded from all events in its log. Commands are decided against this state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::crew::{AgentCost, AgentProcess};
use super::event::{AgentDispatch, Decider, ImportedTask, Note, RunTerms};
use super::fleet::FleetMachine;
use super::planning::Planning;
use super::question::{AnswerChoice, Question, Topic};
pub use super::task_state::{
    ChecksBefore, Claim, CommitIntent, Granted, HandedIn, MeasuredWork, Status, TaskState,
    TaskVerdict,
};
use crate::commit_style::CommitHistory;
use crate::verification::{Check, GitSurroundings};
use fp_plan::plan::id::{AgentName, MachineId, PlanId, TaskId};

/// The role of an agent.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Role {
    /// Takes tasks.
    #[default]
    Builder,
    /// Judges one task.
    Verifier,
}

/// The last known activity of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// The lead was told to start or wake the agent, which hasn't reacted yet.
    Dispatched,
    #[default]
    Working,
    /// The agent has ended its turn.
    Idle,
}

/// An agent of the current session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunAgent {
    pub role: Role,
    pub activity: Activity,
    /// Start of the current activity.
    pub since: Timestamp,
    /// The task that a verifier judges.
    pub task: Option<TaskId>,
    /// The last task that a builder claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<TaskId>,
    /// True from a builder's submission until its turn ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ending: bool,
    /// Number of consecutive dispatches that ended without the builder taking a task.
    pub fruitless: u32,
    /// The agent's last words, if it ended without a result.
    pub said: Option<String>,
}

impl RunAgent {
    /// True unless the agent has ended its turn.
    pub fn is_at_work(&self) -> bool {
        self.activity != Activity::Idle || self.is_ending
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Running,
    /// Nothing was left to do.
    Finished,
    /// The run was ended early.
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    #[serde(flatten)]
    pub terms: RunTerms,
    pub status: RunStatus,
    /// Time of the first start.
    pub started_at: Timestamp,
}

impl Run {
    /// True if the run's terms equal `terms`, apart from the client's process.
    pub(super) fn agrees_with(&self, terms: &RunTerms) -> bool {
        let client = self.terms.client;
        self.terms
            == RunTerms {
                client,
                ..terms.clone()
            }
    }

    /// True if `session`, in the client's process `client`, still has the agents of this run. An unknown session counts
    /// as a different one.
    pub fn is_led_by(&self, session: Option<&str>, client: Option<u32>) -> bool {
        let is_other = |before: u32| client.is_some_and(|now| before != now);
        let is_session = session.is_some() && self.terms.session.as_deref() == session;
        is_session && !self.terms.client.is_some_and(is_other)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Hash of the whole task tree file.
    pub tree_hash: String,
    pub at: Timestamp,
    pub by: Decider,
    /// The commit history that determines the style of the run's commits.
    pub commits: Option<CommitHistory>,
    /// The commands to run once no task is left.
    pub end_commands: Vec<String>,
    /// The commands that a fresh checkout needs before any other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// The authentication code of the approval's log line, which only this machine can compute.
    pub code: Option<String>,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub question: Question,
    /// The chosen labels; empty while the question is open.
    pub answer: Vec<String>,
    /// The user, or a rule, if nobody could be asked.
    pub by: Decider,
    /// The machine that asked, in a shared plan.
    pub machine: Option<MachineId>,
}

impl Asked {
    pub fn is_open(&self) -> bool {
        self.answer.is_empty()
    }
}

/// How often the interview recorded findings, by source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InterviewRounds {
    /// With answers from the user.
    pub user: u32,
    /// Without a user to ask.
    pub auto: u32,
}

impl InterviewRounds {
    pub(super) fn count_round(&mut self, by: Decider) {
        let rounds = match by {
            Decider::User => &mut self.user,
            Decider::Auto => &mut self.auto,
        };
        *rounds = rounds.saturating_add(1);
    }
}

/// The state folded from all events in a log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    pub plan_id: PlanId,
    /// Sequence number of the last event; 0 for an empty log.
    pub seq: u64,
    /// The first entry that this machine didn't write. From there on, the log is trusted only for reading.
    pub foreign: Option<u64>,
    /// Time of the last event.
    pub last_at: Option<Timestamp>,
    /// If the log is ahead of the clock, the clock time at the entry where that began.
    pub behind: Option<Timestamp>,
    /// Time of the first event.
    pub created_at: Option<Timestamp>,
    pub interview_rounds: InterviewRounds,
    /// The tree's validation and critique, with the counters and the last results.
    pub planning: Planning,
    /// The leaves that were done before the import, according to the plan's source.
    pub imported: BTreeMap<TaskId, ImportedTask>,
    /// The approval in force.
    pub approval: Option<Approval>,
    /// HEAD when it was last read.
    pub head: Option<String>,
    /// The run, once started.
    pub run: Option<Run>,
    /// The working tree of the checkout as the run or its tasks last left it, as a git tree.
    pub checkout_left: Option<String>,
    /// True if the approved commands were tried before any work.
    pub tried: bool,
    /// The tasks that a new approval during the run added or changed, and whose commands haven't been tried since.
    pub untried: BTreeSet<TaskId>,
    /// The number of tests that each command last ran, if it reported any.
    pub tests_ran: BTreeMap<String, usize>,
    /// This machine, in a shared plan.
    pub machine: Option<MachineId>,
    /// All machines that share the plan, or once did.
    pub machines: BTreeMap<MachineId, FleetMachine>,
    /// The leaves in document order.
    pub tasks: Vec<TaskState>,
    /// The agents of the current session.
    pub agents: BTreeMap<AgentName, RunAgent>,
    /// The known agents by the client's ids.
    pub agent_ids: BTreeMap<String, AgentName>,
    /// The last process of each agent.
    pub processes: BTreeMap<AgentName, AgentProcess>,
    /// The cost of agents, by task, iteration, role, program and model.
    pub costs: Vec<AgentCost>,
    /// The last task that each builder claimed in its own worktree, which holds the work of that task.
    pub worktrees: BTreeMap<AgentName, TaskId>,
    /// Dispatches that the lead may not have seen.
    pub untold: Vec<AgentDispatch>,
    /// Agents that the lead was told to start, and that haven't been heard from yet.
    pub unstarted: Vec<AgentDispatch>,
    /// Agents that the lead was told to message, and that haven't been heard from since.
    pub unwoken: Vec<AgentDispatch>,
    /// Every question in the order of asking.
    pub questions: Vec<Asked>,
    /// The notepad.
    pub notes: Vec<Note>,
    /// Commits that were rolled back, and their reverts: neither counts as a change.
    pub undone: Vec<String>,
    /// The checks run at the end, once no task was left.
    pub end_checks: Option<Vec<Check>>,
    /// The verdict on the result as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_verdict: Option<TaskVerdict>,
    /// Number of verifiers started for it.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub whole_verifiers: u32,
    /// Number of times the lead was told to continue since anything else happened.
    pub lead_nudges: u32,
    /// Position of each task by id.
    #[serde(skip)]
    pub(super) index: HashMap<TaskId, usize>,
}

impl State {
    /// True if an agent's activity began in the future and no entry yet records the real clock time, from which its
    /// silence could be counted.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.behind.is_none() && self.active_agents().any(|(_, agent)| agent.since > now)
    }

    /// The agents that have not ended their turn.
    pub(super) fn active_agents(&self) -> impl Iterator<Item = (&AgentName, &RunAgent)> {
        self.agents.iter().filter(|(_, agent)| agent.is_at_work())
    }

    /// The state of an empty log.
    pub fn new(plan_id: PlanId) -> Self {
        Self {
            plan_id,
            ..Self::default()
        }
    }

    /// Rebuilds the index, which isn't stored. Must be called after reading a state from its snapshot.
    pub fn restore_index(&mut self) {
        let tasks = self.tasks.iter().enumerate();
        self.index = tasks.map(|(at, task)| (task.leaf.id.clone(), at)).collect();
    }

    /// True if somebody else may have changed what was approved since the user was asked.
    pub fn may_be_others(&self) -> bool {
        self.foreign.is_some() || self.is_shared()
    }

    /// The surroundings of the checkout at the start of the run, if known.
    pub fn git_surroundings(&self) -> Option<&GitSurroundings> {
        Some(&self.terms().found.as_ref()?.around)
    }

    pub fn task(&self, id: &TaskId) -> Option<&TaskState> {
        self.index.get(id).map(|&i| &self.tasks[i])
    }

    pub(super) fn task_mut(&mut self, id: &TaskId) -> Option<&mut TaskState> {
        self.index.get(id).map(|&i| &mut self.tasks[i])
    }

    /// The commit history that determines the style of the run's commits; `None` in logs that don't record it.
    pub fn commits(&self) -> Option<&CommitHistory> {
        self.approval.as_ref()?.commits.as_ref()
    }

    /// The terms of the run; default terms before its start.
    pub fn terms(&self) -> &RunTerms {
        static NONE: LazyLock<RunTerms> = LazyLock::new(RunTerms::default);
        self.run.as_ref().map_or(&NONE, |run| &run.terms)
    }

    pub fn has_status(&self, status: RunStatus) -> bool {
        self.run.as_ref().is_some_and(|run| run.status == status)
    }

    /// True if the run was started and isn't over.
    pub fn is_running(&self) -> bool {
        self.has_status(RunStatus::Running)
    }

    /// True if `fp run` leads or led the run.
    pub fn has_processes(&self) -> bool {
        self.terms().processes
    }

    /// The command with which the lead continues.
    pub fn lead_command(&self) -> String {
        let command = match self.has_processes() {
            true => return self.run_command(),
            false if self.is_running() => "fp next",
            false => "fp start",
        };
        format!("{command} {}", self.plan_id)
    }

    /// The `fp run` command that continues the run with the flags of the last one.
    pub fn run_command(&self) -> String {
        let mut flags = self.terms().flags.clone();
        flags.budget = self.higher_budget().or(flags.budget);
        format!("fp run {}{flags}", self.plan_id)
    }

    /// True if `name` is an agent of this run.
    pub fn has_agent(&self, name: &AgentName) -> bool {
        self.agents.contains_key(name) || self.held_by(name).is_some()
    }

    /// The task that `owner` is building. A builder holds at most one; what it has submitted, it no longer holds.
    pub fn held_by(&self, owner: &AgentName) -> Option<&TaskState> {
        self.tasks_in(Status::Implementing)
            .find(|task| task.owner() == Some(owner))
    }

    /// The task that `owner` is building, or else claimed last.
    pub fn last_of(&self, owner: &AgentName) -> Option<&TaskState> {
        let claimed = || self.task(self.agents.get(owner)?.claimed.as_ref()?);
        self.held_by(owner).or_else(claimed)
    }

    /// The tasks that were sent back after an attempt of `owner`, and that it may take up again before any other.
    pub fn sent_back_to<'s>(&'s self, owner: &AgentName) -> impl Iterator<Item = &'s TaskState> {
        let is_by = |task: &TaskState| task.handed_in.as_ref().is_some_and(|it| it.by == *owner);
        self.own_running()
            .filter(move |task| task.is_sent_back() && is_by(task))
    }

    pub fn running(&self) -> impl Iterator<Item = &TaskState> {
        self.tasks.iter().filter(|t| t.status.is_running())
    }

    /// Maximum number of iterations of `task`; 0 before the run is started.
    pub fn iterations_of(&self, task: &TaskId) -> u32 {
        let terms = self.terms();
        let scaled = terms.scaled_iterations.get(task).copied();
        scaled.unwrap_or(0).max(terms.max_iterations)
    }

    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        let open = self.questions.iter().filter(|asked| asked.is_open());
        open.map(|asked| &asked.question)
    }

    /// The topics of the open questions.
    pub(super) fn open_topics(&self) -> impl Iterator<Item = &Topic> {
        self.open_questions().map(|question| &question.topic)
    }

    /// The questions about exactly `topic`, in the order of asking.
    pub(super) fn asked_about<'s>(
        &'s self,
        topic: &'s Topic,
    ) -> impl DoubleEndedIterator<Item = &'s Asked> {
        let questions = self.questions.iter();
        questions.filter(move |asked| asked.question.topic == *topic)
    }

    /// The questions with the answer `choice`, in the order of asking.
    pub(super) fn answered_with(
        &self,
        choice: AnswerChoice,
    ) -> impl DoubleEndedIterator<Item = &Asked> {
        self.questions
            .iter()
            .filter(move |asked| asked.answer == [choice.into_str()])
    }

    /// True if the user is being asked about a commit of `id` that couldn't be made.
    pub fn asks_about_commit(&self, id: &TaskId) -> bool {
        let commit = [
            Topic::CommitBlocked(id.clone()),
            Topic::IndexLocked(id.clone()),
        ];
        self.open_topics().any(|topic| commit.contains(topic))
    }

    pub fn count_in(&self, status: Status) -> usize {
        self.tasks_in(status).count()
    }

    pub(super) fn tasks_in(&self, status: Status) -> impl Iterator<Item = &TaskState> {
        self.tasks.iter().filter(move |task| task.status == status)
    }
}
