//! Creates, resets and removes the builders' worktrees. The user's hooks are meant for the user's checkouts and don't
//! run here.

use std::fs;
use std::path::{Path, PathBuf};

use super::tree::forget_index;
use super::{Git, Oid, records_of};
use crate::agents::version_of;
use crate::error::{HostError, HostResult};
use crate::platform::{self, os_string};

/// The oldest git version whose `merge-tree` can merge.
const MERGES_SINCE: [u64; 3] = [2, 38, 0];

impl Git {
    /// The reason why worktrees can't stand in for this working tree; `None` if they can. Two processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn worktree_obstacle(&self) -> HostResult<Option<String>> {
        let printed = String::from_utf8_lossy(&self.call("version").output()?)
            .trim()
            .to_owned();
        if !can_merge(&printed) {
            let [major, minor, _] = MERGES_SINCE;
            return Ok(Some(format!(
                "it takes git {major}.{minor}, and this is {printed}"
            )));
        }
        if self.worktree().join(".gitmodules").exists() {
            return Ok(Some(
                "the repository has submodules, which a new worktree has not".into(),
            ));
        }
        let sparse = self
            .call("config --type=bool --get core.sparseCheckout")
            .run()?;
        Ok((sparse.stdout == b"true\n").then(|| "the checkout is sparse".into()))
    }

    /// Creates a worktree at `path` with `commit` checked out and HEAD detached.
    ///
    /// # Errors
    /// Git fails: something is at `path`, or the disk is full.
    pub fn add_worktree(&self, path: &Path, commit: &Oid) -> HostResult<()> {
        let began = std::time::SystemTime::now();
        let call = self.call_without_hooks("worktree add --quiet --detach --end-of-options");
        self.locked(call.arg(path).arg(commit.as_str()))?.output()?;
        Git::open(path)?.keep_fresh_index(began);
        Ok(())
    }

    /// Checks out `commit` in this worktree with HEAD detached, and removes all other files except ignored ones and
    /// nested repositories. Doesn't trust the worktree's index.
    ///
    /// # Errors
    /// Git fails, perhaps halfway.
    pub fn begin_anew(&self, commit: &Oid) -> HostResult<()> {
        self.mend_index()?;
        let call = self.call_without_hooks("checkout --quiet --detach --force");
        self.locked(call.arg(commit.as_str()))?.output()?;
        let clean = self.call("clean -fdq");
        self.locked(clean)?.output().map(drop)
    }

    /// Writes the files of `tree` to this worktree, and leaves HEAD and the index alone.
    ///
    /// # Errors
    /// Git fails, perhaps halfway.
    pub fn show_tree(&self, tree: &Oid) -> HostResult<()> {
        let call = self.call_without_hooks("restore --quiet --worktree");
        let call = call.arg(format!("--source={tree}")).arg("--").arg(".");
        self.locked(call)?.output().map(drop)
    }

    /// The worktrees that the repository has on record, even missing ones.
    ///
    /// # Errors
    /// Git fails.
    pub fn worktrees(&self) -> HostResult<Vec<PathBuf>> {
        let output = self.call("worktree list --porcelain -z").output()?;
        let paths = records_of(&output).filter_map(|line| line.strip_prefix(b"worktree "));
        Ok(paths.map(|path| PathBuf::from(os_string(path))).collect())
    }

    /// The worktree in which the branch `name` is checked out.
    ///
    /// # Errors
    /// Git fails.
    pub fn holder_of(&self, name: &str) -> HostResult<Option<PathBuf>> {
        let output = self.call("worktree list --porcelain -z").output()?;
        let (mut path, branch) = (None, format!("branch refs/heads/{name}"));
        for line in records_of(&output) {
            if let Some(named) = line.strip_prefix(b"worktree ") {
                path = Some(PathBuf::from(os_string(named)));
            } else if line == branch.as_bytes() {
                return Ok(path);
            }
        }
        Ok(None)
    }

    /// Puts HEAD of this worktree, which is at the tip of the branch `name`, on that branch.
    ///
    /// # Errors
    /// Git fails.
    pub fn attach_head(&self, name: &str) -> HostResult<()> {
        let call = self.call("symbolic-ref HEAD");
        call.arg(format!("refs/heads/{name}")).output().map(drop)
    }

    /// Removes the worktree at `path` with all its files and git's record of it, whatever state it is in: locked, half
    /// created, or already gone. Removes a link without following it.
    ///
    /// # Errors
    /// The folder can't be removed, or git fails.
    pub fn remove_worktree(&self, path: &Path) -> HostResult<()> {
        remove(path).map_err(HostError::doing(&format!("remove {}", path.display())))?;
        forget_index(path);
        let known = self.worktrees()?.iter().any(|known| known == path);
        if !known {
            return Ok(());
        }
        let call = self.call("worktree remove --force --force --end-of-options");
        self.locked(call.arg(path))?.output().map(drop)
    }
}

impl Git {
    /// Removes records of worktrees in `folder` that a killed git left behind incomplete, since some of them make git
    /// fail for the whole repository. A record that names no folder is removed if its own name passes `named`; git adds
    /// digits to a name that is taken.
    ///
    /// # Errors
    /// A record can't be removed.
    pub fn remove_broken_worktrees(
        &self,
        folder: &Path,
        named: impl Fn(&str) -> bool,
    ) -> HostResult<()> {
        let records = self.common_dir().join("worktrees");
        for entry in fs::read_dir(&records).into_iter().flatten().flatten() {
            let record = entry.path();
            let text = |name: &str| {
                fs::read_to_string(record.join(name))
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            };
            let place = text("gitdir");
            let broken = if place.is_empty() {
                named(&entry.file_name().to_string_lossy())
            } else {
                let above = record
                    .join(place)
                    .parent()
                    .and_then(Path::parent)
                    .map(fs::canonicalize);
                let ours = above
                    .and_then(Result::ok)
                    .is_some_and(|above| above == folder);
                ours && (text("commondir").is_empty() || text("HEAD").is_empty())
            };
            if broken {
                remove(&record)
                    .map_err(HostError::doing(&format!("remove {}", record.display())))?;
            }
        }
        // Git removes this folder too. It stays if it isn't empty.
        drop(fs::remove_dir(&records));
        Ok(())
    }
}

/// Removes whatever is at `path`. First makes read-only folders, which some package caches have, writable.
pub(crate) fn remove(path: &Path) -> std::io::Result<()> {
    use std::io::ErrorKind as Kind;
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == Kind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    if !metadata.is_dir() {
        return fs::remove_file(path);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == Kind::PermissionDenied => {
            platform::open_up(path)?;
            fs::remove_dir_all(path)
        }
        // A process that still runs there created a file in the meantime.
        Err(error) if error.kind() == Kind::DirectoryNotEmpty => fs::remove_dir_all(path),
        result => result,
    }
}

/// True if the git that printed `printed` as its version can merge without a working tree.
pub fn can_merge(printed: &str) -> bool {
    let version = printed.split_whitespace().find_map(version_of);
    version.is_some_and(|version| version >= MERGES_SINCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_git() {
        let check =
            |printed: &str, expect: bool| assert_eq!(can_merge(printed), expect, "{printed}");
        check("git version 2.47.3", true);
        check("git version 2.39.5 (Apple Git-154)", true);
        check("git version 2.38.0", true);
        check("git version 2.37.1.windows.1", false);
        check("git version 3.0.0-rc1", true);
        check("jj 0.20", false);
    }
}
