//! `fp new`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Make a plan folder for a goal and say how to plan it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp new` is not built yet"))
}
