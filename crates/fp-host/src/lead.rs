//! Finds out whether the process that leads a run is still alive.

use std::fs::{OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use fp_run::report::standing::LeadPresence;
use fp_run::run::State;

use crate::file::open_own;
use crate::platform;

/// Name of the file that the lead of a plan keeps locked.
pub const LEAD_LOCK: &str = "lead.lock";

/// A check of the lead's lock. It must come before the log is read, so that a lead that ends the run in between isn't
/// taken for one that died.
#[derive(Debug)]
pub struct LeadLook {
    lock: PathBuf,
    was_held: Option<bool>,
}

impl LeadLook {
    /// Checks the lead's lock for the plan in `folder`.
    pub fn in_folder(folder: &Path) -> Self {
        let lock = folder.join(LEAD_LOCK);
        let was_held = is_held(&lock);
        Self { lock, was_held }
    }

    /// The presence of the lead, based on this check and on `state`, which was read after it.
    pub fn presence(&self, state: &State) -> LeadPresence {
        let Some(run) = state.run.as_ref().filter(|_| state.is_running()) else {
            return LeadPresence::Unknown;
        };
        let is_there = match (run.terms.processes, self.was_held) {
            // A lead that started in between holds the lock now.
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

/// True if a process holds `lock`. Takes a shared lock, so that two concurrent checks don't mistake each other for the
/// holder.
fn is_held(lock: &Path) -> Option<bool> {
    let Some(file) = open_own(lock, OpenOptions::new().read(true)).ok()? else {
        return Some(false);
    };
    match file.try_lock_shared() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}
