//! `fp uninstall`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Remove what install added
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp uninstall` is not built yet"))
}
