//! `fp demo`.

use std::path::PathBuf;

use crate::context::Context;
use crate::demo::{DemoStage, play};
use crate::error::{CommandError, CommandResult, Exit};

/// Run the whole pipeline on a sample, without a model
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Keep the sample repository, and say where it is.
    #[arg(long)]
    keep: bool,
    /// Make the sample repository in this folder, which must be empty or not exist yet, and keep it.
    #[arg(long)]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: DemoArgs, context: &Context) -> CommandResult {
    let temporary = tempfile::Builder::new().prefix("fp-demo-").tempdir();
    let temporary = temporary.map_err(|e| {
        CommandError::failed(format!("no temporary folder can be made: {e}"))
            .hint("set TMPDIR, on Windows TMP, to a folder that can be written")
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
        context.printer.data(&format!("The repository: {}\n", folder.display()));
        context.printer.data(&format!("The run to look at: {}\n", page.display()));
    } else {
        context.printer.data(
            "The sample repository is removed again; --keep keeps it, with report.html, the run to look at.\n",
        );
    }
    Ok(Exit::Done)
}

fn empty_folder(folder: PathBuf) -> Result<PathBuf, CommandError> {
    let failed = |e: std::io::Error| {
        CommandError::failed(format!("{} can't be used: {e}", folder.display()))
            .hint("name a folder that can be made and written")
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    if std::fs::read_dir(&folder).map_err(failed)?.next().is_some() {
        return Err(CommandError::failed(format!("{} is not empty", folder.display()))
            .hint("name a folder that is empty or does not exist yet"));
    }
    std::path::absolute(&folder).map_err(failed)
}
