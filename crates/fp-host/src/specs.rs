//! The project's specs on the disk: `.fractal-planner/specs/*.md`, and the folders one level below. A link is followed
//! as long as it stays in the repository; one page that can't be read never hides the others.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fp_core::hint::Hint;
use fp_core::specs::{Spec, SpecFault, SpecName, parse};

use crate::file::FileError;
use crate::repo::{HOME, Repo};
use crate::store::{StoreError, acquire};

/// Largest spec that is read, in bytes.
pub const SPEC_CAP: u64 = 1024 * 1024;

/// Most specs that are read.
const MAX_SPECS: usize = 1000;

/// Why a spec was not read or written. [`SpecError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// It can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its frontmatter is wrong.
    #[error("{}:{fault}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        fault: SpecFault,
    },
    /// It lies, through a link, outside of the repository.
    #[error("{} leads out of the repository, to {}", path.display(), target.display())]
    Outside {
        /// The file or folder.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// Its name can't be the name of a spec.
    #[error("{} can't be a spec by its name", path.display())]
    Name {
        /// The file.
        path: PathBuf,
    },
    /// There are more than are read.
    #[error("{} has more than {MAX_SPECS} specs: the rest is not read", path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error(transparent)]
    Locked(#[from] StoreError),
}

impl SpecError {
    /// The file or folder that it is about.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(error) => Some(error.path()),
            Self::Broken { path, .. }
            | Self::Outside { path, .. }
            | Self::Name { path }
            | Self::TooMany { path } => Some(path),
            Self::Locked(_) => None,
        }
    }
}

impl Hint for SpecError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::File(error) => return error.hint().or(Some("look at the file".into())),
            Self::Broken { fault, .. } => fault.hint.as_str().into(),
            Self::Outside { .. } => "put a copy in its place, or move it elsewhere".into(),
            Self::Name { .. } => fp_core::specs::InvalidName.to_string().into(),
            Self::TooMany { .. } => "put what belongs together into one file".into(),
            Self::Locked(error) => return error.hint(),
        })
    }
}

/// The specs that there are, by name, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct Specs {
    /// Those that were read.
    pub specs: Vec<Spec>,
    /// Why others were not.
    pub faults: Vec<SpecError>,
    folder: PathBuf,
}

impl Specs {
    /// The specs of `repo`; none where it has no such folder.
    #[must_use]
    pub fn load(repo: &Repo) -> Self {
        let folder = folder(repo);
        let mut found = Self { folder, ..Self::default() };
        let mut files = Vec::new();
        if let Err(error) = found.look(repo, &mut files) {
            found.faults.push(error);
        }
        files.sort();
        if files.len() > MAX_SPECS {
            files.truncate(MAX_SPECS);
            found.faults.push(SpecError::TooMany { path: found.folder.clone() });
        }
        for (name, path) in files {
            match read(repo, &path).and_then(|text| parsed(name, path, &text)) {
                Ok(spec) => found.specs.push(spec),
                Err(error) => found.faults.push(error),
            }
        }
        found.specs.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// Where the file of `spec` is, absolute.
    #[must_use]
    pub fn path(&self, spec: &Spec) -> PathBuf {
        file_of(&self.folder, &spec.name)
    }

    /// The spec called `name`, with or without `.md`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Spec> {
        let name = name.strip_suffix(".md").unwrap_or(name);
        self.specs.iter().find(|spec| spec.name.as_str() == name)
    }

    fn look(&mut self, repo: &Repo, files: &mut Vec<(SpecName, PathBuf)>) -> Result<(), SpecError> {
        let folder = self.folder.clone();
        for (name, path) in entries(repo, &folder)? {
            if is_folder(&path) {
                match entries(repo, &path) {
                    Ok(below) => below.into_iter().for_each(|(file, path)| {
                        if !is_folder(&path) {
                            self.take(format!("{name}/{file}"), path, files);
                        }
                    }),
                    Err(error) => self.faults.push(error),
                }
            } else {
                self.take(name, path, files);
            }
        }
        Ok(())
    }

    /// Takes a file in, if it is called as a spec is.
    fn take(&mut self, name: String, path: PathBuf, files: &mut Vec<(SpecName, PathBuf)>) {
        let Some(name) = name.strip_suffix(".md") else { return };
        match name.parse() {
            Ok(name) => files.push((name, path)),
            Err(_) => self.faults.push(SpecError::Name { path }),
        }
    }
}

/// Appends to the spec `name` of `repo` what `addition` makes of its text, `None` where there is no file yet; nothing
/// where it answers with nothing. All that was in it stays byte for byte. Waits up to `patience` for another process
/// that does the same under `lock`. Says where the file is.
pub fn append(
    repo: &Repo,
    name: &SpecName,
    (lock, patience): (&Path, Duration),
    addition: impl FnOnce(Option<&str>) -> Option<String>,
) -> Result<PathBuf, SpecError> {
    let path = file(repo, name);
    let _lock = acquire(lock, patience)?;
    let before = match read(repo, &path) {
        Ok(text) => Some(text),
        Err(SpecError::File(error)) if error.is_missing() => None,
        Err(error) => return Err(error),
    };
    if let Some(text) = &before {
        parsed(name.clone(), path.clone(), text)?;
    }
    let Some(addition) = addition(before.as_deref()) else { return Ok(path) };
    let parent = path.parent().unwrap_or(&repo.root);
    nearest_is_inside(repo, parent)?;
    fs::create_dir_all(parent).map_err(|source| FileError::Write { path: parent.to_owned(), source })?;
    // A link within the repository stays one.
    let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    crate::file::atomic_write(&real, (before.unwrap_or_default() + &addition).as_bytes())?;
    Ok(path)
}

/// The text of the spec `name` of `repo`; `None` where there is none.
pub fn text_of(repo: &Repo, name: &SpecName) -> Result<Option<String>, SpecError> {
    match read(repo, &file(repo, name)) {
        Ok(text) => Ok(Some(text)),
        Err(SpecError::File(error)) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where the file of the spec `name` of `repo` is or would be, absolute.
#[must_use]
pub fn file(repo: &Repo, name: &SpecName) -> PathBuf {
    file_of(&folder(repo), name)
}

fn folder(repo: &Repo) -> PathBuf {
    repo.root.join(HOME).join("specs")
}

fn file_of(folder: &Path, name: &SpecName) -> PathBuf {
    let mut path =
        name.as_str().split('/').fold(folder.to_owned(), |path, part| path.join(part)).into_os_string();
    path.push(".md");
    path.into()
}

fn parsed(name: SpecName, path: PathBuf, text: &str) -> Result<Spec, SpecError> {
    parse(name, text).map_err(|fault| SpecError::Broken { path, fault })
}

fn read(repo: &Repo, path: &Path) -> Result<String, SpecError> {
    let real = inside(repo, path)?;
    // Messages name the path that the user knows.
    crate::file::read_text(&real, SPEC_CAP).map_err(|error| renamed(error, path).into())
}

fn renamed(error: FileError, path: &Path) -> FileError {
    let path = path.to_owned();
    match error {
        FileError::Read { source, .. } => FileError::Read { path, source },
        FileError::NotAFile { .. } => FileError::NotAFile { path },
        FileError::TooLarge { cap, .. } => FileError::TooLarge { path, cap },
        FileError::NotText { line, column, .. } => FileError::NotText { path, line, column },
        other => other,
    }
}

/// Where `path` really is; fails where that is outside of the repository.
fn inside(repo: &Repo, path: &Path) -> Result<PathBuf, SpecError> {
    let real = fs::canonicalize(path).map_err(|source| FileError::Read { path: path.to_owned(), source })?;
    if real.starts_with(&repo.root) {
        return Ok(real);
    }
    Err(SpecError::Outside { path: path.to_owned(), target: real })
}

fn nearest_is_inside(repo: &Repo, path: &Path) -> Result<(), SpecError> {
    let there = path.ancestors().find(|above| fs::symlink_metadata(above).is_ok()).unwrap_or(path);
    inside(repo, there).map(drop)
}

fn is_folder(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// What is in `folder`, without what is hidden; nothing where there is no such folder.
fn entries(repo: &Repo, folder: &Path) -> Result<Vec<(String, PathBuf)>, SpecError> {
    let failed = |source| FileError::Read { path: folder.to_owned(), source };
    let found = match fs::read_dir(folder) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error).into()),
    };
    inside(repo, folder)?;
    let mut entries = Vec::new();
    for entry in found {
        let entry = entry.map_err(failed)?;
        // What is no text becomes a name that is refused with its path.
        let name = entry.file_name().to_string_lossy().replace(char::REPLACEMENT_CHARACTER, "\u{1}");
        if !name.starts_with('.') {
            entries.push((name, entry.path()));
        }
    }
    entries.sort();
    Ok(entries)
}
