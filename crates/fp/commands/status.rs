//! `fp status`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Show how far a plan is
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp status` is not built yet"))
}
