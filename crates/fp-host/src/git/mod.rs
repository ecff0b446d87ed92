//! The one place that runs git.
//!
//! Three promises hold for everything in here: arguments are a vector and paths are literal, so that no file
//! name means anything to a shell or to git; the user's index is never changed except for the files of a
//! commit; and an error carries the command that failed and what it said.

mod blobs;
mod churn;
mod command;
mod commit;
mod compare;
mod diff;
mod error;
mod history;
mod locate;
mod lost;
mod merge;
mod oid;
pub(crate) mod question;
mod revert;
mod stat;
mod status;
mod surroundings;
mod tree;
mod worktree;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fp_core::settings::Settings;

use crate::repo::{self, Repo};

pub use churn::Churn;
pub(crate) use command::os_string;
pub use commit::{Blocked, Outcome};
pub use compare::{Compared, Side};
pub(crate) use diff::Blobs;
pub use error::{Failure, GitError};
pub use history::Commit;
pub use merge::Merge;
pub use oid::{InvalidOid, Oid};
pub use revert::{Undo, Undoing};
pub use stat::FileStat;
pub use status::{Entry, EntryState, Head, Operation, Status};
pub use tree::Snapshot;

/// One working tree and the repository it belongs to.
#[derive(Debug, Clone)]
pub struct Git {
    worktree: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    plans_dir: String,
    env: Vec<(OsString, OsString)>,
    commit_lock: Option<Arc<File>>,
}

impl Git {
    /// Finds the working tree that `directory` is in, without running git.
    ///
    /// # Errors
    /// [`GitError::NotARepository`] if there is none.
    pub fn open(directory: &Path) -> Result<Self, GitError> {
        let repo = Repo::find(directory);
        let Some((common_dir, git_dir)) = repo.git_dir.zip(repo::git_dir_of(&repo.worktree)) else {
            return Err(GitError::NotARepository(directory.to_owned()));
        };
        let plans_dir = Settings::default().plans_dir;
        Ok(Self {
            worktree: repo.worktree,
            git_dir,
            common_dir,
            plans_dir,
            env: Vec::new(),
            commit_lock: None,
        })
    }

    /// Sets the folder of plans, relative to the repository: what is in it is nobody's change.
    #[must_use]
    pub fn with_plans_dir(self, plans_dir: impl Into<String>) -> Self {
        Self { plans_dir: plans_dir.into(), ..self }
    }

    /// Sets an environment variable for every git process started through this value.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Has each git process that makes a commit, or changes another working tree, hold the locked file `lock` as long
    /// as it lives, since it may outlive the process that started it.
    #[must_use]
    pub fn with_commit_lock(self, lock: Arc<File>) -> Self {
        Self { commit_lock: Some(lock), ..self }
    }

    /// The top of the working tree, absolute, without symbolic links.
    #[must_use]
    pub fn worktree(&self) -> &Path {
        &self.worktree
    }

    /// The folder with this working tree's `HEAD` and index.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The folder that all working trees of the repository share; the `.git` of the main one.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }
}
