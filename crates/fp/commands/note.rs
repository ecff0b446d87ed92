//! `fp note`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Add to the notepad, or read it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp note` is not built yet"))
}
