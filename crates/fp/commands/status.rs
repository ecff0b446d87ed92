//! `fp status`.

use fp_core::report::status::StatusReport;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::render::status;

/// Show how far a plan is
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let report = StatusReport::new(&loaded.state);
    match context.format {
        Format::Text => context.printer.data(&status::text(&report)),
        Format::Json => context.printer.json(&report)?,
    }
    Ok(Exit::Done)
}
