//! A task's signals with the values put into the formulas, and the bands that they fall into.

use serde::Serialize;

use super::score::{Inputs, Signals};

/// One signal and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Its name, as `signals.json` has it.
    pub signal: &'static str,
    /// From 1 to 5.
    pub value: u8,
    /// The formula with the values put in.
    pub formula: String,
    /// What the band takes in.
    pub band: &'static str,
}

const FILE_SCOPE: [&str; 5] = [
    "at most 1 file and fewer than 100 lines",
    "at most 2 files and fewer than 300 lines",
    "at most 3 files and fewer than 600 lines",
    "at most 4 files and fewer than 1000 lines",
    "more than 4 files, or 1000 lines and more",
];
const COUPLING: [&str; 5] =
    ["at most 2", "above 2, at most 5", "above 5, at most 10", "above 10, at most 20", "above 20"];
const GIT_RISK: [&str; 5] = ["below 1", "from 1, below 2", "from 2, below 4", "from 4, below 7", "from 7"];

/// The five signals of a task, in their order.
#[must_use]
pub fn explain(signals: &Signals, inputs: &Inputs) -> Vec<Explained> {
    let band = |bands: &[&'static str; 5], value: u8| bands[usize::from(value.clamp(1, 5)) - 1];
    let explained = |signal, value, formula, band| Explained { signal, value, formula, band };
    vec![
        explained(
            "fileScope",
            signals.file_scope,
            format!("{}, {}", count(inputs.files, "file"), count(inputs.lines, "line")),
            if inputs.files == 0 { "no files" } else { band(&FILE_SCOPE, signals.file_scope) },
        ),
        explained("coupling", signals.coupling, coupling(inputs), band(&COUPLING, signals.coupling)),
        explained(
            "gitRisk",
            signals.git_risk,
            git_risk(inputs),
            if inputs.files_with_history == 0 { "no history" } else { band(&GIT_RISK, signals.git_risk) },
        ),
        explained(
            "testCoverage",
            signals.test_coverage,
            test_coverage(inputs),
            coverage_band(signals, inputs),
        ),
        explained("composite", signals.composite, composite(signals), "from 1 to 5"),
    ]
}

fn coupling(inputs: &Inputs) -> String {
    let Inputs { files, fan_in, fan_out, .. } = *inputs;
    if files == 0 {
        return "0".to_owned();
    }
    format!("(fan-in {fan_in} + fan-out {fan_out}) / {files} = {:.2}", mean(fan_in + fan_out, files))
}

fn git_risk(inputs: &Inputs) -> String {
    let Inputs { files_with_history: files, commits, authors, fix_commits, .. } = *inputs;
    if files == 0 {
        return "0".to_owned();
    }
    let [churn, hands, fixes] = [commits, authors, fix_commits].map(|sum| mean(sum, files));
    format!(
        "commits {churn:.2} / 10 + authors {hands:.2} / 3 + fixes {fixes:.2} / 2 = {:.2}",
        churn / 10.0 + hands / 3.0 + fixes / 2.0
    )
}

fn test_coverage(inputs: &Inputs) -> String {
    let required = if inputs.tests_required { "are" } else { "are not" };
    format!("{} of {} tested, tests {required} required", inputs.tested, count(inputs.files, "file"))
}

fn coverage_band(signals: &Signals, inputs: &Inputs) -> &'static str {
    match signals.test_coverage {
        _ if inputs.files == 0 => "no files",
        1 => "80% and more",
        2 => "50% and more",
        3 if inputs.tested * 10 >= inputs.files * 2 => "20% and more",
        3 => "below 20%, and none required",
        4 => "below 20%",
        _ => "none",
    }
}

fn composite(signals: &Signals) -> String {
    let Signals { file_scope, coupling, git_risk, test_coverage, .. } = *signals;
    let sum = f64::from(file_scope)
        + 1.5 * f64::from(coupling)
        + 1.25 * f64::from(git_risk)
        + 0.75 * f64::from(test_coverage);
    format!(
        "round(({file_scope} + 1.5 x {coupling} + 1.25 x {git_risk} + 0.75 x {test_coverage}) / 4.5) = round({:.2})",
        sum / 4.5
    )
}

#[expect(clippy::cast_precision_loss, reason = "it is shown with two digits")]
fn mean(sum: u64, of: u64) -> f64 {
    sum as f64 / of as f64
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
