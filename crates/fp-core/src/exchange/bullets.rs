//! The list below a line of Spec Kit's: an entry for each field that the line has no room for, read as it was written.
//!
//! A text stands there as it is, where it is no markup and can't be read as anything else, and otherwise as JSON. So
//! the value of an entry is JSON if it can be read as that, and else a text.

use serde_json::{Map, Value};

use super::portable::{PortableFile, PortableTask};
use super::rest::KEY;
use crate::markdown;

/// What the task waits for, by the names of the page.
pub(crate) const WAITS: &str = "depends on";
/// What it waits for that waits for nothing.
const NONE: &str = "none";
/// The fields of a portable task that stand in the list, in their order.
const FIELDS: [&str; 14] = [
    "description",
    "complexity",
    "acceptance",
    "files",
    "hints",
    "references",
    "guardrails",
    "testsRequired",
    "testCommands",
    "verify",
    "covers",
    "group",
    "risk",
    "priority",
];

/// The list for `task`, which waits for `names`, with what is kept beside.
pub(crate) fn write(text: &mut String, task: &PortableTask, names: &[String], kept: Option<Value>) {
    if task.dependencies.is_some() {
        let list = if names.is_empty() { NONE.to_owned() } else { names.join(", ") };
        text.push_str(&format!("  - {WAITS}: {}\n", written(&list)));
    }
    let Ok(Value::Object(fields)) = serde_json::to_value(task) else { return };
    for name in FIELDS {
        let Some(value) = fields.get(name) else { continue };
        text.push_str(&format!("  - {name}:"));
        match value {
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                for item in items {
                    let file = serde_json::from_value(item.clone()).ok().and_then(|file| on_a_line(&file));
                    text.push_str(&format!("    - {}\n", file.unwrap_or_else(|| entry(item))));
                }
            }
            value => text.push_str(&format!(" {}\n", entry(value))),
        }
    }
    if let Some(kept) = kept {
        text.push_str(&format!("  - {KEY}: {}\n", entry(&kept)));
    }
}

/// What a list says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Read {
    /// Fields of a portable task, by name; and what is kept beside, by [`KEY`].
    pub(crate) fields: Map<String, Value>,
    /// What the task waits for.
    pub(crate) names: Option<Vec<String>>,
    /// Which list is open.
    open: Option<String>,
}

impl Read {
    /// Takes the next line below a task; `false` where it is no part of such a list.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        if let (Some(item), Some(open)) = (line.strip_prefix("    - "), self.open.as_ref()) {
            let item = match (value(item), open.as_str()) {
                (Value::String(text), "files") => {
                    serde_json::to_value(PortableFile::from(&*text)).unwrap_or_default()
                }
                (item, _) => item,
            };
            if let Some(Value::Array(items)) = self.fields.get_mut(open) {
                items.push(item);
            }
            return true;
        }
        let Some((name, text)) = line.strip_prefix("  - ").and_then(|entry| entry.split_once(':')) else {
            return false;
        };
        self.open = None;
        match name {
            WAITS => {
                let list = read_inline(text.trim());
                let names = list.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != NONE);
                self.names = Some(names.map(str::to_owned).collect());
            }
            name if name == KEY || FIELDS.contains(&name) => {
                let value = match text.trim() {
                    "" => {
                        self.open = Some(name.to_owned());
                        Value::Array(Vec::new())
                    }
                    text => value(text),
                };
                self.fields.insert(name.to_owned(), value);
            }
            _ => return false,
        }
        true
    }

    /// Whether there was a list.
    pub(crate) fn is_list(&self) -> bool {
        self.names.is_some() || !self.fields.is_empty()
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| read_inline(text).into())
}

/// The title with the files behind it, unless it names the first of them already.
pub(crate) fn titled(title: &str, files: Option<&[PortableFile]>) -> String {
    match files {
        Some(files @ [first, ..]) if !title.contains(&first.path) => format!("{title}{}", behind(files)),
        _ => title.to_owned(),
    }
}

/// The title that [`titled`] has made `line` of.
pub(crate) fn untitled(line: &str, files: Option<&[PortableFile]>) -> String {
    let title = files.and_then(|files| line.strip_suffix(&behind(files)));
    title.filter(|title| titled(title, files) == line).unwrap_or(line).to_owned()
}

fn behind(files: &[PortableFile]) -> String {
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    format!(" in {}", paths.join(", "))
}

/// A file as its path with its note, where that can be read back.
fn on_a_line(file: &PortableFile) -> Option<String> {
    let text = file.to_string();
    let line = entry(&Value::from(text.as_str()));
    (PortableFile::from(&*text) == *file && !line.starts_with(['"', '{'])).then_some(line)
}

/// A text on one line, or JSON.
fn entry(value: &Value) -> String {
    if let Value::String(text) = value {
        let line = written(text);
        if !text.is_empty() && serde_json::from_str::<Value>(&line).is_err() && read_inline(&line) == *text {
            return line;
        }
    }
    // Within JSON a sign of Markdown is one too, and can be written otherwise.
    value.to_string().replace('<', "\\u003c").replace('`', "\\u0060")
}

/// `text` on one line, without markup but its code spans.
pub(crate) fn written(text: &str) -> String {
    let line = text.split(['\n', '\r']).collect::<Vec<_>>().join(" ");
    let mut written = String::new();
    markdown::inline(&mut written, line.trim()).expect("a text takes whatever is written to it");
    written
}

/// The text that was [`written`] as `line`.
pub(crate) fn read_inline(line: &str) -> String {
    let mut text = String::new();
    for (part, is_code) in markdown::spans(line) {
        let mut escaped = false;
        for c in part.chars() {
            if c == '\\' && !is_code && !escaped {
                escaped = true;
            } else {
                text.push(c);
                escaped = false;
            }
        }
    }
    text
}
