//! What a change consists of, as measured by git: the input of every check.

use serde::{Deserialize, Serialize};

use fp_plan::repo_path::RepoPath;

/// What happened to a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeStatus {
    /// It is new.
    Added,
    /// Its content changed, with or without its mode.
    Modified,
    /// It is gone.
    Deleted,
    /// It is the file that was at `from`, with the same or a similar content.
    Renamed {
        /// The path it had; nothing is there any more.
        from: RepoPath,
    },
    /// Only its executable bit changed.
    ModeChanged,
    /// It was a file and is a link, or the like.
    TypeChanged,
}

/// What is, or in a deletion was, at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink,
    /// A repository of its own.
    Submodule,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where it is now; for a deletion, where it was.
    pub path: RepoPath,
    /// What happened.
    pub status: ChangeStatus,
    /// What is there.
    pub kind: FileKind,
}

impl Change {
    /// Every path that the change touches: the path, and the other end of a rename.
    pub fn ends(&self) -> impl Iterator<Item = &RepoPath> {
        let from = match &self.status {
            ChangeStatus::Renamed { from } => Some(from),
            _ => None,
        };
        std::iter::once(&self.path).chain(from)
    }
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLine {
    /// Its number, from 1: in the new file for an added line, in the old one for a removed line.
    pub number: usize,
    /// Its text without the line ending; not UTF-8 is replaced.
    pub text: String,
}

/// The lines that a change adds to a file and takes out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLines {
    /// Where the file is now; for a deletion, where it was.
    pub path: RepoPath,
    /// Lines that are new, in order.
    pub added: Vec<ChangedLine>,
    /// Lines that are gone, in order.
    pub removed: Vec<ChangedLine>,
}
