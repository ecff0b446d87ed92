//! `fp why`: explains a task's state and what unblocks it.

use fp_plan::plan::id::TaskId;
use fp_plan::text::{visible_line, wrapped_within};
use fp_run::report::status::state_word;
use fp_run::report::why::{WhyLink, WhyReport};

use super::log::LogText;
use crate::context::Context;
use crate::error::CommandResult;
use crate::printer::columns;
use crate::theme::{Look, StyledLine};

/// Most lines for one reason.
const REASON: usize = 3;
/// Deepest level of indentation.
const DEEPEST: usize = 12;

/// Explain a task's state and what unblocks it
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct WhyArgs {
    /// The plan; defaults to the active one, or the last one.
    plan: Option<String>,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: WhyArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let lead = plan.look_at_lead();
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let state = &past.state;
    let edited = match state.approval {
        Some(_) => context.tree(&plan)?.edited(state),
        None => Default::default(),
    };
    let report = WhyReport::new(
        state,
        &past.entries,
        &edited,
        lead.presence(state),
        &args.task,
    )?;
    context.styled_report(&report, &why_text(&report))
}

fn why_text(report: &WhyReport) -> String {
    let (plan, task) = (&report.plan_id, &report.task);
    let head = StyledLine::default()
        .and(Look::Plain, "Task ")
        .and(Look::Strong, format!("{task}: "));
    let mut text = head.and(Look::Plain, &report.title).painted(columns()) + "\n";
    text.push_str("\nState:\n");
    report
        .chain
        .iter()
        .for_each(|link| text.push_str(&link_lines(link)));
    if report.more > 0 {
        text.push_str(&format!("  (and {} more: fp ready {plan})\n", report.more));
    }
    if !report.events.is_empty() {
        text.push_str("\nHistory:\n");
    }
    if report.earlier > 0 {
        text.push_str(&format!(
            "({} earlier: fp log {plan} --task {task})\n",
            report.earlier
        ));
    }
    let mut log = LogText::default();
    for event in &report.events {
        text.push_str(&log.lines(event.at, event.seq, std::slice::from_ref(&event.told)));
    }
    text.push_str("\nWhat unblocks it:\n");
    for step in &report.next {
        let (command, why) = (
            Look::Hint.paint(&visible_line(&step.command)),
            visible_line(&step.why),
        );
        text.push_str(&format!("  {command}\n      {why}\n"));
    }
    if report.next.is_empty() {
        text.push_str("  nothing: it is done\n");
    }
    text
}

fn link_lines(link: &WhyLink) -> String {
    let indent = "  ".repeat(link.depth.min(DEEPEST) + 1);
    let state = state_word(link.status, link.ready, link.halt);
    let head = StyledLine::default()
        .and(Look::Strong, format!("{indent}{}  ", link.id))
        .and(
            Look::of(link.status, link.ready, link.halt),
            format!("{state}  "),
        );
    let room = columns().saturating_sub(head.width()).max(20);
    let lines = wrapped_within(&format!("{}: {}", link.title, link.reason), room, REASON);
    let (below, head) = (" ".repeat(head.width()), head.painted(usize::MAX));
    let line = |(number, line): (usize, &String)| {
        format!("{}{line}\n", if number == 0 { &head } else { &below })
    };
    lines.iter().enumerate().map(line).collect()
}
