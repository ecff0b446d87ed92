//! The processes that serve connections, each the head of a group of its own, so that it can be killed with whatever it
//! has started, and nothing else.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process_group};

/// Groups that are alive. Killed when the last owner drops it.
#[derive(Clone, Default)]
pub(super) struct Processes(Arc<Groups>);

#[derive(Default)]
struct Groups(Mutex<BTreeSet<u32>>);

impl Processes {
    pub(super) fn start(&self, command: &mut Command) -> Child {
        let mut groups = self.0.0.lock().unwrap();
        let child = command.process_group(0).spawn().unwrap();
        groups.insert(child.id());
        child
    }

    /// Waits for a process that [`Self::start`] has started.
    pub(super) fn finish(&self, mut child: Child) {
        // Fails if somebody else took the status, and then it is over all the same.
        drop(child.wait());
        self.0.0.lock().unwrap().remove(&child.id());
    }

    /// Kills all that are alive, and says how many.
    pub(super) fn kill(&self) -> usize {
        self.0.kill()
    }
}

impl Groups {
    fn kill(&self) -> usize {
        let groups = self.0.lock().unwrap();
        let pids = groups
            .iter()
            .filter_map(|id| Pid::from_raw(id.cast_signed()));
        pids.filter(|pid| kill_process_group(*pid, Signal::KILL).is_ok())
            .count()
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.kill();
    }
}
