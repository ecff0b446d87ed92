//! Waves: the earliest step at which each leaf can run, and what keeps it from an earlier one.

use std::borrow::Cow;
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

/// Why a task isn't in an earlier wave. Its texts are those of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delay<'p> {
    /// What it is.
    pub cause: Cause,
    /// The tasks that it waits for; none for the limit.
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
            (Cause::Dependency, _) => out.write_str("after ")?,
            (Cause::File, Some(file)) => {
                path(out, file)?;
                out.write_str(" is with ")?;
            }
            (Cause::File, None) => out.write_str("a file is with ")?,
            (Cause::Group, _) => out.write_str("after the group of ")?,
            (Cause::Limit, _) => out.write_str("no builder is free")?,
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
    /// Its tasks in order.
    pub tasks: Vec<&'p str>,
    /// The task that takes longest.
    pub critical: &'p str,
    /// That one's complexity: what the wave costs.
    pub complexity: u32,
}

/// Where a leaf was put.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot<'p> {
    pub(super) wave: usize,
    pub(super) delay: Option<Delay<'p>>,
}

/// Puts every leaf, in order, into the earliest wave that takes it; parents have empty slots.
pub(super) fn place<'p>(
    plan: &'p Plan<'p>,
    graph: &Graph,
    order: &[TaskIndex],
    phases: &[usize],
    options: &Options,
) -> Vec<Slot<'p>> {
    let paths = files::paths(plan, &options.exclusive);
    let mut waves = Waves {
        plan,
        limit: options.limit() as usize,
        tasks: Vec::new(),
        full: Closed::default(),
        files: Files::new(&paths),
    };
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
        let (wave, held) = waves.first(task, earliest);
        ends[task] = wave;
        phase_ends.add(phase, wave, task);

        let delay = held.or_else(|| {
            if wave == 1 {
                None
            } else if after + 1 == wave {
                let waited = behind(plan, graph, &ends, task, after);
                Some(Delay { cause: Cause::Dependency, on: waited, file: None })
            } else {
                Some(Delay { cause: Cause::Group, on: vec![&plan.tasks[barrier.1].id], file: None })
            }
        });
        slots[task] = Slot { wave, delay };
    }
    slots
}

/// The leaves, among those that `task` waits for, that end with wave `end`: at most one of each dependency.
fn behind<'p>(
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
struct Waves<'a, 'p> {
    plan: &'p Plan<'p>,
    limit: usize,
    /// The tasks of each wave; the one at 0 is none.
    tasks: Vec<Vec<TaskIndex>>,
    /// The waves that have as many tasks as there may be.
    full: Closed,
    files: Files<'a, 'p>,
}

impl<'p> Waves<'_, 'p> {
    /// The first wave from `earliest` on that takes `task`, which is put there, and what keeps it from the one
    /// before, unless that is before `earliest`.
    fn first(&mut self, task: TaskIndex, earliest: usize) -> (usize, Option<Delay<'p>>) {
        let places = self.files.places(task);
        let mut sets = self.files.closed(&places);
        sets.push(&self.full);
        let wave = closed::first_open(&sets, earliest);
        let held = (wave > earliest).then(|| self.held(task, wave - 1));
        if self.tasks.len() <= wave {
            self.tasks.resize_with(wave + 1, Vec::new);
        }
        self.tasks[wave].push(task);
        if self.tasks[wave].len() >= self.limit {
            self.full.add(wave);
        }
        self.files.take(wave, &places);
        (wave, held)
    }

    /// Why `task` is not in `wave`.
    fn held(&self, task: TaskIndex, wave: usize) -> Delay<'p> {
        match self.files.holder(task, &self.tasks[wave]) {
            Some((path, holder)) if !self.full.has(wave) => {
                let on = vec![&*self.plan.tasks[holder].id];
                Delay { cause: Cause::File, on, file: Some(path.clone()) }
            }
            _ => Delay { cause: Cause::Limit, on: Vec::new(), file: None },
        }
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
pub(super) fn collect<'p>(plan: &'p Plan<'p>, leaves: &[TaskIndex], slots: &[Slot<'p>]) -> Vec<Wave<'p>> {
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
