//! Tasks that name their parents, in an order in which each parent comes before its children.

use super::words::one_line;
use crate::exchange::notice::{Kind, Notice};
use crate::exchange::portable::PortableTask;

/// The tasks in the order given, but parents first; `parents` has the position of each one's parent. A task that is its
/// own ancestor has none, and that is said.
pub(super) fn parents_first(
    tasks: Vec<PortableTask>,
    parents: &[Option<usize>],
    notices: &mut Vec<Notice>,
) -> Vec<PortableTask> {
    let parents = without_loops(&tasks, parents, notices);
    let mut place: Vec<Option<usize>> = vec![None; tasks.len()];
    let mut order = Vec::with_capacity(tasks.len());
    for start in 0..tasks.len() {
        let mut way = Vec::new();
        let mut at = Some(start);
        while let Some(task) = at.filter(|&task| place[task].is_none()) {
            way.push(task);
            at = parents[task];
        }
        for task in way.into_iter().rev() {
            place[task] = Some(order.len());
            order.push(task);
        }
    }
    let mut tasks: Vec<Option<PortableTask>> = tasks.into_iter().map(Some).collect();
    let moved = order.into_iter().filter_map(|task| {
        let parent = parents[task].and_then(|parent| place[parent]);
        Some(PortableTask { parent, ..tasks[task].take()? })
    });
    moved.collect()
}

fn without_loops(
    tasks: &[PortableTask],
    parents: &[Option<usize>],
    notices: &mut Vec<Notice>,
) -> Vec<Option<usize>> {
    let mut parents = parents.to_vec();
    // Which walk has been here: 0 is none.
    let mut seen = vec![0; tasks.len()];
    for start in 0..tasks.len() {
        let mut at = start;
        while seen[at] == 0 {
            seen[at] = start + 1;
            let Some(parent) = parents[at] else { break };
            if seen[parent] == start + 1 {
                let id = one_line(&tasks[at].id);
                let text = format!("{id} is a part of itself; it is taken for a part of nothing");
                notices.push(Notice::new(Kind::AncestorDependency, text).about(id));
                parents[at] = None;
                break;
            }
            at = parent;
        }
    }
    parents
}

/// A part of an id: a number, or what is between numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Run {
    Number(u64),
    Text(String),
}

/// What ids are sorted by: `IMPL-2` before `IMPL-10`, and both before `IMPL-10.1`.
pub(super) fn order_of(id: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = id;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        runs.push(match run.parse() {
            Ok(number) => Run::Number(number),
            Err(_) => Run::Text(run.to_owned()),
        });
        rest = behind;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(tasks: &[(&str, Option<usize>)]) -> (Vec<(String, Option<usize>)>, usize) {
        let parents: Vec<Option<usize>> = tasks.iter().map(|(_, parent)| *parent).collect();
        let task = |id: &str| PortableTask { id: id.into(), ..PortableTask::default() };
        let mut notices = Vec::new();
        let found = parents_first(tasks.iter().map(|(id, _)| task(id)).collect(), &parents, &mut notices);
        (found.into_iter().map(|task| (task.id, task.parent)).collect(), notices.len())
    }

    #[test]
    fn parents_come_first_and_loops_are_cut() {
        let check = |tasks: &[(&str, Option<usize>)], expect: &[(&str, Option<usize>)], said: usize| {
            let expect: Vec<_> = expect.iter().map(|(id, parent)| ((*id).to_owned(), *parent)).collect();
            assert_eq!(arranged(tasks), (expect, said), "{tasks:?}");
        };
        check(&[("a", None), ("b", Some(0))], &[("a", None), ("b", Some(0))], 0);
        check(&[("c", Some(2)), ("d", None), ("p", None)], &[("p", None), ("c", Some(0)), ("d", None)], 0);
        check(&[("a", Some(0))], &[("a", None)], 1);
        check(&[("a", Some(1)), ("b", Some(0))], &[("b", None), ("a", Some(0))], 1);
    }

    #[test]
    fn numbers_are_numbers() {
        let mut ids = ["IMPL-10", "IMPL-2", "IMPL-10.1", "IMPL-010"];
        ids.sort_by_key(|id| order_of(id));
        assert_eq!(ids, ["IMPL-2", "IMPL-10", "IMPL-010", "IMPL-10.1"]);
    }
}
