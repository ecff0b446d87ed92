//! The status report as text that fits 80 columns.

use fp_core::report::status::{StatusReport, TaskLine};
use fp_core::run::event::Decider;
use fp_core::run::payload::short;
use fp_core::run::state::Status;
use fp_core::text::fitted;
use unicode_width::UnicodeWidthStr as _;

use super::WIDTH;

/// The whole report.
pub(crate) fn text(report: &StatusReport) -> String {
    let mut text = format!("Plan {} ({})\n", report.plan_id, report.phase.word());
    if report.counts.total > 0 {
        text.push_str(&format!("{}\n", report.counts.in_words()));
    }
    if !report.tasks.is_empty() {
        text.push('\n');
    }
    let id_width = report.tasks.iter().map(|t| t.id.as_str().len()).max().unwrap_or(0);
    for task in &report.tasks {
        text.push_str(&line(task, id_width));
    }
    for question in &report.questions {
        text.push_str(&format!("\nOpen question: {question}\n"));
    }
    text
}

fn line(task: &TaskLine, id_width: usize) -> String {
    let state = if task.ready { "ready" } else { word(task.status) };
    let mut facts = Vec::new();
    if task.iteration > 0 {
        facts.push(format!("{}/{}", task.iteration, task.max_iterations));
    }
    facts.extend(task.owner.as_ref().map(ToString::to_string));
    facts.extend(task.commit.as_deref().map(|c| short(c).to_owned()));
    let facts = if facts.is_empty() { String::new() } else { format!("  ({})", facts.join(", ")) };
    let head = format!("  {:id_width$}  {state:<9}  ", task.id.as_str());
    let room = WIDTH.saturating_sub(head.width() + facts.width());
    let mut text = format!("{head}{}{facts}\n", fitted(&task.title, room.max(10)));
    if let Some(detail) = &task.detail {
        let indent = " ".repeat(id_width + 15);
        let room = WIDTH.saturating_sub(indent.len()).max(20);
        text.push_str(&format!("{indent}{}\n", fitted(detail, room)));
    }
    for granted in &task.granted {
        let (indent, by) =
            (" ".repeat(id_width + 15), if granted.by == Decider::User { "you" } else { "the policy" });
        let room = WIDTH.saturating_sub(indent.len()).max(20);
        let line = format!("+ {} (by {by}): {}", granted.path, granted.reason);
        text.push_str(&format!("{indent}{}\n", fitted(&line, room)));
    }
    text
}

/// A state as reports say it.
pub(crate) fn word(status: Status) -> &'static str {
    match status {
        Status::Pending => "waiting",
        Status::Implementing => "building",
        Status::AwaitingVerification => "verifying",
        Status::Completed => "done",
        Status::Failed => "FAILED",
        Status::Skipped => "skipped",
    }
}
