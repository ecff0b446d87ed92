//! `fp approve`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Approve a plan, so that its tasks and commands may run
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp approve` is not built yet"))
}
