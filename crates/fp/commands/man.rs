//! `fp man`.

use std::path::PathBuf;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use fp_host::file::{self, FileError};
use serde_json::json;

use crate::cli::Cli;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Print the manual page of this program, or write one for each command
///
/// `fp man --out ~/.local/share/man/man1` lets `man fp` and `man fp-claim` find them.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write all pages to this folder. It is made if need be, and files of the same names are replaced.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

struct ManPage {
    file: String,
    text: String,
}

pub(crate) fn run(args: ManArgs, context: &Context) -> CommandResult {
    let mut tree = Cli::command();
    // The pages of inner commands are named after the outer ones only in a tree that is built.
    tree.build();
    let mut pages = Vec::new();
    collect(&tree, &mut pages).map_err(CommandError::failed)?;
    let Some(out) = args.out else {
        let first = pages.swap_remove(0);
        return context.report(&json!({ "file": first.file, "text": first.text }), &first.text);
    };
    let folder = context.cwd.join(out);
    std::fs::create_dir_all(&folder).map_err(|source| {
        let error = FileError::Write { path: folder.clone(), source };
        CommandError::from(error).hint("name a folder that can be written")
    })?;
    for page in &pages {
        file::atomic_write(&folder.join(&page.file), page.text.as_bytes())?;
    }
    let files: Vec<_> = pages.iter().map(|page| &page.file).collect();
    let shown = format!("{} pages in {}\n", pages.len(), context.shown(&folder));
    context.report(&json!({ "folder": folder, "files": files }), &shown)
}

/// The page of a command, and behind it those of its subcommands.
fn collect(command: &Command, pages: &mut Vec<ManPage>) -> std::io::Result<()> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    pages.push(ManPage { file: man.get_filename(), text });
    // Below the program's own, each `help` is one that clap adds.
    let is_program = command.get_name() == "fp";
    let mut inner = command.get_subcommands().filter(|inner| is_program || inner.get_name() != "help");
    inner.try_for_each(|inner| collect(inner, pages))
}
