//! Makes a plan one that a task tree can hold, and reports the faults of the plan as a whole.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use fp_plan::text::first_few;

use crate::portable::{ImportNotice, PortablePlan, TaskWork};

/// Most ids that a notice names.
const MAX_NAMED: usize = 12;

/// Makes a plan that a tree can hold, and reports each step. Cancelled tasks stay out. Two tasks with one id both
/// stay, and what waits for the id waits for the first. Dependencies that lead nowhere, to the task itself or around
/// in a cycle are left out. Dependencies of parents go to their leaves. Work that has begun or failed begins anew.
pub(crate) fn settle(plan: &mut PortablePlan) {
    let mut out = leave_cancelled_out(plan);
    out.extend(plan.left_out.iter().cloned());
    let waits = resolve_dependencies(plan, &out);
    let waits = hand_down(plan, &waits);
    break_cycles(plan, waits);
    begin_anew(plan);
}

/// Takes out cancelled tasks with their subtasks; returns their ids.
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
        plan.note(format!(
            "these are cancelled or deleted and stay out: {}",
            name_ids(&cancelled)
        ));
    }
    cancelled
        .into_iter()
        .filter(|id| plan.tasks.iter().all(|task| task.id != *id))
        .collect()
}

/// The dependencies of each task, by position. The ids in `out` are those of tasks that stay out.
fn resolve_dependencies(plan: &mut PortablePlan, out: &HashSet<String>) -> Vec<Vec<usize>> {
    let PortablePlan { tasks, notices, .. } = plan;
    let mut all_of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, task) in tasks.iter().enumerate() {
        all_of.entry(&task.id).or_default().push(at);
    }
    for (id, all) in all_of.iter().filter(|(_, all)| all.len() > 1) {
        notices.push(ImportNotice::problem(format!(
            "{} tasks have the id {id}: all of them stay, and what waits for {id} waits for the first",
            all.len()
        )));
    }
    let is_above = |above: usize, below: usize| {
        std::iter::successors(tasks[below].parent, |&at| tasks[at].parent).any(|at| at == above)
    };
    // The tasks that wait for each missing id.
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut waits = vec![Vec::new(); tasks.len()];
    for (at, task) in tasks.iter().enumerate() {
        for id in task.dependencies.iter().flatten() {
            let text = match all_of.get(id.as_str()).map(|all| all[0]) {
                None => {
                    missing.entry(id).or_default().push(task.id.clone());
                    continue;
                }
                Some(target) if target == at => format!("{id} waits for itself; that is left out"),
                Some(target) if is_above(target, at) || is_above(at, target) => {
                    format!(
                        "{} waits for {id}, and one is a part of the other; that is left out",
                        task.id
                    )
                }
                Some(target) if waits[at].contains(&target) => continue,
                Some(target) => {
                    waits[at].push(target);
                    continue;
                }
            };
            notices.push(ImportNotice::problem(text));
        }
    }
    for (id, waiting) in missing {
        let verb = if waiting.len() == 1 { "waits" } else { "wait" };
        let is_problem = !out.contains(id);
        let why = if is_problem {
            "is not there"
        } else {
            "stays out"
        };
        let text = format!(
            "{} {verb} for {id:?}, which {why}; that is left out",
            name_ids(&waiting)
        );
        notices.push(ImportNotice {
            is_problem,
            ..ImportNotice::problem(text)
        });
    }
    waits
}

pub(crate) fn name_ids(ids: &[String]) -> String {
    first_few(ids, MAX_NAMED)
}

/// The positions of the children of each task.
pub(crate) fn children_of(plan: &PortablePlan) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); plan.tasks.len()];
    for (at, task) in plan.tasks.iter().enumerate() {
        task.parent
            .into_iter()
            .for_each(|parent| children[parent].push(at));
    }
    children
}

/// Gives the dependencies of parents to their leaves: in a tree those of a parent mean nothing. Returns those of
/// each leaf.
fn hand_down(plan: &mut PortablePlan, waits: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let children = children_of(plan);
    // The dependencies of each task and of everything above it.
    let mut whole: Vec<Vec<usize>> = Vec::with_capacity(plan.tasks.len());
    for (task, own) in plan.tasks.iter().zip(waits) {
        let above = task
            .parent
            .map(|parent| whole[parent].as_slice())
            .unwrap_or_default();
        whole.push(
            own.iter()
                .chain(above.iter().filter(|target| !own.contains(target)))
                .copied()
                .collect(),
        );
    }
    let mut moved = Vec::new();
    for at in (0..plan.tasks.len()).filter(|&at| !children[at].is_empty()) {
        plan.tasks[at].dependencies = None;
        whole[at].clear();
        moved.extend((!waits[at].is_empty()).then(|| plan.tasks[at].id.clone()));
    }
    if !moved.is_empty() {
        plan.note(format!(
            "the subtasks of these wait in their place: {}",
            name_ids(&moved)
        ));
    }
    whole
}

/// Sets the dependencies of leaves, without those that close a cycle. Of a cycle the dependency on a later task goes.
fn break_cycles(plan: &mut PortablePlan, mut waits: Vec<Vec<usize>>) {
    // A parent waits for its children.
    let mut graph = children_of(plan);
    let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    for is_later in [false, true] {
        for (at, targets) in waits.iter_mut().enumerate() {
            targets.retain(|&target| {
                if (target > at) != is_later {
                    return true;
                }
                let Some(way) = shortest_way(&graph, target, at) else {
                    graph[at].push(target);
                    return true;
                };
                let way: Vec<&str> = way.into_iter().map(|task| ids[task].as_str()).collect();
                let (id, way, target) = (&ids[at], way.join(" → "), &ids[target]);
                plan.problem(format!(
                    "these wait for each other: {id} → {way}; that {id} waits for {target} is left out"
                ));
                false
            });
        }
    }
    for (task, targets) in plan.tasks.iter_mut().zip(waits) {
        if task.dependencies.is_some() || !targets.is_empty() {
            task.dependencies = Some(
                targets
                    .into_iter()
                    .map(|target| ids[target].clone())
                    .collect(),
            );
        }
    }
}

fn shortest_way(graph: &[Vec<usize>], from: usize, to: usize) -> Option<Vec<usize>> {
    let mut came_from: HashMap<usize, usize> = HashMap::from([(from, from)]);
    let mut open = VecDeque::from([from]);
    while let Some(at) = open.pop_front() {
        if at == to {
            let back = |&at: &usize| Some(came_from[&at]).filter(|&before| before != at);
            let mut way: Vec<usize> = std::iter::successors(Some(to), back).collect();
            way.reverse();
            return Some(way);
        }
        for &next in &graph[at] {
            came_from.entry(next).or_insert_with(|| {
                open.push_back(next);
                at
            });
        }
    }
    None
}

/// Sets everything that is not done back to its beginning.
fn begin_anew(plan: &mut PortablePlan) {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (children, task) in children_of(plan).into_iter().zip(&mut plan.tasks) {
        let state = match task.work {
            TaskWork::Todo | TaskWork::Done { .. } => continue,
            TaskWork::Running => "were under way and begin anew",
            TaskWork::Failed { .. } => "had failed and begin anew",
            TaskWork::Skipped => "were skipped and begin anew",
            TaskWork::Deferred | TaskWork::Cancelled => "are deferred or blocked in the source",
        };
        task.work = TaskWork::Todo;
        if children.is_empty() {
            groups.entry(state).or_default().push(task.id.clone());
        }
    }
    for (state, ids) in groups {
        plan.note(format!("these {state}: {}", name_ids(&ids)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portable::PortableTask;

    /// A plan of tasks as `id[<parent] dependency dependency`, where `<n` is the position of the parent.
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
        settle(plan);
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
            .filter(|notice| notice.is_problem && !notice.text.contains(" tasks have the id "))
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
            &["a x", "b x y"],
            &["a", "b"],
            &[
                "a, b wait for \"x\", which is not there; that is left out",
                "b waits for \"y\", which is not there; that is left out",
            ],
        );
        check(
            &["a a", "b a"],
            &["a", "b a"],
            &["a waits for itself; that is left out"],
        );
        check(
            &["p", "a<0 p"],
            &["p -", "a"],
            &["a waits for p, and one is a part of the other; that is left out"],
        );
        check(
            &["p a", "a<0"],
            &["p -", "a"],
            &["p waits for a, and one is a part of the other; that is left out"],
        );
    }

    #[test]
    fn circles_are_opened_at_what_comes_later() {
        check(
            &["a c", "b a", "c b"],
            &["a", "b a", "c b"],
            &["these wait for each other: a → c → b → a; that a waits for c is left out"],
        );
        check(
            &["p q", "a<0", "q p", "b<2"],
            &["p -", "a", "q -", "b p"],
            &[
                "the subtasks of these wait in their place: p, q",
                "these wait for each other: a → q → b → p → a; that a waits for q is left out",
            ],
        );
        check(
            &["p", "a<0 q", "q", "b<2 a"],
            &["p -", "a", "q -", "b a"],
            &["these wait for each other: a → q → b → a; that a waits for q is left out"],
        );
    }

    #[test]
    fn many_circles_come_to_an_end() {
        let ids: Vec<String> = (0..60).map(|n| format!("t{n}")).collect();
        let tasks: Vec<String> = ids
            .iter()
            .map(|id| {
                format!(
                    "{id} {}",
                    ids.iter()
                        .filter(|other| *other != id)
                        .cloned()
                        .collect::<Vec<_>>()
                        .join(" ")
                )
            })
            .collect();
        let mut plan = plan(&tasks.iter().map(String::as_str).collect::<Vec<_>>());
        let notices = settled(&mut plan);
        assert_eq!(
            notices.len(),
            60 * 59 / 2,
            "each that waits for a later one"
        );
        assert_eq!(settled(&mut plan), [], "none is left");
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
        let said: Vec<String> = settled(&mut plan)
            .into_iter()
            .map(|notice| notice.text)
            .collect();
        assert_eq!(
            said,
            [
                "these had failed and begin anew: b",
                "these were skipped and begin anew: c",
                "these were under way and begin anew: a"
            ]
        );
        assert_eq!(plan.tasks[1].work, TaskWork::Todo);
        assert_eq!(plan.tasks[3].work, TaskWork::Done { commit: None });
    }

    #[test]
    fn a_thousand_tasks_in_a_row_and_ten_thousand_levels() {
        let row: Vec<String> = (0..1_000)
            .map(|n| {
                if n == 0 {
                    "t0".into()
                } else {
                    format!("t{n} t{}", n - 1)
                }
            })
            .collect();
        let mut long = plan(&row.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(settled(&mut long), []);
        let deep: Vec<String> = (0..10_000_usize)
            .map(|n| {
                if n == 0 {
                    "t0".into()
                } else {
                    format!("t{n}<{}", n - 1)
                }
            })
            .collect();
        assert_eq!(
            settled(&mut plan(
                &deep.iter().map(String::as_str).collect::<Vec<_>>()
            )),
            []
        );
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
