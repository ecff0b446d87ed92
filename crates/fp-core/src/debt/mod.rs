//! Debts: what a run left undone, and what somebody has noted to be done some day, until it is done or not wanted any
//! more.
//!
//! What was noted is in a log of its own. What a run left over is in the run's log, and is never written down a second
//! time: its id is made of plan and task, so that it can be closed like any other.

mod leftover;
mod offer;
mod standing;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hint::Hint;
use crate::plan::id::{PlanId, TaskId};
use crate::plan::path::{self, Escape};

pub use offer::{MOST_OFFERED, Offer, offer};
pub use standing::{PlanState, Standing, debts};

/// Version of the lines of the log of debts.
pub const VERSION: u32 = 1;
/// Longest text of a debt, in characters; what is longer is cut.
pub const MAX_CHARS: usize = 500;

/// What a debt is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DebtId {
    /// `D3`: it was noted, as the third one.
    Noted(u32),
    /// `PLAN:TASK`: the run of that plan left that task over.
    Left(PlanId, TaskId),
}

/// A text that is no id of a debt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a debt is called `D3`, or `PLAN:TASK`")]
pub struct InvalidDebtId;

impl FromStr for DebtId {
    type Err = InvalidDebtId;
    fn from_str(text: &str) -> Result<Self, InvalidDebtId> {
        if let Some((plan, task)) = text.split_once(':') {
            let id = PlanId::new(plan).ok().zip(TaskId::new(task).ok());
            return id.map(|(plan, task)| Self::Left(plan, task)).ok_or(InvalidDebtId);
        }
        let digits = text.strip_prefix(['D', 'd']).filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| *number > 0);
        number.map(Self::Noted).ok_or(InvalidDebtId)
    }
}

impl fmt::Display for DebtId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noted(number) => write!(f, "D{number}"),
            Self::Left(plan, task) => write!(f, "{plan}:{task}"),
        }
    }
}

impl TryFrom<String> for DebtId {
    type Error = InvalidDebtId;
    fn try_from(text: String) -> Result<Self, InvalidDebtId> {
        text.parse()
    }
}

impl From<DebtId> for String {
    fn from(id: DebtId) -> Self {
        id.to_string()
    }
}

/// Where a debt comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The plan.
    pub plan: PlanId,
    /// The task of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

/// A line of the log of debts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// [`VERSION`].
    pub schema_version: u32,
    /// When it was written.
    pub at: Timestamp,
    /// What it says.
    #[serde(flatten)]
    pub event: Event,
}

/// What a line of the log says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "camelCase")]
pub enum Event {
    /// Something is to be done some day.
    Noted {
        /// Its id.
        id: DebtId,
        /// What, in one line.
        text: String,
        /// Files that it is about, relative to the repository.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        /// Where it was noticed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Origin>,
    },
    /// It is done.
    Closed {
        /// Which.
        id: DebtId,
        /// The plan that does it: until that is done, it is taken up and no more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<PlanId>,
    },
    /// It is not wanted any more.
    Dropped {
        /// Which.
        id: DebtId,
    },
}

impl Event {
    /// The debt that it is about.
    #[must_use]
    pub fn id(&self) -> &DebtId {
        match self {
            Self::Noted { id, .. } | Self::Closed { id, .. } | Self::Dropped { id } => id,
        }
    }

    /// The line that says this at the time `at`.
    #[must_use]
    pub fn at(self, at: Timestamp) -> Entry {
        Entry { schema_version: VERSION, at, event: self }
    }
}

/// Something to be done some day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Debt {
    /// What it is called.
    pub id: DebtId,
    /// What is to be done, in one line.
    pub text: String,
    /// Files that it is about, relative to the repository.
    pub files: Vec<String>,
    /// Where it comes from; nothing where that was not said.
    pub from: Option<Origin>,
    /// Since when it is there.
    pub at: Timestamp,
    /// What has become of it.
    #[serde(flatten)]
    pub standing: Standing,
}

/// Why something can't be noted as a debt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotNoted {
    /// It says nothing.
    #[error("the debt says nothing")]
    Empty,
    /// It is about a file that no repository has.
    #[error("{path:?} is no file of the repository: {why}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        why: Escape,
    },
}

impl Hint for NotNoted {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Empty => "say what is to be done: `fp debt add 'Refresh expired tokens'`".into(),
            Self::Path { .. } => "name a file by its path from the root of the repository".into(),
        })
    }
}

/// What becomes of a text that is to be noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noting {
    /// It is to be written down.
    New(Event),
    /// This debt says the same, and is open.
    Known(Debt),
}

/// Notes `text`, about these files, beside the debts that are `known`. Its number is one more than any that was given,
/// so they have to be read under the lock that the line is written under.
pub fn note(known: &[Debt], text: &str, files: &[String], from: Option<Origin>) -> Result<Noting, NotNoted> {
    let text = one_line(text);
    if text.is_empty() {
        return Err(NotNoted::Empty);
    }
    let normal = |file: &String| match path::normal(file.trim()) {
        Ok(path) => Ok(path.into_owned()),
        Err(why) => Err(NotNoted::Path { path: file.clone(), why }),
    };
    let files = files.iter().map(normal).collect::<Result<Vec<_>, _>>()?;
    if let Some(same) = known.iter().find(|debt| debt.text == text && debt.standing == Standing::Open) {
        return Ok(Noting::Known(same.clone()));
    }
    let numbers = known.iter().filter_map(|debt| match debt.id {
        DebtId::Noted(number) => Some(number),
        DebtId::Left(..) => None,
    });
    let id = DebtId::Noted(numbers.max().unwrap_or(0).saturating_add(1));
    Ok(Noting::New(Event::Noted { id, text, files, from }))
}

/// `text` on one line of at most [`MAX_CHARS`] characters.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_CHARS) {
        Some(_) => text.chars().take(MAX_CHARS - 1).chain(['…']).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests;
