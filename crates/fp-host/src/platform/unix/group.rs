//! A command's children must not outlive it. On Linux a supervisor sees to that; elsewhere, a process group and a
//! watcher that kills the group if this process dies first.

use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::supervisor::Supervisor;
use crate::process::{CommandEnd, Confinement, POLL};

/// Shell script that ends the process group `$1`, giving it `$2` seconds, when standard input closes without a line.
/// That means that the process at the other end of the pipe has died.
const WATCHER: &str =
    r#"read -r _ || { kill -s TERM -- "-$1"; sleep "$2"; kill -s KILL -- "-$1"; }"#;

/// Time that a supervisor has to kill all that it supervises.
const SUPERVISED: Duration = Duration::from_secs(11);

/// A command with everything that it starts.
pub(crate) struct ProcessGroup {
    leader: Child,
    id: Pid,
    keeper: Keeper,
    end: Option<ExitStatus>,
}

/// What ends a command's processes if this process dies.
enum Keeper {
    /// The leader of the group itself.
    Supervisor(Supervisor),
    Watcher(Child),
    Nobody,
}

impl ProcessGroup {
    /// Starts `command`, within `confinement`, with these as standard input, output and error. If this process dies, everything that the
    /// command has started is ended within `grace`.
    pub(crate) fn spawn(
        mut command: Command,
        [stdin, stdout, stderr]: [Stdio; 3],
        grace: Duration,
        confinement: Option<&Confinement>,
    ) -> io::Result<Self> {
        let supervised = Supervisor::wrapped(&command, grace, confinement)?;
        let is_supervised = supervised.is_some();
        command = supervised.unwrap_or(command);
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        let (leader, keeper) = if is_supervised {
            let (supervisor, leader) = Supervisor::spawn(&mut command)?;
            (leader, Keeper::Supervisor(supervisor))
        } else {
            let leader = command.process_group(0).spawn()?;
            let watcher = watch(Pid::from_child(&leader), grace);
            (leader, watcher.map_or(Keeper::Nobody, Keeper::Watcher))
        };
        // `command` still holds copies of the pipes that the child inherited, and the output wouldn't end while they
        // are open.
        drop(command);
        let id = Pid::from_child(&leader);
        Ok(Self {
            leader,
            id,
            keeper,
            end: None,
        })
    }

    /// How the command ended, if it has.
    pub(crate) fn try_wait(&mut self) -> io::Result<Option<CommandEnd>> {
        Ok(self.ended()?.map(command_end))
    }

    fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.end.is_none() {
            self.end = self.leader.try_wait()?;
            if let (Some(end), Keeper::Supervisor(supervisor)) = (self.end, &self.keeper) {
                supervisor.forget(end);
            }
        }
        Ok(self.end)
    }

    /// Sends TERM to every process of the group, and after `grace` KILL to those that remain.
    pub(crate) fn end_group(&mut self, grace: Duration) -> io::Result<()> {
        match &self.keeper {
            Keeper::Supervisor(_) => return self.end_supervised(grace),
            Keeper::Watcher(_) | Keeper::Nobody => {}
        }
        self.signal(Signal::TERM);
        self.wait_for(grace)?;
        let deadline = Instant::now() + grace / 4;
        while self.is_there() && Instant::now() < deadline {
            std::thread::sleep(POLL / 5);
        }
        self.signal(Signal::KILL);
        self.leader.wait()?;
        if let Keeper::Watcher(mut watcher) = std::mem::replace(&mut self.keeper, Keeper::Nobody) {
            // A line dismisses the watcher. If writing fails, the watcher is already gone.
            drop(watcher.stdin.take().map(|mut stdin| stdin.write_all(b"\n")));
            drop(watcher.wait());
        }
        Ok(())
    }

    /// Asks the supervisor to end everything, with more force each time. What it leaves behind when it is killed is
    /// ended by this process.
    fn end_supervised(&mut self, grace: Duration) -> io::Result<()> {
        for (signal, patience) in [
            (Signal::TERM, grace),
            (Signal::INT, SUPERVISED),
            (Signal::KILL, SUPERVISED),
        ] {
            if self.ended()?.is_none() {
                self.signal(signal);
                self.wait_for(patience)?;
            }
        }
        Ok(())
    }

    fn wait_for(&mut self, patience: Duration) -> io::Result<()> {
        let deadline = Instant::now() + patience;
        while self.ended()?.is_none() && Instant::now() < deadline {
            std::thread::sleep(POLL / 5);
        }
        Ok(())
    }

    /// Identifies the process for [`super::end_marked`]; empty where that finds nothing.
    pub(crate) fn process_mark(&self) -> String {
        match &self.keeper {
            Keeper::Supervisor(supervisor) => supervisor.mark(),
            Keeper::Watcher(_) | Keeper::Nobody => String::new(),
        }
    }

    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Signals the group. This fails only if the group has no members, and then there is nothing to do.
    fn signal(&self, signal: Signal) {
        match &self.keeper {
            Keeper::Supervisor(supervisor) if self.end.is_none() => supervisor.signal(signal),
            Keeper::Supervisor(_) => {}
            Keeper::Watcher(_) | Keeper::Nobody => drop(kill_process_group(self.id, signal)),
        }
    }

    /// True if the group has members. Dead ones count until their parent has reaped them, which in a
    /// container may never happen.
    fn is_there(&self) -> bool {
        test_kill_process_group(self.id).is_ok()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let is_over = match &self.keeper {
            Keeper::Supervisor(_) => self.end.is_some(),
            Keeper::Watcher(_) => false,
            Keeper::Nobody => true,
        };
        if !is_over {
            drop(self.end_group(Duration::ZERO));
        }
    }
}

/// Starts the watcher; without one, the command can still run.
fn watch(id: Pid, grace: Duration) -> Option<Child> {
    let mut watcher = Command::new("sh");
    let (id, seconds) = (id.as_raw_nonzero().to_string(), grace.as_secs().to_string());
    watcher.args(["-c", WATCHER, "sh", &id, &seconds]);
    watcher
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    watcher.spawn().ok()
}

fn command_end(status: ExitStatus) -> CommandEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, signal) => CommandEnd::Signalled(signal.unwrap_or_default()),
    }
}
