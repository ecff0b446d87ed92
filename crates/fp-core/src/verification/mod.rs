//! Mechanical checks of a change, from measured facts.

pub mod change;

use serde::{Deserialize, Serialize};

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// It holds.
    Pass,
    /// It does not; the task can't pass.
    Fail,
    /// Worth knowing, not decisive.
    Note,
    /// There is nothing to check.
    NotApplicable,
}

/// One mechanical check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What was checked, such as `boundary`.
    pub name: String,
    /// What was found.
    pub verdict: CheckVerdict,
    /// What shows it.
    pub detail: String,
}
