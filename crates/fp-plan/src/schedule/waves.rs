//! Computes waves: the earliest step at which each leaf can run, and the reason why it can't run earlier.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;

use serde::Serialize;

use super::{ScheduleOptions, weight_of};
use crate::exclusive::exclusive_of;
use crate::plan::graph::Graph;
use crate::plan::path::{held, meet};
use crate::plan::task::{Plan, Task, TaskIndex};

/// The cause that keeps a task from an earlier wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DelayCause {
    /// The task waits for tasks in the previous wave.
    Dependency,
    /// A task in the previous wave uses one of the same files.
    File,
    /// The previous wave is full.
    Limit,
}

/// The reason why a task isn't in an earlier wave. Its strings come from the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delay<'p> {
    pub cause: DelayCause,
    /// The tasks that are waited for; empty if the cause is the limit.
    pub on: Vec<&'p str>,
    /// The shared file, if that is the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Cow<'p, str>>,
}

/// The reason in a few words.
impl fmt::Display for Delay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = self.on.join(", ");
        match (self.cause, &self.file) {
            (DelayCause::Dependency, _) => write!(f, "after {on}"),
            (DelayCause::File, Some(file)) => write!(f, "{file} is with {on}"),
            (DelayCause::File, None) => write!(f, "a file is with {on}"),
            (DelayCause::Limit, _) => f.write_str("no builder is free"),
        }
    }
}

/// Tasks that can run at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wave<'p> {
    /// From 1.
    pub number: usize,
    pub tasks: Vec<&'p str>,
    /// The task with the highest complexity, which is assumed to take longest.
    pub critical: &'p str,
    /// That task's complexity, the cost of the wave.
    pub complexity: u32,
}

/// The wave of a leaf, and the reason why it isn't an earlier one.
#[derive(Debug, Clone, Default)]
pub(super) struct WaveSlot<'p> {
    pub(super) wave: usize,
    pub(super) delay: Option<Delay<'p>>,
}

/// Puts every leaf, in order, into the earliest wave with room for it. Returns the slot of each task, an empty one for a
/// parent, and the waves.
pub(super) fn place_tasks<'p>(
    plan: &'p Plan<'p>,
    graph: &Graph,
    order: &[TaskIndex],
    options: &ScheduleOptions,
) -> (Vec<WaveSlot<'p>>, Vec<Wave<'p>>) {
    let mut waves = FilledWaves {
        plan,
        limit: options.max_parallel_tasks.max(1) as usize,
        tasks: vec![Vec::new()],
        paths: paths_of(plan, &options.exclusive),
    };
    let mut ends = vec![0; graph.len()];
    let mut slots = vec![WaveSlot::default(); graph.len()];
    for &task in order {
        let targets = graph.waits_for(task).iter();
        let after = targets.map(|&target| ends[target]).max().unwrap_or(0);
        if !plan.tasks[task].is_leaf() {
            ends[task] = after;
            continue;
        }
        let (wave, held) = waves.add_task(task, after + 1);
        ends[task] = wave;
        let waits = || Delay {
            cause: DelayCause::Dependency,
            on: leaves_behind(plan, graph, &ends, task, after),
            file: None,
        };
        let delay = held.or_else(|| (wave > 1).then(waits));
        slots[task] = WaveSlot { wave, delay };
    }
    (slots, waves.listed_waves())
}

/// For each task, the paths that it reserves, in normal form: its files, and any lock files and `exclusive` files that
/// it may change. Leaves out paths that lead out of the repository.
fn paths_of<'p>(plan: &'p Plan<'p>, exclusive: &[String]) -> Vec<Vec<Cow<'p, str>>> {
    let of_task = |task: &'p Task<'p>| {
        let own = task.files().filter_map(held);
        let exclusive = exclusive_of(task, exclusive).into_iter().filter_map(held);
        own.chain(exclusive.map(|path| Cow::Owned(path.into_owned())))
            .collect()
    };
    plan.tasks.iter().map(of_task).collect()
}

/// The leaves among the dependencies of `task` that finish in wave `end`, at most one per dependency.
fn leaves_behind<'p>(
    plan: &'p Plan<'p>,
    graph: &Graph,
    ends: &[usize],
    task: TaskIndex,
    end: usize,
) -> Vec<&'p str> {
    let ends_then = |&task: &TaskIndex| ends[task] == end;
    let mut found = Vec::new();
    for &target in graph.waits_for(task).iter().filter(|task| ends_then(task)) {
        let mut leaf = target;
        while !plan.tasks[leaf].is_leaf() {
            let last = graph.waits_for(leaf).iter().copied().find(ends_then);
            leaf = last.expect("a parent ends with one of its children");
        }
        let id = &*plan.tasks[leaf].id;
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

/// The waves filled so far.
struct FilledWaves<'p> {
    plan: &'p Plan<'p>,
    limit: usize,
    /// The tasks of each wave, whose numbers start at 1.
    tasks: Vec<Vec<TaskIndex>>,
    /// The paths of every task.
    paths: Vec<Vec<Cow<'p, str>>>,
}

impl<'p> FilledWaves<'p> {
    /// Puts `task` into the first wave with room from `earliest` on. Returns the wave and, if it isn't `earliest`, the
    /// reason why the wave before it was impossible.
    fn add_task(&mut self, task: TaskIndex, earliest: usize) -> (usize, Option<Delay<'p>>) {
        let is_open = |&wave: &usize| !self.is_full(wave) && self.shared_path(task, wave).is_none();
        let wave = (earliest..)
            .find(is_open)
            .expect("a wave behind all others is open");
        let held = (wave > earliest).then(|| self.delay_before(task, wave - 1));
        if self.tasks.len() <= wave {
            self.tasks.resize_with(wave + 1, Vec::new);
        }
        self.tasks[wave].push(task);
        (wave, held)
    }

    fn tasks_of(&self, wave: usize) -> &[TaskIndex] {
        self.tasks.get(wave).map_or(&[], Vec::as_slice)
    }

    fn is_full(&self, wave: usize) -> bool {
        self.tasks_of(wave).len() >= self.limit
    }

    /// The first path of `task` shared with a task of `wave`, and that task.
    fn shared_path(&self, task: TaskIndex, wave: usize) -> Option<(&Cow<'p, str>, TaskIndex)> {
        self.paths[task].iter().find_map(|path| {
            let has = |other: &&TaskIndex| self.paths[**other].iter().any(|own| meet(path, own));
            let holder = self.tasks_of(wave).iter().find(has)?;
            Some((path, *holder))
        })
    }

    /// The reason why `task` isn't in `wave`.
    fn delay_before(&self, task: TaskIndex, wave: usize) -> Delay<'p> {
        let shared = self.shared_path(task, wave);
        match shared.filter(|_| !self.is_full(wave)) {
            Some((path, holder)) => Delay {
                cause: DelayCause::File,
                on: vec![&*self.plan.tasks[holder].id],
                file: Some(path.clone()),
            },
            None => Delay {
                cause: DelayCause::Limit,
                on: Vec::new(),
                file: None,
            },
        }
    }

    fn listed_waves(&self) -> Vec<Wave<'p>> {
        let waves = self.tasks.iter().enumerate().skip(1);
        let waves = waves.map(|(number, tasks)| {
            let tasks = tasks.iter().map(|&task| &self.plan.tasks[task]);
            let critical = tasks.clone().min_by_key(|task| Reverse(weight_of(task)));
            let critical = critical.expect("no wave is empty");
            Wave {
                number,
                tasks: tasks.map(|task| &*task.id).collect(),
                critical: &critical.id,
                complexity: weight_of(critical),
            }
        });
        waves.collect()
    }
}
