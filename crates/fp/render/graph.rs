//! What drawings of the tree have in common: frames around leaves, labels, and the arrows of the critical path.

use std::collections::{HashMap, HashSet};

use fp_core::report::tree::{TaskRow, TreeReport};

use super::tree::facts;

/// A part of a drawing, in the order of the document, with the number of frames around it.
pub(crate) enum Part {
    /// The frame of a parent begins.
    Opens(usize, usize),
    /// The last frame ends.
    Closes(usize),
    /// A leaf.
    Leaf(usize, usize),
}

/// The tree as frames and leaves.
pub(crate) fn walk(report: &TreeReport<'_>) -> Vec<Part> {
    let mut parts = Vec::with_capacity(report.tasks.len() * 2);
    let mut open = 0;
    for (number, task) in report.tasks.iter().enumerate() {
        while open > task.depth {
            open -= 1;
            parts.push(Part::Closes(open));
        }
        if task.leaf {
            parts.push(Part::Leaf(number, open));
        } else {
            parts.push(Part::Opens(number, open));
            open += 1;
        }
    }
    parts.extend((0..open).rev().map(Part::Closes));
    parts
}

/// What a box says: id, title, and in brackets complexity and state. One line, without control characters.
pub(crate) fn label(task: &TaskRow) -> String {
    let facts = facts(task);
    let facts = if facts.is_empty() { facts } else { format!(" ({facts})") };
    let label = format!("{} {}{facts}", task.id, task.title);
    label.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The arrows that the critical path goes along, each as the tasks at its ends; the first may be a parent.
pub(crate) fn critical_arrows(report: &TreeReport<'_>) -> HashSet<(usize, usize)> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for (number, task) in report.tasks.iter().enumerate().filter(|(_, task)| task.leaf) {
        positions.entry(&task.id).or_insert(number);
    }
    let path: Vec<usize> =
        report.critical_path.tasks.iter().filter_map(|id| positions.get(id).copied()).collect();
    let mut arrows = HashSet::new();
    for pair in path.windows(2) {
        let above: HashSet<usize> =
            std::iter::successors(Some(pair[0]), |&task| report.tasks[task].parent).collect();
        let along = report.tasks[pair[1]].after.iter().find(|target| above.contains(target));
        arrows.extend(along.map(|&target| (target, pair[1])));
    }
    arrows
}
