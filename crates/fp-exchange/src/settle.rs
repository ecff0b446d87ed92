//! What is wrong with a plan as a whole, and how it becomes one that a task tree can hold.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde_json::{Value, json};

use crate::portable::{ImportNotice, NoticeKind, PortablePlan, PortableTask, TaskWork};

/// The name in `ext` of the dependencies that were left out.
const LEFT_OUT_DEPENDENCIES: &str = "leftOutDependencies";
/// The name in `ext` of a task's state in the source, where it begins anew.
const WORK: &str = "work";
/// The name in the plan's `ext` of the tasks that were left out.
const LEFT_OUT_TASKS: &str = "leftOutTasks";
/// Most cycles that are reported one by one.
const MAX_CYCLES: usize = 100;
/// Most ids that a notice names.
const MAX_NAMED: usize = 12;

/// Makes a plan that a tree can hold, and reports each step. Cancelled tasks stay out. Two tasks with one id both
/// stay, and what waits for the id waits for the first. Dependencies that lead nowhere, to the task itself or around
/// in a cycle are left out. Dependencies of parents go to their leaves. Work that has begun or failed begins anew.
#[must_use]
pub fn settle(plan: &mut PortablePlan) -> Vec<ImportNotice> {
    let mut notices = Vec::new();
    let cancelled = leave_cancelled_out(plan, &mut notices);
    let positions = first_positions(plan, &mut notices);
    let waits = resolve_dependencies(plan, &positions, &cancelled, &mut notices);
    let waits = break_cycles(plan, &waits, &mut notices);
    hand_down(plan, &waits, &mut notices);
    report_disconnected(plan, &positions, &mut notices);
    begin_anew(plan, &mut notices);
    notices
}

/// Takes out cancelled tasks with all that is below them; returns their ids.
fn leave_cancelled_out(plan: &mut PortablePlan, notices: &mut Vec<ImportNotice>) -> HashSet<String> {
    let mut kept_at: Vec<Option<usize>> = Vec::with_capacity(plan.tasks.len());
    let mut kept = Vec::with_capacity(plan.tasks.len());
    let mut cancelled: Vec<PortableTask> = Vec::new();
    for mut task in std::mem::take(&mut plan.tasks) {
        let parent = task.parent.map(|parent| kept_at[parent]);
        if task.work == TaskWork::Cancelled || parent == Some(None) {
            kept_at.push(None);
            cancelled.push(task);
            continue;
        }
        task.parent = parent.flatten();
        kept_at.push(Some(kept.len()));
        kept.push(task);
    }
    plan.tasks = kept;
    let ids: Vec<String> = cancelled.iter().map(|task| task.id.clone()).collect();
    if !ids.is_empty() {
        let tasks = cancelled.iter().map(|task| json!({ "id": task.id, "title": task.title }));
        plan.ext.insert(LEFT_OUT_TASKS.into(), tasks.collect());
        let text = format!("these are cancelled or deleted and stay out: {}", name_ids(&ids));
        notices.push(ImportNotice::new(NoticeKind::LeftOut, text).about_all(ids.clone()));
    }
    ids.into_iter().filter(|id| plan.tasks.iter().all(|task| task.id != *id)).collect()
}

fn first_positions(plan: &PortablePlan, notices: &mut Vec<ImportNotice>) -> HashMap<String, usize> {
    let mut positions = HashMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, task) in plan.tasks.iter().enumerate() {
        positions.entry(task.id.clone()).or_insert(at);
        *counts.entry(&task.id).or_default() += 1;
    }
    for (id, count) in counts.into_iter().filter(|(_, count)| *count > 1) {
        let text = format!(
            "{count} tasks have the id {id}: all of them stay, and what waits for {id} waits for the first"
        );
        notices.push(ImportNotice::new(NoticeKind::DuplicateId, text).about(id));
    }
    positions
}

/// What each task waits for, by position.
fn resolve_dependencies(
    plan: &mut PortablePlan,
    positions: &HashMap<String, usize>,
    cancelled: &HashSet<String>,
    notices: &mut Vec<ImportNotice>,
) -> Vec<Vec<usize>> {
    let parents: Vec<Option<usize>> = plan.tasks.iter().map(|task| task.parent).collect();
    let is_above = |above: usize, below: usize| {
        std::iter::successors(parents[below], |&at| parents[at]).any(|at| at == above)
    };
    // Who waits for each id that is not there.
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut waits = Vec::with_capacity(plan.tasks.len());
    for (at, task) in plan.tasks.iter_mut().enumerate() {
        let mut targets = Vec::new();
        for id in task.dependencies.clone().unwrap_or_default() {
            let (kind, text) = match positions.get(&id) {
                None => {
                    missing.entry(id.clone()).or_default().push(task.id.clone());
                    leave_out(task, &id);
                    continue;
                }
                Some(&target) if target == at => {
                    (NoticeKind::SelfDependency, format!("{id} waits for itself; that is left out"))
                }
                Some(&target) if is_above(target, at) || is_above(at, target) => (
                    NoticeKind::AncestorDependency,
                    format!("{} waits for {id}, and one is a part of the other; that is left out", task.id),
                ),
                Some(&target) => {
                    if !targets.contains(&target) {
                        targets.push(target);
                    }
                    continue;
                }
            };
            notices.push(ImportNotice::new(kind, text).about(&task.id));
            leave_out(task, &id);
        }
        waits.push(targets);
    }
    for (id, waiting) in missing {
        let verb = if waiting.len() == 1 { "waits" } else { "wait" };
        let (kind, why) = match cancelled.contains(&id) {
            true => (NoticeKind::LeftOut, "stays out"),
            false => (NoticeKind::DanglingDependency, "is not there"),
        };
        let text = format!("{} {verb} for {id:?}, which {why}; that is left out", name_ids(&waiting));
        notices.push(ImportNotice::new(kind, text).about_all(waiting));
    }
    waits
}

fn leave_out(task: &mut PortableTask, id: &str) {
    let kept = task.ext.entry(LEFT_OUT_DEPENDENCIES).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(kept) = kept
        && !kept.iter().any(|known| known == id)
    {
        kept.push(id.into());
    }
}

fn name_ids(ids: &[String]) -> String {
    let mut text = ids[..ids.len().min(MAX_NAMED)].join(", ");
    if ids.len() > MAX_NAMED {
        text.push_str(&format!(" and {} more", ids.len() - MAX_NAMED));
    }
    text
}

/// The start and the end of each task as nodes of one graph: a task starts after its dependencies have ended and its
/// parent has started, and ends after its children have.
struct MomentGraph {
    after: Vec<Vec<usize>>,
}

const fn start_of(task: usize) -> usize {
    2 * task
}

const fn end_of(task: usize) -> usize {
    2 * task + 1
}

impl MomentGraph {
    fn new(tasks: &[PortableTask]) -> Self {
        let mut after = vec![Vec::new(); 2 * tasks.len()];
        for (at, task) in tasks.iter().enumerate() {
            after[end_of(at)].push(start_of(at));
            if let Some(parent) = task.parent {
                after[end_of(parent)].push(end_of(at));
                after[start_of(at)].push(start_of(parent));
            }
        }
        Self { after }
    }

    /// Makes `task` wait for `target`. Fails with the tasks of the shortest cycle that this would close.
    fn add(&mut self, task: usize, target: usize) -> Result<(), Vec<usize>> {
        let Some(way) = self.shortest_way(end_of(target), start_of(task)) else {
            self.after[start_of(task)].push(end_of(target));
            return Ok(());
        };
        let mut cycle = vec![task];
        cycle.extend(way.into_iter().map(|moment| moment / 2));
        cycle.dedup();
        Err(cycle)
    }

    fn shortest_way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came_from: HashMap<usize, usize> = HashMap::from([(from, from)]);
        let mut open = VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            if at == to {
                let mut way = vec![to];
                while way.last() != Some(&from) {
                    way.push(came_from[way.last()?]);
                }
                way.reverse();
                return Some(way);
            }
            for &next in &self.after[at] {
                came_from.entry(next).or_insert_with(|| {
                    open.push_back(next);
                    at
                });
            }
        }
        None
    }
}

/// The dependencies without those that close a cycle. Of a cycle the dependency on a later task goes.
fn break_cycles(
    plan: &mut PortablePlan,
    waits: &[Vec<usize>],
    notices: &mut Vec<ImportNotice>,
) -> Vec<Vec<usize>> {
    let mut graph = MomentGraph::new(&plan.tasks);
    let pairs: Vec<(usize, usize)> = waits
        .iter()
        .enumerate()
        .flat_map(|(at, targets)| targets.iter().map(move |&target| (at, target)))
        .collect();
    let (earlier, later): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(at, target)| target < at);
    let mut left_out = HashSet::new();
    for (at, target) in earlier.into_iter().chain(later) {
        let Err(cycle) = graph.add(at, target) else { continue };
        left_out.insert((at, target));
        let target = plan.tasks[target].id.clone();
        leave_out(&mut plan.tasks[at], &target);
        if left_out.len() <= MAX_CYCLES {
            let ids: Vec<String> = cycle.iter().map(|&task| plan.tasks[task].id.clone()).collect();
            let text = format!(
                "these wait for each other: {}; that {} waits for {target} is left out",
                ids.join(" → "),
                plan.tasks[at].id
            );
            notices.push(ImportNotice::new(NoticeKind::DependencyCycle, text).about_all(ids));
        }
    }
    if left_out.len() > MAX_CYCLES {
        let more = left_out.len() - MAX_CYCLES;
        let text = format!("there are more than {MAX_CYCLES} cycles: {more} more dependencies are left out");
        notices.push(ImportNotice::new(NoticeKind::DependencyCycle, text));
    }
    let stays = |at: usize, targets: &Vec<usize>| -> Vec<usize> {
        targets.iter().copied().filter(|&target| !left_out.contains(&(at, target))).collect()
    };
    waits.iter().enumerate().map(|(at, targets)| stays(at, targets)).collect()
}

fn parents_of(plan: &PortablePlan) -> Vec<bool> {
    let mut is_parent = vec![false; plan.tasks.len()];
    plan.tasks.iter().filter_map(|task| task.parent).for_each(|parent| is_parent[parent] = true);
    is_parent
}

/// Gives the dependencies of parents to their leaves: in a tree those of a parent mean nothing.
fn hand_down(plan: &mut PortablePlan, waits: &[Vec<usize>], notices: &mut Vec<ImportNotice>) {
    let is_parent = parents_of(plan);
    let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    // What each task waits for together with everything above it.
    let mut whole: Vec<Vec<usize>> = Vec::with_capacity(plan.tasks.len());
    let mut moved = Vec::new();
    for (at, task) in plan.tasks.iter_mut().enumerate() {
        let mut all = waits[at].clone();
        let above = task.parent.map(|parent| whole[parent].as_slice()).unwrap_or_default();
        all.extend(above.iter().filter(|target| !waits[at].contains(target)));
        if is_parent[at] {
            if !waits[at].is_empty() {
                moved.push(task.id.clone());
            }
            task.dependencies = None;
        } else if task.dependencies.is_some() || !all.is_empty() {
            task.dependencies = Some(all.iter().map(|&target| ids[target].clone()).collect());
        }
        whole.push(all);
    }
    if !moved.is_empty() {
        let text = format!("the subtasks of these wait in their place: {}", name_ids(&moved));
        notices.push(ImportNotice::new(NoticeKind::Rewritten, text).about_all(moved));
    }
}

/// Reports a plan that falls apart, unless nothing in it waits for anything.
fn report_disconnected(
    plan: &PortablePlan,
    positions: &HashMap<String, usize>,
    notices: &mut Vec<ImportNotice>,
) {
    // The number of each task's part: that of the first task in it.
    let mut part: Vec<usize> = (0..plan.tasks.len()).collect();
    fn first(part: &mut [usize], mut at: usize) -> usize {
        while part[at] != at {
            part[at] = part[part[at]];
            at = part[at];
        }
        at
    }
    let mut depends = false;
    for (at, task) in plan.tasks.iter().enumerate() {
        let targets = task.dependencies.iter().flatten().filter_map(|id| positions.get(id)).copied();
        for other in targets.inspect(|_| depends = true).chain(task.parent) {
            let (a, b) = (first(&mut part, at), first(&mut part, other));
            part[a.max(b)] = a.min(b);
        }
    }
    let ids: Vec<String> =
        (0..part.len()).filter(|&at| part[at] == at).map(|at| plan.tasks[at].id.clone()).collect();
    if depends && ids.len() > 1 {
        let text =
            format!("the plan has {} unconnected parts; they begin with {}", ids.len(), name_ids(&ids));
        notices.push(ImportNotice::new(NoticeKind::Disconnected, text).about_all(ids));
    }
}

/// Sets everything that is not done back to its beginning.
fn begin_anew(plan: &mut PortablePlan, notices: &mut Vec<ImportNotice>) {
    let is_parent = parents_of(plan);
    let mut groups = [
        (NoticeKind::BeginsAnew, "were under way and begin anew", Vec::new()),
        (NoticeKind::BeginsAnew, "had failed and begin anew", Vec::new()),
        (NoticeKind::BeginsAnew, "were skipped and begin anew", Vec::new()),
        (NoticeKind::Deferred, "are deferred or blocked in the source", Vec::new()),
    ];
    for (task, is_parent) in plan.tasks.iter_mut().zip(is_parent) {
        let group = match task.work {
            TaskWork::Todo | TaskWork::Done { .. } => continue,
            TaskWork::Running => 0,
            TaskWork::Failed { .. } => 1,
            TaskWork::Skipped => 2,
            TaskWork::Deferred | TaskWork::Cancelled => 3,
        };
        if !is_parent {
            groups[group].2.push(task.id.clone());
        }
        let work = serde_json::to_value(std::mem::take(&mut task.work)).expect("a state is plain data");
        task.ext.insert(WORK.into(), work);
    }
    for (kind, state, ids) in groups.into_iter().filter(|(.., ids)| !ids.is_empty()) {
        let text = format!("these {state}: {}", name_ids(&ids));
        notices.push(ImportNotice::new(kind, text).about_all(ids));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan of tasks as `id[<parent] dependency dependency`, where `<n` is the position of the parent.
    fn plan(tasks: &[&str]) -> PortablePlan {
        let task = |line: &&str| {
            let mut words = line.split(' ');
            let head = words.next().unwrap();
            let (id, parent) = head.split_once('<').map_or((head, None), |(id, at)| (id, at.parse().ok()));
            let dependencies: Vec<String> = words.map(str::to_owned).collect();
            PortableTask {
                id: id.into(),
                parent,
                title: id.into(),
                dependencies: Some(dependencies),
                ..PortableTask::default()
            }
        };
        PortablePlan { tasks: tasks.iter().map(task).collect(), ..PortablePlan::default() }
    }

    fn shown(plan: &PortablePlan) -> Vec<String> {
        let one = |task: &PortableTask| {
            let dependencies = task
                .dependencies
                .as_ref()
                .map_or_else(|| " -".into(), |d| d.iter().map(|d| format!(" {d}")).collect::<String>());
            format!("{}{dependencies}", task.id)
        };
        plan.tasks.iter().map(one).collect()
    }

    #[track_caller]
    fn check(tasks: &[&str], left: &[&str], said: &[&str]) {
        let mut plan = plan(tasks);
        let notices: Vec<String> = settle(&mut plan).into_iter().map(|notice| notice.text).collect();
        assert_eq!(shown(&plan), left, "{tasks:?}");
        assert_eq!(notices, said, "{tasks:?}");
        let again: Vec<ImportNotice> = settle(&mut plan)
            .into_iter()
            .filter(|n| n.kind.is_problem() && n.kind != NoticeKind::DuplicateId)
            .collect();
        assert_eq!(again, [], "{tasks:?}: once is enough");
    }

    #[test]
    fn what_is_right_stays() {
        check(&[], &[], &[]);
        check(&["a", "b a", "c a b"], &["a", "b a", "c a b"], &[]);
        check(&["p", "a<0", "b<0 a", "c p"], &["p -", "a", "b a", "c p"], &[]);
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
        check(&["a a", "b a"], &["a", "b a"], &["a waits for itself; that is left out"]);
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
        let mut plan = plan(&["a x x a"]);
        let _ = settle(&mut plan);
        assert_eq!(
            plan.tasks[0].ext[LEFT_OUT_DEPENDENCIES],
            serde_json::json!(["x", "a"]),
            "nothing is lost"
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
                "these wait for each other: p → q → p; that p waits for q is left out",
                "the subtasks of these wait in their place: q",
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
                    ids.iter().filter(|other| *other != id).cloned().collect::<Vec<_>>().join(" ")
                )
            })
            .collect();
        let mut plan = plan(&tasks.iter().map(String::as_str).collect::<Vec<_>>());
        let notices = settle(&mut plan);
        assert!(
            notices[MAX_CYCLES].text.starts_with("there are more than 100 cycles: "),
            "{:?}",
            notices[MAX_CYCLES]
        );
        assert!(
            settle(&mut plan).iter().all(|notice| notice.kind == NoticeKind::Disconnected),
            "none is left"
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
    fn parts_that_have_nothing_to_do_with_each_other() {
        check(
            &["a", "b a", "c", "d c"],
            &["a", "b a", "c", "d c"],
            &["the plan has 2 unconnected parts; they begin with a, c"],
        );
        check(&["a", "b"], &["a", "b"], &[]);
    }

    #[test]
    fn work_begins_anew() {
        let mut plan = plan(&["a", "b", "c", "d"]);
        plan.tasks[0].work = TaskWork::Running;
        plan.tasks[1].work = TaskWork::Failed { reason: Some("tired".into()) };
        plan.tasks[2].work = TaskWork::Skipped;
        plan.tasks[3].work = TaskWork::Done { commit: None };
        let said: Vec<String> = settle(&mut plan).into_iter().map(|notice| notice.text).collect();
        assert_eq!(
            said,
            [
                "these were under way and begin anew: a",
                "these had failed and begin anew: b",
                "these were skipped and begin anew: c"
            ]
        );
        assert_eq!(plan.tasks[1].ext[WORK], serde_json::json!({ "status": "failed", "reason": "tired" }));
        assert_eq!(plan.tasks[3].work, TaskWork::Done { commit: None });
    }

    #[test]
    fn a_thousand_tasks_in_a_row_and_ten_thousand_levels() {
        let row: Vec<String> =
            (0..1_000).map(|n| if n == 0 { "t0".into() } else { format!("t{n} t{}", n - 1) }).collect();
        let mut long = plan(&row.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(settle(&mut long), []);
        let deep: Vec<String> =
            (0..10_000_usize).map(|n| if n == 0 { "t0".into() } else { format!("t{n}<{}", n - 1) }).collect();
        assert_eq!(settle(&mut plan(&deep.iter().map(String::as_str).collect::<Vec<_>>())), []);
    }

    #[test]
    fn cancelled_tasks_stay_out_with_all_below_them() {
        let mut plan = plan(&["a", "p", "q<1", "b p", "c"]);
        plan.tasks[1].work = TaskWork::Cancelled;
        plan.tasks[4].work = TaskWork::Deferred;
        let said: Vec<String> = settle(&mut plan).into_iter().map(|notice| notice.text).collect();
        assert_eq!(
            said,
            [
                "these are cancelled or deleted and stay out: p, q",
                "b waits for \"p\", which stays out; that is left out",
                "these are deferred or blocked in the source: c"
            ]
        );
        assert_eq!(shown(&plan), ["a", "b", "c"]);
        assert_eq!(
            plan.ext[LEFT_OUT_TASKS],
            json!([{ "id": "p", "title": "p" }, { "id": "q", "title": "q" }])
        );
    }
}
