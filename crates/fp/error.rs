//! Scripts rely on exit statuses and people on hints, so every command ends with one of these statuses, or
//! with an error that has hints.

use std::borrow::Cow;
use std::fmt;
use std::process::ExitCode;

use fp_plan::hint::{ErrorEnd, Hint};

/// The end of a command. The numbers are public interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: findings, or the request was refused; the output says which.
    Findings,
    /// 2: could not run: bad usage, bad input, a failing disk.
    Failed,
    /// 3: no task is ready.
    NothingReady,
    /// 3: a question is open.
    Asked,
    /// 1: another machine was faster, again and again.
    Overtaken,
    /// 2: the remote of a shared plan can't be reached.
    CutOff,
}

impl Exit {
    /// The process exit status.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings | Self::Overtaken => 1,
            Self::Failed | Self::CutOff => 2,
            Self::NothingReady | Self::Asked => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error for the user: what happened, why, and what to do next.
#[derive(Debug, Clone)]
pub(crate) struct CommandError {
    pub(crate) exit: Exit,
    /// Says what happened and where, in one sentence without a full stop.
    pub(crate) message: String,
    /// Say what to do next, one line each.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// The command could not run.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Failed, message: message.to_string(), hints: Vec::new() }
    }

    /// The command ran and the answer is no.
    pub(crate) fn refused(message: impl fmt::Display) -> Self {
        Self { exit: Exit::Findings, ..Self::failed(message) }
    }

    /// Converts `error`, with `message` in place of its own text.
    pub(crate) fn worded(message: impl fmt::Display, error: &impl Hint) -> Self {
        let exit = match error.ends() {
            ErrorEnd::Failed => Exit::Failed,
            ErrorEnd::Refused => Exit::Findings,
            ErrorEnd::NothingReady => Exit::NothingReady,
            ErrorEnd::Overtaken => Exit::Overtaken,
            ErrorEnd::CutOff => Exit::CutOff,
        };
        let hints = error.hint().map(Cow::into_owned);
        Self { exit, message: message.to_string(), hints: hints.into_iter().collect() }
    }

    /// Adds a line that says what to do next.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}

/// The result of every command.
pub(crate) type CommandResult = Result<Exit, CommandError>;

impl<E: Hint> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self::worded(&error, &error)
    }
}
