//! Finds tasks that wait for each other, and reports the shortest cycle of each tangle, which is the easiest to break.

use std::collections::VecDeque;

use super::graph::Graph;
use super::id::compare_ids;
use super::task::{Plan, TaskIndex};

/// For each tangle (a set of tasks that all wait for each other), returns the leaves of its shortest cycle, starting
/// with the smallest id. The cycles are sorted by those ids.
pub fn find_cycles(plan: &Plan, graph: &Graph) -> Vec<Vec<TaskIndex>> {
    let by_id = |a: &TaskIndex, b: &TaskIndex| {
        compare_ids(&plan.tasks[*a].id, &plan.tasks[*b].id).then(a.cmp(b))
    };
    // Tasks that can be ordered aren't in any cycle.
    let mut open = vec![true; graph.len()];
    graph
        .order(|_| ())
        .into_iter()
        .for_each(|task| open[task] = false);
    let mut leaves: Vec<TaskIndex> = (0..graph.len())
        .filter(|&task| open[task] && plan.tasks[task].is_leaf())
        .collect();
    leaves.sort_by(by_id);
    let users = graph.reversed();
    let mut cycles = Vec::new();
    for &first in &leaves {
        if !open[first] {
            continue;
        }
        let (before, behind) = (graph.reached_from(first), users.reached_from(first));
        let mut shortest: Option<Vec<TaskIndex>> = None;
        for &start in leaves.iter().filter(|&&leaf| before[leaf] && behind[leaf]) {
            open[start] = false;
            let most = shortest.as_ref().map_or(usize::MAX, Vec::len);
            shortest = cycle_through(graph, start, most).or(shortest);
        }
        cycles.extend(shortest);
    }
    for cycle in &mut cycles {
        cycle.retain(|&task| plan.tasks[task].is_leaf());
    }
    cycles.sort_by(|a, b| by_id(&a[0], &b[0]));
    cycles
}

/// Finds the shortest path from `start` back to itself in fewer than `most` steps.
fn cycle_through(graph: &Graph, start: TaskIndex, most: usize) -> Option<Vec<TaskIndex>> {
    let mut before: Vec<Option<TaskIndex>> = vec![None; graph.len()];
    let mut work = VecDeque::from([(start, 1)]);
    while let Some((task, length)) = work.pop_front().filter(|&(_, length)| length < most) {
        for &next in graph.waits_for(task) {
            if next == start {
                let mut way: Vec<TaskIndex> =
                    std::iter::successors(Some(task), |&task| before[task]).collect();
                way.reverse();
                return Some(way);
            }
            if before[next].is_none() {
                before[next] = Some(task);
                work.push_back((next, length + 1));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::graph::PlanIndex;
    use crate::plan::parse;

    fn cycles(text: &str) -> Vec<String> {
        let (plan, _) = parse(text);
        let paths = find_cycles(&plan, &Graph::new(&plan, &PlanIndex::new(&plan)));
        let ids = |path: Vec<TaskIndex>| {
            path.iter()
                .map(|&task| plan.tasks[task].id.clone())
                .collect::<Vec<_>>()
                .join(" ")
        };
        paths.into_iter().map(ids).collect()
    }

    /// A flat tree in which task `n`, counted from 1, waits for the tasks listed in the `n`th item.
    fn flat(dependencies: &[&str]) -> String {
        let lines = dependencies
            .iter()
            .zip(1..)
            .map(|(list, id)| format!("- [ID: {id}] T\n  - Dependencies: {list}\n"));
        std::iter::once("- [ID: root] R\n".to_owned())
            .chain(lines)
            .collect()
    }

    #[test]
    fn of_each_tangle_the_shortest_cycle_smallest_id_first() {
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(cycles(text), expect, "{text}");
        };
        check("", &[]);
        check(&flat(&["none", "1", "1, 2"]), &[]);
        check(&flat(&["2", "1"]), &["1 2"]);
        check(&flat(&["3", "1", "2"]), &["1 3 2"]);
        check(&flat(&["2, 3", "1", "1"]), &["1 2"]);
        check(&flat(&["2, 3", "1, 3", "1, 2"]), &["1 2"]);
        check(&flat(&["2", "3", "4, 2", "1"]), &["2 3"]);
        check(&flat(&["2", "1", "4", "3"]), &["1 2", "3 4"]);
        check(&flat(&["2, 2", "1"]), &["1 2"]);
        check(&flat(&["1", "3", "2"]), &["2 3"]);
        check(
            &flat(&[
                "none", "10", "none", "none", "none", "none", "none", "none", "none", "2",
            ]),
            &["2 10"],
        );
    }

    #[test]
    fn a_dependency_on_a_parent_is_one_on_its_leaves() {
        let text = |first: &str, second: &str| {
            format!(
                "- [ID: root] R\n- [ID: 1] A\n  - [ID: 1.1] B\n    - Dependencies: {first}\n  - [ID: 1.2] C\n- [ID: 2] D\n  - [ID: 2.1] E\n    - Dependencies: {second}\n  - [ID: 2.2] F\n"
            )
        };
        let check = |first: &str, second: &str, expect: &[&str]| {
            assert_eq!(cycles(&text(first, second)), expect, "{first} {second}")
        };
        check("2", "none", &[]);
        check("2", "1.2", &[]);
        check("1", "none", &[]);
        check("2", "1.1", &["1.1 2.1"]);
        check("2", "1", &["1.1 2.1"]);
        check("2, 2.1", "1", &["1.1 2.1"]);
    }

    #[test]
    fn a_dense_and_a_long_tangle_end() {
        let all = (1..=60)
            .map(|id| id.to_string())
            .collect::<Vec<_>>()
            .join(", ");
        assert_eq!(cycles(&flat(&[all.as_str(); 60])), ["1 2"]);
        let ring: Vec<String> = (1..=1_000).map(|id| (id % 1_000 + 1).to_string()).collect();
        let found = cycles(&flat(&ring.iter().map(String::as_str).collect::<Vec<_>>()));
        assert_eq!((found.len(), found[0].split(' ').count()), (1, 1_000));
    }
}
