//! `fp plan`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Order the tasks and write plan.md
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp plan` is not built yet"))
}
