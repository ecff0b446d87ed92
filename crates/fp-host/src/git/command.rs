//! Every git process starts here, so that its environment, input and failures are handled in one place.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fp_plan::repo_path::RepoPath;

use super::{Git, GitFailure, unexpected};
use crate::error::{HostError, HostResult};
use crate::platform::os_string;
use crate::process::{OutputReader, poll_until};

/// Number of bytes kept from the end of standard error after a failure.
const STDERR_TAIL: usize = 4096;
const SHOWN_COMMAND: usize = 200;
/// Longest pause between two polls of a process.
const POLL: Duration = Duration::from_millis(5);
/// Bytes of output kept from each end.
const MAX_OUTPUT: usize = 8 * 1024;
/// Time to wait for output once git has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// Variables that would point git at another repository or index, or make it read paths as patterns.
pub(super) const REMOVED: &str = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_NAMESPACE GIT_PREFIX \
    GIT_GRAFT_FILE GIT_SHALLOW_FILE GIT_QUARANTINE_PATH GIT_GLOB_PATHSPECS \
    GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS GIT_LITERAL_PATHSPECS LANGUAGE";

/// Settings under which git trusts only the files themselves, since the builder being measured may have changed the
/// repository's own settings.
const FIXED_VIEW: &str = "-c core.fsmonitor=false -c core.untrackedCache=false -c core.ignoreStat=false \
                          -c core.checkStat=default -c core.trustctime=true";

/// A git call that hasn't been started yet.
pub(super) struct GitCall {
    command: Command,
    shown: String,
    input: Vec<u8>,
}

/// The result of a finished git process.
pub(super) struct Finished {
    pub(super) stdout: Vec<u8>,
    pub(super) failure: Option<GitFailure>,
    pub(super) shown: String,
}

impl Git {
    /// A call that runs no hooks. All paths are literal and all messages are in English. Spaces separate the words of
    /// `command`, which are literals; text from elsewhere is passed as an [argument](GitCall::arg).
    pub(super) fn call(&self, command: &'static str) -> GitCall {
        let call = self.bare_call("--no-optional-locks -c core.quotepath=false");
        call.literal().words(command)
    }

    /// Like [`Git::call`], for commands that check files out: the hooks meant for the user's checkouts don't run.
    pub(super) fn call_without_hooks(&self, command: &'static str) -> GitCall {
        let settings = "--no-optional-locks -c core.quotepath=false -c core.hooksPath=/dev/null";
        self.bare_call(settings).literal().words(command)
    }

    /// A call that reads or writes `index`, which isn't the user's, as a whole: no entry is split off or left out.
    pub(super) fn call_on(&self, index: &Path, command: &'static str) -> GitCall {
        let whole = "-c core.quotepath=false -c core.splitIndex=false -c core.sparseCheckout=false \
                     -c index.sparse=false -c index.version=2";
        let call = self.bare_call(whole).literal().words(command);
        call.env("GIT_INDEX_FILE", index)
    }

    /// A call whose hooks see the user's environment: no extra settings for child processes to inherit, and the user's
    /// character set. Messages are in English, since this program reads them.
    pub(super) fn call_with_hooks(&self, command: &'static str) -> GitCall {
        let mut call = self.bare_call("").words(command);
        let charset = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(std::env::var_os);
        call.command.env_remove("LC_ALL").env("LC_MESSAGES", "C");
        if let Some(charset) = charset {
            call.command.env("LC_CTYPE", charset);
        }
        call
    }

    fn bare_call(&self, options: &'static str) -> GitCall {
        let mut call = GitCall::in_folder(self.worktree());
        call.command
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .args(options.split_whitespace());
        call
    }
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN_COMMAND).collect()
}

impl GitCall {
    /// A git call in `folder`, without input.
    fn in_folder(folder: &Path) -> Self {
        let mut command = Command::new("git");
        for name in REMOVED.split(' ') {
            command.env_remove(name);
        }
        command
            .current_dir(folder)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // A partial clone would fetch missing objects with a program that the repository's settings name.
            .env("GIT_NO_LAZY_FETCH", "1")
            .args(FIXED_VIEW.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self {
            command,
            shown: String::new(),
            input: Vec::new(),
        }
    }

    /// Sets the words of the command, which error messages include.
    fn words(mut self, command: &str) -> Self {
        self.command.args(command.split_whitespace());
        self.shown = cut(&format!("git {command}"));
        self
    }

    /// Adds arguments, which error messages include.
    fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self.shown = cut(&format!("git {}", args.join(" ")));
        self
    }

    /// Makes every path literal and every message English.
    fn literal(mut self) -> Self {
        self.command
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("LC_ALL", "C");
        self
    }

    /// Adds an argument that error messages don't include.
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(super) fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Adds paths as arguments after `--`.
    pub(super) fn paths<'p>(mut self, paths: impl IntoIterator<Item = &'p RepoPath>) -> Self {
        self.command
            .arg("--")
            .args(paths.into_iter().map(|path| os_string(path.as_bytes())));
        self
    }

    /// Makes `file` the standard input, so that the process keeps it open, and therefore locked, as long as it lives.
    pub(super) fn holds(mut self, file: std::fs::File) -> Self {
        self.command.stdin(Stdio::from(file));
        self
    }

    /// Sets the text for standard input.
    pub(super) fn input(mut self, input: Vec<u8>) -> Self {
        self.command.stdin(Stdio::piped());
        self.input = input;
        self
    }

    /// Runs the call and returns its output, or the failure as an error.
    pub(super) fn output(self) -> HostResult<Vec<u8>> {
        self.run()?.into_output()
    }

    /// Runs the call to completion, whatever its exit status.
    pub(super) fn run(mut self) -> HostResult<Finished> {
        let child = self.command.spawn().map_err(not_started)?;
        self.finish(child)
    }

    /// Gives `child`, the process of this call, its input, and waits for its end.
    fn finish(self, mut child: Child) -> HostResult<Finished> {
        let stdin = child.stdin.take();
        let output = std::thread::scope(|scope| {
            if let Some(mut stdin) = stdin {
                // If the child exits without reading all its input, its exit status says why.
                scope.spawn(move || drop(stdin.write_all(&self.input)));
            }
            child.wait_with_output()
        })
        .map_err(HostError::doing(&format!("wait for `{}`", self.shown)))?;
        let failure = (!output.status.success()).then(|| GitFailure {
            command: self.shown.clone(),
            status: output.status.code(),
            stderr: readable_tail(&output.stderr, STDERR_TAIL),
        });
        Ok(Finished {
            stdout: output.stdout,
            failure,
            shown: self.shown,
        })
    }

    /// Runs the call with its output as the input of `next`.
    pub(super) fn run_into(mut self, mut next: Self) -> HostResult<()> {
        let mut child = self.command.spawn().map_err(not_started)?;
        let output = child.stdout.take();
        next.command
            .stdin(output.map_or_else(Stdio::null, Stdio::from));
        std::thread::scope(|scope| {
            let sender = scope.spawn(move || self.finish(child));
            let received = next.run();
            let sent = sender
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sent?.into_output()?;
            received?.into_output().map(drop)
        })
    }

    /// Runs the call to completion, whatever its exit status, but for no longer than `limit`.
    pub(super) fn run_within(mut self, limit: Duration) -> HostResult<Finished> {
        let action = format!("wait for `{}`", self.shown);
        let failed = HostError::doing(&action);
        let mut child = self.command.spawn().map_err(not_started)?;
        // A helper that outlives git, such as a shared connection, may keep the pipes open.
        let read = |pipe: Box<dyn Read + Send>| OutputReader::start(pipe, MAX_OUTPUT, MAX_OUTPUT);
        let stdout = child.stdout.take().map(|pipe| read(Box::new(pipe)));
        let stderr = child.stderr.take().map(|pipe| read(Box::new(pipe)));
        let status = poll_until(limit, POLL, || child.try_wait()).map_err(failed)?;
        if status.is_none() {
            drop(child.kill());
            child.wait().map_err(failed)?;
        }
        let [stdout, stderr] = [stdout, stderr].map(|reader| {
            reader.map_or_else(String::new, |reader| reader.collect_output(DRAIN).to_text())
        });
        let failure = match status {
            Some(status) if status.success() => None,
            Some(status) => Some((status.code(), readable_tail(stderr.as_bytes(), MAX_OUTPUT))),
            None => {
                let said = format!("it gave no answer in {} seconds", limit.as_secs());
                Some((None, said))
            }
        };
        Ok(Finished {
            stdout: stdout.into_bytes(),
            failure: failure.map(|(status, stderr)| GitFailure {
                command: self.shown.clone(),
                status,
                stderr,
            }),
            shown: self.shown,
        })
    }
}

fn not_started(source: io::Error) -> HostError {
    match source.kind() {
        io::ErrorKind::NotFound => HostError::failed("git was not found on PATH")
            .with_hint("install git, or add its folder to PATH"),
        _ => HostError::doing("start git")(source),
    }
}

impl Finished {
    /// The failure, if git's message contains one of `words`.
    pub(super) fn failed_with(&self, words: &[&str]) -> Option<&GitFailure> {
        let said = |failure: &&GitFailure| words.iter().any(|words| failure.stderr.contains(words));
        self.failure.as_ref().filter(said)
    }

    /// True if git exited with `status`, which may be an answer rather than an error.
    pub(super) fn ended_with(&self, status: i32) -> bool {
        self.failure
            .as_ref()
            .is_some_and(|failure| failure.status == Some(status))
    }

    pub(super) fn into_output(self) -> HostResult<Vec<u8>> {
        match self.failure {
            None => Ok(self.stdout),
            Some(failure) => Err(failure.into_error()),
        }
    }

    /// Parses the output with `read`; fails if that returns `None`.
    pub(super) fn parsed<T>(self, read: impl FnOnce(&[u8]) -> Option<T>) -> HostResult<T> {
        let shown = self.shown.clone();
        let output = self.into_output()?;
        read(&output).ok_or_else(|| unexpected(&shown, &output))
    }
}

/// The last `limit` bytes as text, without control characters that could move a terminal's cursor.
pub(super) fn readable_tail(bytes: &[u8], limit: usize) -> String {
    let tail = &bytes[bytes.len().saturating_sub(limit)..];
    let text = String::from_utf8_lossy(tail);
    text.trim_end()
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// Time limit of [`git_output`].
const LIMIT: Duration = Duration::from_secs(10);

/// Runs `git ARGS` in `folder` and returns its trimmed output.
///
/// # Errors
/// Git is missing, takes too long, or ends with a status other than 0.
pub fn git_output(folder: &Path, args: &[&str]) -> HostResult<String> {
    let output = GitCall::in_folder(folder)
        .literal()
        .args(args)
        .run_within(LIMIT)?
        .into_output()?;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}
