//! Unix systems where no process adopts the descendants of another, so that there are no supervisors.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::process::Signal;

use crate::process::Confinement;

#[path = "../unsupervised.rs"]
mod everywhere;

pub(crate) use everywhere::{OWN_PROGRAM, make_pipe};
pub use everywhere::{
    can_close_network, can_confine, end_marked, supervise_process, supervise_with,
};

/// Never made.
pub(super) struct NoSupervisor;

pub(super) use NoSupervisor as Supervisor;

impl NoSupervisor {
    pub(super) fn wrapped(
        _command: &Command,
        _grace: Duration,
        _confinement: Option<&Confinement>,
    ) -> io::Result<Option<Command>> {
        Ok(None)
    }

    pub(super) fn spawn(command: &mut Command) -> io::Result<(Self, Child)> {
        Err(io::Error::other(format!("nothing supervises {command:?}")))
    }

    pub(super) fn mark(&self) -> String {
        String::new()
    }

    pub(super) fn signal(&self, _signal: Signal) {}

    pub(super) fn forget(&self, _status: ExitStatus) {}
}
