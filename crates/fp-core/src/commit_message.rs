//! Commit messages in the style of the repository.

use crate::repo_path::RepoPath;

/// The message for a task.
#[must_use]
pub fn for_task(_subjects: &[String], title: &str, _files: &[RepoPath]) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}
