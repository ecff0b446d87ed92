//! `fp completions`: prints a completion script for a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;
use serde_json::json;

use crate::cli::Cli;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// Print shell completions
///
/// For example, for bash: `fp completions bash > ~/.local/share/bash-completion/completions/fp`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) fn run(args: CompletionsArgs, context: &Context) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "fp", &mut script);
    let script = String::from_utf8(script).map_err(CommandError::failed)?;
    match context.is_json() {
        false => context.printer.exact(&script),
        true => {
            context
                .printer
                .json(&json!({ "shell": args.shell.to_string(), "script": script }))?;
        }
    }
    Ok(Exit::Done)
}
