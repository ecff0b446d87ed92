//! Records the state of one leaf in its run: its status, its holder, and the facts about its work.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::drift::Drift;
use super::event::{Base, Decider, Judgement, Leaf};
use crate::verification::Check;
use crate::verification::change::Change;
use fp_plan::plan::id::{AgentName, MachineId, TaskId};
use fp_plan::repo_path::RepoPath;

/// The state of a leaf. Readiness is derived, never stored. The name in the log differs from the word shown to people.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(const_into_str)]
pub enum Status {
    /// Nobody works on it.
    #[default]
    #[strum(serialize = "waiting")]
    Pending,
    /// A builder works on it.
    #[strum(serialize = "building")]
    Implementing,
    /// It was submitted.
    #[strum(serialize = "verifying")]
    AwaitingVerification,
    /// It passed.
    #[strum(serialize = "done")]
    Completed,
    /// It was given up.
    #[strum(serialize = "failed")]
    Failed,
    /// One of its dependencies was given up.
    #[strum(serialize = "skipped")]
    Skipped,
}

impl Status {
    /// True if nothing more happens to the task on its own.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped)
    }

    /// True if somebody holds the task, and with it its files.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Implementing | Self::AwaitingVerification)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub owner: AgentName,
    /// The secret the builder must show to submit.
    pub token: String,
    /// Start of the claim or of the current iteration, whichever is later.
    pub since: Timestamp,
}

/// A measured change and the results of its checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredWork {
    /// The measured working tree.
    pub tree: String,
    /// The task's changes in that tree.
    pub files: Vec<Change>,
    /// Results of the mechanical checks; empty before they ran.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// The last verdict on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskVerdict {
    pub pass: bool,
    /// The judged iteration.
    pub iteration: u32,
    /// One judgement per criterion.
    pub judgements: Vec<Judgement>,
    /// The verifier's summary.
    pub summary: String,
    /// The reasons for a fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// A commit that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitIntent {
    pub files: Vec<String>,
    pub message: String,
    /// HEAD before the commit.
    pub head: String,
}

impl CommitIntent {
    /// The first line of its message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

/// The results of a task's checks before its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksBefore {
    pub checks: Vec<Check>,
    /// True if all of them passed.
    pub passed: bool,
    /// The source of the decision to build it anyway.
    pub waived: Option<Decider>,
}

/// A file granted to a task after the approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// The file.
    pub path: String,
    /// The builder's reason.
    pub reason: String,
    pub by: Decider,
}

/// One leaf in its run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskState {
    /// The leaf as approved.
    pub leaf: Leaf,
    pub status: Status,
    /// The current iteration, or that of the next claim; 0 before the first claim.
    pub iteration: u32,
    /// The claim, while it is running.
    pub claim: Option<Claim>,
    /// The machine that has it, or had it last, in a shared plan.
    pub machine: Option<MachineId>,
    /// The base of its change, from the first claim on.
    pub base: Option<Base>,
    /// The submitted work.
    pub submission: Option<MeasuredWork>,
    /// The result of the mechanical checks in this iteration.
    pub verification: Option<MeasuredWork>,
    pub verdict: Option<TaskVerdict>,
    /// The tree that its last failed verdict was about, with the checks that failed in it.
    pub failed: Option<MeasuredWork>,
    /// Its commands that no longer count as checks.
    pub dropped: BTreeSet<String>,
    /// True if it waits until it is changed and approved again.
    pub to_revise: bool,
    /// The checks that had failed when its builder last asked something.
    pub asked_after: Option<Vec<String>>,
    /// The faults to fix, after a failed verdict.
    pub feedback: Option<String>,
    /// True if the builder hasn't been told the feedback or the answer yet.
    pub resume_due: bool,
    /// The reason for failing or skipping it, or for a blocked commit.
    pub reason: Option<String>,
    /// The failed task that caused it to be skipped.
    pub because: Option<TaskId>,
    /// A commit under way, or a failed one that may be repeated.
    pub commit_intent: Option<CommitIntent>,
    pub commit: Option<String>,
    /// The reason for a missing commit.
    pub note: Option<String>,
    /// Number of failed verdicts, including those before a retry.
    pub failed_verdicts: u32,
    /// Nudges in this iteration.
    pub nudges: u32,
    /// Verifiers started in this iteration.
    pub verifiers: u32,
    /// The files granted beyond the approved ones.
    pub granted: Vec<Granted>,
    /// Other paths that its builder edited while others work in the same checkout.
    pub edited: BTreeSet<RepoPath>,
    /// The reason for refusing its builder's last submission in this iteration.
    pub refused: Option<String>,
    /// Times that its builder fell silent since it was last submitted.
    pub silences: u32,
    /// The answered question whose answer the builder hasn't been told yet.
    pub answered: Option<String>,
    /// Changes to what it was planned on, since the approval.
    pub drift: Option<Drift>,
    /// Test-driven work: the results of its checks before the work.
    pub before: Option<ChecksBefore>,
    /// True if its source says that it was done before the import. A commit in the repository is the only proof of
    /// that.
    pub imported: bool,
    /// Time of the first claim.
    pub started_at: Option<Timestamp>,
    /// Time when it reached a final state.
    pub ended_at: Option<Timestamp>,
}

impl TaskState {
    pub fn new(leaf: Leaf) -> Self {
        Self {
            leaf,
            ..Self::default()
        }
    }

    /// True if it counts as done without proof.
    pub fn is_unverified(&self) -> bool {
        self.imported && self.status == Status::Completed && self.commit.is_none()
    }

    /// True if it passed and only the commit is missing.
    pub fn awaits_commit(&self) -> bool {
        self.status == Status::AwaitingVerification
            && self
                .verdict
                .as_ref()
                .is_some_and(|v| v.pass && v.iteration == self.iteration)
    }

    /// The names of the checks that failed in its last failed verdict.
    pub fn failed_checks(&self) -> Vec<String> {
        let checks = self.failed.iter().flat_map(|failed| &failed.checks);
        checks.map(|check| check.name.clone()).collect()
    }

    /// True if its builder may ask the user something: in its first iteration and after each failed check, once per
    /// reason.
    pub fn may_clarify(&self) -> bool {
        let failed = self.failed_checks();
        (self.iteration == 1 || !failed.is_empty()) && self.asked_after.as_ref() != Some(&failed)
    }

    /// The paths that no other task may change while this one runs.
    pub fn held(&self) -> impl Iterator<Item = &str> {
        self.files()
            .chain(self.leaf.exclusive.iter().map(String::as_str))
    }

    /// The files it may change.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let granted = self.granted.iter().map(|granted| &granted.path);
        self.leaf.files.iter().chain(granted).map(String::as_str)
    }

    /// The agent that holds it.
    pub fn owner(&self) -> Option<&AgentName> {
        self.claim.as_ref().map(|claim| &claim.owner)
    }

    /// The builder whose worktree it is done in; `None` for the user's checkout.
    pub fn worktree(&self) -> Option<&AgentName> {
        self.base.as_ref()?.worktree.as_ref()
    }

    /// Its work, as last measured.
    pub fn measured(&self) -> Option<&MeasuredWork> {
        self.verification.as_ref().or(self.submission.as_ref())
    }

    /// Its changes, as last measured.
    pub fn measured_changes(&self) -> &[Change] {
        self.measured().map_or(&[], |measured| &measured.files)
    }
}
