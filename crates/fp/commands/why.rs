//! `fp why`: explains a task's state and what unblocks it.

use fp_plan::plan::id::TaskId;
use fp_plan::text::{fitted, wrapped_within};
use fp_run::report::status::state_word;
use fp_run::report::why::{WhyLink, WhyReport};
use unicode_width::UnicodeWidthStr as _;

use super::log::LogText;
use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::printer::WIDTH;

/// Most lines for one reason.
const REASON: usize = 3;
/// Deepest level of indentation.
const DEEPEST: usize = 12;

/// Explain a task's state and what unblocks it
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct WhyArgs {
    /// The plan; the active one, or the last one, where left out.
    plan: Option<String>,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: WhyArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let state = &past.state;
    let edited = match state.approval {
        Some(_) => context.tree(&plan)?.edited(state),
        None => Default::default(),
    };
    let report = WhyReport::new(state, &past.entries, &edited, &args.task)?;
    match context.format {
        Format::Text => context.printer.data(&why_text(&report)),
        Format::Json => context.printer.json(&report)?,
    }
    Ok(Exit::Done)
}

fn why_text(report: &WhyReport) -> String {
    let (plan, task) = (&report.plan_id, &report.task);
    let head = format!("Task {task}: ");
    let mut text = format!("{head}{}\n", fitted(&report.title, WIDTH.saturating_sub(head.width())));
    text.push_str("\nWhy it is where it is:\n");
    report.chain.iter().for_each(|link| text.push_str(&link_lines(link)));
    if report.more > 0 {
        text.push_str(&format!("  (and {} more: fp ready {plan})\n", report.more));
    }
    if !report.events.is_empty() {
        text.push_str("\nWhat happened to it:\n");
    }
    if report.earlier > 0 {
        text.push_str(&format!("({} earlier: fp log {plan} --task {task})\n", report.earlier));
    }
    let mut log = LogText::default();
    for event in &report.events {
        text.push_str(&log.lines(event.at, event.seq, std::slice::from_ref(&event.told)));
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

fn link_lines(link: &WhyLink) -> String {
    let indent = "  ".repeat(link.depth.min(DEEPEST) + 1);
    let state = if link.ready { "ready" } else { state_word(link.status) };
    let head = format!("{indent}{}  {state}  ", link.id);
    let room = WIDTH.saturating_sub(head.width()).max(20);
    let lines = wrapped_within(&format!("{}: {}", link.title, link.reason), room, REASON);
    let below = " ".repeat(head.width());
    let line =
        |(number, line): (usize, &String)| format!("{}{line}\n", if number == 0 { &head } else { &below });
    lines.iter().enumerate().map(line).collect()
}
