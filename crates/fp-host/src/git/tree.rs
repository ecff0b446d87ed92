//! Stores the working tree as a git tree object, so that a task's changes can be measured later, no matter
//! who staged, committed or reverted anything in between.

use std::fs::File;
use std::io;
use std::path::Path;

use fp_plan::repo_path::RepoPath;
use fp_run::verification::by_products::ByProducts;

use super::{EntryState, Git, GitError, Oid, StatusEntry, WorkingTreeStatus};
use crate::repo::{DEBT_LOG, ROADMAPS};

pub(super) const INDEX: &str = "index";

/// The working tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree, or the commit that it equals. Leaves out the plans folder, the files that `fp` keeps beside
    /// it, ignored files, and by-products of tools in a repository that doesn't ignore them.
    pub tree: Oid,
    /// The differences between the tree and HEAD.
    pub status: WorkingTreeStatus,
}

impl Git {
    /// Stores the working tree as a git tree object. Doesn't write or lock the user's index, and doesn't read
    /// files that the index knows to be unchanged, unless git was told to overlook their changes. Two
    /// processes if nothing differs from HEAD, else four or five. Nested repositories, and submodules with
    /// uncommitted changes inside, are marked in the tree.
    ///
    /// # Errors
    /// Git fails, or a temporary file can't be written.
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

    /// True if `tree`, a tree or a commit, has something at `path`. One process.
    ///
    /// # Errors
    /// Git fails, or the tree is gone.
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
            // Git takes only one of these options in a call.
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

    /// Writes the tree of an index other than the user's.
    pub(super) fn tree_of(&self, index: &Path) -> Result<Oid, GitError> {
        self.call(&["write-tree"]).env("GIT_INDEX_FILE", index).oid()
    }

    /// A temporary folder with a copy of the user's index, [`INDEX`], updated to the working tree at the
    /// paths in `status`.
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

/// Copies the index with its modification time: git reads a file again if it changed in the second in which
/// the index was written, and takes that second from the time of the index. A missing index counts as empty.
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

/// The updates that bring a copy of the index to the working tree: lines for `--index-info`, and paths for
/// git to read again. Deleted files are removed by name, since git refuses to look at a path if a symbolic
/// link has replaced its folder.
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
