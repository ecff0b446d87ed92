//! Why a task is where it is, as text that fits 80 columns.

use fp_core::report::log::Told;
use fp_core::report::why::{Link, WhyReport};
use fp_core::text::{fitted, wrapped_within};
use unicode_width::UnicodeWidthStr as _;

use super::WIDTH;
use super::log::LogText;
use super::status::word;

/// Most lines of one reason.
const REASON: usize = 3;
/// Deepest step that is indented further than the one above it.
const DEEPEST: usize = 12;

/// The whole report.
pub(crate) fn text(report: &WhyReport) -> String {
    let head = format!("Task {}: ", report.task);
    let mut text = format!("{head}{}\n", fitted(&report.title, WIDTH.saturating_sub(head.width())));
    text.push_str("\nWhy it is where it is:\n");
    report.chain.iter().for_each(|link| text.push_str(&step(link)));
    if report.more > 0 {
        text.push_str(&format!("  (and {} more: fp ready {})\n", report.more, report.plan_id));
    }
    if !report.events.is_empty() {
        text.push_str("\nWhat happened to it:\n");
    }
    if report.earlier > 0 {
        let (plan, task) = (&report.plan_id, &report.task);
        text.push_str(&format!("({} earlier: fp log {plan} --task {task})\n", report.earlier));
    }
    let mut log = LogText::default();
    for happened in &report.events {
        let told = Told {
            task: happened.task.clone(),
            text: happened.text.clone(),
            details: happened.details.clone(),
        };
        text.push_str(&log.lines(happened.at, happened.seq, &[told]));
    }
    text.push_str("\nWhat brings it on:\n");
    for step in &report.next {
        text.push_str(&format!("  {}\n      {}\n", step.command, step.why));
    }
    if report.next.is_empty() {
        text.push_str("  nothing: it is done\n");
    }
    text
}

fn step(link: &Link) -> String {
    let indent = "  ".repeat(link.depth.min(DEEPEST) + 1);
    let state = if link.ready { "ready" } else { word(link.status) };
    let head = format!("{indent}{}  {state}  ", link.id);
    let room = WIDTH.saturating_sub(head.width()).max(20);
    let lines = wrapped_within(&format!("{}: {}", link.title, link.reason), room, REASON);
    let below = " ".repeat(head.width());
    let line =
        |(number, line): (usize, &String)| format!("{}{line}\n", if number == 0 { &head } else { &below });
    lines.iter().enumerate().map(line).collect()
}
