//! A critique as the log has it.

use std::collections::HashSet;

use serde::Serialize;

use super::finding::{Finding, Verdict};
use crate::run::event::Event;

/// What a critic found in a tree, and what that came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Critique {
    /// Its round, from 1.
    pub round: u32,
    /// The worst of its findings.
    pub verdict: Verdict,
    /// Hash of the tree that was judged.
    pub tree_hash: String,
    /// How many leaves the tree had.
    pub leaves: usize,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
}

impl Critique {
    /// The critique that `event` is, if it is one.
    #[must_use]
    pub fn of(event: Event) -> Option<Self> {
        match event {
            Event::Critiqued { round, verdict, tree_hash, leaves, findings } => {
                Some(Self { round, verdict, tree_hash, leaves, findings })
            }
            _ => None,
        }
    }

    /// In how many leaves nothing was found.
    #[must_use]
    pub fn passing(&self) -> usize {
        let faulty: HashSet<_> = self.findings.iter().filter_map(|finding| finding.task.as_ref()).collect();
        self.leaves.saturating_sub(faulty.len())
    }
}

impl From<Critique> for Event {
    fn from(Critique { round, verdict, tree_hash, leaves, findings }: Critique) -> Self {
        Self::Critiqued { round, verdict, tree_hash, leaves, findings }
    }
}
