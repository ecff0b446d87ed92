//! How much a commit would change, before it is made.

use std::collections::HashSet;

use fp_core::repo_path::RepoPath;
use fp_core::verification::change::Change;
use serde::Serialize;

use super::diff::change;
use super::tree::INDEX;
use super::{Git, GitError, Status};

/// One changed file, and by how much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileStat {
    /// What happened to it; a rename is an addition and a deletion.
    #[serde(flatten)]
    pub change: Change,
    /// Lines added; `None` for what has no lines.
    pub added: Option<u64>,
    /// Lines taken out; `None` for what has no lines.
    pub removed: Option<u64>,
}

impl Git {
    /// What is staged, by path. One process.
    ///
    /// # Errors
    /// A failing git.
    pub fn stat_staged(&self) -> Result<Vec<FileStat>, GitError> {
        self.stat_index(None)
    }

    /// What the working tree has at `files` that HEAD has not, by path; `status` is what differs at all. At most
    /// three processes, none of which touches the user's index.
    ///
    /// # Errors
    /// A failing git.
    pub fn stat_files(&self, status: &Status, files: &[RepoPath]) -> Result<Vec<FileStat>, GitError> {
        let wanted: HashSet<&RepoPath> = files.iter().collect();
        let mut status = status.clone();
        status.entries.retain(|entry| wanted.contains(&entry.path));
        let index = self.copied_index(&status)?;
        let mut stats = self.stat_index(Some(&index.path().join(INDEX)))?;
        stats.retain(|stat| wanted.contains(&stat.change.path));
        Ok(stats)
    }

    fn stat_index(&self, index: Option<&std::path::Path>) -> Result<Vec<FileStat>, GitError> {
        let options =
            ["--raw", "--numstat", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let mut call = self.call(&[&["diff", "--cached"], &options[..]].concat());
        if let Some(index) = index {
            call = call.env("GIT_INDEX_FILE", index);
        }
        let finished = call.run()?;
        let shown = finished.shown.clone();
        let output = finished.into_output()?;
        stats(&output).map_err(|record| GitError::unexpected(&shown, record))
    }
}

/// Reads `--raw --numstat -z`: all changes, then a line of numbers for each in the same order. Fails with the record
/// that it doesn't know.
fn stats(output: &[u8]) -> Result<Vec<FileStat>, &[u8]> {
    let mut records = output.split(|&b| b == 0).filter(|record| !record.is_empty()).peekable();
    let mut stats = Vec::new();
    while let Some(record) = records.next_if(|record| record.starts_with(b":")) {
        let mut path = || records.next().map(RepoPath::from_bytes);
        let (change, _) = change(record, &mut path).ok_or(record)?;
        stats.push(FileStat { change, added: None, removed: None });
    }
    for (stat, record) in stats.iter_mut().zip(records) {
        let mut fields = record.splitn(3, |&b| b == b'\t');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse().ok();
        (stat.added, stat.removed) = (number(), number());
        if fields.next() != Some(stat.change.path.as_bytes()) {
            return Err(record);
        }
    }
    Ok(stats)
}
