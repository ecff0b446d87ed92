//! `fp debt`.

use std::time::Duration;

use fp_core::debt::{Debt, DebtId, Event, Noting, Origin, Standing, note};
use fp_core::plan::id::TaskId;
use fp_host::plan::OpenPlan;
use serde_json::{Value, json};

use crate::context::Context;
use crate::context::Known;
use crate::debts;
use crate::error::{CommandError, CommandResult};
use crate::render::debts as render;

/// What is left to be done some day: noted by hand, or left over by a run
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Add(Add),
    List(List),
    Close(Close),
}

/// Note something that is to be done some day
#[derive(Debug, clap::Args)]
struct Add {
    /// What, in one line.
    #[arg(value_name = "TEXT")]
    text: String,
    /// The plan that it was noticed in.
    #[arg(long)]
    plan: Option<String>,
    /// The task of it.
    #[arg(long, value_name = "ID", requires = "plan")]
    task: Option<TaskId>,
    /// A file that it is about; can be given several times.
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
}

/// List what is left to be done
///
/// Beside what was noted, these are the tasks that failed or were skipped in a run that is over, and what its
/// verifications found unfinished without failing a task, of archived plans too.
#[derive(Debug, clap::Args)]
struct List {
    /// Those that are done or dropped as well.
    #[arg(long)]
    all: bool,
}

/// Say that something is done, taken up by a plan, or not wanted any more
#[derive(Debug, clap::Args)]
struct Close {
    /// What `fp debt list` calls it.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<DebtId>,
    /// The plan that takes it up: it is done with that plan, and open again if that ends before all of it is done.
    #[arg(long)]
    plan: Option<String>,
    /// It is not wanted any more.
    #[arg(long, conflicts_with = "plan")]
    drop: bool,
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    match args.action {
        Action::Add(args) => add(&args, context),
        Action::List(args) => list(&args, context),
        Action::Close(args) => close(&args, context),
    }
}

fn add(args: &Add, context: &Context) -> CommandResult {
    let plan = args.plan.as_ref().map(|plan| context.open(Some(plan))).transpose()?;
    if let (Some(plan), Some(task)) = (&plan, &args.task) {
        plan.load()?.state.expect_task(task)?;
    }
    let from = plan.as_ref().map(|plan| Origin { plan: plan.id().clone(), task: args.task.clone() });
    let known = context.known_plans()?;
    let (id, new) = debts::log(context)?.append(patience(context)?, |read| {
        context.notices(&read.notices);
        let debts = debts::of(&read.entries, &known);
        match note(&debts, &args.text, &args.file, from)? {
            Noting::Known(debt) => Ok((Vec::new(), (debt.id, false))),
            Noting::New(event) => {
                let id = event.id().clone();
                Ok::<_, CommandError>((vec![event.at(context.now())], (id, true)))
            }
        }
    })?;
    let text = if new { format!("{id} is noted\n") } else { format!("{id} says so already\n") };
    context.report(&json!({ "id": id, "new": new }), &text)
}

fn list(args: &List, context: &Context) -> CommandResult {
    let debts = debts::all(context)?;
    let is_listed = |debt: &&Debt| args.all || debt.standing.is_due();
    let listed: Vec<&Debt> = debts.iter().filter(is_listed).collect();
    let closed = debts.len() - listed.len();
    context.report(&json!({ "debts": listed, "closed": closed }), &render::list(&listed, closed))
}

fn close(args: &Close, context: &Context) -> CommandResult {
    let plan = args.plan.as_ref().map(|plan| context.open(Some(plan))).transpose()?;
    let known = context.known_plans()?;
    if let Some(plan) = &plan {
        refuse_ended(plan, &known)?;
    }
    let closed = debts::log(context)?.append(patience(context)?, |read| {
        context.notices(&read.notices);
        let mut entries = read.entries;
        let before = entries.len();
        let debts = debts::of(&entries, &known);
        for id in &args.ids {
            let debt = debts.iter().find(|debt| debt.id == *id).ok_or_else(|| unknown(id))?;
            // It counts from when it is closed, which a clock may say was before it was there.
            let at = context.now().max(debt.at);
            entries.push(event(args, id.clone(), plan.as_ref()).at(at));
        }
        let after = debts::of(&entries, &known);
        let closed: Vec<Debt> = after.into_iter().filter(|debt| args.ids.contains(&debt.id)).collect();
        let is_news =
            |debt: &Debt| debts.iter().all(|old| old.id != debt.id || old.standing != debt.standing);
        let news: Vec<_> = closed.iter().filter(|debt| is_news(debt)).map(|debt| &debt.id).collect();
        let lines = entries.split_off(before).into_iter().filter(|entry| news.contains(&entry.event.id()));
        Ok::<_, CommandError>((lines.collect(), closed))
    })?;
    let text: String = closed.iter().map(|debt| format!("{} is {}\n", debt.id, render::word(debt))).collect();
    context.report(&json!({ "debts": closed.iter().map(outcome).collect::<Vec<_>>() }), &text)
}

fn event(args: &Close, id: DebtId, plan: Option<&OpenPlan>) -> Event {
    match args.drop {
        true => Event::Dropped { id },
        false => Event::Closed { id, plan: plan.map(|plan| plan.id().clone()) },
    }
}

fn outcome(debt: &Debt) -> Value {
    let mut value = json!(debt.standing);
    value["id"] = json!(debt.id);
    value
}

/// Fails for a plan that can't do anything any more: what it takes up would be open at once.
fn refuse_ended(plan: &OpenPlan, known: &[Known]) -> Result<(), CommandError> {
    let state =
        known.iter().find(|known| known.folder.id() == plan.id()).and_then(|known| known.state.as_ref().ok());
    match state.map(|state| fp_core::debt::PlanState { state, archived: false }.of_taken()) {
        Some(Standing::Open) => {
            Err(CommandError::refused(format!("{} is over, and not all of it is done", plan.id()))
                .hint("leave --plan out for what is done all the same"))
        }
        _ => Ok(()),
    }
}

fn unknown(id: &DebtId) -> CommandError {
    CommandError::failed(format!("there is no debt {id}")).hint("`fp debt list --all` lists all of them")
}

fn patience(context: &Context) -> Result<Duration, CommandError> {
    Ok(Duration::from_secs(context.settings()?.lock_timeout_seconds.into()))
}
