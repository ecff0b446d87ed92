//! `fp interview`: records the user's answers, and decides whether they are enough to plan with.

use std::ops::RangeInclusive;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use fp_host::file;
use fp_host::plan::OpenPlan;
use fp_host::plan_folder::StoredRecord;
use fp_plan::text::{clipped, fitted, one_line};
use fp_run::interview::answers::requirements_in;
use fp_run::interview::clearance::{Grounds, MAX_ROUNDS, step_after};
use fp_run::interview::record::{RecordedStatement, bullet_list, interview_page};
use fp_run::interview::{Answers, Clearance, Interview, PlanningStep};
use fp_run::run::event::{Decider, Event};
use fp_run::run::state::InterviewRounds;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::WIDTH;
use crate::source::interview_at;

const RECORD: &str = "interview.json";

/// Record, show or check the interview of a plan
///
/// Every flag but `--objective`, `--approach` and `--by` may be repeated for more entries. A new text replaces the one
/// before, which is kept as superseded. Without flags it shows the whole record.
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
    /// The goal, as the user means it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty)]
    objective: Option<String>,
    /// Something in scope
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = parse_included)]
    include: Vec<String>,
    /// Something expressly out of scope; `none` says that nothing is excluded
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty)]
    exclude: Vec<String>,
    /// An observable result; it gets an id, R1 and so on
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty)]
    requirement: Vec<String>,
    /// Lines of the goal that are requirements as they stand, each list item, table row or paragraph one of them
    #[arg(long, value_name = "FIRST-LAST,…", value_delimiter = ',', value_parser = parse_lines)]
    goal_lines: Vec<RangeInclusive<usize>>,
    /// A question with its answer; closes the open question with the same words
    #[arg(long, value_name = "QUESTION|ANSWER", allow_hyphen_values = true, value_parser = |text: &str| split_pair(text, "question and answer"))]
    decision: Vec<(String, String)>,
    /// An assumption made without asking
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty)]
    assume: Vec<String>,
    /// The chosen approach
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty)]
    approach: Option<String>,
    /// A rejected approach, and why
    #[arg(long, value_name = "NAME|WHY NOT", allow_hyphen_values = true, value_parser = |text: &str| split_pair(text, "name and reason"))]
    alternative: Vec<(String, String)>,
    /// The test strategy
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty)]
    tests: Vec<String>,
    /// An open question
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = non_empty)]
    open: Vec<String>,
    /// A statement to withdraw: a requirement by its id, or a statement on requirements or scope by its words
    #[arg(long, value_name = "ID-OR-TEXT", allow_hyphen_values = true, value_parser = non_empty)]
    withdraw: Vec<String>,
    /// Who says so; defaults to a rule in a plan made with --auto, else to the user
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

fn non_empty(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        Err("it says nothing")
    } else {
        Ok(text.to_owned())
    }
}

fn parse_included(text: &str) -> Result<String, &'static str> {
    let text = non_empty(text)?;
    if is_none(&text) {
        Err("something belongs to every goal: say what")
    } else {
        Ok(text)
    }
}

fn parse_lines(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<usize>().ok();
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err("it takes lines such as 3 or 4-9".to_owned()),
    }
}

fn is_none(text: &str) -> bool {
    text.eq_ignore_ascii_case("none")
}

fn split_pair(text: &str, what: &str) -> Result<(String, String), String> {
    let (one, other) = text
        .split_once('|')
        .ok_or_else(|| format!("{what} are separated by `|`"))?;
    Ok((non_empty(one)?, non_empty(other)?))
}

pub(crate) fn run(args: InterviewArgs, context: &Context) -> CommandResult {
    if let Some(Action::Check(args)) = args.action {
        return check_interview(&args, context);
    }
    let plan = context.open(args.said.plan.as_deref())?;
    let by = args
        .said
        .by
        .map_or_else(|| plan.folder.record().map(|record| record.by), Ok)?;
    let by_lines = !args.said.goal_lines.is_empty();
    let answers = answers(args.said, &plan.goal())?;
    if answers == Answers::default() {
        let interview = read_interview(&plan)?;
        let page = interview_page(&numbered_lines(&plan.goal()), &interview);
        return context.report(&json_of(&plan, &interview), &page);
    }
    let (interview, clearance, step) = record(&plan, &answers, by, context)?;
    let listed = by_lines.then(|| listed_requirements(&interview));
    let listed = listed.unwrap_or_default();
    let left = match clearance.open.as_slice() {
        [] => format!("clear; next: the step {}", step.into_str()),
        open => {
            let names: Vec<&str> = open.iter().map(|item| item.name).collect();
            let missing = names.join(", ");
            format!(
                "{missing} missing; `fp interview check {}` says more",
                plan.id()
            )
        }
    };
    context.report(
        &json_of(&plan, &interview),
        &format!(
            "{listed}Recorded{}. Interview: {left}\n",
            told_ids(&interview)
        ),
    )
}

fn answers(args: SaidArgs, goal: &str) -> Result<Answers, CommandError> {
    let exclude_nothing = args.exclude.iter().any(|text| is_none(text));
    if exclude_nothing && args.exclude.len() > 1 {
        return Err(CommandError::failed(
            "--exclude none says that nothing is excluded, and something is",
        )
        .with_hint("leave out one of them"));
    }
    let mut requirements = Vec::new();
    for lines in args.goal_lines {
        let stated = requirements_in(goal, &lines);
        if stated.is_empty() || *lines.end() > goal.lines().count() {
            let (first, last) = lines.into_inner();
            return Err(CommandError::failed(format!(
                "lines {first} to {last} of the goal say nothing"
            ))
            .with_hint("`fp interview PLAN` shows the goal with the numbers of its lines"));
        }
        requirements.extend(stated);
    }
    requirements.extend(args.requirement);
    Ok(Answers {
        objective: args.objective,
        include: args.include,
        exclude: if exclude_nothing {
            Vec::new()
        } else {
            args.exclude
        },
        exclude_nothing,
        requirements,
        decisions: args.decision,
        assumptions: args.assume,
        approach: args.approach,
        tests: (!args.tests.is_empty()).then(|| args.tests.join(", ")),
        open: args.open,
        alternatives: args.alternative,
        withdraw: args.withdraw,
    })
}

/// `goal` with the numbers that `--goal-lines` takes, unless it is a single line. Who records it knows the long lines.
fn numbered_lines(goal: &str) -> String {
    if goal.lines().count() < 2 {
        return goal.to_owned();
    }
    let shown = |(line, n): (&str, u32)| format!("{n:>3}  {}\n", clipped(line, WIDTH));
    goal.lines().zip(1..).map(shown).collect()
}

/// The ids of the requirements, for `Covers`.
fn told_ids(interview: &Interview) -> String {
    let ids: Vec<&str> = interview.requirements.iter().map(|it| &*it.id).collect();
    match ids[..] {
        [] => String::new(),
        [one] => format!("; requirement {one}"),
        [first, .., last] => format!("; requirements {first} to {last}"),
    }
}

/// The requirements with their ids, one on a line.
fn listed_requirements(interview: &Interview) -> String {
    let line = |it: &RecordedStatement| fitted(&format!("{} {}", it.id, one_line(&it.text)), WIDTH);
    let requirements = interview.requirements.iter();
    requirements.map(|it| line(it) + "\n").collect()
}

/// Adds `answers` to the record, under a lock. Answers that change nothing don't count as a round.
fn record(
    plan: &OpenPlan,
    answers: &Answers,
    by: Decider,
    context: &Context,
) -> Result<(Interview, Clearance, PlanningStep), CommandError> {
    let mut ledger = context.with_notices(plan.lock()?);
    let before = read_interview(plan)?;
    let path = plan.folder.file(RECORD);
    let mut interview = before.clone();
    interview.merge(answers, by).map_err(|error| {
        CommandError::with_message(format!("{}: {error}", path.display()), &error)
    })?;
    interview.confirm_stated(&plan.goal());
    if interview != before {
        file::atomic_write(&path, interview.to_json().as_bytes())?;
        ledger.append(vec![Event::Interviewed { by }], context.now())?;
    }
    let (clearance, step) = judge_interview(plan, &interview, ledger.state().interview_rounds)?;
    Ok((interview, clearance, step))
}

/// Decides whether the record suffices to plan with, and rewrites its page. Returns the gaps and the next step.
fn judge_interview(
    plan: &OpenPlan,
    interview: &Interview,
    rounds: InterviewRounds,
) -> Result<(Clearance, PlanningStep), CommandError> {
    let StoredRecord { mode, by, .. } = plan.folder.record()?;
    let grounds = Grounds { mode, by, rounds };
    let clearance = Clearance::new(interview, &grounds);
    let mut page = interview_page(&plan.goal(), interview);
    if !clearance.clear {
        page += &format!("\n## Still missing\n\n{}", missing_list(&clearance));
    }
    file::atomic_write(&plan.folder.file("interview.md"), page.as_bytes())?;
    let step = step_after(interview, &grounds, &mode.steps(&plan.settings));
    Ok((clearance, step.expect("no mode ends with its interview")))
}

fn missing_list(clearance: &Clearance) -> String {
    let open = clearance.open.iter();
    bullet_list(open.map(|item| format!("{}: {}", item.name, item.missing)))
}

fn read_interview(plan: &OpenPlan) -> Result<Interview, CommandError> {
    Ok(interview_at(&plan.folder.file(RECORD))?.unwrap_or_default())
}

fn json_of(plan: &OpenPlan, interview: &Interview) -> Value {
    let mut json = json!(interview);
    json["planId"] = json!(plan.id());
    json
}

/// Check whether the interview is complete, and list what is missing
///
/// Rewrites `interview.md`. Exit status 1 means that something is missing. `fp interview -- check` shows a plan that is
/// called `check`.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct CheckArgs {
    /// The plan: its id, a part of it, or its number in `fp plans`
    plan: Option<String>,
}

fn check_interview(args: &CheckArgs, context: &Context) -> CommandResult {
    let plan = context.open(args.plan.as_deref())?;
    let (clearance, step) = {
        let ledger = context.with_notices(plan.lock()?);
        judge_interview(
            &plan,
            &read_interview(&plan)?,
            ledger.state().interview_rounds,
        )?
    };
    let id = plan.id();
    let head = match (clearance.clear, clearance.limit_reached) {
        (true, _) => "clear".to_owned(),
        (false, true) => format!("not clear after {MAX_ROUNDS} rounds; nobody is asked any more"),
        (false, false) => "not clear yet".to_owned(),
    };
    let next = match (clearance.may_go_on(), plan.folder.record()?.by) {
        (true, _) => format!("the step {}", step.into_str()),
        (false, Decider::User) => format!("ask, then fp interview {id}, with these flags"),
        (false, Decider::Auto) => format!("fp interview {id} --by auto, with these flags"),
    };
    let mut json = json!(clearance);
    json["planId"] = json!(id);
    let missing = missing_list(&clearance);
    let text = format!("Interview of {id}: {head}\n{missing}next: {next}\n");
    context.report(&json, &text)?;
    Ok(if clearance.may_go_on() {
        Exit::Done
    } else {
        Exit::Findings
    })
}
