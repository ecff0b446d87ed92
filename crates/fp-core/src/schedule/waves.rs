//! Waves: the earliest step at which each leaf can run, and what keeps it from an earlier one.

use std::collections::HashMap;

use serde::Serialize;

use super::{Options, weight};
use crate::plan::graph::Graph;
use crate::plan::path::{literal_prefix, normal};
use crate::plan::task::{Plan, Task, TaskIndex};
use crate::settings::ExecutionModel;

/// Deepest path whose folders are compared with other paths; beyond it only the upper ones are.
const MAX_FOLDERS: usize = 64;

/// What keeps a task from an earlier wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Cause {
    /// It waits for tasks of the wave before.
    Dependency,
    /// A task of the wave before has one of its files.
    File,
    /// The phase before its own ends with the wave before.
    Group,
    /// The wave before is full.
    Limit,
}

/// Why a task isn't in an earlier wave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delay {
    /// What it is.
    pub cause: Cause,
    /// The tasks that it waits for; none for the limit.
    pub on: Vec<String>,
    /// The file that both have, where that is the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Tasks that can run at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wave {
    /// Its number, from 1.
    pub number: usize,
    /// Its tasks in order.
    pub tasks: Vec<String>,
    /// The task that takes longest.
    pub critical: String,
    /// That one's complexity: what the wave costs.
    pub complexity: u32,
}

/// Where a leaf was put.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot {
    pub(super) wave: usize,
    pub(super) delay: Option<Delay>,
}

/// Where every leaf was put; parents have empty slots.
pub(super) struct Placed {
    pub(super) slots: Vec<Slot>,
}

/// Puts every leaf, in order, into the earliest wave that takes it.
pub(super) fn place(
    plan: &Plan,
    graph: &Graph,
    order: &[TaskIndex],
    phases: &[usize],
    options: &Options,
) -> Placed {
    let limit = match options.model {
        ExecutionModel::Sequential => 1,
        _ => options.max_parallel_tasks.max(1) as usize,
    };
    let mut waves = Waves { limit, count: vec![0], room: Next::default(), files: HashMap::new() };
    let mut ends = vec![0; graph.len()];
    // The last wave of each phase so far, and the task that is in it.
    let mut phase_ends: Vec<(usize, TaskIndex)> =
        vec![(0, 0); phases.iter().max().map_or(1, |last| last + 1)];
    let mut slots = vec![Slot::default(); graph.len()];
    for &task in order {
        let after = graph.waits_for(task).iter().map(|&target| ends[target]).max().unwrap_or(0);
        if !plan.tasks[task].is_leaf() {
            ends[task] = after;
            continue;
        }
        let phase = phases[task];
        let barrier = phase_ends[..phase].iter().copied().max().unwrap_or((0, 0));
        let earliest = after.max(barrier.0) + 1;
        let (wave, held) = waves.first(plan, task, earliest);
        ends[task] = wave;
        phase_ends[phase] = phase_ends[phase].max((wave, task));
        let id = |task: TaskIndex| plan.tasks[task].id.to_string();
        let delay = held.or_else(|| {
            let waited: Vec<String> = behind(plan, graph, &ends, task, after);
            if wave == 1 {
                None
            } else if after + 1 == wave {
                Some(Delay { cause: Cause::Dependency, on: waited, file: None })
            } else {
                Some(Delay { cause: Cause::Group, on: vec![id(barrier.1)], file: None })
            }
        });
        slots[task] = Slot { wave, delay };
    }
    Placed { slots }
}

/// The leaves, among those that `task` waits for, that end with wave `end`: at most one of each dependency.
fn behind(plan: &Plan, graph: &Graph, ends: &[usize], task: TaskIndex, end: usize) -> Vec<String> {
    let mut found = Vec::new();
    for &target in graph.waits_for(task) {
        if ends[target] != end {
            continue;
        }
        let mut leaf = target;
        while !plan.tasks[leaf].is_leaf() {
            let last = graph.waits_for(leaf).iter().copied().find(|&child| ends[child] == end);
            leaf = last.expect("a parent ends with one of its children");
        }
        let id = plan.tasks[leaf].id.to_string();
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

/// The waves as far as they are filled.
struct Waves {
    limit: usize,
    /// How many tasks each wave has; the one at 0 is none.
    count: Vec<usize>,
    /// The next wave with room.
    room: Next,
    /// Of every file and folder, where it is in use.
    files: HashMap<String, Used>,
}

/// Where a path is in use: itself, and something below it.
#[derive(Default)]
struct Used {
    here: Next,
    below: Next,
    /// Who uses it in which wave, itself or something below it.
    by: HashMap<usize, TaskIndex>,
}

impl Waves {
    /// The first wave from `earliest` on that takes `task`, which is put there, and what held it up last.
    fn first(&mut self, plan: &Plan, task: TaskIndex, earliest: usize) -> (usize, Option<Delay>) {
        let paths = paths(&plan.tasks[task]);
        let mut wave = earliest;
        let mut held = None;
        loop {
            let room = self.room.from(wave);
            if room > wave {
                held = Some(Delay { cause: Cause::Limit, on: Vec::new(), file: None });
                wave = room;
            }
            let Some((next, path, other)) = self.conflict(&paths, wave) else { break };
            held = Some(Delay {
                cause: Cause::File,
                on: other.map(|other| plan.tasks[other].id.to_string()).into_iter().collect(),
                file: Some(path),
            });
            wave = next;
        }
        self.take(task, wave, &paths);
        (wave, held)
    }

    /// The first wave behind `wave` where a path that is in use in `wave` no longer is.
    fn conflict(&mut self, paths: &[String], wave: usize) -> Option<(usize, String, Option<TaskIndex>)> {
        for path in paths {
            for folder in folders(path) {
                let Some(used) = self.files.get_mut(folder) else { continue };
                let mut next = used.here.from(wave);
                if folder == path {
                    next = next.max(used.below.from(wave));
                }
                if next > wave {
                    // The last of the waves in between is the one that decides.
                    return Some((next, path.clone(), used.by.get(&(next - 1)).copied()));
                }
            }
        }
        None
    }

    fn take(&mut self, task: TaskIndex, wave: usize, paths: &[String]) {
        if self.count.len() <= wave {
            self.count.resize(wave + 1, 0);
        }
        self.count[wave] += 1;
        if self.count[wave] >= self.limit {
            self.room.close(wave);
        }
        for path in paths {
            for folder in folders(path) {
                if !self.files.contains_key(folder) {
                    self.files.insert(folder.to_owned(), Used::default());
                }
                let used = self.files.get_mut(folder).expect("it was just inserted");
                if folder == path {
                    used.here.close(wave)
                } else {
                    used.below.close(wave)
                }
                used.by.insert(wave, task);
            }
        }
    }
}

/// The paths of a task in normal form.
fn paths(task: &Task) -> Vec<String> {
    task.files()
        .filter_map(|file| normal(literal_prefix(file)).ok())
        .map(std::borrow::Cow::into_owned)
        .collect()
}

/// The whole repository, every folder above `path`, and `path`.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]).take(MAX_FOLDERS);
    std::iter::once(".").chain(above).chain(std::iter::once(path).filter(|path| *path != "."))
}

/// The waves from 1 on, some of them closed; finds the next open one in next to no time.
#[derive(Debug, Default)]
struct Next {
    /// Of a closed wave, one behind it that may be open.
    behind: HashMap<usize, usize>,
}

impl Next {
    fn from(&mut self, wave: usize) -> usize {
        let mut open = wave;
        while let Some(&next) = self.behind.get(&open) {
            open = next;
        }
        let mut at = wave;
        while at != open {
            at = self.behind.insert(at, open).expect("every wave on the way is closed");
        }
        open
    }

    fn close(&mut self, wave: usize) {
        self.behind.entry(wave).or_insert(wave + 1);
    }
}

/// The waves as a list.
pub(super) fn collect(plan: &Plan, leaves: &[TaskIndex], placed: &Placed) -> Vec<Wave> {
    let count = leaves.iter().map(|&leaf| placed.slots[leaf].wave).max().unwrap_or(0);
    let mut waves: Vec<Wave> = (1..=count)
        .map(|number| Wave { number, tasks: Vec::new(), critical: String::new(), complexity: 0 })
        .collect();
    for &leaf in leaves {
        let task = &plan.tasks[leaf];
        let wave = &mut waves[placed.slots[leaf].wave - 1];
        wave.tasks.push(task.id.to_string());
        if weight(task) > wave.complexity {
            wave.complexity = weight(task);
            wave.critical = task.id.to_string();
        }
    }
    waves
}
