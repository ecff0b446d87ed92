//! What is to be said of a plan that comes from elsewhere, beside the plan itself.

use std::fmt;

use serde::Serialize;

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A file, a line or a task that can't be read; the rest is read without it.
    Broken,
    /// Two tasks go by one id.
    DuplicateId,
    /// A task waits for one that is not there.
    DanglingDependency,
    /// A task waits for itself.
    SelfDependency,
    /// A task waits for one that it is a part of.
    AncestorDependency,
    /// Tasks wait for each other.
    DependencyCycle,
    /// Two places of the source don't have the same tasks, or not as many.
    CountMismatch,
    /// Two places of the source say different things of one task.
    Contradiction,
    /// A value that means nothing here.
    UnknownValue,
    /// Some tasks have nothing to do with the others.
    Disconnected,
    /// Work that was begun or given up begins anew.
    BeginsAnew,
    /// Something is written in another way than the source has it.
    Rewritten,
}

impl Kind {
    /// Whether something is wrong with the source, and not merely worth knowing.
    #[must_use]
    pub fn is_problem(self) -> bool {
        !matches!(self, Self::Disconnected | Self::BeginsAnew | Self::Rewritten)
    }
}

/// One thing that is to be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// What it is about.
    pub kind: Kind,
    /// The file, as its path within what is imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Ids of the tasks that it is about, as the source has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// One sentence without a full stop. Holds texts of strangers, as they are.
    pub text: String,
}

impl Notice {
    /// A notice that has no place.
    #[must_use]
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, file: None, line: None, column: None, tasks: Vec::new(), text: text.into() }
    }

    /// This, about a file.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    /// This, about a line, from 1.
    #[must_use]
    pub fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// This, about a task.
    #[must_use]
    pub fn about(mut self, task: impl Into<String>) -> Self {
        self.tasks.push(task.into());
        self
    }
}

impl fmt::Display for Notice {
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
