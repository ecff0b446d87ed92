//! Applies a task's change, measured elsewhere, to a newer commit without touching a working tree.

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use fp_plan::repo_path::RepoPath;

use super::command::{Finished, GitCall};
use super::commit::nul_ended;
use super::diff::raw_changes;
use super::tree::INDEX;
use super::{Git, Oid, temporary_folder};
use crate::error::{HostError, HostResult};
use crate::platform::{self, os_string};

/// The author of commits for internal use. Git needs a name, but a merge's commit object never becomes part of a
/// history, and a ledger commit names its writer in its message.
pub(super) const NOBODY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "fp"),
    ("GIT_AUTHOR_EMAIL", "fp@localhost"),
    ("GIT_COMMITTER_NAME", "fp"),
    ("GIT_COMMITTER_EMAIL", "fp@localhost"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    /// The changes merge cleanly into this tree.
    Clean(Oid),
    Conflict {
        /// The merged tree, with conflict markers where the changes conflict.
        tree: Oid,
        /// The files in conflict, sorted.
        files: Vec<RepoPath>,
        /// Git's message on each conflict, such as `CONFLICT (content): Merge conflict in a.txt`.
        messages: Vec<String>,
    },
}

impl Git {
    /// Applies the change from `base` to `tree`, limited to `files`, to `onto`. Follows files renamed between `base`
    /// and `onto`, like any git merge. Six processes.
    ///
    /// # Errors
    /// Git fails.
    pub fn merge(
        &self,
        base: &Oid,
        tree: &Oid,
        files: &[RepoPath],
        onto: &Oid,
    ) -> HostResult<Merge> {
        let tree = self.tree_with(base, tree, files)?;
        self.merge_commit(&self.commit_object(tree.as_str(), base)?, onto)
    }

    /// Reverts the change of `commit` in `onto`, which contains it. Four processes.
    pub(crate) fn undo(&self, commit: &Oid, onto: &Oid) -> HostResult<Merge> {
        let before = match self.parent(commit) {
            Ok(parent) => format!("{parent}^{{tree}}"),
            Err(_) => self.empty_tree()?.to_string(),
        };
        self.merge_commit(&self.commit_object(&before, commit)?, onto)
    }

    fn merge_commit(&self, theirs: &Oid, onto: &Oid) -> HostResult<Merge> {
        let call = self.call("merge-tree --write-tree -z --name-only --end-of-options");
        let finished = call.arg(onto.as_str()).arg(theirs.as_str()).run()?;
        let conflict = finished.ended_with(1);
        let failure = finished.failure.filter(|_| !conflict);
        Finished {
            failure,
            ..finished
        }
        .parsed(|output| merge_in(output, conflict))
    }

    /// The tree of `base` with `files` taken from `tree`, including deletions.
    pub(crate) fn tree_with(&self, base: &Oid, tree: &Oid, files: &[RepoPath]) -> HostResult<Oid> {
        let lines = self.lines_between(base, tree, Some(files))?;
        let folder = self.folder_with_index(base)?;
        let index = folder.path().join(INDEX);
        let call = self.call("update-index --replace -z --index-info");
        call.env("GIT_INDEX_FILE", &index).input(lines).output()?;
        self.tree_of(&index)
    }

    /// The `--index-info` lines that turn an index of `base` into one of `tree`, at `files` or everywhere.
    pub(super) fn lines_between(
        &self,
        base: &Oid,
        tree: &Oid,
        files: Option<&[RepoPath]>,
    ) -> HostResult<Vec<u8>> {
        let call = self.call("diff-tree -r -z --raw --no-renames --end-of-options");
        let call = call.arg(base.as_str()).arg(tree.as_str());
        let wanted: Option<HashSet<&[u8]>> =
            files.map(|files| files.iter().map(RepoPath::as_bytes).collect());
        call.run()?
            .parsed(|output| index_lines(output, wanted.as_ref()))
    }

    /// Commits `tree` on `parent` without any ref.
    fn commit_object(&self, tree: &str, parent: &Oid) -> HostResult<Oid> {
        let call = self.call("commit-tree -m change -p");
        let call = call.arg(parent.as_str()).arg(tree);
        NOBODY
            .iter()
            .fold(call, |call, (name, value)| call.env(name, value))
            .oid()
    }

    /// Writes `files` of `tree` below `folder` as a checkout would, including line endings, links and modes.
    ///
    /// # Errors
    /// Git fails, or a file can't be written.
    pub fn export(&self, tree: &Oid, files: &[&RepoPath], folder: &Path) -> HostResult<()> {
        if files.is_empty() {
            return Ok(());
        }
        let temporary = self.folder_with_index(tree)?;
        let index = temporary.path().join(INDEX);
        let mut prefix = std::ffi::OsString::from("--prefix=");
        prefix.push(folder);
        prefix.push("/");
        let call = self.call("checkout-index --quiet -z --stdin").arg(prefix);
        call.env("GIT_INDEX_FILE", &index)
            .input(nul_ended(files.iter().copied()))
            .output()
            .map(drop)
    }

    /// The `files` that differ between the working tree and a checkout of `tree`.
    ///
    /// # Errors
    /// Git fails, or a file can't be read.
    pub(crate) fn unlike(&self, tree: &Oid, files: &[RepoPath]) -> HostResult<HashSet<RepoPath>> {
        let call = self.call("ls-tree -r -z --name-only --full-tree");
        let listed = call.arg(tree.as_str()).paths(files).output()?;
        let listed: HashSet<&[u8]> = listed.split(|&b| b == 0).collect();
        let is_there = |path: &&RepoPath| listed.contains(path.as_bytes());
        let stage = temporary_folder()?;
        self.export(
            tree,
            &files.iter().filter(is_there).collect::<Vec<_>>(),
            stage.path(),
        )?;
        let mut unlike = HashSet::new();
        for path in files {
            let staged = stage.path().join(os_string(path.as_bytes()));
            let staged = is_there(&path).then_some(&*staged);
            if !is_same(staged, &self.absolute(path)).map_err(HostError::doing("compare files"))? {
                unlike.insert(path.clone());
            }
        }
        Ok(unlike)
    }

    pub(super) fn empty_tree(&self) -> HostResult<Oid> {
        self.call("hash-object -t tree --stdin")
            .input(Vec::new())
            .oid()
    }

    /// Creates a temporary folder with an index, [`INDEX`], of `tree`, which is a tree or a commit.
    pub(super) fn folder_with_index(&self, tree: &Oid) -> HostResult<tempfile::TempDir> {
        let folder = temporary_folder()?;
        let index = folder.path().join(INDEX);
        self.call("read-tree")
            .arg(tree.as_str())
            .env("GIT_INDEX_FILE", index)
            .output()?;
        Ok(folder)
    }
}

/// True if `target` matches `staged`: both missing, or the same content, kind and mode.
pub(crate) fn is_same(staged: Option<&Path>, target: &Path) -> io::Result<bool> {
    let Some(staged) = staged else {
        return Ok(fs::symlink_metadata(target).is_err());
    };
    let Ok(found) = fs::symlink_metadata(target) else {
        return Ok(false);
    };
    let wanted = fs::symlink_metadata(staged)?;
    if wanted.file_type() != found.file_type()
        || platform::is_executable(&wanted) != platform::is_executable(&found)
    {
        return Ok(false);
    }
    if wanted.is_symlink() {
        return Ok(fs::read_link(staged).ok() == fs::read_link(target).ok());
    }
    Ok(wanted.is_file() && wanted.len() == found.len() && fs::read(staged)? == fs::read(target)?)
}

impl GitCall {
    /// Runs the call and parses the object id that it prints.
    pub(super) fn oid(self) -> HostResult<Oid> {
        self.run()?.into_oid()
    }
}

impl Finished {
    pub(super) fn into_oid(self) -> HostResult<Oid> {
        self.parsed(|output| String::from_utf8_lossy(output).trim().parse().ok())
    }
}

/// Turns `--raw -z` records, all of them or those at the `wanted` paths, into lines for `--index-info`. Deletions come
/// first, since a new path may need the place of a deleted one.
fn index_lines(raw: &[u8], wanted: Option<&HashSet<&[u8]>>) -> Option<Vec<u8>> {
    let mut changes = raw_changes(raw)?;
    changes.retain(|change| wanted.is_none_or(|wanted| wanted.contains(change.path)));
    changes.sort_by_key(|change| change.status != b'D');
    let lines = changes.iter().flat_map(|change| {
        let mode: &[u8] = if change.status == b'D' {
            b"0"
        } else {
            change.mode
        };
        [mode, b" ", change.id, b"\t", change.path, b"\0"].concat()
    });
    Some(lines.collect())
}

/// Parses `merge-tree --write-tree -z --name-only`: the tree, the files in conflict, an empty record, and for
/// each message a count, that many paths, its kind and its text.
fn merge_in(output: &[u8], conflict: bool) -> Option<Merge> {
    let mut records = output.split(|&b| b == 0);
    let tree = std::str::from_utf8(records.next()?).ok()?.parse().ok()?;
    if !conflict {
        return Some(Merge::Clean(tree));
    }
    let mut files: Vec<RepoPath> = records
        .by_ref()
        .take_while(|name| !name.is_empty())
        .map(RepoPath::from_bytes)
        .collect();
    files.dedup();
    let mut messages = Vec::new();
    while let Some(count) = records
        .next()
        .filter(|record| !record.is_empty() && *record != b"\n")
    {
        let count: usize = std::str::from_utf8(count).ok()?.parse().ok()?;
        let (kind, text) = (records.by_ref().nth(count)?, records.next()?);
        if kind.starts_with(b"CONFLICT") {
            messages.push(super::command::readable_tail(text, 400).trim().to_owned());
        }
    }
    Some(Merge::Conflict {
        tree,
        files,
        messages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_merge_tree_prints() {
        let id = "1".repeat(40);
        let tree: Oid = id.parse().unwrap();
        assert_eq!(
            merge_in(format!("{id}\0").as_bytes(), false),
            Some(Merge::Clean(tree.clone()))
        );
        let output = format!(
            "{id}\0a\0b c\0\0001\0a\0Auto-merging\0Auto-merging a\n\0001\0a\0CONFLICT (contents)\0CONFLICT \
             (content): Merge conflict in a\n\0002\0b c\0b d\0CONFLICT (modify/delete)\0CONFLICT: b c\n\0\n"
        );
        let expect = Merge::Conflict {
            tree,
            files: vec!["a".into(), "b c".into()],
            messages: vec![
                "CONFLICT (content): Merge conflict in a".into(),
                "CONFLICT: b c".into(),
            ],
        };
        assert_eq!(merge_in(output.as_bytes(), true), Some(expect));
        assert_eq!(merge_in(b"nonsense\0", true), None);
    }
}
