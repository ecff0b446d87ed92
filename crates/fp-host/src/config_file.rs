//! People edit settings files by hand, so a fault is reported with its line and column, and changing one
//! setting leaves the rest of the text alone.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use fp_plan::hint::Hint;
use fp_plan::settings::{SCHEMA_URL, SettingFault, SettingKind, SettingsLayer, kind_of};
use fp_plan::text::json_fault;
use jsonc_parser::ast;
use serde_json::{Value, json};

use crate::file::{self, FileError};
use crate::json_text;
use crate::platform;

/// Size limit of a settings file, in bytes.
const CAP: u64 = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(transparent)]
    File(#[from] FileError),
    /// Line and column count from 1.
    #[error("{}:{line}:{column}: not JSON: {detail}", path.display())]
    Syntax {
        path: PathBuf,
        line: usize,
        column: usize,
        detail: String,
    },
    /// Line and column are those of the key or the value.
    #[error("{}:{line}:{column}: {fault}", path.display())]
    Setting {
        path: PathBuf,
        line: usize,
        column: usize,
        fault: SettingFault,
    },
    /// A key or a value from the command line.
    #[error(transparent)]
    Given(#[from] SettingFault),
}

impl Hint for ConfigError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let (fault, otherwise) = match self {
            Self::File(error) => return error.hint(),
            Self::Syntax { .. } => {
                return Some(
                    "look for a missing or extra comma, quote or bracket just before it".into(),
                );
            }
            Self::Setting { fault, .. } => (
                fault,
                "correct the value, or delete the line for the default",
            ),
            Self::Given(fault) => (
                fault,
                "nothing was written; `fp config schema` says what each setting takes",
            ),
        };
        Some(match fault {
            SettingFault::Unknown {
                meant: Some(meant), ..
            }
            | SettingFault::Value {
                meant: Some(meant), ..
            } => format!("did you mean `{meant}`?").into(),
            SettingFault::Unknown { .. } => "`fp config` lists every setting".into(),
            SettingFault::Group { keys, .. } => {
                format!("name one of them: {}", keys.join(", ")).into()
            }
            SettingFault::Value { .. } => otherwise.into(),
        })
    }
}

impl ConfigError {
    /// A fault in `text`, the content of `path`.
    pub(crate) fn in_text(path: &Path, text: &str, fault: SettingFault) -> Self {
        let at_key = matches!(fault, SettingFault::Unknown { .. });
        let offset = offset_of(text, fault.path(), at_key).unwrap_or(0);
        let (line, column) = line_and_column(text, offset);
        Self::Setting {
            path: path.to_owned(),
            line,
            column,
            fault,
        }
    }
}

/// Reads the layer in the file `path`; `None` if there is no such file.
///
/// # Errors
/// The file can't be read, or has an entry that is no setting.
pub fn read_layer(path: &Path) -> Result<Option<SettingsLayer>, ConfigError> {
    if fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let text = file::read_text(path, CAP)?;
    parse_layer(path, text.strip_prefix('\u{feff}').unwrap_or(&text)).map(Some)
}

/// Parses `text`, the content of `path`.
pub(crate) fn parse_layer(path: &Path, text: &str) -> Result<SettingsLayer, ConfigError> {
    let value: Value = serde_json::from_str(text).map_err(|fault| {
        let (line, column, detail) = json_fault(&fault);
        // A parser that stops at a newline reports the beginning of the next line.
        let (line, column) = match text.lines().nth(line.saturating_sub(2)) {
            Some(before) if column == 0 && line > 1 => (line - 1, before.chars().count() + 1),
            _ => (line, column.max(1)),
        };
        ConfigError::Syntax {
            path: path.to_owned(),
            line,
            column,
            detail: detail.to_lowercase(),
        }
    })?;
    if let Some(ast::Value::Object(root)) = parsed(text)
        && let Some((keys, offset)) = repeated_key(&root, &[])
    {
        let (line, column) = line_and_column(text, offset);
        let fault = SettingFault::Value {
            path: keys,
            detail: "given twice".into(),
            meant: None,
        };
        return Err(ConfigError::Setting {
            path: path.to_owned(),
            line,
            column,
            fault,
        });
    }
    SettingsLayer::parse(&value).map_err(|fault| ConfigError::in_text(path, text, fault))
}

fn parsed(text: &str) -> Option<ast::Value<'_>> {
    jsonc_parser::parse_to_ast(text, &Default::default(), &json_text::STRICT)
        .ok()?
        .value
}

/// The first repeated key, with the offset of its second occurrence.
fn repeated_key(object: &ast::Object<'_>, above: &[String]) -> Option<(Vec<String>, usize)> {
    object
        .properties
        .iter()
        .enumerate()
        .find_map(|(index, property)| {
            let name = property.name.as_str();
            let path = [above, &[name.to_owned()]].concat();
            if object.properties[..index]
                .iter()
                .any(|earlier| earlier.name.as_str() == name)
            {
                return Some((path, property.range.start));
            }
            property
                .value
                .as_object()
                .and_then(|inner| repeated_key(inner, &path))
        })
}

/// The offset in `text` of the value at `path`, or of its key.
fn offset_of(text: &str, path: &[String], at_key: bool) -> Option<usize> {
    use jsonc_parser::common::Ranged as _;
    let root = parsed(text)?;
    let (mut value, mut offset) = (&root, root.start());
    for step in path {
        if let ast::Value::Array(list) = value {
            value = list
                .elements
                .get(step.trim_matches(['[', ']']).parse::<usize>().ok()?)?;
            offset = value.start();
        } else {
            let property = value.as_object()?.get(step)?;
            value = &property.value;
            offset = if at_key {
                property.start()
            } else {
                value.start()
            };
        }
    }
    Some(offset)
}

/// Line and column of `offset`, from 1, in characters.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[start..].chars().count() + 1,
    )
}

/// Parses `word` from the command line as a value of the setting `key`: text stays as it is, a list is JSON
/// or separated by commas, everything else is JSON. Returns `None` for `null`, which no setting can have.
///
/// # Errors
/// `key` is no setting.
pub fn parse_value(key: &str, word: &str) -> Result<Option<Value>, ConfigError> {
    let kind = kind_of(key)?;
    if word == "null" {
        return Ok(None);
    }
    let as_json = || serde_json::from_str(word).ok();
    Ok(Some(match kind {
        SettingKind::Text
        | SettingKind::Name
        | SettingKind::Folder
        | SettingKind::Choice(_)
        | SettingKind::Amount => word.into(),
        SettingKind::Texts => {
            let parts = || {
                word.split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty())
            };
            as_json()
                .filter(Value::is_array)
                .unwrap_or_else(|| parts().collect())
        }
        SettingKind::Flag
        | SettingKind::Whole(..)
        | SettingKind::Number(..)
        | SettingKind::Group(_)
        | SettingKind::Rows(_)
        | SettingKind::Named(_) => as_json().unwrap_or_else(|| word.into()),
    }))
}

/// Sets `key` to `value` in the file `path`, or removes it if `value` is `None`. Creates a missing file and
/// follows a link. Returns true if the file changed.
///
/// # Errors
/// `key` is no setting or can't have that value, the file is already invalid, or it can't be written. The
/// file is then unchanged.
pub fn change_setting(path: &Path, key: &str, value: Option<&Value>) -> Result<bool, ConfigError> {
    match value {
        Some(value) => SettingsLayer::default().set(key, value.clone())?,
        None => drop(kind_of(key)?),
    }
    let there = file::read_text_if_there(path, CAP)?;
    let old = match &there {
        Some(text) => text.clone(),
        None if value.is_none() => return Ok(false),
        None => empty(),
    };
    let body = old.strip_prefix('\u{feff}').unwrap_or(&old);
    parse_layer(path, body)?;
    let mut all: Value = serde_json::from_str(body).expect("it was read just now");
    match value {
        Some(value) => {
            *key.split('.')
                .fold(&mut all, |group, name| &mut group[name]) = value.clone()
        }
        None => take_out(&mut all, key),
    }
    let new = json_text::rewrite(&old, &all).expect("no key is there twice");
    if there.is_some() && new == old {
        return Ok(false);
    }
    write(path, &new)?;
    Ok(true)
}

/// Removes the setting, and the groups that this leaves empty.
fn take_out(fields: &mut Value, key: &str) {
    let Value::Object(fields) = fields else {
        return;
    };
    match key.split_once('.') {
        None => drop(fields.remove(key)),
        Some((name, rest)) => {
            if let Some(group) = fields.get_mut(name) {
                take_out(group, rest);
                if *group == json!({}) {
                    fields.remove(name);
                }
            }
        }
    }
}

/// The text of a file that sets nothing.
fn empty() -> String {
    format!("{:#}\n", json!({ "$schema": SCHEMA_URL }))
}

fn write(path: &Path, text: &str) -> Result<(), FileError> {
    let real = platform::real_path(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = real.parent() {
        fs::create_dir_all(folder).map_err(|source| FileError::Write {
            path: path.to_owned(),
            source,
        })?;
    }
    file::atomic_write(&real, text.as_bytes())
}
