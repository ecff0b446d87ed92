//! `fp retry`: gives a failed task another attempt.

use fp_plan::plan::id::TaskId;
use fp_run::run::event::Event;
use fp_run::run::state::Status;
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;
use crate::source::PlanSource;

/// Retry a failed task, and the tasks skipped because of it
///
/// A task that was done before the plan was imported is done again.
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct RetryArgs {
    /// The plan; defaults to the active one, or the last one.
    plan: Option<String>,
    /// The task.
    task: TaskId,
}

pub(crate) fn run(args: RetryArgs, context: &Context) -> CommandResult {
    let source = PlanSource::open_to_read(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let mut ledger = plan.lock_in_order()?;
    let mut events = ledger.state().retry(&args.task)?;
    let was_done = ledger
        .state()
        .task(&args.task)
        .is_some_and(|task| task.imported);
    // What was done needed no criteria.
    let to_revise = was_done && !source.is_valid_anew(&args.task)?;
    if to_revise {
        events.push(Event::RevisionDue {
            task: args.task.clone(),
        });
    }
    let restored: Vec<String> = events
        .iter()
        .flat_map(|event| match event {
            Event::Retried { restored, .. } => restored.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        })
        .collect();
    ledger.append(events, context.now())?;
    let mut text = format!("Task {} waits again", args.task);
    if !restored.is_empty() {
        text.push_str(&format!(", and so do {}", restored.join(", ")));
    }
    let id = plan.id();
    let next = match to_revise {
        true => {
            text.push_str(&format!(
                ". It was not written to be built: `fp validate {id}` shows what is missing"
            ));
            format!(
                "fp task revise {id} {} --file -, then fp approve {id}",
                args.task
            )
        }
        false => ledger.state().lead_command(),
    };
    let json = json!({ "task": args.task, "status": Status::Pending, "restored": restored });
    context.report(&json, &format!("{text}\nNext: {next}\n"))
}
