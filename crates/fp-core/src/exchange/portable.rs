//! What every system says of a plan in its own way.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The fields of a [`PortableTask`], as they are serialised.
pub(super) const TASK_FIELDS: [&str; 20] = [
    "id",
    "parent",
    "title",
    "description",
    "complexity",
    "acceptance",
    "dependencies",
    "files",
    "testsRequired",
    "hints",
    "references",
    "guardrails",
    "testCommands",
    "verify",
    "covers",
    "group",
    "risk",
    "priority",
    "work",
    "ext",
];

/// A plan as any system can say it. Serialised, it is the format `json` of `fp export`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PortablePlan {
    /// One line.
    pub title: String,
    /// The goal or the description of the whole, as long as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// All tasks, parents before their children, otherwise in the order of the source.
    #[serde(default)]
    pub tasks: Vec<PortableTask>,
    /// What the source says of the whole and no other field here has, by the source's names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub ext: Map<String, Value>,
}

/// A task: a leaf that is worked on, or a parent that only holds others. Of a list, `None` is that the source doesn't
/// speak of it, and an empty one that it says there is nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PortableTask {
    /// Its id in the source, as written.
    pub id: String,
    /// The position of its parent among the tasks; before its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// One line.
    pub title: String,
    /// What else is said of it in prose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// 1 to 10, if the source's own scale is that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<u32>,
    /// Criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Vec<String>>,
    /// Ids, in the source's names, of the tasks that have to be done before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
    /// What it may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<PortableFile>>,
    /// Whether tests have to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_required: Option<bool>,
    /// How to go about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<String>>,
    /// What to read first, as `path:line - why`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<Vec<String>>,
    /// What not to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<Vec<String>>,
    /// Command lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_commands: Option<Vec<String>>,
    /// One command line whose exit status decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
    /// Ids of requirements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<Vec<String>>,
    /// Its execution group, phase or wave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// `low`, `medium` or `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// In the source's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// How far it is.
    #[serde(default)]
    pub work: Work,
    /// What the source says of it and no other field here has, by the source's names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub ext: Map<String, Value>,
}

/// A path that a task may change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PortableFile {
    /// As the source has it.
    pub path: String,
    /// What is said of it, such as `(new)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// As it is written on one line: the path, and what is said of it.
impl fmt::Display for PortableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.note {
            Some(note) => write!(f, "{} {note}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// What was written on one line.
impl From<&str> for PortableFile {
    fn from(line: &str) -> Self {
        match line.find(" (").filter(|_| line.ends_with(')')) {
            Some(at) => Self { path: line[..at].to_owned(), note: Some(line[at + 1..].to_owned()) },
            None => Self { path: line.to_owned(), note: None },
        }
    }
}

/// How far a task is, by the word of the source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum Work {
    /// Nobody has begun.
    #[default]
    Todo,
    /// Somebody is at it, or was when the source was written.
    Running,
    /// It is said to be done.
    Done {
        /// The commit that is said to hold it, as the source has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// It was given up.
    Failed {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It is not to be done.
    Skipped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_named() {
        let all = TASK_FIELDS.map(|field| match field {
            "work" => (field.to_owned(), serde_json::json!({ "status": "todo" })),
            "ext" => (field.to_owned(), serde_json::json!({ "a": 1 })),
            "parent" | "complexity" => (field.to_owned(), 1.into()),
            "testsRequired" => (field.to_owned(), true.into()),
            "files" => (field.to_owned(), serde_json::json!([{ "path": "a" }])),
            "acceptance" | "dependencies" | "hints" | "references" | "guardrails" | "testCommands"
            | "covers" => (field.to_owned(), serde_json::json!(["a"])),
            _ => (field.to_owned(), "a".into()),
        });
        let said = Value::Object(all.into_iter().collect());
        let task: PortableTask = serde_json::from_value(said.clone()).unwrap();
        assert_eq!(serde_json::to_value(task).unwrap(), said, "each is a field");
        let PortableTask {
            id: _,
            parent: _,
            title: _,
            description: _,
            complexity: _,
            acceptance: _,
            dependencies: _,
            files: _,
            tests_required: _,
            hints: _,
            references: _,
            guardrails: _,
            test_commands: _,
            verify: _,
            covers: _,
            group: _,
            risk: _,
            priority: _,
            work: _,
            ext: _,
        } = PortableTask::default();
        assert_eq!(TASK_FIELDS.len(), 20, "and there are no others");
    }
}
