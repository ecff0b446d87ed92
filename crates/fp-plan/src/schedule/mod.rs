//! Decides the order of a tree's leaves, and predicts when each of them starts. A pure function of the tree and a few
//! settings: the same input gives the same schedule, to the byte.

pub mod prediction;
mod simulation;

use std::collections::HashMap;

use serde::Serialize;

use prediction::{Prediction, PredictionTerms};
pub use simulation::Delay;
use simulation::Simulation;

use crate::plan::graph::{Graph, PlanIndex};
use crate::plan::task::{Plan, Task, TaskIndex};
use crate::settings::ExecutionOrder;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScheduleOptions {
    /// The order in which to pick among the tasks that could be next.
    pub order: ExecutionOrder,
    /// Maximum number of tasks at once; 0 counts as 1.
    pub max_parallel_tasks: u32,
    /// The composite signal of each leaf, by id; a missing one counts as 0.
    pub composite: HashMap<String, u8>,
    /// Generated files that only one task at a time may change, in addition to lock files.
    pub exclusive: Vec<String>,
}

/// The reason why a tree can't be scheduled: some tasks wait for each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{count} tasks can never start, {first} among them: they wait for each other")]
pub struct ScheduleCycle {
    /// Number of blocked leaves.
    count: usize,
    /// Id of the first one in the document.
    first: String,
}

/// The numbers of builders that a plan's page compares.
pub const BUILDERS: [u32; 4] = [1, 2, 4, 8];

/// One leaf at its position in the order, with text as in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScheduleStep<'p> {
    #[serde(skip)]
    pub task: TaskIndex,
    /// From 1.
    pub position: usize,
    pub id: &'p str,
    pub title: &'p str,
    /// 1 if the leaf has none.
    pub complexity: u32,
    /// As written in the tree.
    pub dependencies: Vec<&'p str>,
    /// The leaves that must come first without being needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<&'p str>,
    pub files: Vec<&'p str>,
    pub acceptance: Vec<&'p str>,
    /// The commands that have to pass.
    pub commands: Vec<&'p str>,
    /// Minutes from the beginning, rounded down.
    pub start: u64,
    /// The reason why the leaf doesn't start earlier; `None` if it starts at once.
    pub delay: Option<Delay<'p>>,
}

/// The order of all leaves, and everything that follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule<'p> {
    /// The order in which to pick among the tasks that could be next.
    pub execution_order: ExecutionOrder,
    /// The leaves in execution order.
    pub order: Vec<ScheduleStep<'p>>,
    pub prediction: Prediction<'p>,
}

/// Schedules the leaves of `plan`. Fails if tasks wait for each other; all other faults are left to the rules.
pub fn schedule<'p>(
    plan: &'p Plan<'p>,
    options: &ScheduleOptions,
    terms: &PredictionTerms,
) -> Result<Schedule<'p>, ScheduleCycle> {
    let graph = Graph::new(plan, &PlanIndex::new(plan));
    // Parents take no time and go first, which keeps them from delaying their dependents.
    let order = graph.order(|task| {
        let task = &plan.tasks[task];
        task.is_leaf().then(|| rank_of(task, options))
    });
    if order.len() < graph.len() {
        return Err(held_up(plan, &order));
    }
    let seconds = terms.task_seconds(plan);
    let simulation = Simulation::new(plan, graph, order, seconds, &options.exclusive);
    let (mut starts, _) = simulation.play(options.max_parallel_tasks);
    let order = simulation.order.iter().copied();
    let leaves = order.filter(|&task| plan.tasks[task].is_leaf());
    let steps = leaves.zip(1..).map(|(task, position)| {
        let leaf = &plan.tasks[task];
        let (seconds, delay) = std::mem::take(&mut starts[task]);
        ScheduleStep {
            task,
            position,
            id: &leaf.id,
            title: &leaf.description,
            complexity: weight_of(leaf),
            dependencies: leaf.dependencies().collect(),
            after: leaf.runs_after().collect(),
            files: leaf.files().collect(),
            acceptance: leaf.acceptance().collect(),
            commands: leaf.commands().map(|command| &*command.text).collect(),
            start: seconds / 60,
            delay,
        }
    });
    Ok(Schedule {
        execution_order: options.order,
        order: steps.collect(),
        prediction: Prediction::new(&simulation, options, terms),
    })
}

fn held_up(plan: &Plan, order: &[TaskIndex]) -> ScheduleCycle {
    let tasks = plan.tasks.iter().enumerate();
    let mut held = tasks.filter(|(number, task)| task.is_leaf() && !order.contains(number));
    let first = held.next().map(|(_, task)| task.id.to_string());
    ScheduleCycle {
        first: first.unwrap_or_default(),
        count: 1 + held.count(),
    }
}

/// The complexity of a task, or what stands in for it.
pub(crate) fn weight_of(task: &Task) -> u32 {
    task.complexity.unwrap_or(1).clamp(1, 1000)
}

/// The sort key of a task among those that could be next; smaller comes first, and ties keep document order.
fn rank_of(task: &Task, options: &ScheduleOptions) -> (i64, i64) {
    let composite = options.composite.get(&*task.id).copied();
    options.order.rank(composite, weight_of(task))
}

#[cfg(test)]
mod tests;
