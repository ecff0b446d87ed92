//! `fp run`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Start or resume the run of a plan
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp run` is not built yet"))
}
