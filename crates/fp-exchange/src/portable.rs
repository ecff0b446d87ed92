//! A plan independent of any system, with the notices of its import.

use std::fmt;

use fp_plan::plan::{FieldForm, FieldKind, Item, TaskFields};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct PortablePlan {
    /// One line.
    pub title: String,
    pub goal: Option<String>,
    /// Parents before their children, otherwise in the order of the source.
    pub tasks: Vec<PortableTask>,
    /// Anything else in the source about the plan, keyed by the source's own names.
    pub ext: Map<String, Value>,
    /// Notices from its import.
    pub notices: Vec<ImportNotice>,
}

impl PortablePlan {
    /// Reports a problem with the plan as a whole.
    pub(crate) fn add_notice(&mut self, text: impl Into<String>) {
        self.notices.push(ImportNotice::new(text));
    }

    /// Reports a problem in the file `path`.
    pub(crate) fn add_notice_in(&mut self, path: &str, text: impl Into<String>) {
        self.notices.push(ImportNotice::new(text).in_file(path));
    }
}

/// A leaf, or a parent that only holds other tasks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PortableTask {
    /// The id as written in the source.
    pub id: String,
    /// The position of its parent among the tasks.
    pub parent: Option<usize>,
    /// One line.
    pub title: String,
    /// Its other fields. A list is absent if the source doesn't mention it, and empty if the source says that there is
    /// nothing.
    pub fields: TaskFields<'static>,
    /// Ids as the source writes them.
    pub dependencies: Option<Vec<String>>,
    /// Ids of tasks that come before this one although it doesn't need them.
    pub after: Option<Vec<String>>,
    pub work: TaskWork,
    /// Anything else in the source about the task, keyed by the source's own names.
    pub ext: Map<String, Value>,
}

impl PortableTask {
    /// Adds texts to a field.
    pub(crate) fn add_texts(&mut self, kind: FieldKind, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            let field = self.fields.slot(kind).get_or_insert_default();
            field.items.push(text_item(text));
        }
    }

    /// Adds a line to the description.
    pub(crate) fn add_line(&mut self, line: &str) {
        let description = self.fields.slot(FieldKind::Description);
        let items = &mut description.get_or_insert_default().items;
        match items.first_mut() {
            Some(text) => text.text.to_mut().extend(["\n", line.trim()]),
            None => items.push(text_item(line.trim().to_owned())),
        }
    }

    /// The task in the format `json`, without its parent.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let fields = FieldKind::ALL.into_iter();
        let fields = fields.filter_map(|kind| Some((kind.key(), self.field_json(kind)?)));
        let mut json: Map<String, Value> = fields.collect();
        json.insert("id".to_owned(), self.id.as_str().into());
        json.insert("title".to_owned(), self.title.as_str().into());
        json.insert("work".to_owned(), json!(self.work));
        if !self.ext.is_empty() {
            json.insert("ext".to_owned(), json!(self.ext));
        }
        json
    }

    /// A field in the format `json`; `None` if it is absent.
    pub(crate) fn field_json(&self, kind: FieldKind) -> Option<Value> {
        let ids = match kind {
            FieldKind::Dependencies => &self.dependencies,
            FieldKind::After => &self.after,
            _ => &None,
        };
        if let Some(ids) = ids {
            return Some(json!(ids));
        }
        let items = &self.fields.get(kind)?.items;
        match kind.form() {
            FieldForm::Paths => {
                let files = items.iter().map(|item| match &item.note {
                    Some(note) => json!({ "path": item.text, "note": note }),
                    None => json!({ "path": item.text }),
                });
                Some(files.collect())
            }
            form if form.is_list() => Some(items.iter().map(|item| json!(item.text)).collect()),
            form => {
                let text = self.fields.text(kind)?;
                Some(match form {
                    FieldForm::Number => text.parse::<u32>().ok()?.into(),
                    _ if kind == FieldKind::TestsRequired => (text == "yes").into(),
                    _ => text.into(),
                })
            }
        }
    }

    /// Sets a field from its value in the format `json`; returns false if the field can't have that value.
    pub(crate) fn set_json(&mut self, kind: FieldKind, value: &Value) -> bool {
        let item = |value: &Value| {
            let file = value
                .as_object()
                .filter(|_| kind.form() == FieldForm::Paths);
            let path = file.map_or(value, |file| file.get("path").unwrap_or(value));
            let note = file.and_then(|file| file.get("note")?.as_str());
            Some(Item {
                note: note.map(Into::into),
                ..text_item(path.as_str()?.to_owned())
            })
        };
        let items: Option<Vec<Item<'static>>> = match (kind.form(), value) {
            (FieldForm::Number, _) => {
                let number = value
                    .as_u64()
                    .filter(|number| u32::try_from(*number).is_ok());
                number.map(|number| vec![text_item(number.to_string())])
            }
            (FieldForm::Choice(_), Value::Bool(is_so)) => {
                let word = if *is_so { "yes" } else { "no" };
                Some(vec![text_item(word.to_owned())])
            }
            (form, Value::Array(all)) if form.is_list() => all.iter().map(item).collect(),
            (form, _) if form.is_list() => None,
            _ => item(value).map(|item| vec![item]),
        };
        let Some(items) = items else {
            return false;
        };
        let ids = || Some(items.iter().map(|item| item.text.to_string()).collect());
        match kind {
            FieldKind::Dependencies => self.dependencies = ids(),
            FieldKind::After => self.after = ids(),
            _ => *self.fields.slot(kind) = Some(items.into()),
        }
        true
    }
}

pub(crate) fn text_item(text: String) -> Item<'static> {
    Item {
        text: text.into(),
        ..Item::default()
    }
}

/// The progress of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum TaskWork {
    #[default]
    Todo,
    Running,
    Done {
        /// The commit as written in the source.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    Failed {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Skipped because another task failed first.
    Skipped,
    /// Put off, or blocked by something outside the plan.
    Deferred,
    /// Cancelled or deleted.
    Cancelled,
}

/// Remarks of an import about its source, such as what it leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportNotice {
    /// The path within the imported folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// One sentence without a full stop. It quotes untrusted text unchanged.
    pub text: String,
}

impl ImportNotice {
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            file: None,
            line: None,
            column: None,
            text: text.into(),
        }
    }

    pub fn in_file(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    pub fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets the position to a line and to a byte or character `column` in it, both counted from 1.
    pub fn at_place(mut self, line: usize, column: usize) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }
}

impl fmt::Display for ImportNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            f.write_str(file)?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.text)
    }
}
