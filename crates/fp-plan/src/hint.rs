//! Puts advice beside an error's message, and decides how a command that meets the error ends.

use std::borrow::Cow;

/// The end of a command. The numbers are public interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
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
    /// 1: another machine was faster: the same again decides on what it did.
    Overtaken,
    /// 2: the remote of a shared plan can't be reached.
    CutOff,
}

impl Exit {
    /// The end of a command that has found something, or nothing.
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
