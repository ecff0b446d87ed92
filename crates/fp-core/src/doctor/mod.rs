//! What is wrong with a plan, and what mends it: facts in, findings out. A check that finds nothing says so, so that
//! it is seen what was looked at.

mod ledger;
mod run;
pub mod setup;

use serde::Serialize;

pub use ledger::{LogFacts, SnapshotFacts, log, snapshot};
pub use run::{Lead, approval, claims, commits, evidence, intents};

use crate::plan::id::{PlanId, TaskId};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Something to know; work can go on.
    Warning,
    /// Work can't go on, or something of a plan is lost.
    Error,
}

impl Level {
    /// The word it is written as.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What can be mended without judgement, and touches nothing that is not derived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// The log ends in half a line.
    DropTornLine,
    /// The snapshot is not what the log adds up to.
    RebuildSnapshot,
    /// The evidence files of these tasks are missing.
    WriteEvidence(Vec<TaskId>),
    /// The notepad is not what the log says.
    WriteNotepad,
    /// These files were left by a process that was killed, as paths below the plan's folder.
    RemoveTemporary(Vec<String>),
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The check.
    pub check: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was found.
    pub detail: String,
    /// The command that mends it, where one does.
    pub command: Option<String>,
    /// What mends it without judgement.
    #[serde(skip)]
    pub fix: Option<Fix>,
}

impl Finding {
    /// All is well.
    #[must_use]
    pub fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, detail: detail.into(), command: None, fix: None }
    }

    /// Something to know.
    #[must_use]
    pub fn warning(check: &'static str, detail: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::ok(check, detail) }
    }

    /// Something that has to be mended.
    #[must_use]
    pub fn error(check: &'static str, detail: impl Into<String>) -> Self {
        Self { level: Level::Error, ..Self::ok(check, detail) }
    }

    /// With the command that mends it.
    #[must_use]
    pub fn mended_by(self, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..self }
    }

    /// With a fix, which `fp doctor PLAN --fix` makes.
    #[must_use]
    pub fn fixable(self, plan: &PlanId, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self.mended_by(format!("fp doctor {plan} --fix")) }
    }
}

/// Most ids that a finding lists.
const LISTED: usize = 5;

/// `ids` as a text, cut off with a count.
#[must_use]
pub fn listed<'a>(ids: impl IntoIterator<Item = &'a TaskId>) -> String {
    let ids: Vec<&str> = ids.into_iter().map(TaskId::as_str).collect();
    match ids.len() {
        1 => format!("task {}", ids[0]),
        count if count <= LISTED => format!("tasks {}", ids.join(", ")),
        count => format!("tasks {} and {} more", ids[..LISTED].join(", "), count - LISTED),
    }
}

/// `one` or `several`, by the count.
#[must_use]
pub fn verb(count: usize, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}

#[cfg(test)]
mod tests;
