//! Questions about git itself and its settings, which have an answer outside of a repository too. Each has a time
//! limit.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::command::{REMOVED, not_started, readable_tail};
use super::{Failure, GitError};
use crate::process::{self, End, Limits};

/// How long git may take for an answer.
const LIMIT: Duration = Duration::from_secs(10);
/// Most bytes of an answer that are read.
const MAX_ANSWER: usize = 64 * 1024;

/// What `git ARGS` prints when it is run in `folder`, without blanks around it.
///
/// # Errors
/// There is no git, it takes too long, or it ends with another status than 0.
pub fn ask(folder: &Path, args: &[&str]) -> Result<String, GitError> {
    let shown = format!("git {}", args.join(" "));
    let mut command = Command::new("git");
    for name in REMOVED {
        command.env_remove(name);
    }
    command.args(args).current_dir(folder).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
    let limits = Limits { time: LIMIT, head: MAX_ANSWER, tail: 0 };
    let answer = process::ask(command, b"", limits).map_err(not_started)?;
    let failed = |status, stderr| GitError::Failed(Box::new(Failure { command: shown, status, stderr }));
    match answer.end {
        End::Exited(0) => Ok(String::from_utf8_lossy(&answer.stdout.head).trim().to_owned()),
        End::Exited(status) => Err(failed(Some(status), readable_tail(&answer.stderr.head, MAX_ANSWER))),
        End::Signalled(_) => Err(failed(None, String::new())),
        End::TimedOut => Err(failed(None, format!("it gave no answer in {} seconds", LIMIT.as_secs()))),
    }
}

/// The value of the setting `name` in `folder`; `None` where there is none.
///
/// # Errors
/// There is no git, or a file of its settings can't be read.
pub fn setting(folder: &Path, name: &str) -> Result<Option<String>, GitError> {
    match ask(folder, &["config", "--get", name]) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(GitError::Failed(failure)) if failure.status == Some(1) => Ok(None),
        Err(error) => Err(error),
    }
}
