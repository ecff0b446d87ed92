//! `fp fmt`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Write a task tree in its canonical form
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp fmt` is not built yet"))
}
