//! `fp release`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Take a claim back
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp release` is not built yet"))
}
