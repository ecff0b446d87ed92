//! Which tasks, one waiting for the other, took longest: what no more builders would have made shorter.

use std::collections::{HashMap, VecDeque};

use serde::Serialize;

use crate::plan::id::TaskId;
use crate::run::State;

/// A chain of tasks, each of which waits for the one before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// The tasks in order.
    pub tasks: Vec<TaskId>,
    /// What was spent on them, in milliseconds, from claim to end and without the time in which nobody held them.
    pub millis: u64,
}

impl Chain {
    /// The longest chain of the approved leaves where `spent` is what each of them took; of several the one that ends
    /// first in the document. Empty where nothing was spent.
    pub(super) fn longest(state: &State, spent: impl Fn(&TaskId) -> u64) -> Self {
        let leaves = &state.tasks;
        let number: HashMap<&TaskId, usize> =
            leaves.iter().enumerate().map(|(number, task)| (&task.leaf.id, number)).collect();
        let mut users = vec![Vec::new(); leaves.len()];
        let mut open = vec![0_usize; leaves.len()];
        for (task, of) in leaves.iter().enumerate() {
            for &target in of.leaf.dependencies.iter().filter_map(|id| number.get(id)) {
                users[target].push(task);
                open[task] += 1;
            }
        }
        let mut length: Vec<u64> = leaves.iter().map(|task| spent(&task.leaf.id)).collect();
        let mut before: Vec<Option<usize>> = vec![None; leaves.len()];
        let mut ready: VecDeque<usize> = (0..leaves.len()).filter(|&task| open[task] == 0).collect();
        while let Some(task) = ready.pop_front() {
            for &user in &users[task] {
                let through = length[task] + spent(&leaves[user].leaf.id);
                if through > length[user] || before[user].is_none() && length[task] > 0 {
                    length[user] = through;
                    before[user] = Some(task);
                }
                open[user] -= 1;
                if open[user] == 0 {
                    ready.push_back(user);
                }
            }
        }
        let mut last: Option<usize> = None;
        for task in 0..leaves.len() {
            if length[task] > last.map_or(0, |best| length[best]) {
                last = Some(task);
            }
        }
        let mut tasks: Vec<TaskId> = std::iter::successors(last, |&task| before[task])
            .map(|task| leaves[task].leaf.id.clone())
            .collect();
        tasks.reverse();
        Self { tasks, millis: last.map_or(0, |task| length[task]) }
    }
}
