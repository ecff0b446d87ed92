//! A commit that somebody asks for by name: exactly the named files, or exactly what is staged.

use std::path::{Path, PathBuf};

use fp_plan::repo_path::RepoPath;

use crate::git::{CommitOutcome, EntryState, FileStat, Git, GitError, StatusEntry, WorkingTreeStatus};

/// What is to be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenChanges {
    /// The named files; `None` for what is staged.
    files: Option<Vec<RepoPath>>,
    /// How each file changes.
    pub stats: Vec<FileStat>,
    /// What is staged and stays so, uncommitted.
    pub kept: Vec<RepoPath>,
}

/// Why a named file can't be committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is somewhere else.
    #[error("it is outside of this repository")]
    Outside,
    /// It is a folder.
    #[error("it is a folder: name the files in it")]
    Folder,
    /// It is a repository that this one doesn't know.
    #[error("it is a repository of its own")]
    Repository,
    /// It is another repository's.
    #[error("it is in a repository of its own: commit it there")]
    Elsewhere,
    /// Git leaves it out.
    #[error("git ignores it")]
    Ignored,
    /// It is as it was.
    #[error("it has not changed since the last commit")]
    Unchanged,
    /// It neither is nor was there.
    #[error("there is no such file, and the last commit has none either")]
    Missing,
}

/// Why there is nothing to commit.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// Git can't say.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Some of the named files can't be committed, so none is.
    #[error("{}", listed(.0))]
    Unfit(Vec<(PathBuf, Unfit)>),
    /// No file was named, and none is staged; these have changed.
    #[error("no file is named, and nothing is staged")]
    NothingNamed(Vec<RepoPath>),
    /// Nothing has changed at all.
    #[error("nothing has changed since the last commit")]
    NothingChanged,
}

fn listed(files: &[(PathBuf, Unfit)]) -> String {
    let files = files.iter().map(|(name, why)| format!("{} can't be committed: {why}", name.display()));
    files.collect::<Vec<_>>().join("\n")
}

/// What `names` mean, seen from the folder `cwd`; without one, what is staged. Names are literal, and each has to be
/// a file that has changed: what somebody names is what is committed, or nothing is.
///
/// # Errors
/// A failing git, and whatever is not to be committed.
pub fn choose(git: &Git, cwd: &Path, names: &[PathBuf]) -> Result<ChosenChanges, ChoiceError> {
    let status = git.status()?;
    let staged = || status.entries.iter().filter(|entry| entry.is_staged()).map(|entry| entry.path.clone());
    if names.is_empty() {
        let stats = git.stat_staged()?;
        if stats.is_empty() {
            let changed: Vec<RepoPath> = status.entries.iter().map(|entry| entry.path.clone()).collect();
            let empty = changed.is_empty();
            return Err(if empty { ChoiceError::NothingChanged } else { ChoiceError::NothingNamed(changed) });
        }
        return Ok(ChosenChanges { files: None, stats, kept: Vec::new() });
    }
    let (mut files, mut unfit) = (Vec::new(), Vec::new());
    for name in names {
        match file(git, &status, &cwd.join(name))? {
            Ok(file) if files.contains(&file) => {}
            Ok(file) => files.push(file),
            Err(why) => unfit.push((name.clone(), why)),
        }
    }
    if !unfit.is_empty() {
        return Err(ChoiceError::Unfit(unfit));
    }
    let stats = git.stat_files(&status, &files)?;
    let kept = staged().filter(|path| !files.contains(path)).collect();
    Ok(ChosenChanges { files: Some(files), stats, kept })
}

fn file(git: &Git, status: &WorkingTreeStatus, path: &Path) -> Result<Result<RepoPath, Unfit>, GitError> {
    let Some(file) = git.locate(path) else {
        let is_top = std::fs::canonicalize(path).is_ok_and(|path| path == git.worktree());
        return Ok(Err(if is_top { Unfit::Folder } else { Unfit::Outside }));
    };
    let of = |entry: &&StatusEntry| entry.path == file;
    Ok(match status.entries.iter().find(of).map(|entry| &entry.state) {
        Some(EntryState::NestedRepository) => Err(Unfit::Repository),
        Some(_) => Ok(file),
        None => Err(why_unfit(git, path, &file)?),
    })
}

fn why_unfit(git: &Git, path: &Path, file: &RepoPath) -> Result<Unfit, GitError> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(Unfit::Missing) };
    let text = file.to_string();
    let absolute = git.absolute(file);
    let mut folders = absolute.ancestors().skip(1).take_while(|folder| *folder != git.worktree());
    if folders.any(|folder| folder.join(".git").exists()) {
        return Ok(Unfit::Elsewhere);
    }
    if !git.ignored(&[&text])?.is_empty() {
        Ok(Unfit::Ignored)
        // What has a `.git` is a submodule: others are known as repositories of their own.
    } else if found.is_dir() && !path.join(".git").exists() {
        Ok(Unfit::Folder)
    } else {
        Ok(Unfit::Unchanged)
    }
}

impl ChosenChanges {
    /// The files that change, by path.
    pub fn files(&self) -> Vec<RepoPath> {
        self.stats.iter().map(|stat| stat.change.path.clone()).collect()
    }

    /// Makes the commit with this message.
    ///
    /// # Errors
    /// A git that can't be run or understood; what a person can settle is [`CommitOutcome::Blocked`].
    pub fn commit(&self, git: &Git, message: &str) -> Result<CommitOutcome, GitError> {
        match &self.files {
            Some(files) => git.commit(files, message),
            None => git.commit_staged(message),
        }
    }
}
