//! `fp verify`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Run the mechanical checks of a task and print what needs judgement
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp verify` is not built yet"))
}
