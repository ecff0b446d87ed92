//! Which tasks of a portable plan hold which others.

use crate::exchange::portable::PortablePlan;

/// The children of each task, by position. A parent stands before its children; one that does not is none.
pub(super) struct Family<'p> {
    plan: &'p PortablePlan,
    children: Vec<Vec<usize>>,
    tops: Vec<usize>,
}

impl<'p> Family<'p> {
    pub(super) fn new(plan: &'p PortablePlan) -> Self {
        let number = plan.tasks.len();
        let mut family = Self { plan, children: vec![Vec::new(); number], tops: Vec::with_capacity(number) };
        for at in 0..number {
            let parent = family.parent(at);
            family.tops.push(parent.map_or(at, |parent| family.tops[parent]));
            if let Some(parent) = parent {
                family.children[parent].push(at);
            }
        }
        family
    }

    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        self.plan.tasks[at].parent.filter(|&parent| parent < at)
    }

    /// The id of the parent, where there is one.
    pub(super) fn parent_id(&self, at: usize) -> Option<&'p str> {
        self.parent(at).map(|parent| self.plan.tasks[parent].id.as_str())
    }

    /// The task that has no parent and `at` somewhere below, or is `at`.
    pub(super) fn top(&self, at: usize) -> usize {
        self.tops[at]
    }

    pub(super) fn children(&self, at: usize) -> &[usize] {
        &self.children[at]
    }

    pub(super) fn is_parent(&self, at: usize) -> bool {
        !self.children[at].is_empty()
    }

    pub(super) fn leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.children.len()).filter(|&at| !self.is_parent(at))
    }

    /// The leaves below `at`, which may be one itself.
    pub(super) fn leaves_below(&self, at: usize) -> Vec<usize> {
        let (mut open, mut leaves) = (vec![at], Vec::new());
        while let Some(task) = open.pop() {
            if self.is_parent(task) {
                open.extend(self.children[task].iter().rev());
            } else {
                leaves.push(task);
            }
        }
        leaves
    }
}
