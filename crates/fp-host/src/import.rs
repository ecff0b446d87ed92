//! The texts of a plan that comes from elsewhere, read within bounds; and the plan folder that they become, which looks
//! like a plan only once all of it is there.

mod write;

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_core::exchange::{Folder, Kind, Notice};
use fp_core::hint::Hint;

pub use self::write::{Content, ImportWriteError, earlier, write};
use crate::file::{self, FileError};

/// Most files that are read.
const MAX_FILES: usize = 5_000;
/// Most folders and files that are looked at.
const MAX_ENTRIES: usize = 50_000;
/// Deepest folder that is looked into, the one that is named being 0.
const MAX_DEPTH: usize = 6;
/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 32 * 1024 * 1024;
/// Most bytes that are read of all files.
const MAX_BYTES: u64 = 128 * 1024 * 1024;
/// Files of these kinds are read.
const KINDS: [&str; 4] = ["md", "json", "jsonl", "csv"];
/// Folders that have no plan of anybody's, and much else.
const NOT_LOOKED_INTO: [&str; 5] = [".git", "node_modules", "target", "worktrees", "vendor"];

/// Why a plan of another system can't be read.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// A file or a folder can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is more than a plan.
    #[error("{} has more than a plan: {what}", path.display())]
    TooMuch {
        /// What was named.
        path: PathBuf,
        /// The limit that is exceeded.
        what: String,
    },
}

impl Hint for GatherError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::File(error) => error.hint(),
            Self::TooMuch { .. } => Some("name the folder or the file of the plan itself".into()),
        }
    }
}

/// What was read, and what was left out.
#[derive(Debug)]
pub struct Gathered {
    /// The texts.
    pub folder: Folder,
    /// What could not be read, or is not followed.
    pub notices: Vec<Notice>,
}

/// Reads the file `path`, or the texts in the folder `path`. Links within it are not followed.
///
/// # Errors
/// When it can't be read, or is more than a plan can be.
pub fn gather(path: &Path) -> Result<Gathered, GatherError> {
    let metadata = fs::metadata(path).map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    if !metadata.is_dir() {
        let text = file::read_text(path, MAX_FILE)?;
        let name = path.file_name().map_or_else(|| "plan".into(), |name| name.to_string_lossy().into_owned());
        return Ok(Gathered { folder: [(name, text)].into_iter().collect(), notices: Vec::new() });
    }
    let mut walk = Walk { root: path, texts: Vec::new(), notices: Vec::new(), entries: 0, bytes: 0 };
    walk.folders()?;
    Ok(Gathered { folder: walk.texts.into_iter().collect(), notices: walk.notices })
}

struct Walk<'p> {
    root: &'p Path,
    texts: Vec<(String, String)>,
    notices: Vec<Notice>,
    entries: usize,
    bytes: u64,
}

impl Walk<'_> {
    fn folders(&mut self) -> Result<(), GatherError> {
        let mut open = vec![(self.root.to_owned(), String::new(), 0)];
        while let Some((folder, prefix, depth)) = open.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(source) if depth == 0 => return Err(FileError::Read { path: folder, source }.into()),
                Err(source) => {
                    self.unread(&prefix, &source);
                    continue;
                }
            };
            let mut entries: Vec<fs::DirEntry> = entries.flatten().collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                self.entries += 1;
                if self.entries > MAX_ENTRIES {
                    return Err(
                        self.too_much(format!("at most {MAX_ENTRIES} files and folders are looked at"))
                    );
                }
                let Ok(name) = entry.file_name().into_string() else { continue };
                let Ok(kind) = entry.file_type() else { continue };
                let path = format!("{prefix}{name}");
                if kind.is_symlink() {
                    self.link(&entry.path(), &path);
                } else if kind.is_dir() && depth < MAX_DEPTH && !NOT_LOOKED_INTO.contains(&&*name) {
                    open.push((entry.path(), format!("{path}/"), depth + 1));
                } else if kind.is_file() && is_read(&name) {
                    self.file(&entry.path(), path)?;
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, file: &Path, path: String) -> Result<(), GatherError> {
        if self.texts.len() == MAX_FILES {
            return Err(self.too_much(format!("at most {MAX_FILES} files are read")));
        }
        match file::read_text(file, MAX_FILE) {
            Ok(text) => {
                self.bytes += text.len() as u64;
                if self.bytes > MAX_BYTES {
                    return Err(self.too_much(format!("at most {} MB are read", MAX_BYTES >> 20)));
                }
                self.texts.push((path, text));
            }
            Err(FileError::NotText { line, column, .. }) => {
                let notice = Notice::new(Kind::Broken, "not UTF-8 text; it is left out");
                self.notices.push(Notice { column: Some(column), ..notice.in_file(&path).at_line(line) });
            }
            Err(FileError::TooLarge { .. }) => {
                let text = format!("larger than {} MB; it is left out", MAX_FILE >> 20);
                self.notices.push(Notice::new(Kind::Broken, text).in_file(&path));
            }
            Err(FileError::Read { source, .. }) => self.unread(&path, &source),
            Err(error) => self.notices.push(Notice::new(Kind::Broken, error.to_string())),
        }
        Ok(())
    }

    fn unread(&mut self, path: &str, source: &io::Error) {
        let text = format!("it can't be read: {}; it is left out", file::reason(source));
        self.notices.push(Notice::new(Kind::Broken, text).in_file(path));
    }

    /// What a link within the folder leads to is there by itself; what lies elsewhere is no part of the plan.
    fn link(&mut self, link: &Path, path: &str) {
        let root = fs::canonicalize(self.root);
        let inside =
            fs::canonicalize(link).is_ok_and(|target| root.is_ok_and(|root| target.starts_with(root)));
        if !inside && (is_read(path) || !path.contains('.')) {
            let notice = Notice::new(Kind::Broken, "a link that leads out of the folder; it is not followed");
            self.notices.push(notice.in_file(path));
        }
    }

    fn too_much(&self, what: String) -> GatherError {
        GatherError::TooMuch { path: self.root.to_owned(), what }
    }
}

fn is_read(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    KINDS.iter().any(|kind| extension.eq_ignore_ascii_case(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(gathered: &Gathered) -> Vec<&str> {
        gathered.folder.iter().map(|(path, _)| path).collect()
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
        let gathered = gather(folder.path()).unwrap();
        assert_eq!(paths(&gathered), [".task/IMPL-1.json", "PLAN.md", "a.CSV", "i.jsonl"]);
        let said: Vec<String> = gathered.notices.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["bad.md:2:1: not UTF-8 text; it is left out"]);
        assert_eq!(paths(&gather(&at("x.rs")).unwrap()), ["x.rs"], "a file that is named is read");
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
        let gathered = gather(folder.path()).unwrap();
        assert_eq!(paths(&gathered), ["a.md"]);
        let said: Vec<String> = gathered.notices.iter().map(ToString::to_string).collect();
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
        let error = gather(folder.path()).unwrap_err();
        let whole = format!("{} has more than a plan: at most 5000 files are read", folder.path().display());
        assert_eq!(error.to_string(), whole);
        assert_eq!(error.hint(), Some("name the folder or the file of the plan itself".into()));
    }
}
