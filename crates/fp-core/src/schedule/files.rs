//! In which waves the files and folders of the repository are in use, and by which task.

use std::collections::HashMap;

use super::closed::Closed;
use crate::plan::path::{literal_prefix, normal};
use crate::plan::task::{Task, TaskIndex};

/// Deepest path whose folders are compared with other paths; beyond it only the upper ones are.
const MAX_FOLDERS: usize = 64;

/// Of every file and folder, where it is in use.
#[derive(Debug, Default)]
pub(super) struct Files {
    used: HashMap<String, Used>,
}

/// Where a path is in use: itself, and something below it.
#[derive(Debug, Default)]
struct Used {
    here: Closed,
    below: Closed,
    /// Who uses it in which wave, itself or something below it.
    by: HashMap<usize, TaskIndex>,
}

impl Files {
    /// The waves in which something that is or holds one of `paths`, or lies below it, is in use.
    pub(super) fn closed<'f>(&'f self, paths: &[String]) -> Vec<&'f Closed> {
        let mut sets = Vec::new();
        for path in paths {
            for folder in folders(path) {
                let Some(used) = self.used.get(folder) else { continue };
                sets.extend(used.against(folder == path).filter(|set| !set.is_empty()));
            }
        }
        sets
    }

    /// The first of `paths` that can't be had in `wave`, and who has it.
    pub(super) fn holder<'p>(&self, paths: &'p [String], wave: usize) -> Option<(&'p str, TaskIndex)> {
        paths.iter().find_map(|path| {
            let holder = folders(path).find_map(|folder| {
                let used = self.used.get(folder)?;
                let in_use = used.against(folder == path).any(|set| set.has(wave));
                in_use.then(|| used.by[&wave])
            });
            holder.map(|task| (path.as_str(), task))
        })
    }

    /// Has `task` use `paths` in `wave`.
    pub(super) fn take(&mut self, task: TaskIndex, wave: usize, paths: &[String]) {
        for path in paths {
            for folder in folders(path) {
                if !self.used.contains_key(folder) {
                    self.used.insert(folder.to_owned(), Used::default());
                }
                let used = self.used.get_mut(folder).expect("it was just inserted");
                if folder == path {
                    used.here.add(wave)
                } else {
                    used.below.add(wave)
                }
                used.by.insert(wave, task);
            }
        }
    }
}

impl Used {
    /// What keeps a path from being used: as the path itself, or as one below this folder.
    fn against(&self, itself: bool) -> impl Iterator<Item = &Closed> {
        std::iter::once(&self.here).chain(itself.then_some(&self.below))
    }
}

/// The paths of a task in normal form.
pub(super) fn paths(task: &Task) -> Vec<String> {
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
