//! Which tasks can be claimed now, and of every other one why not.

use std::collections::BTreeSet;

use serde::Serialize;

use super::status::Phase;
use crate::plan::Plan;
use crate::plan::id::{PlanId, TaskId};
use crate::run::ready::{Obstacle, Obstacles};
use crate::run::state::{State, TaskState};

/// One task in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyLine {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Whether it can be claimed now.
    pub ready: bool,
    /// Why it can't.
    pub why: Option<Obstacle>,
    /// The same in words.
    pub detail: Option<String>,
}

/// The report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyReport {
    /// The plan.
    pub plan_id: PlanId,
    /// Where it is.
    pub phase: Phase,
    /// What keeps every task from being claimed, if anything does.
    pub bar: Option<Obstacle>,
    /// The tasks that can be claimed now, in the order in which they are claimed.
    pub ready: Vec<String>,
    /// All tasks in document order.
    pub tasks: Vec<ReadyLine>,
}

impl ReadyReport {
    /// The report on an approved plan. `edited` are the leaves that differ from what was approved.
    #[must_use]
    pub fn new(state: &State, edited: &BTreeSet<TaskId>) -> Self {
        let bar = state.bar();
        let obstacles = state.obstacles(edited);
        let tasks: Vec<ReadyLine> =
            state.tasks.iter().map(|t| line(state, &obstacles, t, bar.as_ref())).collect();
        let ready = if bar.is_some() { Vec::new() } else { state.ready(edited) };
        let ready = ready.into_iter().map(|task| task.leaf.id.to_string()).collect();
        Self { ready, plan_id: state.plan_id.clone(), phase: Phase::of(state), bar, tasks }
    }

    /// The report on a plan that nobody has approved: its leaves are those of the tree as it stands.
    #[must_use]
    pub fn unapproved(state: &State, tree: &Plan) -> Self {
        let line = |task: &crate::plan::Task| ReadyLine {
            id: task.id.to_string(),
            title: task.description.to_string(),
            ready: false,
            why: Some(Obstacle::NotApproved),
            detail: None,
        };
        Self {
            plan_id: state.plan_id.clone(),
            phase: Phase::of(state),
            bar: Some(Obstacle::NotApproved),
            ready: Vec::new(),
            tasks: tree.leaves().map(line).collect(),
        }
    }
}

fn line(state: &State, obstacles: &Obstacles<'_, '_>, task: &TaskState, bar: Option<&Obstacle>) -> ReadyLine {
    let why = obstacles.of(task).or_else(|| bar.cloned());
    ReadyLine {
        id: task.leaf.id.to_string(),
        title: task.leaf.title.clone(),
        ready: why.is_none(),
        detail: why.as_ref().map(|why| state.explain(task, why)),
        why,
    }
}
