//! `fp release`.

use fp_core::plan::id::TaskId;

use crate::context::Context;
use crate::error::{CommandResult, Exit};

/// Take a claim back; the task can be claimed again, and the attempt does not count
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    let mut ledger = plan.lock()?;
    let events = ledger.state().release(&args.task, "released by hand")?;
    ledger.append(events, context.now())?;
    context.printer.data(&format!("Task {} is pending again\n", args.task));
    Ok(Exit::Done)
}
