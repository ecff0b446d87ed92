//! Runs one command line of an approved plan with a time limit and leaves no process behind: not in the background, not
//! one that ignores signals, and not even if this process is killed meanwhile.

mod confinement;
mod output;

use std::io::{self, PipeReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub use confinement::Confinement;
pub(crate) use confinement::user_path;
pub use fp_run::verification::CommandEnd;
use fp_run::verification::CommandRun;
pub use output::CommandOutput;
pub(crate) use output::OutputReader;

use crate::file::reason_of;
use crate::platform::{self, ProcessGroup};

/// Time that a group has to exit on its own before it is killed.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// Time to wait for pending output after the last process has ended.
pub(crate) const DRAIN: Duration = Duration::from_secs(1);
/// Longest pause between two polls of the process.
pub(crate) const POLL: Duration = Duration::from_millis(10);
/// Longest pause between two polls where the program's duration matters.
const QUICK_POLL: Duration = Duration::from_millis(1);

/// Maximum number of bytes read from a program's output.
const LONGEST_ANSWER: usize = 8 * 1024 * 1024;

/// The environment variable that holds an agent's role, in its own process and all of its children.
pub const AGENT_ROLE: &str = "FP_AGENT_ROLE";
/// Its name.
pub const AGENT_NAME: &str = "FP_AGENT_NAME";
/// The task that a verifier judges.
pub const AGENT_TASK: &str = "FP_AGENT_TASK";
/// The environment variable with the checkout of a run, for a call that its lead makes.
pub const LED_CHECKOUT: &str = "FP_LED_CHECKOUT";

/// The environment variable that names the folder for temporary files.
const TEMPORARY_VARIABLE: &str = "TMPDIR";

/// Limits on a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time after which the command is killed.
    pub time: Duration,
    /// Bytes of output kept from the beginning.
    pub head: usize,
    /// Bytes of output kept from the end.
    pub tail: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(600),
            head: 4 * 1024,
            tail: 12 * 1024,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedCommand {
    pub end: CommandEnd,
    pub duration: Duration,
    /// Standard output and standard error, interleaved as printed.
    pub output: CommandOutput,
}

/// Runs `line` through `sh` in `directory`, without input. Within a `confinement`, it may write there, and in a temporary
/// folder of its own. Afterwards ends everything that it has started.
///
/// # Errors
/// The shell or the directory doesn't exist. An unknown command isn't an error here: the shell reports it.
pub fn run_line(
    line: &str,
    directory: &Path,
    limits: Limits,
    confinement: Option<&Confinement>,
) -> io::Result<FinishedCommand> {
    let started = Instant::now();
    let (pipe, out) = io::pipe()?;
    let no_shell =
        || io::Error::other("there is no `sh`: install Git for Windows, which brings one");
    let mut command = platform::shell(line).ok_or_else(no_shell)?;
    // A check of an agent's work must not look like the agent itself.
    for name in [AGENT_ROLE, AGENT_NAME, AGENT_TASK, LED_CHECKOUT] {
        command.env_remove(name);
    }
    command.current_dir(directory);
    let stdio = [Stdio::null(), out.try_clone()?.into(), out.into()];
    let own = confinement.map(|_| tempfile::Builder::new().prefix("fp-").tempdir());
    let own = own.transpose()?;
    let confinement = confinement.zip(own.as_ref()).map(|(confinement, own)| {
        command.env(TEMPORARY_VARIABLE, own.path());
        confinement.with(directory).with(own.path())
    });
    let mut group = ProcessGroup::spawn(command, stdio, Duration::ZERO, confinement.as_ref())?;
    let reader = OutputReader::start(pipe, limits.head, limits.tail);
    let end = wait(&mut group, limits.time, POLL)?;
    group.end_group(GRACE)?;
    let output = reader.collect_output(DRAIN);
    Ok(FinishedCommand {
        end,
        duration: started.elapsed(),
        output,
    })
}

/// Runs `lines` one after the other and returns a record of each for the checks, even of one that can't be started.
pub fn run_commands<'l>(
    lines: impl IntoIterator<Item = &'l str>,
    directory: &Path,
    limits: Limits,
    confinement: Option<&Confinement>,
) -> Vec<CommandRun> {
    let run = |line: &str| match run_line(line, directory, limits, confinement) {
        Ok(FinishedCommand {
            end,
            duration,
            output,
        }) => CommandRun {
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
            output: format!(
                "the shell could not be started in {}: {error}",
                directory.display()
            ),
            sha256: String::new(),
        },
    };
    lines.into_iter().map(run).collect()
}

/// Starts `command` within `confinement`, with `input` on standard input; returns its group, and the pipes for its standard output and
/// standard error. If this process dies, the group is asked to exit, and is killed after `grace`.
pub(crate) fn spawn_with(
    command: Command,
    input: Vec<u8>,
    grace: Duration,
    confinement: Option<&Confinement>,
) -> io::Result<(ProcessGroup, [PipeReader; 2])> {
    let (stdout, out) = io::pipe()?;
    let (stderr, err) = io::pipe()?;
    let (stdin, mut to) = io::pipe()?;
    let stdio = [stdin.into(), out.into(), err.into()];
    let group = ProcessGroup::spawn(command, stdio, grace, confinement)?;
    // If the program exits without reading all its input, its exit status says why.
    std::thread::spawn(move || drop(to.write_all(&input)));
    Ok((group, [stdout, stderr]))
}

/// The result of a program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramAnswer {
    pub end: CommandEnd,
    pub stdout: CommandOutput,
    pub stderr: CommandOutput,
}

/// Runs `command`, which must exit with status 0 within `time`, and returns its output. The error message is worded to
/// follow the program's name in a sentence.
pub fn answer_of(command: Command, time: Duration) -> Result<String, String> {
    let limits = Limits {
        time,
        head: LONGEST_ANSWER,
        tail: 0,
    };
    let answer = run_to_end(command, b"", limits)
        .map_err(|error| format!("can't be started: {}", reason_of(&error)))?;
    let fault = match answer.end {
        CommandEnd::Exited(0) => return Ok(answer.stdout.to_text()),
        CommandEnd::Exited(status) => format!("failed with status {status}"),
        CommandEnd::Signalled(signal) => format!("was killed by signal {signal}"),
        CommandEnd::TimedOut(_) => format!("did not end within {} s", time.as_secs()),
    };
    let said = [&answer.stderr, &answer.stdout].map(|output| last_line(&output.to_text()));
    let said = said.into_iter().find(|line| !line.is_empty());
    Err(said.map_or(fault.clone(), |line| format!("{fault}: {line}")))
}

/// The last line that isn't blank, cut to 300 characters and without the mark that Claude Code puts in front.
fn last_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines.rfind(|line| !line.is_empty()).unwrap_or_default();
    let line = line.trim_start_matches(['✘', '✖', '×', ' ']);
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

/// Runs `command` without a shell, with `input` on standard input and within `limits`, which apply to standard output
/// and standard error separately. Afterwards ends the whole process group.
///
/// # Errors
/// The command can't be started.
pub fn run_to_end(command: Command, input: &[u8], limits: Limits) -> io::Result<ProgramAnswer> {
    run_graceful(command, input, limits, Duration::ZERO)
}

/// Like [`run_to_end`]. If this process dies, the command has `grace` to end.
pub(crate) fn run_graceful(
    command: Command,
    input: &[u8],
    limits: Limits,
    grace: Duration,
) -> io::Result<ProgramAnswer> {
    let (mut group, outputs) = spawn_with(command, input.to_owned(), grace, None)?;
    let (stdout, stderr) = outputs
        .map(|pipe| OutputReader::start(pipe, limits.head, limits.tail))
        .into();
    let end = wait(&mut group, limits.time, QUICK_POLL)?;
    group.end_group(GRACE)?;
    Ok(ProgramAnswer {
        end,
        stdout: stdout.collect_output(DRAIN),
        stderr: stderr.collect_output(DRAIN),
    })
}

/// Waits for the command itself, not for its background processes. The time between polls is at most `poll`.
fn wait(group: &mut ProcessGroup, limit: Duration, poll: Duration) -> io::Result<CommandEnd> {
    let end = poll_until(limit, poll, || group.try_wait())?;
    Ok(end.unwrap_or(CommandEnd::TimedOut(limit.as_secs())))
}

/// Polls at least once every `longest` until `poll` returns a value or `limit` has passed.
pub(crate) fn poll_until<T>(
    limit: Duration,
    longest: Duration,
    mut poll: impl FnMut() -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(found) = poll()? {
            return Ok(Some(found));
        }
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(longest);
    }
}
