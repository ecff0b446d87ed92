//! The files whose changes git was told to overlook, so that its status does not show them. Few repositories have one,
//! and every measurement has to know; so the index is looked at before git is asked.

use std::collections::HashSet;

use fp_core::repo_path::RepoPath;

use super::tree::INDEX;
use super::{Git, GitError, os_string};
use crate::file;

/// Largest index that is read, in bytes; about a million files.
const INDEX_CAP: u64 = 128 * 1024 * 1024;
/// Bytes of an entry before its flags, those of its SHA-1 hash included.
const STAT: usize = 60;
/// The flags in an entry that its changes are overlooked, and that more flags follow.
const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
/// Bytes of a SHA-1 hash.
const HASH: usize = 20;

impl Git {
    /// Those of `files`, or of all where none are given, whose changes git was told to overlook. No process where the
    /// index shows plainly that there are none.
    ///
    /// # Errors
    /// A failing git.
    pub fn overlooked(&self, files: &[&RepoPath]) -> Result<HashSet<RepoPath>, GitError> {
        let index = file::read_bytes(&self.git_dir().join(INDEX), INDEX_CAP);
        if index.is_ok_and(|index| is_unmarked(&index)) {
            return Ok(HashSet::new());
        }
        let output = self.call(&["ls-files", "-v", "-z"]).paths(files.iter().copied()).output()?;
        // A small letter is one that is assumed to be unchanged, S one that is not to be in the working tree.
        let hidden =
            |record: &&[u8]| record.first().is_some_and(|tag| tag.is_ascii_lowercase() || *tag == b'S');
        let records = output.split(|&b| b == 0).filter(hidden);
        Ok(records.filter_map(|record| record.get(2..)).map(RepoPath::from_bytes).collect())
    }

    /// Files whose changes git was told to overlook. One that is kept out of the working tree, as in a sparse checkout,
    /// has none.
    pub(super) fn overlooked_files(&self) -> Result<Vec<RepoPath>, GitError> {
        let mut paths: Vec<RepoPath> = self.overlooked(&[])?.into_iter().collect();
        paths.retain(|path| self.worktree().join(os_string(path.as_bytes())).symlink_metadata().is_ok());
        Ok(paths)
    }
}

/// Whether an index (`gitformat-index(5)`) plainly has no file with a mark: it is of version 2 or 3, with SHA-1 hashes,
/// and not split. What is anything else is left to git.
fn is_unmarked(index: &[u8]) -> bool {
    unmarked(index) == Some(true)
}

fn unmarked(index: &[u8]) -> Option<bool> {
    let (content, _) = index.split_last_chunk::<HASH>()?;
    let mut rest = content.strip_prefix(b"DIRC\0\0\0")?;
    if !matches!(rest.split_off_first()?, 2 | 3) {
        return Some(false);
    }
    for _ in 0..number(&mut rest)? {
        let flags = u16::from_be_bytes(rest.get(STAT..STAT + 2)?.try_into().ok()?);
        if flags & (ASSUME_VALID | EXTENDED) != 0 {
            return Some(false);
        }
        // One to eight zeros end the name and fill the entry up to a multiple of eight bytes.
        let name = rest[STAT + 2..].iter().position(|&byte| byte == 0)?;
        rest = rest.get((STAT + 2 + name) / 8 * 8 + 8..)?;
    }
    while !rest.is_empty() {
        let signature = rest.split_off(..4)?;
        if signature == b"link" {
            return Some(false);
        }
        let size = usize::try_from(number(&mut rest)?).ok()?;
        rest = rest.get(size..)?;
    }
    Some(true)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(rest.split_off(..4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    /// Stands for a repository with the longer hashes.
    const SHA256: &str = "sha256";

    fn index_after(commands: &[&str]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b/some-longer-name.txt", &"n".repeat(200)] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let init = if commands.contains(&SHA256) { "init -q --object-format=sha256" } else { "init -q" };
        let others = commands.iter().copied().filter(|command| *command != SHA256);
        for command in [init, "add -A", "write-tree"].into_iter().chain(others) {
            let mut git = Command::new("git");
            git.args(command.split(' ')).current_dir(&folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
            let output = git.output().unwrap();
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        }
        fs::read(folder.path().join(".git/index")).unwrap()
    }

    #[test]
    fn what_git_writes() {
        let check = |commands: &[&str], expect: Option<bool>| {
            assert_eq!(unmarked(&index_after(commands)), expect, "{commands:?}");
        };
        check(&[], Some(true));
        check(&["rm -q --cached -r ."], Some(true));
        check(&["update-index --assume-unchanged a"], Some(false));
        check(&["update-index --skip-worktree b/some-longer-name.txt"], Some(false));
        check(&["update-index --assume-unchanged a", "update-index --no-assume-unchanged a"], Some(true));
        check(&["update-index --split-index"], Some(false));
        check(&["update-index --index-version 4"], Some(false));
        check(&["update-index --untracked-cache"], Some(true));
        for commands in [&[SHA256][..], &[SHA256, "update-index --assume-unchanged a"]] {
            assert!(!is_unmarked(&index_after(commands)), "{commands:?}");
        }
    }

    #[test]
    fn what_is_torn_is_left_to_git() {
        let index = index_after(&[]);
        let entries = index.windows(4).position(|window| window == b"TREE").unwrap();
        for end in (0..index.len()).filter(|&end| end != entries + HASH) {
            assert!(!is_unmarked(&index[..end]), "{end} of {} bytes", index.len());
        }
        let foreign = [&b"DIRC\0\0\0\x02\xff\xff\xff\xff"[..], &[0; 200]].concat();
        assert!(!is_unmarked(&foreign));
    }
}
