//! What is wrong with a plan as a whole, and what becomes of it: a tree can't say everything that a source can. What
//! can't be said is told, and kept in `ext`.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::notice::{Kind, Notice};
use super::portable::{PortablePlan, PortableTask, Work};

/// The name in `ext` of the dependencies that were left out.
pub const LEFT_OUT: &str = "leftOutDependencies";
/// The name in `ext` of how far a task was that begins anew.
pub const WORK: &str = "work";

/// Most cycles that are told one by one; of what is left, all dependencies are left out.
const MAX_CYCLES: usize = 100;
/// Most ids that a notice names.
const MAX_NAMED: usize = 12;

/// Checks `plan` and makes of it what a tree can say: two tasks of one id both stay, and whoever waits for the id waits
/// for the first; dependencies that lead nowhere, to the task itself, or around in a circle are left out; what parents
/// wait for, their leaves do; and work that was begun or given up begins anew. All of it is told.
#[must_use]
pub fn settle(plan: &mut PortablePlan) -> Vec<Notice> {
    let mut notices = Vec::new();
    let place = first_places(plan, &mut notices);
    let mut graph = dependencies(plan, &place, &mut notices);
    leave_cycles_out(plan, &mut graph, &mut notices);
    hand_down(plan, &graph, &mut notices);
    disconnected(plan, &place, &mut notices);
    begin_anew(plan, &mut notices);
    notices
}

/// Where each id stands first.
fn first_places(plan: &PortablePlan, notices: &mut Vec<Notice>) -> HashMap<String, usize> {
    let mut place = HashMap::new();
    let mut repeated: Vec<&str> = Vec::new();
    for (at, task) in plan.tasks.iter().enumerate() {
        if place.contains_key(&task.id) {
            repeated.push(&task.id);
        } else {
            place.insert(task.id.clone(), at);
        }
    }
    let mut told = HashSet::new();
    for id in repeated.iter().copied().filter(|id| told.insert(*id)) {
        let count = 1 + repeated.iter().filter(|other| *other == &id).count();
        let text = format!(
            "{count} tasks have the id {id}: all of them stay, and what waits for {id} waits for the first"
        );
        notices.push(Notice::new(Kind::DuplicateId, text).about(id));
    }
    place
}

/// What each task waits for, by position; what it can't wait for is left out.
fn dependencies(
    plan: &mut PortablePlan,
    place: &HashMap<String, usize>,
    notices: &mut Vec<Notice>,
) -> Vec<Vec<usize>> {
    let parents: Vec<Option<usize>> = plan.tasks.iter().map(|task| task.parent).collect();
    let is_above = |above: usize, below: usize| {
        std::iter::successors(parents[below], |&at| parents[at]).any(|at| at == above)
    };
    let mut dangling: Vec<(String, String)> = Vec::new();
    let mut graph = Vec::with_capacity(plan.tasks.len());
    for (at, task) in plan.tasks.iter_mut().enumerate() {
        let mut targets = Vec::new();
        for id in task.dependencies.clone().unwrap_or_default() {
            let id_of_task = task.id.clone();
            let notice = match place.get(&id) {
                None => {
                    dangling.push((id_of_task, id.clone()));
                    None
                }
                Some(&target) if target == at => Some(Notice::new(
                    Kind::SelfDependency,
                    format!("{id} waits for itself; that is left out"),
                )),
                Some(&target) if is_above(target, at) || is_above(at, target) => {
                    let text = format!(
                        "{id_of_task} waits for {id}, and one is a part of the other; that is left out"
                    );
                    Some(Notice::new(Kind::AncestorDependency, text))
                }
                Some(&target) => {
                    if !targets.contains(&target) {
                        targets.push(target);
                    }
                    continue;
                }
            };
            notices.extend(notice.map(|notice| notice.about(&task.id)));
            leave_out(task, &id);
        }
        graph.push(targets);
    }
    tell_dangling(&dangling, notices);
    graph
}

/// One notice for each id that is not there, whoever waits for it.
fn tell_dangling(dangling: &[(String, String)], notices: &mut Vec<Notice>) {
    let mut told = HashSet::new();
    for (_, missing) in dangling.iter().filter(|(_, missing)| told.insert(missing.as_str())) {
        let waiting: Vec<String> =
            dangling.iter().filter(|(_, other)| other == missing).map(|(id, _)| id.clone()).collect();
        let verb = if waiting.len() == 1 { "waits" } else { "wait" };
        let text =
            format!("{} {verb} for {missing:?}, which is not there; that is left out", named(&waiting));
        notices.push(Notice { tasks: waiting, ..Notice::new(Kind::DanglingDependency, text) });
    }
}

fn leave_out(task: &mut PortableTask, id: &str) {
    let kept = task.ext.entry(LEFT_OUT).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(kept) = kept
        && !kept.iter().any(|known| known == id)
    {
        kept.push(id.into());
    }
}

fn named(ids: &[String]) -> String {
    let mut text = ids.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if ids.len() > MAX_NAMED {
        text.push_str(&format!(" and {} more", ids.len() - MAX_NAMED));
    }
    text
}

/// Of each circle one dependency is left out: that of the first task on one that comes later.
fn leave_cycles_out(plan: &mut PortablePlan, graph: &mut [Vec<usize>], notices: &mut Vec<Notice>) {
    for _ in 0..MAX_CYCLES {
        let Some(cycle) = find_cycle(plan, graph) else { return };
        let (from, to) = cycle.waits.iter().copied().find(|(from, to)| from < to).unwrap_or(cycle.waits[0]);
        graph[from].retain(|target| *target != to);
        let ids: Vec<String> = cycle.tasks.iter().map(|&task| plan.tasks[task].id.clone()).collect();
        let (waiting, target) = (plan.tasks[from].id.clone(), plan.tasks[to].id.clone());
        let text = format!(
            "these wait for each other: {}; that {waiting} waits for {target} is left out",
            ids.join(" → ")
        );
        notices.push(Notice { tasks: ids, ..Notice::new(Kind::DependencyCycle, text) });
        leave_out(&mut plan.tasks[from], &target);
    }
    let groups = tangles(&plan.tasks, graph);
    let mut dropped = 0;
    for at in 0..graph.len() {
        let (inside, kept): (Vec<usize>, Vec<usize>) =
            graph[at].iter().copied().partition(|&to| groups[start(at)] == groups[end(to)]);
        graph[at] = kept;
        for to in inside {
            dropped += 1;
            let target = plan.tasks[to].id.clone();
            leave_out(&mut plan.tasks[at], &target);
        }
    }
    if dropped > 0 {
        let text =
            format!("there are more than {MAX_CYCLES} circles: {dropped} more dependencies are left out");
        notices.push(Notice::new(Kind::DependencyCycle, text));
    }
}

/// A circle: the tasks on the way, the first one at its end as well, and which of them waits for which.
struct Cycle {
    tasks: Vec<usize>,
    waits: Vec<(usize, usize)>,
}

/// A task begins and ends: it begins after what it waits for has ended and what it is a part of has begun, and it ends
/// after its parts have. These are the two moments of a task as nodes of one graph.
const fn start(task: usize) -> usize {
    2 * task
}

const fn end(task: usize) -> usize {
    2 * task + 1
}

/// What each moment comes after.
fn moments(tasks: &[PortableTask], graph: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut after = vec![Vec::new(); 2 * tasks.len()];
    for (at, task) in tasks.iter().enumerate() {
        after[end(at)].push(start(at));
        after[start(at)].extend(graph[at].iter().map(|&target| end(target)));
        if let Some(parent) = task.parent {
            after[end(parent)].push(end(at));
            after[start(at)].push(start(parent));
        }
    }
    after
}

/// The number of the tangle that each moment is in: those that all come after each other.
fn tangles(tasks: &[PortableTask], graph: &[Vec<usize>]) -> Vec<usize> {
    components(&moments(tasks, graph))
}

fn find_cycle(plan: &PortablePlan, graph: &[Vec<usize>]) -> Option<Cycle> {
    let after = moments(&plan.tasks, graph);
    let tangle = components(&after);
    let (from, to) = graph.iter().enumerate().find_map(|(from, targets)| {
        let to = targets.iter().copied().find(|&to| tangle[start(from)] == tangle[end(to)])?;
        Some((from, to))
    })?;
    let way = shortest(&after, &tangle, end(to), start(from))?;
    let mut tasks = vec![from];
    let mut waits = vec![(from, to)];
    for pair in way.windows(2) {
        if pair[0] % 2 == 0 && pair[1] % 2 == 1 {
            waits.push((pair[0] / 2, pair[1] / 2));
        }
    }
    for task in way.iter().map(|moment| moment / 2) {
        if tasks.last() != Some(&task) {
            tasks.push(task);
        }
    }
    Some(Cycle { tasks, waits })
}

/// The shortest way between two moments of one tangle.
fn shortest(after: &[Vec<usize>], tangle: &[usize], from: usize, to: usize) -> Option<Vec<usize>> {
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
        for &next in after[at].iter().filter(|&&next| tangle[next] == tangle[from]) {
            came_from.entry(next).or_insert_with(|| {
                open.push_back(next);
                at
            });
        }
    }
    None
}

/// Tarjan's strongly connected components, without recursion: for each node the number of its own.
fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut number = vec![NONE; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut component = vec![NONE; edges.len()];
    let (mut stack, mut next, mut found) = (Vec::new(), 0, 0);
    for root in 0..edges.len() {
        if number[root] != NONE {
            continue;
        }
        let mut way = vec![(root, 0)];
        while let Some((node, edge)) = way.last_mut() {
            let node = *node;
            if *edge == 0 && number[node] == NONE {
                (number[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
            }
            if let Some(&to) = edges[node].get(*edge) {
                *edge += 1;
                if number[to] == NONE {
                    way.push((to, 0));
                } else if component[to] == NONE {
                    low[node] = low[node].min(number[to]);
                }
                continue;
            }
            way.pop();
            if let Some(&(above, _)) = way.last() {
                low[above] = low[above].min(low[node]);
            }
            if low[node] == number[node] {
                while let Some(member) = stack.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}

/// Dependencies of parents go to their leaves, since those of a parent mean nothing in a tree.
fn hand_down(plan: &mut PortablePlan, graph: &[Vec<usize>], notices: &mut Vec<Notice>) {
    let mut is_parent = vec![false; plan.tasks.len()];
    plan.tasks.iter().filter_map(|task| task.parent).for_each(|parent| is_parent[parent] = true);
    let ids: Vec<String> = plan.tasks.iter().map(|task| task.id.clone()).collect();
    // What each one waits for with all that is above it; parents stand before their children.
    let mut waits_for: Vec<Vec<usize>> = Vec::with_capacity(plan.tasks.len());
    let mut moved = Vec::new();
    for (at, task) in plan.tasks.iter_mut().enumerate() {
        let above = task.parent.map(|parent| waits_for[parent].clone()).unwrap_or_default();
        let given = task.dependencies.is_some();
        let mut all = graph[at].clone();
        all.extend(above.into_iter().filter(|target| !graph[at].contains(target)));
        if is_parent[at] {
            if !graph[at].is_empty() {
                moved.push(task.id.clone());
            }
            task.dependencies = None;
        } else if given || !all.is_empty() {
            task.dependencies = Some(all.iter().map(|&target| ids[target].clone()).collect());
        }
        waits_for.push(all);
    }
    if !moved.is_empty() {
        let text = format!("what these wait for, their subtasks do now: {}", named(&moved));
        notices.push(Notice { tasks: moved, ..Notice::new(Kind::Rewritten, text) });
    }
}

/// Tells where a plan falls apart, once anything in it depends on anything.
fn disconnected(plan: &PortablePlan, place: &HashMap<String, usize>, notices: &mut Vec<Notice>) {
    let mut group: Vec<usize> = (0..plan.tasks.len()).collect();
    let mut depends = false;
    for (at, task) in plan.tasks.iter().enumerate() {
        let targets = task.dependencies.iter().flatten().filter_map(|id| place.get(id)).copied();
        for other in targets.inspect(|_| depends = true).chain(task.parent) {
            let (a, b) = (root(&mut group, at), root(&mut group, other));
            group[a.max(b)] = a.min(b);
        }
    }
    let roots: Vec<usize> = (0..plan.tasks.len()).filter(|&at| root(&mut group, at) == at).collect();
    if depends && roots.len() > 1 {
        let ids: Vec<String> = roots.iter().map(|&at| plan.tasks[at].id.clone()).collect();
        let text = format!(
            "the plan has {} parts that have nothing to do with each other; they begin with {}",
            ids.len(),
            named(&ids)
        );
        notices.push(Notice { tasks: ids, ..Notice::new(Kind::Disconnected, text) });
    }
}

/// The smallest of a group, with a shorter way to it from now on.
fn root(group: &mut [usize], mut at: usize) -> usize {
    while group[at] != at {
        group[at] = group[group[at]];
        at = group[at];
    }
    at
}

/// What was under way, or given up, is to be done; what is done stays done.
fn begin_anew(plan: &mut PortablePlan, notices: &mut Vec<Notice>) {
    let mut is_parent = vec![false; plan.tasks.len()];
    plan.tasks.iter().filter_map(|task| task.parent).for_each(|parent| is_parent[parent] = true);
    let (mut running, mut failed, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for (task, is_parent) in plan.tasks.iter_mut().zip(is_parent) {
        let list = match task.work {
            Work::Running => &mut running,
            Work::Failed { .. } => &mut failed,
            Work::Skipped => &mut skipped,
            Work::Todo | Work::Done { .. } => continue,
        };
        if !is_parent {
            list.push(task.id.clone());
        }
        if let Ok(work) = serde_json::to_value(std::mem::take(&mut task.work)) {
            task.ext.insert(WORK.into(), work);
        }
    }
    for (ids, was) in [(running, "were under way"), (failed, "had failed"), (skipped, "were skipped")] {
        if !ids.is_empty() {
            let text = format!("these {was} and begin anew: {}", named(&ids));
            notices.push(Notice { tasks: ids, ..Notice::new(Kind::BeginsAnew, text) });
        }
    }
}

#[cfg(test)]
mod tests;
