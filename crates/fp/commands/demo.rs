//! `fp demo`: shows the whole pipeline on a sample, without a model.

use std::path::PathBuf;

use crate::context::Context;
use crate::demo::{DemoStage, play};
use crate::error::{CommandError, CommandResult, Exit};

/// Run the whole pipeline on a sample, without a model
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Keep the sample repository and print where it is.
    #[arg(long)]
    keep: bool,
    /// Make the sample repository in this folder, which must be empty or not exist yet, and keep it.
    #[arg(long)]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: DemoArgs, context: &Context) -> CommandResult {
    let temporary = tempfile::Builder::new().prefix("fp-demo-").tempdir();
    let temporary = temporary.map_err(|e| {
        CommandError::failed(format!("can't create a temporary folder: {e}"))
            .hint("set TMPDIR (TMP on Windows) to a writable folder")
    })?;
    let folder = match &args.dir {
        Some(dir) => empty_folder(dir.clone())?,
        None => temporary.path().to_owned(),
    };
    let stage = DemoStage::set_up(&folder)?;
    let page = play(&stage)?;
    if args.keep && args.dir.is_none() {
        drop(temporary.keep());
    }
    if args.keep || args.dir.is_some() {
        context.printer.data(&format!("Repository: {}\n", folder.display()));
        context.printer.data(&format!("Report of the run: {}\n", page.display()));
    } else {
        context
            .printer
            .data("Removed the sample repository. To keep it, with the report of its run, use --keep.\n");
    }
    Ok(Exit::Done)
}

fn empty_folder(folder: PathBuf) -> Result<PathBuf, CommandError> {
    let failed = |e: std::io::Error| {
        CommandError::failed(format!("{} can't be used: {e}", folder.display()))
            .hint("name a folder that fp can create and write to")
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    if std::fs::read_dir(&folder).map_err(failed)?.next().is_some() {
        return Err(CommandError::failed(format!("{} is not empty", folder.display()))
            .hint("name a folder that is empty or does not exist yet"));
    }
    std::path::absolute(&folder).map_err(failed)
}
