//! Finds the repository and its plans folder. State belongs to the repository, not to a checkout, so a linked worktree
//! leads to the main one. Every hook needs this, so it reads a few of git's files instead of starting git.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fp_plan::settings::Settings;

use crate::error::{HostError, HostResult};
use crate::file;
use crate::platform;

/// The folder for configuration, specs and plans.
pub const HOME: &str = ".fractal-planner";
/// The folder of roadmaps. A change there during a build isn't attributed to the task.
pub const ROADMAPS: &str = ".fractal-planner/roadmaps";

/// Size limit of git's own files, in bytes.
const GIT_FILE_CAP: u64 = 64 * 1024;

/// A repository, or a folder without git, in which plans are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    /// The root of the main worktree; without git, the nearest folder with a `.fractal-planner`, or else the folder
    /// where the search started. Absolute, and without symbolic links if it exists.
    pub root: PathBuf,
    /// The git directory that all worktrees share; `None` without a git repository.
    pub git_dir: Option<PathBuf>,
    /// The root of the worktree around the folder where the search started: [`Repo::root`] or a linked worktree.
    pub worktree: PathBuf,
}

impl Repo {
    /// Finds the repository around `cwd`. Never fails; treats a broken `.git` as if there were none.
    pub fn find(cwd: &Path) -> Self {
        let cwd = platform::real_path(cwd)
            .or_else(|_| std::path::absolute(cwd))
            .unwrap_or_else(|_| cwd.to_owned());
        let mut with_home = None;
        for folder in cwd.ancestors() {
            if let Some(git_dir) = git_dir_of(folder) {
                return Self::with_git(folder, &git_dir);
            }
            if with_home.is_none() && folder.join(HOME).is_dir() {
                with_home = Some(folder);
            }
        }
        let root = with_home.unwrap_or(&cwd).to_owned();
        Self {
            worktree: root.clone(),
            git_dir: None,
            root,
        }
    }

    fn with_git(worktree: &Path, git_dir: &Path) -> Self {
        let shared = first_line(&git_dir.join("commondir")).map(|line| git_dir.join(line));
        let shared = shared.and_then(|path| platform::real_path(path).ok());
        let root = shared
            .as_deref()
            .and_then(main_worktree)
            .unwrap_or_else(|| worktree.to_owned());
        Self {
            root,
            git_dir: Some(shared.unwrap_or_else(|| git_dir.to_owned())),
            worktree: worktree.to_owned(),
        }
    }

    /// The folder of all plans; it need not exist.
    pub fn plans_dir(&self, settings: &Settings) -> PathBuf {
        self.root.join(&settings.plans_dir)
    }

    /// The path of the file `path` relative to the root of its checkout, with `/` as the separator. `None` outside of
    /// the main worktree and the current one.
    pub fn relative(&self, path: &Path) -> Option<String> {
        let folder = platform::real_path(path.parent()?).ok()?;
        let path = folder.join(path.file_name()?);
        // Tried first: a linked worktree can lie inside the main one.
        let inside = path
            .strip_prefix(&self.worktree)
            .or_else(|_| path.strip_prefix(&self.root))
            .ok()?;
        let parts: Option<Vec<&str>> = inside
            .components()
            .map(|part| part.as_os_str().to_str())
            .collect();
        parts.map(|parts| parts.join("/"))
    }

    /// Creates the folder `path`, which uses `/` as the separator, if it doesn't exist. Fails if a link along the path
    /// leads out of the repository.
    pub fn make_folder(&self, path: &str) -> HostResult<PathBuf> {
        let mut folder = self.root.clone();
        for part in path.split('/') {
            folder.push(part);
            let failed = HostError::writing(&folder);
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(failed(error));
                }
                _ => {}
            }
            if !platform::real_path(&folder)
                .map_err(failed)?
                .starts_with(&self.root)
            {
                return Err(HostError::link(&folder));
            }
        }
        Ok(folder)
    }

    /// The project's configuration file; it need not exist.
    pub fn config_file(&self) -> PathBuf {
        self.root.join(HOME).join("config.json")
    }
}

/// The git directory that `folder/.git` is or points to.
pub(crate) fn git_dir_of(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    let metadata = fs::metadata(&dot_git).ok()?;
    let git_dir = if metadata.is_dir() {
        dot_git
    } else {
        let line = first_line(&dot_git)?;
        folder.join(line.strip_prefix("gitdir:")?.trim())
    };
    // Git, too, rejects a folder without a HEAD. HEAD may be a link to a ref that doesn't exist yet.
    fs::symlink_metadata(git_dir.join("HEAD")).ok()?;
    platform::real_path(git_dir).ok()
}

/// The main checkout for a linked worktree whose shared git directory is `shared`. `None` for a standalone bare
/// repository.
fn main_worktree(shared: &Path) -> Option<PathBuf> {
    let beside = shared.parent()?;
    if git_dir_of(beside).as_deref() == Some(shared) {
        return Some(beside.to_owned());
    }
    // A submodule's git directory lies inside its superproject's, and its config names the checkout.
    let config = file::read_text(&shared.join("config"), GIT_FILE_CAP).ok()?;
    let value = config.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case("worktree")
            .then(|| value.trim().trim_matches('"'))
    })?;
    platform::real_path(shared.join(value)).ok()
}

fn first_line(path: &Path) -> Option<String> {
    let text = file::read_text(path, GIT_FILE_CAP).ok()?;
    text.lines().next().map(|line| line.trim_end().to_owned())
}

#[cfg(test)]
mod tests;
