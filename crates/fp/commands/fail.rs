//! `fp fail`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Give up a task
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp fail` is not built yet"))
}
