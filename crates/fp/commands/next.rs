//! `fp next`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Print the actions that are due now
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp next` is not built yet"))
}
