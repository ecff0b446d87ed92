//! `fp release`: takes a claim back from a builder that is gone.

use fp_plan::plan::id::TaskId;
use fp_run::run::state::Status;
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;

/// Release a claim: the task can be claimed again, and the attempt does not count
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct ReleaseArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: ReleaseArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(args.plan.as_deref())?;
    let mut ledger = plan.lock_in_order()?;
    let events = ledger.state().release(&args.task, "released by hand")?;
    ledger.append(events, context.now())?;
    let json = json!({ "task": args.task, "status": Status::Pending });
    context.report(&json, &format!("Task {} waits again\n", args.task))
}
