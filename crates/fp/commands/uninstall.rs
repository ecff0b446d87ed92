//! `fp uninstall`.

use fp_host::claude::install::{Installation, Outcome, Uninstalled};

use super::install::{self, ClientArgs};
use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::Format;

/// Remove what `fp install` installed, in every scope
///
/// Settings files are as they were before, with what somebody else has changed in them since.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    client: ClientArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let there = Installation::left_something(&install::bundle_folder()?);
    let gone = match args.client.installation(context) {
        // Without a bundle there is nothing that a client could have registered.
        Err(_) if !args.client.is_named() && !there => Uninstalled::default(),
        installation => installation?.uninstall()?,
    };
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
    for settings in &gone.settings {
        let done = match settings.outcome {
            Outcome::Restored => "as before the installation",
            Outcome::Removed => "removed, as there was none before",
            Outcome::Edited => "without what fp had added",
        };
        lines.push(format!("settings     {}: {done}", settings.file.display()));
        let backup = settings.backup.as_ref();
        lines.extend(backup.map(|path| format!("backup       {}: kept", path.display())));
    }
    if let Some(folder) = &gone.bundle {
        lines.push(format!("bundle       {}: removed", folder.display()));
    }
    if lines.is_empty() {
        lines.push("nothing is installed".into());
    }
    lines.join("\n") + "\n"
}
