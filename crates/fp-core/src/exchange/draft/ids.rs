//! Ids of the language for tasks that have those of another system: the source's own numbers, its own ids, or new
//! numbers, whichever of these is right for all tasks.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::exchange::portable::{PortablePlan, PortableTask};
use crate::plan::id::TaskId;

/// Longest own id that is kept: a longer one is no help in a tree.
const MAX_OWN: usize = 40;

/// An id for each task, and whether they can be told from those of the source.
pub(super) fn assign(plan: &PortablePlan) -> (Vec<String>, bool) {
    let of_all = |own: fn(&PortableTask) -> Option<String>| {
        let ids: Option<Vec<String>> = plan.tasks.iter().map(own).collect();
        ids.filter(|ids| are_valid(plan, ids))
    };
    match of_all(number).or_else(|| of_all(own)) {
        Some(ids) => (ids, true),
        None => (numbered(plan), false),
    }
}

/// `1.2` for `1.2`, `IMPL-1.2`, `TASK-01.2` and `T001.2`.
fn number(task: &PortableTask) -> Option<String> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:[A-Za-z]+[-_]?)?(\d{1,9}(?:\.\d{1,9})*)$").expect("the pattern is valid")
    });
    let found = NUMBER.captures(&task.id)?;
    let segments = found[1].split('.').map(|segment| match segment.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    });
    Some(segments.collect::<Vec<_>>().join("."))
}

fn own(task: &PortableTask) -> Option<String> {
    let is_id = TaskId::new(task.id.as_str()).is_ok() && task.id.len() <= MAX_OWN;
    // These words mean something else where an id can stand.
    let is_word = ["none", "and", "root", "task", "id"].contains(&task.id.to_lowercase().as_str());
    (is_id && !is_word).then(|| task.id.clone())
}

/// Whether each id is used once, on disks that know no case as well, and extends its parent's.
fn are_valid(plan: &PortablePlan, ids: &[String]) -> bool {
    let mut seen = HashSet::new();
    let unique = ids.iter().all(|id| id != "root" && seen.insert(id.to_lowercase()));
    let extends = |(task, id): (&PortableTask, &String)| match task.parent {
        Some(parent) => id
            .strip_prefix(ids[parent].as_str())
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|rest| !rest.is_empty() && !rest.contains('.')),
        None => !id.contains('.'),
    };
    unique && plan.tasks.iter().zip(ids).all(extends)
}

/// `1`, `1.1` and so on.
fn numbered(plan: &PortablePlan) -> Vec<String> {
    let mut ids: Vec<String> = Vec::with_capacity(plan.tasks.len());
    let mut next = vec![1_u32; plan.tasks.len() + 1];
    for task in &plan.tasks {
        let number = &mut next[task.parent.unwrap_or(plan.tasks.len())];
        let id = match task.parent {
            Some(parent) => format!("{}.{number}", ids[parent]),
            None => number.to_string(),
        };
        *number += 1;
        ids.push(id);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_the_source_where_they_are_right() {
        let check = |tasks: &[(&str, Option<usize>)], expect: &[&str], kept: bool| {
            let task = |(id, parent): &(&str, Option<usize>)| PortableTask {
                id: (*id).into(),
                parent: *parent,
                ..PortableTask::default()
            };
            let plan = PortablePlan { tasks: tasks.iter().map(task).collect(), ..PortablePlan::default() };
            let expect: Vec<String> = expect.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(assign(&plan), (expect, kept), "{tasks:?}");
        };
        check(&[("1", None), ("1.1", Some(0)), ("2", None)], &["1", "1.1", "2"], true);
        check(&[("IMPL-1", None), ("IMPL-1.1", Some(0))], &["1", "1.1"], true);
        check(&[("TASK-00", None), ("TASK-10", None)], &["0", "10"], true);
        check(&[("T001", None), ("T002", None)], &["1", "2"], true);
        check(&[("PLAN-001", None), ("IMPL-001", None)], &["PLAN-001", "IMPL-001"], true);
        check(&[("bd-a1b2", None), ("bd-a1b2.1", Some(0))], &["bd-a1b2", "bd-a1b2.1"], true);
        check(&[("bd-a1b2", None), ("bd-c3", Some(0))], &["1", "1.1"], false);
        check(&[("a", None), ("A", None)], &["1", "2"], false);
        check(&[("x y", None), ("../..", None)], &["1", "2"], false);
        check(&[("1", None), ("1", None)], &["1", "2"], false);
        check(&[("none", None)], &["1"], false);
    }
}
