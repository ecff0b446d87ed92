//! `fp bundle`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Write the plugin and a marketplace for it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp bundle` is not built yet"))
}
