//! Finds the folders of a repository by reading its `.git`, which spares a process in every command.

use std::path::{Path, PathBuf};

use super::{Git, GitError};

/// The working tree that `directory` is in.
pub(super) fn find(directory: &Path) -> Result<Git, GitError> {
    let start =
        std::path::absolute(directory).map_err(GitError::io(format!("resolve {}", directory.display())))?;
    for folder in start.ancestors() {
        if let Some(git_dir) = git_dir_of(folder)? {
            let common_dir = common_dir_of(&git_dir)?;
            return Ok(Git { worktree: folder.to_owned(), git_dir, common_dir, env: Vec::new() });
        }
    }
    Err(GitError::NotARepository(directory.to_owned()))
}

/// The git folder of the working tree whose top is `folder`, if it is one: `.git` itself, or in a linked
/// working tree and in a submodule the folder that the file `.git` names.
fn git_dir_of(folder: &Path) -> Result<Option<PathBuf>, GitError> {
    let dot_git = folder.join(".git");
    let git_dir = match std::fs::metadata(&dot_git) {
        Ok(metadata) if metadata.is_dir() => dot_git,
        Ok(_) => match link_in(&dot_git, b"gitdir: ")? {
            Some(target) => folder.join(target),
            None => return Ok(None),
        },
        Err(_) => return Ok(None),
    };
    Ok(git_dir.join("HEAD").symlink_metadata().is_ok().then_some(git_dir))
}

fn common_dir_of(git_dir: &Path) -> Result<PathBuf, GitError> {
    let file = git_dir.join("commondir");
    if file.exists()
        && let Some(target) = link_in(&file, b"")?
    {
        let common = git_dir.join(target);
        return std::fs::canonicalize(&common).map_err(GitError::io(format!("resolve {}", common.display())));
    }
    Ok(git_dir.to_owned())
}

/// The path in a file of one line, behind `prefix`.
fn link_in(file: &Path, prefix: &[u8]) -> Result<Option<PathBuf>, GitError> {
    let text = std::fs::read(file).map_err(GitError::io(format!("read {}", file.display())))?;
    let line = text.strip_suffix(b"\n").unwrap_or(&text);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Ok(line.strip_prefix(prefix).map(|target| PathBuf::from(super::command::os_string(target))))
}
