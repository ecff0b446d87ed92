//! `fp config`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Show the configuration
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp config` is not built yet"))
}
