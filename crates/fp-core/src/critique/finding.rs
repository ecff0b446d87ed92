//! What a critic has found in one place.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::plan::id::TaskId;

/// What a finding, or a whole critique, comes to; the worst is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Nothing was found.
    Pass,
    /// It would cost an iteration.
    Warn,
    /// A builder could not finish as written, or could finish and be wrong.
    Fail,
}

impl Verdict {
    /// The word it is written as.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
        }
    }
}

/// The seven things that a leaf is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    /// Its criteria are specific.
    Criteria,
    /// Its hints fit together.
    Hints,
    /// It does what was asked for, and no more.
    Scope,
    /// It waits for all that it needs.
    Dependencies,
    /// What it covers would be shown to be met.
    Coverage,
    /// Its criteria don't test what it defines itself.
    Circularity,
    /// Its guardrails leave room for the work, and for nothing else.
    Guardrails,
}

/// A word that is none of the items, cut to 60 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is none of the seven items")]
pub struct UnknownItem(pub String);

impl Item {
    /// All of them, in the order in which a leaf is judged.
    pub const ALL: [Self; 7] = [
        Self::Criteria,
        Self::Hints,
        Self::Scope,
        Self::Dependencies,
        Self::Coverage,
        Self::Circularity,
        Self::Guardrails,
    ];

    /// The word it is written as.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Criteria => "criteria",
            Self::Hints => "hints",
            Self::Scope => "scope",
            Self::Dependencies => "dependencies",
            Self::Coverage => "coverage",
            Self::Circularity => "circularity",
            Self::Guardrails => "guardrails",
        }
    }
}

impl FromStr for Item {
    type Err = UnknownItem;

    /// The item of that word, in upper or lower case.
    fn from_str(word: &str) -> Result<Self, UnknownItem> {
        let same = |item: &Self| item.word().eq_ignore_ascii_case(word);
        Self::ALL.into_iter().find(same).ok_or_else(|| UnknownItem(word.chars().take(60).collect()))
    }
}

/// What is not as it should be, in one item of a leaf or of the whole tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The leaf; `None` for the whole tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Title of the leaf when it was judged, cut where it is long; empty for the whole tree.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What it is about.
    pub item: Item,
    /// How much it weighs; never a pass.
    pub verdict: Verdict,
    /// What is wrong, on one line.
    pub text: String,
}

impl fmt::Display for Finding {
    /// On one line: `FAIL 1.2 criteria: what is wrong`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.task.as_ref().map_or("tree", TaskId::as_str);
        write!(f, "{} {place} {}: {}", self.verdict.word(), self.item.word(), self.text)
    }
}
