//! `fp cancel`: ends a run at once, or gives up a task, so that the run can end without it.

use fp_plan::plan::id::TaskId;
use fp_run::run::event::{Decider, Event};
use fp_run::run::state::Status;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// End the run at once, or give up a task; finished work stays
///
/// Tasks that depend on it are skipped.
#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// The task to give up, instead of ending the run.
    #[arg(requires = "reason")]
    task: Option<TaskId>,
    /// The reason for giving it up.
    #[arg(long, value_name = "TEXT", requires = "plan")]
    reason: Option<String>,
}

pub(crate) fn run(args: CancelArgs, context: &Context) -> CommandResult {
    match (args.plan.as_deref(), args.task, args.reason) {
        (plan, Some(task), Some(reason)) => give_up(plan, &task, &reason, context),
        // A single argument is a task of the only active plan.
        (Some(task), None, Some(reason)) => {
            let task = task.parse().map_err(CommandError::failed)?;
            give_up(None, &task, &reason, context)
        }
        (plan, ..) => cancel_run(plan, context),
    }
}

fn cancel_run(plan: Option<&str>, context: &Context) -> CommandResult {
    let plan = context.open(plan)?;
    let mut ledger = plan.lock_in_order()?;
    let events = ledger.state().cancel(Decider::User).map_err(|refusal| {
        CommandError::refused(refusal).with_hint(format!(
            "there is nothing to cancel; `fp plans archive {}` puts the plan away",
            plan.id()
        ))
    })?;
    let text = if events.is_empty() {
        "The run is over already"
    } else {
        "The run is cancelled"
    };
    ledger.append(events, context.now())?;
    let state = ledger.state();
    let json = json!({ "planId": plan.id(), "run": state.run.as_ref().map(|run| run.status) });
    let is_done = state.tasks.iter().all(|task| task.status.is_final());
    let rest = if is_done {
        String::new()
    } else {
        format!("; `{}` goes on with what is left", state.lead_command())
    };
    drop(ledger);
    context.remove_unneeded_worktrees(&plan);
    context.report(&json, &format!("{text}{rest}\n"))
}

fn give_up(plan: Option<&str>, task: &TaskId, reason: &str, context: &Context) -> CommandResult {
    let plan = context.open_trusted(plan)?;
    let mut ledger = plan.lock_in_order()?;
    let events = ledger.state().fail(task, reason)?;
    let skipped = events.iter().filter_map(|event| match event {
        Event::Skipped { task, .. } => Some(task.clone()),
        _ => None,
    });
    let skipped: Vec<TaskId> = skipped.collect();
    ledger.append(events, context.now())?;
    let mut text = format!("Task {task} is given up");
    match skipped.len() {
        0 => {}
        1 => text.push_str("; 1 task that waits for it is skipped"),
        n => text.push_str(&format!("; {n} tasks that wait for it are skipped")),
    }
    let json = json!({ "task": task, "status": Status::Failed, "skipped": skipped });
    context.report(&json, &(text + "\n"))
}
