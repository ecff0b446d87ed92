//! Indexes a whole tree to avoid repeated passes: ids to tasks, tasks to their leaves, and tasks to their dependencies.
//!
//! A leaf waits for its dependencies and a parent for its children. A dependency on a parent therefore means all of its
//! leaves, at the cost of one edge.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::field::FieldKind;
use super::task::{Plan, Task, TaskIndex};

/// Index for look-ups in a [`Plan`] that would otherwise each take a full pass.
#[derive(Debug)]
pub struct PlanIndex<'p> {
    plan: &'p Plan<'p>,
    by_id: HashMap<&'p str, TaskIndex>,
    leaves: Vec<TaskIndex>,
    /// For each task, the index just past its last descendant. Descendants directly follow their ancestor.
    ends: Vec<TaskIndex>,
}

impl<'p> PlanIndex<'p> {
    /// Indexes `plan`. Among tasks with the same id, the first one counts.
    pub fn new(plan: &'p Plan<'p>) -> Self {
        let mut by_id = HashMap::with_capacity(plan.tasks.len());
        for (index, task) in plan.tasks.iter().enumerate() {
            by_id.entry(&*task.id).or_insert(index);
        }
        let leaves = (0..plan.tasks.len())
            .filter(|&task| plan.tasks[task].is_leaf())
            .collect();
        let mut ends: Vec<TaskIndex> = (1..=plan.tasks.len()).collect();
        for (index, task) in plan.tasks.iter().enumerate().rev() {
            if let Some(parent) = task.parent {
                ends[parent] = ends[parent].max(ends[index]);
            }
        }
        Self {
            plan,
            by_id,
            leaves,
            ends,
        }
    }

    /// The first task with this id.
    pub fn find(&self, id: &str) -> Option<TaskIndex> {
        self.by_id.get(id).copied()
    }

    /// All leaves in document order.
    pub fn leaves(&self) -> &[TaskIndex] {
        &self.leaves
    }

    /// The leaves of a task in document order; a leaf yields itself.
    pub fn leaves_of(&self, task: TaskIndex) -> &[TaskIndex] {
        let place = |index: TaskIndex| self.leaves.partition_point(|&leaf| leaf < index);
        &self.leaves[place(task)..place(self.ends[task])]
    }

    /// True if `ancestor` is above `task`.
    pub fn is_ancestor(&self, ancestor: TaskIndex, task: TaskIndex) -> bool {
        ancestor < task && task < self.ends[ancestor]
    }

    /// The distinct ids of the leaves that `task` names in the field `kind`, in document order. A parent stands for all
    /// of its leaves. Leaves out unknown ids and the task itself.
    pub fn leaves_named(&self, task: &Task, kind: FieldKind) -> Vec<&'p str> {
        let mut found: Vec<TaskIndex> = task
            .fields
            .items(kind)
            .iter()
            .filter_map(|item| self.find(&item.text))
            .flat_map(|index| self.leaves_of(index))
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
            .into_iter()
            .map(|index| &self.plan.tasks[index])
            .filter(|found| found.id != task.id)
            .map(|found| &*found.id)
            .collect()
    }
}

/// The graph of which tasks wait for which others, either because they need them or only to run after them. Leaves out
/// unknown ids, and edges from a task to itself or an ancestor.
#[derive(Debug)]
pub struct Graph {
    /// For each task, the tasks that it waits for.
    edges: Vec<Vec<TaskIndex>>,
}

impl Graph {
    /// Builds the graph, in time linear in the size of the plan.
    pub fn new(plan: &Plan, index: &PlanIndex<'_>) -> Self {
        let edges = plan.tasks.iter().enumerate().map(|(number, task)| {
            if !task.is_leaf() {
                return task.children.clone();
            }
            let found = task.ordering().filter_map(|item| index.find(&item.text));
            found
                .filter(|&target| target != number && !index.is_ancestor(target, number))
                .collect()
        });
        Self {
            edges: edges.collect(),
        }
    }

    /// The graph with these edges: for each task, the tasks that it waits for.
    pub fn of_edges(edges: Vec<Vec<TaskIndex>>) -> Self {
        Self { edges }
    }

    /// For each task, the weight of the heaviest chain that ends with it. `order` must list each task after those it
    /// waits for.
    pub fn chain_weights(
        &self,
        order: &[TaskIndex],
        weight: impl Fn(TaskIndex) -> u64,
    ) -> Vec<u64> {
        let mut chains = vec![0; self.len()];
        for &task in order {
            let before = self
                .waits_for(task)
                .iter()
                .map(|&target| chains[target])
                .max();
            chains[task] = weight(task) + before.unwrap_or(0);
        }
        chains
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The tasks that `task` waits for, in the order written: those that it names or, for a parent, its children. May
    /// contain duplicates.
    pub fn waits_for(&self, task: TaskIndex) -> &[TaskIndex] {
        &self.edges[task]
    }

    /// The same graph with every edge reversed: its `waits_for` yields the direct dependents.
    pub fn reversed(&self) -> Self {
        let mut edges = vec![Vec::new(); self.len()];
        for (task, targets) in self.edges.iter().enumerate() {
            targets.iter().for_each(|&target| edges[target].push(task));
        }
        Self { edges }
    }

    /// Marks every task that `task` depends on, directly or indirectly.
    pub fn reached_from(&self, task: TaskIndex) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut work = vec![task];
        while let Some(task) = work.pop() {
            for &target in self.waits_for(task) {
                if !std::mem::replace(&mut reached[target], true) {
                    work.push(target);
                }
            }
        }
        reached
    }

    /// Sorts the tasks so that each comes after its dependencies. Among the candidates for a place, the smallest `rank`
    /// wins, then the first in the document. Leaves out tasks in a cycle and tasks that depend on one.
    pub fn order<R: Ord>(&self, rank: impl Fn(TaskIndex) -> R) -> Vec<TaskIndex> {
        let waiting = self.reversed();
        let mut open: Vec<usize> = (0..self.len())
            .map(|task| self.waits_for(task).len())
            .collect();
        let mut ready: BinaryHeap<Reverse<(R, TaskIndex)>> = (0..self.len())
            .filter(|&task| open[task] == 0)
            .map(|task| Reverse((rank(task), task)))
            .collect();
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
        let graph = Graph::new(&plan, &PlanIndex::new(&plan));
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
        check(
            "- [ID: 1] A\n  - Dependencies: 3\n- [ID: 2] B\n- [ID: 3] C\n",
            &["2", "3", "1"],
        );
        check(
            "- [ID: 1] A\n  - Dependencies: 2\n- [ID: 2] B\n  - [ID: 2.1] C\n  - [ID: 2.2] D\n",
            &["2.1", "2.2", "1"],
        );
        check(
            "- [ID: 1] A\n  - Dependencies: 2\n- [ID: 2] B\n  - Dependencies: 1\n- [ID: 3] C\n",
            &["3"],
        );
        check(
            "- [ID: 1] A\n  - After: 3\n- [ID: 2] B\n- [ID: 3] C\n  - After: none\n",
            &["2", "3", "1"],
        );
        check(
            "- [ID: 1] A\n  - After: 2\n- [ID: 2] B\n  - Dependencies: 1\n- [ID: 3] C\n",
            &["3"],
        );
        check(
            "- [ID: 1] A\n  - [ID: 1.1] B\n    - Dependencies: 1, 1.1, 9\n",
            &["1.1"],
        );
    }

    #[test]
    fn a_dependency_on_a_parent_means_its_leaves() {
        let source = |depends: &str| {
            format!(
                "- [ID: root] R\n- [ID: 1] A\n  - [ID: 1.1] B\n  - [ID: 1.2] C\n    - [ID: 1.2.1] D\n- [ID: 2] E\n  - Dependencies: {depends}\n"
            )
        };
        let check = |depends: &str, expect: &[&str]| {
            let text = source(depends);
            let (plan, _) = parse(&text);
            let index = PlanIndex::new(&plan);
            assert_eq!(
                index.leaves_named(plan.find("2").unwrap(), FieldKind::Dependencies),
                expect,
                "{depends}"
            );
        };
        check("none", &[]);
        check("1.2.1, 1.1", &["1.1", "1.2.1"]);
        check("1", &["1.1", "1.2.1"]);
        check("1.2, 1", &["1.1", "1.2.1"]);
        check("root", &["1.1", "1.2.1"]);
        check("9, 2", &[]);
    }

    #[test]
    fn ancestors_and_leaves() {
        let (plan, _) =
            parse("- [ID: 1] A\n  - [ID: 1.1] B\n    - [ID: 1.1.1] C\n  - [ID: 1.2] D\n");
        let index = PlanIndex::new(&plan);
        assert_eq!(index.leaves(), [2, 3]);
        assert_eq!(index.leaves_of(1), [2]);
        assert_eq!(
            [
                index.is_ancestor(0, 2),
                index.is_ancestor(1, 2),
                index.is_ancestor(1, 3),
                index.is_ancestor(2, 2)
            ],
            [true, true, false, false]
        );
    }
}
