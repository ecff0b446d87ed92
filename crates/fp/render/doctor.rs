//! What the doctor found in a plan or in the setup, as text that fits 80 columns.

use fp_core::doctor::{Finding, Level};
use fp_core::plan::id::PlanId;
use fp_core::text::{counted, wrapped};

use super::WIDTH;

/// Columns in front of a finding's words.
const MARGIN: usize = 24;

/// The whole report on a plan.
pub(crate) fn plan(plan: &PlanId, findings: &[Finding], mended: &[String]) -> String {
    let mended = mended.iter().map(|line| format!("  mended   {line}\n"));
    format!("Plan {plan}\n") + &mended.collect::<String>() + &found(findings)
}

/// The whole report on the setup.
pub(crate) fn setup(version: &str, findings: &[Finding]) -> String {
    format!("Setup of fp {version}\n") + &found(findings)
}

fn found(findings: &[Finding]) -> String {
    let mut text = String::new();
    for found in findings {
        let head = format!("  {:<7}  {:<13}", found.level.word(), found.check);
        text.push_str(&hanging(&head, &found.detail));
        if let Some(command) = &found.command {
            // A command is not broken, so that it can be copied.
            text.push_str(&format!("{:MARGIN$}→ {command}\n", ""));
        }
    }
    let count = |level: Level| findings.iter().filter(|found| found.level == level).count();
    let parts: Vec<String> = [(count(Level::Error), "error"), (count(Level::Warning), "warning")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    let sum = if parts.is_empty() { "Nothing is wrong".to_owned() } else { parts.join(", ") };
    text + &format!("\n{sum}\n")
}

/// `detail` behind `head`, which has the columns of the margin, on lines of at most 80 where its words allow.
fn hanging(head: &str, detail: &str) -> String {
    let lines = wrapped(detail, WIDTH - MARGIN);
    format!("{head:<MARGIN$}{}\n", lines.join(&format!("\n{:MARGIN$}", "")))
}
