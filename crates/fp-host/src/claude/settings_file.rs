//! A settings file of the client on the disk. It belongs to the user: a link is written through, permissions
//! stay, what was there is copied first, and nothing is written over a copy of something else.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_core::client_settings::{self, Fields, SettingsError};
use fp_core::hint::Hint;

use crate::file::{self, FileError};

/// Largest settings file that is read, in bytes.
const CAP: u64 = 8 * 1024 * 1024;

const BACKUP: &str = ".fp-backup";

/// Why a settings file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    /// The system refused, or it is no text.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not one that the client reads.
    #[error("{}{}: {error}", path.display(), error.place())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: SettingsError,
    },
    /// It says one thing twice, so that what it says can't be changed by adding to it.
    #[error("{} has a key twice", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
    },
}

impl Hint for SettingsFileError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::File(error) => return error.hint().or(Some("check the file".into())),
            Self::Unusable { .. } => {
                "mend the file by hand, since Claude Code ignores all of it as it is; then run this again"
                    .into()
            }
            Self::Twice { .. } => "keep one of the two, then run this again".into(),
        })
    }
}

/// What a settings file has in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Its text; `None` where there is no file.
    pub text: Option<String>,
    /// What that says; empty where there is no file.
    pub fields: Fields,
}

/// A settings file, which need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    /// The one at `path`.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is, by the name that it was given, which may be a link.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it.
    ///
    /// # Errors
    /// It can't be read, or is not one that the client reads. A link that leads nowhere can't be read.
    pub fn read(&self) -> Result<Contents, SettingsFileError> {
        let text = match file::read_text(&self.path, CAP) {
            Ok(text) => Some(text),
            Err(error) if error.is_missing() && self.path.symlink_metadata().is_err() => None,
            Err(error) => return Err(error.into()),
        };
        let fields = client_settings::parse(text.as_deref().unwrap_or_default())
            .map_err(|error| SettingsFileError::Unusable { path: self.path.clone(), error })?;
        Ok(Contents { text, fields })
    }

    /// Fails where the file says that it is not to be written. Replacing it would succeed all the same, since that
    /// takes only the folder's permission.
    pub fn check_writable(&self) -> Result<(), SettingsFileError> {
        match fs::metadata(&self.path) {
            Ok(found) if found.permissions().readonly() => {
                Err(self.refused(io::ErrorKind::PermissionDenied.into()).into())
            }
            _ => Ok(()),
        }
    }

    /// Makes `text` its content, with its folder where there is none; the target of a link, where it is one.
    ///
    /// # Errors
    /// It can't be written. What was there still is.
    pub fn write(&self, text: &str) -> Result<(), SettingsFileError> {
        let real = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        real.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| self.refused(error))?;
        Ok(file::atomic_write(&real, text.as_bytes())?)
    }

    /// Removes it.
    ///
    /// # Errors
    /// It is there and can't be removed.
    pub fn remove(&self) -> Result<(), SettingsFileError> {
        fs::remove_file(&self.path).map_err(|error| self.refused(error).into())
    }

    /// Copies `text`, its content, to a file beside it that was not there, or that has just this in it. The name of
    /// that file, and whether it is new.
    ///
    /// # Errors
    /// It can't be written.
    pub fn back_up(&self, text: &str) -> Result<(String, bool), SettingsFileError> {
        let mut number = 1;
        loop {
            let name = self.backup_name(number);
            let path = self.path.with_file_name(&name);
            if file::copy_if_absent(&self.path, &path, text.as_bytes())? {
                return Ok((name, true));
            }
            if file::read_bytes(&path, CAP).is_ok_and(|found| found == text.as_bytes()) {
                return Ok((name, false));
            }
            number += 1;
        }
    }

    /// Where the copy called `name` is. `None` where that is no name of a copy.
    #[must_use]
    pub fn backup(&self, name: &str) -> Option<PathBuf> {
        let first = self.backup_name(1);
        let rest = name.strip_prefix(&first)?;
        rest.chars().all(|c| c == '.' || c.is_ascii_digit()).then(|| self.path.with_file_name(name))
    }

    fn backup_name(&self, number: usize) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        if number == 1 { format!("{name}{BACKUP}") } else { format!("{name}{BACKUP}.{number}") }
    }

    fn refused(&self, source: io::Error) -> FileError {
        FileError::Write { path: self.path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &tempfile::TempDir) -> SettingsFile {
        SettingsFile::new(folder.path().join("settings.json"))
    }

    #[test]
    fn a_copy_never_replaces_a_copy_of_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let settings = file(&folder);
        settings.write("{}").unwrap();
        assert_eq!(settings.back_up("{}").unwrap(), ("settings.json.fp-backup".into(), true));
        assert_eq!(settings.back_up("{}").unwrap(), ("settings.json.fp-backup".into(), false));
        assert_eq!(settings.back_up("{ }").unwrap(), ("settings.json.fp-backup.2".into(), true));
        assert_eq!(fs::read_to_string(folder.path().join("settings.json.fp-backup")).unwrap(), "{}");
        for name in ["settings.json.fp-backup", "settings.json.fp-backup.12"] {
            assert_eq!(settings.backup(name), Some(folder.path().join(name)));
        }
        for name in ["settings.json", "../settings.json.fp-backup", "settings.json.fp-backup/../x", ""] {
            assert_eq!(settings.backup(name), None, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (settings, target) = (file(&folder), elsewhere.path().join("mine.json"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        symlink(&target, settings.path()).unwrap();
        assert!(settings.read().is_err(), "a link that leads nowhere is not overwritten");
        fs::write(&target, "{}").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        settings.write("{\"a\": 1}").unwrap();
        assert!(settings.path().symlink_metadata().unwrap().is_symlink());
        assert_eq!((fs::read_to_string(&target).unwrap().as_str(), mode(&target)), ("{\"a\": 1}", 0o600));
        let (copy, _) = settings.back_up("{\"a\": 1}").unwrap();
        assert_eq!(mode(&folder.path().join(copy)), 0o600, "a copy is as private as the file");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o400)).unwrap();
        let refusal = settings.check_writable().unwrap_err();
        assert_eq!(
            refusal.to_string(),
            format!("{} can't be written: permission denied", settings.path().display())
        );
    }
}
