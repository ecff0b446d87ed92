//! Ends everything that a session has started.
//!
//! The client starts commands in process sessions of their own, which survive if the client is killed. All of them
//! inherit the client's environment, which therefore carries a mark, by which the processes can be found.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::wait;

/// The variable that marks the processes of a session.
pub(crate) const VARIABLE: &str = "FP_CLIENT_SESSION";

/// The mark of one session. Dropping it kills every process that carries it.
pub(crate) struct Mark(String);

impl Mark {
    /// Creates a mark that no other session on this machine has.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        Self(format!(
            "{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        ))
    }

    /// The value of [`VARIABLE`].
    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// The living processes of the session.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let variable = format!("{VARIABLE}={}", self.0);
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers
            .filter(|number| is_marked(*number, &variable))
            .collect()
    }

    /// Kills all processes of the session, at once and without a chance to clean up.
    pub(crate) fn kill(&self) {
        // A process may have started another one since the list was made.
        let _ = wait::poll(wait::LIMIT, || {
            let living = self.processes();
            for process in &living {
                // The process may have ended in the meantime.
                send_signal("KILL", *process);
            }
            living.is_empty().then_some(())
        });
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal with the system's `kill`; false if that fails, such as when the process has already ended.
pub(crate) fn send_signal(signal: &str, process: u32) -> bool {
    let sent = Command::new("kill")
        .args(["-s", signal, &process.to_string()])
        .output();
    sent.expect("the system has `kill`").status.success()
}

fn is_marked(process: u32, variable: &str) -> bool {
    let environment = std::fs::read(Path::new("/proc").join(process.to_string()).join("environ"));
    environment.is_ok_and(|bytes| {
        bytes
            .split(|byte| *byte == 0)
            .any(|entry| entry == variable.as_bytes())
    })
}
