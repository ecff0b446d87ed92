//! Signs of life of a process that says nothing: its folder changes.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

/// Most entries of a folder to look at, the upper ones first.
const MAX_ENTRIES: usize = 20_000;

/// An agent's folder as it was last looked at.
#[derive(Debug)]
pub struct LifeSigns {
    /// When it was looked at.
    pub at: Instant,
    /// The newest change then; `None` before the first look.
    seen: Option<Option<SystemTime>>,
}

impl LifeSigns {
    /// Those of a process that starts now.
    pub fn at_start() -> Self {
        Self {
            at: Instant::now(),
            seen: None,
        }
    }

    /// True if something in `folder` has changed since the last look.
    pub fn has_worked(&mut self, folder: &Path) -> bool {
        self.at = Instant::now();
        let changed = newest_change(folder);
        let before = self.seen.replace(changed);
        before.is_some_and(|before| changed > before)
    }
}

/// The time of the last change in `folder`, without what git and `fp` keep there.
fn newest_change(folder: &Path) -> Option<SystemTime> {
    let mut open = VecDeque::from([folder.to_owned()]);
    let (mut newest, mut left) = (None, MAX_ENTRIES);
    while let Some(folder) = open.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if left == 0 || name == ".git" || name == ".fractal-planner" {
                continue;
            }
            left -= 1;
            let Ok(found) = entry.metadata() else {
                continue;
            };
            newest = newest.max(found.modified().ok());
            if found.is_dir() {
                open.push_back(entry.path());
            }
        }
    }
    newest
}
