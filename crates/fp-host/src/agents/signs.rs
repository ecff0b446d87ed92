//! A process without output still counts as alive while its folder changes.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime};

/// Maximum number of entries of a folder to check, from the top level down.
const MAX_ENTRIES: usize = 20_000;

/// The state of an agent's folder at the last check.
#[derive(Debug)]
pub struct LifeSigns {
    /// The time of the last check.
    pub at: Instant,
    /// The newest change found then; `None` before the first check.
    seen: Option<Option<SystemTime>>,
}

impl LifeSigns {
    /// The state for a process that starts now.
    pub fn at_start() -> Self {
        Self {
            at: Instant::now(),
            seen: None,
        }
    }

    /// True if something in `folder` has changed since the last check.
    pub fn has_worked(&mut self, folder: &Path) -> bool {
        self.at = Instant::now();
        let changed = newest_change(folder);
        let before = self.seen.replace(changed);
        before.is_some_and(|before| changed > before)
    }
}

/// The time of the last change in `folder`, ignoring git's and `fp`'s own files.
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
