//! `fp hook`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Answer an event of the client
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp hook` is not built yet"))
}
