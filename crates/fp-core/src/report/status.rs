//! How far a plan is.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::plan::id::{AgentName, PlanId, TaskId};
use crate::run::ready::Obstacles;
use crate::run::state::{Granted, RunStatus, State, Status, TaskState};

/// Where a plan is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Not approved yet.
    Planning,
    /// Approved, not started.
    Approved,
    /// Under way.
    Running,
    /// Over.
    Finished,
    /// Ended before its time.
    Cancelled,
}

impl Phase {
    /// Where the plan of `state` is.
    #[must_use]
    pub fn of(state: &State) -> Self {
        match (state.approval.is_some(), state.run.as_ref().map(|r| r.status)) {
            (_, Some(RunStatus::Running)) => Self::Running,
            (_, Some(RunStatus::Finished)) => Self::Finished,
            (_, Some(RunStatus::Cancelled)) => Self::Cancelled,
            (true, None) => Self::Approved,
            (false, None) => Self::Planning,
        }
    }

    /// The word it is written as.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Approved => "approved",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How many tasks are in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// All leaves.
    pub total: usize,
    /// PENDING.
    pub pending: usize,
    /// Of those, the ones that can be claimed now.
    pub ready: usize,
    /// IMPLEMENTING.
    pub implementing: usize,
    /// AWAITING_VERIFICATION.
    pub awaiting_verification: usize,
    /// COMPLETED.
    pub completed: usize,
    /// Of those, the ones that were done before the plan was imported and that nothing proves.
    #[serde(skip_serializing_if = "is_none")]
    pub unverified: usize,
    /// FAILED.
    pub failed: usize,
    /// SKIPPED.
    pub skipped: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Counts {
    /// Those that are not 0, in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        let unverified = match self.unverified {
            0 => String::new(),
            count => format!(" ({count} before the import, not verified)"),
        };
        let mut parts = vec![format!("{} of {} tasks done{unverified}", self.completed, self.total)];
        for (count, what) in [
            (self.implementing, "being built"),
            (self.awaiting_verification, "awaiting verification"),
            (self.ready, "ready"),
            (self.pending - self.ready, "waiting"),
            (self.failed, "failed"),
            (self.skipped, "skipped"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        parts.join(", ")
    }
}

/// One task in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskLine {
    /// Its id.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// Its state.
    pub status: Status,
    /// Whether it can be claimed now.
    pub ready: bool,
    /// Its iteration; 0 before the first claim.
    pub iteration: u32,
    /// How many it has; 0 before the run is started.
    pub max_iterations: u32,
    /// Who holds it.
    pub owner: Option<AgentName>,
    /// Its commit.
    pub commit: Option<String>,
    /// What it waits for, why it failed, or why it has no commit.
    pub detail: Option<String>,
    /// Whether it was done before the plan was imported, and nothing proves that it was.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// The files that became part of it after the approval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<Granted>,
}

/// The report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// The plan.
    pub plan_id: PlanId,
    /// Where it is.
    pub phase: Phase,
    /// How many iterations a task has.
    pub max_iterations: u32,
    /// How many builders work at once.
    pub builders: u32,
    /// How many tasks are where.
    pub counts: Counts,
    /// The tasks in document order.
    pub tasks: Vec<TaskLine>,
    /// Questions that wait for the user.
    pub questions: Vec<String>,
}

impl StatusReport {
    /// The plan's line in a list of plans: its id, its phase, and how many of its tasks are done.
    #[must_use]
    pub fn line(&self) -> String {
        let Counts { completed, total, .. } = self.counts;
        let tasks = if total > 0 { format!("{completed} of {total} done") } else { String::new() };
        format!("{:<44}  {:<9}  {tasks}", self.plan_id, self.phase.word()).trim_end().to_owned()
    }

    /// The report on `state`.
    #[must_use]
    pub fn new(state: &State) -> Self {
        let run = state.run.as_ref();
        let none = BTreeSet::new();
        let obstacles = state.obstacles(&none);
        let tasks: Vec<TaskLine> = state.tasks.iter().map(|t| task_line(state, &obstacles, t)).collect();
        let counts = Counts {
            total: tasks.len(),
            pending: state.count(Status::Pending),
            ready: tasks.iter().filter(|t| t.ready).count(),
            implementing: state.count(Status::Implementing),
            awaiting_verification: state.count(Status::AwaitingVerification),
            completed: state.count(Status::Completed),
            unverified: state.tasks.iter().filter(|task| task.is_unverified()).count(),
            failed: state.count(Status::Failed),
            skipped: state.count(Status::Skipped),
        };
        Self {
            plan_id: state.plan_id.clone(),
            phase: Phase::of(state),
            max_iterations: run.map_or(0, |r| r.terms.max_iterations),
            builders: run.map_or(0, |r| r.terms.builders),
            counts,
            tasks,
            questions: state.open_questions().map(|q| q.text.clone()).collect(),
        }
    }
}

fn task_line(state: &State, obstacles: &Obstacles<'_, '_>, task: &TaskState) -> TaskLine {
    let obstacle = obstacles.of(task);
    let detail = match (task.status, &obstacle) {
        (Status::Pending, Some(obstacle)) => Some(state.explain(task, obstacle)),
        (Status::Failed | Status::Skipped, _) => task.reason.clone(),
        (Status::Completed, _) => task.note.clone(),
        (Status::Implementing, _) if state.awaits_answer(&task.leaf.id) => {
            Some("its builder has asked, and waits for the answer".into())
        }
        (Status::AwaitingVerification, _) if task.awaits_commit() => {
            Some("it passed and waits for its commit".into())
        }
        _ => None,
    };
    TaskLine {
        id: task.leaf.id.clone(),
        title: task.leaf.title.clone(),
        status: task.status,
        ready: obstacle.is_none(),
        iteration: task.iteration,
        max_iterations: state.iterations_of(&task.leaf.id),
        owner: task.claim.as_ref().map(|c| c.owner.clone()),
        commit: task.commit.clone(),
        detail,
        unverified: task.is_unverified(),
        granted: task.granted.clone(),
    }
}
