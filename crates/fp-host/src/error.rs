//! The one error of this crate: what happened, what to do next, and the exit status of the command. Kinds distinguish
//! only errors that a caller handles.

use std::borrow::Cow;
use std::fmt::Display;
use std::io;
use std::path::Path;

use fp_plan::hint::{Exit, Hint};
use fp_plan::settings::SettingFault;
use fp_run::run::Refusal;

use crate::file::{advice_on, reason_of};

pub type HostResult<T> = Result<T, HostError>;

#[derive(Debug, thiserror::Error)]
#[error("{said}")]
pub struct HostError {
    pub kind: HostErrorKind,
    said: String,
    hint: Option<String>,
    ends: Exit,
}

/// The kinds that callers handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostErrorKind {
    Other,
    MissingFile,
    TooLarge,
    /// Not UTF-8 text. Both count from 1.
    NotText {
        line: usize,
        column: usize,
    },
    /// Another process holds a lock: its id, if the file has one.
    Locked(Option<String>),
    GitMissing,
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
    /// It could not be done.
    pub fn failed(said: impl Display) -> Self {
        Self {
            kind: HostErrorKind::Other,
            said: said.to_string(),
            hint: None,
            ends: Exit::Failed,
        }
    }

    /// It may not be done.
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

    /// The system's error `source` in an action that `said` describes.
    fn of_system(said: impl Display, source: &io::Error) -> Self {
        Self {
            kind: match source.kind() {
                io::ErrorKind::NotFound => HostErrorKind::MissingFile,
                _ => HostErrorKind::Other,
            },
            hint: advice_on(source).map(str::to_owned),
            ..Self::failed(format_args!("{said}: {}", reason_of(source)))
        }
    }

    /// Converts the system's error from reading `path`.
    pub fn reading(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| Self::of_system(format_args!("{} can't be read", path.display()), &source)
    }

    /// The same for writing it.
    pub fn writing(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| Self::of_system(format_args!("{} can't be written", path.display()), &source)
    }

    /// The same for a file that has to be read and written.
    pub(crate) fn using(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |source| {
            let error = Self::of_system(format_args!("{} can't be used", path.display()), &source);
            let usual = "check that the folder exists and may be written to";
            match advice_on(&source) {
                Some(_) => error,
                None => error.with_hint(usual),
            }
        }
    }

    /// The same for an action, such as `start git`.
    pub(crate) fn doing(action: &str) -> impl Fn(io::Error) -> Self + Copy + '_ {
        move |source| Self::of_system(action, &source)
    }

    /// A symbolic link where links aren't followed, since it may lead anywhere.
    pub fn link(path: &Path) -> Self {
        let said = format!(
            "{} is a symbolic link, which is not followed",
            path.display()
        );
        Self::failed(said).with_hint("remove the link, or put the real folder in its place")
    }

    pub(crate) fn not_a_file(path: &Path) -> Self {
        Self::failed(format_args!("{} is not a file", path.display()))
            .with_hint("name a file, or move what is in its place out of the way")
    }

    /// It has more than `cap` bytes.
    pub(crate) fn too_large(path: &Path, cap: u64) -> Self {
        let path = path.display();
        Self::failed(format_args!(
            "{path} is too large: at most {cap} bytes are read"
        ))
        .with_hint("check that it is the file you mean, or split it")
        .with_kind(HostErrorKind::TooLarge)
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
