//! `fp fail`: gives a task up, so that the run can end without it.

use fp_plan::plan::id::TaskId;
use fp_run::run::event::Event;
use fp_run::run::state::Status;
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;

/// Give up a task, and those that depend on it
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct FailArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// The task.
    task: TaskId,
    /// Why.
    #[arg(long)]
    reason: String,
}

pub(crate) fn run(args: FailArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(args.plan.as_deref())?;
    let mut ledger = plan.lock_in_order()?;
    let events = ledger.state().fail(&args.task, &args.reason)?;
    let skipped = events.iter().filter_map(|event| match event {
        Event::Skipped { task, .. } => Some(task.clone()),
        _ => None,
    });
    let skipped: Vec<TaskId> = skipped.collect();
    ledger.append(events, context.now())?;
    let mut text = format!("Task {} is given up", args.task);
    match skipped.len() {
        0 => {}
        1 => text.push_str("; 1 task that waits for it is skipped"),
        n => text.push_str(&format!("; {n} tasks that wait for it are skipped")),
    }
    let json = json!({ "task": args.task, "status": Status::Failed, "skipped": skipped });
    context.report(&json, &(text + "\n"))
}
