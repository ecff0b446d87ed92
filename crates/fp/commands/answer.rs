//! `fp answer`: records the user's choice in the log, so that the run can go on.

use serde_json::json;

use super::consent::answer_question;
use crate::context::Context;
use crate::error::CommandResult;

/// Answer an open question of a run
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct AnswerArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// The question's id, as `fp next` printed it.
    question: String,
    /// Label of the option chosen.
    #[arg(long, required = true, value_name = "LABEL")]
    option: Vec<String>,
}

pub(crate) fn run(args: AnswerArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(args.plan.as_deref())?;
    let next = answer_question(&plan, &args.question, &args.option, context)?;
    let json = json!({ "question": args.question, "options": args.option });
    context.report(&json, &format!("Recorded\nNext: {next}\n"))
}
