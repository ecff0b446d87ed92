//! `fp clarify`: lets a builder ask the user instead of guessing.

use fp_plan::plan::id::{AgentName, TaskId};
use fp_plan::plan::parse;
use fp_plan::text::shown_command;
use fp_run::run::question::AnswerOption;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

/// Ask the user one question about a claimed task
#[derive(Debug, clap::Args)]
pub(crate) struct ClarifyArgs {
    /// The plan.
    plan: String,
    /// The task.
    task: TaskId,
    /// Who asks: the builder that holds the task.
    #[arg(long = "as", value_name = "NAME")]
    owner: AgentName,
    /// The question.
    #[arg(long, value_name = "TEXT")]
    question: String,
    /// An answer to choose from, the recommended one first; two to four of them.
    #[arg(
        long,
        required_unless_present = "check",
        value_name = "LABEL|DESCRIPTION"
    )]
    option: Vec<String>,
    /// The question is about this command of the task, which can't pass as it is written: the user may change the task
    /// or drop the command.
    #[arg(long, conflicts_with = "option", value_name = "COMMAND")]
    check: Option<String>,
}

pub(crate) fn run(args: ClarifyArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(Some(&args.plan))?;
    let mut ledger = context.told(plan.lock_in_order()?);
    let state = ledger.state();
    let events = match &args.check {
        Some(command) => {
            let tree = context.tree(&plan)?;
            let part = tree.part_with(&state.expect_task(&args.task)?.leaf);
            let (parsed, _) = parse(&part);
            let commands = parsed
                .leaves()
                .flat_map(|leaf| leaf.test_commands().chain(leaf.verify()));
            // The payload has further lines indented.
            let is_meant = |known: &&str| known == command || shown_command(known) == *command;
            let Some(command) = commands.into_iter().find(is_meant) else {
                return Err(CommandError::failed(format!(
                    "{command:?} is no command of task {}",
                    args.task
                ))
                .hint("give it as the payload has it under VERIFICATION, in single quotes"));
            };
            state.doubt_command(&args.task, &args.owner, &args.question, command)?
        }
        None => {
            let options = args.option.iter().map(|text| choice(text)).collect();
            state.clarify(&args.task, &args.owner, &args.question, options)?
        }
    };
    ledger.append(events, context.now())?;
    context.report(
        &json!({ "task": args.task, "asked": true }),
        &asked(&args.task),
    )
}

/// The reply to a builder whose question goes to the user.
pub(super) fn asked(task: &TaskId) -> String {
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
