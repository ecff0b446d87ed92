//! Plays a plan in time: free builders take ready leaves, and a leaf that is committed frees its files and what waits
//! for it. Tells when each leaf starts, and why not earlier.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::{fmt, iter};

use serde::Serialize;

use crate::exclusive::exclusive_of;
use crate::plan::graph::Graph;
use crate::plan::path::{held, meet};
use crate::plan::task::{Plan, Task, TaskIndex};

/// The reason why a leaf doesn't start earlier, with the leaves that are committed when it starts. Its strings come
/// from the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "cause", rename_all = "camelCase")]
pub enum Delay<'p> {
    /// It waits for leaves.
    Dependency { on: Vec<&'p str> },
    /// A leaf has one of the same files.
    File {
        on: [&'p str; 1],
        file: Cow<'p, str>,
    },
    /// Every builder is at work.
    Limit { on: [&'p str; 0] },
}

/// The reason in a few words.
impl fmt::Display for Delay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dependency { on } => write!(f, "after {}", on.join(", ")),
            Self::File { on, file } => write!(f, "{file} is with {}", on[0]),
            Self::Limit { .. } => f.write_str("no builder is free"),
        }
    }
}

/// Seconds of a task until it is submitted, and from then on until it is committed. Neither is 0 for a leaf; a parent
/// takes none.
pub(super) type TaskSeconds = (u64, u64);
/// The seconds before a leaf starts, and the reason why it doesn't start earlier.
pub(super) type LeafStart<'p> = (u64, Option<Delay<'p>>);

/// Builders at work on the leaves of a plan.
pub(super) struct Simulation<'p> {
    pub(super) plan: &'p Plan<'p>,
    graph: Graph,
    /// The direct dependents of each task.
    users: Graph,
    /// Each task after those that it waits for.
    pub(super) order: Vec<TaskIndex>,
    seconds: Vec<TaskSeconds>,
    /// For each task, its place among all by the time behind them, longest first.
    ranks: Vec<usize>,
    /// For each task, the paths that it reserves, in normal form: its files, and any lock files and exclusive files
    /// that it may change. Leaves out paths that lead out of the repository.
    paths: Vec<Vec<Cow<'p, str>>>,
}

impl<'p> Simulation<'p> {
    /// `order` has each task of `graph` after those that it waits for.
    pub(super) fn new(
        plan: &'p Plan<'p>,
        graph: Graph,
        order: Vec<TaskIndex>,
        seconds: Vec<TaskSeconds>,
        exclusive: &[String],
    ) -> Self {
        let users = graph.reversed();
        let backwards: Vec<TaskIndex> = order.iter().rev().copied().collect();
        let behind = users.chain_weights(&backwards, |task| seconds[task].0 + seconds[task].1);
        let mut sorted = order.clone();
        sorted.sort_by_key(|&task| Reverse(behind[task]));
        let mut ranks = vec![0; sorted.len()];
        for (rank, task) in sorted.into_iter().enumerate() {
            ranks[task] = rank;
        }
        let paths_of = |task: &'p Task<'p>| {
            let exclusive = exclusive_of(task, exclusive).into_iter().filter_map(held);
            let exclusive = exclusive.map(|path| Cow::Owned(path.into_owned()));
            task.files().filter_map(held).chain(exclusive).collect()
        };
        Self {
            plan,
            graph,
            users,
            order,
            seconds,
            ranks,
            paths: plan.tasks.iter().map(paths_of).collect(),
        }
    }

    /// The start of each leaf with this many builders, and the seconds until all are committed. A free builder
    /// takes the ready leaf with the most time behind it.
    pub(super) fn play(&self, builders: u32) -> (Vec<LeafStart<'p>>, u64) {
        let waits = |task| self.graph.waits_for(task).len();
        let mut open: Vec<usize> = (0..self.graph.len()).map(waits).collect();
        let first = self.order.iter().filter(|&&task| open[task] == 0);
        let mut ready: BTreeSet<_> = first.map(|&task| (self.ranks[task], task)).collect();
        let mut starts = vec![LeafStart::default(); open.len()];
        // Each leaf under way, and when it is submitted and committed.
        let mut under_way: Vec<(TaskIndex, u64, u64)> = Vec::new();
        let mut committed: Vec<TaskIndex> = Vec::new();
        let mut now = 0;
        loop {
            let at_work = under_way.iter().filter(|it| it.1 > now);
            let free = (builders.max(1) as usize).saturating_sub(at_work.count());
            let begin = |&(_, task): &(usize, TaskIndex)| {
                let is_free = self.shared(task, under_way.iter().map(|it| it.0)).is_none();
                if is_free {
                    let submitted = now + self.seconds[task].0;
                    under_way.push((task, submitted, submitted + self.seconds[task].1));
                }
                is_free
            };
            let begun: Vec<_> = ready.iter().copied().filter(begin).take(free).collect();
            for place in begun {
                ready.remove(&place);
                let delay = (now > 0).then(|| self.delay_of(place.1, &committed));
                starts[place.1] = (now, delay);
            }
            let times = under_way.iter().flat_map(|it| [it.1, it.2]);
            let Some(next) = times.filter(|time| *time > now).min() else {
                return (starts, now);
            };
            now = next;
            let ended = under_way.extract_if(.., |it| it.2 == now);
            committed = ended.map(|it| it.0).collect();
            let mut ended = committed.clone();
            while let Some(task) = ended.pop() {
                for &user in self.users.waits_for(task) {
                    open[user] -= 1;
                    match (open[user], self.plan.tasks[user].is_leaf()) {
                        (0, true) => _ = ready.insert((self.ranks[user], user)),
                        (0, false) => ended.push(user),
                        (1.., _) => {}
                    }
                }
            }
        }
    }

    /// The first path of `task` that one of `others` has too, and which one.
    fn shared(
        &self,
        task: TaskIndex,
        others: impl Iterator<Item = TaskIndex> + Clone,
    ) -> Option<(&Cow<'p, str>, TaskIndex)> {
        self.paths[task].iter().find_map(|path| {
            let has = |other: &TaskIndex| self.paths[*other].iter().any(|own| meet(path, own));
            Some((path, others.clone().find(has)?))
        })
    }

    /// The reason why `task` starts only now that `committed` are committed.
    fn delay_of(&self, task: TaskIndex, committed: &[TaskIndex]) -> Delay<'p> {
        let id = |task: TaskIndex| &*self.plan.tasks[task].id;
        let is_waited_for = |leaf: &TaskIndex| {
            let mut above = iter::successors(Some(*leaf), |&leaf| self.plan.tasks[leaf].parent);
            above.any(|before| self.graph.waits_for(task).contains(&before))
        };
        let committed = committed.iter().copied();
        let on: Vec<&str> = committed.clone().filter(is_waited_for).map(id).collect();
        match self.shared(task, committed) {
            _ if !on.is_empty() => Delay::Dependency { on },
            Some((file, holder)) => Delay::File {
                on: [id(holder)],
                file: file.clone(),
            },
            None => Delay::Limit { on: [] },
        }
    }

    /// The ids of the chain that takes longest, and its seconds. Among equal ones, the one that ends first in the
    /// order wins, and then at each step the first dependency listed.
    pub(super) fn longest_chain(&self) -> (Vec<&'p str>, u64) {
        let weight = |task: TaskIndex| self.seconds[task].0 + self.seconds[task].1;
        let length = self.graph.chain_weights(&self.order, weight);
        let longest = |tasks: &[TaskIndex]| {
            let tasks = tasks.iter().copied();
            tasks.min_by_key(|&task| Reverse(length[task]))
        };
        let last = longest(&self.order);
        let way = iter::successors(last, |&task| longest(self.graph.waits_for(task)));
        let tasks = way.map(|task| &self.plan.tasks[task]);
        let leaves = tasks.filter(|task| task.is_leaf());
        let mut ids: Vec<&str> = leaves.map(|leaf| &*leaf.id).collect();
        ids.reverse();
        (ids, last.map_or(0, |task| length[task]))
    }
}
