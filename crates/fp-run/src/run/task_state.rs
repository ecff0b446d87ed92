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
    /// Nobody is working on the task.
    #[default]
    #[strum(serialize = "waiting")]
    Pending,
    /// A builder is working on the task.
    #[strum(serialize = "building")]
    Implementing,
    /// The task was submitted.
    #[strum(serialize = "verifying")]
    AwaitingVerification,
    /// The task passed.
    #[strum(serialize = "done")]
    Completed,
    /// The task was given up.
    #[strum(serialize = "failed")]
    Failed,
    /// One of the task's dependencies was given up.
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
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MeasuredWork {
    /// Of a submission, the working tree in which it was measured. Of a verification, the tree that was judged and is
    /// committed.
    pub tree: String,
    /// The commit on which `tree` adds the task's files; `None` if it is a working tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<String>,
    /// The task's changes in that tree.
    pub files: Vec<Change>,
    /// Results of the mechanical checks; of a submission, those of the folder in which it was measured.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// Submitted work, from which the next attempt starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandedIn {
    pub by: AgentName,
    /// The submitted working tree.
    pub tree: String,
    /// The task's changes in that tree.
    pub files: Vec<Change>,
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
    /// The first line of the commit message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

/// The results of a task's checks before its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksBefore {
    pub checks: Vec<Check>,
    /// True if all the checks passed.
    pub passed: bool,
    /// The source of the decision to build the task anyway, if there was one.
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
    /// The claim, while the task is running.
    pub claim: Option<Claim>,
    /// The machine that holds the task, or held it last, in a shared plan.
    pub machine: Option<MachineId>,
    /// The base of the task's change, from the first claim on.
    pub base: Option<Base>,
    /// The submitted work.
    pub submission: Option<MeasuredWork>,
    /// The last submitted work, until it is done or a builder has taken it up again.
    pub handed_in: Option<HandedIn>,
    /// The result of the mechanical checks in this iteration.
    pub verification: Option<MeasuredWork>,
    pub verdict: Option<TaskVerdict>,
    /// The tree that the task's last failed verdict was about, with the checks that failed in it.
    pub failed: Option<MeasuredWork>,
    /// The task's commands that no longer count as checks.
    pub dropped: BTreeSet<String>,
    /// True if the task has to be changed and approved again before it can continue.
    pub to_revise: bool,
    /// The checks that had failed when the task's builder last asked a question.
    pub asked_after: Option<Vec<String>>,
    /// The faults to fix, after a failed verdict.
    pub feedback: Option<String>,
    /// True if the builder hasn't been told the feedback or the answer yet.
    pub resume_due: bool,
    /// Why the task failed or was skipped, or why its commit is blocked.
    pub reason: Option<String>,
    /// The failed task because of which this one was skipped.
    pub because: Option<TaskId>,
    /// A commit in progress, or a failed one that may be retried.
    pub commit_intent: Option<CommitIntent>,
    pub commit: Option<String>,
    /// Why there is no commit, or what a hook changed in it.
    pub note: Option<String>,
    /// Number of failed verdicts, including those before a retry.
    pub failed_verdicts: u32,
    /// Nudges in this iteration.
    pub nudges: u32,
    /// Verifiers started in this iteration.
    pub verifiers: u32,
    /// The files granted beyond the approved ones.
    pub granted: Vec<Granted>,
    /// Other paths that the task's builder edited while other tasks share the checkout.
    pub edited: BTreeSet<RepoPath>,
    /// Why the builder's last submission in this iteration was refused.
    pub refused: Option<String>,
    /// Number of times that the builder fell silent since its last submission.
    pub silences: u32,
    /// The question whose answer the builder hasn't been told yet.
    pub answered: Option<String>,
    /// Changes since the approval to files that the task was planned on.
    pub drift: Option<Drift>,
    /// In test-driven work, the results of the task's checks before the work.
    pub before: Option<ChecksBefore>,
    /// True if the import's source marks the task as done. Only a commit in the repository proves that.
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

    /// True if the task counts as done without proof.
    pub fn is_unverified(&self) -> bool {
        self.imported && self.status == Status::Completed && self.commit.is_none()
    }

    /// True if the task passed and only its commit is missing.
    pub fn awaits_commit(&self) -> bool {
        self.status == Status::AwaitingVerification
            && self
                .verdict
                .as_ref()
                .is_some_and(|v| v.pass && v.iteration == self.iteration)
    }

    /// True if the task did not pass and no builder has claimed it again yet. It still reserves its files.
    pub fn is_sent_back(&self) -> bool {
        self.status == Status::Implementing && self.claim.is_none()
    }

    /// The names of the checks that failed in the task's last failed verdict.
    pub fn failed_checks(&self) -> Vec<String> {
        let checks = self.failed.iter().flat_map(|failed| &failed.checks);
        checks.map(|check| check.name.clone()).collect()
    }

    /// True if the task's builder may ask the user a question: once in the first iteration, and once for each new set
    /// of failed checks.
    pub fn may_clarify(&self) -> bool {
        let failed = self.failed_checks();
        (self.iteration == 1 || !failed.is_empty()) && self.asked_after.as_ref() != Some(&failed)
    }

    /// The paths that no other task may change while this one runs.
    pub fn held(&self) -> impl Iterator<Item = &str> {
        self.files()
            .chain(self.leaf.exclusive.iter().map(String::as_str))
    }

    /// The files that the task may change.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let granted = self.granted.iter().map(|granted| &granted.path);
        self.leaf.files.iter().chain(granted).map(String::as_str)
    }

    /// The agent that holds the task.
    pub fn owner(&self) -> Option<&AgentName> {
        self.claim.as_ref().map(|claim| &claim.owner)
    }

    /// The builder whose worktree the task is done in; `None` for the user's checkout.
    pub fn worktree(&self) -> Option<&AgentName> {
        self.base.as_ref()?.worktree.as_ref()
    }

    /// The task's work, as last measured.
    pub fn measured(&self) -> Option<&MeasuredWork> {
        self.verification.as_ref().or(self.submission.as_ref())
    }

    /// The task's changes, as last measured.
    pub fn measured_changes(&self) -> &[Change] {
        self.measured().map_or(&[], |measured| &measured.files)
    }
}
