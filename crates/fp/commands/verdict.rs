//! `fp verdict`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Record the verdict on a submitted task; commit it if it passed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp verdict` is not built yet"))
}
