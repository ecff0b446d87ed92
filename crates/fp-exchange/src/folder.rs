//! The files of another system's plan, already read by the caller.

use std::collections::BTreeMap;

use fp_plan::text::json_fault;
use serde_json::{Map, Value};

use crate::portable::ImportNotice;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Text files by their path within the imported folder, with `/` between the parts. A single file is treated as a
/// folder with one file. JSON is parsed once for all formats.
#[derive(Debug, Default)]
pub struct SourceFolder {
    texts: BTreeMap<String, String>,
    json: BTreeMap<String, Result<Value, ImportNotice>>,
}

impl<P: Into<String>, T: Into<String>> FromIterator<(P, T)> for SourceFolder {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        let mut folder = Self::default();
        for (path, text) in files {
            let (path, mut text): (String, String) = (path.into(), text.into());
            if text.starts_with(BYTE_ORDER_MARK) {
                text.remove(0);
            }
            if has_extension(&path, "json") {
                let value = serde_json::from_str(&text);
                folder.json.insert(
                    path.clone(),
                    value.map_err(|fault| not_json(&fault).in_file(&path)),
                );
            }
            folder.texts.insert(path, text);
        }
        folder
    }
}

impl SourceFolder {
    pub fn file_text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Path and text of the files with this extension.
    pub(crate) fn files_in(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        let files = self
            .texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()));
        files.filter(move |(path, _)| has_extension(path, extension))
    }

    /// The paths of the pages with tasks, according to `has_tasks`: those named `tasks.md`, or the page itself if there
    /// is only one.
    pub(crate) fn task_pages(&self, has_tasks: impl Fn(&str) -> bool) -> Vec<&str> {
        let alone = self.files_in("md").count() == 1;
        let is_named = |path: &str| alone || name_of(path).eq_ignore_ascii_case("tasks.md");
        let pages = self
            .files_in("md")
            .filter(|(path, text)| is_named(path) && has_tasks(text));
        pages.map(|(path, _)| path).collect()
    }

    /// The page `name` in `folder`, ignoring case.
    pub(crate) fn page(&self, folder: &str, name: &str) -> Option<(&str, &str)> {
        self.files_in("md")
            .find(|(path, _)| folder_of(path) == folder && name_of(path).eq_ignore_ascii_case(name))
    }

    /// The unchanged text of each page in `folder`, by page name.
    pub(crate) fn pages_of(&self, folder: &str) -> Map<String, Value> {
        let pages = self
            .files_in("md")
            .filter(|(path, _)| folder_of(path) == folder);
        pages
            .map(|(path, text)| (name_of(path).to_owned(), text.into()))
            .collect()
    }

    pub(crate) fn value(&self, path: &str) -> Option<&Value> {
        self.json.get(path)?.as_ref().ok()
    }

    pub(crate) fn objects(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        let values = self.json.iter();
        values.filter_map(|(path, value)| Some((path.as_str(), value.as_ref().ok()?.as_object()?)))
    }

    /// The paths of the JSON files with an object that `is_plan` takes for a plan.
    pub(crate) fn plan_objects(&self, is_plan: fn(&Map<String, Value>) -> bool) -> Vec<&str> {
        let plans = self.objects().filter(|(_, map)| is_plan(map));
        plans.map(|(path, _)| path).collect()
    }

    /// The object in the JSON file `name` of `folder`.
    pub(crate) fn object(&self, folder: &str, name: &str) -> Option<&Map<String, Value>> {
        self.objects()
            .find(|(path, _)| folder_of(path) == folder && name_of(path) == name)
            .map(|(_, map)| map)
    }

    /// True if none of the files can be read.
    pub fn is_broken(&self) -> bool {
        self.texts.len() == self.broken().count()
    }

    /// The JSON files that can't be read, each with a notice of the problem.
    pub(crate) fn broken(&self) -> impl Iterator<Item = (&str, &ImportNotice)> {
        self.json
            .iter()
            .filter_map(|(path, value)| Some((path.as_str(), value.as_ref().err()?)))
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    name_of(path)
        .rsplit_once('.')
        .is_some_and(|(_, found)| found.eq_ignore_ascii_case(extension))
}

/// The notice for text that isn't valid JSON, with the position of the error.
pub(crate) fn not_json(fault: &serde_json::Error) -> ImportNotice {
    let (line, column, detail) = json_fault(fault);
    let notice = ImportNotice::new(format!("not valid JSON: {detail}"));
    notice.at_place(line.max(1), column.max(1))
}

/// The part of a path before its last `/`; empty for a file at the top.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The part of a path after its last `/`.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
