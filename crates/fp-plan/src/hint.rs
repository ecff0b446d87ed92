//! Adds advice to an error's message, and determines the exit status of a command that fails with the error.

use std::borrow::Cow;

/// How a command ends. The numbers are a public interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: findings, or the request was refused; the output says which.
    Findings,
    /// 2: couldn't run: bad usage, bad input, a disk failure.
    Failed,
    /// 3: no task is ready.
    NothingReady,
    /// 3: a question is open.
    Asked,
    /// 1: another machine was faster; running the same command again takes that into account.
    Overtaken,
    /// 2: the remote of a shared plan can't be reached.
    CutOff,
}

impl Exit {
    /// The exit of a command that looked for findings.
    pub fn with_findings(found: bool) -> Self {
        if found { Self::Findings } else { Self::Done }
    }

    /// The process exit status.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings | Self::Overtaken => 1,
            Self::Failed | Self::CutOff => 2,
            Self::NothingReady | Self::Asked => 3,
        }
    }
}

/// An error that can say what to do next.
pub trait Hint: std::error::Error {
    /// The next thing to do, in one sentence without a full stop.
    fn hint(&self) -> Option<Cow<'_, str>>;

    fn exit_status(&self) -> Exit {
        Exit::Failed
    }
}
