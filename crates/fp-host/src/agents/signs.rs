//! Signs of life of a process that says nothing: its folder changes, or it uses the processor.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use super::RunningAgent;

/// Most entries of a folder to look at, the upper ones first.
const MAX_ENTRIES: usize = 20_000;
/// A process that only waits uses less than this fraction of a processor, as one part in `BUSY`.
const BUSY: u32 = 20;

/// An agent's process as it was last looked at.
#[derive(Debug)]
pub struct LifeSigns {
    /// When it was looked at.
    pub at: Instant,
    /// `None` before the first look.
    seen: Option<(Option<Duration>, Option<SystemTime>)>,
}

impl LifeSigns {
    /// Those of a process that starts now.
    pub fn at_start() -> Self {
        Self {
            at: Instant::now(),
            seen: None,
        }
    }

    /// True if `agent` has worked in `folder`, or with the processor, since the last look.
    pub fn has_worked(&mut self, agent: &RunningAgent, folder: &Path) -> bool {
        let (at, used, changed) = (
            Instant::now(),
            agent.processor_time(),
            newest_change(folder),
        );
        let since = at.duration_since(self.at);
        let before = self.seen.replace((used, changed));
        self.at = at;
        before.is_some_and(|(used_before, changed_before)| {
            let spent = used.zip(used_before);
            let spent = spent.map(|(now, before)| now.saturating_sub(before));
            spent.is_some_and(|spent| spent * BUSY > since) || changed > changed_before
        })
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
