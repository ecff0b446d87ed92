//! `fp cancel`: ends a run at once.

use fp_run::run::event::Decider;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// End the run at once; what is done stays
#[derive(Debug, clap::Args)]
pub(crate) struct CancelArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
}

pub(crate) fn run(args: CancelArgs, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let mut ledger = plan.lock_in_order()?;
    let events = ledger.state().cancel(Decider::User).map_err(|refusal| {
        CommandError::refused(refusal).hint(format!(
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
    context.sweep(&plan);
    context.report(&json, &format!("{text}{rest}\n"))
}
