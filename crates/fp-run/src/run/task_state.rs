//! One leaf in its run: where it is, who holds it, and what is known of its work.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::event::{Base, Decider, Judgement, Leaf};
use crate::verification::Check;
use crate::verification::change::Change;
use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::repo_path::RepoPath;

/// The state of a leaf. `ready` is derived, never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// Nobody works on it.
    #[default]
    Pending,
    /// A builder works on it.
    Implementing,
    /// It was handed in.
    AwaitingVerification,
    /// It passed.
    Completed,
    /// It was given up.
    Failed,
    /// Something it waits for was given up.
    Skipped,
}

impl Status {
    /// The word it is written as.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Implementing => "IMPLEMENTING",
            Self::AwaitingVerification => "AWAITING_VERIFICATION",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Skipped => "SKIPPED",
        }
    }

    /// Whether nothing more happens to the task by itself.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped)
    }

    /// Whether somebody holds the task, and with it its files.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Implementing | Self::AwaitingVerification)
    }
}

/// Who holds a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// The builder.
    pub owner: AgentName,
    /// What it has to show to hand the task in.
    pub token: String,
    /// Since when, in this iteration.
    pub since: Timestamp,
}

/// What was handed in, and what the checks said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MeasuredWork {
    /// The working tree looked at.
    pub tree: String,
    /// What the task changed in it.
    pub files: Vec<Change>,
    /// The results of the mechanical checks; empty before they ran.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// The last verdict on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskVerdict {
    /// Whether it passed.
    pub pass: bool,
    /// The iteration judged.
    pub iteration: u32,
    /// One judgement a criterion.
    pub judgements: Vec<Judgement>,
    /// The verifier's summary.
    pub summary: String,
}

/// A commit that was about to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitIntent {
    /// The files it holds.
    pub files: Vec<String>,
    /// Its message.
    pub message: String,
    /// HEAD before it.
    pub head: String,
}

/// What the checks of a task said before its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChecksBefore {
    /// Their results.
    pub checks: Vec<Check>,
    /// Whether all passed.
    pub passed: bool,
    /// Who decided to build it although they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived: Option<Decider>,
}

/// A file that became part of a task after its approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Granted {
    /// The file.
    pub path: String,
    /// Why the builder needed it.
    pub reason: String,
    /// Who allowed it.
    pub by: Decider,
}

/// One leaf in its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskState {
    /// The leaf as approved.
    pub leaf: Leaf,
    /// Where it is.
    pub status: Status,
    /// The iteration it is in, or that its next claim has; 0 before the first claim.
    #[serde(default)]
    pub iteration: u32,
    /// Who holds it, while it is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// What its change is measured against, from the first claim on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What was handed in, from submit on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<MeasuredWork>,
    /// What the mechanical checks found in this iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<MeasuredWork>,
    /// The last verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<TaskVerdict>,
    /// What has to be mended, after a failed verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Whether the builder has yet to be told of that feedback.
    #[serde(default)]
    pub resume_due: bool,
    /// Why it was given up, or skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The failed task that it was skipped for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<TaskId>,
    /// A commit under way, or one that could not be made and may be tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_intent: Option<CommitIntent>,
    /// Its commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Why there is no commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Nudges in this iteration.
    #[serde(default)]
    pub nudges: u32,
    /// Verifiers started in this iteration.
    #[serde(default)]
    pub verifiers: u32,
    /// The files that it may change beyond those that were approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<Granted>,
    /// The paths beyond those that its builder was seen to edit, where others work in the same checkout.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub edited: BTreeSet<RepoPath>,
    /// The builder's question that was answered, and of whose answer it has yet to be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<String>,
    /// What has changed under it since it was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// What its checks said before its work, in test-driven work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ChecksBefore>,
    /// Whether it was done before the plan was imported, by what its source says. A commit that the repository has is
    /// the only proof of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// When it was first claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it reached a final state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl TaskState {
    /// A leaf that nobody has touched.
    pub fn new(leaf: Leaf) -> Self {
        Self {
            leaf,
            status: Status::Pending,
            iteration: 0,
            claim: None,
            base: None,
            submission: None,
            verification: None,
            verdict: None,
            feedback: None,
            resume_due: false,
            reason: None,
            because: None,
            commit_intent: None,
            commit: None,
            note: None,
            nudges: 0,
            verifiers: 0,
            granted: Vec::new(),
            edited: BTreeSet::new(),
            answered: None,
            drift: None,
            before: None,
            imported: false,
            started_at: None,
            ended_at: None,
        }
    }

    /// Whether it counts as done, and nothing proves that it is.
    pub fn is_unverified(&self) -> bool {
        self.imported && self.status == Status::Completed && self.commit.is_none()
    }

    /// Whether it passed and only its commit is missing.
    pub fn awaits_commit(&self) -> bool {
        self.status == Status::AwaitingVerification
            && self.verdict.as_ref().is_some_and(|v| v.pass && v.iteration == self.iteration)
    }

    /// What nobody else may change while it is running.
    pub fn held(&self) -> impl Iterator<Item = &str> {
        self.leaf.held().chain(self.granted.iter().map(|granted| granted.path.as_str()))
    }

    /// The files that it may change.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.leaf.files.iter().chain(self.granted.iter().map(|granted| &granted.path)).map(String::as_str)
    }

    /// The builder in whose own worktree it is done, where it is not done in the user's checkout.
    pub fn worktree(&self) -> Option<&AgentName> {
        self.base.as_ref()?.worktree.as_ref()
    }

    /// What it changed, as last measured.
    pub fn changed(&self) -> &[Change] {
        self.verification.as_ref().or(self.submission.as_ref()).map_or(&[], |m| &m.files)
    }
}
