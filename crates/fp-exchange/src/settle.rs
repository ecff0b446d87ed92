//! Turns a plan into one that a task tree can hold, and reports problems with the plan as a whole.

use std::collections::{BTreeMap, HashSet};

use fp_plan::text::first_few;

use crate::portable::{ImportNotice, PortablePlan, PortableTask, TaskWork};

/// Maximum number of ids that a notice names.
const MAX_NAMED: usize = 12;

/// Changes the plan so that a tree can hold it, and reports each step. Cancelled tasks are left out, as are
/// dependencies on tasks that don't exist. Dependencies of parents move to their leaves. Work that isn't done starts
/// over. Cycles stay: `fp validate` reports them, and people decide.
pub(crate) fn fit_to_tree(plan: &mut PortablePlan) {
    sort_by_parents(plan);
    let out = leave_cancelled_out(plan);
    leave_unknown_out(plan, &out);
    hand_down(plan);
    begin_anew(plan);
}

/// Removes cancelled tasks with their subtasks; returns their ids.
fn leave_cancelled_out(plan: &mut PortablePlan) -> HashSet<String> {
    let mut kept_at: Vec<Option<usize>> = Vec::with_capacity(plan.tasks.len());
    let mut cancelled: Vec<String> = Vec::new();
    for mut task in std::mem::take(&mut plan.tasks) {
        let parent = task.parent.map(|parent| kept_at[parent]);
        if task.work == TaskWork::Cancelled || parent == Some(None) {
            kept_at.push(None);
            cancelled.push(task.id);
            continue;
        }
        task.parent = parent.flatten();
        kept_at.push(Some(plan.tasks.len()));
        plan.tasks.push(task);
    }
    if !cancelled.is_empty() {
        plan.add_notice(format!(
            "these are cancelled or deleted and stay out: {}",
            name_ids(&cancelled)
        ));
    }
    cancelled
        .into_iter()
        .filter(|id| plan.tasks.iter().all(|task| task.id != *id))
        .collect()
}

/// Removes dependencies on tasks that don't exist. `out` holds the ids of the tasks that were left out.
fn leave_unknown_out(plan: &mut PortablePlan, out: &HashSet<String>) {
    let PortablePlan { tasks, notices, .. } = plan;
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks.iter() {
        *known.entry(task.id.clone()).or_default() += 1;
    }
    for (id, count) in known.iter().filter(|(_, count)| **count > 1) {
        notices.push(ImportNotice::new(format!(
            "{count} tasks have the id {id}: all of them stay, and what waits for {id} waits for the first"
        )));
    }
    for task in tasks {
        let Some(targets) = &mut task.dependencies else {
            continue;
        };
        targets.retain(|target| {
            let is_known = known.contains_key(target);
            if !is_known {
                let why = match out.contains(target) {
                    true => "stays out",
                    false => "is not there",
                };
                let id = &task.id;
                let text = format!("{id} waits for {target:?}, which {why}; that is left out");
                notices.push(ImportNotice::new(text));
            }
            is_known
        });
    }
}

fn name_ids(ids: &[String]) -> String {
    first_few(ids, MAX_NAMED)
}

/// Returns the positions of each task's children.
pub(crate) fn children_of(plan: &PortablePlan) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); plan.tasks.len()];
    for (at, task) in plan.tasks.iter().enumerate() {
        task.parent
            .into_iter()
            .for_each(|parent| children[parent].push(at));
    }
    children
}

/// Moves the children of each task directly after it.
pub(crate) fn sort_by_parents(plan: &mut PortablePlan) {
    let children = children_of(plan);
    let mut tasks: Vec<Option<PortableTask>> = plan.tasks.drain(..).map(Some).collect();
    let is_top = |at: &usize| {
        tasks[*at]
            .as_ref()
            .is_some_and(|task| task.parent.is_none())
    };
    let tops = (0..tasks.len()).rev().filter(is_top);
    // Each task with its parent's new position.
    let mut open: Vec<(usize, Option<usize>)> = tops.map(|at| (at, None)).collect();
    while let Some((at, parent)) = open.pop() {
        let place = plan.tasks.len();
        let below = children[at].iter().rev().map(|&child| (child, Some(place)));
        open.extend(below);
        let task = tasks[at].take();
        plan.tasks
            .extend(task.map(|task| PortableTask { parent, ..task }));
    }
}

/// Moves the dependencies of parents to their leaves: in a tree, a parent's dependencies mean nothing.
fn hand_down(plan: &mut PortablePlan) {
    // Each task's dependencies, including those of all its ancestors.
    let mut whole: Vec<Vec<String>> = Vec::with_capacity(plan.tasks.len());
    for task in &plan.tasks {
        let own = task.dependencies.iter().flatten();
        let above = task.parent.iter().flat_map(|&parent| &whole[parent]);
        let mut all: Vec<String> = Vec::new();
        for id in own.chain(above) {
            if !all.contains(id) {
                all.push(id.clone());
            }
        }
        whole.push(all);
    }
    let children = children_of(plan);
    for ((task, whole), children) in plan.tasks.iter_mut().zip(whole).zip(children) {
        let waits = task.dependencies.is_some() || !whole.is_empty();
        task.dependencies = (children.is_empty() && waits).then_some(whole);
    }
}

/// Resets everything that isn't done to its initial state, and names what was put off.
fn begin_anew(plan: &mut PortablePlan) {
    let mut deferred = Vec::new();
    for (children, task) in children_of(plan).into_iter().zip(&mut plan.tasks) {
        if task.work == TaskWork::Deferred && children.is_empty() {
            deferred.push(task.id.clone());
        }
        if !matches!(task.work, TaskWork::Done { .. }) {
            task.work = TaskWork::Todo;
        }
    }
    if !deferred.is_empty() {
        plan.add_notice(format!(
            "these are deferred or blocked in the source: {}",
            name_ids(&deferred)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan with these tasks, each written as `id[<parent] dependency dependency`, where `<n` gives the parent's
    /// position.
    fn plan(tasks: &[&str]) -> PortablePlan {
        let task = |line: &&str| {
            let mut words = line.split(' ');
            let head = words.next().unwrap();
            let (id, parent) = head
                .split_once('<')
                .map_or((head, None), |(id, at)| (id, at.parse().ok()));
            let dependencies: Vec<String> = words.map(str::to_owned).collect();
            PortableTask {
                id: id.into(),
                parent,
                title: id.into(),
                dependencies: Some(dependencies),
                ..PortableTask::default()
            }
        };
        PortablePlan {
            tasks: tasks.iter().map(task).collect(),
            ..PortablePlan::default()
        }
    }

    fn shown(plan: &PortablePlan) -> Vec<String> {
        let one = |task: &PortableTask| {
            let dependencies = task.dependencies.as_ref().map_or_else(
                || " -".into(),
                |d| d.iter().map(|d| format!(" {d}")).collect::<String>(),
            );
            format!("{}{dependencies}", task.id)
        };
        plan.tasks.iter().map(one).collect()
    }

    fn settled(plan: &mut PortablePlan) -> Vec<ImportNotice> {
        fit_to_tree(plan);
        std::mem::take(&mut plan.notices)
    }

    #[track_caller]
    fn check(tasks: &[&str], left: &[&str], said: &[&str]) {
        let mut plan = plan(tasks);
        let notices: Vec<String> = settled(&mut plan)
            .into_iter()
            .map(|notice| notice.text)
            .collect();
        assert_eq!(shown(&plan), left, "{tasks:?}");
        assert_eq!(notices, said, "{tasks:?}");
        let again: Vec<ImportNotice> = settled(&mut plan)
            .into_iter()
            .filter(|notice| !notice.text.contains(" tasks have the id "))
            .collect();
        assert_eq!(again, [], "{tasks:?}: once is enough");
    }

    #[test]
    fn what_is_right_stays() {
        check(&[], &[], &[]);
        check(&["a", "b a", "c a b"], &["a", "b a", "c a b"], &[]);
        check(
            &["p", "a<0", "b<0 a", "c p"],
            &["p -", "a", "b a", "c p"],
            &[],
        );
    }

    #[test]
    fn dependencies_that_lead_nowhere() {
        check(
            &["a x", "b x a"],
            &["a", "b a"],
            &[
                "a waits for \"x\", which is not there; that is left out",
                "b waits for \"x\", which is not there; that is left out",
            ],
        );
    }

    #[test]
    fn dependencies_of_a_parent_go_to_its_leaves() {
        check(
            &["a", "p a", "q<1", "b<2 c", "c<1 a"],
            &["a", "p -", "q -", "b c a", "c a"],
            &[],
        );
    }

    #[test]
    fn two_of_one_id() {
        check(
            &["a", "a a", "b a"],
            &["a", "a a", "b a"],
            &["2 tasks have the id a: all of them stay, and what waits for a waits for the first"],
        );
    }

    #[test]
    fn work_begins_anew() {
        let mut plan = plan(&["a", "b", "c", "d"]);
        plan.tasks[0].work = TaskWork::Running;
        plan.tasks[1].work = TaskWork::Failed {
            reason: Some("tired".into()),
        };
        plan.tasks[2].work = TaskWork::Skipped;
        plan.tasks[3].work = TaskWork::Done { commit: None };
        assert_eq!(settled(&mut plan), []);
        assert_eq!(plan.tasks[0].work, TaskWork::Todo);
        assert_eq!(plan.tasks[1].work, TaskWork::Todo);
        assert_eq!(plan.tasks[3].work, TaskWork::Done { commit: None });
    }

    #[test]
    fn cancelled_tasks_stay_out_with_all_below_them() {
        let mut plan = plan(&["a", "p", "q<1", "b p", "c"]);
        plan.tasks[1].work = TaskWork::Cancelled;
        plan.tasks[4].work = TaskWork::Deferred;
        let said: Vec<String> = settled(&mut plan)
            .into_iter()
            .map(|notice| notice.text)
            .collect();
        assert_eq!(
            said,
            [
                "these are cancelled or deleted and stay out: p, q",
                "b waits for \"p\", which stays out; that is left out",
                "these are deferred or blocked in the source: c"
            ]
        );
        assert_eq!(shown(&plan), ["a", "b", "c"]);
    }
}
