//! Changes one setting in a configuration file, and leaves the rest of the file as people wrote it. What the file
//! would then say is read as it will be, before anything is written, so that no command makes a file that the next one
//! refuses.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use fp_core::hint::Hint;
use fp_core::settings::{SCHEMA_URL, Settings, schema_of};
use serde_json::{Value, json};

use super::error::closest;
use super::{CAP, ConfigError, flat, parse};
use crate::file::{self, FileError};
use crate::json_edit;

/// Why a setting was not changed. [`ChangeError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// There is no such setting.
    #[error("there is no setting `{key}`")]
    UnknownKey {
        /// What was asked for.
        key: String,
        /// The setting that was probably meant.
        meant: Option<String>,
    },
    /// It is a group of settings.
    #[error("`{key}` is a group of settings")]
    Group {
        /// The group.
        key: String,
        /// The settings in it.
        keys: Vec<String>,
    },
    /// It can't have that value.
    #[error("{key}: {detail}")]
    Value {
        /// The setting.
        key: String,
        /// What was expected and what was found.
        detail: String,
        /// The choice that was probably meant.
        meant: Option<String>,
    },
    /// The file was wrong before.
    #[error(transparent)]
    File(#[from] ConfigError),
}

impl From<FileError> for ChangeError {
    fn from(error: FileError) -> Self {
        Self::File(error.into())
    }
}

impl Hint for ChangeError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::UnknownKey { meant: Some(meant), .. } | Self::Value { meant: Some(meant), .. } => {
                format!("did you mean `{meant}`?").into()
            }
            Self::UnknownKey { .. } => "`fp config` lists every setting".into(),
            Self::Group { keys, .. } => format!("name one of them: {}", keys.join(", ")).into(),
            Self::Value { .. } => {
                "nothing was written; `fp config schema` says what each setting takes".into()
            }
            Self::File(error) => return error.hint(),
        })
    }
}

/// Makes sure that `key`, dotted, is a setting.
///
/// # Errors
/// It is none, or a group of settings.
pub fn is_known(key: &str) -> Result<(), ChangeError> {
    schema_of_setting(key).map(drop)
}

/// The schema of the setting `key`.
fn schema_of_setting(key: &str) -> Result<Value, ChangeError> {
    let keys = || flat(&Settings::default()).into_iter().map(|(key, _)| key);
    match schema_of(key) {
        Some(schema) if schema.get("properties").is_none() => Ok(schema),
        Some(_) => {
            let within = format!("{key}.");
            let keys = keys().filter(|other| other.starts_with(&within)).collect();
            Err(ChangeError::Group { key: key.to_owned(), keys })
        }
        None => {
            let meant = closest(key, &keys().collect::<Vec<_>>());
            Err(ChangeError::UnknownKey { key: key.to_owned(), meant })
        }
    }
}

/// The value that `word`, from a command line, is for the setting `key`: a text stays as it is, a list is JSON or has
/// commas, everything else is JSON. `None` for `null`, which no setting is set to. That the setting can have it shows
/// when it is set.
///
/// # Errors
/// `key` is no setting.
pub fn parse_value(key: &str, word: &str) -> Result<Option<Value>, ChangeError> {
    let schema = schema_of_setting(key)?;
    if word == "null" {
        return Ok(None);
    }
    let takes = |kind: &str| schema["type"].as_array().is_some_and(|kinds| kinds.contains(&kind.into()));
    let as_json = || serde_json::from_str(word).ok();
    let text = || Value::from(word);
    Ok(Some(if takes("string") {
        text()
    } else if takes("array") {
        let parts = || word.split(',').map(str::trim).filter(|part| !part.is_empty());
        as_json().filter(Value::is_array).unwrap_or_else(|| parts().collect())
    } else {
        as_json().unwrap_or_else(text)
    }))
}

/// Makes `value` what the file `path` says for the setting `key`; for `None`, has it say nothing. Makes the file where
/// there is none. Says whether that changed the file. A link at `path` is followed.
///
/// # Errors
/// `key` is no setting or can't have that value; the file is wrong already, or can't be written. It is then as it was.
pub fn change(path: &Path, key: &str, value: Option<&Value>) -> Result<bool, ChangeError> {
    is_known(key)?;
    let there = file::read_text_if_there(path, CAP)?;
    let old = match &there {
        Some(text) => text.strip_prefix('\u{feff}').unwrap_or(text).to_owned(),
        None if value.is_none() => return Ok(false),
        None => empty(),
    };
    parse(path, &old)?;
    let keys: Vec<&str> = key.split('.').collect();
    let new = match value {
        Some(value) => json_edit::set(&old, &keys, value),
        None => json_edit::unset(&old, &keys),
    };
    let new = new.expect("what was read as settings is an object of objects");
    parse(path, &new).map_err(of_value)?;
    if there.is_some() && new == old {
        return Ok(false);
    }
    let mark = if there.is_some_and(|text| text.starts_with('\u{feff}')) { "\u{feff}" } else { "" };
    write(path, &format!("{mark}{new}"))?;
    Ok(true)
}

/// Makes the file `path`, with nothing in it but where its schema is, if it is not there.
///
/// # Errors
/// It can't be written.
pub fn create(path: &Path) -> Result<(), FileError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(()),
        Err(_) => write(path, &empty()),
    }
}

/// A file that sets nothing.
fn empty() -> String {
    format!("{:#}\n", json!({ "$schema": SCHEMA_URL }))
}

/// A fault of a value, without the place that it would have had in the file.
fn of_value(error: ConfigError) -> ChangeError {
    match error {
        ConfigError::Value { key, detail, meant, .. } => ChangeError::Value { key, detail, meant },
        error => ChangeError::File(error),
    }
}

fn write(path: &Path, text: &str) -> Result<(), FileError> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = real.parent() {
        fs::create_dir_all(folder).map_err(|source| FileError::Write { path: path.to_owned(), source })?;
    }
    file::atomic_write(&real, text.as_bytes())
}
