//! What is wrong with a configuration file, where, and what would be right.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use fp_core::hint::Hint;

use super::place;
use crate::file::FileError;

/// Why a configuration file is not used. [`ConfigError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is nothing in it.
    #[error("{} is empty, which is not JSON", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is not JSON.
    #[error("{}:{line}:{column}: not JSON: {detail}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the parser said.
        detail: String,
    },
    /// A setting has a value that it can't have.
    #[error("{}:{line}:{column}: {key}: {detail}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Line of the value, from 1.
        line: usize,
        /// Its column, from 1.
        column: usize,
        /// The setting, dotted.
        key: String,
        /// What was expected and what was found.
        detail: String,
        /// The choice that was probably meant.
        meant: Option<String>,
    },
    /// There is no such setting.
    #[error("{}:{line}:{column}: there is no setting `{key}`", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// Line of the key, from 1.
        line: usize,
        /// Its column, from 1.
        column: usize,
        /// The key, dotted.
        key: String,
        /// The setting that was probably meant, dotted.
        meant: Option<String>,
    },
}

impl ConfigError {
    /// What `fault`, met at the dotted `key` of `text`, means for the reader of `path`.
    pub(super) fn new(path: &Path, text: &str, key: &str, fault: &serde_json::Error) -> Self {
        let path = path.to_owned();
        let (line, column) = (fault.line(), fault.column());
        let whole = fault.to_string();
        let detail = whole.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&whole);
        if !fault.is_data() {
            let (line, column) = place::of_fault(text, line, column);
            return Self::Syntax { path, line, column, detail: detail.to_lowercase() };
        }
        if let Some((unknown, known)) = unknown_name(detail, "unknown field ") {
            let group = key.strip_suffix(&unknown).unwrap_or("");
            let (line, column) =
                place::of(text, &format!("{group}{unknown}"), true).unwrap_or((line, column));
            let meant = closest(&unknown, &known).map(|name| format!("{group}{name}"));
            return Self::UnknownKey { path, line, column, key: format!("{group}{unknown}"), meant };
        }
        let key_shown = if matches!(key, "" | ".") { "the file".to_owned() } else { key.to_owned() };
        if detail.starts_with("duplicate field") {
            return Self::Value { path, line, column, key: key_shown, detail: detail.into(), meant: None };
        }
        let (line, column) = place::of(text, key, false).unwrap_or((line, column));
        let (detail, meant) = match unknown_name(detail, "unknown variant ") {
            Some((unknown, known)) => {
                let choices: Vec<_> = known.iter().map(|choice| format!("`{choice}`")).collect();
                (format!("`{unknown}` is none of {}", choices.join(", ")), closest(&unknown, &known))
            }
            None => (expected_and_found(detail), None),
        };
        Self::Value { path, line, column, key: key_shown, detail, meant }
    }
}

impl Hint for ConfigError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::File(error) => return error.hint(),
            Self::Empty { .. } => "write `{}` into it, or delete it".into(),
            Self::Syntax { .. } => {
                "look for a missing or extra comma, quote or bracket just before it".into()
            }
            Self::Value { meant: Some(meant), .. } | Self::UnknownKey { meant: Some(meant), .. } => {
                format!("did you mean `{meant}`?").into()
            }
            Self::Value { .. } => "correct the value, or delete the line for the default".into(),
            Self::UnknownKey { .. } => "`fp config` lists every setting".into(),
        })
    }
}

/// The name in backquotes behind `prefix`, and those that were expected.
fn unknown_name(detail: &str, prefix: &str) -> Option<(String, Vec<String>)> {
    let (unknown, expected) = detail.strip_prefix(prefix)?.split_once(", ")?;
    let known = expected.split('`').skip(1).step_by(2).filter(|name| !name.starts_with('$'));
    Some((unknown.trim_matches('`').to_owned(), known.map(Into::into).collect()))
}

/// The one of `known` that `name` was probably meant to be.
pub(super) fn closest(name: &str, known: &[String]) -> Option<String> {
    let like = |other: &String| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.iter().max_by(|a, b| like(a).total_cmp(&like(b)))?;
    (like(best) > 0.8).then(|| best.clone())
}

/// Turns serde's "invalid type: A, expected B" around, and into JSON's words.
fn expected_and_found(detail: &str) -> String {
    let parts = detail.strip_prefix("invalid type: ").or_else(|| detail.strip_prefix("invalid value: "));
    match parts.and_then(|parts| parts.rsplit_once(", expected ")) {
        Some((found, expected)) => {
            let json = |word: &str| match word {
                "map" => "an object".to_owned(),
                "sequence" => "a list".to_owned(),
                "a sequence" => "a list".to_owned(),
                other => other.to_owned(),
            };
            format!("expected {}, found {}", json(expected), json(found))
        }
        None => detail.to_owned(),
    }
}
