//! How long a run would take with so many builders, and what keeps it from being shorter: the same order of claims
//! and the same limits as in a run, with a task's complexity as its time.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use serde::Serialize;

use super::event::Leaf;
use super::ready::{Policy, work_behind};
use crate::plan::id::TaskId;
use crate::plan::path::{folders, held};
use crate::settings::ExecutionModel;

/// Share of the builders' time from which on they count as always busy.
const BUSY: f64 = 0.95;
/// Files that are named as a limit, at most.
const FILES: usize = 3;

/// What a run would be with so many builders.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Simulation {
    /// How many builders there are.
    pub builders: u32,
    /// How long it takes, in units of complexity.
    pub length: u64,
    /// How many times faster that is than all tasks one after the other, to two decimals.
    pub speed_up: f64,
    /// The part of their time in which builders have a task, 0 to 1, to two decimals.
    pub busy: f64,
    /// What keeps it from being shorter.
    pub limit: Limit,
}

/// What keeps a run from being shorter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "camelCase")]
pub enum Limit {
    /// The longest chain of tasks, each of which waits for the one before.
    CriticalPath {
        /// The chain.
        tasks: Vec<TaskId>,
    },
    /// There are too few builders: nearly all of their time is used.
    Builders,
    /// Tasks wait for files that others have.
    Files {
        /// Those waited for longest, the longest first.
        files: Vec<Waited>,
    },
    /// Phases wait for the ones before.
    Phases,
    /// Too few tasks are ready at times.
    Dependencies,
}

/// A file, and how long tasks that could have run waited for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waited {
    /// The file or folder.
    pub file: String,
    /// Units of complexity, all tasks together.
    pub waited: u64,
}

/// Runs `leaves` with each number of builders; `None` where tasks wait for each other. Dependencies on leaves that
/// are not among them count as done.
#[must_use]
pub fn simulate(leaves: &[Leaf], policy: &Policy, builders: &[u32]) -> Option<Vec<Simulation>> {
    let shape = Shape::new(leaves, policy);
    builders.iter().map(|&builders| shape.simulation(policy.limit(builders))).collect()
}

/// What does not change with the number of builders.
struct Shape<'l> {
    leaves: &'l [Leaf],
    weights: Vec<u64>,
    waits_for: Vec<Vec<usize>>,
    users: Vec<Vec<usize>>,
    behind: Vec<u64>,
    ranks: Vec<(i64, i64)>,
    phased: bool,
    /// Of each leaf, the numbers of its paths, with those of the folders above.
    paths: Vec<Vec<(usize, Vec<usize>)>>,
    names: Vec<String>,
}

/// What a run without some of its limits would take.
#[derive(Clone, Copy)]
struct Limits {
    files: bool,
    phases: bool,
}

/// A ready task, in the order of claims.
type Key = (Reverse<u64>, (i64, i64), usize);

impl<'l> Shape<'l> {
    fn new(leaves: &'l [Leaf], policy: &Policy) -> Self {
        let index: HashMap<&TaskId, usize> =
            leaves.iter().enumerate().map(|(at, leaf)| (&leaf.id, at)).collect();
        let known = |leaf: &Leaf| leaf.dependencies.iter().filter_map(|id| index.get(id).copied()).collect();
        let waits_for: Vec<Vec<usize>> = leaves.iter().map(known).collect();
        let mut users = vec![Vec::new(); leaves.len()];
        for (user, waits_for) in waits_for.iter().enumerate() {
            waits_for.iter().for_each(|&task| users[task].push(user));
        }
        let weights: Vec<u64> = leaves.iter().map(|leaf| u64::from(leaf.complexity.max(1))).collect();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut number = |path: &str| {
            let next = numbers.len();
            *numbers.entry(path.to_owned()).or_insert(next)
        };
        let mut place = |path: Cow<'_, str>| (number(&path), folders(&path).map(&mut number).collect());
        let paths =
            leaves.iter().map(|leaf| leaf.held().filter_map(held).map(&mut place).collect()).collect();
        let mut names = vec![String::new(); numbers.len()];
        numbers.into_iter().for_each(|(path, at)| names[at] = path);
        Self {
            leaves,
            behind: work_behind(&weights, &users),
            weights,
            waits_for,
            users,
            ranks: leaves.iter().map(|leaf| policy.rank(leaf)).collect(),
            phased: policy.model == ExecutionModel::Phased,
            paths,
            names,
        }
    }

    fn key(&self, task: usize, builders: u32) -> Key {
        let behind = if builders > 1 { self.behind[task] } else { 0 };
        (Reverse(behind), self.ranks[task], task)
    }

    fn simulation(&self, builders: u32) -> Option<Simulation> {
        let all = Limits { files: true, phases: self.phased };
        let (length, waited) = Course::run(self, builders, all)?;
        let total: u64 = self.weights.iter().sum();
        let limit = self.limit(builders, length, total, waited)?;
        let two_decimals = |value: f64| (value * 100.0).round() / 100.0;
        #[expect(clippy::cast_precision_loss, reason = "sums of complexities are far below 2^52")]
        let (speed_up, busy) = (
            total as f64 / length.max(1) as f64,
            total as f64 / (length.max(1) * u64::from(builders)) as f64,
        );
        Some(Simulation {
            builders,
            length,
            speed_up: two_decimals(speed_up),
            busy: two_decimals(busy),
            limit,
        })
    }

    fn limit(&self, builders: u32, length: u64, total: u64, waited: BTreeMap<usize, u64>) -> Option<Limit> {
        let critical = self.critical_path();
        if builders > 1 && critical.iter().map(|&task| self.weights[task]).sum::<u64>() == length {
            let tasks = critical.into_iter().map(|task| self.leaves[task].id.clone()).collect();
            return Some(Limit::CriticalPath { tasks });
        }
        #[expect(clippy::cast_precision_loss, reason = "sums of complexities are far below 2^52")]
        let is_busy = total as f64 >= BUSY * (length * u64::from(builders)) as f64;
        if is_busy {
            return Some(Limit::Builders);
        }
        let without =
            |limits: Limits| Course::run(self, builders, limits).map(|(shorter, _)| shorter < length);
        if without(Limits { files: false, phases: self.phased })? {
            let mut files: Vec<Waited> = waited
                .into_iter()
                .map(|(path, waited)| Waited { file: self.names[path].clone(), waited })
                .collect();
            files.sort_by(|a, b| b.waited.cmp(&a.waited).then_with(|| a.file.cmp(&b.file)));
            files.truncate(FILES);
            return Some(Limit::Files { files });
        }
        let phases = self.phased && without(Limits { files: true, phases: false })?;
        Some(if phases { Limit::Phases } else { Limit::Dependencies })
    }

    /// The longest chain; of several the one that begins, and goes on, first in the document.
    fn critical_path(&self) -> Vec<usize> {
        let longest = |tasks: &mut dyn Iterator<Item = usize>| {
            tasks.max_by_key(|&task| (self.behind[task], Reverse(task)))
        };
        let first = longest(&mut (0..self.leaves.len()));
        std::iter::successors(first, |&task| longest(&mut self.users[task].iter().copied())).collect()
    }
}

/// A run as it goes on.
struct Course<'s, 'l> {
    shape: &'s Shape<'l>,
    builders: u32,
    limits: Limits,
    now: u64,
    running: BinaryHeap<Reverse<(u64, usize)>>,
    open: Vec<usize>,
    ready: BTreeSet<Key>,
    ready_since: Vec<u64>,
    /// Ready tasks of later phases, by phase.
    later: BTreeMap<usize, Vec<usize>>,
    /// Unfinished tasks of each phase.
    left: BTreeMap<usize, usize>,
    /// How many running tasks have each path, or something below it.
    here: Vec<u32>,
    below: Vec<u32>,
    /// Ready tasks that wait for a path, and the paths that have become free since.
    waiting: HashMap<usize, BTreeSet<Key>>,
    freed: BTreeSet<usize>,
    /// How long was waited for each path.
    waited: BTreeMap<usize, u64>,
    waits_at: HashMap<usize, usize>,
}

impl<'s, 'l> Course<'s, 'l> {
    /// How long all takes, and how long was waited for each path; `None` where not all tasks can run.
    fn run(shape: &'s Shape<'l>, builders: u32, limits: Limits) -> Option<(u64, BTreeMap<usize, u64>)> {
        let tasks = shape.leaves.len();
        let mut course = Self {
            shape,
            builders,
            limits,
            now: 0,
            running: BinaryHeap::new(),
            open: shape.waits_for.iter().map(Vec::len).collect(),
            ready: BTreeSet::new(),
            ready_since: vec![0; tasks],
            later: BTreeMap::new(),
            left: BTreeMap::new(),
            here: vec![0; shape.names.len()],
            below: vec![0; shape.names.len()],
            waiting: HashMap::new(),
            freed: BTreeSet::new(),
            waited: BTreeMap::new(),
            waits_at: HashMap::new(),
        };
        shape.leaves.iter().for_each(|leaf| *course.left.entry(leaf.phase).or_default() += 1);
        let first: Vec<usize> = (0..tasks).filter(|&task| course.open[task] == 0).collect();
        first.into_iter().for_each(|task| course.offer(task));
        let mut done = 0;
        loop {
            while course.running.len() < builders as usize && course.start() {}
            let Some(Reverse((end, task))) = course.running.pop() else { break };
            course.now = end;
            course.finish(task);
            done += 1;
        }
        (done == tasks).then_some((course.now, course.waited))
    }

    /// `task` waits for no other task any more.
    fn offer(&mut self, task: usize) {
        let phase = self.shape.leaves[task].phase;
        let first = self.left.keys().next().copied();
        if self.limits.phases && first.is_some_and(|first| first < phase) {
            self.later.entry(phase).or_default().push(task);
        } else {
            self.ready_since[task] = self.now;
            self.ready.insert(self.shape.key(task, self.builders));
        }
    }

    /// Starts the first ready task whose files are free; whether there is one.
    fn start(&mut self) -> bool {
        loop {
            let first = self.ready.first().map(|key| (*key, None));
            let freed =
                self.freed.iter().filter_map(|path| Some((*self.waiting.get(path)?.first()?, Some(*path))));
            let Some((key, from)) = first.into_iter().chain(freed).min() else { return false };
            match from {
                None => self.ready.remove(&key),
                Some(path) => self.waiting.get_mut(&path).is_some_and(|tasks| tasks.remove(&key)),
            };
            let task = key.2;
            let Some(path) = self.taken(task) else {
                self.take(task);
                return true;
            };
            self.freed.remove(&path);
            self.waiting.entry(path).or_default().insert(key);
            self.waits_at.insert(task, path);
        }
    }

    /// A path of `task` that a running task has.
    fn taken(&self, task: usize) -> Option<usize> {
        if !self.limits.files {
            return None;
        }
        self.shape.paths[task].iter().find_map(|(path, folders)| {
            let above = folders.iter().copied().find(|&folder| self.here[folder] > 0);
            above.or_else(|| (self.here[*path] > 0 || self.below[*path] > 0).then_some(*path))
        })
    }

    fn take(&mut self, task: usize) {
        let waited = self.now - self.ready_since[task];
        if let Some(path) = self.waits_at.remove(&task).filter(|_| waited > 0) {
            *self.waited.entry(path).or_default() += waited;
        }
        for (path, folders) in &self.shape.paths[task] {
            self.here[*path] += 1;
            folders.iter().for_each(|&folder| self.below[folder] += 1);
        }
        self.running.push(Reverse((self.now + self.shape.weights[task], task)));
    }

    fn finish(&mut self, task: usize) {
        for (path, folders) in &self.shape.paths[task] {
            self.here[*path] -= 1;
            folders.iter().for_each(|&folder| self.below[folder] -= 1);
            let free = std::iter::once(path).chain(folders).filter(|path| self.waiting.contains_key(path));
            self.freed.extend(free);
        }
        let phase = self.shape.leaves[task].phase;
        if let Some(left) = self.left.get_mut(&phase) {
            *left -= 1;
            if *left == 0 {
                self.left.remove(&phase);
                let next = self.left.keys().next().copied();
                let due = next.and_then(|next| self.later.remove(&next)).unwrap_or_default();
                due.into_iter().for_each(|task| self.offer(task));
            }
        }
        for &user in &self.shape.users[task] {
            self.open[user] -= 1;
            if self.open[user] == 0 {
                self.offer(user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Complexity, dependencies, files and phase of a task; they are numbered from 1.
    type Drawn<'d> = (u32, &'d [usize], &'d [&'d str], usize);

    fn leaves(tasks: &[Drawn<'_>]) -> Vec<Leaf> {
        let id = |number: usize| TaskId::new(number.to_string()).unwrap();
        let leaf = |(at, (complexity, after, files, phase)): (usize, &Drawn<'_>)| Leaf {
            id: id(at + 1),
            title: String::new(),
            hash: String::new(),
            dependencies: after.iter().map(|&number| id(number)).collect(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            references: Vec::new(),
            exclusive: Vec::new(),
            complexity: *complexity,
            phase: *phase,
        };
        tasks.iter().enumerate().map(leaf).collect()
    }

    #[test]
    fn lengths_and_limits() {
        let phased = Policy { model: ExecutionModel::Phased, ..Policy::default() };
        let check = |tasks: &[Drawn<'_>], policy: &Policy, builders, length, by: &str| {
            let found = simulate(&leaves(tasks), policy, &[builders]).unwrap().remove(0);
            let limit = serde_json::to_value(&found.limit).unwrap();
            assert_eq!((found.length, limit["by"].as_str().unwrap()), (length, by), "{tasks:?}");
        };
        let plain = Policy::default();
        check(&[(2, &[], &[], 0), (3, &[], &[], 0)], &plain, 1, 5, "builders");
        check(&[(2, &[], &[], 0), (3, &[], &[], 0)], &plain, 2, 3, "criticalPath");
        check(&[(2, &[], &[], 0), (3, &[1], &[], 0), (1, &[], &[], 0)], &plain, 4, 5, "criticalPath");
        check(&[(2, &[], &["a"], 0), (3, &[], &["a"], 0), (1, &[], &["b"], 0)], &plain, 2, 5, "files");
        check(
            &[(2, &[], &["src"], 0), (3, &[], &["src/a"], 0), (1, &[], &["src/b"], 0)],
            &plain,
            2,
            5,
            "files",
        );
        check(&[(1, &[], &[], 0), (3, &[], &[], 0), (1, &[], &[], 1)], &phased, 2, 4, "phases");
        check(&[(1, &[], &[], 0), (3, &[], &[], 0), (1, &[], &[], 1)], &plain, 2, 3, "criticalPath");
        // The long chain first: in the order of the document it would take 8.
        check(
            &[(1, &[], &[], 0), (1, &[], &[], 0), (3, &[], &[], 0), (3, &[3], &[], 0)],
            &plain,
            2,
            6,
            "criticalPath",
        );
        assert_eq!(simulate(&leaves(&[(1, &[2], &[], 0), (1, &[1], &[], 0)]), &plain, &[1]), None);
    }

    #[test]
    fn the_file_that_is_waited_for_is_named() {
        let tasks = leaves(&[(2, &[], &["a"], 0), (3, &[], &["a"], 0), (1, &[], &["a"], 0)]);
        let found = simulate(&tasks, &Policy::default(), &[3]).unwrap().remove(0);
        let file = Waited { file: "a".into(), waited: 3 + 5 };
        assert_eq!((found.length, found.limit), (6, Limit::Files { files: vec![file] }));
    }

    proptest! {
        #[test]
        fn no_shorter_than_the_bounds_and_no_longer_than_one_after_the_other(
            drawn in prop::collection::vec((1_u32..6, 0_usize..8, 0_usize..3, 0_usize..3), 1..12),
            builders in 1_u32..5,
        ) {
            let files = [&["a"][..], &["b", "c/d"], &["c"]];
            let after: Vec<Vec<usize>> =
                drawn.iter().enumerate().map(|(at, d)| if d.1 < at { vec![d.1 + 1] } else { vec![] }).collect();
            let tasks: Vec<_> = drawn.iter().zip(&after).map(|(d, a)| (d.0, &a[..], files[d.2], d.3)).collect();
            let tasks = leaves(&tasks);
            let found = simulate(&tasks, &Policy::default(), &[1, builders]).unwrap();
            let total: u64 = tasks.iter().map(|task| u64::from(task.complexity)).sum();
            let shape = Shape::new(&tasks, &Policy::default());
            let critical: u64 = shape.critical_path().iter().map(|&task| shape.weights[task]).sum();
            prop_assert_eq!(found[0].length, total);
            prop_assert!(found[1].length >= critical.max(total.div_ceil(u64::from(builders))));
            prop_assert!(found[1].length <= total);
        }
    }
}
