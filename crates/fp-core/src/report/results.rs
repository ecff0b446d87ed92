//! What came of a plan, for those who were not there: its goal, each task with its state, its commit and what its
//! verdict rested on, what was decided on the way, and what was learnt.

mod markdown;

use jiff::Timestamp;
use serde::Serialize;

use super::status::{Counts, Phase, StatusReport};
use crate::plan::id::{PlanId, TaskId};
use crate::plan::task::{Plan, Task};
use crate::run::State;
use crate::run::event::Decider;
use crate::run::state::{Status, TaskState};

pub use markdown::markdown;

/// The results of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    /// The plan.
    pub plan_id: PlanId,
    /// The user's own words.
    pub goal: String,
    /// Where the plan is.
    pub phase: Phase,
    /// When it was first started.
    pub started_at: Option<Timestamp>,
    /// When something happened last.
    pub last_at: Option<Timestamp>,
    /// How many tasks are where.
    pub counts: Counts,
    /// All tasks in document order.
    pub tasks: Vec<TaskResult>,
    /// What the user was asked, and what was answered.
    pub decisions: Vec<Decision>,
    /// The notepad, a line each.
    pub notes: Vec<String>,
}

/// What came of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskResult {
    /// Its id, as the tree has it.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Steps from the root.
    pub depth: usize,
    /// How it ended; `None` for a parent, and for a leaf that was never approved.
    pub outcome: Option<Outcome>,
}

/// How a leaf ended, or where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Its state.
    pub status: Status,
    /// Its iteration; 0 before the first claim.
    pub iteration: u32,
    /// When it was first claimed.
    pub started_at: Option<Timestamp>,
    /// When it reached a final state.
    pub ended_at: Option<Timestamp>,
    /// Its commit.
    pub commit: Option<String>,
    /// Why there is no commit, or why it was given up or skipped.
    pub reason: Option<String>,
    /// What the verifier said of the whole.
    pub summary: Option<String>,
    /// The criteria that were judged.
    pub criteria: Vec<Judged>,
    /// The files that it changed.
    pub files: Vec<String>,
}

/// A criterion and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// Its number, from 1.
    pub number: usize,
    /// Its text; empty where the tree has it no more.
    pub text: String,
    /// Whether it is met.
    pub pass: bool,
    /// What shows it, or why it is not met.
    pub evidence: String,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The question.
    pub question: String,
    /// The labels chosen; empty while it is open.
    pub answer: Vec<String>,
    /// Who chose.
    pub by: Decider,
}

impl Results {
    /// The results of the plan with this `state`, which was made for `goal`; `tree` is its task tree, as far as there
    /// is one. Leaves that the tree has no more come last.
    #[must_use]
    pub fn new(state: &State, tree: Option<&Plan<'_>>, goal: String) -> Self {
        let in_tree = tree.map_or(&[][..], |tree| &tree.tasks);
        let mut tasks: Vec<TaskResult> =
            in_tree.iter().filter(|task| !task.synthetic).map(|task| task_result(state, task)).collect();
        let known = |id: &TaskId| in_tree.iter().any(|task| task.id == id.as_str());
        let gone = state.tasks.iter().filter(|task| !known(&task.leaf.id));
        tasks.extend(gone.map(|task| TaskResult {
            id: task.leaf.id.to_string(),
            title: task.leaf.title.clone(),
            depth: 0,
            outcome: Some(outcome(task, None)),
        }));
        let status = StatusReport::new(state);
        let decisions = state.questions.iter().map(|asked| Decision {
            question: asked.question.text.clone(),
            answer: asked.answer.clone(),
            by: asked.by,
        });
        Self {
            plan_id: status.plan_id,
            goal,
            phase: status.phase,
            started_at: state.run.as_ref().map(|run| run.started_at),
            last_at: state.last_at,
            counts: status.counts,
            tasks,
            decisions: decisions.collect(),
            notes: state.notes.iter().map(crate::run::event::Note::line).collect(),
        }
    }
}

fn task_result(state: &State, task: &Task<'_>) -> TaskResult {
    let leaf = TaskId::new(&*task.id).ok().filter(|_| task.is_leaf());
    TaskResult {
        id: task.id.to_string(),
        title: task.description.to_string(),
        depth: task.depth,
        outcome: leaf.and_then(|id| state.task(&id)).map(|found| outcome(found, Some(task))),
    }
}

fn outcome(task: &TaskState, in_tree: Option<&Task<'_>>) -> Outcome {
    let criteria: Vec<&str> = in_tree.map(|task| task.acceptance().collect()).unwrap_or_default();
    let judgements = task.verdict.as_ref().map_or(&[][..], |verdict| &verdict.judgements);
    let judged = judgements.iter().map(|judgement| Judged {
        number: judgement.criterion,
        text: criteria.get(judgement.criterion.wrapping_sub(1)).copied().unwrap_or_default().to_owned(),
        pass: judgement.pass,
        evidence: judgement.evidence.clone(),
    });
    Outcome {
        status: task.status,
        iteration: task.iteration,
        started_at: task.started_at,
        ended_at: task.ended_at,
        commit: task.commit.clone(),
        reason: task.reason.clone().or(task.note.clone()),
        summary: task.verdict.as_ref().map(|v| v.summary.clone()).filter(|text| !text.is_empty()),
        criteria: judged.collect(),
        files: task.changed().iter().map(|change| change.path.to_string()).collect(),
    }
}

/// A state as a sentence says it.
fn word(status: Status) -> &'static str {
    match status {
        Status::Pending => "not begun",
        Status::Implementing => "being built",
        Status::AwaitingVerification => "awaiting verification",
        Status::Completed => "done",
        Status::Failed => "failed",
        Status::Skipped => "skipped",
    }
}
