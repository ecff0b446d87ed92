//! Ids to tasks and tasks to their leaves, for a whole tree in one pass.

use std::collections::HashMap;
use std::ops::Range;

use super::task::{Plan, Task, TaskIndex};

/// Look-ups over a [`Plan`] that would each take a pass of their own.
#[derive(Debug)]
pub struct Index<'p> {
    plan: &'p Plan<'p>,
    by_id: HashMap<&'p str, TaskIndex>,
    leaves: Vec<TaskIndex>,
    ranges: Vec<Range<usize>>,
    ends: Vec<TaskIndex>,
}

impl<'p> Index<'p> {
    /// Indexes `plan`; of tasks with the same id the first one is found.
    #[must_use]
    pub fn new(plan: &'p Plan<'p>) -> Self {
        let mut by_id = HashMap::with_capacity(plan.tasks.len());
        let mut leaves = Vec::new();
        let mut ranges = Vec::with_capacity(plan.tasks.len());
        for (index, task) in plan.tasks.iter().enumerate() {
            by_id.entry(&*task.id).or_insert(index);
            let first = leaves.len();
            if task.is_leaf() {
                leaves.push(index);
            }
            ranges.push(first..leaves.len());
        }
        let mut ends: Vec<TaskIndex> = (1..=plan.tasks.len()).collect();
        for (index, task) in plan.tasks.iter().enumerate().rev() {
            if let Some(parent) = task.parent {
                ranges[parent].end = ranges[parent].end.max(ranges[index].end);
                ends[parent] = ends[parent].max(ends[index]);
            }
        }
        Self { plan, by_id, leaves, ranges, ends }
    }

    /// The first task with this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<TaskIndex> {
        self.by_id.get(id).copied()
    }

    /// All leaves in document order.
    #[must_use]
    pub fn leaves(&self) -> &[TaskIndex] {
        &self.leaves
    }

    /// The leaves of a task in document order; of a leaf, itself.
    #[must_use]
    pub fn leaves_of(&self, task: TaskIndex) -> &[TaskIndex] {
        &self.leaves[self.ranges[task].clone()]
    }

    /// Where the leaves of a task stand in [`Index::leaves`].
    #[must_use]
    pub fn leaf_range(&self, task: TaskIndex) -> Range<usize> {
        self.ranges[task].clone()
    }

    /// Whether `ancestor` is above `task`.
    #[must_use]
    pub fn is_ancestor(&self, ancestor: TaskIndex, task: TaskIndex) -> bool {
        ancestor < task && task < self.ends[ancestor]
    }

    /// The ids of the leaves that `task` waits for: each dependency, one on a parent meaning all of its
    /// leaves, once, in document order. Unknown ids and the task itself are left out.
    #[must_use]
    pub fn leaf_dependencies(&self, task: &Task) -> Vec<&'p str> {
        let mut found: Vec<TaskIndex> = task
            .dependencies()
            .filter_map(|id| self.find(id))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

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
            let index = Index::new(&plan);
            assert_eq!(index.leaf_dependencies(plan.find("2").unwrap()), expect, "{depends}");
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
        let (plan, _) = parse("- [ID: 1] A\n  - [ID: 1.1] B\n    - [ID: 1.1.1] C\n  - [ID: 1.2] D\n");
        let index = Index::new(&plan);
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
