//! `fp claim`.

use fp_core::plan::id::{AgentName, TaskId};
use fp_core::run::event::Base;
use fp_core::run::payload::payload;
use fp_core::run::state::Status;
use fp_host::plan;
use fp_host::run::fresh_token;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Take a task and print everything it takes to do it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan.
    plan: String,
    /// Who claims.
    #[arg(long = "as", value_name = "NAME")]
    owner: AgentName,
    /// The task; the first that is ready where left out.
    task: Option<TaskId>,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    let tree = context.tree(&plan)?;
    let before = plan.load()?.state;
    let edited = tree.edited(&before);
    // A builder that gets nothing should not wait for git to be told so.
    let chosen = before.choose(&args.owner, args.task.as_ref(), &edited)?;
    let base = match (&chosen.base, chosen.status) {
        (Some(base), Status::Implementing) => base.clone(),
        _ => measure(&plan)?,
    };
    let mut ledger = plan.lock()?;
    context.notices(ledger.notices());
    let (id, events) = ledger.state().claim(&args.owner, args.task.as_ref(), &edited, fresh_token(), base)?;
    ledger.append(events, context.now())?;
    let state = &ledger.into_state();
    let task = state.expect_task(&id)?;
    let parsed = tree.parse();
    let leaf = plan::leaf(&parsed, &id).ok_or_else(|| {
        CommandError::failed(format!("{}: task {id} is not in it any more", plan.tasks_file().display()))
            .hint("put it back, or run `fp approve` after a look at the change")
    })?;
    let text = payload(state, task, leaf, &plan.goal());
    match context.format {
        Format::Text => context.printer.data(&text),
        Format::Json => {
            let token = task.claim.as_ref().map(|c| c.token.as_str());
            context.printer.json(&json!({
                "planId": state.plan_id, "task": id, "owner": args.owner, "claim": token,
                "iteration": task.iteration, "payload": text,
            }))?;
        }
    }
    Ok(Exit::Done)
}

fn measure(plan: &fp_host::plan::OpenPlan) -> Result<Base, CommandError> {
    let snapshot = plan.git()?.snapshot_tree()?;
    let head = snapshot.status.head()?.commit;
    Ok(Base { tree: snapshot.tree.to_string(), head: head.to_string() })
}
