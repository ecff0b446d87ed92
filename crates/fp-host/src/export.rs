//! The files of an export, written below one folder and nowhere else.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use fp_core::exchange::Folder;
use fp_core::hint::Hint;

use crate::file::{self, FileError};

/// Why nothing, or not all, was written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Files that are there already, of which nothing says that they may be replaced.
    #[error("{} is there already", paths[0].display())]
    Exists {
        /// All of them; at least one.
        paths: Vec<PathBuf>,
    },
    /// A path of the export leads out of its folder, or is none on this system.
    #[error("{path:?} is no path below a folder")]
    Path {
        /// The path.
        path: String,
    },
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Hint for ExportError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Exists { .. } => Some("name another place, or add --force to replace what is there".into()),
            Self::Path { .. } => Some("export to another format, or give the task another id".into()),
            Self::File(error) => error.hint(),
        }
    }
}

/// What an export has done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// The files that it has, in the order of their paths.
    pub files: Vec<PathBuf>,
    /// Those of them that were there before.
    pub replaced: Vec<PathBuf>,
    /// Files of an earlier export that this one does not have, and that were left alone.
    pub left: Vec<PathBuf>,
}

/// Writes one file. What is there is replaced only where `force` says so.
pub fn write_file(path: &Path, text: &str, force: bool) -> Result<Written, ExportError> {
    let there = is_there(path);
    if path.is_dir() {
        return Err(FileError::NotAFile { path: path.to_owned() }.into());
    }
    let path = path.to_owned();
    if force {
        file::atomic_write(&path, text.as_bytes())?;
    } else if !file::write_if_absent(&path, text.as_bytes())? {
        return Err(ExportError::Exists { paths: vec![path] });
    }
    let replaced = if there { vec![path.clone()] } else { Vec::new() };
    Ok(Written { files: vec![path], replaced, left: Vec::new() })
}

/// Writes `files` below `folder`: as a whole, where there is no such folder, else one by one, each of them whole. What
/// is there is replaced only where `force` says so; a link is never followed.
pub fn write_folder(folder: &Path, files: &Folder, force: bool) -> Result<Written, ExportError> {
    let mut texts = Vec::new();
    for (path, text) in files.iter() {
        texts.push((below(path)?, text));
    }
    if !is_there(folder) {
        write_new(folder, &texts)?;
        let files = texts.iter().map(|(path, _)| folder.join(path)).collect();
        return Ok(Written { files, ..Written::default() });
    }
    for (path, _) in &texts {
        refuse_links(folder, path)?;
    }
    let files: Vec<PathBuf> = texts.iter().map(|(path, _)| folder.join(path)).collect();
    let replaced: Vec<PathBuf> = files.iter().filter(|path| is_there(path)).cloned().collect();
    if !force && !replaced.is_empty() {
        return Err(ExportError::Exists { paths: replaced });
    }
    if let Some(path) = replaced.iter().find(|path| path.is_dir()) {
        return Err(FileError::NotAFile { path: path.clone() }.into());
    }
    for (path, (_, text)) in files.iter().zip(&texts) {
        make_folder(path.parent().unwrap_or(folder))?;
        file::atomic_write(path, text.as_bytes())?;
    }
    let left = left(folder, &files);
    Ok(Written { files, replaced, left })
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// `path`, if it is made of nothing but names.
fn below(path: &str) -> Result<PathBuf, ExportError> {
    let parsed = PathBuf::from(path);
    let plain = parsed.components().all(|part| matches!(part, Component::Normal(_)));
    if plain && !path.is_empty() && !path.contains(['\\', ':', '\0']) {
        Ok(parsed)
    } else {
        Err(ExportError::Path { path: path.to_owned() })
    }
}

/// Fails where a folder between `folder` and the file `path` in it is a link, or where the file is one.
fn refuse_links(folder: &Path, path: &Path) -> Result<(), FileError> {
    let mut whole = folder.to_owned();
    for part in path.components() {
        whole.push(part);
        if fs::symlink_metadata(&whole).is_ok_and(|found| found.is_symlink()) {
            return Err(FileError::Link { path: whole });
        }
    }
    Ok(())
}

fn make_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|source| FileError::Write { path: path.to_owned(), source })
}

/// Writes all of it into a folder beside, which then gets its name.
fn write_new(folder: &Path, texts: &[(PathBuf, &str)]) -> Result<(), FileError> {
    let failed = |source: io::Error| FileError::Write { path: folder.to_owned(), source };
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".fp-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The user's umask takes its share when the folder is made.
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    let staging = builder.tempdir_in(parent.unwrap_or(Path::new("."))).map_err(failed)?;
    for (path, text) in texts {
        let path = staging.path().join(path);
        make_folder(path.parent().unwrap_or(staging.path()))?;
        // It can be made again, so nobody waits for the disk a thousand times.
        fs::write(&path, text).map_err(failed)?;
    }
    fs::rename(staging.path(), folder).map_err(failed)?;
    // It has another name by now, under which there is nothing to be removed.
    let _ = staging.keep();
    Ok(())
}

/// Files of the kind that `files` are, in the folders below `folder` that these are in.
fn left(folder: &Path, files: &[PathBuf]) -> Vec<PathBuf> {
    let inner: BTreeSet<&Path> =
        files.iter().filter_map(|path| path.parent()).filter(|parent| *parent != folder).collect();
    let mut left = Vec::new();
    for inner in inner {
        let kind = files.iter().find(|path| path.parent() == Some(inner)).and_then(|path| path.extension());
        let found = fs::read_dir(inner).into_iter().flatten().flatten().map(|entry| entry.path());
        left.extend(found.filter(|path| path.extension() == kind && !files.contains(path)));
    }
    left.sort();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Folder {
        [("a.json", "a\n"), (".task/1.json", "1\n")].into_iter().collect()
    }

    #[test]
    fn a_new_folder_is_written_as_a_whole() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("out");
        let written = write_folder(&folder, &files(), false).unwrap();
        assert_eq!(written.files, [folder.join(".task/1.json"), folder.join("a.json")]);
        assert!(written.replaced.is_empty() && written.left.is_empty());
        assert_eq!(fs::read_to_string(folder.join(".task/1.json")).unwrap(), "1\n");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "and nothing beside it");
        let missing = write_folder(&place.path().join("none/out"), &files(), true).unwrap_err();
        assert_eq!(missing.hint(), Some("check the path".into()));
    }

    #[test]
    fn nothing_is_replaced_unasked() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("out");
        fs::create_dir_all(folder.join(".task")).unwrap();
        fs::write(folder.join("a.json"), "mine").unwrap();
        fs::write(folder.join(".task/9.json"), "old").unwrap();
        let refused = write_folder(&folder, &files(), false).unwrap_err();
        let said = format!("{} is there already", folder.join("a.json").display());
        assert_eq!(refused.to_string(), said);
        assert!(!folder.join(".task/1.json").exists(), "and nothing is written");
        let written = write_folder(&folder, &files(), true).unwrap();
        assert_eq!(written.replaced, [folder.join("a.json")]);
        assert_eq!(written.left, [folder.join(".task/9.json")]);
        assert_eq!(fs::read_to_string(folder.join(".task/9.json")).unwrap(), "old");
        let Err(ExportError::Exists { paths }) = write_folder(&folder, &files(), false) else { panic!() };
        assert_eq!(paths, written.files);
    }

    #[test]
    fn a_path_that_leads_out_is_refused() {
        let place = tempfile::tempdir().unwrap();
        for path in ["../a", "/a", "a/../../b", "C:\\a", ""] {
            let files: Folder = [(path, "x")].into_iter().collect();
            let refused = write_folder(&place.path().join("out"), &files, true).unwrap_err();
            assert_eq!(refused.to_string(), format!("{path:?} is no path below a folder"));
            assert!(refused.hint().is_some());
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_folder_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (folder, outside) = (place.path().join("out"), place.path().join("outside"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, folder.join(".task")).unwrap();
        let refused = write_folder(&folder, &files(), true).unwrap_err();
        assert!(refused.to_string().ends_with(".task is a symbolic link, which is not followed"));
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert!(!folder.join("a.json").exists());
    }

    #[test]
    fn a_file_is_replaced_only_when_asked() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("tasks.csv");
        assert!(write_file(&path, "1", false).unwrap().replaced.is_empty());
        assert!(matches!(write_file(&path, "2", false), Err(ExportError::Exists { .. })));
        assert_eq!(write_file(&path, "2", true).unwrap().replaced, std::slice::from_ref(&path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
        let folder = write_file(place.path(), "3", true).unwrap_err();
        assert!(folder.to_string().ends_with(" is not a file"));
    }
}
