//! Finds the changes that every check of a task starts from: the paths and lines that differ between two trees, and the
//! contents of files.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use fp_plan::repo_path::RepoPath;
use fp_run::verification::change::{Change, ChangeStatus, ChangedLine, ChangedLines, FileKind};

use super::command::Finished;
use super::{Git, Oid, records_of, unexpected};
use crate::error::HostResult;

const EXECUTABLE: &[u8] = b"100755";
const PLAIN: &[u8] = b"100644";

/// Ids of a file's content before and after a change; `None` if there is no file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Blobs {
    pub(crate) before: Option<Oid>,
    pub(crate) after: Option<Oid>,
}

impl Git {
    /// The changes from one tree to another, with renames detected, sorted by path. One process.
    ///
    /// # Errors
    /// Git no longer has one of the trees.
    pub fn diff(&self, base: &Oid, tree: &Oid) -> HostResult<Vec<Change>> {
        Ok(self
            .diff_with_blobs(base, tree)?
            .into_iter()
            .map(|(change, ..)| change)
            .collect())
    }

    /// The changes from one tree to another, as a patch for `git apply`; empty if there are none. One
    /// process.
    ///
    /// # Errors
    /// Git no longer has one of the trees.
    pub(crate) fn patch(&self, base: &Oid, tree: &Oid) -> HostResult<Vec<u8>> {
        let call = self
            .call("diff-tree -p --binary --full-index --no-ext-diff --no-textconv --end-of-options")
            .arg(base.as_str())
            .arg(tree.as_str());
        call.run()?.into_diff(base)
    }

    /// Applies `patch` to the working tree only; returns false, and changes nothing, if it doesn't apply.
    ///
    /// # Errors
    /// Git itself fails.
    pub(crate) fn apply(&self, patch: Vec<u8>) -> HostResult<bool> {
        let applied = self
            .call("apply --whitespace=nowarn -")
            .input(patch)
            .run()?;
        match applied.ended_with(1) {
            true => Ok(false),
            false => applied.into_output().map(|_| true),
        }
    }

    /// [`Git::diff`], with the blobs of each change, and whether it made the file executable or took that away.
    pub(crate) fn diff_with_blobs(
        &self,
        base: &Oid,
        tree: &Oid,
    ) -> HostResult<Vec<(Change, Blobs, Option<bool>)>> {
        if base == tree {
            return Ok(Vec::new());
        }
        let call = self.call("diff-tree -r -M -z --raw --end-of-options");
        let call = call.arg(base.as_str()).arg(tree.as_str());
        let output = call.run()?.into_diff(base)?;
        changes_in(&output).ok_or_else(|| unexpected("git diff-tree", &output))
    }

    /// The lines that `changes`, from `base` to `tree`, add and remove. Leaves out binary files, files above
    /// 5 MB and files without changed lines. One process.
    ///
    /// # Errors
    /// Git no longer has one of the trees.
    pub fn changed_lines(
        &self,
        base: &Oid,
        tree: &Oid,
        changes: &[&Change],
    ) -> HostResult<Vec<ChangedLines>> {
        if changes.is_empty() || base == tree {
            return Ok(Vec::new());
        }
        let call = self.call(
            "-c core.bigFileThreshold=5m diff-tree -r -M -p -U0 --no-color --no-ext-diff --no-textconv \
             --submodule=short --src-prefix=a/ --dst-prefix=b/ --end-of-options",
        );
        let call = call.arg(base.as_str()).arg(tree.as_str());
        let call = call.paths(changes.iter().flat_map(|change| change.ends()));
        let wanted: HashSet<&RepoPath> = changes.iter().map(|change| &change.path).collect();
        let mut lines = lines_in(&call.run()?.into_diff(base)?);
        lines.retain(|file| wanted.contains(&file.path));
        Ok(lines)
    }
}

impl Finished {
    pub(super) fn into_diff(self, base: &Oid) -> HostResult<Vec<u8>> {
        match self.failed_with(&["bad object"]) {
            Some(failure) => Err(failure.clone().into_missing(base)),
            None => self.into_output(),
        }
    }
}

/// A record of `--raw -z`.
pub(super) struct RawChange<'o> {
    old_mode: &'o [u8],
    pub(super) mode: &'o [u8],
    old_id: &'o [u8],
    pub(super) id: &'o [u8],
    /// Git's status letter.
    pub(super) status: u8,
    pub(super) path: &'o [u8],
    /// The old path, for a rename.
    from: Option<&'o [u8]>,
}

/// Parses `--raw -z` output: `:old-mode new-mode old-id new-id status`, followed by one or two paths.
pub(super) fn raw_changes(output: &[u8]) -> Option<Vec<RawChange<'_>>> {
    let mut records = records_of(output);
    let mut changes = Vec::new();
    while let Some(record) = records.next() {
        let fields: Vec<&[u8]> = record.strip_prefix(b":")?.split(|&b| b == b' ').collect();
        let &[old_mode, mode, old_id, id, letters] = fields.as_slice() else {
            return None;
        };
        let (status, first) = (*letters.first()?, records.next()?);
        let (path, from) = match status {
            b'R' => (records.next()?, Some(first)),
            _ => (first, None),
        };
        changes.push(RawChange {
            old_mode,
            mode,
            old_id,
            id,
            status,
            path,
            from,
        });
    }
    Some(changes)
}

fn changes_in(output: &[u8]) -> Option<Vec<(Change, Blobs, Option<bool>)>> {
    let changes: Option<Vec<_>> = raw_changes(output)?.iter().map(change_of).collect();
    let mut changes = changes?;
    changes.sort_by(|(a, ..), (b, ..)| a.path.cmp(&b.path));
    Some(changes)
}

fn change_of(raw: &RawChange<'_>) -> Option<(Change, Blobs, Option<bool>)> {
    let (status, mode) = match (raw.status, raw.from) {
        (b'A', _) => (ChangeStatus::Added, raw.mode),
        (b'D', _) => (ChangeStatus::Deleted, raw.old_mode),
        (b'T', _) => (ChangeStatus::TypeChanged, raw.mode),
        (_, Some(from)) => {
            let from = RepoPath::from_bytes(from);
            (ChangeStatus::Renamed { from }, raw.mode)
        }
        (b'M', _) if raw.old_id == raw.id => (ChangeStatus::ModeChanged, raw.mode),
        (b'M', _) => (ChangeStatus::Modified, raw.mode),
        _ => return None,
    };
    let kind = match mode {
        b"120000" => FileKind::Symlink,
        b"160000" => FileKind::Submodule,
        _ => FileKind::File,
    };
    let change = Change {
        path: RepoPath::from_bytes(raw.path),
        status,
        kind,
    };
    let blobs = Blobs {
        before: blob_of(raw.old_id),
        after: blob_of(raw.id),
    };
    let executable = match (raw.old_mode, raw.mode) {
        (EXECUTABLE, PLAIN) => Some(false),
        (EXECUTABLE, _) | (_, PLAIN) => None,
        (_, EXECUTABLE) => Some(true),
        _ => None,
    };
    Some((change, blobs, executable))
}

/// The id, unless it is all zeros, which is how git marks a missing file.
fn blob_of(id: &[u8]) -> Option<Oid> {
    let id = std::str::from_utf8(id).ok()?;
    id.bytes()
        .any(|digit| digit != b'0')
        .then(|| id.parse().ok())?
}

/// Parses a patch without context. Uses the counts in the hunk headers, so that a line of a file is never
/// mistaken for a header.
fn lines_in(patch: &[u8]) -> Vec<ChangedLines> {
    let mut files: Vec<ChangedLines> = Vec::new();
    let mut old_path = None;
    let (mut old, mut new) = (0..0, 0..0);
    for line in patch.split(|&b| b == b'\n') {
        match (line.first(), files.last_mut()) {
            (Some(b'-'), Some(file)) if !old.is_empty() => {
                file.removed.extend(numbered_line(&mut old, line))
            }
            (Some(b'+'), Some(file)) if !new.is_empty() => {
                file.added.extend(numbered_line(&mut new, line))
            }
            _ if line.starts_with(b"--- ") => old_path = header_path(&line[4..], b"a/"),
            _ if line.starts_with(b"+++ ") => {
                if let Some(path) = header_path(&line[4..], b"b/").or(old_path.take()) {
                    files.push(ChangedLines {
                        path,
                        added: Vec::new(),
                        removed: Vec::new(),
                    });
                }
            }
            _ if line.starts_with(b"@@ -") => {
                (old, new) = hunk_of(line).unwrap_or((0..0, 0..0));
            }
            _ => {}
        }
    }
    files
}

fn numbered_line(range: &mut Range<usize>, line: &[u8]) -> Option<ChangedLine> {
    let text = line[1..].strip_suffix(b"\r").unwrap_or(&line[1..]);
    range.next().map(|number| ChangedLine {
        number,
        text: String::from_utf8_lossy(text).into_owned(),
    })
}

/// The path in a header line; `None` for `/dev/null`. Git puts a tab after a name with blanks.
pub(super) fn header_path(text: &[u8], prefix: &[u8]) -> Option<RepoPath> {
    let text = text.strip_suffix(b"\t").unwrap_or(text);
    let whole = RepoPath::from_quotable(text);
    whole
        .as_bytes()
        .strip_prefix(prefix)
        .map(RepoPath::from_bytes)
}

/// The line ranges in `@@ -start[,count] +start[,count] @@`.
pub(super) fn hunk_of(line: &[u8]) -> Option<(Range<usize>, Range<usize>)> {
    let text = String::from_utf8_lossy(line);
    let mut words = text.split(' ').skip(1);
    Some((
        hunk_side(words.next()?, '-')?,
        hunk_side(words.next()?, '+')?,
    ))
}

fn hunk_side(word: &str, sign: char) -> Option<Range<usize>> {
    let word = word.strip_prefix(sign)?;
    let (start, count) = word.split_once(',').unwrap_or((word, "1"));
    let start: usize = start.parse().ok()?;
    Some(start..start.checked_add(count.parse().ok()?)?)
}

impl Git {
    /// The contents of `blobs`, except those above 8 MiB. Two processes, or none if `blobs` is empty.
    pub(crate) fn blobs(&self, blobs: &[&Oid]) -> HostResult<HashMap<Oid, Vec<u8>>> {
        let listed = |ids: &mut dyn Iterator<Item = &Oid>| -> Vec<u8> {
            ids.flat_map(|id| format!("{id}\n").into_bytes()).collect()
        };
        if blobs.is_empty() {
            return Ok(HashMap::new());
        }
        let call = self.call("cat-file --batch-check");
        let sizes = call.input(listed(&mut blobs.iter().copied())).output()?;
        let sizes = String::from_utf8_lossy(&sizes);
        let small = sizes
            .lines()
            .filter_map(header_of)
            .filter(|(_, size)| *size as u64 <= CAP);
        let small: Vec<Oid> = small.map(|(oid, _)| oid).collect();
        if small.is_empty() {
            return Ok(HashMap::new());
        }
        let call = self.call("cat-file --batch");
        let output = call.input(listed(&mut small.iter())).output()?;
        contents_in(&output).ok_or_else(|| unexpected("git cat-file --batch", &output))
    }
}

/// Parses `<id> blob <size>`; `None` for an object that is missing or isn't a file.
fn header_of(line: &str) -> Option<(Oid, usize)> {
    let mut words = line.split(' ');
    let (oid, kind, size) = (words.next()?, words.next()?, words.next()?);
    (kind == "blob").then(|| Some((oid.parse().ok()?, size.parse().ok()?)))?
}

/// Parses header lines, each followed by as many bytes as the header says and a newline.
fn contents_in(mut output: &[u8]) -> Option<HashMap<Oid, Vec<u8>>> {
    let mut contents = HashMap::new();
    while !output.is_empty() {
        let end = output.iter().position(|&b| b == b'\n')?;
        let (oid, size) = header_of(std::str::from_utf8(&output[..end]).ok()?)?;
        let rest = &output[end + 1..];
        contents.insert(oid, rest.get(..size)?.to_vec());
        output = rest.get(size + 1..)?;
    }
    Some(contents)
}

/// Size limit of files that are read, in bytes.
const CAP: u64 = 8 * 1024 * 1024;

impl Git {
    /// The tracked files at or below `path`, in git's order; without a path, those of the whole working tree.
    ///
    /// # Errors
    /// Git fails.
    pub fn known_files(&self, path: Option<&RepoPath>) -> HostResult<Vec<RepoPath>> {
        let output = self
            .call("ls-files -z --cached --deduplicate")
            .paths(path)
            .output()?;
        Ok(records_of(&output).map(RepoPath::from_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(patch: &str) -> Vec<String> {
        let side = |sign: char, lines: &[ChangedLine]| -> Vec<String> {
            lines
                .iter()
                .map(|line| format!("{sign}{}:{}", line.number, line.text))
                .collect()
        };
        let file = |f: ChangedLines| {
            format!(
                "{} {}",
                f.path,
                [side('-', &f.removed), side('+', &f.added)]
                    .concat()
                    .join(" ")
            )
        };
        lines_in(patch.as_bytes()).into_iter().map(file).collect()
    }

    #[test]
    fn patches_without_context() {
        let check = |patch: &str, expect: &[&str]| assert_eq!(shown(patch), expect, "{patch}");
        check("", &[]);
        check(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -2 +2,2 @@ fn f\n-old\n+new\n+more\r\n@@ -9,0 +11 @@\n+end\n",
            &["x -2:old +2:new +3:more +11:end"],
        );
        check(
            "--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
            &["a b +1:x"],
        );
        check(
            "--- \"a/q\\n\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
            &["\"q\\n\" -1:x"],
        );
        check(
            "diff --git a/bin b/bin\nBinary files a/bin and b/bin differ\n",
            &[],
        );
    }

    #[test]
    fn a_line_that_looks_like_a_header_is_a_line() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/forged\n-@@ -9 +9 @@\n+++ b/forged\n+y\n\
                     --- a/z\n+++ b/z\n@@ -1 +0,0 @@\n-z\n";
        assert_eq!(
            shown(patch),
            [
                "x -1:-- a/forged -2:@@ -9 +9 @@ +1:++ b/forged +2:y",
                "z -1:z"
            ]
        );
    }

    #[test]
    fn raw_records() {
        let (a, b) = ("1".repeat(40), "2".repeat(40));
        let check = |record: String, path: &str, status: ChangeStatus, kind: FileKind| {
            let expect = Change {
                path: path.into(),
                status,
                kind,
            };
            let found = changes_in(record.as_bytes()).map(|found| found[0].0.clone());
            assert_eq!(found, Some(expect), "{record:?}");
        };
        check(
            format!(":000000 100644 {a} {b} A\0x\0"),
            "x",
            ChangeStatus::Added,
            FileKind::File,
        );
        check(
            format!(":120000 000000 {a} {b} D\0x\0"),
            "x",
            ChangeStatus::Deleted,
            FileKind::Symlink,
        );
        check(
            format!(":160000 160000 {a} {b} M\0x\0"),
            "x",
            ChangeStatus::Modified,
            FileKind::Submodule,
        );
        check(
            format!(":100644 100755 {a} {a} M\0x\0"),
            "x",
            ChangeStatus::ModeChanged,
            FileKind::File,
        );
        check(
            format!(":100644 120000 {a} {b} T\0x\0"),
            "x",
            ChangeStatus::TypeChanged,
            FileKind::Symlink,
        );
        let renamed = ChangeStatus::Renamed { from: "x".into() };
        check(
            format!(":100644 100644 {a} {b} R090\0x\0y\0"),
            "y",
            renamed,
            FileKind::File,
        );
        assert_eq!(changes_in(b"nonsense\0x\0"), None);
    }
}
