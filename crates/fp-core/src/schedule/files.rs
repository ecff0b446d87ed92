//! In which waves the files and folders of the repository are in use.

use std::borrow::Cow;
use std::collections::HashMap;

use super::closed::Closed;
use crate::exclusive::exclusive_of;
use crate::plan::path::{held, overlap};
use crate::plan::task::{Plan, Task, TaskIndex};

/// Deepest path whose folders are compared with other paths; beyond it only the upper ones are.
const MAX_FOLDERS: usize = 64;

/// The paths of every task in normal form, with those of `exclusive` and the lock files that it may change; what
/// leads out of the repository is left out.
pub(super) fn paths<'p>(plan: &'p Plan<'p>, exclusive: &[String]) -> Vec<Vec<Cow<'p, str>>> {
    let of = |task: &'p Task<'p>| {
        let own = task.files().filter_map(held);
        let exclusive = exclusive_of(task, exclusive).into_iter().filter_map(held);
        own.chain(exclusive.map(|path| Cow::Owned(path.into_owned()))).collect()
    };
    plan.tasks.iter().map(of).collect()
}

/// Of every file and folder, where it is in use.
#[derive(Debug)]
pub(super) struct Files<'a, 'p> {
    paths: &'a [Vec<Cow<'p, str>>],
    numbers: HashMap<&'a str, usize>,
    used: Vec<Used>,
}

/// Where a path is in use: itself, and something below it.
#[derive(Debug, Default)]
struct Used {
    here: Closed,
    below: Closed,
}

/// A path of a task, or a folder above one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    number: usize,
    is_folder: bool,
}

impl<'a, 'p> Files<'a, 'p> {
    /// For tasks with these [`paths`].
    pub(super) fn new(paths: &'a [Vec<Cow<'p, str>>]) -> Self {
        Self { paths, numbers: HashMap::with_capacity(paths.len()), used: Vec::new() }
    }

    /// Where the files of `task` are: they and every folder above them.
    pub(super) fn places(&mut self, task: TaskIndex) -> Vec<Place> {
        let mut places = Vec::new();
        for path in &self.paths[task] {
            for folder in folders(path) {
                let number = *self.numbers.entry(folder).or_insert(self.used.len());
                if number == self.used.len() {
                    self.used.push(Used::default());
                }
                places.push(Place { number, is_folder: folder != path });
            }
        }
        places
    }

    /// The waves in which something at one of these places, or below it where it isn't a folder of something
    /// else, is in use.
    pub(super) fn closed(&self, places: &[Place]) -> Vec<&Closed> {
        let sets = places.iter().flat_map(|place| {
            let used = &self.used[place.number];
            std::iter::once(&used.here).chain((!place.is_folder).then_some(&used.below))
        });
        sets.filter(|set| !set.is_empty()).collect()
    }

    /// The first path of `task` that one of `others` has as well, and which of them.
    pub(super) fn holder(
        &self,
        task: TaskIndex,
        others: &[TaskIndex],
    ) -> Option<(&'a Cow<'p, str>, TaskIndex)> {
        self.paths[task].iter().find_map(|path| {
            let has = |other: &&TaskIndex| overlap(&[path], &self.paths[**other]);
            others.iter().find(has).map(|&holder| (path, holder))
        })
    }

    /// Has `wave` use these places.
    pub(super) fn take(&mut self, wave: usize, places: &[Place]) {
        for place in places {
            let used = &mut self.used[place.number];
            if place.is_folder { used.below.add(wave) } else { used.here.add(wave) }
        }
    }
}

/// The whole repository, every folder above `path`, and `path`.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]).take(MAX_FOLDERS);
    std::iter::once(".").chain(above).chain(std::iter::once(path).filter(|path| *path != "."))
}
