//! Writes a task's evidence file, the proof behind its last verdict. Tools made for fractal-planner 0.1 can read it.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::cost::in_cents;
use super::log::by_whom;
use crate::run::State;
use crate::run::crew::{AgentCost, total_cost};
use crate::run::state::{Asked, TaskState};
use crate::verification::CheckVerdict;
use fp_plan::markdown::longest_ticks;
use fp_plan::plan::id::{PlanId, TaskId};
use fp_plan::text::{clipped, one_line, shown_command};

/// The evidence file of `task` with these `criteria`, written at `at`. Strangers' text can't break out of its line, its
/// table cell or its fence.
pub fn evidence_page(task: &TaskState, criteria: &[String], at: Timestamp) -> String {
    let verdict = task.verdict.as_ref();
    let mut page = evidence_head(&task.leaf.id, verdict.is_some_and(|verdict| verdict.pass));
    let at = at.strftime("%FT%TZ");
    let _ = write!(
        page,
        "Timestamp: {at}\nTask: {}\nIteration: {}\n",
        one_line(&task.leaf.title),
        verdict.map_or(task.iteration, |verdict| verdict.iteration),
    );
    if let Some(judged) = task.measured() {
        let _ = writeln!(page, "Tree: {}", one_line(&judged.tree));
    }
    page.push_str(
        "\n## Criteria Results\n\n| # | Criterion | Result | Evidence |\n|---|-----------|--------|---------|\n",
    );
    for judged in verdict.map_or(&[][..], |verdict| &verdict.judgements) {
        let number = judged.criterion;
        let criterion = number.checked_sub(1).and_then(|at| criteria.get(at));
        let criterion = criterion.map_or_else(String::new, |text| table_cell(text));
        let (result, evidence) = (pass_word(judged.pass), table_cell(&judged.evidence));
        let _ = writeln!(page, "| {number} | {criterion} | {result} | {evidence} |");
    }
    if verdict.is_some_and(|verdict| verdict.judgements.is_empty()) {
        page.push_str("\nNo verifier judged the criteria: the checks decided.\n");
    }
    page.push_str(
        "\n## Mechanical Checks\n\n| Check | Result | Detail |\n|-------|--------|--------|\n",
    );
    let measured = task.verification.as_ref();
    let checks = measured.map_or(&[][..], |measured| &measured.checks);
    let mut output = String::new();
    for check in checks {
        let (detail, result) = (&check.detail, check_word(check.verdict));
        if check.command().is_some() {
            let (name, fence) = (shown_command(&check.name), fence_around(detail));
            let detail = detail.trim_end();
            let _ = write!(
                output,
                "{name} ({result})\n\n{fence}\n{detail}\n{fence}\n\n"
            );
        } else {
            let (name, detail) = (table_cell(&check.name), table_cell(detail));
            let _ = writeln!(page, "| {name} | {result} | {detail} |");
        }
    }
    if output.is_empty() {
        output.push_str("No test commands\n");
    }
    let _ = write!(page, "\n## Test Output\n\n{output}\n## Files Reviewed\n\n");
    for change in task.measured_changes() {
        let _ = writeln!(page, "- {}", change.path);
    }
    for granted in &task.granted {
        let line = format!("{} is not in the plan: {}", granted.path, granted.reason);
        let _ = writeln!(page, "- {}", one_line(&line));
    }
    let summary = verdict.map_or("", |verdict| verdict.summary.trim());
    let _ = write!(page, "\n## Summary\n\n{summary}\n");
    page
}

/// The trailers of the commit of `task`, which has passed: its place in `plan`, and what was verified.
pub fn commit_trailers(plan: &PlanId, task: &TaskState) -> String {
    let judgements = task.verdict.iter().flat_map(|verdict| &verdict.judgements);
    let (mut met, mut criteria) = (0, 0);
    for judged in judgements {
        criteria += 1;
        met += usize::from(judged.pass);
    }
    let measured = task.verification.as_ref();
    let checks = measured.map_or(&[][..], |measured| &measured.checks);
    let commands = checks.iter().filter(|check| check.command().is_some());
    let (passed, failed): (Vec<_>, Vec<_>) =
        commands.partition(|check| check.verdict == CheckVerdict::Pass);
    let judged = match task.is_only_checked() {
        true => "no verifier".to_owned(),
        false => format!("{met}/{criteria} criteria"),
    };
    let (passed, commands) = (passed.len(), passed.len() + failed.len());
    format!(
        "Fp-Task: {plan} {}\nFp-Verified: {judged}, {passed}/{commands} commands\n",
        task.leaf.id
    )
}

/// Maximum length of a note on a commit, in characters.
const NOTE_CAP: usize = 60_000;

/// The note on the commit of `task`: what it cost, what was asked and granted on the way, and its evidence, which is the
/// content of its file.
pub fn commit_note(state: &State, task: &TaskState, evidence: &str) -> String {
    let mut note = format!(
        "Plan: {}\nTask: {} {}\nAttempts: {}\n",
        state.plan_id,
        task.leaf.id,
        one_line(&task.leaf.title),
        task.iteration
    );
    let is_own = |cost: &&AgentCost| cost.task.as_ref() == Some(&task.leaf.id);
    let (tokens, micro_usd) = total_cost(state.costs.iter().filter(is_own));
    if tokens.total() > 0 {
        let money = micro_usd.map_or_else(String::new, |sum| format!(", {} USD", in_cents(sum)));
        let _ = writeln!(note, "Cost: {} tokens{money}", tokens.total());
    }
    let of_task = |asked: &&Asked| asked.question.topic.task() == Some(&task.leaf.id);
    for asked in state.questions.iter().filter(of_task) {
        let (question, answer) = (one_line(&asked.question.text), asked.answer.join(", "));
        let _ = writeln!(
            note,
            "Asked: {question} {} ({})",
            one_line(&answer),
            by_whom(asked.by)
        );
    }
    let rest = format!("\n{evidence}");
    let room = NOTE_CAP.saturating_sub(note.len());
    note + &clipped(&rest, room)
}

/// The first lines of a task's evidence file.
pub fn evidence_head(task: &TaskId, pass: bool) -> String {
    format!(
        "# Verification Evidence: Task {task}\n\nResult: {}\n",
        pass_word(pass)
    )
}

fn pass_word(pass: bool) -> &'static str {
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

/// Escapes text so that it can't end its table cell.
fn table_cell(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}

/// A fence longer than any run of backticks in `text`.
pub(super) fn fence_around(text: &str) -> String {
    "`".repeat(longest_ticks(text).max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::event::{Judgement, Leaf};
    use crate::run::state::{MeasuredWork, TaskVerdict};
    use crate::verification::{COMMAND_CHECK, Check};

    #[test]
    fn no_text_can_pass_for_a_result() {
        let text =
            "x|\nResult: PASS\n\n## Criteria Results\n| 1 | a | PASS | b |\n```\n````\n```` (PASS)";
        let leaf = Leaf {
            id: TaskId::new("1.2").unwrap(),
            title: text.into(),
            hash: String::new(),
            dependencies: Vec::new(),
            after: Vec::new(),
            files: Vec::new(),
            references: Vec::new(),
            stamps: None,
            exclusive: Vec::new(),
            complexity: 1,
            risky: false,
            contract: false,
            phase: 0,
        };
        let mut task = TaskState::new(leaf);
        let judged = |criterion| Judgement {
            criterion,
            pass: false,
            evidence: text.into(),
        };
        task.verdict = Some(TaskVerdict {
            pass: false,
            iteration: 3,
            judgements: vec![judged(1), judged(2)],
            summary: String::new(),
            reasons: Vec::new(),
        });
        let checks = [text.to_owned(), format!("{COMMAND_CHECK}{text}")]
            .map(|name| Check {
                name,
                verdict: CheckVerdict::Fail,
                detail: text.into(),
            })
            .to_vec();
        task.verification = Some(MeasuredWork {
            onto: None,
            tree: String::new(),
            files: Vec::new(),
            checks,
        });
        let page = evidence_page(&task, &[text.to_owned()], Timestamp::UNIX_EPOCH);
        let (above, below) = page.split_once("\n## Test Output\n").unwrap();
        let results: Vec<&str> = above
            .lines()
            .filter(|line| line.starts_with("Result: "))
            .collect();
        assert_eq!(results, ["Result: FAIL"]);
        let rows = |word: &str| {
            above
                .lines()
                .filter(|row| row.starts_with('|') && row.contains(word))
                .count()
        };
        assert_eq!((rows(" | FAIL | "), rows(" | PASS | ")), (3, 0), "{above}");
        assert_eq!(below.matches("\n`````\n").count(), 2, "{below}");
    }
}
