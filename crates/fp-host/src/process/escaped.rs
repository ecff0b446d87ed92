//! Finds processes that left their group (a daemon makes a session of its own) by a mark that they inherited
//! in their environment.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

const VARIABLE: &str = "FP_COMMAND_MARK";
/// A process may start another one while it is being looked for.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 5;

/// A mark that no other command has.
pub(super) struct Mark(String);

impl Mark {
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
