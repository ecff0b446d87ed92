//! `fp demo`: shows the whole pipeline on a sample, without a model.

use crate::context::Context;
use crate::demo::{DemoStage, play};
use crate::error::{CommandError, CommandResult, Exit};

/// Run the whole pipeline on a sample, without a model
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Keep the sample repository and print its path.
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: DemoArgs, context: &Context) -> CommandResult {
    let temporary = tempfile::Builder::new()
        .prefix("fp-demo-")
        .disable_cleanup(args.keep)
        .tempdir();
    let temporary = temporary.map_err(|e| {
        CommandError::failed(format!("can't create a temporary folder: {e}"))
            .with_hint("set TMPDIR (TMP on Windows) to a writable folder")
    })?;
    let stage = DemoStage::set_up(temporary.path())?;
    let page = play(&stage)?;
    if args.keep {
        context
            .printer
            .data(&format!("Repository: {}\n", temporary.path().display()));
        context
            .printer
            .data(&format!("Report of the run: {}\n", page.display()));
    } else {
        context.printer.data(
            "Removed the sample repository. To keep it, with the report of its run, use --keep.\n",
        );
    }
    Ok(Exit::Done)
}
