//! The texts of a plan that comes from elsewhere, read within bounds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_exchange::{ImportNotice, SourceFolder};
use fp_host::file::{self, FileError};

use crate::error::CommandError;

const MAX_FILES: usize = 5_000;
/// Deepest folder that is looked into; the one that is named is 0.
const MAX_DEPTH: usize = 6;
/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 32 * 1024 * 1024;
const KINDS: [&str; 4] = ["md", "json", "jsonl", "csv"];
const NOT_LOOKED_INTO: [&str; 5] = [".git", "node_modules", "target", "worktrees", "vendor"];

/// Reads the file `path`, or the texts in the folder `path`, with what could not be read. Links within it are not
/// followed.
pub(super) fn gather_texts(path: &Path) -> Result<(SourceFolder, Vec<ImportNotice>), CommandError> {
    let metadata = fs::metadata(path).map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    if !metadata.is_dir() {
        let text = file::read_text(path, MAX_FILE)?;
        let name = path.file_name().map_or_else(|| "plan".into(), |name| name.to_string_lossy().into_owned());
        return Ok(([(name, text)].into_iter().collect(), Vec::new()));
    }
    let root = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut walk = TextWalk { root, texts: Vec::new(), notices: Vec::new() };
    walk.walk()?;
    Ok((walk.texts.into_iter().collect(), walk.notices))
}

struct TextWalk {
    /// Without links.
    root: PathBuf,
    texts: Vec<(String, String)>,
    notices: Vec<ImportNotice>,
}

impl TextWalk {
    fn walk(&mut self) -> Result<(), CommandError> {
        let mut open = vec![(self.root.clone(), String::new(), 0)];
        while let Some((folder, prefix, depth)) = open.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(source) if depth == 0 => return Err(FileError::Read { path: folder, source }.into()),
                Err(source) => {
                    self.report(&prefix, unreadable(&source));
                    continue;
                }
            };
            let mut entries: Vec<fs::DirEntry> = entries.flatten().collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                    continue;
                };
                let path = format!("{prefix}{name}");
                if kind.is_symlink() {
                    // Where it leads within the folder, that is read by itself.
                    let target = fs::canonicalize(entry.path());
                    let is_inside = target.is_ok_and(|target| target.starts_with(&self.root));
                    if !is_inside && (is_read(&name) || !name.contains('.')) {
                        self.report(&path, "a link that leads out of the folder; it is not followed".into());
                    }
                } else if kind.is_dir() && depth < MAX_DEPTH && !NOT_LOOKED_INTO.contains(&&*name) {
                    open.push((entry.path(), format!("{path}/"), depth + 1));
                } else if kind.is_file() && is_read(&name) {
                    self.read_file(&entry.path(), path)?;
                }
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: &Path, path: String) -> Result<(), CommandError> {
        if self.texts.len() == MAX_FILES {
            let shown = self.root.display();
            return Err(CommandError::failed(format!(
                "{shown} has more than a plan: at most {MAX_FILES} files are read"
            ))
            .hint("name the folder or the file of the plan itself"));
        }
        match file::read_text(file, MAX_FILE) {
            Ok(text) => self.texts.push((path, text)),
            Err(FileError::NotText { line, column, .. }) => {
                self.report(&path, "not UTF-8 text; it is left out".into());
                let notice = self.notices.last_mut().expect("it was reported");
                (notice.line, notice.column) = (Some(line), Some(column));
            }
            Err(FileError::TooLarge { .. }) => {
                self.report(&path, format!("larger than {} MB; it is left out", MAX_FILE >> 20));
            }
            Err(FileError::Read { source, .. }) => self.report(&path, unreadable(&source)),
            Err(error) => self.report(&path, error.to_string()),
        }
        Ok(())
    }

    fn report(&mut self, path: &str, text: String) {
        self.notices.push(ImportNotice::problem(text).in_file(path));
    }
}

fn unreadable(source: &io::Error) -> String {
    format!("it can't be read: {}; it is left out", file::reason(source))
}

fn is_read(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    KINDS.iter().any(|kind| extension.eq_ignore_ascii_case(kind))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends at its first surprise")]
    use super::*;

    fn paths((folder, _): &(SourceFolder, Vec<ImportNotice>)) -> Vec<&str> {
        folder.paths().collect()
    }

    #[test]
    fn texts_of_four_kinds_are_read_and_what_is_not_text_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in [".task", "node_modules/a", "a/b/c/d/e/f/g"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        for path in [
            "PLAN.md",
            ".task/IMPL-1.json",
            "a.CSV",
            "i.jsonl",
            "x.rs",
            "node_modules/a/x.md",
            "a/b/c/d/e/f/g/h.md",
        ] {
            fs::write(at(path), "x").unwrap();
        }
        fs::write(at("bad.md"), b"one\n\xff").unwrap();
        let gathered = gather_texts(folder.path()).unwrap();
        assert_eq!(paths(&gathered), [".task/IMPL-1.json", "PLAN.md", "a.CSV", "i.jsonl"]);
        let said: Vec<String> = gathered.1.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["bad.md:2:1: not UTF-8 text; it is left out"]);
        assert_eq!(paths(&gather_texts(&at("x.rs")).unwrap()), ["x.rs"], "a file that is named is read");
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.md"), "x").unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::write(at("a.md"), "x").unwrap();
        symlink(at("a.md"), at("b.md")).unwrap();
        symlink(folder.path(), at("loop")).unwrap();
        symlink(outside.path().join("secret.md"), at("c.md")).unwrap();
        symlink(outside.path(), at("out")).unwrap();
        symlink("nowhere", at("gone.md")).unwrap();
        let gathered = gather_texts(folder.path()).unwrap();
        assert_eq!(paths(&gathered), ["a.md"]);
        let said: Vec<String> = gathered.1.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            ["c.md", "gone.md", "out"]
                .map(|path| format!("{path}: a link that leads out of the folder; it is not followed"))
        );
    }

    #[test]
    fn more_than_a_plan_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=MAX_FILES {
            fs::write(folder.path().join(format!("{number}.md")), "").unwrap();
        }
        let error = gather_texts(folder.path()).unwrap_err();
        let whole = format!("{} has more than a plan: at most 5000 files are read", folder.path().display());
        assert_eq!(error.message, whole);
        assert_eq!(error.hints, ["name the folder or the file of the plan itself"]);
    }
}
