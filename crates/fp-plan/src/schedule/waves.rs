//! Waves: the earliest step at which each leaf can run, and what keeps it from an earlier one.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::{ScheduleOptions, weight};
use crate::exclusive::exclusive_of;
use crate::plan::graph::Graph;
use crate::plan::path::{held, is_above};
use crate::plan::task::{Plan, Task, TaskIndex};

/// What keeps a task from an earlier wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DelayCause {
    /// It waits for tasks of the wave before.
    Dependency,
    /// A task of the wave before has one of its files.
    File,
    /// The phase before its own ends with the wave before.
    Group,
    /// The wave before is full.
    Limit,
}

/// Why a task isn't in an earlier wave. Its texts are those of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delay<'p> {
    pub cause: DelayCause,
    /// The tasks that it waits for; empty for the limit.
    pub on: Vec<&'p str>,
    /// The file that both have, where that is the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Cow<'p, str>>,
}

impl Delay<'_> {
    /// Writes it in a few words; `id` says how an id is written there, `path` how a path is.
    pub(super) fn tell<W: fmt::Write>(
        &self,
        out: &mut W,
        id: impl Fn(&mut W, &str) -> fmt::Result,
        path: impl Fn(&mut W, &str) -> fmt::Result,
    ) -> fmt::Result {
        match (self.cause, &self.file) {
            (DelayCause::Dependency, _) => out.write_str("after ")?,
            (DelayCause::File, Some(file)) => {
                path(out, file)?;
                out.write_str(" is with ")?;
            }
            (DelayCause::File, None) => out.write_str("a file is with ")?,
            (DelayCause::Group, _) => out.write_str("after the group of ")?,
            (DelayCause::Limit, _) => out.write_str("no builder is free")?,
        }
        for (number, on) in self.on.iter().enumerate() {
            if number > 0 {
                out.write_str(", ")?;
            }
            id(out, on)?;
        }
        Ok(())
    }
}

/// As plain text.
impl fmt::Display for Delay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tell(f, fmt::Write::write_str, fmt::Write::write_str)
    }
}

/// Tasks that can run at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wave<'p> {
    /// Its number, from 1.
    pub number: usize,
    pub tasks: Vec<&'p str>,
    /// The task that takes longest.
    pub critical: &'p str,
    /// That one's complexity: what the wave costs.
    pub complexity: u32,
}

/// Where a leaf was put.
#[derive(Debug, Clone, Default)]
pub(super) struct WaveSlot<'p> {
    pub(super) wave: usize,
    pub(super) delay: Option<Delay<'p>>,
}

/// Puts every leaf, in order, into the earliest wave that takes it; parents have empty slots.
pub(super) fn place_tasks<'p>(
    plan: &'p Plan<'p>,
    graph: &Graph,
    order: &[TaskIndex],
    phases: &[usize],
    options: &ScheduleOptions,
) -> Vec<WaveSlot<'p>> {
    let mut waves = FilledWaves {
        plan,
        limit: options.limit() as usize,
        tasks: Vec::new(),
        paths: paths_of(plan, &options.exclusive),
    };
    let mut ends = vec![0; graph.len()];
    // The last wave of each phase so far, and a task that is in it.
    let mut phase_ends = vec![(0, 0); phases.iter().max().map_or(0, |last| last + 1)];
    let mut slots = vec![WaveSlot::default(); graph.len()];
    for &task in order {
        let after = graph.waits_for(task).iter().map(|&target| ends[target]).max().unwrap_or(0);
        if !plan.tasks[task].is_leaf() {
            ends[task] = after;
            continue;
        }
        let phase = phases[task];
        let barrier = phase_ends[..phase].iter().copied().max().unwrap_or((0, 0));
        let earliest = after.max(barrier.0) + 1;
        let (wave, held) = waves.add(task, earliest);
        ends[task] = wave;
        phase_ends[phase] = phase_ends[phase].max((wave, task));

        let delay = held.or_else(|| {
            if wave == 1 {
                None
            } else if after + 1 == wave {
                let waited = leaves_behind(plan, graph, &ends, task, after);
                Some(Delay { cause: DelayCause::Dependency, on: waited, file: None })
            } else {
                Some(Delay { cause: DelayCause::Group, on: vec![&plan.tasks[barrier.1].id], file: None })
            }
        });
        slots[task] = WaveSlot { wave, delay };
    }
    slots
}

/// The paths of every task in normal form, with those of `exclusive` and the lock files that it may change; what
/// leads out of the repository is left out.
fn paths_of<'p>(plan: &'p Plan<'p>, exclusive: &[String]) -> Vec<Vec<Cow<'p, str>>> {
    let of_task = |task: &'p Task<'p>| {
        let own = task.files().filter_map(held);
        let exclusive = exclusive_of(task, exclusive).into_iter().filter_map(held);
        own.chain(exclusive.map(|path| Cow::Owned(path.into_owned()))).collect()
    };
    plan.tasks.iter().map(of_task).collect()
}

/// The leaves, among those that `task` waits for, that end with wave `end`: at most one of each dependency.
fn leaves_behind<'p>(
    plan: &'p Plan<'p>,
    graph: &Graph,
    ends: &[usize],
    task: TaskIndex,
    end: usize,
) -> Vec<&'p str> {
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
        let id = &*plan.tasks[leaf].id;
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

/// The waves as far as they are filled.
struct FilledWaves<'p> {
    plan: &'p Plan<'p>,
    limit: usize,
    /// The tasks of each wave; no wave has the number 0.
    tasks: Vec<Vec<TaskIndex>>,
    /// The paths of every task.
    paths: Vec<Vec<Cow<'p, str>>>,
}

impl<'p> FilledWaves<'p> {
    /// Puts `task` into the first wave from `earliest` on that takes it, and says what keeps it from the one before,
    /// unless that is before `earliest`.
    fn add(&mut self, task: TaskIndex, earliest: usize) -> (usize, Option<Delay<'p>>) {
        let is_open = |&wave: &usize| !self.is_full(wave) && self.shared(task, wave).is_none();
        let wave = (earliest..).find(is_open).expect("a wave behind all others is open");
        let held = (wave > earliest).then(|| self.held(task, wave - 1));
        if self.tasks.len() <= wave {
            self.tasks.resize_with(wave + 1, Vec::new);
        }
        self.tasks[wave].push(task);
        (wave, held)
    }

    fn is_full(&self, wave: usize) -> bool {
        self.tasks.get(wave).is_some_and(|tasks| tasks.len() >= self.limit)
    }

    /// The first path of `task` that a task of `wave` has as well, and that task.
    fn shared(&self, task: TaskIndex, wave: usize) -> Option<(&Cow<'p, str>, TaskIndex)> {
        let others = self.tasks.get(wave)?;
        self.paths[task].iter().find_map(|path| {
            let has = |other: &&TaskIndex| self.paths[**other].iter().any(|theirs| meet(path, theirs));
            others.iter().find(has).map(|&other| (path, other))
        })
    }

    /// Why `task` is not in `wave`.
    fn held(&self, task: TaskIndex, wave: usize) -> Delay<'p> {
        match self.shared(task, wave) {
            Some((path, holder)) if !self.is_full(wave) => {
                let on = vec![&*self.plan.tasks[holder].id];
                Delay { cause: DelayCause::File, on, file: Some(path.clone()) }
            }
            _ => Delay { cause: DelayCause::Limit, on: Vec::new(), file: None },
        }
    }
}

/// Whether two paths in normal form are the same, or one is above the other.
fn meet(a: &str, b: &str) -> bool {
    a == b || is_above(a, b) || is_above(b, a)
}

/// The waves as a list.
pub(super) fn list_waves<'p>(
    plan: &'p Plan<'p>,
    leaves: &[TaskIndex],
    slots: &[WaveSlot<'p>],
) -> Vec<Wave<'p>> {
    let count = leaves.iter().map(|&leaf| slots[leaf].wave).max().unwrap_or(0);
    let mut waves: Vec<Wave<'p>> =
        (1..=count).map(|number| Wave { number, tasks: Vec::new(), critical: "", complexity: 0 }).collect();
    for &leaf in leaves {
        let task = &plan.tasks[leaf];
        let wave = &mut waves[slots[leaf].wave - 1];
        wave.tasks.push(&task.id);
        if weight(task) > wave.complexity {
            wave.complexity = weight(task);
            wave.critical = &task.id;
        }
    }
    waves
}
