//! `fp demo`.

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Run the whole pipeline on a sample, without a model
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: Args, _context: &Context) -> CommandResult {
    Err(CommandError::failed("`fp demo` is not built yet"))
}
