//! `fp interview`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Record what the interview found, or show it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp interview` is not built yet"))
}
