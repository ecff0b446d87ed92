//! `fp plans export`.

use std::path::PathBuf;

use fp_core::report::results::{Results, markdown};
use fp_host::file;
use fp_host::plan::Tree;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::{Format, json};

/// Write what came of a plan as one page: its goal, each task with its commit and its evidence, decisions and notes
///
/// The page is Markdown, with --format json the same as data. An archived plan can be named as well.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan.
    plan: String,
    /// The file to write; else it is printed.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if there is one.
    #[arg(long, requires = "out")]
    force: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open_or_archived(&args.plan)?;
    let loaded = plan.load()?;
    context.notices(&loaded.notices);
    let tree = match plan.tree() {
        Ok(tree) => Some(tree),
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(error.into()),
    };
    let results = Results::new(&loaded.state, tree.as_ref().map(Tree::parse).as_ref(), plan.goal());
    let page = match context.format {
        Format::Text => markdown(&results),
        Format::Json => json(&results)?,
    };
    let Some(path) = args.out else {
        context.printer.data(&page);
        return Ok(Exit::Done);
    };
    let path = context.cwd.join(path);
    if args.force {
        file::atomic_write(&path, page.as_bytes())?;
    } else if !file::write_if_absent(&path, page.as_bytes())? {
        return Err(CommandError::refused(format!("{} is there already", context.shown(&path)))
            .hint("name another file, or add --force to replace it"));
    }
    context.printer.note(&format!("note: written to {}", context.shown(&path)));
    Ok(Exit::Done)
}
