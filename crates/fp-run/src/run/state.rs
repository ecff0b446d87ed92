//! The state of a run: what the events of its log add up to.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::event::{Decider, Dispatch, ImportedTask, Note, RunTerms};
use super::peer_message::{Inbox, PeerMessage};
use super::planning::Planning;
use super::question::Question;
pub use super::task_state::{
    ChecksBefore, Claim, CommitIntent, Granted, MeasuredWork, Status, TaskState, TaskVerdict,
};
use fp_plan::plan::id::{AgentName, PlanId, TaskId};

/// What an agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Takes tasks.
    Builder,
    /// Judges one task.
    Verifier,
}

/// What is known of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activity {
    /// The lead was told to start it, or to wake it; nothing has come of it yet.
    Dispatched,
    /// It works.
    Working,
    /// It has ended its turn.
    Idle,
}

/// An agent of the current session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunAgent {
    /// What it is for.
    pub role: Role,
    /// What it does.
    pub activity: Activity,
    /// Since when.
    pub since: Timestamp,
    /// The task that a verifier judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// How often in a row it was dispatched and ended without taking a task.
    #[serde(default)]
    pub fruitless: u32,
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It goes on.
    Running,
    /// Nothing was left to do.
    Finished,
    /// It was ended before its time.
    Cancelled,
}

/// The run of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// How it is led.
    #[serde(flatten)]
    pub terms: RunTerms,
    /// Where it is.
    pub status: RunStatus,
    /// When it first started.
    pub started_at: Timestamp,
}

impl Run {
    /// Whether it is led as `terms` say, whatever process of the session's client they name.
    pub(super) fn agrees_with(&self, terms: &RunTerms) -> bool {
        let client = self.terms.client;
        self.terms == RunTerms { client, ..terms.clone() }
    }

    /// Whether the agents of the session that leads this run are still there in `session`, in the client's
    /// process `client`. Without a session nobody can tell, so it counts as another one.
    pub fn is_led_by(&self, session: Option<&str>, client: Option<u32>) -> bool {
        let other_process = self.terms.client.zip(client).is_some_and(|(before, now)| before != now);
        session.is_some() && self.terms.session.as_deref() == session && !other_process
    }
}

/// The approval of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// Hash of the whole task tree file.
    pub tree_hash: String,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Decider,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// The labels chosen; empty while it is open.
    #[serde(default)]
    pub answer: Vec<String>,
    /// Who chose.
    #[serde(default)]
    pub by: Decider,
}

/// How often the interview recorded something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InterviewRounds {
    /// As the user said.
    #[serde(default)]
    pub user: u32,
    /// As nobody could be asked.
    #[serde(default)]
    pub auto: u32,
}

impl InterviewRounds {
    pub(super) fn count(&mut self, by: Decider) {
        let rounds = match by {
            Decider::User => &mut self.user,
            Decider::Auto => &mut self.auto,
        };
        *rounds = rounds.saturating_add(1);
    }

    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Something dispatched that the lead may not have been shown, since `fp next` was killed before it could, or has not
/// done as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untold {
    /// What the lead is to do.
    pub dispatch: Dispatch,
    /// The agent.
    pub name: AgentName,
    /// The task it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// All that a log adds up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// The plan.
    pub plan_id: PlanId,
    /// Sequence number of the last event; 0 for an empty log.
    pub seq: u64,
    /// Time of the last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<Timestamp>,
    /// Time of the first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// The rounds of the interview.
    #[serde(default, skip_serializing_if = "InterviewRounds::is_none")]
    pub interview_rounds: InterviewRounds,
    /// How often the tree was validated and criticised, and what came of it last.
    #[serde(default, skip_serializing_if = "Planning::is_empty")]
    pub planning: Planning,
    /// The leaves that were done before the plan was imported, by what its source says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub imported: BTreeMap<TaskId, ImportedTask>,
    /// The approval in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Where HEAD was when it was last looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The run, once started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// The leaves in document order.
    #[serde(default)]
    pub tasks: Vec<TaskState>,
    /// The agents of the current session.
    #[serde(default)]
    pub agents: BTreeMap<AgentName, RunAgent>,
    /// The client's ids of those of which they are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agent_ids: BTreeMap<String, AgentName>,
    /// The task whose work is in each builder's own worktree: the last one that it claimed there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub worktrees: BTreeMap<AgentName, TaskId>,
    /// What was dispatched and may not have reached the lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<Untold>,
    /// Agents that the lead was told to start, and that nothing has been heard of yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstarted: Vec<Untold>,
    /// Every question, in the order they were asked.
    #[serde(default)]
    pub questions: Vec<Asked>,
    /// The notepad.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// What builders told each other, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<PeerMessage>,
    /// How much of that each builder has been shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inboxes: BTreeMap<AgentName, Inbox>,
    /// Commits of tasks that were undone, and the commits that undid them: they are nobody's change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undone: Vec<String>,
    /// How often the lead was told to go on since anything else has happened.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lead_nudges: u32,
    /// Position of each task by id.
    #[serde(skip)]
    pub(super) index: HashMap<TaskId, usize>,
}

impl State {
    /// The state of an empty log.
    pub fn new(plan_id: PlanId) -> Self {
        Self {
            plan_id,
            seq: 0,
            last_at: None,
            created_at: None,
            interview_rounds: InterviewRounds::default(),
            planning: Planning::default(),
            imported: BTreeMap::new(),
            approval: None,
            head: None,
            run: None,
            tasks: Vec::new(),
            agents: BTreeMap::new(),
            agent_ids: BTreeMap::new(),
            worktrees: BTreeMap::new(),
            untold: Vec::new(),
            unstarted: Vec::new(),
            questions: Vec::new(),
            notes: Vec::new(),
            messages: Vec::new(),
            inboxes: BTreeMap::new(),
            undone: Vec::new(),
            lead_nudges: 0,
            index: HashMap::new(),
        }
    }

    /// Rebuilds what is not stored; to be called after a state was read from its snapshot.
    pub fn restore_index(&mut self) {
        self.index = self.tasks.iter().enumerate().map(|(i, t)| (t.leaf.id.clone(), i)).collect();
    }

    /// The leaf `id`, if the approved plan has it.
    pub fn task(&self, id: &TaskId) -> Option<&TaskState> {
        self.index.get(id).map(|&i| &self.tasks[i])
    }

    pub(super) fn task_mut(&mut self, id: &TaskId) -> Option<&mut TaskState> {
        self.index.get(id).map(|&i| &mut self.tasks[i])
    }

    /// Whether the run was started and is not over.
    pub fn is_running(&self) -> bool {
        self.run.as_ref().is_some_and(|r| r.status == RunStatus::Running)
    }

    /// Whether `name` is an agent of this run.
    pub fn has_agent(&self, name: &AgentName) -> bool {
        self.agents.contains_key(name) || self.held_by(name).is_some()
    }

    /// The task that `owner` holds, if any; a builder holds at most one.
    pub fn held_by(&self, owner: &AgentName) -> Option<&TaskState> {
        self.tasks
            .iter()
            .find(|t| t.status.is_running() && t.claim.as_ref().is_some_and(|c| c.owner == *owner))
    }

    /// The tasks that somebody holds.
    pub fn running(&self) -> impl Iterator<Item = &TaskState> {
        self.tasks.iter().filter(|t| t.status.is_running())
    }

    /// How many iterations `task` has; 0 before the run is started.
    pub fn iterations_of(&self, task: &TaskId) -> u32 {
        self.run.as_ref().map_or(0, |run| {
            run.terms.scaled_iterations.get(task).copied().unwrap_or(0).max(run.terms.max_iterations)
        })
    }

    /// The questions that are not answered yet.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|a| a.answer.is_empty()).map(|a| &a.question)
    }

    /// How many tasks are in `status`.
    pub fn count(&self, status: Status) -> usize {
        self.tasks.iter().filter(|t| t.status == status).count()
    }
}
