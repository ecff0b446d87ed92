//! The loops before an approval: validation passes and critique rounds. Each has its counter in the log and its
//! limit, so that a tree that nobody can mend ends up with the user.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::refusal::Refusal;
use super::state::State;
use crate::critique::{CriticVerdict, Critique, JudgedTree};

/// How many validation passes a tree has to become valid.
pub const PASSES: u32 = 6;
/// How many critiques a tree has until the user decides about what is left.
pub const ROUNDS: u32 = 3;

/// What has happened to a tree since it was last approved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Planning {
    /// Validation passes since the tree was last valid.
    #[serde(default)]
    pub passes: u32,
    /// The rules that failed in each of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub failing: BTreeSet<String>,
    /// The tree that was counted last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validated: Option<Validated>,
    /// Rounds of critique.
    #[serde(default)]
    pub rounds: u32,
    /// The last critique, whenever it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critique: Option<LastCritique>,
}

/// A tree that was counted as a validation pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Validated {
    /// Its hash.
    pub tree_hash: String,
    /// Whether it had no errors.
    pub valid: bool,
}

/// A critique, without its findings: those stay in the log, since every command reads the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastCritique {
    /// Its round, from 1.
    pub round: u32,
    /// The worst of its findings.
    pub verdict: CriticVerdict,
    /// Hash of the tree that was judged.
    pub tree_hash: String,
    /// How many findings it has.
    pub findings: usize,
}

/// What a validation found in a tree, every mechanical fix applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Hash of the tree.
    pub tree_hash: String,
    /// How many findings fail it.
    pub errors: usize,
    /// How many don't.
    pub warnings: usize,
    /// The rules of those that fail it.
    pub failing: BTreeSet<String>,
}

impl Planning {
    /// Whether nothing has happened.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts from the beginning: what is wanted is another thing now. The last critique stays to be read.
    pub fn begin_anew(&mut self) {
        *self = Self { critique: self.critique.take(), ..Self::default() };
    }

    /// Whether every pass is used up, and `seen` would be another one in vain.
    pub fn is_over(&self, seen: &Seen) -> bool {
        seen.errors > 0 && self.passes >= PASSES && !self.is_counted(seen)
    }

    /// The event that counts `seen`; none where that tree was the last one counted, with the same outcome.
    pub fn count(&self, seen: &Seen) -> Option<Event> {
        if self.is_counted(seen) || self.is_over(seen) {
            return None;
        }
        let Seen { tree_hash, errors, warnings, failing } = seen.clone();
        Some(Event::Validated { pass: self.passes + 1, tree_hash, errors, warnings, failing })
    }

    fn is_counted(&self, seen: &Seen) -> bool {
        let same = |last: &Validated| last.tree_hash == seen.tree_hash && last.valid == (seen.errors == 0);
        self.validated.as_ref().is_some_and(same)
    }

    /// The round that a critique of the tree with this hash is: a critic that repeats itself costs none.
    fn round_of(&self, tree_hash: &str) -> u32 {
        let again = self.critique.as_ref().is_some_and(|last| last.tree_hash == tree_hash);
        if again && self.rounds > 0 { self.rounds } else { self.rounds + 1 }
    }

    pub(super) fn fold_validated(
        &mut self,
        pass: u32,
        tree_hash: &str,
        errors: usize,
        failing: &BTreeSet<String>,
    ) {
        let valid = errors == 0;
        self.validated = Some(Validated { tree_hash: tree_hash.to_owned(), valid });
        if valid {
            self.passes = 0;
            self.failing.clear();
            return;
        }
        if self.passes == 0 {
            self.failing.clone_from(failing);
        } else {
            self.failing.retain(|rule| failing.contains(rule));
        }
        self.passes = pass;
    }

    pub(super) fn fold_critiqued(&mut self, critique: LastCritique) {
        self.rounds = critique.round;
        self.critique = Some(critique);
    }
}

impl State {
    /// What a critic said of every leaf of the tree with this hash, as it is to be recorded. Refused when all rounds
    /// are over.
    pub fn criticise(&self, tree_hash: String, judged: JudgedTree) -> Result<Critique, Refusal> {
        let round = self.planning.round_of(&tree_hash);
        if round > ROUNDS {
            return Err(Refusal::RoundsOver);
        }
        let JudgedTree { leaves, findings } = judged;
        let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(CriticVerdict::Pass);
        Ok(Critique { round, verdict, tree_hash, leaves, findings })
    }
}

#[cfg(test)]
mod tests;
