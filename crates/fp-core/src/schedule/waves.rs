//! Waves: the earliest step at which each leaf can run, and what keeps it from an earlier one.

use std::fmt;

use serde::Serialize;

use super::closed::{self, Closed};
use super::files::{self, Files};
use super::{Options, weight};
use crate::plan::graph::Graph;
use crate::plan::task::{Plan, TaskIndex};

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

impl Delay {
    /// It in a few words; `text` says how an id is written there, `path` how a path is.
    pub(super) fn told(&self, text: impl Fn(&str) -> String, path: impl Fn(&str) -> String) -> String {
        let on = self.on.iter().map(|id| text(id)).collect::<Vec<_>>().join(", ");
        match (self.cause, &self.file) {
            (Cause::Dependency, _) => format!("after {on}"),
            (Cause::File, Some(file)) => format!("{} is with {on}", path(file)),
            (Cause::File, None) => format!("a file is with {on}"),
            (Cause::Group, _) => format!("after the group of {on}"),
            (Cause::Limit, _) => "no builder is free".to_owned(),
        }
    }
}

/// As plain text.
impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(str::to_owned, str::to_owned))
    }
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
    let mut waves = Waves { limit: options.limit() as usize, ..Waves::default() };
    let mut ends = vec![0; graph.len()];
    let mut phase_ends = PhaseEnds::new(phases);
    let mut slots = vec![Slot::default(); graph.len()];
    for &task in order {
        let after = graph.waits_for(task).iter().map(|&target| ends[target]).max().unwrap_or(0);
        if !plan.tasks[task].is_leaf() {
            ends[task] = after;
            continue;
        }
        let phase = phases[task];
        let barrier = phase_ends.before(phase);
        let earliest = after.max(barrier.0) + 1;
        let (wave, held) = waves.first(plan, task, earliest);
        ends[task] = wave;
        phase_ends.add(phase, wave, task);
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
#[derive(Default)]
struct Waves {
    limit: usize,
    /// How many tasks each wave has; the one at 0 is none.
    count: Vec<usize>,
    /// The waves that have as many tasks as there may be.
    full: Closed,
    files: Files,
}

impl Waves {
    /// The first wave from `earliest` on that takes `task`, which is put there, and what keeps it from the one
    /// before, unless that is before `earliest`.
    fn first(&mut self, plan: &Plan, task: TaskIndex, earliest: usize) -> (usize, Option<Delay>) {
        let paths = files::paths(&plan.tasks[task]);
        let mut sets = self.files.closed(&paths);
        sets.push(&self.full);
        let wave = closed::first_open(&sets, earliest);
        let held = (wave > earliest).then(|| self.held(plan, &paths, wave - 1));
        self.take(task, wave, &paths);
        (wave, held)
    }

    /// Why a task with these paths is not in `wave`.
    fn held(&self, plan: &Plan, paths: &[String], wave: usize) -> Delay {
        match self.files.holder(paths, wave) {
            Some((path, holder)) if !self.full.has(wave) => Delay {
                cause: Cause::File,
                on: vec![plan.tasks[holder].id.to_string()],
                file: Some(path.to_owned()),
            },
            _ => Delay { cause: Cause::Limit, on: Vec::new(), file: None },
        }
    }

    fn take(&mut self, task: TaskIndex, wave: usize, paths: &[String]) {
        if self.count.len() <= wave {
            self.count.resize(wave + 1, 0);
        }
        self.count[wave] += 1;
        if self.count[wave] >= self.limit {
            self.full.add(wave);
        }
        self.files.take(task, wave, paths);
    }
}

/// The last wave of each phase so far and a task that is in it: of all phases before one, in next to no time.
/// A Fenwick tree.
struct PhaseEnds(Vec<(usize, TaskIndex)>);

impl PhaseEnds {
    fn new(phases: &[usize]) -> Self {
        Self(vec![(0, 0); phases.iter().max().map_or(2, |last| last + 2)])
    }

    fn add(&mut self, phase: usize, wave: usize, task: TaskIndex) {
        let mut at = phase + 1;
        while at < self.0.len() {
            self.0[at] = self.0[at].max((wave, task));
            at += at & at.wrapping_neg();
        }
    }

    fn before(&self, phase: usize) -> (usize, TaskIndex) {
        let mut at = phase;
        let mut last = (0, 0);
        while at > 0 {
            last = last.max(self.0[at]);
            at -= at & at.wrapping_neg();
        }
        last
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
