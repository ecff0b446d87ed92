//! `fp interview`: records the user's answers, and decides whether they are enough to plan with.

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_plan::plan::id::PlanId;
use fp_plan::text::wrapped_within;
use fp_run::interview::clearance::Grounds;
use fp_run::interview::record::interview_page;
use fp_run::interview::{Answers, Clearance, Interview, Mode};
use fp_run::run::event::{Decider, Event};
use fp_run::run::state::InterviewRounds;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::WIDTH;
use crate::source::interview_at;

const RECORD: &str = "interview.json";

/// Columns before the missing information.
const MARGIN: usize = 26;
/// Most lines about the missing information of one item.
const LINES: usize = 10;

/// Record, show or check the interview of a plan
///
/// Every flag may be given again for another entry. A text that is given again replaces the one before, which is
/// kept. Without flags it shows the whole record.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct InterviewArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    said: SaidArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
#[group(skip)]
struct SaidArgs {
    /// The plan: its id, a part of it, or its number in `fp plans`
    plan: Option<String>,
    /// The goal, in the user's sense
    #[arg(long, value_name = "TEXT", value_parser = said)]
    objective: Option<String>,
    /// Something that belongs to it
    #[arg(long, value_name = "TEXT", value_parser = included)]
    include: Vec<String>,
    /// Something that expressly does not; `none` says that nothing is excluded
    #[arg(long, value_name = "TEXT", value_parser = said)]
    exclude: Vec<String>,
    /// Something that can be observed when it is done; it gets an id, R1 and so on
    #[arg(long, value_name = "TEXT", value_parser = said)]
    requirement: Vec<String>,
    /// A question with its answer; it closes the open question of the same words
    #[arg(long, value_name = "QUESTION|ANSWER", value_parser = |text: &str| pair(text, "question and answer"))]
    decision: Vec<(String, String)>,
    /// Something that was taken for granted without asking
    #[arg(long, value_name = "TEXT", value_parser = said)]
    assume: Vec<String>,
    /// The way to do it
    #[arg(long, value_name = "TEXT", value_parser = said)]
    approach: Option<String>,
    /// A way to do it that was not chosen, and why
    #[arg(long, value_name = "NAME|WHY NOT", value_parser = |text: &str| pair(text, "name and reason"))]
    alternative: Vec<(String, String)>,
    /// The way to test it
    #[arg(long, value_name = "TEXT", value_parser = said)]
    tests: Option<String>,
    /// A question that nobody has answered yet
    #[arg(long, value_name = "TEXT", value_parser = said)]
    open: Vec<String>,
    /// Code that was read and what it shows, so that nobody has to look for it again
    #[arg(long, value_name = "PATH:LINE - TEXT", value_parser = said)]
    seen: Vec<String>,
    /// A statement that does not hold any more: a requirement by its id, or anything required, in or out of scope by its words
    #[arg(long, value_name = "ID-OR-TEXT", value_parser = said)]
    withdraw: Vec<String>,
    /// Who says so; where it is left out, a rule in a plan that was made with --auto, else the user
    #[arg(long, value_parser = PossibleValuesParser::new(["user", "auto"]).map(|word| decider(&word)))]
    by: Option<Decider>,
}

fn decider(word: &str) -> Decider {
    if word == "auto" {
        Decider::Auto
    } else {
        Decider::User
    }
}

fn said(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        Err("it says nothing")
    } else {
        Ok(text.to_owned())
    }
}

fn included(text: &str) -> Result<String, &'static str> {
    let text = said(text)?;
    if is_none(&text) {
        Err("something belongs to every goal: say what")
    } else {
        Ok(text)
    }
}

fn is_none(text: &str) -> bool {
    text.eq_ignore_ascii_case("none")
}

fn pair(text: &str, what: &str) -> Result<(String, String), String> {
    let (one, other) = text
        .split_once('|')
        .ok_or_else(|| format!("{what} are separated by `|`"))?;
    Ok((said(one)?, said(other)?))
}

pub(crate) fn run(args: InterviewArgs, context: &Context) -> CommandResult {
    if let Some(Action::Check(args)) = args.action {
        return check(&args, context);
    }
    let plan = context.open(args.said.plan.as_deref())?;
    let by = args
        .said
        .by
        .map_or_else(|| plan.folder.purpose().map(|purpose| purpose.by), Ok)?;
    let answers = answers(args.said)?;
    let (interview, clearance) = if answers.is_empty() {
        (read(&plan)?, None)
    } else {
        record(&plan, &answers, by, context)
            .map(|(interview, clearance)| (interview, Some(clearance)))?
    };
    let text = match &clearance {
        Some(_) => format!("Recorded: {}\n", answers.in_words()),
        None => interview_page(&plan.goal(), &interview),
    };
    context.report(&json(&plan, &interview), &text)?;
    if interview.is_empty() {
        context
            .printer
            .note("Nothing is recorded yet; `fp interview --help` shows what can be");
    }
    if let Some(clearance) = clearance {
        let open: Vec<&str> = clearance.open().map(|item| item.name).collect();
        let more = match open.as_slice() {
            [] => format!("; next: {}", next(&plan, &clearance)?),
            open => format!(
                ": {}; `fp interview check {}` says more",
                open.join(", "),
                plan.id()
            ),
        };
        context
            .printer
            .note(&format!("Interview: {}{more}", clearance.in_words()));
    }
    Ok(Exit::Done)
}

fn answers(args: SaidArgs) -> Result<Answers, CommandError> {
    let exclude_nothing = args.exclude.iter().any(|text| is_none(text));
    if exclude_nothing && args.exclude.len() > 1 {
        return Err(CommandError::failed(
            "--exclude none says that nothing is excluded, and something is",
        )
        .hint("leave out one of them"));
    }
    Ok(Answers {
        objective: args.objective,
        include: args.include,
        exclude: if exclude_nothing {
            Vec::new()
        } else {
            args.exclude
        },
        exclude_nothing,
        requirements: args.requirement,
        decisions: args.decision,
        assumptions: args.assume,
        approach: args.approach,
        tests: args.tests,
        open: args.open,
        seen: args.seen,
        alternatives: args.alternative,
        withdraw: args.withdraw,
    })
}

/// Adds `answers` to the record, under a lock. Answers without news don't count as a round.
fn record(
    plan: &OpenPlan,
    answers: &Answers,
    by: Decider,
    context: &Context,
) -> Result<(Interview, Clearance), CommandError> {
    let mut ledger = context.told(plan.lock()?);
    let before = read(plan)?;
    let path = plan.folder.file(RECORD);
    let mut interview = before.clone();
    interview
        .merge(answers, by)
        .map_err(|error| CommandError::worded(format!("{}: {error}", path.display()), &error))?;
    if plan.folder.purpose()?.mode == Mode::Specified {
        interview.confirm_stated(&plan.goal());
    }
    if interview != before {
        file::atomic_write(&path, interview.to_json().as_bytes())?;
        ledger.append(vec![Event::Interviewed { by }], context.now())?;
    }
    let clearance = judge(plan, &interview, ledger.state().interview_rounds)?;
    write_page(plan, &interview, &clearance)?;
    Ok((interview, clearance))
}

/// Judges whether the record is enough for the plan's purpose.
fn judge(
    plan: &OpenPlan,
    interview: &Interview,
    rounds: InterviewRounds,
) -> Result<Clearance, CommandError> {
    let purpose = plan.folder.purpose()?;
    let grounds = Grounds {
        intent: purpose.intent,
        mode: purpose.mode,
        by: purpose.by,
        rounds,
    };
    Ok(Clearance::new(interview, &grounds))
}

fn write_page(
    plan: &OpenPlan,
    interview: &Interview,
    clearance: &Clearance,
) -> Result<(), CommandError> {
    let page = interview_page(&plan.goal(), interview) + &clearance.section();
    Ok(file::atomic_write(
        &plan.folder.file("interview.md"),
        page.as_bytes(),
    )?)
}

fn read(plan: &OpenPlan) -> Result<Interview, CommandError> {
    Ok(interview_at(&plan.folder.file(RECORD))?.unwrap_or_default())
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
        "alternatives": interview.alternatives(),
        "testStrategy": interview.test_strategy(),
        "openQuestions": interview.open_questions(),
        "seen": interview.seen(),
    })
}

/// Check whether the interview has found out enough, and list what is missing
///
/// It writes `interview.md` anew, with what it found. Exit status 1 says that something is missing. A plan that is
/// called `check` is shown by `fp interview -- check`.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct CheckArgs {
    /// The plan: its id, a part of it, or its number in `fp plans`
    plan: Option<String>,
}

/// The output of `interview check --format json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanClearance<'a> {
    plan_id: &'a str,
    #[serde(flatten)]
    clearance: &'a Clearance,
}

fn check(args: &CheckArgs, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let clearance = {
        let ledger = context.told(plan.lock()?);
        let interview = read(&plan)?;
        let clearance = judge(&plan, &interview, ledger.state().interview_rounds)?;
        write_page(&plan, &interview, &clearance)?;
        clearance
    };
    let text = clearance_text(plan.id(), &clearance, &next(&plan, &clearance)?);
    context.report(
        &PlanClearance {
            plan_id: plan.id().as_str(),
            clearance: &clearance,
        },
        &text,
    )?;
    Ok(if clearance.may_go_on() {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// The next step of planning.
fn next(plan: &OpenPlan, clearance: &Clearance) -> Result<String, CommandError> {
    let (id, purpose) = (plan.id(), plan.folder.purpose()?);
    if clearance.may_go_on() {
        let steps = purpose.mode.steps(purpose.intent, &plan.settings);
        let step = clearance
            .next_step(&steps)
            .expect("no mode ends with its interview");
        return Ok(format!("the step {}", step.into_str()));
    }
    Ok(match (purpose.by, clearance.open().count()) {
        (Decider::Auto, _) => format!("fp interview {id} --by auto, with the flags above"),
        (Decider::User, 0) => format!("ask once more: fp interview {id} --decision 'Q|A'"),
        (Decider::User, _) => format!("ask, then fp interview {id}, with the flags above"),
    })
}

/// The whole report; `next` is the next step of planning.
fn clearance_text(plan: &PlanId, clearance: &Clearance, next: &str) -> String {
    let mut text = format!("Interview of {plan}: {}\n\n", clearance.in_words());
    for item in &clearance.items {
        let head = format!("  {:<11}  {}", item.name, item.state.into_str());
        let missing = wrapped_within(
            item.missing.as_deref().unwrap_or_default(),
            WIDTH - MARGIN,
            LINES,
        );
        let mut lines = missing.iter();
        match lines.next() {
            Some(first) => text.push_str(&format!("{head:<MARGIN$}{first}\n")),
            None => text.push_str(&format!("{head}\n")),
        }
        lines.for_each(|line| text.push_str(&format!("{:MARGIN$}{line}\n", "")));
    }
    text.push_str(&format!(
        "\n  {:<11}  {}\n\n",
        "rounds",
        clearance.rounds_in_words()
    ));
    if clearance.is_left_open() {
        let names: Vec<&str> = clearance.open().map(|item| item.name).collect();
        let told = format!(
            "Nobody is asked any more, and this is left open: {}",
            names.join(", ")
        );
        wrapped_within(&told, WIDTH, LINES)
            .iter()
            .for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text + &format!("next: {next}\n")
}
