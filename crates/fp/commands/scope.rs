//! `fp scope`: lets a builder ask for a file beyond its task's, instead of editing it.

use fp_plan::plan::id::TaskId;
use fp_run::run::inquiry::Extension;
use serde_json::json;

use super::clarify::asked_reply;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Ask for files beyond those of a claimed task
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ScopeArgs {
    Extend(Extend),
}

/// Ask to change a file that the task doesn't list: granted at once, or a question to the user, as `guard.extend`
/// says
#[derive(Debug, clap::Args)]
pub(crate) struct Extend {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
    /// The file, relative to the repository.
    path: String,
    /// The token that the payload printed.
    #[arg(long, value_name = "TOKEN")]
    claim: String,
    /// The reason why the task needs it.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(crate) fn run(args: ScopeArgs, context: &Context) -> CommandResult {
    let ScopeArgs::Extend(args) = args;
    if args.reason.trim().is_empty() {
        return Err(CommandError::failed("the reason is empty")
            .with_hint("say why the task can't be done without the file: the report shows it"));
    }
    let plan = context.open_trusted(Some(&args.plan))?;
    let mut ledger = context.with_notices(plan.lock_in_order()?);
    context.expect_own_task(ledger.state().expect_task(&args.task)?)?;
    let state = ledger.state();
    let can_ask = state.terms().attended || !state.has_processes() && context.attended();
    let extension = state.extend(
        &args.task,
        &args.claim,
        &args.path,
        &args.reason,
        (plan.settings.guard.extend, can_ask),
        &plan.settings.plans_dir,
    )?;
    let (word, question, text, events) = match extension {
        Extension::Listed => (
            "listed",
            None,
            format!("{} is in the task's files already\n", args.path),
            Vec::new(),
        ),
        Extension::Allowed(events) => (
            "allowed",
            None,
            format!(
                "{} is in the task's files now; the report says so\n",
                args.path
            ),
            events,
        ),
        Extension::Asked(question, events) => {
            ("asked", Some(question), asked_reply(&args.task), events)
        }
    };
    ledger.append(events, context.now())?;
    context.report(
        &json!({ "task": args.task, "path": args.path, "answer": word, "question": question }),
        &text,
    )
}
