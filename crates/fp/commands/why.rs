//! `fp why`: explains a task's state, what unblocks it, and the evidence for its last verdict.

use fp_host::plan::OpenPlan;
use fp_host::run::evidence;
use fp_plan::plan::id::TaskId;
use fp_plan::text::{visible_line, wrapped_within};
use fp_run::report::evidence::evidence_head;
use fp_run::report::why::{WhyLink, WhyReport};
use fp_run::run::Refusal;
use fp_run::run::state::TaskState;
use serde_json::json;

use super::log::LogText;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::columns;
use crate::theme::{Look, StyledLine};

/// Maximum number of lines per reason.
const REASON: usize = 3;
/// Maximum number of indentation levels.
const DEEPEST: usize = 12;

/// Explain a task's state and what unblocks it
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct WhyArgs {
    /// The plan; defaults to the active one, or the last one.
    plan: Option<String>,
    /// The task.
    task: TaskId,
    /// Show the evidence for the last verdict on it.
    #[arg(long)]
    evidence: bool,
}

pub(crate) fn explain_task(args: WhyArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    if args.evidence {
        return show_evidence(&plan, &args.task, context);
    }
    let lead = plan.look_at_lead();
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let state = &past.state;
    let edited = match state.approval {
        Some(_) => context.tree(&plan)?.edited(state),
        None => Default::default(),
    };
    let lead = lead.presence(state);
    let report = WhyReport::new(state, &past.entries, &edited, lead, &args.task)?;
    context.styled_report(&report, &why_text(&report))
}

fn why_text(report: &WhyReport) -> String {
    let head = StyledLine::new(Look::Plain, "Task ")
        .with_text(Look::Strong, format!("{}: ", report.task))
        .with_text(Look::Plain, &report.title);
    let mut text = head.painted(columns()) + "\n\nState:\n";
    text.extend(report.chain.iter().map(link_text));
    if !report.events.is_empty() {
        text += "\nHistory:\n";
    }
    let mut log = LogText::default();
    for event in &report.events {
        text += &log.entry_lines(event.at, event.seq, std::slice::from_ref(&event.told));
    }
    text += "\nWhat unblocks it:\n";
    for step in &report.next {
        let command = Look::Hint.paint(&visible_line(&step.command));
        text += &format!("  {command}\n      {}\n", visible_line(&step.why));
    }
    if report.next.is_empty() {
        text += "  nothing: it is done\n";
    }
    text
}

fn link_text(link: &WhyLink) -> String {
    let indent = "  ".repeat(link.depth.min(DEEPEST) + 1);
    let line = &link.line;
    let head = StyledLine::new(Look::Strong, format!("{indent}{}  ", line.id))
        .with_text(Look::of_task(line), format!("{}  ", line.state_word()));
    let room = columns().saturating_sub(head.width()).max(20);
    let why = wrapped_within(&format!("{}: {}", line.title, link.reason), room, REASON);
    let lines = head.hanging(Look::Plain, why).into_iter();
    lines.map(|line| line.painted(usize::MAX) + "\n").collect()
}

/// Prints the evidence for the last verdict on task `id`.
fn show_evidence(plan: &OpenPlan, id: &TaskId, context: &Context) -> CommandResult {
    let state = context.state(plan)?;
    if state.approval.is_none() {
        return Err(Refusal::NotApproved.into());
    }
    let task = state.expect_task(id)?;
    if let Some(text) = evidence::read_evidence(plan, id)? {
        context.notices(disagreement_of(&text, task).as_slice());
        let json = json!({ "task": id, "file": evidence::evidence_file(id), "text": text });
        return context.report(&json, &text);
    }
    let plan = plan.id();
    let (why, hint) = match task.imported {
        true => (
            "it was done before the plan was imported".to_owned(),
            format!("`fp retry {plan} {id}` has it done again, and verified"),
        ),
        false => (
            format!(
                "it is {}, and no verdict has been recorded",
                task.status.into_str()
            ),
            format!("`fp status {plan}` shows where each task is"),
        ),
    };
    Err(CommandError::refused(format!("task {id} has no evidence: {why}")).with_hint(hint))
}

/// How the evidence file contradicts the log, if it does; only the log counts.
fn disagreement_of(text: &str, task: &TaskState) -> Option<String> {
    let told = match &task.verdict {
        None if task.imported => "the verdict was given before the plan was imported",
        None => "the file is older than the last attempt at the task",
        Some(verdict) if text.starts_with(&evidence_head(&task.leaf.id, verdict.pass)) => {
            return None;
        }
        Some(verdict) if verdict.pass => "the file was edited: by the log the task passed",
        Some(_) => "the file was edited: by the log the task did not pass",
    };
    Some(told.to_owned())
}
