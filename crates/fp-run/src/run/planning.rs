//! Limits the two loops before an approval: validation passes and critique rounds. Each has a counter in the log, so a
//! tree that nobody manages to fix goes to the user.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::refusal::{Refusal, decline};
use super::state::State;
use crate::critique::{CriticVerdict, Critique};

/// Maximum number of validation passes for a tree to become valid.
pub const PASSES: u32 = 6;
/// Maximum number of critiques of a tree; after that, the user decides about the remaining findings.
pub const ROUNDS: u32 = 3;

/// The history of a tree since its last approval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Planning {
    /// Validation passes since the tree was last valid.
    pub passes: u32,
    /// The rules that failed in every pass since then.
    pub failing: BTreeSet<String>,
    /// The last tree that was counted as a pass.
    pub validated: Option<Validated>,
    pub rounds: u32,
    /// The last critique, even if it predates the approval.
    pub critique: Option<LastCritique>,
}

/// A tree counted as a validation pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Validated {
    pub tree_hash: String,
    /// True if the tree had no errors.
    pub valid: bool,
}

/// A critique without its findings. They stay only in the log, to keep the state small, since every command reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastCritique {
    /// From 1.
    pub round: u32,
    /// The severest verdict among the critique's findings.
    pub verdict: CriticVerdict,
    /// Hash of the judged tree.
    pub tree_hash: String,
    /// Number of findings.
    pub findings: usize,
}

/// The result of validating a tree with all mechanical fixes applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seen {
    pub tree_hash: String,
    /// Number of findings that fail validation.
    pub errors: usize,
    /// Number of findings that don't fail validation.
    pub warnings: usize,
    /// The rules behind the failing findings.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub failing: BTreeSet<String>,
}

impl Planning {
    /// Resets the counters because the goal has changed. Keeps the last critique so that it can still be read.
    pub fn begin_anew(&mut self) {
        *self = Self {
            critique: self.critique.take(),
            ..Self::default()
        };
    }

    /// True if all passes are used up and `seen` would be another failure.
    pub fn is_over(&self, seen: &Seen) -> bool {
        seen.errors > 0 && self.passes >= PASSES && !self.is_counted(seen)
    }

    /// Returns the event that counts `seen` as a pass. `None` if the last counted tree was the same and had the same
    /// outcome, or if the passes are used up.
    pub fn count_pass(&self, seen: &Seen) -> Option<Event> {
        let is_new = !self.is_counted(seen) && !self.is_over(seen);
        is_new.then(|| Event::Validated {
            pass: self.passes + 1,
            seen: seen.clone(),
        })
    }

    fn is_counted(&self, seen: &Seen) -> bool {
        let last = self.validated.as_ref();
        last.is_some_and(|last| *last == Validated::from_seen(seen))
    }

    pub(super) fn fold_validated(&mut self, pass: u32, seen: &Seen) {
        self.validated = Some(Validated::from_seen(seen));
        if seen.errors == 0 {
            self.passes = 0;
            self.failing.clear();
            return;
        }
        if self.passes == 0 {
            self.failing.clone_from(&seen.failing);
        } else {
            self.failing.retain(|rule| seen.failing.contains(rule));
        }
        self.passes = pass;
    }

    pub(super) fn fold_critiqued(&mut self, critique: &Critique) {
        self.rounds = critique.round;
        self.critique = Some(LastCritique {
            round: critique.round,
            verdict: critique.verdict,
            tree_hash: critique.tree_hash.clone(),
            findings: critique.findings.len(),
        });
    }
}

impl Validated {
    fn from_seen(seen: &Seen) -> Self {
        Self {
            tree_hash: seen.tree_hash.clone(),
            valid: seen.errors == 0,
        }
    }
}

impl State {
    /// Assigns a round to a critique. Judging the same tree again doesn't use up a round. Refused after the last round.
    pub fn criticise(&self, judged: Critique) -> Result<Critique, Refusal> {
        let Planning {
            rounds, critique, ..
        } = &self.planning;
        let is_same = |last: &LastCritique| last.tree_hash == judged.tree_hash;
        let is_again = *rounds > 0 && critique.as_ref().is_some_and(is_same);
        let round = rounds + u32::from(!is_again);
        if round > ROUNDS {
            return Err(decline(
                format!(
                    "the {ROUNDS} rounds of critique are over: what is still found goes to the review"
                ),
                "`fp critique show PLAN` prints the last one: show the user what it still finds",
            ));
        }
        Ok(Critique { round, ..judged })
    }
}

#[cfg(test)]
mod tests;
