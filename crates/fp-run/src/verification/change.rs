//! Describes a change as measured by git, the input of every check.

use serde::{Deserialize, Serialize};

use fp_plan::repo_path::RepoPath;

/// The kind of change to a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeStatus {
    Added,
    /// The content changed, and possibly the mode.
    Modified,
    Deleted,
    /// The file was moved from `from`, with the same or similar content.
    Renamed {
        /// The old path, where nothing is left.
        from: RepoPath,
    },
    /// Only the executable bit changed.
    ModeChanged,
    /// The type changed, such as from a file to a link.
    TypeChanged,
}

/// The type of a file, or of a deleted file before its deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A regular file.
    File,
    Symlink,
    Submodule,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The current path, or the old one of a deleted file.
    pub path: RepoPath,
    pub status: ChangeStatus,
    pub kind: FileKind,
}

impl Change {
    /// Every path that the change touches: its current path, and the old path of a rename.
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
    /// Line number from 1, in the new file for an added line, in the old one for a removed line.
    pub number: usize,
    /// Without the line ending; invalid UTF-8 is replaced.
    pub text: String,
}

/// The lines that a change adds to a file and removes from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLines {
    /// The current path, or the old one of a deleted file.
    pub path: RepoPath,
    /// In order.
    pub added: Vec<ChangedLine>,
    /// In order.
    pub removed: Vec<ChangedLine>,
}
