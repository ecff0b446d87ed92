//! Puts advice beside an error's message, and decides how a command that meets the error ends.

use std::borrow::Cow;

/// The end of a command that meets an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorEnd {
    /// The command could not run: bad usage, bad input, a failing disk.
    Failed,
    /// The command ran and the answer is no.
    Refused,
    /// Nothing is ready to be claimed.
    NothingReady,
    /// Another machine was faster: the same again decides on what it did.
    Overtaken,
    /// The remote of a shared plan can't be reached.
    CutOff,
}

/// An error that can say what to do next.
pub trait Hint: std::error::Error {
    /// The next thing to do, in one sentence without a full stop.
    fn hint(&self) -> Option<Cow<'_, str>>;

    fn ends(&self) -> ErrorEnd {
        ErrorEnd::Failed
    }
}
