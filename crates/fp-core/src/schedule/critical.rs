//! The longest chain by complexity, and what more builders could gain.

use serde::Serialize;

use super::weight;
use crate::plan::graph::Graph;
use crate::plan::task::{Plan, TaskIndex};

/// The numbers of builders that a speed-up is told for.
pub const BUILDERS: [u32; 4] = [1, 2, 4, 8];

/// A chain of tasks, each waiting for the one before it, of the largest total complexity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CriticalPath<'p> {
    /// Ids of its tasks in order.
    pub tasks: Vec<&'p str>,
    /// Sum of their complexities.
    pub complexity: u64,
}

/// How many times faster so many builders could be than one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpeedUp {
    /// How many builders.
    pub builders: u32,
    /// The factor, to two decimals: at best, with no two tasks in one file.
    pub factor: f64,
}

/// The critical path; of several of the same length the one that ends, and goes on, first in the order.
pub(super) fn path<'p>(plan: &'p Plan<'p>, graph: &Graph, order: &[TaskIndex]) -> CriticalPath<'p> {
    let mut length = vec![0_u64; graph.len()];
    let mut before: Vec<Option<TaskIndex>> = vec![None; graph.len()];
    let mut last: Option<TaskIndex> = None;
    for &task in order {
        for &target in graph.waits_for(task) {
            if before[task].is_none_or(|best| length[target] > length[best]) {
                before[task] = Some(target);
            }
        }
        let own = if plan.tasks[task].is_leaf() { u64::from(weight(&plan.tasks[task])) } else { 0 };
        length[task] = own + before[task].map_or(0, |best| length[best]);
        if last.is_none_or(|best| length[task] > length[best]) {
            last = Some(task);
        }
    }
    let way = std::iter::successors(last, |&task| before[task]);
    let leaves = way.filter(|&task| plan.tasks[task].is_leaf());
    let mut tasks: Vec<&str> = leaves.map(|task| &*plan.tasks[task].id).collect();
    tasks.reverse();
    CriticalPath { tasks, complexity: last.map_or(0, |task| length[task]) }
}

/// The best that so many builders can do: neither shorter than the critical path nor than their share.
pub(super) fn speed_up(total: u64, critical: u64) -> Vec<SpeedUp> {
    BUILDERS
        .into_iter()
        .map(|builders| {
            let shortest = critical.max(total.div_ceil(builders.into())).max(1);
            #[expect(clippy::cast_precision_loss, reason = "sums of complexities are far below 2^52")]
            let factor = (total.max(1) as f64 / shortest as f64 * 100.0).round() / 100.0;
            SpeedUp { builders, factor }
        })
        .collect()
}
