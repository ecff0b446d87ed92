//! What can go wrong with git, each kind with what to do about it.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use fp_core::hint::Hint;

use super::Operation;
use crate::file;

/// A git process that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFailure {
    /// What was run, such as `git status --porcelain=v2`; cut to 200 characters.
    pub command: String,
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// The end of what it said on standard error, at most 4 KiB, control characters taken out.
    pub stderr: String,
}

impl std::fmt::Display for GitFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` ", self.command)?;
        match self.status {
            Some(status) => write!(f, "ended with status {status}")?,
            None => write!(f, "was ended by a signal")?,
        }
        match self.stderr.trim() {
            "" => Ok(()),
            said => write!(f, ": {said}"),
        }
    }
}

/// Why a question to git has no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git` on PATH.
    #[error("git was not found on PATH")]
    NotInstalled,
    /// The folder is in no working tree.
    #[error("{} is not in a git working tree", .0.display())]
    NotARepository(PathBuf),
    /// The checkout that a run is about is none of this repository any more.
    #[error("{} is no checkout of this repository", .0.display())]
    NotACheckout(PathBuf),
    /// Git refuses to read the repository because somebody else owns it.
    #[error("git does not trust the repository, since another user owns it: {0}")]
    NotTrusted(Box<GitFailure>),
    /// The repository has no commit yet.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// No branch is checked out.
    #[error("HEAD is detached: no branch is checked out")]
    DetachedHead,
    /// Something has to be finished first.
    #[error("a {0} is in progress")]
    InProgress(Operation),
    /// An object is not there any more.
    #[error("git does not have {object}: {failure}")]
    MissingObject {
        /// The object that was asked for.
        object: String,
        /// What git said.
        failure: Box<GitFailure>,
    },
    /// A git process failed in another way.
    #[error("{0}")]
    Failed(Box<GitFailure>),
    /// Git printed something that this program doesn't understand.
    #[error("`{command}` printed something unexpected: {detail}")]
    Unexpected {
        /// What was run.
        command: String,
        /// The part that isn't understood, quoted.
        detail: String,
    },
    /// A file or a process could not be used.
    #[error("{action}: {source}")]
    Io {
        /// What was tried, with the path.
        action: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl GitError {
    pub(super) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }

    pub(super) fn unexpected(command: &str, detail: &[u8]) -> Self {
        let shown: String = String::from_utf8_lossy(detail).chars().take(120).collect();
        Self::Unexpected { command: command.to_owned(), detail: format!("{shown:?}") }
    }
}

impl Hint for GitError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NotInstalled => "install git, or add its folder to PATH".into(),
            Self::NotARepository(_) => "run it inside a repository, or make one with `git init`".into(),
            Self::NotACheckout(_) => {
                "run `fp run start PLAN` in the checkout that the commits are to be made in".into()
            }
            Self::NotTrusted(_) => "git's own message names the `safe.directory` setting to add".into(),
            Self::NoCommit => "commit something first: a run needs a state to start from".into(),
            Self::DetachedHead => "check out a branch with `git switch BRANCH`".into(),
            Self::InProgress(operation) => operation.way_out().into(),
            Self::MissingObject { .. } => {
                "it was probably removed by `git gc`; release the task and let it be claimed again".into()
            }
            Self::Failed(failure) => {
                let said = |part: &str| failure.stderr.contains(part);
                let kind = match () {
                    () if said("No space left on device") => io::ErrorKind::StorageFull,
                    () if said("Read-only file system") => io::ErrorKind::ReadOnlyFilesystem,
                    () => return None,
                };
                file::advice(&kind.into())?.into()
            }
            Self::Io { source, .. } => file::advice(source)?.into(),
            Self::Unexpected { .. } => {
                "run it by hand: the `git` on PATH is no plain git, or one that this fp does not know".into()
            }
        })
    }
}
