//! `fp show`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Draw the task tree
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp show` is not built yet"))
}
