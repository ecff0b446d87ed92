//! A critique as the Markdown page that the next round, and the user, read.

use std::fmt::Write as _;

use super::finding::Finding;
use super::recorded::Critique;
use crate::markdown::inline;
use crate::run::planning::ROUNDS;

/// The page. None of the critic's text becomes markup in it.
#[must_use]
pub fn markdown(critique: &Critique) -> String {
    let mut page = format!("{}\n\nRound {} of {ROUNDS}\n", critique.verdict.word(), critique.round);
    if !critique.findings.is_empty() {
        page.push('\n');
    }
    for finding in &critique.findings {
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
