//! A command's children must not outlive it, so it gets its own process group and a watcher that kills the
//! group if this process dies first.

use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::process::{CommandEnd, POLL};

/// Shell script that ends the process group `$1`, giving it `$2` seconds, when standard input closes without a line.
/// That means that the process at the other end of the pipe has died.
const WATCHER: &str =
    r#"read -r _ || { kill -s TERM -- "-$1"; sleep "$2"; kill -s KILL -- "-$1"; }"#;

/// A command in a process group of its own.
pub(crate) struct ProcessGroup {
    leader: Child,
    id: Pid,
    watcher: Option<Child>,
    mark: ProcessMark,
}

impl ProcessGroup {
    /// Starts `command`. If this process dies, the command's group is ended within `grace`.
    pub(crate) fn spawn(mut command: Command, grace: Duration) -> io::Result<Self> {
        let mark = ProcessMark::new();
        let leader = command.envs(mark.variable()).process_group(0).spawn()?;
        // `command` still holds copies of the pipes that the child inherited, and the output wouldn't end while they
        // are open.
        drop(command);
        let id = Pid::from_child(&leader);
        Ok(Self {
            leader,
            id,
            watcher: watch(id, grace),
            mark,
        })
    }

    /// The leader's exit status, if it has exited.
    pub(crate) fn try_wait(&mut self) -> io::Result<Option<CommandEnd>> {
        Ok(self.leader.try_wait()?.map(command_end))
    }

    /// Sends TERM to every process of the group, and after `grace` KILL to those that remain.
    pub(crate) fn end_group(&mut self, grace: Duration) -> io::Result<()> {
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
            // A line dismisses the watcher. If writing fails, the watcher is already gone.
            drop(watcher.stdin.take().map(|mut stdin| stdin.write_all(b"\n")));
            drop(watcher.wait());
        }
        Ok(())
    }

    pub(crate) fn environment_mark(&self) -> &str {
        &self.mark.0
    }

    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Signals the group. This fails only if the group has no members, and then there is nothing to do.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.id, signal);
    }

    /// True if the group has members. Dead ones count until their parent has reaped them, which in a
    /// container may never happen.
    fn is_there(&self) -> bool {
        test_kill_process_group(self.id).is_ok()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if self.watcher.is_some() {
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

const VARIABLE: &str = "FP_COMMAND_MARK";
/// How often marked processes are searched for, since one may start another during a search.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 5;

/// A mark unique to one command.
pub(crate) struct ProcessMark(String);

impl ProcessMark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_nanos());
        Self(format!("{}-{count}-{time}", std::process::id()))
    }

    /// The environment variable that carries the mark, with its value.
    pub(crate) fn variable(&self) -> [(&str, &str); 1] {
        [(VARIABLE, &self.0)]
    }

    pub(crate) fn kill_escaped(&self) {
        kill_marked(&self.0);
    }
}

/// Ends every process that has one of `marks`, within [`crate::process::GRACE`]. Asks them to exit first, since a
/// killed git would leave its lock behind.
pub fn end_marked(marks: &[&str]) {
    #[cfg(target_os = "linux")]
    {
        let signalled = |signal| {
            marks
                .iter()
                .map(|mark| signal_marked(mark, signal).0)
                .sum::<usize>()
        };
        let deadline = Instant::now() + crate::process::GRACE;
        let mut found = signalled(Signal::TERM);
        while found > 0 && Instant::now() < deadline {
            std::thread::sleep(POLL);
            found = marks.iter().map(|mark| marked(mark).0.len()).sum();
        }
    }
    marks.iter().for_each(|mark| kill_marked(mark));
}

/// Kills every process that has `mark`. Only Linux shows a process's environment; on other systems a process that
/// leaves its group escapes.
fn kill_marked(mark: &str) {
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
    #[cfg(target_os = "linux")]
    for _ in 0..ROUNDS {
        match signal_marked(mark, Signal::KILL) {
            (0, false) => return,
            (0, true) => std::thread::sleep(Duration::from_millis(1)),
            _ => {}
        }
    }
}

/// Signals every process that has `mark`. Returns the number of processes, and true if one may have been missed.
#[cfg(target_os = "linux")]
fn signal_marked(mark: &str, signal: Signal) -> (usize, bool) {
    let (found, is_unsure) = marked(mark);
    // Fails for a process that has ended meanwhile, which is fine.
    for pid in &found {
        let _ = rustix::process::kill_process(*pid, signal);
    }
    (found.len(), is_unsure)
}

/// The processes with `mark` in their environment, and true if one may have been missed, since the environment is empty
/// during an exec. Processes of other users can't be read and aren't ours; a zombie has no environment.
#[cfg(target_os = "linux")]
fn marked(mark: &str) -> (Vec<Pid>, bool) {
    let mark = format!("{VARIABLE}={mark}\0").into_bytes();
    let (mut found, mut is_unsure) = (Vec::new(), false);
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let id = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = id.and_then(Pid::from_raw) else {
            continue;
        };
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else {
            continue;
        };
        if environment.windows(mark.len()).any(|part| part == mark) {
            found.push(pid);
        }
        // Kernel threads and zombies have no environment.
        is_unsure |= environment.is_empty() && std::fs::read_link(entry.path().join("exe")).is_ok();
    }
    (found, is_unsure)
}
