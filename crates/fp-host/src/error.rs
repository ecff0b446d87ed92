//! The only error type of this crate: what happened, what to do next, and the exit status of the command. Only errors
//! that a caller handles have a kind of their own.

use std::borrow::Cow;
use std::fmt::Display;

use fp_plan::hint::{Exit, Hint};
use fp_plan::settings::SettingFault;
use fp_run::run::Refusal;

pub type HostResult<T> = Result<T, HostError>;

#[derive(Debug, thiserror::Error)]
#[error("{said}")]
pub struct HostError {
    pub kind: HostErrorKind,
    said: String,
    hint: Option<String>,
    ends: Exit,
}

/// The kinds of error that callers handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostErrorKind {
    Other,
    MissingFile,
    TooLarge,
    /// The file isn't UTF-8 text. The line and column count from 1.
    NotText {
        line: usize,
        column: usize,
    },
    /// Another process holds a lock. The value is the id of that process, if the lock file has one.
    Locked(Option<String>),
    NoCommit,
    /// Git doesn't have an object, or no longer has it.
    MissingObject,
    /// Something in the checkout blocks a task's files.
    InTheWay,
    /// No plan has that id, number or part.
    NoPlan,
    /// No plan was named, and none is active.
    NoneActive,
}

impl HostError {
    /// The error for an action that failed.
    pub fn failed(said: impl Display) -> Self {
        Self {
            kind: HostErrorKind::Other,
            said: said.to_string(),
            hint: None,
            ends: Exit::Failed,
        }
    }

    /// The error for an action that isn't allowed.
    pub fn refused(said: impl Display) -> Self {
        Self::failed(said).with_end(Exit::Findings)
    }

    pub fn with_hint(self, hint: impl Display) -> Self {
        Self {
            hint: Some(hint.to_string()),
            ..self
        }
    }

    pub(crate) fn with_kind(self, kind: HostErrorKind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn with_end(self, ends: Exit) -> Self {
        Self { ends, ..self }
    }

    pub fn is_missing(&self) -> bool {
        self.kind == HostErrorKind::MissingFile
    }

    pub(crate) fn is_no_plan(&self) -> bool {
        self.kind == HostErrorKind::NoPlan
    }

    pub fn is_locked(&self) -> bool {
        matches!(self.kind, HostErrorKind::Locked(_))
    }

    /// Converts `error`, with `said` in place of its own text.
    pub(crate) fn worded(said: impl Display, error: &impl Hint) -> Self {
        Self {
            hint: error.hint().map(Cow::into_owned),
            ..Self::failed(said).with_end(error.exit_status())
        }
    }
}

impl Hint for HostError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        self.hint.as_deref().map(Cow::Borrowed)
    }

    fn exit_status(&self) -> Exit {
        self.ends
    }
}

impl From<Refusal> for HostError {
    fn from(refusal: Refusal) -> Self {
        Self::worded(&refusal, &refusal)
    }
}

impl From<SettingFault> for HostError {
    fn from(fault: SettingFault) -> Self {
        Self::worded(&fault, &fault)
    }
}
