//! Only this module runs git, which guarantees three things:
//! - Arguments are passed as a vector and paths are literal: no file name has a special meaning to a shell or to git.
//! - The user's index never changes, except for the files of a commit.
//! - An error contains the command that failed and git's message.

pub mod command;
mod commit;
mod diff;
mod history;
mod merge;
mod patch;
mod remote;
mod sides;
mod status;
mod store;
mod tree;
mod worktree;

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fp_plan::repo_path::RepoPath;
use fp_plan::settings::Settings;
use serde::{Deserialize, Serialize};

use crate::error::{HostError, HostErrorKind, HostResult};
use crate::file;
use crate::platform::{self, os_string};
use crate::repo::{self, Repo};

pub use commit::{Blocked, CommitOutcome};
pub(crate) use commit::{file_list, stays_as_edited};
pub(crate) use diff::Blobs;
pub use history::GitCommit;
pub use merge::Merge;
pub(crate) use merge::is_same;
pub use patch::{FilePatch, PatchLine};
pub use remote::{LedgerCommit, Pushed, RefUpdate};
pub(crate) use status::hash as text_hash;
pub use status::{EntryState, Operation, StatusEntry, WorkingTreeStatus};
pub use tree::Snapshot;
pub(crate) use tree::copy_index;
pub use worktree::can_merge;
pub(crate) use worktree::remove as remove_all;

/// A git process that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFailure {
    /// The command, such as `git status --porcelain=v2`; cut to 200 characters.
    pub command: String,
    /// Its exit status; `None` if a signal ended it.
    pub status: Option<i32>,
    /// The end of standard error, at most 4 KiB, without control characters.
    pub stderr: String,
}

impl fmt::Display for GitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// Git's messages when a disk is full; they often leave out the reason.
const FULL: [&str; 4] = [
    "No space left on device",
    "Out of diskspace",
    "unable to write file",
    "write error",
];

impl GitFailure {
    fn into_error(self) -> HostError {
        if self.stderr.contains("not a git repository") {
            return not_a_repository(self.stderr);
        }
        let kind = match () {
            () if FULL.iter().any(|words| self.stderr.contains(words)) => {
                Some(io::ErrorKind::StorageFull)
            }
            () if self.stderr.contains("Read-only file system") => {
                Some(io::ErrorKind::ReadOnlyFilesystem)
            }
            () => None,
        };
        let error = HostError::failed(&self);
        if self.stderr.contains("promisor") || self.stderr.contains("lazy fetching") {
            return error.with_hint(
                "this clone is partial: `git fetch --refetch --no-filter` brings what is missing",
            );
        }
        if self.stderr.contains("beyond a symbolic link") || self.stderr.contains("in submodule") {
            return error.with_hint(
                "a task lists real paths of this repository, none behind a link or in a submodule",
            );
        }
        if self.stderr.contains("filter") && self.stderr.contains("failed") {
            return error.with_hint("install the program of that filter, such as git-lfs");
        }
        match kind.and_then(|kind| file::advice_on(&kind.into())) {
            Some(advice) => error.with_hint(advice),
            None => error,
        }
    }

    /// The error for `object`, which git no longer has.
    fn into_missing(self, object: &Oid) -> HostError {
        HostError::failed(format_args!("git does not have {object}: {self}"))
            .with_hint(
                "it was probably removed by `git gc`; release the task and let it be claimed again",
            )
            .with_kind(HostErrorKind::MissingObject)
    }
}

fn not_a_repository(place: impl fmt::Display) -> HostError {
    HostError::failed(format_args!("{place} is not in a git working tree"))
        .with_hint("run it inside a repository, or make one with `git init`")
}

fn no_commit() -> HostError {
    HostError::failed("the repository has no commit yet")
        .with_hint("commit something first: a run needs a state to start from")
        .with_kind(HostErrorKind::NoCommit)
}

/// The error for unexpected output of `command`; `detail` could not be parsed.
fn unexpected(command: &str, detail: &[u8]) -> HostError {
    let shown: String = String::from_utf8_lossy(detail).chars().take(120).collect();
    HostError::failed(format_args!(
        "`{command}` printed something unexpected: {shown:?}"
    ))
    .with_hint(
        "run it by hand: the `git` on PATH is no plain git, or one that this fp does not know",
    )
}

/// The records in the output of a command with `-z`.
fn records_of(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .split(|&b| b == 0)
        .filter(|record| !record.is_empty())
}

fn temporary_folder() -> HostResult<tempfile::TempDir> {
    let made = tempfile::tempdir();
    made.map_err(HostError::writing(&std::env::temp_dir()))
}

/// One working tree and its repository.
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
    /// Finds the working tree around `directory`, without running git.
    ///
    /// # Errors
    /// `directory` isn't in a working tree.
    pub fn open(directory: &Path) -> HostResult<Self> {
        Self::open_with(directory, &Settings::default().plans_dir)
    }

    /// Like [`Git::open`], with `plans_dir`, relative to the repository, as the plans folder, whose content is never
    /// part of a change.
    pub fn open_with(directory: &Path, plans_dir: &str) -> HostResult<Self> {
        let repo = Repo::find(directory);
        let Some((common_dir, git_dir)) = repo.git_dir.zip(repo::git_dir_of(&repo.worktree)) else {
            return Err(not_a_repository(directory.display()));
        };
        Ok(Self {
            worktree: repo.worktree,
            git_dir,
            common_dir,
            plans_dir: plans_dir.to_owned(),
            env: Vec::new(),
            commit_lock: None,
        })
    }

    /// Sets an environment variable for every git process started through this value.
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Makes git look for its folder nowhere else, whatever stands in the working tree by then.
    pub(crate) fn pinned(self) -> Self {
        let (git_dir, worktree) = (self.git_dir.clone(), self.worktree.clone());
        self.with_env("GIT_DIR", git_dir)
            .with_env("GIT_WORK_TREE", worktree)
    }

    /// Makes each git process that commits, or changes another working tree, hold the locked file `lock` as
    /// long as it lives, since it may outlive the process that started it.
    pub fn with_commit_lock(self, lock: Arc<File>) -> Self {
        Self {
            commit_lock: Some(lock),
            ..self
        }
    }

    /// The root of the working tree, absolute, without symbolic links.
    pub fn worktree(&self) -> &Path {
        &self.worktree
    }

    /// The folder with this working tree's `HEAD` and index.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The folder that all working trees of the repository share: the `.git` of the main one.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }
}

/// Id of a git object: 40 hexadecimal digits, or 64 in a SHA-256 repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Oid(String);

/// A string that isn't an object id, cut to 80 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a git object id: expected 40 or 64 hexadecimal digits")]
pub struct InvalidOid(String);

impl Oid {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten digits, for people.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl std::str::FromStr for Oid {
    type Err = InvalidOid;
    fn from_str(text: &str) -> Result<Self, InvalidOid> {
        let digits = text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if digits && matches!(text.len(), 40 | 64) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidOid(text.chars().take(80).collect()))
        }
    }
}

impl From<InvalidOid> for HostError {
    fn from(invalid: InvalidOid) -> Self {
        Self::failed(invalid).with_hint(
            "the plan's events.jsonl was changed by hand: put back the commit that it named, `git log` shows it",
        )
    }
}

impl TryFrom<String> for Oid {
    type Error = InvalidOid;
    fn try_from(text: String) -> Result<Self, InvalidOid> {
        text.parse()
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Git {
    /// The path of a file relative to the root of the working tree; `path` is absolute. The file need not exist, and a
    /// link is not followed. `None` for the root itself and for anything outside.
    pub fn locate(&self, path: &Path) -> Option<RepoPath> {
        // A deleted file's folder may be gone too.
        let real = |folder: &Path| {
            platform::real_path(folder).unwrap_or_else(|_| file::real(&file::plain(folder)))
        };
        let path = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => real(folder).join(name),
            _ => real(path),
        };
        let inside = path.strip_prefix(self.worktree()).ok()?;
        let parts: Vec<Vec<u8>> = inside
            .iter()
            .map(platform::git_bytes)
            .collect::<Option<_>>()?;
        (!parts.is_empty()).then(|| RepoPath::from_bytes(parts.join(&b'/')))
    }

    /// True if the working tree ignores letter case. Asks the file system, since git's setting can be changed.
    pub fn ignores_case(&self) -> bool {
        let folded = ".GIT";
        let names = std::fs::read_dir(self.worktree())
            .into_iter()
            .flatten()
            .flatten();
        self.worktree().join(folded).symlink_metadata().is_ok()
            && !names.into_iter().any(|entry| entry.file_name() == folded)
    }

    /// The absolute path of the file on disk.
    pub fn absolute(&self, path: &RepoPath) -> PathBuf {
        self.worktree().join(os_string(path.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_lower_case_ids() {
        let check =
            |text: &str, valid: bool| assert_eq!(text.parse::<Oid>().is_ok(), valid, "{text:?}");
        check(&"a1".repeat(20), true);
        check(&"0".repeat(64), true);
        check(&"0".repeat(41), false);
        check(&"A1".repeat(20), false);
        check("HEAD", false);
        check("--output=x", false);
        check("", false);
    }
}
