//! `fp handoff`: writes a page for whoever continues the plan.

use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_run::interview::Interview;
use fp_run::report::handoff::HandoffReport;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Size limit of `interview.json`, in bytes.
const INTERVIEW_CAP: u64 = 16 * 1024 * 1024;
/// Files of a plan that are worth reading.
const WORTH_READING: [&str; 7] =
    ["interview.md", "research.md", "critique.md", "tasks.md", "plan.md", "notepad.md", "evidence"];

/// Write handoff.md: what someone else needs to continue the plan
#[derive(Debug, clap::Args)]
pub(crate) struct HandoffArgs {
    /// The plan; the only active one where left out.
    plan: Option<String>,
}

pub(crate) fn run(args: HandoffArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let interview = interview(&plan).unwrap_or_else(|error| {
        context.printer.note(&format!("note: what the interview found is left out: {}", error.message));
        None
    });
    let read = WORTH_READING.iter().filter(|name| plan.folder.file(name).exists());
    let read = read.map(|name| (*name).to_owned()).collect();
    let report = HandoffReport::new(&past.state, &past.entries, plan.goal(), interview.as_ref(), read);
    let text = report.to_markdown();
    let path = plan.folder.file("handoff.md");
    file::atomic_write(&path, text.as_bytes())?;
    match context.format {
        Format::Text => context.printer.data(&text),
        Format::Json => context.printer.json(&report)?,
    }
    context.printer.note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}

/// The record of the interview, if there is one.
fn interview(plan: &OpenPlan) -> Result<Option<Interview>, CommandError> {
    let path = plan.folder.file("interview.json");
    let Some(text) = file::read_text_if_there(&path, INTERVIEW_CAP)? else { return Ok(None) };
    let failed = |error| CommandError::failed(format!("{}:{error}", path.display()));
    Interview::parse(&text).map(Some).map_err(failed)
}
