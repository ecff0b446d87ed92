//! `fp answer`: records the user's choice in the log, so that the run can go on.

use fp_host::run::commit::before_answer;
use fp_host::run::fresh_token;
use fp_run::run::State;
use fp_run::run::event::Decider;
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;

/// Record what the user chose
#[derive(Debug, clap::Args)]
pub(crate) struct AnswerArgs {
    /// The plan.
    plan: String,
    /// The question's id, as `fp next` printed it.
    question: String,
    /// Label of the option chosen.
    #[arg(long, required = true, value_name = "LABEL")]
    option: Vec<String>,
}

pub(crate) fn run(args: AnswerArgs, context: &Context) -> CommandResult {
    let plan = context.open(Some(&args.plan))?;
    let answer = |state: &State| state.answer(&args.question, &args.option, Decider::User, fresh_token());
    let before = plan.load()?.state;
    before_answer(&plan, &before, &answer(&before)?)?;
    let mut ledger = plan.lock()?;
    let events = answer(ledger.state())?;
    ledger.append(events, context.now())?;
    let over = !ledger.state().is_running();
    drop(ledger);
    if over {
        context.sweep(&plan);
    }
    let json = json!({ "question": args.question, "options": args.option });
    context.report(&json, &format!("Recorded\nNext: fp next {}\n", plan.id()))
}
