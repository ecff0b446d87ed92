//! Reads both sides of every changed file, by no attribute of the repository.

use std::collections::HashSet;

use fp_plan::repo_path::RepoPath;
use fp_run::report::change_text::{ChangedFile, FileSide};
use fp_run::verification::change::Change;

use super::diff::{change_of, raw_changes};
use super::{Git, Oid, unexpected};
use crate::error::HostResult;

/// Modes of an executable file and of another.
const EXECUTABLE: &[u8] = b"100755";
const PLAIN: &[u8] = b"100644";

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
        if base == tree {
            return Ok(Vec::new());
        }
        let wanted: HashSet<&RepoPath> = changes.iter().flat_map(Change::ends).collect();
        let call = self.call("diff-tree -r -M -z --raw --end-of-options");
        let call = call.arg(base.as_str()).arg(tree.as_str());
        let output = call.run()?.into_diff(base)?;
        let found = raw_changes(&output).ok_or_else(|| unexpected("git diff-tree", &output))?;
        let mut sides = Vec::new();
        for raw in &found {
            let (change, blobs) =
                change_of(raw).ok_or_else(|| unexpected("git diff-tree", &output))?;
            let executable = match (raw.old_mode, raw.mode) {
                (EXECUTABLE, PLAIN) => Some(false),
                (EXECUTABLE, _) | (_, PLAIN) => None,
                (_, EXECUTABLE) => Some(true),
                _ => None,
            };
            if change.ends().any(|path| wanted.contains(path)) {
                sides.push((change, blobs, executable));
            }
        }
        sides.sort_by(|(a, ..), (b, ..)| a.path.cmp(&b.path));
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
