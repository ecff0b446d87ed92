//! The files of a folder, with those in JSON parsed once for all formats.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{ImportError, Source};
use crate::exchange::folder::Folder;
use crate::exchange::notice::{Kind, Notice};

/// What an editor of Windows puts in front of a text.
const BOM: char = '\u{feff}';

/// The files of a folder.
pub(super) struct Documents<'f> {
    folder: &'f Folder,
    json: BTreeMap<&'f str, Result<Value, Notice>>,
}

impl<'f> Documents<'f> {
    pub(super) fn of(folder: &'f Folder) -> Self {
        let json = folder.iter().filter(|(path, _)| has_extension(path, "json"));
        Self { folder, json: json.map(|(path, text)| (path, parsed(path, text))).collect() }
    }

    /// All files: path and text without a byte-order mark.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'f str, &'f str)> {
        self.folder.iter().map(|(path, text)| (path, text.trim_start_matches(BOM)))
    }

    /// Those with this extension.
    pub(super) fn files_in(&self, extension: &str) -> impl Iterator<Item = (&'f str, &'f str)> {
        self.files().filter(move |(path, _)| has_extension(path, extension))
    }

    /// The text of the file `name` in `folder`, whatever its case.
    pub(super) fn text(&self, folder: &str, name: &str) -> Option<(&'f str, &'f str)> {
        self.files().find(|(path, _)| folder_of(path) == folder && name_of(path).eq_ignore_ascii_case(name))
    }

    /// The JSON files that can be read.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'f str, &Value)> {
        self.json.iter().filter_map(|(path, value)| Some((*path, value.as_ref().ok()?)))
    }

    /// The JSON files that can be read and are objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = (&'f str, &Map<String, Value>)> {
        self.values().filter_map(|(path, value)| Some((path, value.as_object()?)))
    }

    /// What is wrong with the JSON files that can't be read.
    pub(super) fn broken(&self) -> impl Iterator<Item = (&'f str, &Notice)> {
        self.json.iter().filter_map(|(path, value)| Some((*path, value.as_ref().err()?)))
    }

    pub(super) fn first_broken(&self) -> Option<ImportError> {
        self.broken().next().map(|(_, notice)| ImportError::Broken(notice.clone()))
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    name_of(path).rsplit_once('.').is_some_and(|(_, found)| found.eq_ignore_ascii_case(extension))
}

fn parsed(path: &str, text: &str) -> Result<Value, Notice> {
    serde_json::from_str(text.trim_start_matches(BOM)).map_err(|fault| not_json(&fault).in_file(path))
}

/// What is wrong with a text that should be JSON, with its place in it.
pub(super) fn not_json(fault: &serde_json::Error) -> Notice {
    let (line, column) = (fault.line(), fault.column());
    let whole = fault.to_string();
    let detail = whole.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&whole);
    let notice = Notice::new(Kind::Broken, format!("not valid JSON: {detail}"));
    Notice { line: Some(line.max(1)), column: Some(column.max(1)), ..notice }
}

/// The part of a path before its last `/`; empty for a file at the top.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The part of a path behind its last `/`.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The only one of `folders`.
///
/// # Errors
/// There are several, or none.
pub(super) fn only<'f>(
    source: Source,
    folders: impl IntoIterator<Item = &'f str>,
) -> Result<&'f str, ImportError> {
    let folders: Vec<&str> = folders.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    match folders[..] {
        [] => Err(ImportError::NoTask(source)),
        [folder] => Ok(folder),
        _ => Err(ImportError::several_plans(source, &folders)),
    }
}
