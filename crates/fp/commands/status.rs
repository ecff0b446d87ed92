//! `fp status`.

use fp_core::report::status::StatusReport;
use fp_host::screen::Screen;

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;
use crate::render::status;
use crate::watch::watch;

/// Show how far a plan is
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan; the only active one where left out.
    plan: Option<String>,
    /// Show it on the whole terminal, and go on as it changes: q ends, arrow keys scroll.
    #[arg(long, short)]
    watch: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    if args.watch {
        if context.format == Format::Text && Screen::is_there(context.env("TERM").as_deref()) {
            return watch(&plan, context);
        }
        context.printer.note("note: --watch shows text on a terminal: this is the status at the moment");
    }
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let report = StatusReport::new(&loaded.state);
    match context.format {
        Format::Text => context.printer.data(&status::text(&report)),
        Format::Json => context.printer.json(&report)?,
    }
    Ok(Exit::Done)
}
