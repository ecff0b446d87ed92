//! What a run has come to: what is done, by whom and in how many tries, what failed and why, what is left.

use jiff::Timestamp;
use serde::Serialize;

use super::duration::{lasted, minute};
use super::history::{Attempt, End, History};
use super::page::{Item, Page, TEXT, plain};
use super::status::{Counts, Phase, StatusReport, TaskLine};
use crate::plan::id::PlanId;
use crate::run::payload::short;
use crate::run::state::{State, Status};

/// Most tasks that one section of the page lists.
const TASKS: usize = 100;
/// Most characters of the goal.
pub(super) const GOAL: usize = 1000;

/// The report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressReport {
    /// The plan.
    pub plan_id: PlanId,
    /// The user's own words.
    pub goal: String,
    /// Where the plan is.
    pub phase: Phase,
    /// The last event that the report knows of; 0 before the first.
    pub seq: u64,
    /// When the run first started.
    pub started_at: Option<Timestamp>,
    /// When the last event was.
    pub last_at: Option<Timestamp>,
    /// How many tasks are where.
    pub counts: Counts,
    /// The tasks in document order.
    pub tasks: Vec<TaskProgress>,
}

/// What one task has come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskProgress {
    /// Where it is.
    #[serde(flatten)]
    pub line: TaskLine,
    /// Every try at it, those before a retry as well.
    pub attempts: Vec<Attempt>,
    /// When it was first claimed.
    pub started_at: Option<Timestamp>,
    /// When it reached a final state.
    pub ended_at: Option<Timestamp>,
}

impl ProgressReport {
    /// The report on `state`, with the tries of its log.
    #[must_use]
    pub fn new(state: &State, history: &History, goal: &str) -> Self {
        let status = StatusReport::new(state);
        let tasks = status.tasks.into_iter().zip(&state.tasks).map(|(line, task)| TaskProgress {
            attempts: history.of(&line.id).to_vec(),
            started_at: task.started_at,
            ended_at: task.ended_at,
            line,
        });
        Self {
            plan_id: status.plan_id,
            goal: goal.to_owned(),
            phase: status.phase,
            seq: state.seq,
            started_at: state.run.as_ref().map(|run| run.started_at),
            last_at: state.last_at,
            counts: status.counts,
            tasks: tasks.collect(),
        }
    }

    /// The tasks that are in one of these states.
    pub(super) fn within<'r>(&'r self, states: &'r [Status]) -> impl Iterator<Item = &'r TaskProgress> {
        self.tasks.iter().filter(|task| states.contains(&task.line.status))
    }
}

/// `progress.md`.
#[must_use]
pub fn markdown(report: &ProgressReport) -> String {
    let plan = &report.plan_id;
    let mut page = Page::new(&format!("Progress: {plan}"));
    page.paragraph(&format!("> {}", plain(&report.goal, GOAL)));
    page.paragraph(&when(report));
    if report.counts.total > 0 {
        page.paragraph(&format!("{}.", report.counts.in_words()));
    }
    let rest = format!("`fp status {plan}`");
    let mut section = |title: &str, states: &[Status], told: fn(&TaskProgress) -> String| {
        let items: Vec<Item> = report.within(states).map(|task| item(task, told(task))).collect();
        page.list(title, &items, TASKS, &rest);
    };
    section("Failed", &[Status::Failed], failed);
    section("Under way", &[Status::Implementing, Status::AwaitingVerification], under_way);
    section("Left", &[Status::Pending], left);
    section("Skipped", &[Status::Skipped], left);
    section("Done", &[Status::Completed], done);
    page.finish()
}

fn when(report: &ProgressReport) -> String {
    match (report.started_at, report.last_at) {
        (Some(from), Some(to)) => format!(
            "The run ({}) began on {} and has taken {} up to event {}.",
            report.phase.word(),
            minute(from),
            lasted(from, to),
            report.seq
        ),
        _ if report.phase == Phase::Planning => "The plan is not approved yet.".into(),
        _ => "The plan is approved; its run has not started.".into(),
    }
}

fn item(task: &TaskProgress, told: String) -> Item {
    let line = &task.line;
    let text = format!("**{}** {}{told}", plain(line.id.as_str(), TEXT), plain(&line.title, TEXT));
    Item { text, below: task.attempts.iter().filter_map(lost).collect() }
}

/// A try that came to nothing, and why.
pub(super) fn lost(attempt: &Attempt) -> Option<String> {
    let reason = plain(attempt.end.as_ref()?.reason()?, TEXT);
    let how = if matches!(attempt.end, Some(End::Released(_))) { "taken back, " } else { "" };
    Some(format!("iteration {}, {}: {how}{reason}", attempt.iteration, attempt.builder))
}

fn done(task: &TaskProgress) -> String {
    let line = &task.line;
    let builder = task.attempts.last().map_or_else(String::new, |last| format!(": {}", last.builder));
    let time = task.started_at.zip(task.ended_at).map(|(from, to)| format!(", {}", lasted(from, to)));
    let commit = match (&line.commit, &line.detail) {
        (Some(commit), _) => format!(", commit `{}`", short(commit)),
        (None, Some(note)) => format!(", without a commit: {}", plain(note, TEXT)),
        (None, None) => String::new(),
    };
    let iteration = match line.iteration {
        0 => String::new(),
        iteration => format!(", iteration {iteration} of {}", line.max_iterations),
    };
    format!("{builder}{iteration}{}{commit}", time.unwrap_or_default())
}

fn failed(task: &TaskProgress) -> String {
    let ways = task.attempts.iter().any(|attempt| matches!(attempt.end, Some(End::Failed(_))));
    let reason = task.line.detail.as_ref().filter(|_| !ways);
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", plain(reason, TEXT)));
    match task.line.iteration {
        0 => reason,
        iteration => format!(", given up in iteration {iteration} of {}{reason}", task.line.max_iterations),
    }
}

fn under_way(task: &TaskProgress) -> String {
    let line = &task.line;
    let owner = line.owner.as_ref().map_or_else(String::new, |owner| format!(" by {owner}"));
    let detail = line.detail.as_ref().map_or_else(String::new, |detail| format!("; {}", plain(detail, TEXT)));
    let word = line.status.word();
    format!(": {word}{owner}, iteration {} of {}{detail}", line.iteration, line.max_iterations)
}

fn left(task: &TaskProgress) -> String {
    match &task.line.detail {
        Some(detail) => format!(": {}", plain(detail, TEXT)),
        None => ": ready".into(),
    }
}
