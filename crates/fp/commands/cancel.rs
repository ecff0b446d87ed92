//! `fp cancel`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// End the run at once; what is done stays
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp cancel` is not built yet"))
}
