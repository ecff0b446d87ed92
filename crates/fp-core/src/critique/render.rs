//! A critique as the Markdown page that the next round, and the user, read.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde::Serialize;

use super::finding::{Finding, Verdict};
use crate::markdown::inline;
use crate::run::planning::ROUNDS;

/// A critique as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Critique<'e> {
    /// Its round, from 1.
    pub round: u32,
    /// The worst of its findings.
    pub verdict: Verdict,
    /// Hash of the tree that was judged.
    pub tree_hash: &'e str,
    /// How many leaves the tree had.
    pub leaves: usize,
    /// What was found, the worst first.
    pub findings: &'e [Finding],
}

impl Critique<'_> {
    /// In how many leaves nothing was found.
    #[must_use]
    pub fn passing(&self) -> usize {
        let faulty: HashSet<_> = self.findings.iter().filter_map(|finding| finding.task.as_ref()).collect();
        self.leaves.saturating_sub(faulty.len())
    }
}

/// The page. None of the critic's text becomes markup in it.
#[must_use]
pub fn markdown(critique: &Critique<'_>) -> String {
    let mut page = format!("{}\n\nRound {} of {ROUNDS}\n", critique.verdict.word(), critique.round);
    if !critique.findings.is_empty() {
        page.push('\n');
    }
    for finding in critique.findings {
        // Writing to a string can't fail.
        let _ = line(&mut page, finding);
    }
    match critique.passing() {
        1 => page.push_str("\n1 leaf passes\n"),
        passing => page.push_str(&format!("\n{passing} leaves pass\n")),
    }
    page
}

fn line(page: &mut String, finding: &Finding) -> std::fmt::Result {
    write!(page, "- {} ", finding.verdict.word())?;
    match &finding.task {
        Some(task) => {
            inline(page, task.as_str())?;
            page.push_str(" (");
            inline(page, &finding.title)?;
            page.push(')');
        }
        None => page.push_str("the tree"),
    }
    write!(page, ", {}: ", finding.item.word())?;
    inline(page, &finding.text)?;
    page.push('\n');
    Ok(())
}
