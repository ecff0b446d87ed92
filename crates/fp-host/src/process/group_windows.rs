//! A command's children must not outlive it, so it runs in a job object: everything in the job ends with it,
//! and the job ends with this process.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use process_wrap::std::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};

use super::CommandEnd;

/// The shell that runs `line`, which it takes verbatim.
pub(super) fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/D", "/S", "/C"]).raw_arg(format!("\"{line}\""));
    command
}

/// A command in a job of its own.
pub(super) struct JobObject(Box<dyn ChildWrapper>);

impl JobObject {
    pub(super) fn spawn(command: Command, _grace: Duration) -> io::Result<Self> {
        Ok(Self(CommandWrap::from(command).wrap(KillOnDrop).wrap(JobObject).spawn()?))
    }

    /// The command's exit, if it has ended.
    pub(super) fn poll(&mut self) -> io::Result<Option<CommandEnd>> {
        let status = self.0.try_wait()?;
        Ok(status.map(|status| status.code().map_or(CommandEnd::Signalled(0), CommandEnd::Exited)))
    }

    pub(super) fn mark(&self) -> &'static str {
        ""
    }

    /// Windows has no way to ask.
    pub(super) fn ask_to_end(&self) {}

    /// Ends every process of the job at once; Windows has no gentler way.
    pub(super) fn end(&mut self, _grace: Duration) -> io::Result<()> {
        // Fails if the job has no processes, and then there is nothing to do.
        drop(self.0.start_kill());
        self.0.wait().map(drop)
    }
}

/// Nothing is left: the job ended with the process that made it.
pub(super) fn kill_marked(_mark: &str) {}
