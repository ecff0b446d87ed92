//! A command's children must not outlive it, so it runs in a job object: everything in the job ends with it,
//! and the job ends with this process, however that ends.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use command_group::{CommandGroup as _, GroupChild};

use crate::process::{CommandEnd, Confinement, GRACE, POLL};

/// Creates a process group that Ctrl-C doesn't reach, so that this program decides when a command ends.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

/// A command in its own job.
pub(crate) struct JobObject(GroupChild);

impl JobObject {
    pub(crate) fn spawn(
        mut command: Command,
        [stdin, stdout, stderr]: [Stdio; 3],
        _grace: Duration,
        _confinement: Option<&Confinement>,
    ) -> io::Result<Self> {
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        command
            .group()
            .kill_on_drop(true)
            .creation_flags(CREATE_NEW_PROCESS_GROUP)
            .spawn()
            .map(Self)
    }

    /// The command's exit status, if it has exited.
    pub(crate) fn try_wait(&mut self) -> io::Result<Option<CommandEnd>> {
        let status = self.0.try_wait()?;
        Ok(status.map(|status| {
            status
                .code()
                .map_or(CommandEnd::Signalled(0), CommandEnd::Exited)
        }))
    }

    /// No process can escape from a job, so none needs a mark.
    pub(crate) fn process_mark(&self) -> String {
        String::new()
    }

    /// Does nothing, since Windows has no equivalent of SIGTERM.
    pub(crate) fn ask_to_end(&self) {}

    /// Kills every process of the job at once; Windows has no gentler way.
    pub(crate) fn end_group(&mut self, _grace: Duration) -> io::Result<()> {
        self.0.kill()?;
        // The job's own wait may block on a message that `try_wait` has consumed.
        let deadline = Instant::now() + GRACE;
        while self.try_wait()?.is_none() && Instant::now() < deadline {
            std::thread::sleep(POLL / 5);
        }
        Ok(())
    }
}
