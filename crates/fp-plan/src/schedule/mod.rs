//! Decides the order of a tree's leaves, and which of them can run at once. A pure function of the tree and a few
//! settings: the same input gives the same schedule, to the byte.

mod waves;

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

pub use waves::{Delay, DelayCause, Wave};

use crate::plan::field::FieldKind;
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

/// The numbers of builders for which a speed-up is computed.
pub const BUILDERS: [u32; 4] = [1, 2, 4, 8];

/// The chain of dependent tasks with the largest total complexity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CriticalPath<'p> {
    /// Ids in order.
    pub tasks: Vec<&'p str>,
    pub complexity: u64,
}

/// The ideal speed-up of several builders over one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpeedUp {
    pub builders: u32,
    /// The factor, to two decimals: an upper bound, which assumes that no two tasks share a file.
    pub factor: f64,
}

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
    /// From 1.
    pub wave: usize,
    /// The reason why the leaf can't run earlier.
    pub delay: Option<Delay<'p>>,
}

/// The order of all leaves, and everything that follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule<'p> {
    /// The order in which to pick among the tasks that could be next.
    pub execution_order: ExecutionOrder,
    pub max_parallel_tasks: u32,
    /// The leaves in execution order.
    pub order: Vec<ScheduleStep<'p>>,
    /// The sets of leaves that run at once.
    pub waves: Vec<Wave<'p>>,
    /// The chain that more builders can't shorten.
    pub critical_path: CriticalPath<'p>,
    pub total_complexity: u64,
    /// The ideal speed-up with more builders.
    pub speed_up: Vec<SpeedUp>,
}

/// Schedules the leaves of `plan`. Fails if tasks wait for each other; all other faults are left to the rules.
pub fn schedule<'p>(
    plan: &'p Plan<'p>,
    options: &ScheduleOptions,
) -> Result<Schedule<'p>, ScheduleCycle> {
    let index = PlanIndex::new(plan);
    let graph = Graph::new(plan, &index);
    // Parents take no time and go first, which keeps them from delaying their dependents.
    let order = graph.order(|task| {
        let task = &plan.tasks[task];
        task.is_leaf().then(|| rank_of(task, options))
    });
    if order.len() < graph.len() {
        return Err(held_up(plan, &order));
    }
    let (mut slots, waves) = waves::place_tasks(plan, &graph, &order, options);
    let leaves = order.iter().filter(|&&task| plan.tasks[task].is_leaf());
    let steps = leaves.zip(1..).map(|(&task, position)| {
        let leaf = &plan.tasks[task];
        let slot = std::mem::take(&mut slots[task]);
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
            wave: slot.wave,
            delay: slot.delay,
        }
    });
    let critical_path = critical_path(plan, &graph, &order);
    let total = plan.tasks.iter().map(leaf_weight).sum();
    Ok(Schedule {
        execution_order: options.order,
        max_parallel_tasks: options.max_parallel_tasks.max(1),
        order: steps.collect(),
        waves,
        speed_up: speed_up(total, critical_path.complexity),
        critical_path,
        total_complexity: total,
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

/// The estimated duration of a task.
pub(crate) fn weight_of(task: &Task) -> u32 {
    task.complexity.unwrap_or(1).clamp(1, 1000)
}

/// The estimated duration of a task within a chain, where parents take no time.
pub(crate) fn leaf_weight(task: &Task) -> u64 {
    if task.is_leaf() {
        weight_of(task).into()
    } else {
        0
    }
}

/// The sort key of a task among those that could be next; smaller comes first, and ties keep document order.
fn rank_of(task: &Task, options: &ScheduleOptions) -> (i64, i64) {
    let composite = options.composite.get(&*task.id).copied();
    options.order.rank(composite, weight_of(task))
}

/// The critical path. Among paths of equal length, the one that ends first in the order wins, and then at each step the
/// first dependency listed.
fn critical_path<'p>(plan: &'p Plan<'p>, graph: &Graph, order: &[TaskIndex]) -> CriticalPath<'p> {
    let length = graph.chain_weights(order, |task| leaf_weight(&plan.tasks[task]));
    let longest = |tasks: &mut dyn Iterator<Item = TaskIndex>| {
        tasks.min_by_key(|&task| Reverse(length[task]))
    };
    let last = longest(&mut order.iter().copied());
    let way = std::iter::successors(last, |&task| {
        longest(&mut graph.waits_for(task).iter().copied())
    });
    let leaves = way.filter(|&task| plan.tasks[task].is_leaf());
    let mut tasks: Vec<&str> = leaves.map(|task| &*plan.tasks[task].id).collect();
    tasks.reverse();
    CriticalPath {
        tasks,
        complexity: last.map_or(0, |task| length[task]),
    }
}

/// The best possible speed-up for each number of builders: the duration can't be less than the critical path, or than
/// an even share of the work.
fn speed_up(total: u64, critical: u64) -> Vec<SpeedUp> {
    BUILDERS
        .into_iter()
        .map(|builders| {
            let shortest = critical.max(total.div_ceil(builders.into())).max(1);
            #[expect(
                clippy::cast_precision_loss,
                reason = "sums of complexities are far below 2^52"
            )]
            let factor = (total.max(1) as f64 / shortest as f64 * 100.0).round() / 100.0;
            SpeedUp { builders, factor }
        })
        .collect()
}

/// The phase of each task, from 0; parents have phase 0. Phases are groups in order of first appearance, and a leaf
/// without a group belongs to the phase of the leaf before it.
pub fn phases(plan: &Plan) -> Vec<usize> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut current = 0;
    let mut phases = vec![0; plan.tasks.len()];
    for (task, phase) in plan.tasks.iter().zip(&mut phases) {
        if !task.is_leaf() {
            continue;
        }
        if let Some(group) = task.fields.text(FieldKind::Group) {
            let next = numbers.len();
            current = *numbers.entry(group).or_insert(next);
        }
        *phase = current;
    }
    phases
}

#[cfg(test)]
mod tests;
