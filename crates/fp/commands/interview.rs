//! `fp interview`.

use fp_core::interview::{Answers, Interview, render};
use fp_core::run::event::Decider;
use fp_host::file;
use fp_host::plan::OpenPlan;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::Format;

/// Largest `interview.json` that is read, in bytes.
const CAP: u64 = 64 * 1024 * 1024;

/// Record what the interview found, or show it
///
/// Every flag may be given again for another entry. A text that is given again replaces the one before, which is
/// kept. Without flags it shows what is recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The plan: its id, a part of it, or its number in `fp plans`
    plan: Option<String>,
    /// What the goal is, in the user's sense
    #[arg(long, value_name = "TEXT", value_parser = said)]
    objective: Option<String>,
    /// Something that belongs to it
    #[arg(long, value_name = "TEXT", value_parser = said)]
    include: Vec<String>,
    /// Something that expressly does not
    #[arg(long, value_name = "TEXT", value_parser = said)]
    exclude: Vec<String>,
    /// Something that can be observed when it is done; it gets an id, R1 and so on
    #[arg(long, value_name = "TEXT", value_parser = said)]
    requirement: Vec<String>,
    /// A question with its answer; it closes the open question of the same words
    #[arg(long, value_name = "QUESTION|ANSWER", value_parser = decided)]
    decision: Vec<(String, String)>,
    /// Something that was taken for granted without asking
    #[arg(long, value_name = "TEXT", value_parser = said)]
    assume: Vec<String>,
    /// How it is to be done
    #[arg(long, value_name = "TEXT", value_parser = said)]
    approach: Option<String>,
    /// How it is to be tested
    #[arg(long, value_name = "TEXT", value_parser = said)]
    tests: Option<String>,
    /// A question that nobody has answered yet
    #[arg(long, value_name = "TEXT", value_parser = said)]
    open: Vec<String>,
    /// Who says so
    #[arg(long, value_enum, default_value_t)]
    by: By,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum By {
    /// The user did.
    #[default]
    User,
    /// Nobody could be asked.
    Auto,
}

impl From<By> for Decider {
    fn from(by: By) -> Self {
        match by {
            By::User => Self::User,
            By::Auto => Self::Auto,
        }
    }
}

fn said(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() { Err("it says nothing") } else { Ok(text.to_owned()) }
}

fn decided(text: &str) -> Result<(String, String), &'static str> {
    let (question, answer) = text.split_once('|').ok_or("question and answer are separated by `|`")?;
    Ok((said(question)?, said(answer)?))
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let by = args.by.into();
    let answers = Answers {
        objective: args.objective,
        include: args.include,
        exclude: args.exclude,
        requirements: args.requirement,
        decisions: args.decision,
        assumptions: args.assume,
        approach: args.approach,
        tests: args.tests,
        open: args.open,
    };
    let interview = if answers.is_empty() { read(&plan)? } else { record(&plan, &answers, by)? };
    let markdown = render::markdown(&plan.goal(), &interview);
    if !answers.is_empty() {
        file::atomic_write(&plan.folder.file("interview.md"), markdown.as_bytes())?;
    }
    match context.format {
        Format::Json => context.printer.json(&json(&plan, &interview))?,
        Format::Text => context.printer.data(&markdown),
    }
    if interview.is_empty() {
        context.printer.note("Nothing is recorded yet; `fp interview --help` shows what can be");
    }
    Ok(Exit::Done)
}

/// Adds `answers` to the record, of which one process at a time has hold.
fn record(plan: &OpenPlan, answers: &Answers, by: Decider) -> Result<Interview, CommandError> {
    let _lock = plan.lock()?;
    let mut interview = read(plan)?;
    let path = plan.folder.file("interview.json");
    interview.merge(answers, by).map_err(|error| {
        CommandError::failed(format!("{}: {error}", path.display()))
            .hint("make a list of it, and run the command again")
    })?;
    file::atomic_write(&path, interview.to_json().as_bytes())?;
    Ok(interview)
}

fn read(plan: &OpenPlan) -> Result<Interview, CommandError> {
    let path = plan.folder.file("interview.json");
    let Some(text) = file::read_text_if_there(&path, CAP)? else {
        return Ok(Interview::default());
    };
    Interview::parse(&text)
        .map_err(|error| CommandError::failed(format!("{}:{error}", path.display())).hint(error.hint()))
}

fn json(plan: &OpenPlan, interview: &Interview) -> serde_json::Value {
    json!({
        "planId": plan.id(),
        "objective": interview.objective(),
        "requirements": interview.requirements(),
        "scopeInclusions": interview.scope_inclusions(),
        "scopeExclusions": interview.scope_exclusions(),
        "decisions": interview.decisions(),
        "assumptions": interview.assumptions(),
        "approach": interview.approach(),
        "testStrategy": interview.test_strategy(),
        "openQuestions": interview.open_questions(),
    })
}
