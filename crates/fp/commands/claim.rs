//! `fp claim`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Take a task and print everything it takes to do it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp claim` is not built yet"))
}
