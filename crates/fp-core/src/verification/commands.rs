//! What the commands of a task, run by `fp` itself, say.

use super::{Check, CheckVerdict};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// At its time limit of so many seconds.
    TimedOut(u64),
    /// It could not be started.
    NotStarted,
}

/// A command of a task that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRun {
    /// The command line.
    pub line: String,
    /// How it ended.
    pub end: CommandEnd,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// Its output as text, cut to head and tail; why it could not be started.
    pub output: String,
    /// SHA-256 of its whole output; empty where it could not be started.
    pub sha256: String,
}

/// Name of the check that ran `line`.
#[must_use]
pub fn name(line: &str) -> String {
    crate::report::evidence::command_check_name(line)
}

/// The check that `run` is. A command passes by its exit status alone.
#[must_use]
pub fn check(run: &CommandRun) -> Check {
    let verdict = if run.end == CommandEnd::Exited(0) { CheckVerdict::Pass } else { CheckVerdict::Fail };
    let ended = match run.end {
        CommandEnd::Exited(status) => format!("exit status {status}"),
        CommandEnd::Signalled(signal) => format!("ended by signal {signal}"),
        CommandEnd::TimedOut(seconds) => format!("ended at its time limit of {seconds} s"),
        CommandEnd::NotStarted => "could not be started".to_owned(),
    };
    let mut detail = format!("{ended} after {}.{:03} s", run.millis / 1000, run.millis % 1000);
    if let Some(hash) = run.sha256.get(..16) {
        detail.push_str(&format!(", output sha256 {hash}…"));
    }
    if !run.output.trim().is_empty() {
        detail.push('\n');
        detail.push_str(run.output.trim_end());
    }
    Check::new(&name(&run.line), verdict, detail)
}
