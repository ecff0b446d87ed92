//! Reads both sides of every changed file, by no attribute of the repository.

use std::collections::HashSet;

use fp_plan::repo_path::RepoPath;
use fp_run::report::change_text::{ChangedFile, FileSide};
use fp_run::verification::change::Change;

use super::{Git, Oid};
use crate::error::HostResult;

/// Modes of an executable file and of another.
impl Git {
    /// The files that differ between two trees and are an end of one of `changes`, sorted by path. Three processes.
    ///
    /// # Errors
    /// Git no longer has one of the trees.
    pub fn changed_files(
        &self,
        base: &Oid,
        tree: &Oid,
        changes: &[Change],
    ) -> HostResult<Vec<ChangedFile>> {
        let wanted: HashSet<&RepoPath> = changes.iter().flat_map(Change::ends).collect();
        let mut sides = self.diff_with_blobs(base, tree)?;
        sides.retain(|(change, ..)| change.ends().any(|path| wanted.contains(path)));
        let of_both = sides
            .iter()
            .flat_map(|(_, blobs, _)| [&blobs.before, &blobs.after]);
        let contents = self.blobs(&of_both.flatten().collect::<Vec<_>>())?;
        let side = |id: Option<Oid>| match id {
            None => FileSide::Absent,
            Some(id) => contents
                .get(&id)
                .map_or(FileSide::Unread, |bytes| FileSide::Content(bytes.clone())),
        };
        let files = sides
            .into_iter()
            .map(|(change, blobs, executable)| ChangedFile {
                change,
                before: side(blobs.before),
                after: side(blobs.after),
                executable,
            });
        Ok(files.collect())
    }
}
