//! Defines the log, the only source of truth of a run. One line of `events.jsonl` holds all the events of one command,
//! which makes a command atomic. States are only ever folded from events, so an event carries everything its fold
//! needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::crew::{AgentCost, AgentProcess};
use super::drift::Drift;
use super::question::Question;
use super::ready::Policy;
use super::task_state::{CommitIntent, Granted, MeasuredWork, TaskVerdict};
use crate::commit_style::CommitHistory;
use crate::critique::Critique;
use crate::verification::Check;
use crate::verification::GitSurroundings;
use crate::verification::change::Change;
use fp_plan::plan::id::{AgentName, MachineId, TaskId};
use fp_plan::repo_path::RepoPath;
use fp_plan::settings::SpendingLimit;
use fp_plan::text::shell_quoted;

/// Version of the log's lines.
pub const LOG_VERSION: u32 = 1;
/// Version of the lines of a shared plan, which an `fp` that doesn't know about machines must not read. A line with a
/// higher version is refused.
pub const SHARED_LOG_VERSION: u32 = 2;

/// One line of the log: the events of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// [`LOG_VERSION`], or in a shared plan [`SHARED_LOG_VERSION`].
    pub schema_version: u32,
    /// Position in the log, from 1, without gaps.
    pub seq: u64,
    /// Time of writing, never before the previous entry's, whatever the clock says.
    pub at: Timestamp,
    /// The writer's clock, if it is behind the previous entry's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Timestamp>,
    /// In a shared plan, the machine that wrote the entry, and its number among that machine's entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<EntryOrigin>,
    /// The events in order; empty if the entry only updates the clock.
    pub events: Vec<Event>,
}

/// The origin of an entry in a shared plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryOrigin {
    pub machine: MachineId,
    /// From 1, without gaps.
    pub number: u64,
}

/// An approved leaf with everything that scheduling needs, so that commands don't have to parse the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Leaf {
    pub id: TaskId,
    pub title: String,
    /// Hash of the leaf's canonical text, which reveals a later edit.
    pub hash: String,
    /// The leaves this one waits for; dependencies on parents are resolved to their leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<TaskId>,
    /// Leaves that must have ended before this one starts, no matter how; it needs nothing from them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// The files the leaf may change, relative to the repository. A folder ends with `/` or covers everything below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The references to lines that could be resolved; `None` in logs that don't record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamps: Option<Vec<StampedReference>>,
    /// Generated files that the leaf also reserves while it runs, and may change without listing them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusive: Vec<String>,
    /// From 1 to 10.
    pub complexity: u32,
    /// True if the plan says that it is risky, or no command shows that it is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub risky: bool,
    /// True if it makes the interfaces that later leaves build to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contract: bool,
    /// The leaf's phase in the phased model of earlier versions, from 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub phase: usize,
}

impl Leaf {
    /// The leaves that must come before this one, whether or not it needs them.
    pub fn waits_for(&self) -> impl Iterator<Item = &TaskId> {
        self.dependencies.iter().chain(&self.after)
    }
}

/// The state that a change is measured against. Recorded at the first claim and kept if the claim is taken back, so
/// half-done work still counts as the task's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The working tree, as a git tree.
    pub tree: String,
    /// The commit that HEAD pointed to.
    pub head: String,
    /// The builder whose worktree the task is done in; `None` for the user's checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<AgentName>,
    /// The surroundings of the working tree; `None` in logs that don't record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<GitSurroundings>,
}

/// The source of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    #[default]
    User,
    /// The program, by a rule, because nobody could be asked.
    Auto,
}

/// The kind of order the lead was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dispatch {
    /// Start a new builder.
    Spawn,
    /// Message an idle builder.
    Resume,
    /// Start a verifier.
    Verify,
}

/// An order to start or to wake an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentDispatch {
    pub dispatch: Dispatch,
    pub name: AgentName,
    /// The task that the order concerns, if any.
    pub task: Option<TaskId>,
}

/// The verdict on one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Number of the criterion, from 1.
    pub criterion: usize,
    /// True if the criterion is met.
    pub pass: bool,
    /// The proof, or the reason why it isn't met.
    pub evidence: String,
}

/// A note on the notepad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub kind: super::notepad::NoteKind,
    /// A single line.
    pub text: String,
    /// The task in which it was learned, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The path or symbol that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// True once what it says is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

/// A message from one builder to others, as earlier versions recorded it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerMessage {
    pub from: AgentName,
    /// The sender's task.
    pub task: TaskId,
    pub to: Vec<AgentName>,
    pub kind: String,
    pub text: String,
}

/// A reference to a line with the hash of its text, as recorded by version 0.2. Still stored because the approval's own
/// hash covers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampedReference {
    path: String,
    line: u64,
    hash: String,
}

/// A leaf that the source of an imported plan marks as done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedTask {
    pub task: TaskId,
    /// The leaf's title; at the approval, the leaf counts as done only if its title is the same.
    pub title: String,
    /// The commit that the source names, if the repository has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// The flags that `fp run` was started with, and uses again when it continues.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RunFlags {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builders: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<SpendingLimit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_commit: bool,
}

impl Display for RunFlags {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = |number: u32| number.to_string();
        let flags = [
            ("-j", self.builders.map(number)),
            ("--agent", self.agent.clone()),
            ("--budget", self.budget.map(|budget| budget.to_string())),
            ("--max-iterations", self.max_iterations.map(number)),
        ];
        for (flag, value) in flags {
            if let Some(value) = value {
                write!(f, " {flag} {}", shell_quoted(&value))?;
            }
        }
        f.write_str(if self.no_commit { " --no-commit" } else { "" })
    }
}

/// The terms under which a run is led.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTerms {
    /// The lead's client session, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Id of the client's process, if known. A session resumed in another process has lost its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<u32>,
    /// True if the lead said that its user can be asked; overrides what the environment of the session suggests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attended: bool,
    /// Maximum number of builders at work at once.
    pub builders: u32,
    /// Maximum number of iterations per task.
    pub max_iterations: u32,
    /// Higher limits for harder tasks, in runs of earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scaled_iterations: BTreeMap<TaskId, u32>,
    /// True if passed tasks stay uncommitted.
    pub no_commit: bool,
    /// True if `fp run` leads, with a process for each agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub processes: bool,
    /// The flags of the `fp run` that leads.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub flags: RunFlags,
    /// True if the lead judged the work itself, in runs of earlier versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lead_judges: bool,
    /// The order of claims, and the execution model.
    #[serde(default)]
    pub policy: Policy,
    /// Absolute path of the checkout that receives passed tasks if each builder has its own worktree; `None` if all
    /// work in the checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<String>,
    /// The branch of the plan's own that gets the commits; `None` if the branch that was checked out does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<PlanBranch>,
    /// The checkout as the run found it; `None` in logs that don't record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<FoundCheckout>,
}

impl RunTerms {
    /// The terms without the fields that depend on the lead.
    pub(super) fn without_lead(&self) -> Self {
        Self {
            max_iterations: self.max_iterations,
            scaled_iterations: self.scaled_iterations.clone(),
            builders: 1,
            policy: self.policy.clone(),
            ..Self::default()
        }
    }
}

/// A branch of a plan's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBranch {
    pub name: String,
    /// The branch that was checked out when it was made; `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The commit that it was made at.
    pub at: String,
}

/// A checkout as a run found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundCheckout {
    /// The working tree, as a git tree.
    pub tree: String,
    pub around: GitSurroundings,
}

/// The terms of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approve {
    /// Hash of the whole task tree file.
    pub tree_hash: String,
    /// In document order.
    pub leaves: Vec<Leaf>,
    /// HEAD at the approval, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The commit history before the run, which determines the style of the run's commits; `None` in logs that don't
    /// record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<CommitHistory>,
    /// The commands to run once no task is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end_commands: Vec<String>,
    /// The commands that a fresh checkout needs before any other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    pub by: Decider,
}

/// Everything that can happen in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// An interview finding was recorded.
    Interviewed {
        /// The source of the finding.
        by: Decider,
    },
    /// The plan was imported with finished work.
    Imported {
        /// Name of the format it was read from.
        from: String,
        /// The leaves that the source marks as done. The approval completes them.
        tasks: Vec<ImportedTask>,
    },
    /// The plan was approved exactly as it stands: these leaves and their commands.
    Approved(Approve),
    /// The task tree was validated, with what was found. Only old logs have it.
    Validated(serde_json::Value),
    /// A critic judged every leaf of the task tree.
    Critiqued(Critique),
    /// A run began, or another session took it over; the previous session's claims and agents are void.
    RunStarted(RunTerms),
    /// Changes in the checkout that no task made were accepted.
    CheckoutSeen {
        /// The working tree including these changes, as a git tree.
        tree: String,
    },
    /// HEAD has moved since it was last read.
    HeadMoved {
        /// The new HEAD.
        head: String,
        /// The pending tasks whose files changed.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        drifted: BTreeMap<TaskId, Drift>,
    },
    /// Tasks were reviewed after a drift and stay as they are.
    Kept { tasks: Vec<TaskId> },
    /// The plan's commands were tried before any work.
    CommandsTried {
        checks: Vec<Check>,
        /// Commands that took too long or changed files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// Test-driven work: a task's checks ran before the work began.
    CheckedBefore {
        task: TaskId,
        checks: Vec<Check>,
        /// True if all checks passed, which means that they prove nothing about the work.
        passed: bool,
    },
    /// Some commands no longer count as checks of a task.
    ChecksDropped {
        task: TaskId,
        commands: BTreeSet<String>,
        by: Decider,
    },
    /// A task waits until it is changed and approved again.
    RevisionDue { task: TaskId },
    /// A task gets built although its checks already passed.
    Waived { task: TaskId, by: Decider },
    /// The lead was told to start or message an agent.
    Dispatched(AgentDispatch),
    /// The lead has seen everything dispatched so far.
    Told,
    /// A process began to play an agent.
    AgentStarted {
        name: AgentName,
        process: AgentProcess,
    },
    /// The cost of a process that has ended.
    AgentSpent { name: AgentName, cost: AgentCost },
    /// An agent ended its turn.
    AgentEnded {
        name: AgentName,
        /// The agent's task, if it ended without a result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The agent's last words, if it ended without a result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
        /// The minutes of silence after which the agent was ended, if it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silent: Option<u32>,
    },
    /// One of the client's agents was identified as an agent of the run.
    AgentKnown {
        name: AgentName,
        /// The client's id of the agent.
        id: String,
    },
    /// The lead's message reached an agent.
    Reached { name: AgentName },
    /// A builder took a task.
    Claimed {
        task: TaskId,
        owner: AgentName,
        /// The secret the builder must show to submit.
        token: String,
        /// The iteration, from 1.
        iteration: u32,
        base: Base,
    },
    /// A builder asked for its task's payload again.
    Resumed { task: TaskId, owner: AgentName },
    /// A stopped builder was told to continue.
    Nudged { task: TaskId, owner: AgentName },
    /// The lead stopped although something was due, and was told to continue.
    LeadNudged,
    /// A builder submitted its task.
    Submitted {
        task: TaskId,
        owner: AgentName,
        /// The working tree at that moment, as a git tree.
        tree: String,
        /// The task's changes, as reported by git.
        files: Vec<Change>,
        /// The checks of the folder in which it was measured.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        checks: Vec<Check>,
    },
    /// A submission was refused.
    SubmitRefused {
        task: TaskId,
        owner: AgentName,
        reason: String,
    },
    /// A builder edited a path outside its task while others work in the same checkout.
    Edited { task: TaskId, path: RepoPath },
    /// A task was granted a file beyond its own.
    ScopeExtended {
        task: TaskId,
        #[serde(flatten)]
        granted: Granted,
    },
    /// The mechanical checks ran.
    Verified {
        task: TaskId,
        iteration: u32,
        #[serde(flatten)]
        work: MeasuredWork,
    },
    /// A verifier gave its verdict. A fail sends the task back or ends it.
    Judged {
        task: TaskId,
        #[serde(flatten)]
        verdict: TaskVerdict,
    },
    /// A task needs another iteration.
    SentBack {
        task: TaskId,
        /// The new iteration, from 2.
        iteration: u32,
        /// The new token of the builder that keeps the task, in runs of earlier versions; `None` if the next free
        /// builder claims it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<String>,
        feedback: String,
        /// The new base of the change, if the builder keeps the task in a worktree that was moved to a newer commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<Base>,
    },
    /// A commit is about to be made.
    CommitStarted {
        task: TaskId,
        #[serde(flatten)]
        intent: CommitIntent,
    },
    /// The commit could not be made.
    CommitBlocked {
        task: TaskId,
        /// The message from git or a hook.
        reason: String,
    },
    /// The task is done.
    Completed {
        task: TaskId,
        /// `None` if there was nothing to commit or commits are off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// The reason for a missing commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A claim was taken back; the task is pending again.
    Released {
        task: TaskId,
        reason: String,
        /// The iteration of the next claim: one more if the attempt counts.
        iteration: u32,
    },
    /// The log came from elsewhere, so the progress it records for unfinished tasks doesn't count.
    ProgressDropped {},
    /// The task was given up.
    Failed { task: TaskId, reason: String },
    /// The task can't be done, because one of its dependencies was given up.
    Skipped {
        task: TaskId,
        /// The failed task at the start of the chain.
        because: TaskId,
    },
    /// A failed task starts over with all its iterations.
    Retried {
        task: TaskId,
        /// The tasks skipped only because of the failed one, now pending again.
        restored: Vec<TaskId>,
    },
    /// A completed task was undone and is pending again, as if nobody had touched it.
    RolledBack {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// The commit that undid the task; `None` if the change was already gone or there was no commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revert: Option<String>,
    },
    /// The user has to decide something.
    Asked { question: Question },
    /// The user, or a rule, answered a question.
    Answered {
        question: String,
        /// Labels of the chosen options.
        options: Vec<String>,
        by: Decider,
    },
    /// A note for later builders.
    Noted { note: Note },
    /// A note no longer applies.
    NoteEnded {
        /// Its number, from 1.
        number: usize,
    },
    /// A builder told others something about its work, in runs of earlier versions.
    Messaged { message: PeerMessage },
    /// No task was left, and the commands for the end of the run ran.
    CheckedAtEnd { checks: Vec<Check> },
    /// A verifier judged the result as a whole.
    WholeJudged {
        #[serde(flatten)]
        verdict: TaskVerdict,
    },
    /// The run was ended early.
    Cancelled { by: Decider },
    /// Nothing is left to do.
    Finished,
    /// The machine that wrote this event joined the plan; the first one to join shares it.
    Joined {
        /// HEAD of the integration branch at that time.
        head: String,
    },
    /// The machine that wrote this event left the plan.
    Left,
    /// The machine that wrote this event is still at work.
    Renewed,
}

impl Event {
    /// The event that `name` ended its turn, with no further details.
    pub fn agent_ended(name: AgentName) -> Self {
        Self::AgentEnded {
            name,
            task: None,
            said: None,
            silent: None,
        }
    }

    /// The event that the claim on `task` is taken back; `iteration` is the number of the next claim's iteration.
    pub(super) fn released(task: &TaskId, reason: impl Into<String>, iteration: u32) -> Self {
        Self::Released {
            task: task.clone(),
            reason: reason.into(),
            iteration,
        }
    }

    /// The event that `task` can't be done, because `because` was given up.
    pub(super) fn skipped(task: &TaskId, because: &TaskId) -> Self {
        Self::Skipped {
            task: task.clone(),
            because: because.clone(),
        }
    }

    /// The event that `task` is done without a commit, for the reason in `note`.
    pub(super) fn done_without(task: &TaskId, note: &str) -> Self {
        Self::Completed {
            task: task.clone(),
            commit: None,
            note: Some(note.into()),
        }
    }

    /// The task whose history the event belongs to, if it's about a single one.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::CheckedBefore { task, .. }
            | Self::ChecksDropped { task, .. }
            | Self::RevisionDue { task }
            | Self::Waived { task, .. }
            | Self::Claimed { task, .. }
            | Self::Resumed { task, .. }
            | Self::Nudged { task, .. }
            | Self::Submitted { task, .. }
            | Self::SubmitRefused { task, .. }
            | Self::Edited { task, .. }
            | Self::ScopeExtended { task, .. }
            | Self::Verified { task, .. }
            | Self::Judged { task, .. }
            | Self::SentBack { task, .. }
            | Self::CommitStarted { task, .. }
            | Self::CommitBlocked { task, .. }
            | Self::Completed { task, .. }
            | Self::Released { task, .. }
            | Self::Failed { task, .. }
            | Self::Skipped { task, .. }
            | Self::Retried { task, .. }
            | Self::RolledBack { task, .. } => Some(task),
            _ => None,
        }
    }
}
