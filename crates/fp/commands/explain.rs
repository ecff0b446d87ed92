//! `fp explain`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Print the documentation of a rule
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp explain` is not built yet"))
}
