//! `fp retry`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Give a failed or skipped task another try
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp retry` is not built yet"))
}
