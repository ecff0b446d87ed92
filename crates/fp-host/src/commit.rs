//! Makes a commit that a user explicitly asks for: exactly the named files, or exactly the staged changes.

use std::path::{Path, PathBuf};

use fp_plan::repo_path::RepoPath;
use fp_plan::text::first_few;
use serde::Serialize;

use crate::error::{HostError, HostResult};
use crate::git::{CommitOutcome, EntryState, Git, StatusEntry, WorkingTreeStatus};
use crate::platform;

/// Maximum number of changed files that the hint lists if no file was named.
const MAX_LISTED: usize = 20;

/// The changes of one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenChanges {
    /// The named files; `None` for the staged changes.
    files: Option<Vec<RepoPath>>,
    pub changes: Vec<ChosenFile>,
    /// Staged files that stay staged and uncommitted.
    pub kept: Vec<RepoPath>,
}

/// A file of the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChosenFile {
    pub path: RepoPath,
    /// Git's letter for its change.
    pub status: char,
}

impl ChosenFile {
    fn from_entry(entry: &StatusEntry) -> Self {
        Self {
            path: entry.path.clone(),
            status: entry.letter(),
        }
    }
}

/// Returns the changes to the files in `names`, which are relative to `cwd`; without names, the staged changes. Names
/// are literal, and each must be a file that has changed: either everything named is committed, or nothing.
///
/// # Errors
/// Git fails, or a name can't be committed.
pub fn choose_changes(git: &Git, cwd: &Path, names: &[PathBuf]) -> HostResult<ChosenChanges> {
    let status = git.status()?;
    let staged = status.entries.iter().filter(|entry| entry.is_staged());
    if names.is_empty() {
        let changes: Vec<ChosenFile> = staged.map(ChosenFile::from_entry).collect();
        if changes.is_empty() {
            let changed = status.entries.iter().map(|entry| entry.path.to_string());
            return Err(nothing_staged(&changed.collect::<Vec<_>>()));
        }
        return Ok(ChosenChanges {
            files: None,
            changes,
            kept: Vec::new(),
        });
    }
    let (mut files, mut unfit) = (Vec::new(), Vec::new());
    for name in names {
        match changed_file(git, &status, &cwd.join(name)) {
            Ok(file) if files.contains(&file) => {}
            Ok(file) => files.push(file),
            Err(why) => unfit.push(format!("{} can't be committed: {why}", name.display())),
        }
    }
    if !unfit.is_empty() {
        return Err(HostError::refused(unfit.join("\n"))
            .with_hint("nothing is committed; `git status` shows what has changed"));
    }
    let is_chosen = |entry: &&StatusEntry| files.contains(&entry.path);
    let chosen = status.entries.iter().filter(is_chosen);
    Ok(ChosenChanges {
        changes: chosen.map(ChosenFile::from_entry).collect(),
        kept: staged
            .filter(|entry| !is_chosen(entry))
            .map(|entry| entry.path.clone())
            .collect(),
        files: Some(files),
    })
}

fn nothing_staged(changed: &[String]) -> HostError {
    if changed.is_empty() {
        return HostError::refused("nothing has changed since the last commit");
    }
    HostError::refused("no file is named, and nothing is staged").with_hint(format_args!(
        "name the files: `fp commit FILE… -m MESSAGE`; changed: {}",
        first_few(changed, MAX_LISTED)
    ))
}

const FOLDER: &str = "it is a folder: name the files in it";

/// The file at `path`, or why it can't be committed.
fn changed_file(
    git: &Git,
    status: &WorkingTreeStatus,
    path: &Path,
) -> Result<RepoPath, &'static str> {
    let Some(file) = git.locate(path) else {
        let is_top = platform::real_path(path).is_ok_and(|path| path == git.worktree());
        return Err(match is_top {
            true => FOLDER,
            false => "it is outside of this repository",
        });
    };
    let mut entries = status.entries.iter();
    match entries
        .find(|entry| entry.path == file)
        .map(|entry| entry.state)
    {
        Some(EntryState::NestedRepository) => Err("it is a repository of its own"),
        Some(_) => Ok(file),
        None => Err(why_unfit(path)),
    }
}

fn why_unfit(path: &Path) -> &'static str {
    match std::fs::symlink_metadata(path) {
        Err(_) => "there is no such file, and the last commit has none either",
        // A folder with its own `.git` is a submodule.
        Ok(found) if found.is_dir() && !path.join(".git").exists() => FOLDER,
        Ok(_) => "it has not changed since the last commit, or git ignores it",
    }
}

impl ChosenChanges {
    /// The paths of the changed files.
    pub fn files(&self) -> Vec<RepoPath> {
        self.changes.iter().map(|file| file.path.clone()).collect()
    }

    /// Makes the commit with this message.
    ///
    /// # Errors
    /// Git can't be run or its output can't be read. A problem that a person can fix is [`CommitOutcome::Blocked`].
    pub fn commit(&self, git: &Git, message: &str) -> HostResult<CommitOutcome> {
        match &self.files {
            Some(files) => git.commit(files, message),
            None => git.commit_staged(message),
        }
    }
}
