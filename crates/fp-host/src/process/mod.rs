//! Runs one command line of an approved plan with a time limit, and leaves nothing of it running: not what it
//! put into the background, not what ignores a signal, and not when this process itself is killed meanwhile.

#[cfg_attr(unix, path = "group_unix.rs")]
#[cfg_attr(not(unix), path = "group_windows.rs")]
mod group;
mod output;

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub use fp_run::verification::CommandEnd;
use fp_run::verification::CommandRun;
#[cfg(windows)]
use group::JobObject as ProcessGroup;
#[cfg(unix)]
use group::ProcessGroup;
pub use output::CommandOutput;
use output::OutputReader;

/// How long a group has to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait for output that is under way when the last process has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// The longest pause between two looks at the process.
const POLL: Duration = Duration::from_millis(10);
/// The same where the time that a program takes is of interest.
const QUICK_POLL: Duration = Duration::from_millis(1);

/// What a command may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time until it is ended.
    pub time: Duration,
    /// Bytes of output kept from the beginning.
    pub head: usize,
    /// Bytes of output kept from the end.
    pub tail: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(600), head: 4 * 1024, tail: 12 * 1024 }
    }
}

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedCommand {
    /// How.
    pub end: CommandEnd,
    /// How long it took.
    pub duration: Duration,
    /// What it printed on standard output and standard error, in the order in which it did.
    pub output: CommandOutput,
}

/// Runs `line` through the platform's shell (`sh -c`, `cmd /C`) in `directory`, without input. The whole group
/// of processes is ended with it.
///
/// # Errors
/// There is no shell or no such directory. A command that isn't found is no error: the shell says so.
pub fn run_line(line: &str, directory: &Path, limits: Limits) -> io::Result<FinishedCommand> {
    let started = Instant::now();
    let (pipe, out) = io::pipe()?;
    let mut command = group::shell(line);
    command.current_dir(directory).stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
    let mut group = ProcessGroup::spawn(command)?;
    let reader = OutputReader::start(pipe, limits.head, limits.tail);
    let end = wait(&mut group, limits.time, POLL)?;
    group.end(GRACE)?;
    let output = reader.finish(DRAIN);
    Ok(FinishedCommand { end, duration: started.elapsed(), output })
}

/// Runs `lines`, one after the other, and records each as the checks take it; one that can't be started is
/// recorded as such.
pub fn run_commands<'l>(
    lines: impl IntoIterator<Item = &'l str>,
    directory: &Path,
    limits: Limits,
) -> Vec<CommandRun> {
    let run = |line: &str| match run_line(line, directory, limits) {
        Ok(FinishedCommand { end, duration, output }) => CommandRun {
            line: line.to_owned(),
            end: Some(end),
            duration,
            output: output.to_text(),
            sha256: output.sha256,
        },
        Err(error) => CommandRun {
            line: line.to_owned(),
            end: None,
            duration: Duration::ZERO,
            output: format!("the shell could not be started in {}: {error}", directory.display()),
            sha256: String::new(),
        },
    };
    lines.into_iter().map(run).collect()
}

/// A program that was asked something, and has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramAnswer {
    /// How.
    pub end: CommandEnd,
    /// How long it took.
    pub duration: Duration,
    /// What it printed on standard output.
    pub stdout: CommandOutput,
    /// What it printed on standard error.
    pub stderr: CommandOutput,
}

/// Runs `command`, which no shell sees, with `input` on its standard input and within `limits`, which hold for each
/// of the two outputs. The whole group of processes is ended with it.
///
/// # Errors
/// It can't be started.
pub fn ask(mut command: Command, input: &[u8], limits: Limits) -> io::Result<ProgramAnswer> {
    let started = Instant::now();
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    let (stdin, mut to) = io::pipe()?;
    command.stdin(stdin).stdout(out).stderr(err);
    let mut group = ProcessGroup::spawn(command)?;
    let (stdout, stderr) =
        [stdout, stderr].map(|pipe| OutputReader::start(pipe, limits.head, limits.tail)).into();
    let input = input.to_owned();
    // A program that ends without reading everything has its reasons.
    std::thread::spawn(move || drop(to.write_all(&input)));
    let end = wait(&mut group, limits.time, QUICK_POLL)?;
    let duration = started.elapsed();
    group.end(GRACE)?;
    Ok(ProgramAnswer { end, duration, stdout: stdout.finish(DRAIN), stderr: stderr.finish(DRAIN) })
}

/// Waits for the command itself, not for what it put into the background; looks at it once in `poll` at least.
fn wait(group: &mut ProcessGroup, limit: Duration, poll: Duration) -> io::Result<CommandEnd> {
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(end) = group.poll()? {
            return Ok(end);
        }
        let Some(left) = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        else {
            return Ok(CommandEnd::TimedOut(limit.as_secs()));
        };
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(poll);
    }
}
