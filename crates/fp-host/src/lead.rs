//! Finds out whether the process that leads a run is still there.

use std::fs::{OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use fp_run::report::standing::LeadPresence;
use fp_run::run::State;

use crate::platform;
use crate::store;

/// Name of the file that the lead of a plan keeps locked.
pub const LEAD_LOCK: &str = "lead.lock";

/// A look at the lead of a plan. It has to come before the log is read: who ends the run afterwards is not gone.
#[derive(Debug)]
pub struct LeadLook {
    lock: PathBuf,
    was_held: Option<bool>,
}

impl LeadLook {
    /// Looks at the lead of the plan in `folder`.
    pub fn in_folder(folder: &Path) -> Self {
        let lock = folder.join(LEAD_LOCK);
        let was_held = is_held(&lock);
        Self { lock, was_held }
    }

    /// The presence of the lead of `state`, which was read after this look.
    pub fn presence(&self, state: &State) -> LeadPresence {
        let Some(run) = state.run.as_ref().filter(|_| state.is_running()) else {
            return LeadPresence::Unknown;
        };
        let is_there = match (run.terms.processes, self.was_held) {
            // Whoever has begun in between is there now.
            (true, Some(false)) => is_held(&self.lock),
            (true, was_held) => was_held,
            (false, _) => run.terms.client.and_then(platform::is_running),
        };
        match is_there {
            Some(true) => LeadPresence::Present,
            Some(false) => LeadPresence::Gone,
            None => LeadPresence::Unknown,
        }
    }
}

/// True if a process has `lock`. Shared, so that two who look don't take each other for the holder.
fn is_held(lock: &Path) -> Option<bool> {
    let Some(file) = store::open(lock, OpenOptions::new().read(true)).ok()? else {
        return Some(false);
    };
    match file.try_lock_shared() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}
