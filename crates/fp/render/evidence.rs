//! The evidence of a task as text.

use fp_core::report::evidence::{EvidenceCheck, EvidenceCriterion, EvidenceOutput, TaskEvidence};
use fp_core::text::one_line;
use fp_core::verification::CheckVerdict;

/// The whole of it.
pub(crate) fn text(evidence: &TaskEvidence) -> String {
    let iteration = evidence.iteration.map_or_else(String::new, |number| format!(", iteration {number}"));
    let mut text = format!(
        "# Task {}: {}\n\n{}{iteration}, {}\n\n## Criteria\n\n",
        one_line(&evidence.task),
        one_line(&evidence.title),
        word(evidence.pass),
        evidence.at
    );
    for EvidenceCriterion { number, criterion, pass, evidence } in &evidence.criteria {
        text.push_str(&format!("{}  {number}. {criterion}\n", word(*pass)));
        if !evidence.is_empty() {
            text.push_str(&format!("         {evidence}\n"));
        }
    }
    if !evidence.checks.is_empty() || !evidence.outputs.is_empty() {
        text.push_str("\n## Checks\n\n");
    }
    for EvidenceCheck { name, verdict, detail } in &evidence.checks {
        text.push_str(&format!("{}  {name}", check_word(*verdict)));
        text.push_str(&if detail.is_empty() { "\n".to_owned() } else { format!(": {detail}\n") });
    }
    for EvidenceOutput { name, verdict, text: output } in &evidence.outputs {
        text.push_str(&format!("{}  {name}\n", verdict.map_or("    ", check_word)));
        for line in output.lines() {
            text.push_str(format!("      {line}").trim_end());
            text.push('\n');
        }
    }
    if !evidence.files.is_empty() {
        text.push_str("\n## Files\n\n");
        evidence.files.iter().for_each(|file| text.push_str(&format!("- {file}\n")));
    }
    if !evidence.summary.is_empty() {
        text.push_str(&format!("\n## Summary\n\n{}\n", evidence.summary));
    }
    text
}

fn word(pass: bool) -> &'static str {
    if pass { "pass" } else { "FAIL" }
}

fn check_word(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Pass => "pass",
        CheckVerdict::Fail => "FAIL",
        CheckVerdict::Note => "note",
        CheckVerdict::NotApplicable => "n/a ",
    }
}
