//! In which order ready tasks are claimed and what keeps them apart. Recorded when a run starts, so that a
//! setting that changes later, or a file that is gone, changes no run that is on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::event::Leaf;
use super::state::{State, Status, TaskState};
use crate::plan::id::TaskId;
use crate::settings::{ExecutionModel, ExecutionOrder, Settings};

/// The order of claims and their limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Policy {
    /// Which of several ready tasks is claimed first.
    pub order: ExecutionOrder,
    /// How tasks relate in time.
    pub model: ExecutionModel,
    /// The composite signal of leaves, 1 to 5, where the order goes by it; one that has none counts as 0.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub composites: BTreeMap<TaskId, u8>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            order: ExecutionOrder::DocumentOrder,
            model: ExecutionModel::Parallel,
            composites: BTreeMap::new(),
        }
    }
}

impl Policy {
    /// What `settings` say; `composites` are the measured signals, of no meaning in document order.
    #[must_use]
    pub fn new(settings: &Settings, composites: impl IntoIterator<Item = (TaskId, u8)>) -> Self {
        let order = settings.execution_order;
        let by_signal = order != ExecutionOrder::DocumentOrder;
        Self {
            order,
            model: settings.execution_model,
            composites: composites.into_iter().filter(|_| by_signal).collect(),
        }
    }

    /// How many of `builders` work at once.
    #[must_use]
    pub fn limit(&self, builders: u32) -> u32 {
        if self.model == ExecutionModel::Sequential { 1 } else { builders.max(1) }
    }

    /// What comes first among equals: the smaller.
    pub(super) fn rank(&self, leaf: &Leaf) -> (i64, i64) {
        let composite = i64::from(self.composites.get(&leaf.id).copied().unwrap_or(0));
        let complexity = i64::from(leaf.complexity);
        match self.order {
            ExecutionOrder::DocumentOrder => (0, 0),
            ExecutionOrder::RiskFirst => (-composite, -complexity),
            ExecutionOrder::EasyFirst => (composite, complexity),
        }
    }
}

/// The complexity of each task and of the longest chain that waits for it. `users` are the tasks that wait for one
/// directly, none of which waits for itself by any way.
pub(super) fn work_behind(weights: &[u64], users: &[Vec<usize>]) -> Vec<u64> {
    let mut open: Vec<usize> = users.iter().map(Vec::len).collect();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); users.len()];
    for (task, users) in users.iter().enumerate() {
        users.iter().for_each(|&user| before[user].push(task));
    }
    let mut behind = weights.to_vec();
    let mut done: Vec<usize> = (0..users.len()).filter(|&task| open[task] == 0).collect();
    while let Some(task) = done.pop() {
        for &earlier in &before[task] {
            behind[earlier] = behind[earlier].max(weights[earlier] + behind[task]);
            open[earlier] -= 1;
            if open[earlier] == 0 {
                done.push(earlier);
            }
        }
    }
    behind
}

impl State {
    /// The policy in force.
    pub(super) fn policy(&self) -> &Policy {
        static NONE: std::sync::LazyLock<Policy> = std::sync::LazyLock::new(Policy::default);
        self.run.as_ref().map_or(&NONE, |run| &run.terms.policy)
    }

    /// `tasks`, which are ready, in the order in which they are claimed. Several builders take the task with the most
    /// work behind it first, which makes the run shortest; one builder keeps to the order of the plan, and so do
    /// tasks with as much work behind them.
    pub(super) fn in_claim_order<'s>(&'s self, mut tasks: Vec<&'s TaskState>) -> Vec<&'s TaskState> {
        let policy = self.policy();
        if tasks.len() > 1 && self.run.as_ref().is_some_and(|run| run.terms.builders > 1) {
            let behind = self.open_work_behind();
            let work = |task: &TaskState| self.index.get(&task.leaf.id).map_or(0, |&at| behind[at]);
            tasks.sort_by_key(|task| (std::cmp::Reverse(work(task)), policy.rank(&task.leaf)));
        } else {
            tasks.sort_by_key(|task| policy.rank(&task.leaf));
        }
        tasks
    }

    /// Of every task that is not over, the complexity of the longest chain that begins with it.
    fn open_work_behind(&self) -> Vec<u64> {
        let is_open =
            |task: &TaskState| !matches!(task.status, Status::Completed | Status::Failed | Status::Skipped);
        let mut users = vec![Vec::new(); self.tasks.len()];
        for (user, task) in self.tasks.iter().enumerate().filter(|(_, task)| is_open(task)) {
            for &dependency in task.leaf.dependencies.iter().filter_map(|id| self.index.get(id)) {
                users[dependency].push(user);
            }
        }
        let weights: Vec<u64> = self.tasks.iter().map(|task| u64::from(task.leaf.complexity)).collect();
        work_behind(&weights, &users)
    }
}
