//! Limits the rounds of critique before an approval, so that a tree that nobody manages to fix goes to the user.

use serde::{Deserialize, Serialize};

use super::refusal::{Refusal, decline};
use super::state::State;
use crate::critique::{CriticVerdict, Critique};

/// Maximum number of critiques of a tree; after that, the user decides about the remaining findings.
pub const ROUNDS: u32 = 2;

/// The history of a tree since its last approval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Planning {
    pub rounds: u32,
    /// The last critique, even if it predates the approval.
    pub critique: Option<LastCritique>,
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

impl Planning {
    /// Resets the counters because the goal has changed. Keeps the last critique so that it can still be read.
    pub fn begin_anew(&mut self) {
        *self = Self {
            critique: self.critique.take(),
            ..Self::default()
        };
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
