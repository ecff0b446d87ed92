//! `fp install`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Install the plugin into Claude Code
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp install` is not built yet"))
}
