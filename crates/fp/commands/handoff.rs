//! `fp handoff`: writes a page for whoever continues the plan.

use fp_host::file;
use fp_run::report::handoff::HandoffReport;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::source::interview_at;

/// Files of a plan that are worth reading.
const WORTH_READING: [&str; 7] = [
    "interview.md",
    "research.md",
    "critique.md",
    "tasks.md",
    "plan.md",
    "notepad.md",
    "evidence",
];

/// Write handoff.md: what someone else needs to continue the plan
#[derive(Debug, clap::Args)]
pub(crate) struct HandoffArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
}

pub(crate) fn run(args: HandoffArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let lead = plan.look_at_lead();
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let interview = interview_at(&plan.folder.file("interview.json")).unwrap_or_else(|error| {
        context.printer.note(&format!(
            "note: what the interview found is left out: {}",
            error.message
        ));
        None
    });
    let read = WORTH_READING
        .iter()
        .filter(|name| plan.folder.file(name).exists());
    let read = read.map(|name| (*name).to_owned()).collect();
    let report = HandoffReport::new(
        &past.state,
        &past.entries,
        lead.presence(&past.state),
        plan.goal(),
        interview.as_ref(),
        read,
    );
    let text = report.to_markdown();
    let path = plan.folder.file("handoff.md");
    file::atomic_write(&path, text.as_bytes())?;
    context.report(&report, &text)?;
    context
        .printer
        .note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}
