//! `fp answer`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Record what the user chose
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp answer` is not built yet"))
}
