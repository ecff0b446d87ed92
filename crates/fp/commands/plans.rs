//! `fp plans`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// List the plans
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp plans` is not built yet"))
}
