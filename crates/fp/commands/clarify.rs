//! `fp clarify`: lets a builder ask the user instead of guessing.

use fp_plan::plan::id::{AgentName, TaskId};
use fp_run::run::question::AnswerOption;
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;

/// Ask the user one question about a claimed task
#[derive(Debug, clap::Args)]
pub(crate) struct ClarifyArgs {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
    /// The builder that holds the task and asks.
    #[arg(long = "as", value_name = "NAME")]
    owner: AgentName,
    /// The question.
    #[arg(long, value_name = "TEXT")]
    question: String,
    /// A possible answer, the recommended one first; give two to four.
    #[arg(long, required = true, value_name = "LABEL|DESCRIPTION")]
    option: Vec<String>,
}

pub(crate) fn run(args: ClarifyArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(Some(&args.plan))?;
    let mut ledger = context.with_notices(plan.lock_in_order()?);
    let options = args.option.iter().map(|text| choice(text)).collect();
    let events = ledger
        .state()
        .clarify(&args.task, &args.owner, &args.question, options)?;
    ledger.append(events, context.now())?;
    context.report(
        &json!({ "task": args.task, "asked": true }),
        &asked_reply(&args.task),
    )
}

/// The reply to a builder whose question goes to the user.
pub(super) fn asked_reply(task: &TaskId) -> String {
    format!(
        "The user is asked about task {task}. End your turn now: a message tells you the answer.\n"
    )
}

fn choice(text: &str) -> AnswerOption {
    let (label, description) = text.split_once('|').unwrap_or((text, ""));
    AnswerOption {
        label: label.into(),
        description: description.into(),
    }
}
