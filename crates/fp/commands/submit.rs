//! `fp submit`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Hand in a claimed task for verification
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp submit` is not built yet"))
}
