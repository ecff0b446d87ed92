//! The evidence file of a task: what its last verdict rested on. The form is that of fractal-planner 0.1, so
//! that older tools can read it.

use std::fmt::Write as _;

use jiff::Timestamp;

use crate::run::state::TaskState;
use crate::verification::{Check, CheckVerdict};

/// The evidence file of `task` with these `criteria`, written at `at`.
#[must_use]
pub fn render(task: &TaskState, criteria: &[String], at: Timestamp) -> String {
    let verdict = task.verdict.as_ref();
    let checks = task.verification.as_ref().map_or(&[][..], |v| &v.checks);
    let mut text = format!(
        "# Verification Evidence: Task {}\n\nResult: {}\nTimestamp: {at}\nTask: {}\nIteration: {}\n\n## Criteria Results\n\n\
         | # | Criterion | Result | Evidence |\n|---|-----------|--------|---------|\n",
        task.leaf.id,
        word(verdict.is_some_and(|v| v.pass)),
        task.leaf.title,
        verdict.map_or(task.iteration, |v| v.iteration),
    );
    for judgement in verdict.map_or(&[][..], |v| &v.judgements) {
        let criterion = criteria.get(judgement.criterion.wrapping_sub(1)).map_or("", String::as_str);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            judgement.criterion,
            cell(criterion),
            word(judgement.pass),
            cell(&judgement.evidence)
        );
    }
    text.push_str("\n## Mechanical Checks\n\n| Check | Result | Detail |\n|-------|--------|--------|\n");
    for check in checks.iter().filter(|c| !is_command(c)) {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            cell(&check.name),
            check_word(check.verdict),
            cell(&check.detail)
        );
    }
    text.push_str("\n## Test Output\n\n");
    let mut commands = checks.iter().filter(|c| is_command(c)).peekable();
    if commands.peek().is_none() {
        text.push_str("No test commands\n");
    }
    for command in commands {
        let fence = fence(&command.detail);
        let _ = write!(
            text,
            "{} ({})\n\n{fence}\n{}\n{fence}\n\n",
            command.name,
            check_word(command.verdict),
            command.detail.trim_end()
        );
    }
    text.push_str("\n## Files Reviewed\n\n");
    for file in task.changed() {
        let _ = writeln!(text, "- {}", file.path);
    }
    for granted in &task.granted {
        let _ = writeln!(text, "- {} is not in the plan: {}", granted.path, granted.reason);
    }
    let _ = write!(text, "\n## Summary\n\n{}\n", verdict.map_or("", |v| v.summary.as_str()));
    text
}

/// Name of the check that ran `command`.
#[must_use]
pub fn command_check_name(command: &str) -> String {
    format!("{COMMAND}{command}")
}

const COMMAND: &str = "command: ";

fn is_command(check: &Check) -> bool {
    check.name.starts_with(COMMAND)
}

fn word(pass: bool) -> &'static str {
    if pass { "PASS" } else { "FAIL" }
}

fn check_word(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Pass => "PASS",
        CheckVerdict::Fail => "FAIL",
        CheckVerdict::Note => "NOTE",
        CheckVerdict::NotApplicable => "N/A",
    }
}

/// Text that can't end its table cell or its row.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// A fence longer than any run of backticks in `text`.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
