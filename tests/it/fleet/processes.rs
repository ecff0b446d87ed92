//! The processes that serve connections, each the leader of its own process group, so that it can be killed together
//! with whatever it started, and nothing else.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process_group};

/// Live process groups. Killed when the last owner is dropped.
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
        // Fails if the status was already collected, but then the process has ended anyway.
        drop(child.wait());
        self.0.0.lock().unwrap().remove(&child.id());
    }

    /// Kills all live groups and returns how many there were.
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
