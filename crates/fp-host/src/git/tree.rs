//! The working tree as a git tree object, so that what a task changed can be measured later, whoever staged,
//! committed or reverted what in between.

use std::fs::File;
use std::io;
use std::path::Path;

use fp_plan::repo_path::RepoPath;
use fp_run::verification::by_products::ByProducts;

use super::{EntryState, Git, GitError, Oid, StatusEntry, WorkingTreeStatus};
use crate::repo::{DEBT_LOG, ROADMAPS};

/// Name of an index.
pub(super) const INDEX: &str = "index";

/// The working tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree, or the commit that it equals: everything but the plans folder, what `fp` itself keeps beside it,
    /// ignored files, and what tools leave behind in a repository that doesn't ignore it.
    pub tree: Oid,
    /// What the tree differs in from HEAD.
    pub status: WorkingTreeStatus,
}

impl Git {
    /// Takes the working tree as a git tree object. The user's index is neither written nor locked, and files
    /// that it knows to be unchanged are not read, unless it was told to overlook changes of theirs. Two processes
    /// where nothing differs from HEAD, four to five where something does. A nested repository, and a submodule with
    /// changes inside that no commit of it holds, are in the tree by a mark.
    ///
    /// # Errors
    /// A failing git, or a temporary file that can't be written.
    pub fn snapshot_tree(&self) -> Result<Snapshot, GitError> {
        let mut status = self.status()?;
        let of_nobody = [self.plans_dir.as_str(), DEBT_LOG, ROADMAPS];
        status.entries.retain(|entry| !of_nobody.iter().any(|kept| is_within(&entry.path, kept)));
        leave_out_by_products(&mut status.entries);
        let overlooked = self.overlooked_files()?;
        let tree = match &status.commit {
            Some(commit) if status.entries.is_empty() && overlooked.is_empty() => commit.clone(),
            _ => self.write_tree(&status, &overlooked)?,
        };
        Ok(Snapshot { tree, status })
    }

    /// Whether there is something at `path` in `tree`, a tree or a commit. One process.
    ///
    /// # Errors
    /// A failing git, or a tree that is gone.
    pub fn is_in_tree(&self, tree: &Oid, path: &RepoPath) -> Result<bool, GitError> {
        let call = self.call(&["ls-tree", "-z", "--name-only", "--full-tree"]).arg(tree.to_string());
        Ok(!call.paths([path]).output()?.is_empty())
    }

    fn write_tree(&self, status: &WorkingTreeStatus, overlooked: &[RepoPath]) -> Result<Oid, GitError> {
        let folder = self.copied_index(status)?;
        let index = folder.path().join(INDEX);
        if !overlooked.is_empty() {
            let paths: Vec<u8> =
                overlooked.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect();
            // One call changes one mark, and nothing else.
            let steps: [&[&str]; 3] =
                [&["--no-assume-unchanged"], &["--no-skip-worktree"], &["--add", "--remove"]];
            for options in steps {
                let arguments = [&["-c", "core.safecrlf=false", "update-index"], options, &["-z", "--stdin"]];
                let call = self.call(&arguments.concat());
                call.env("GIT_INDEX_FILE", &index).input(paths.clone()).output()?;
            }
        }
        self.tree_of(&index)
    }

    /// The tree of an index that is not the user's.
    pub(super) fn tree_of(&self, index: &Path) -> Result<Oid, GitError> {
        self.call(&["write-tree"]).env("GIT_INDEX_FILE", index).oid()
    }

    /// A folder with a copy of the user's index, [`INDEX`], that is brought to the working tree where `status` says
    /// that they differ.
    pub(super) fn copied_index(&self, status: &WorkingTreeStatus) -> Result<tempfile::TempDir, GitError> {
        let folder = tempfile::tempdir().map_err(GitError::io("make a temporary folder"))?;
        let index = folder.path().join(INDEX);
        copy_index(&self.git_dir().join(INDEX), &index)?;
        let (taken_out, read) = edits(status);
        if !taken_out.is_empty() {
            let call = self.call(&["update-index", "-z", "--index-info"]);
            call.env("GIT_INDEX_FILE", &index).input(taken_out).output()?;
        }
        if !read.is_empty() {
            let arguments = [
                "-c",
                "core.safecrlf=false",
                "update-index",
                "--add",
                "--remove",
                "--replace",
                "-z",
                "--stdin",
            ];
            self.call(&arguments).env("GIT_INDEX_FILE", &index).input(read).output()?;
        }
        Ok(folder)
    }
}

fn leave_out_by_products(entries: &mut Vec<StatusEntry>) {
    let untracked = |entry: &&StatusEntry| entry.state == EntryState::Untracked;
    let found = ByProducts::among(entries.iter().filter(untracked).map(|entry| &entry.path));
    entries.retain(|entry| entry.state != EntryState::Untracked || !found.covers(&entry.path));
}

fn is_within(path: &RepoPath, folder: &str) -> bool {
    let rest = path.as_bytes().strip_prefix(folder.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Copies the index with its time: git reads a file again if it changed in the second in which the index was
/// written, and it tells that by the time of the index. A repository without an index has an empty one.
fn copy_index(from: &Path, to: &Path) -> Result<(), GitError> {
    let copy = || -> io::Result<()> {
        let modified = std::fs::metadata(from)?.modified()?;
        std::fs::copy(from, to)?;
        File::options().write(true).open(to)?.set_modified(modified)
    };
    match copy() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.map_err(GitError::io(format!("copy {}", from.display()))),
    }
}

/// What brings a copy of the index to the working tree: lines for `--index-info`, and paths for git to read
/// again. What is gone is taken out by name, since git refuses to look at a path behind a symbolic link that
/// has taken the place of its folder.
fn edits(status: &WorkingTreeStatus) -> (Vec<u8>, Vec<u8>) {
    let width = status.commit.as_ref().map_or(40, |commit| commit.as_str().len());
    let (mut by_name, mut read) = (Vec::new(), Vec::new());
    let mut put = |mode: &str, digit: &str, path: &RepoPath| {
        by_name.extend_from_slice(format!("{mode} {}\t", digit.repeat(width)).as_bytes());
        by_name.extend_from_slice(path.as_bytes());
        by_name.push(0);
    };
    for entry in &status.entries {
        match entry.state {
            EntryState::Tracked { unstaged: b'D', .. } => put("0", "0", &entry.path),
            EntryState::Tracked { unstaged: b'.', .. } => {}
            EntryState::NestedRepository => put("160000", "1", &entry.path),
            EntryState::Tracked { dirty_submodule: true, .. } => put("160000", "2", &entry.path),
            EntryState::Tracked { .. } | EntryState::Unmerged | EntryState::Untracked => {
                read.extend_from_slice(entry.path.as_bytes());
                read.push(0);
            }
        }
    }
    (by_name, read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plans_folder_is_left_out() {
        let check = |path: &str, expect: bool| {
            assert_eq!(is_within(&RepoPath::from(path), ".fractal-planner/plans"), expect, "{path}");
        };
        check(".fractal-planner/plans/a-20261121/tasks.md", true);
        check(".fractal-planner/plans", true);
        check(".fractal-planner/plans.md", false);
        check(".fractal-planner/config.json", false);
        check("src/.fractal-planner/plans/x", false);
    }
}
