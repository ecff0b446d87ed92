//! What happened. A line of `events.jsonl` holds the events of one command, so that they are there together
//! or not at all. The log is the truth of a run; a state is only ever folded from it, so an event carries all
//! that its fold needs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::peer_message::PeerMessage;
use super::question::Question;
use super::ready::Policy;
use crate::critique::{CriticFinding, CriticVerdict};
use crate::verification::Check;
use crate::verification::GitSurroundings;
use crate::verification::change::Change;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::repo_path::RepoPath;

/// Version of the log's lines; a line with a higher one is refused.
pub const LOG_VERSION: u32 = 1;

/// One line of the log: what one command did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// [`LOG_VERSION`] of the writer.
    pub schema_version: u32,
    /// Position in the log, from 1, without gaps.
    pub seq: u64,
    /// When it was written; never before the entry in front of it, whatever the clock says.
    pub at: Timestamp,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// A leaf as it was approved: all that scheduling needs, so that no command has to parse the tree for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Leaf {
    /// Its id.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// Hash of its canonical text, by which a later edit is noticed.
    pub hash: String,
    /// The leaves that have to be completed before it; parents are resolved to their leaves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<TaskId>,
    /// The files that it may change, relative to the repository; a folder ends with `/` or covers what is below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The files that it refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// What it holds beside its files while it is running: generated files that it may change without listing them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusive: Vec<String>,
    /// 1 to 10.
    pub complexity: u32,
    /// Its phase in the phased model, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub phase: usize,
}

impl Leaf {
    /// The files that it refers to.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.references.iter().map(String::as_str)
    }

    /// What nobody else may change while it is running.
    pub fn held(&self) -> impl Iterator<Item = &str> {
        self.files.iter().chain(&self.exclusive).map(String::as_str)
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What a change is measured against: taken when a task is first claimed, and kept when its claim is taken
/// back, so that what a builder left half done still counts as the task's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The working tree, a git tree.
    pub tree: String,
    /// The commit HEAD was at.
    pub head: String,
    /// The builder in whose own worktree the task is done; `None` where it is done in the user's checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<AgentName>,
    /// What lay around the working tree; `None` in a log that doesn't tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<GitSurroundings>,
}

/// Who decided something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// The user.
    #[default]
    User,
    /// The binary, by a rule, since nobody could be asked.
    Auto,
}

/// What the lead was told to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dispatch {
    /// A new builder.
    Spawn,
    /// A message to a builder that waits.
    Resume,
    /// A verifier.
    Verify,
}

/// The verdict on one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Number of the criterion, from 1.
    pub criterion: usize,
    /// Whether it is met.
    pub pass: bool,
    /// What shows it, or why it is not met.
    pub evidence: String,
}

/// A note on the notepad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// PATTERN, GOTCHA, UTIL or WARN.
    pub kind: super::notepad::NoteKind,
    /// One line.
    pub text: String,
    /// The task it was learnt in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

/// A leaf of an imported plan that its source says is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedTask {
    /// Its id.
    pub task: TaskId,
    /// Its title, by which it is known to be the same when the plan is approved.
    pub title: String,
    /// The commit that the source names for it and the repository has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// How a run is led.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTerms {
    /// The client's session of the lead, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Id of the client's process, where known: a session that is continued in another one has lost its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<u32>,
    /// Whether the lead has said that its user can be asked, whatever the session's surroundings say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attended: bool,
    /// How many builders work at once.
    pub builders: u32,
    /// How many iterations a task has.
    pub max_iterations: u32,
    /// The tasks that have more, since they are harder than most, and how many each has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scaled_iterations: BTreeMap<TaskId, u32>,
    /// Whether passed tasks stay uncommitted.
    pub no_commit: bool,
    /// Whether the lead judges what was built, and no verifier is started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lead_judges: bool,
    /// In which order tasks are claimed, and what keeps them apart.
    #[serde(default)]
    pub policy: Policy,
    /// The checkout that passed tasks are brought into, absolute, where each builder has a worktree of its
    /// own; `None` where all work in the checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<String>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// Something that the interview found was recorded.
    Interviewed {
        /// Who said it.
        by: Decider,
    },
    /// The plan was imported with work that was done.
    Imported {
        /// The name of the format that it was read from.
        from: String,
        /// The leaves that are done by what the source says. With the approval they are completed.
        tasks: Vec<ImportedTask>,
    },
    /// The plan was approved as it stands: these leaves, with these commands.
    Approved {
        /// Hash of the whole task tree file.
        tree_hash: String,
        /// The leaves in document order.
        leaves: Vec<Leaf>,
        /// The commit it was approved on, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// Who approved.
        by: Decider,
    },
    /// The task tree was checked, every mechanical fix applied.
    Validated {
        /// Which pass it is since the tree was last valid, from 1.
        pass: u32,
        /// Hash of the whole task tree file.
        tree_hash: String,
        /// How many findings fail it.
        errors: usize,
        /// How many don't.
        warnings: usize,
        /// The rules of those that fail it.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        failing: BTreeSet<String>,
    },
    /// A critic judged every leaf of the task tree.
    Critiqued {
        /// The round, from 1; the same tree again is the same round.
        round: u32,
        /// The worst of the findings.
        verdict: CriticVerdict,
        /// Hash of the whole task tree file.
        tree_hash: String,
        /// How many leaves it has.
        leaves: usize,
        /// What was found, the worst first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<CriticFinding>,
    },
    /// A run began, or was taken over by another session: claims and agents of the session before are void.
    RunStarted(RunTerms),
    /// HEAD was looked at, and is where it was not before.
    HeadMoved {
        /// Where it is.
        head: String,
        /// The tasks that nobody has begun, and what has changed under them.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        drifted: BTreeMap<TaskId, Drift>,
    },
    /// Tasks were looked at again after a drift, and stay as they are.
    Kept {
        /// The tasks.
        tasks: Vec<TaskId>,
    },
    /// In test-driven work the checks of a task ran before its work.
    CheckedBefore {
        /// The task.
        task: TaskId,
        /// Their results.
        checks: Vec<Check>,
        /// Whether all passed, so that they prove nothing.
        passed: bool,
    },
    /// A task is built although its checks passed before its work.
    Waived {
        /// The task.
        task: TaskId,
        /// Who decided so.
        by: Decider,
    },
    /// The lead was told to start an agent, or to send it a message.
    Dispatched {
        /// What it was told.
        dispatch: Dispatch,
        /// The agent.
        name: AgentName,
        /// The task it is about, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// The lead has been shown all that was dispatched.
    Told,
    /// An agent ended its turn.
    AgentEnded {
        /// The agent.
        name: AgentName,
    },
    /// It showed which of the client's agents goes by a name of the run.
    AgentKnown {
        /// The name.
        name: AgentName,
        /// The client's id of it.
        id: String,
    },
    /// A builder took a task.
    Claimed {
        /// The task.
        task: TaskId,
        /// The builder.
        owner: AgentName,
        /// What the builder has to show to hand it in.
        token: String,
        /// The iteration, from 1.
        iteration: u32,
        /// What the change is measured against.
        base: Base,
    },
    /// A builder asked for the payload of its task again.
    Resumed {
        /// The task.
        task: TaskId,
        /// The builder.
        owner: AgentName,
    },
    /// A builder that had stopped was told to go on.
    Nudged {
        /// The task it owns.
        task: TaskId,
        /// The builder.
        owner: AgentName,
    },
    /// The lead had stopped although something was due, and was told to go on.
    LeadNudged,
    /// A builder handed its task in.
    Submitted {
        /// The task.
        task: TaskId,
        /// The builder.
        owner: AgentName,
        /// The working tree at that moment, a git tree.
        tree: String,
        /// What the task changed, as git tells it.
        files: Vec<Change>,
    },
    /// A builder was seen to edit a path that its task doesn't list, where others work in the same checkout.
    Edited {
        /// The task.
        task: TaskId,
        /// The path.
        path: RepoPath,
    },
    /// A file beyond its own became part of a task.
    ScopeExtended {
        /// The task.
        task: TaskId,
        /// The file, in normal form.
        path: String,
        /// Why its builder needs it.
        reason: String,
        /// Who allowed it: the user, or the plan's policy.
        by: Decider,
    },
    /// The mechanical checks ran.
    Verified {
        /// The task.
        task: TaskId,
        /// The iteration they are about.
        iteration: u32,
        /// The working tree they looked at.
        tree: String,
        /// What the task changed in it.
        files: Vec<Change>,
        /// Their results.
        checks: Vec<Check>,
    },
    /// A verifier judged; a fail sends the task back or ends it.
    Judged {
        /// The task.
        task: TaskId,
        /// The iteration.
        iteration: u32,
        /// Whether every criterion and every mechanical check passed.
        pass: bool,
        /// One judgement a criterion.
        judgements: Vec<Judgement>,
        /// The verifier's summary.
        summary: String,
        /// Why it failed; empty on a pass.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasons: Vec<String>,
    },
    /// A task goes back to its builder for another iteration.
    SentBack {
        /// The task.
        task: TaskId,
        /// The iteration that begins, from 2.
        iteration: u32,
        /// The new token; the one before is void.
        token: String,
        /// What has to be mended.
        feedback: String,
        /// What the change is measured against from now on, where that is something else: its worktree has been
        /// brought to a newer commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<Base>,
    },
    /// A commit is about to be made.
    CommitStarted {
        /// The task.
        task: TaskId,
        /// The files it will hold.
        files: Vec<String>,
        /// Its message.
        message: String,
        /// HEAD before it.
        head: String,
    },
    /// The commit could not be made.
    CommitBlocked {
        /// The task.
        task: TaskId,
        /// What git or a hook said.
        reason: String,
    },
    /// The task is done.
    Completed {
        /// The task.
        task: TaskId,
        /// Its commit, unless there was nothing to commit or commits are off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// Why there is no commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A claim was taken back; the task is pending again.
    Released {
        /// The task.
        task: TaskId,
        /// Why.
        reason: String,
        /// The iteration that the next claim has: one more where the attempt counts.
        iteration: u32,
    },
    /// The task is given up.
    Failed {
        /// The task.
        task: TaskId,
        /// Why.
        reason: String,
    },
    /// The task can't be done, since one that it waits for was given up.
    Skipped {
        /// The task.
        task: TaskId,
        /// The failed task at the beginning of the chain.
        because: TaskId,
    },
    /// A failed task gets another try, with all its iterations.
    Retried {
        /// The task.
        task: TaskId,
        /// The tasks that were skipped because of it alone and are pending again.
        restored: Vec<TaskId>,
    },
    /// A completed task was undone, and is pending again as if nobody had touched it.
    RolledBack {
        /// The task.
        task: TaskId,
        /// The commit that it had, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// The commit that undid that one; none where its change was gone already, or where there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revert: Option<String>,
    },
    /// The user has to decide something.
    Asked {
        /// The question.
        question: Question,
    },
    /// It was decided.
    Answered {
        /// Id of the question.
        question: String,
        /// Labels of the options chosen.
        options: Vec<String>,
        /// Who chose.
        by: Decider,
    },
    /// A note for the builders that come after.
    Noted {
        /// The note.
        note: Note,
    },
    /// A builder told others something about what it does.
    Messaged {
        /// The message.
        message: PeerMessage,
    },
    /// The run was ended before its time.
    Cancelled {
        /// Who ended it.
        by: Decider,
    },
    /// Nothing is left to do.
    Finished,
}
