//! Stores the working tree as a git tree object, so that a task's changes can be measured later, even if somebody
//! staged, committed or reverted something in between.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fp_plan::repo_path::RepoPath;
use fp_run::verification::GitSurroundings;
use fp_run::verification::by_products::ByProducts;

use super::status::{hash, hash_of};
use super::{EntryState, Git, Oid, StatusEntry, WorkingTreeStatus, temporary_folder};
use crate::error::{HostError, HostResult};
use crate::platform::UserFolder;
use crate::repo::ROADMAPS;

pub(super) const INDEX: &str = "index";
/// The first bytes of an index.
const SIGNATURE: &[u8] = b"DIRC";

/// The working tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree, or a commit with the same tree. Leaves out the plans folder, the files that `fp` keeps beside it,
    /// ignored files, and by-products of tools in a repository that doesn't ignore them.
    pub tree: Oid,
    /// The differences between the tree and HEAD.
    pub status: WorkingTreeStatus,
}

impl Git {
    /// Stores the working tree as a git tree object. Neither trusts nor touches the user's index, whose flags, sizes
    /// and times may be forged. Reads only files that differ from an index kept outside the repository. One process if
    /// nothing differs from HEAD, otherwise three or four, and one more if HEAD has moved. Nested repositories, and
    /// submodules with uncommitted changes inside, are marked in the tree.
    ///
    /// # Errors
    /// Git fails, or a temporary file can't be written.
    pub fn snapshot_tree(&self) -> HostResult<Snapshot> {
        let Some(kept) = kept_index(self.worktree()).filter(|kept| kept.exists()) else {
            return self.snapshot_from(None);
        };
        // The index may belong to a different repository that used to be here, or name objects that git has since
        // removed.
        self.snapshot_from(Some(&kept))
            .or_else(|_| self.snapshot_from(None))
    }

    /// The working tree, and the surroundings at the same moment, which determine how git sees it.
    ///
    /// # Errors
    /// As for [`Git::snapshot_tree`] and [`Git::surroundings`].
    pub fn observe(&self) -> HostResult<(Snapshot, GitSurroundings)> {
        std::thread::scope(|scope| {
            let surroundings = scope.spawn(|| self.surroundings());
            let snapshot = self.snapshot_tree()?;
            let surroundings = surroundings
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let branch = snapshot.status.branch.clone();
            Ok((
                snapshot,
                GitSurroundings {
                    branch,
                    ..surroundings
                },
            ))
        })
    }

    fn snapshot_from(&self, kept: Option<&Path>) -> HostResult<Snapshot> {
        let read_at = SystemTime::now();
        let head = self.head_in_files();
        let folder = self.index_of_head(kept)?;
        let index = folder.path().join(INDEX);
        let mut status = self.status_by(&index)?;
        let head = head.filter(|head| {
            status
                .commit
                .as_ref()
                .is_some_and(|commit| commit.as_str() == head)
        });
        self.keep_index(&index, head.as_deref(), read_at);
        self.leave_out_what_is_nobodys(&mut status.entries);
        let tree = match &status.commit {
            Some(commit) if status.entries.is_empty() => commit.clone(),
            _ => {
                self.update_index(&index, &status)?;
                self.tree_of(&index)?
            }
        };
        Ok(Snapshot { tree, status })
    }

    fn leave_out_what_is_nobodys(&self, entries: &mut Vec<StatusEntry>) {
        let of_nobody = [self.plans_dir.as_str(), ROADMAPS];
        entries.retain(|entry| !of_nobody.iter().any(|kept| is_within(&entry.path, kept)));
        let is_untracked = |entry: &&StatusEntry| entry.state == EntryState::Untracked;
        let untracked = entries.iter().filter(is_untracked).map(|entry| &entry.path);
        let found = ByProducts::among(untracked, |path| self.absolute(path).exists());
        entries.retain(|entry| !is_untracked(&entry) || !found.covers(&entry.path));
    }

    /// The paths that differ from HEAD, at most the first 200, each with a hash of its content. One process.
    pub(super) fn uncommitted(&self) -> HostResult<BTreeMap<String, String>> {
        const MOST: usize = 200;
        let mut entries = self.status()?.entries;
        self.leave_out_what_is_nobodys(&mut entries);
        let paths = entries.iter().take(MOST).map(|entry| &entry.path);
        Ok(paths
            .map(|path| (path.to_string(), hash_of(&self.absolute(path))))
            .collect())
    }

    /// Creates a temporary folder with an index of HEAD, [`INDEX`], which is empty if there is no commit. The index
    /// takes from the cached `kept` which files were unchanged when that was written. One process, or none if `kept` is
    /// for the same HEAD.
    fn index_of_head(&self, kept: Option<&Path>) -> HostResult<tempfile::TempDir> {
        let folder = temporary_folder()?;
        let index = folder.path().join(INDEX);
        if let Some(kept) = kept {
            let of = take_index(kept, &index).map_err(HostError::reading(kept))?;
            if of.is_some() && of == self.head_in_files() {
                return Ok(folder);
            }
        }
        let read = "read-tree --reset --no-sparse-checkout HEAD";
        self.call_on(&index, read).run()?;
        Ok(folder)
    }

    /// Calls [`Git::index_of_head`] with the cached index.
    pub(super) fn temporary_index_of_head(&self) -> HostResult<tempfile::TempDir> {
        self.index_of_head(kept_index(self.worktree()).as_deref())
    }

    /// Caches `index`, for which git started reading the files at `read_at`; `head` is the commit that the index is
    /// for, if known. If caching fails, the next call merely takes longer.
    fn keep_index(&self, index: &Path, head: Option<&str>, read_at: SystemTime) {
        let Some(kept) = kept_index(self.worktree()) else {
            return;
        };
        let Some(folder) = kept
            .parent()
            .filter(|folder| std::fs::create_dir_all(folder).is_ok())
        else {
            return;
        };
        let width = head
            .map(str::len)
            .or_else(|| Some(self.head_in_files()?.len()))
            .unwrap_or(40);
        let keep = || -> Option<()> {
            let modified = std::fs::metadata(index)
                .and_then(|found| found.modified())
                .ok()?;
            let mut bytes = std::fs::read(index).ok()?;
            doubt_recent(&mut bytes, width / 2, read_at)?;
            let mut new = tempfile::NamedTempFile::new_in(folder).ok()?;
            writeln!(new, "{}", head.unwrap_or_default())
                .and_then(|()| new.write_all(&bytes))
                .ok()?;
            new.as_file().set_modified(modified).ok()?;
            new.persist(&kept).ok().map(drop)
        };
        if keep().is_none() {
            drop(std::fs::remove_file(&kept));
        }
    }

    /// Caches the index that git wrote in a checkout started at `began`, before anybody else can touch it.
    pub(super) fn keep_fresh_index(&self, began: SystemTime) {
        self.keep_index(
            &self.git_dir().join(INDEX),
            self.head_in_files().as_deref(),
            began,
        );
    }

    /// Replaces the index of this builder's worktree with one that matches its files.
    pub(super) fn mend_index(&self) -> HostResult<()> {
        let folder = self.temporary_index_of_head()?;
        copy_index(&folder.path().join(INDEX), &self.git_dir().join(INDEX))
    }

    /// True if `path` exists in `tree`, a tree or a commit. One process.
    ///
    /// # Errors
    /// Git fails, or the tree is gone.
    pub fn is_in_tree(&self, tree: &Oid, path: &RepoPath) -> HostResult<bool> {
        let call = self
            .call("ls-tree -z --name-only --full-tree")
            .arg(tree.to_string());
        Ok(!call.paths([path]).output()?.is_empty())
    }

    /// Writes a tree object from `index`, which isn't the user's index.
    pub(super) fn tree_of(&self, index: &Path) -> HostResult<Oid> {
        self.call("write-tree").env("GIT_INDEX_FILE", index).oid()
    }

    /// Updates `index` to match the working tree at the paths in `status`.
    pub(super) fn update_index(&self, index: &Path, status: &WorkingTreeStatus) -> HostResult<()> {
        let (taken_out, read) = edits(status);
        if !taken_out.is_empty() {
            self.call_on(index, "update-index -z --index-info")
                .input(taken_out)
                .output()?;
        }
        if !read.is_empty() {
            let read_again =
                "-c core.safecrlf=false update-index --add --remove --replace -z --stdin";
            self.call_on(index, read_again).input(read).output()?;
        }
        Ok(())
    }
}

/// The path of the cached index of `worktree`, in the user's cache folder, which nothing in a repository can redirect.
fn kept_index(worktree: &Path) -> Option<PathBuf> {
    let caches = UserFolder::Cache.path_on(std::env::consts::OS, |name| std::env::var_os(name))?;
    let name = hash(worktree.as_os_str().as_encoded_bytes());
    Some(caches.join("fractal-planner").join(INDEX).join(name))
}

/// Makes git reread the files in `index` that changed just before `read_at`, the time when reading began, or later:
/// another change within the same second would leave their times unchanged. Ids have `width` bytes. Git itself checks
/// only the modification time, which anybody can set. `None` if the index has a different format.
fn doubt_recent(index: &mut [u8], width: usize, read_at: SystemTime) -> Option<()> {
    const SIZE: std::ops::Range<usize> = 36..40;
    let number =
        |index: &[u8], at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let read_at = u32::try_from(read_at.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()?;
    if !index.starts_with(SIGNATURE) || !matches!(number(index, 4)?, 2 | 3) {
        return None;
    }
    let (count, mut at) = (number(index, 8)?, 12);
    for _ in 0..count {
        if number(index, at)? >= read_at.saturating_sub(1) {
            index.get_mut(at..)?.get_mut(SIZE)?.fill(0);
        }
        // An entry has times, numbers, an id and flags, then the name, padded with one to eight zero bytes to a
        // multiple of eight.
        let extended = index.get(at + 40 + width)? & 0x40 != 0;
        let name = 42 + width + if extended { 2 } else { 0 };
        let length = name + index.get(at + name..)?.iter().position(|&byte| byte == 0)?;
        at += (length + 8) / 8 * 8;
    }
    Some(())
}

/// Removes the cached index of `worktree`, which no longer exists.
pub(super) fn forget_index(worktree: &Path) {
    if let Some(kept) = kept_index(worktree) {
        drop(std::fs::remove_file(kept));
    }
}

/// Copies the cached index `kept` to `index`, with its modification time, and returns the commit that it is for. Does
/// nothing if there is no cached index.
fn take_index(kept: &Path, index: &Path) -> io::Result<Option<String>> {
    let mut bytes = match std::fs::read(kept) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes?,
    };
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
        return Ok(None);
    };
    let content = bytes.split_off(end + 1);
    if !content.starts_with(SIGNATURE) {
        return Ok(None);
    }
    let modified = std::fs::metadata(kept)?.modified()?;
    std::fs::write(index, content)?;
    File::options()
        .write(true)
        .open(index)?
        .set_modified(modified)?;
    Ok(String::from_utf8(bytes)
        .ok()
        .map(|head| head.trim_end().to_owned()))
}

fn is_within(path: &RepoPath, folder: &str) -> bool {
    let rest = path.as_bytes().strip_prefix(folder.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Copies the index with its modification time: git rereads a file if it changed in the same second in which the index
/// was written, and takes that second from the index's own time. A missing index counts as empty.
pub(crate) fn copy_index(from: &Path, to: &Path) -> HostResult<()> {
    let copy = || -> io::Result<()> {
        let modified = std::fs::metadata(from)?.modified()?;
        std::fs::copy(from, to)?;
        File::options().write(true).open(to)?.set_modified(modified)
    };
    match copy() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.map_err(HostError::doing(&format!("copy {}", from.display()))),
    }
}

/// The updates that make a copy of the index match the working tree: lines for `--index-info`, and paths for git to
/// reread. Deleted files are removed by name, since git refuses to look at a path if a symbolic link has replaced its
/// folder.
fn edits(status: &WorkingTreeStatus) -> (Vec<u8>, Vec<u8>) {
    let width = status
        .commit
        .as_ref()
        .map_or(40, |commit| commit.as_str().len());
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
            EntryState::Tracked {
                dirty_submodule: true,
                ..
            } => put("160000", "2", &entry.path),
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
            assert_eq!(
                is_within(&RepoPath::from(path), ".fractal-planner/plans"),
                expect,
                "{path}"
            );
        };
        check(".fractal-planner/plans/a-20261121/tasks.md", true);
        check(".fractal-planner/plans", true);
        check(".fractal-planner/plans.md", false);
        check(".fractal-planner/config.json", false);
        check("src/.fractal-planner/plans/x", false);
    }
}
