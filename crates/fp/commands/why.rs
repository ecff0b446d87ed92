//! `fp why`.

use fp_core::plan::id::TaskId;
use fp_core::report::why::WhyReport;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::render::why;

/// Say why a task is where it is, and what brings it on
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    let past = plan.store.past()?;
    context.notices(&past.notices);
    let state = &past.state;
    let edited = match state.approval {
        Some(_) => context.tree(&plan)?.edited(state),
        None => Default::default(),
    };
    let report = WhyReport::new(state, &past.entries, &edited, &args.task)?;
    match context.format {
        Format::Text => context.printer.data(&why::text(&report)),
        Format::Json => context.printer.json(&report)?,
    }
    Ok(Exit::Done)
}
