//! What the last critique of a tree came to, in a line.

use std::fmt;

use serde::Serialize;

use crate::critique::Verdict;
use crate::run::{State, approval};

/// The last critique, and whether it is about the tree as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CritiqueLine {
    /// The worst of its findings.
    pub verdict: Verdict,
    /// Its round, from 1.
    pub round: u32,
    /// How many findings it has.
    pub findings: usize,
    /// Whether the tree has changed since.
    pub changed: bool,
}

impl CritiqueLine {
    /// The last critique in `state`, of a tree that has the text `tree` now; nothing where there was none.
    #[must_use]
    pub fn new(state: &State, tree: &str) -> Option<Self> {
        let last = state.planning.critique.as_ref()?;
        Some(Self {
            verdict: last.verdict,
            round: last.round,
            findings: last.findings,
            changed: approval::hash(tree.as_bytes()) != last.tree_hash,
        })
    }
}

impl fmt::Display for CritiqueLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verdict, round, findings, changed } = self;
        let findings = match findings {
            0 => String::new(),
            1 => ", 1 finding".to_owned(),
            number => format!(", {number} findings"),
        };
        let since = if *changed { "; the tree has changed since" } else { "" };
        write!(f, "critique: {} in round {round}{findings} (critique.md){since}", verdict.word())
    }
}
