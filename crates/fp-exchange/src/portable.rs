//! A plan in no system's own words, with the reports of an import about it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct PortablePlan {
    /// One line.
    pub title: String,
    pub goal: Option<String>,
    /// Parents before their children, otherwise in the order of the source.
    pub tasks: Vec<PortableTask>,
    /// The rest of what the source says about the plan, by the source's names.
    pub ext: Map<String, Value>,
    /// Reports of an import about it.
    pub notices: Vec<ImportNotice>,
}

impl PortablePlan {
    /// Reports a fault of the plan as a whole.
    pub(crate) fn problem(&mut self, text: String) {
        self.notices.push(ImportNotice::problem(text));
    }

    /// Reports a fault in the file `path`.
    pub(crate) fn problem_in(&mut self, path: &str, text: impl Into<String>) {
        self.notices.push(ImportNotice::problem(text).in_file(path));
    }

    /// Reports a fault on a line of the file `path`.
    pub(crate) fn problem_at(&mut self, path: &str, line: usize, text: impl Into<String>) {
        let notice = ImportNotice::problem(text).in_file(path);
        self.notices.push(ImportNotice {
            line: Some(line),
            ..notice
        });
    }

    /// Reports something worth knowing.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notices.push(ImportNotice {
            is_problem: false,
            ..ImportNotice::problem(text)
        });
    }
}

/// A leaf, or a parent that only holds other tasks. An absent list means that the source doesn't mention it; an empty
/// one means that the source says there is nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PortableTask {
    /// As the source writes it.
    pub id: String,
    /// The position of its parent among the tasks.
    #[serde(skip)]
    pub parent: Option<usize>,
    /// One line.
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// 1 to 10, where the source uses that scale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Vec<String>>,
    /// Ids as the source writes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
    /// Ids of tasks that come before it without being needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<PortableFile>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests_required: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_commands: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covers: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    #[serde(default)]
    pub work: TaskWork,
    /// The rest of what the source says about the task, by the source's names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub ext: Map<String, Value>,
}

impl PortableTask {
    /// Adds a line to the description.
    pub(crate) fn add_line(&mut self, line: &str) {
        let description = self.description.get_or_insert_default();
        if !description.is_empty() {
            description.push('\n');
        }
        description.push_str(line.trim());
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PortableFile {
    pub path: String,
    /// Such as `(new)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The progress of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum TaskWork {
    #[default]
    Todo,
    Running,
    Done {
        /// As the source writes it.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    Failed {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Another task failed first.
    Skipped,
    /// Put off, or blocked by something outside of the plan.
    Deferred,
    /// Cancelled or deleted.
    Cancelled,
}

impl TaskWork {
    /// The same with its commit if it is done, or with its reason if it failed.
    pub(crate) fn detailed(self, commit: Option<String>, reason: Option<String>) -> Self {
        match self {
            Self::Done { .. } => Self::Done { commit },
            Self::Failed { .. } => Self::Failed { reason },
            work => work,
        }
    }
}

/// A report of an import about its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportNotice {
    /// Something is wrong with the source; the others are worth knowing.
    #[serde(skip)]
    pub is_problem: bool,
    /// The path within the folder that is imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// One sentence without a full stop. It quotes texts of strangers as they are.
    pub text: String,
}

impl ImportNotice {
    pub fn problem(text: impl Into<String>) -> Self {
        Self {
            is_problem: true,
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
