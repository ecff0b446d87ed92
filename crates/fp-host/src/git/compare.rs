//! The texts of what differs between two states of the repository, and which files it knows.

use std::collections::HashMap;

use fp_core::repo_path::RepoPath;
use fp_core::verification::change::{ChangeStatus, FileKind};

use super::diff::changes;
use super::{Git, GitError, Oid};
use crate::file;

/// Larger files are left out, in bytes.
const CAP: u64 = 8 * 1024 * 1024;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side<'r> {
    /// What is staged, with the commit that is checked out.
    Staged,
    /// The working tree, with this revision; files that git does not know are not in it.
    WorkingTree(&'r str),
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Where it is now.
    pub path: RepoPath,
    /// Its content before, under its old name where it was renamed; empty where it is new.
    pub before: Vec<u8>,
    /// Its content now.
    pub after: Vec<u8>,
}

impl Git {
    /// The files that `side` differs in and that are there still, sorted by path; links, submodules and files above
    /// 8 MiB left out. Three processes at most.
    ///
    /// # Errors
    /// A failing git: the revision may be none.
    pub fn compare(&self, side: Side<'_>) -> Result<Vec<Compared>, GitError> {
        let call =
            self.call(&["diff", "--raw", "-z", "-M", "--no-abbrev", "--no-ext-diff", "--ignore-submodules"]);
        let call = match side {
            Side::Staged => call.arg("--cached"),
            Side::WorkingTree(revision) => call.arg("--end-of-options").arg(revision),
        };
        let output = call.arg("--").output()?;
        let mut changes = changes(&output).map_err(|record| GitError::unexpected("git diff", record))?;
        changes.retain(|(change, _)| change.kind == FileKind::File && change.status != ChangeStatus::Deleted);
        let wanted: Vec<&Oid> =
            changes.iter().flat_map(|(_, blobs)| [&blobs.before, &blobs.after]).flatten().collect();
        let contents: HashMap<Oid, Vec<u8>> = self.blobs(&wanted)?;
        let compared = changes.iter().filter_map(|(change, blobs)| {
            // An id that git has no object of is that of a file which is only on the disk.
            let stored = blobs.after.as_ref().and_then(|oid| contents.get(oid).cloned());
            let after = match side {
                Side::Staged => stored?,
                Side::WorkingTree(_) => file::read_bytes(&self.absolute(&change.path), CAP).ok()?,
            };
            let before = match &blobs.before {
                None => Vec::new(),
                Some(oid) => contents.get(oid)?.clone(),
            };
            Some(Compared { path: change.path.clone(), before, after })
        });
        Ok(compared.collect())
    }

    /// The files that git knows at `path` or below it, in their order; of all of the working tree where that is its top.
    ///
    /// # Errors
    /// A failing git.
    pub fn known_files(&self, path: Option<&RepoPath>) -> Result<Vec<RepoPath>, GitError> {
        let output = self.call(&["ls-files", "-z", "--cached", "--deduplicate"]).paths(path).output()?;
        let paths = output.split(|&b| b == 0).filter(|path| !path.is_empty());
        Ok(paths.map(RepoPath::from_bytes).collect())
    }
}
