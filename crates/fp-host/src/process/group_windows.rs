//! A job object: what is in it ends with it, and it ends with this process.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use process_wrap::std::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};

use super::CommandEnd;

/// The shell that runs `line`, which it takes as it stands.
pub(super) fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/D", "/S", "/C"]).raw_arg(format!("\"{line}\""));
    command
}

/// A command in a job of its own.
pub(super) struct JobObject(Box<dyn ChildWrapper>);

impl JobObject {
    pub(super) fn spawn(command: Command) -> io::Result<Self> {
        Ok(Self(CommandWrap::from(command).wrap(KillOnDrop).wrap(JobObject).spawn()?))
    }

    /// How the command ended, if it has.
    pub(super) fn poll(&mut self) -> io::Result<Option<CommandEnd>> {
        let status = self.0.try_wait()?;
        Ok(status.map(|status| status.code().map_or(CommandEnd::Signalled(0), CommandEnd::Exited)))
    }

    /// Ends every process of the job at once; there is no gentler way.
    pub(super) fn end(&mut self, _grace: Duration) -> io::Result<()> {
        // A job without processes can't be ended, and need not be.
        drop(self.0.start_kill());
        self.0.wait().map(drop)
    }
}
