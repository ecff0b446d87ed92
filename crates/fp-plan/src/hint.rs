//! Advice beside an error's message, and how the command that meets the error ends.

use std::borrow::Cow;

/// How a command ends that meets an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorEnd {
    /// The command could not run: bad usage, bad input, a failing disk.
    Failed,
    /// The command ran and the answer is no.
    Refused,
    /// Nothing is ready to be claimed.
    NothingReady,
}

/// An error that can say what to do next.
pub trait Hint: std::error::Error {
    /// What to do next, in one sentence without a full stop.
    fn hint(&self) -> Option<Cow<'_, str>>;

    /// How a command ends with it.
    fn ends(&self) -> ErrorEnd {
        ErrorEnd::Failed
    }
}
