//! `fp uninstall`.

use std::env;
use std::path::PathBuf;

use fp_host::claude::client::Client;
use fp_host::claude::install::{self, InstallError, Installation, Uninstalled};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Remove what `fp install` installed, in every scope
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Claude Code's program, instead of the `claude` on PATH.
    #[arg(long, value_name = "PATH")]
    client: Option<PathBuf>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let folder = install::bundle_folder(|name| env::var_os(name)).ok_or_else(|| {
        CommandError::failed("there is no data folder to uninstall from").hint("set HOME to your home folder")
    })?;
    let client = Client::find(args.client.as_deref(), env::var_os("PATH").as_deref());
    let gone = match client {
        // Without a bundle there is nothing that a client could have registered.
        Err(_) if args.client.is_none() && !folder.exists() => Ok(Uninstalled::default()),
        client => client
            .map_err(InstallError::from)
            .and_then(|client| Installation { client, folder, project: context.cwd.clone() }.uninstall()),
    };
    let gone = gone.map_err(|error| CommandError::failed(&error).hint(error.hint()))?;
    match context.format {
        Format::Json => context.printer.json(&gone)?,
        Format::Text => context.printer.data(&text(&gone)),
    }
    Ok(Exit::Done)
}

fn text(gone: &Uninstalled) -> String {
    let mut lines = Vec::new();
    for plugin in &gone.plugins {
        let project = plugin.project.as_ref().map(|path| format!(" in {}", path.display()));
        lines.push(format!("plugin       scope {}{}: removed", plugin.scope, project.unwrap_or_default()));
    }
    if gone.marketplace {
        lines.push("marketplace  removed".into());
    }
    if let Some(folder) = &gone.bundle {
        lines.push(format!("bundle       {}: removed", folder.display()));
    }
    if lines.is_empty() {
        lines.push("nothing is installed".into());
    }
    lines.join("\n") + "\n"
}
