//! `fp ready`.

use fp_core::report::ready::ReadyReport;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::render::ready;
use crate::source::PlanSource;

/// List the tasks that can be claimed now, and of every other one why not
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let state = &loaded.state;
    let report = if state.approval.is_none() {
        let source = PlanSource::open(context, Some(plan.id().as_str()))?;
        ReadyReport::unapproved(state, &fp_core::plan::parse(&source.text()?).0)
    } else {
        ReadyReport::new(state, &context.tree(&plan)?.edited(state))
    };
    match context.format {
        Format::Text => context.printer.data(&ready::text(&report)),
        Format::Json => context.printer.json(&report)?,
    }
    Ok(if report.ready.is_empty() { Exit::NothingReady } else { Exit::Done })
}
