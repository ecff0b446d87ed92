//! Gathers a run for the page that shows it: who did what and when, how long everyone waited, how each attempt ended,
//! and the basis of its verdict. Everything comes from the log, except the texts of the criteria, which come from the
//! tree.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::Serialize;

use super::cost::CostReport;
use super::course::Course;
use super::handoff::NextStep;
use super::requirements::RequirementLine;
use super::standing::{LeadPresence, RunStanding};
use super::status::{Phase, StatusReport, TaskCounts, TaskLine};
use super::tree::TreeReport;
use crate::run::State;
use crate::run::event::{Decider, Entry, Note};
use crate::run::state::TaskState;
use crate::verification::Check;
use crate::verification::change::Change;
use fp_plan::plan::id::{AgentName, PlanId, TaskId};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunPage<'p> {
    pub plan_id: PlanId,
    pub goal: String,
    pub phase: Phase,
    pub standing: RunStanding,
    /// The command that continues an interrupted run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub go_on: Option<NextStep>,
    /// Number of the last event.
    pub seq: u64,
    pub builders: u32,
    pub started_at: Option<Timestamp>,
    /// The end of the run, or the last event of a run under way.
    pub ended_at: Option<Timestamp>,
    pub counts: TaskCounts,
    pub tries: usize,
    /// Number of tasks changed or added by approvals after the start.
    pub revisions: usize,
    /// Working time of all builders.
    pub millis: RunTimes,
    /// Periods in which nobody worked. No time on this page except `wall` includes them.
    pub pauses: Vec<RunPause>,
    /// One lane per builder, by first claim, then the user's if there were questions.
    pub lanes: Vec<RunLane>,
    pub decisions: Vec<RunQuestion>,
    /// The interview's decisions, one per line, if known.
    pub interview_decisions: Vec<String>,
    pub commits: Vec<RunCommit>,
    /// Remarks from the trial of the commands, then the notepad.
    pub notes: Vec<String>,
    /// The interview's requirements, if known.
    pub requirements: Vec<RequirementLine>,
    /// The results of the checks at the end, one per line.
    pub end_checks: Vec<String>,
    /// The cost of the agents, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostReport>,
    /// When agents reported what they had spent: millionths of a dollar, and tokens.
    #[serde(skip)]
    pub spent: Vec<(Timestamp, u64, u64)>,
    pub tasks: Vec<RunTask>,
    pub tree: TreeReport<'p>,
}

/// Milliseconds by activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RunTimes {
    pub building: u64,
    pub asking: u64,
    pub waiting: u64,
    pub verifying: u64,
    pub committing: u64,
}

impl RunTimes {
    pub fn total(&self) -> u64 {
        self.building + self.asking + self.waiting + self.verifying + self.committing
    }

    pub(super) fn of_bars<'b>(
        bars: impl IntoIterator<Item = &'b LaneBar>,
        pauses: &[RunPause],
    ) -> Self {
        let mut times = Self::default();
        for bar in bars {
            let part = match bar.kind {
                BarKind::Building => &mut times.building,
                BarKind::Asking => &mut times.asking,
                BarKind::Waiting => &mut times.waiting,
                BarKind::Verifying => &mut times.verifying,
                BarKind::Committing => &mut times.committing,
            };
            *part += worked_between(bar.from, bar.to, pauses);
        }
        times
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RunPause {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl RunPause {
    /// The pauses in the work of `bars` between `from` and `to`: gaps longer than both a minute and a third of the time
    /// worked.
    pub(super) fn pauses_between<'b>(
        bars: impl Iterator<Item = &'b LaneBar>,
        (from, to): (Timestamp, Timestamp),
    ) -> Vec<Self> {
        let is_work = |bar: &&LaneBar| !matches!(bar.kind, BarKind::Asking | BarKind::Waiting);
        let mut spans: Vec<_> = bars.filter(is_work).map(|bar| (bar.from, bar.to)).collect();
        spans.push((to, to));
        spans.sort_unstable();
        let (mut gaps, mut last, mut worked) = (Vec::new(), from, 0);
        for (begin, end) in spans {
            let gap = (begin > last).then_some(Self {
                from: last,
                to: begin,
            });
            gaps.extend(gap);
            worked += millis_between(last.max(begin), end);
            last = last.max(end);
        }
        let long = (worked / 3).max(SHORTEST_PAUSE);
        gaps.retain(|gap| millis_between(gap.from, gap.to) > long);
        gaps
    }
}

/// Minimum length of a pause, in milliseconds.
const SHORTEST_PAUSE: u64 = 60_000;

/// Milliseconds between two moments, without the pauses.
pub fn worked_between(from: Timestamp, to: Timestamp, pauses: &[RunPause]) -> u64 {
    let paused: u64 = pauses
        .iter()
        .map(|pause| millis_between(pause.from.max(from), pause.to.min(to)))
        .sum();
    millis_between(from, to).saturating_sub(paused)
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RunLane {
    pub name: String,
    /// True for the user's lane, whose bars are questions.
    pub user: bool,
    pub bars: Vec<LaneBar>,
    pub millis: RunTimes,
    /// Milliseconds of the run during which the lane had no task.
    pub idle: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LaneBar {
    pub kind: BarKind,
    pub task: Option<TaskId>,
    /// Attempt number, from 1.
    pub nth: usize,
    pub question: Option<String>,
    pub from: Timestamp,
    pub to: Timestamp,
    /// True if the bar hasn't ended yet.
    pub open: bool,
    pub outcome: Option<TryOutcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BarKind {
    Building,
    /// Waiting for the user.
    Asking,
    /// Waiting for verification, or for the builder to resume.
    Waiting,
    Verifying,
    Committing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestion {
    pub id: String,
    pub task: Option<TaskId>,
    pub question: String,
    /// Labels of the available answers.
    pub options: Vec<String>,
    /// Empty while the question is open.
    pub answer: Vec<String>,
    pub by: Decider,
    pub asked_at: Timestamp,
    pub answered_at: Option<Timestamp>,
    /// True if a builder asked and is waiting for the answer.
    #[serde(skip)]
    pub inquiry: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunCommit {
    pub task: TaskId,
    pub hash: String,
    pub subject: String,
    pub at: Timestamp,
    /// True if the commit was rolled back.
    pub undone: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTask {
    #[serde(flatten)]
    pub line: TaskLine,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub millis: RunTimes,
    pub tries: Vec<TaskTry>,
}

/// One attempt at a task: the submission, and the findings of the checks and the verifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskTry {
    #[serde(flatten)]
    pub attempt: TaskAttempt,
    pub from: Timestamp,
    pub submitted_at: Option<Timestamp>,
    pub judged_at: Option<Timestamp>,
    pub verifier: Option<AgentName>,
    /// Number of times the builder was told to continue.
    pub nudges: u32,
    pub files: Vec<String>,
    /// The work as trees of git, which may have lost them.
    #[serde(skip)]
    pub work: TryWork,
    pub checks: Vec<Check>,
    pub criteria: Vec<JudgedCriterion>,
    pub summary: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TryWork {
    pub base: String,
    /// Empty until something is handed in.
    pub tree: String,
    pub changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskAttempt {
    pub iteration: u32,
    pub builder: AgentName,
    #[serde(flatten)]
    pub end: Option<AttemptEnd>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, strum::EnumDiscriminants)]
#[serde(rename_all = "camelCase", tag = "end", content = "reason")]
#[strum_discriminants(name(TryOutcome), derive(Serialize), serde(rename_all = "camelCase"))]
pub enum AttemptEnd {
    Passed,
    Failed(String),
    Released(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedCriterion {
    pub number: usize,
    /// Empty if the tree no longer has the criterion.
    pub text: String,
    pub pass: bool,
    pub evidence: String,
}

impl<'p> RunPage<'p> {
    /// Builds the page for `state`, the result of replaying `entries`. The texts of the criteria come from `tree`.
    pub fn new(
        state: &State,
        entries: &[Entry],
        lead: LeadPresence,
        goal: String,
        tree: TreeReport<'p>,
    ) -> Self {
        let status = StatusReport::new(state, lead);
        let mut course = Course::of_run(state, entries);
        course.word_criteria(&tree);
        let (lanes, pauses) = course.take_lanes();
        let of_builders = lanes.iter().filter(|lane| !lane.user);
        let worked: Vec<&LaneBar> = of_builders.flat_map(|lane| &lane.bars).collect();
        let mut bars_of: HashMap<&TaskId, Vec<&LaneBar>> = HashMap::new();
        for &bar in &worked {
            bar.task
                .iter()
                .for_each(|task| bars_of.entry(task).or_default().push(bar));
        }
        let spent = |task: &TaskId| {
            let bars = bars_of.get(task).into_iter().flatten();
            RunTimes::of_bars(bars.copied(), &pauses)
        };
        let mut task_of = |(line, task): (TaskLine, &TaskState)| RunTask {
            started_at: task.started_at,
            ended_at: task.ended_at,
            millis: spent(&line.id),
            tries: course.tries.remove(&line.id).unwrap_or_default(),
            line,
        };
        let tasks = status.tasks.into_iter().zip(&state.tasks);
        let tasks: Vec<RunTask> = tasks.map(&mut task_of).collect();
        let millis = RunTimes::of_bars(worked, &pauses);
        let notepad = state.notes.iter().map(Note::notepad_line);
        Self {
            plan_id: status.plan_id,
            goal,
            phase: status.phase,
            standing: status.standing,
            go_on: NextStep::if_interrupted(state, status.standing),
            seq: state.seq,
            builders: status.builders,
            started_at: course.started_at,
            ended_at: course.ended_at,
            counts: status.counts,
            tries: tasks.iter().map(|task| task.tries.len()).sum(),
            revisions: course.revisions,
            millis,
            pauses,
            lanes,
            decisions: course.decisions,
            commits: course.commits,
            notes: course.trial_notes.into_iter().chain(notepad).collect(),
            interview_decisions: Vec::new(),
            requirements: Vec::new(),
            end_checks: status.end_checks,
            cost: status.cost,
            spent: course.spent,
            tasks,
            tree,
        }
    }

    /// Milliseconds from start to end.
    pub fn wall(&self) -> u64 {
        self.between_ends(&[])
    }

    /// Milliseconds from start to end without the pauses.
    pub fn work(&self) -> u64 {
        self.between_ends(&self.pauses)
    }

    fn between_ends(&self, pauses: &[RunPause]) -> u64 {
        let ends = self.started_at.zip(self.ended_at);
        ends.map_or(0, |(from, to)| worked_between(from, to, pauses))
    }

    /// Number of attempts that verification sent back.
    pub fn sent_back(&self) -> usize {
        let tries = self.tasks.iter().flat_map(|task| &task.tries);
        let is_failed = |one: &&TaskTry| matches!(one.attempt.end, Some(AttemptEnd::Failed(_)));
        tries.filter(is_failed).count()
    }

    /// The questions that nobody has answered.
    pub fn open_questions(&self) -> impl Iterator<Item = &RunQuestion> {
        self.decisions
            .iter()
            .filter(|asked| asked.answer.is_empty() && asked.answered_at.is_none())
    }

    /// Milliseconds without a task, over all builders.
    pub fn idle(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.idle).sum()
    }
}

fn millis_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
