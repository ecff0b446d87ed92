//! Reports a plan's progress, for every view that shows it.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use super::cost::CostReport;
use super::in_two_units;
use super::standing::{LeadPresence, RunStanding, TaskHalt};
use crate::run::drift::Drift;
use crate::run::question::{Topic, said_within};
use crate::run::ready::{Obstacle, Obstacles};
use crate::run::state::{Asked, Granted, RunStatus, State, Status, TaskState};
use crate::verification::{Check, CheckVerdict};
use fp_plan::plan::id::{AgentName, PlanId, TaskId};
use fp_plan::text::shown_command;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Phase {
    Planning,
    Approved,
    Running,
    Finished,
    Cancelled,
}

impl Phase {
    pub fn of(state: &State) -> Self {
        match state.run.as_ref().map(|run| run.status) {
            Some(RunStatus::Running) => Self::Running,
            Some(RunStatus::Finished) => Self::Finished,
            Some(RunStatus::Cancelled) => Self::Cancelled,
            None if state.approval.is_some() => Self::Approved,
            None => Self::Planning,
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled)
    }
}

/// Number of tasks in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCounts {
    pub total: usize,
    pub pending: usize,
    /// Pending tasks that can be claimed now.
    pub ready: usize,
    pub implementing: usize,
    pub awaiting_verification: usize,
    pub completed: usize,
    /// Tasks completed before the import, without proof.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub unverified: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Implementing and awaiting tasks that wait for an answer.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub asking: usize,
    /// Implementing and awaiting tasks whose run is interrupted or over.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub stopped: usize,
    /// Implementing tasks that somebody is working on.
    #[serde(skip)]
    pub building: usize,
    /// Tasks that a builder may claim later, but not now.
    #[serde(skip)]
    pub waiting: usize,
    /// Awaiting tasks that somebody is working on.
    #[serde(skip)]
    pub verifying: usize,
}

impl TaskCounts {
    pub(super) fn of_tasks<'t>(tasks: impl Iterator<Item = &'t TaskLine>) -> Self {
        let mut counts = Self::default();
        for task in tasks {
            counts.total += 1;
            counts.ready += usize::from(task.ready);
            let is_open = task.status == Status::Pending || task.is_sent_back();
            counts.waiting += usize::from(is_open && !task.ready);
            counts.unverified += usize::from(task.unverified);
            let (all, at_work) = match task.status {
                Status::Pending => (&mut counts.pending, None),
                Status::Implementing if task.is_sent_back() => (&mut counts.implementing, None),
                Status::Implementing => (&mut counts.implementing, Some(&mut counts.building)),
                Status::AwaitingVerification => (
                    &mut counts.awaiting_verification,
                    Some(&mut counts.verifying),
                ),
                Status::Completed => (&mut counts.completed, None),
                Status::Failed => (&mut counts.failed, None),
                Status::Skipped => (&mut counts.skipped, None),
            };
            *all += 1;
            match task.halt {
                Some(TaskHalt::Asking) => counts.asking += 1,
                Some(TaskHalt::Stopped) => counts.stopped += 1,
                None => at_work.into_iter().for_each(|at_work| *at_work += 1),
            }
        }
        counts
    }

    /// The number of tasks done, then the other nonzero counts, starting with those that may need the user.
    pub fn in_words(&self) -> String {
        let unverified = match self.unverified {
            0 => String::new(),
            count => format!(" ({count} before the import, not verified)"),
        };
        let mut parts = vec![format!(
            "{} of {} tasks done{unverified}",
            self.completed, self.total
        )];
        for (count, what) in [
            (self.failed, "failed"),
            (self.asking, "asking you"),
            (self.stopped, "stopped"),
            (self.building, "being built"),
            (self.verifying, "verifying"),
            (self.ready, "ready"),
            (self.waiting, "waiting"),
            (self.skipped, "skipped"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        parts.join(", ")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskLine {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
    /// True if the task can be claimed now, or as soon as the run starts or continues. Never true once the run is over.
    pub ready: bool,
    /// The reason why nobody is working on the task although a builder holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halt: Option<TaskHalt>,
    /// 0 before the first claim.
    pub iteration: u32,
    /// 0 before the run starts.
    pub max_iterations: u32,
    /// Number of verdicts that failed the task, including those before a retry.
    pub failed_verdicts: u32,
    /// Number of questions that the user was asked about the task.
    pub asked: usize,
    pub owner: Option<AgentName>,
    pub commit: Option<String>,
    /// The task's obstacle, or the reason why it failed or has no commit.
    pub detail: Option<String>,
    /// The task's drift since planning, if its obstacle is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
    /// True if the task was done before the import, without proof.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// Files added to the task's scope after the approval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<Granted>,
    /// The task's commands that no longer count as checks.
    pub dropped: BTreeSet<String>,
}

impl TaskLine {
    /// The task's state, as shown to people.
    pub fn state_word(&self) -> &'static str {
        match self.halt {
            Some(TaskHalt::Asking) => "asking",
            Some(TaskHalt::Stopped) => "stopped",
            None if self.ready => "ready",
            None if self.is_sent_back() => Status::Pending.into_str(),
            None => self.status.into_str(),
        }
    }

    /// True if the task did not pass and no builder has claimed it again yet.
    fn is_sent_back(&self) -> bool {
        self.status == Status::Implementing && self.owner.is_none()
    }
}

/// Estimates the time left from how long tasks took so far and how many are built at once. `None` until two tasks are
/// done, and while a task takes far longer than any before it, since no estimate is possible then.
pub fn time_left(state: &State, now: Timestamp) -> Option<String> {
    let seconds = |from: Timestamp, to: Timestamp| to.duration_since(from).as_secs();
    let done = state
        .tasks
        .iter()
        .filter(|task| task.status == Status::Completed);
    let mut took: Vec<i64> = done
        .filter_map(|task| Some(seconds(task.started_at?, task.ended_at?)))
        .collect();
    took.sort_unstable();
    let left = state.tasks.iter().filter(|task| !task.status.is_final());
    let left = i64::try_from(left.count()).ok()?;
    let [_, .., longest] = took[..] else {
        return None;
    };
    let far_longer = longest.max(20).saturating_mul(3);
    let is_late = |task: &TaskState| {
        let claim = task.claim.as_ref();
        claim.is_some_and(|claim| seconds(claim.since, now) > far_longer)
    };
    if left == 0 || state.running().any(is_late) {
        return None;
    }
    let builders = i64::from(state.terms().builders.max(1));
    let rounds = (left + builders - 1) / builders;
    Some(in_two_units(took[took.len() / 2].checked_mul(rounds)?))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    pub plan_id: PlanId,
    pub phase: Phase,
    pub standing: RunStanding,
    pub max_iterations: u32,
    pub builders: u32,
    pub counts: TaskCounts,
    /// In document order.
    pub tasks: Vec<TaskLine>,
    /// Open questions to the user.
    pub questions: Vec<String>,
    /// The results of the checks at the end, one per line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub end_checks: Vec<String>,
    /// The cost of the agents, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostReport>,
}

/// The result of a check at the end of a run, on one line.
pub(super) fn told_at_end(check: &Check) -> String {
    let result = check.result();
    let name = shown_command(check.command().unwrap_or(&check.name));
    match check.verdict {
        CheckVerdict::Pass => format!("passed: {name}"),
        CheckVerdict::Fail => format!("failed: {name}: {result}"),
        CheckVerdict::Note | CheckVerdict::NotApplicable => format!("not run: {name}: {result}"),
    }
}

/// Maximum length of what a verifier says of the whole, in bytes.
const MOST_SAID: usize = 500;

/// The results at the end of a run, one per line: those of the checks, the verdict on the whole, and what nobody judged
/// by itself.
fn end_lines(state: &State) -> Vec<String> {
    let mut lines: Vec<String> = state.end_checks.iter().flatten().map(told_at_end).collect();
    lines.extend(state.whole_verdict.iter().map(|verdict| {
        let (how, why) = match verdict.pass {
            true => ("passed", verdict.summary.clone()),
            false => ("failed", verdict.reasons.join("; ")),
        };
        let colon = if why.is_empty() { "" } else { ": " };
        format!(
            "{how}: the result as a whole{colon}{}",
            said_within(&why, MOST_SAID)
        )
    }));
    if state.is_whole_unjudged() {
        lines.push(
            "not judged: the result as a whole; its verifiers ended without a verdict".to_owned(),
        );
    }
    let checked = state.tasks.iter().filter(|task| task.is_only_checked());
    let checked: Vec<&str> = checked.map(|task| task.leaf.id.as_str()).collect();
    if !checked.is_empty() {
        lines.push(format!(
            "only checked, without a verifier: {}",
            checked.join(", ")
        ));
    }
    lines
}

/// The reason why a run ended, if `topic` is that its budget is used up.
pub fn used_up(topic: &Topic) -> Option<String> {
    match topic {
        Topic::Budget {
            limit, task: None, ..
        } => Some(format!("the budget of the run, {limit}, is used up")),
        _ => None,
    }
}

impl StatusReport {
    /// The plan's line in a list of plans.
    pub fn list_line(&self) -> String {
        let (plan, standing) = (&self.plan_id, self.standing.into_str());
        match (self.counts.completed, self.counts.total) {
            (_, 0) => format!("{plan:<44}  {standing}"),
            (done, all) => format!("{plan:<44}  {standing:<13}  {done} of {all} done"),
        }
    }

    pub fn new(state: &State, lead: LeadPresence) -> Self {
        Self::with_edits(state, lead, &BTreeSet::new())
    }

    /// The report as `fp status` gives it to programs: tasks that were ready stay ready once the run is over, since the
    /// run can be continued.
    pub fn as_if_open(mut self, state: &State) -> Self {
        let none = BTreeSet::new();
        let obstacles = state.obstacles(&none);
        for (line, task) in self.tasks.iter_mut().zip(&state.tasks) {
            line.ready = obstacles.obstacle_to(task).is_none();
        }
        self.counts = TaskCounts::of_tasks(self.tasks.iter());
        self
    }

    /// The report, given that the leaves `edited` differ from the approval.
    pub fn with_edits(state: &State, lead: LeadPresence, edited: &BTreeSet<TaskId>) -> Self {
        let standing = RunStanding::of(state, lead);
        let run = state.run.as_ref();
        let obstacles = state.obstacles(edited);
        let tasks: Vec<TaskLine> = state
            .tasks
            .iter()
            .map(|t| task_line(state, standing, &obstacles, t))
            .collect();
        Self {
            plan_id: state.plan_id.clone(),
            phase: Phase::of(state),
            standing,
            max_iterations: run.map_or(0, |r| r.terms.max_iterations),
            builders: run.map_or(0, |r| r.terms.builders),
            counts: TaskCounts::of_tasks(tasks.iter()),
            tasks,
            questions: state.open_questions().map(|q| q.text.clone()).collect(),
            end_checks: end_lines(state),
            cost: CostReport::new(state),
        }
    }
}

pub(super) fn task_line(
    state: &State,
    standing: RunStanding,
    obstacles: &Obstacles<'_, '_>,
    task: &TaskState,
) -> TaskLine {
    let halt = TaskHalt::of(state, standing, task);
    let obstacle = obstacles.obstacle_to(task);
    let detail = match (task.status, &obstacle) {
        (Status::Pending, Some(obstacle)) => Some(state.explain(task, obstacle)),
        (Status::Failed | Status::Skipped, _) => task.reason.clone(),
        (Status::Completed, _) => task.note.clone(),
        (Status::Implementing, _) if state.awaits_answer(&task.leaf.id) => {
            Some("its builder has asked, and waits for the answer".into())
        }
        _ if halt == Some(TaskHalt::Asking) => Some("it waits for your answer".into()),
        (Status::Implementing, obstacle) if task.is_sent_back() => Some(match obstacle {
            Some(obstacle) => state.explain(task, obstacle),
            None => "it did not pass, and the next free builder gets it".into(),
        }),
        (Status::AwaitingVerification, _) if task.awaits_commit() => {
            Some("it passed and waits for its commit".into())
        }
        _ => None,
    };
    let is_drifted = matches!(obstacle, Some(Obstacle::Drifted { .. }));
    let drift = task.drift.as_ref().filter(|_| !is_drifted);
    let is_about = |asked: &Asked| asked.question.topic.task() == Some(&task.leaf.id);
    TaskLine {
        id: task.leaf.id.clone(),
        title: task.leaf.title.clone(),
        status: task.status,
        ready: obstacle.is_none() && !Phase::of(state).is_over(),
        halt,
        iteration: task.iteration,
        max_iterations: state.iterations_of(&task.leaf.id),
        failed_verdicts: task.failed_verdicts,
        asked: state
            .questions
            .iter()
            .filter(|asked| is_about(asked))
            .count(),
        owner: task.claim.as_ref().map(|c| c.owner.clone()),
        commit: task.commit.clone(),
        drift: drift.map(Drift::summary_text),
        detail,
        unverified: task.is_unverified(),
        granted: task.granted.clone(),
        dropped: task.dropped.clone(),
    }
}
