//! A process group, and a watcher that kills it should this process die before it could.

use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use super::{CommandEnd, POLL};

/// Ends with the group it is given as soon as its input ends without a line, which is when whoever holds the
/// other end of the pipe has died.
const WATCHER: &str = r#"read -r _ || kill -s KILL -- "-$1""#;

/// The shell that runs `line`.
pub(super) fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg("--").arg(line);
    command
}

/// A command in a process group of its own.
pub(super) struct ProcessGroup {
    leader: Child,
    id: Pid,
    watcher: Option<Child>,
    mark: ProcessMark,
}

impl ProcessGroup {
    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        let mark = ProcessMark::new();
        let leader = command.envs(mark.variable()).process_group(0).spawn()?;
        // The command keeps what it inherits: as long as it is open here, the output doesn't end.
        drop(command);
        let id = Pid::from_child(&leader);
        Ok(Self { leader, id, watcher: watch(id), mark })
    }

    /// How the leader ended, if it has.
    pub(super) fn poll(&mut self) -> io::Result<Option<CommandEnd>> {
        Ok(self.leader.try_wait()?.map(end))
    }

    /// Asks every process of the group to end, and kills after `grace` those that have not.
    pub(super) fn end(&mut self, grace: Duration) -> io::Result<()> {
        self.signal(Signal::TERM);
        let deadline = Instant::now() + grace;
        while self.leader.try_wait()?.is_none() && Instant::now() < deadline {
            std::thread::sleep(POLL / 5);
        }
        let deadline = Instant::now() + grace / 4;
        while self.is_there() && Instant::now() < deadline {
            std::thread::sleep(POLL / 5);
        }
        self.signal(Signal::KILL);
        self.leader.wait()?;
        self.mark.kill_escaped();
        if let Some(mut watcher) = self.watcher.take() {
            // A line lets it go; if it is gone already, there is nobody to tell.
            drop(watcher.stdin.take().map(|mut stdin| stdin.write_all(b"\n")));
            drop(watcher.wait());
        }
        Ok(())
    }

    /// A group without members can't be signalled, and need not be.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.id, signal);
    }

    /// Whether the group has members; dead ones count until their parent has been told, which in a container
    /// may be never.
    fn is_there(&self) -> bool {
        test_kill_process_group(self.id).is_ok()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if self.watcher.is_some() {
            drop(self.end(Duration::ZERO));
        }
    }
}

/// Without a watcher the command can still be run.
fn watch(id: Pid) -> Option<Child> {
    let mut watcher = Command::new("sh");
    watcher.args(["-c", WATCHER, "sh", &id.as_raw_nonzero().to_string()]);
    watcher.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    watcher.spawn().ok()
}

fn end(status: ExitStatus) -> CommandEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, signal) => CommandEnd::Signalled(signal.unwrap_or_default()),
    }
}

const VARIABLE: &str = "FP_COMMAND_MARK";
/// A process may start another one while it is being looked for.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 5;

/// A mark that no other command has.
pub(super) struct ProcessMark(String);

impl ProcessMark {
    pub(super) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        Self(format!("{}-{count}-{time}", std::process::id()))
    }

    /// What the command gets into its environment.
    pub(super) fn variable(&self) -> [(&str, &str); 1] {
        [(VARIABLE, &self.0)]
    }

    /// Kills every process that has the mark. Only Linux lets a process be asked for its environment; elsewhere
    /// what leaves its group gets away.
    #[cfg(target_os = "linux")]
    pub(super) fn kill_escaped(&self) {
        use rustix::process::{Signal, kill_process};
        let mark = format!("{VARIABLE}={}\0", self.0).into_bytes();
        for _ in 0..ROUNDS {
            let found: Vec<_> = marked(&mark).collect();
            if found.is_empty() {
                return;
            }
            // One that ended meanwhile can't be killed.
            for pid in found {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn kill_escaped(&self) {}
}

/// The processes whose environment has `mark`. What belongs to other users can't be read and isn't ours; a dead
/// process that nobody has waited for has no environment.
#[cfg(target_os = "linux")]
fn marked(mark: &[u8]) -> impl Iterator<Item = rustix::process::Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let pid = rustix::process::Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        environment.windows(mark.len()).any(|part| part == mark).then_some(pid)
    })
}
