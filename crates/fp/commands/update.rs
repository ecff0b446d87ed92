//! `fp update`.

use fp_host::claude::install::Updated;

use super::install::{self, ClientArgs};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Bring what `fp install` installed to this version of fp, in every scope
///
/// Asks nothing, and leaves settings alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    client: ClientArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let updated = args.client.installation(context)?.update(&install::bundle()?)?;
    let updated = updated.ok_or_else(|| {
        CommandError::refused("the plugin is not installed in Claude Code").hint("`fp install` installs it")
    })?;
    match context.format {
        Format::Json => context.printer.json(&updated)?,
        Format::Text => context.printer.data(&text(&updated)),
    }
    context.printer.note("Sessions that are open go on with what they have loaded");
    Ok(Exit::Done)
}

fn text(updated: &Updated) -> String {
    let version = &updated.version;
    let mut lines = vec![format!("bundle       {} (fp {version}): written", updated.bundle.display())];
    for plugin in &updated.plugins {
        let project = plugin.project.as_ref().map(|path| format!(" in {}", path.display()));
        let done = match &plugin.from {
            from if from == version => format!("already {version}"),
            from => format!("updated from {from} to {version}"),
        };
        lines.push(format!("plugin       scope {}{}: {done}", plugin.scope, project.unwrap_or_default()));
    }
    lines.join("\n") + "\n"
}
