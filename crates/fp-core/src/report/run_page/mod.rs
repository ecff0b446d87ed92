//! What happened in a run, for looking at: who did what when, how long everybody waited, what each try at a task came
//! to and on what its verdict rests. All of it is read from the log; the tree adds the words of the criteria.

mod chain;
mod course;
mod mark;
mod tries;

use std::collections::HashMap;

use jiff::Timestamp;
use serde::Serialize;

use super::history::{End, History};
use super::status::{Counts, Phase, StatusReport, TaskLine};
use super::tree::TreeReport;
use crate::plan::id::{PlanId, TaskId};
use crate::run::State;
use crate::run::event::{Decider, Entry, Note};
use course::Course;

pub use chain::Chain;
pub use mark::{Mark, MarkKind};
pub use tries::Try;

/// The report on a run. Every length of time is in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunPage<'p> {
    /// The plan.
    pub plan_id: PlanId,
    /// The user's own words.
    pub goal: String,
    /// Where the plan is.
    pub phase: Phase,
    /// The last event that the report knows of; 0 before the first.
    pub seq: u64,
    /// How many builders work at once.
    pub builders: u32,
    /// When the run first started.
    pub started_at: Option<Timestamp>,
    /// When it ended; of one that goes on, when something last happened.
    pub ended_at: Option<Timestamp>,
    /// How many tasks are where.
    pub counts: Counts,
    /// How many tries there were at all tasks together.
    pub tries: usize,
    /// What the time of all builders went into.
    pub millis: Times,
    /// The chain of tasks, each of which waits for the one before, that took longest.
    pub chain: Chain,
    /// The builders in the order in which they came, and the user last, where there was a question.
    pub lanes: Vec<Lane>,
    /// What happened at one moment, oldest first.
    pub marks: Vec<Mark>,
    /// What was asked, and what was answered.
    pub decisions: Vec<Decision>,
    /// The commits, oldest first.
    pub commits: Vec<Commit>,
    /// The notepad, a line each.
    pub notes: Vec<String>,
    /// The approved leaves in document order.
    pub tasks: Vec<RunTask>,
    /// The tree, with the states of its tasks; empty where the file is gone.
    pub tree: TreeReport<'p>,
}

/// What time went into, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Times {
    /// A builder was at work.
    pub building: u64,
    /// A builder waited for the user's answer.
    pub asking: u64,
    /// What was handed in waited for a verifier, or what came back for its builder.
    pub waiting: u64,
    /// It was verified.
    pub verifying: u64,
    /// It had passed, and waited for its commit.
    pub committing: u64,
}

impl Times {
    /// All of it together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.building + self.asking + self.waiting + self.verifying + self.committing
    }

    fn add(&mut self, bar: &Bar) {
        let part = match bar.kind {
            BarKind::Building => &mut self.building,
            BarKind::Asking => &mut self.asking,
            BarKind::Waiting => &mut self.waiting,
            BarKind::Verifying => &mut self.verifying,
            BarKind::Committing => &mut self.committing,
        };
        *part += bar.millis();
    }
}

/// What one builder, or the user, did in the course of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lane {
    /// The builder's name; `user` for the user.
    pub name: String,
    /// Whether it is the user's.
    pub user: bool,
    /// What it was at, oldest first. A builder is at one thing at a time.
    pub bars: Vec<Bar>,
    /// What its time went into.
    pub millis: Times,
    /// Milliseconds of the run in which it had no task; 0 for the user.
    pub idle: u64,
}

/// What somebody was at from one moment to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bar {
    /// What it was.
    pub kind: BarKind,
    /// The task, where it is about one.
    pub task: Option<TaskId>,
    /// Which of the tries at that task it belongs to, from 1; 0 for a question.
    pub nth: usize,
    /// The question that the user was asked, in the user's own lane.
    pub question: Option<String>,
    /// When it began.
    pub from: Timestamp,
    /// When it ended; where it goes on, when something last happened.
    pub to: Timestamp,
    /// Whether it goes on.
    pub open: bool,
    /// What came of the try.
    pub outcome: Option<TryOutcome>,
}

impl Bar {
    /// How long it is, in milliseconds.
    #[must_use]
    pub fn millis(&self) -> u64 {
        millis(self.from, self.to)
    }
}

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BarKind {
    /// A builder is at work on a task.
    Building,
    /// It has asked the user, and waits.
    Asking,
    /// The task waits for its verifier, or to be taken up again.
    Waiting,
    /// It is verified.
    Verifying,
    /// It has passed, and its commit is made.
    Committing,
}

/// What came of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TryOutcome {
    /// It passed.
    Passed,
    /// It did not.
    Failed,
    /// The claim was taken back.
    Released,
}

impl TryOutcome {
    fn of(end: &End) -> Self {
        match end {
            End::Passed => Self::Passed,
            End::Failed(_) => Self::Failed,
            End::Released(_) => Self::Released,
        }
    }
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Its id.
    pub id: String,
    /// The task it is about, where it is about one.
    pub task: Option<TaskId>,
    /// The question.
    pub question: String,
    /// The labels chosen; empty while it is open.
    pub answer: Vec<String>,
    /// Who chose.
    pub by: Decider,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it was answered, or of no more use.
    pub answered_at: Option<Timestamp>,
}

/// A commit that a task came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Commit {
    /// The task.
    pub task: TaskId,
    /// Its hash.
    pub hash: String,
    /// The first line of its message; the task's title where the log has no message.
    pub subject: String,
    /// When it was made.
    pub at: Timestamp,
    /// Whether it was rolled back since.
    pub undone: bool,
}

/// One task, and every try at it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunTask {
    /// Where it is.
    #[serde(flatten)]
    pub line: TaskLine,
    /// What its time went into, over all tries.
    pub millis: Times,
    /// Every try, those before a retry as well.
    pub tries: Vec<Try>,
}

impl<'p> RunPage<'p> {
    /// The report on the run that `entries`, a whole log, tell of and that `state` is the sum of. It was made for
    /// `goal`; `tree` is the report on its task tree.
    #[must_use]
    pub fn new(state: &State, entries: &[Entry], goal: String, tree: TreeReport<'p>) -> Self {
        let status = StatusReport::new(state);
        let mut course = Course::new(entries);
        course.finish(state, &History::new(entries));
        course.word_criteria(&criteria(&tree));
        let lanes = course.lanes();
        let mut spent = spent(&lanes);
        let chain = Chain::longest(state, |task| spent.get(task).map_or(0, Times::total));
        let tasks = status.tasks.into_iter().map(|line| RunTask {
            millis: spent.remove(&line.id).unwrap_or_default(),
            tries: course.tries.remove(&line.id).unwrap_or_default(),
            line,
        });
        let tasks: Vec<RunTask> = tasks.collect();
        let mut millis = Times::default();
        lanes.iter().filter(|lane| !lane.user).flat_map(|lane| &lane.bars).for_each(|bar| millis.add(bar));
        Self {
            plan_id: status.plan_id,
            goal,
            phase: status.phase,
            seq: state.seq,
            builders: status.builders,
            started_at: course.started_at,
            ended_at: course.ended_at,
            counts: status.counts,
            tries: tasks.iter().map(|task| task.tries.len()).sum(),
            millis,
            chain,
            lanes,
            marks: course.marks,
            decisions: course.decisions,
            commits: course.commits,
            notes: state.notes.iter().map(Note::line).collect(),
            tasks,
            tree,
        }
    }

    /// How long the run took, or has taken so far, in milliseconds.
    #[must_use]
    pub fn wall(&self) -> u64 {
        self.started_at.zip(self.ended_at).map_or(0, |(from, to)| millis(from, to))
    }

    /// Milliseconds in which builders had no task, all together.
    #[must_use]
    pub fn idle(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.idle).sum()
    }
}

/// The acceptance criteria of each leaf, by its id.
fn criteria(tree: &TreeReport<'_>) -> HashMap<String, Vec<String>> {
    let tasks = tree.tasks.iter().filter(|task| task.leaf);
    tasks.map(|task| (task.id.clone(), task.acceptance.clone())).collect()
}

/// What was spent on each task.
fn spent(lanes: &[Lane]) -> HashMap<TaskId, Times> {
    let mut spent: HashMap<TaskId, Times> = HashMap::new();
    for bar in lanes.iter().filter(|lane| !lane.user).flat_map(|lane| &lane.bars) {
        if let Some(task) = &bar.task {
            spent.entry(task.clone()).or_default().add(bar);
        }
    }
    spent
}

/// From one moment to another in milliseconds; none where the clock has gone back.
fn millis(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
