//! The evidence file of a task: what its last verdict rested on. The form is that of fractal-planner 0.1, so
//! that older tools can read it, and files that those wrote can be read here.

mod parse;

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use crate::run::state::{Granted, TaskState};
use crate::verification::{COMMAND_CHECK, Check, CheckVerdict};

pub use parse::EvidenceError;

/// What an evidence file says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Id of the task.
    pub task: String,
    /// Whether it passed.
    pub pass: bool,
    /// When the file was written.
    pub at: Timestamp,
    /// Title of the task.
    pub title: String,
    /// The iteration that was judged; files of 0.1 don't say.
    pub iteration: Option<u32>,
    /// The verdict on each criterion.
    pub criteria: Vec<Criterion>,
    /// The mechanical checks that are no commands; files of 0.1 have none.
    pub checks: Vec<Finding>,
    /// What was run.
    pub outputs: Vec<Output>,
    /// The files that the task changed; in files of 0.1, those that were read.
    pub files: Vec<String>,
    /// The verifier's summary.
    pub summary: String,
}

/// The verdict on one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// Its number, from 1.
    pub number: usize,
    /// What it asks for.
    pub criterion: String,
    /// Whether it is met.
    pub pass: bool,
    /// What shows it, or why it is not met.
    pub evidence: String,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub name: String,
    /// What it says.
    pub verdict: CheckVerdict,
    /// Why.
    pub detail: String,
}

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Name of the check that ran it; in files of 0.1 the heading that it stands under.
    pub name: String,
    /// What that check says; files of 0.1 don't.
    pub verdict: Option<CheckVerdict>,
    /// The output, cut where it is long.
    pub text: String,
}

/// The evidence file of `task` with these `criteria`, written at `at`.
#[must_use]
pub fn render(task: &TaskState, criteria: &[String], at: Timestamp) -> String {
    Evidence::new(task, criteria, at).to_markdown()
}

impl Evidence {
    /// The evidence of the last verdict on `task`, which has these `criteria`. Every text is as the file can hold it:
    /// on one line, where the form is one of lines.
    #[must_use]
    pub fn new(task: &TaskState, criteria: &[String], at: Timestamp) -> Self {
        let verdict = task.verdict.as_ref();
        let checks = task.verification.as_ref().map_or(&[][..], |v| &v.checks);
        let (commands, checks): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|c| is_command(c));
        let criterion = |number: usize| criteria.get(number.wrapping_sub(1)).map_or("", String::as_str);
        Self {
            task: task.leaf.id.to_string(),
            pass: verdict.is_some_and(|v| v.pass),
            at,
            title: one_line(&task.leaf.title),
            iteration: Some(verdict.map_or(task.iteration, |v| v.iteration)),
            criteria: verdict
                .map_or(&[][..], |v| &v.judgements)
                .iter()
                .map(|judgement| Criterion {
                    number: judgement.criterion,
                    criterion: one_line(criterion(judgement.criterion)),
                    pass: judgement.pass,
                    evidence: one_line(&judgement.evidence),
                })
                .collect(),
            checks: checks
                .iter()
                .map(|check| Finding {
                    name: one_line(&check.name),
                    verdict: check.verdict,
                    detail: one_line(&check.detail),
                })
                .collect(),
            outputs: commands
                .iter()
                .map(|check| Output {
                    name: one_line(&check.name),
                    verdict: Some(check.verdict),
                    text: check.detail.trim_end().to_owned(),
                })
                .collect(),
            files: task
                .changed()
                .iter()
                .map(|change| change.path.to_string())
                .chain(task.granted.iter().map(granted))
                .collect(),
            summary: verdict.map_or("", |v| v.summary.trim()).to_owned(),
        }
    }

    /// The file.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "# Verification Evidence: Task {}\n\nResult: {}\nTimestamp: {}\nTask: {}\n",
            self.task,
            word(self.pass),
            self.at,
            self.title,
        );
        if let Some(iteration) = self.iteration {
            let _ = writeln!(text, "Iteration: {iteration}");
        }
        text.push_str(
            "\n## Criteria Results\n\n| # | Criterion | Result | Evidence |\n|---|-----------|--------|---------|\n",
        );
        for Criterion { number, criterion, pass, evidence } in &self.criteria {
            let (criterion, evidence) = (cell(criterion), cell(evidence));
            let _ = writeln!(text, "| {number} | {criterion} | {} | {evidence} |", word(*pass));
        }
        text.push_str("\n## Mechanical Checks\n\n| Check | Result | Detail |\n|-------|--------|--------|\n");
        for Finding { name, verdict, detail } in &self.checks {
            let _ = writeln!(text, "| {} | {} | {} |", cell(name), check_word(*verdict), cell(detail));
        }
        text.push_str("\n## Test Output\n\n");
        if self.outputs.is_empty() {
            text.push_str("No test commands\n");
        }
        for Output { name, verdict, text: output } in &self.outputs {
            let fence = fence(output);
            if let Some(verdict) = verdict {
                let _ = writeln!(text, "{name} ({})\n", check_word(*verdict));
            }
            let _ = write!(text, "{fence}\n{output}\n{fence}\n\n");
        }
        text.push_str("\n## Files Reviewed\n\n");
        for file in &self.files {
            let _ = writeln!(text, "- {file}");
        }
        let _ = write!(text, "\n## Summary\n\n{}\n", self.summary);
        text
    }
}

fn granted(granted: &Granted) -> String {
    one_line(&format!("{} is not in the plan: {}", granted.path, granted.reason))
}

/// Every verdict of a check, with the word that it is written as.
const CHECK_WORDS: [(CheckVerdict, &str); 4] = [
    (CheckVerdict::Pass, "PASS"),
    (CheckVerdict::Fail, "FAIL"),
    (CheckVerdict::Note, "NOTE"),
    (CheckVerdict::NotApplicable, "N/A"),
];

fn is_command(check: &Check) -> bool {
    check.name.starts_with(COMMAND_CHECK)
}

fn word(pass: bool) -> &'static str {
    if pass { "PASS" } else { "FAIL" }
}

fn check_word(verdict: CheckVerdict) -> &'static str {
    CHECK_WORDS.iter().find(|(of, _)| *of == verdict).map_or("", |(_, word)| word)
}

/// Text that can't end its line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text that can't end its table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A fence longer than any run of backticks in `text`.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests;
