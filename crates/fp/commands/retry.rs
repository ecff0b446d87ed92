//! `fp retry`: gives a failed task another attempt.

use fp_plan::plan::id::TaskId;
use fp_run::run::event::Event;
use fp_run::run::state::Status;
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;

/// Give a failed task another try, with the tasks that were skipped because of it
///
/// A task that was done before the plan was imported is done again.
#[derive(Debug, clap::Args)]
pub(crate) struct RetryArgs {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: RetryArgs, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    let mut ledger = plan.lock()?;
    let events = ledger.state().retry(&args.task)?;
    let restored: Vec<String> = events
        .iter()
        .flat_map(|event| match event {
            Event::Retried { restored, .. } => restored.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        })
        .collect();
    ledger.append(events, context.now())?;
    let mut text = format!("Task {} is pending again", args.task);
    if !restored.is_empty() {
        text.push_str(&format!(", and so are {}", restored.join(", ")));
    }
    let next = if ledger.state().is_running() { "fp next" } else { "fp start" };
    let json = json!({ "task": args.task, "status": Status::Pending, "restored": restored });
    context.report(&json, &format!("{text}\nNext: {next} {}\n", plan.id()))
}
