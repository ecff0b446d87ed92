//! What an installation has changed in settings files, kept beside the bundle, so that an uninstallation takes out
//! that and nothing else.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fp_core::client_settings::Trace;
use fp_core::hint::Hint;
use serde::{Deserialize, Serialize};

use super::settings_file::SettingsFile;
use crate::file::{self, FileError};

/// Version of the format of `installed.json`.
const SCHEMA: u32 = 1;
/// Largest record that is read, in bytes.
const CAP: u64 = 8 * 1024 * 1024;

/// Why the record was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system refused, or it is no text.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not what this program writes.
    #[error("{} is not a record of an installation: {detail}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
}

impl Hint for RecordError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::File(error) => return error.hint().or(Some("check the file".into())),
            Self::Broken { .. } => {
                "remove the file and run this again; what fp added to settings is then yours to remove".into()
            }
        })
    }
}

/// Writing the bundle will say it, with the way out.
fn is_in_no_folder(error: &FileError) -> bool {
    matches!(error, FileError::Read { source, .. } if source.kind() == io::ErrorKind::NotADirectory)
}

/// All settings files that were changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    schema_version: u32,
    /// One entry a file.
    pub settings: Vec<ChangedSettings>,
}

/// A settings file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangedSettings {
    /// Where it is.
    pub file: PathBuf,
    /// Name of the copy from before the first change, beside it; `None` where there was no file.
    pub backup: Option<String>,
    /// What was added to it.
    pub added: Trace,
}

impl Default for Record {
    fn default() -> Self {
        Self { schema_version: SCHEMA, settings: Vec::new() }
    }
}

impl Record {
    /// Reads the record at `path`; an empty one where there is none.
    ///
    /// # Errors
    /// It can't be read, or is not what this program writes.
    pub fn load(path: &Path) -> Result<Self, RecordError> {
        let text = match file::read_text(path, CAP) {
            Ok(text) => text,
            Err(error) if error.is_missing() || is_in_no_folder(&error) => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        let broken = |detail: String| RecordError::Broken { path: path.to_owned(), detail };
        let record: Self = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        if record.schema_version != SCHEMA {
            return Err(broken(format!(
                "its format is {}, and this fp knows {SCHEMA}",
                record.schema_version
            )));
        }
        Ok(record)
    }

    /// Writes it to `path`; one that is empty is no file.
    ///
    /// # Errors
    /// It can't be written or removed.
    pub fn save(&self, path: &Path) -> Result<(), RecordError> {
        if !self.settings.is_empty() {
            // A path that is no text can't be told in JSON.
            let text = serde_json::to_string_pretty(self)
                .map_err(|error| RecordError::Broken { path: path.to_owned(), detail: error.to_string() })?;
            return Ok(file::atomic_write(path, (text + "\n").as_bytes())?);
        }
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(FileError::Write { path: path.to_owned(), source }.into())
            }
            _ => Ok(()),
        }
    }

    /// What is said of `file`.
    #[must_use]
    pub fn of(&self, file: &SettingsFile) -> Option<&ChangedSettings> {
        self.settings.iter().find(|changed| changed.file == file.path())
    }

    /// Takes in a change. Of a file that was changed before, the copy from before the first change counts.
    pub fn add(&mut self, new: ChangedSettings) {
        match self.settings.iter_mut().find(|changed| changed.file == new.file) {
            Some(changed) => changed.added.extend(new.added),
            None => self.settings.push(new),
        }
    }
}
