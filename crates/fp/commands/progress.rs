//! `fp progress`.

use fp_core::report::history::History;
use fp_core::report::progress::{ProgressReport, markdown};
use fp_host::file;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;

/// Write progress.md: what is done, by whom, what failed and why, and what is left
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let report = ProgressReport::new(&past.state, &History::new(&past.entries), &plan.goal());
    let text = markdown(&report);
    let path = plan.folder.file("progress.md");
    file::atomic_write(&path, text.as_bytes())?;
    match context.format {
        Format::Text => context.printer.data(&text),
        Format::Json => context.printer.json(&report)?,
    }
    context.printer.note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}
