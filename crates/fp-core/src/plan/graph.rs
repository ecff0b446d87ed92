//! What waits for what, over all tasks: a leaf waits for its dependencies and a parent for its children.
//! So a dependency on a parent means all of its leaves at the cost of one edge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::index::Index;
use super::task::{Plan, TaskIndex};

/// The graph of a plan. Unknown dependencies and those of a task on itself or on an ancestor are left out.
#[derive(Debug)]
pub struct Graph {
    starts: Vec<usize>,
    targets: Vec<TaskIndex>,
}

impl Graph {
    /// Builds it; linear in the size of the plan.
    #[must_use]
    pub fn new(plan: &Plan, index: &Index<'_>) -> Self {
        let mut starts = Vec::with_capacity(plan.tasks.len() + 1);
        let mut targets = Vec::new();
        for (number, task) in plan.tasks.iter().enumerate() {
            starts.push(targets.len());
            if task.is_leaf() {
                let found = task.dependencies().filter_map(|id| index.find(id));
                targets
                    .extend(found.filter(|&target| target != number && !index.is_ancestor(target, number)));
            } else {
                targets.extend(&task.children);
            }
        }
        starts.push(targets.len());
        Self { starts, targets }
    }

    /// Number of tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What `task` waits for directly, in the order written; may name a task twice.
    #[must_use]
    pub fn waits_for(&self, task: TaskIndex) -> &[TaskIndex] {
        &self.targets[self.starts[task]..self.starts[task + 1]]
    }

    /// The same graph with every edge turned round: what waits for a task.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut starts = vec![0; self.len() + 1];
        for &target in &self.targets {
            starts[target + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; self.targets.len()];
        for task in 0..self.len() {
            for &target in self.waits_for(task) {
                targets[next[target]] = task;
                next[target] += 1;
            }
        }
        Self { starts, targets }
    }

    /// All tasks such that each comes behind what it waits for; of several that could be next, the one with
    /// the smallest `rank`, then the first of the document. Tasks in a cycle, and those that wait for one,
    /// are left out.
    #[must_use]
    pub fn order<R: Ord>(&self, rank: impl Fn(TaskIndex) -> R) -> Vec<TaskIndex> {
        let waiting = self.reversed();
        let mut open: Vec<usize> = (0..self.len()).map(|task| self.waits_for(task).len()).collect();
        let mut ready: BinaryHeap<Reverse<(R, TaskIndex)>> =
            (0..self.len()).filter(|&task| open[task] == 0).map(|task| Reverse((rank(task), task))).collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse((_, task))) = ready.pop() {
            order.push(task);
            for &next in waiting.waits_for(task) {
                open[next] -= 1;
                if open[next] == 0 {
                    ready.push(Reverse((rank(next), next)));
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    fn order(text: &str) -> Vec<String> {
        let (plan, _) = parse(text);
        let graph = Graph::new(&plan, &Index::new(&plan));
        let order = graph.order(|_| 0);
        order
            .into_iter()
            .filter(|&task| plan.tasks[task].is_leaf())
            .map(|task| plan.tasks[task].id.to_string())
            .collect()
    }

    #[test]
    fn orders() {
        let check = |text: &str, expect: &[&str]| assert_eq!(order(text), expect, "{text}");
        check("", &[]);
        check("- [ID: 1] A\n- [ID: 2] B\n- [ID: 3] C\n", &["1", "2", "3"]);
        check("- [ID: 1] A\n  - Dependencies: 3\n- [ID: 2] B\n- [ID: 3] C\n", &["2", "3", "1"]);
        check(
            "- [ID: 1] A\n  - Dependencies: 2\n- [ID: 2] B\n  - [ID: 2.1] C\n  - [ID: 2.2] D\n",
            &["2.1", "2.2", "1"],
        );
        check("- [ID: 1] A\n  - Dependencies: 2\n- [ID: 2] B\n  - Dependencies: 1\n- [ID: 3] C\n", &["3"]);
        check("- [ID: 1] A\n  - [ID: 1.1] B\n    - Dependencies: 1, 1.1, 9\n", &["1.1"]);
    }
}
