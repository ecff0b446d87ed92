//! What a task changed, as git measured it; never as an agent says.

use serde::{Deserialize, Serialize};

/// What a change is measured against: taken when a task is first claimed, and kept when its claim is taken
/// back, so that what a builder left half done still counts as the task's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The working tree, as a git tree or as the commit it equals.
    pub tree: String,
    /// The commit HEAD was at.
    pub head: String,
}

/// How a path changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeStatus {
    /// It is new.
    Added,
    /// Its content changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It came from another path.
    Renamed,
    /// Only its mode changed.
    Mode,
    /// It became another kind of thing: a link, a submodule, a file.
    Type,
}

/// One path that a task changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Relative to the repository, `/` between folders.
    pub path: String,
    /// How.
    pub status: ChangeStatus,
    /// Where a renamed file came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}
