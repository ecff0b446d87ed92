//! `fp validate`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Check a task tree and report every finding
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp validate` is not built yet"))
}
