//! `fp debt`.

use fp_core::plan::id::TaskId;
use fp_core::plan::path;
use fp_core::text::{visible_line, wrapped_within};
use serde_json::{Value, json};

use super::disk::{debt_plans, extend_log, read_log};
use super::model::{Debt, DebtEvent, DebtOffer, DebtOrigin, DebtStanding, all_debts, debt_text, next_id};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::printer::WIDTH;

/// Most lines of one debt's text in a list.
const MOST_LINES: usize = 4;
/// Columns before the text.
const INDENT: usize = 2;

/// Keep work for later: noted by hand, or left undone by a run
#[derive(Debug, clap::Args)]
pub(crate) struct DebtArgs {
    #[command(subcommand)]
    action: DebtAction,
}

#[derive(Debug, clap::Subcommand)]
enum DebtAction {
    Add(AddDebtArgs),
    /// List open debts
    ///
    /// The list has noted debts, tasks that failed or were skipped in a run that is over, and whatever verification
    /// found unfinished in a task that passed. Archived plans count too.
    List {
        /// Include those that are done or dropped.
        #[arg(long)]
        all: bool,
    },
    Close(CloseDebtsArgs),
}

/// Note work for later
#[derive(Debug, clap::Args)]
struct AddDebtArgs {
    /// What to do, in one line.
    #[arg(value_name = "TEXT")]
    text: String,
    /// The plan in which you noticed it.
    #[arg(long)]
    plan: Option<String>,
    /// The task in which you noticed it.
    #[arg(long, value_name = "ID", requires = "plan")]
    task: Option<TaskId>,
    /// A file that it concerns; repeatable.
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
}

/// Mark debts as done, taken up by a plan, or dropped
#[derive(Debug, clap::Args)]
struct CloseDebtsArgs {
    /// The id in `fp debt list`.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The plan that takes it up: done with that plan, and open again if the plan ends before all of it is done.
    #[arg(long)]
    plan: Option<String>,
    /// Drop it: nobody wants it any more.
    #[arg(long, conflicts_with = "plan")]
    drop: bool,
}

pub(crate) fn run(args: DebtArgs, context: &Context) -> CommandResult {
    match args.action {
        DebtAction::Add(args) => add(args, context),
        DebtAction::List { all } => list(all, context),
        DebtAction::Close(args) => close(&args, context),
    }
}

fn add(args: AddDebtArgs, context: &Context) -> CommandResult {
    let plan = args.plan.as_ref().map(|plan| context.open(Some(plan))).transpose()?;
    if let (Some(plan), Some(task)) = (&plan, &args.task) {
        plan.load()?.state.expect_task(task)?;
    }
    let text = debt_text(&args.text);
    if text.is_empty() {
        return Err(CommandError::failed("the debt has no text")
            .hint("say what to do: `fp debt add 'Refresh expired tokens'`"));
    }
    let normal = |file: &String| match path::normal(file.trim()) {
        Ok(path) => Ok(path.into_owned()),
        Err(why) => Err(CommandError::failed(format!("{file:?} is no file of the repository: {why}"))
            .hint("name a file by its path from the root of the repository")),
    };
    let files = args.file.iter().map(normal).collect::<Result<Vec<_>, _>>()?;
    let from = plan.map(|plan| DebtOrigin { plan: plan.id().clone(), task: args.task });
    let known = context.known_plans()?;
    let (id, new) = extend_log(context, |entries| {
        let debts = all_debts(entries, &debt_plans(&known));
        if let Some(same) = debts.iter().find(|debt| debt.text == text && debt.standing == DebtStanding::Open)
        {
            return Ok((Vec::new(), (same.id.clone(), false)));
        }
        let id = next_id(&debts);
        let event = DebtEvent::Noted { id: id.clone(), text, files, from };
        Ok((vec![event.at(context.now())], (id, true)))
    })?;
    let text = if new { format!("Added {id}\n") } else { format!("{id} is the same and still open\n") };
    context.report(&json!({ "id": id, "new": new }), &text)
}

fn list(all: bool, context: &Context) -> CommandResult {
    let known = context.known_plans()?;
    context.warn_of_unread(&known);
    let debts = all_debts(&read_log(context.repo())?, &debt_plans(&known));
    let listed: Vec<&Debt> = debts.iter().filter(|debt| all || debt.standing.is_due()).collect();
    let closed = debts.len() - listed.len();
    let mut text: String = listed.iter().map(|debt| list_item(debt)).collect();
    if listed.is_empty() {
        text += "No open debts\n";
    }
    if closed > 0 {
        text += &format!("({closed} done or dropped: fp debt list --all)\n");
    }
    context.report(&json!({ "debts": listed, "closed": closed }), &text)
}

fn close(args: &CloseDebtsArgs, context: &Context) -> CommandResult {
    let plan = args.plan.as_ref().map(|plan| context.open(Some(plan))).transpose()?;
    let plan = plan.map(|plan| plan.id().clone());
    let known = context.known_plans()?;
    let plans = debt_plans(&known);
    let closed = extend_log(context, |entries| {
        let mut debts = all_debts(entries, &plans);
        let is = |debt: &Debt, id: &String| debt.id.eq_ignore_ascii_case(id);
        if let Some(id) = args.ids.iter().find(|id| !debts.iter().any(|debt| is(debt, id))) {
            return Err(CommandError::failed(format!("there is no debt {id}"))
                .hint("`fp debt list --all` lists all of them"));
        }
        debts.retain(|debt| args.ids.iter().any(|id| is(debt, id)));
        let mut new = Vec::new();
        for debt in &mut debts {
            let id = debt.id.clone();
            let event = match args.drop {
                true => DebtEvent::Dropped { id },
                false => DebtEvent::Closed { id, plan: plan.clone() },
            };
            match (event.standing(&plans), &plan) {
                (Some((_, DebtStanding::Open)), Some(plan)) => {
                    return Err(CommandError::refused(format!("{plan} is over, and not all of it is done"))
                        .hint("leave out --plan to mark the debt as done"));
                }
                (Some((_, standing)), _) if standing != debt.standing => {
                    debt.standing = standing;
                    // A clock that was set back must not put the end before the beginning.
                    new.push(event.at(context.now().max(debt.at)));
                }
                _ => {}
            }
        }
        Ok((new, debts))
    })?;
    let text: String =
        closed.iter().map(|debt| format!("{} is {}\n", debt.id, standing_words(debt))).collect();
    let outcome = |debt: &Debt| {
        let mut value = json!(debt.standing);
        value["id"] = json!(debt.id);
        value
    };
    context.report(&json!({ "debts": closed.iter().map(outcome).collect::<Vec<_>>() }), &text)
}

fn list_item(debt: &Debt) -> String {
    let standing = match debt.standing {
        DebtStanding::Open => String::new(),
        _ => format!("  ({})", standing_words(debt)),
    };
    let files = debt.files.iter().map(|file| visible_line(file)).collect::<Vec<_>>().join(", ");
    let room = WIDTH - INDENT;
    let lines =
        wrapped_within(&debt.text, room, MOST_LINES).into_iter().chain(wrapped_within(&files, room, 1));
    let text: String = lines.map(|line| format!("{:INDENT$}{line}\n", "")).collect();
    format!("{}{standing}\n{text}", debt.id)
}

fn standing_words(debt: &Debt) -> String {
    match &debt.standing {
        DebtStanding::Open => "open".into(),
        DebtStanding::Taken { by } => format!("taken up by {by}"),
        DebtStanding::Done { by: Some(by) } => format!("done by {by}"),
        DebtStanding::Done { by: None } => "done".into(),
        DebtStanding::Dropped => "dropped".into(),
    }
}

impl DebtOffer {
    pub(crate) fn json(&self) -> Vec<Value> {
        let described = |Debt { id, text, files, from, .. }: &Debt| json!({ "id": id, "text": text, "files": files, "from": from });
        self.debts.iter().map(described).collect()
    }

    /// What whoever makes the plan `plan` sees; empty where nothing is open.
    pub(crate) fn text(&self, plan: &str) -> String {
        if self.debts.is_empty() {
            return String::new();
        }
        let mut text = "\nOpen debts (ask which of them belong to this goal):\n".to_owned();
        for debt in &self.debts {
            let lines = wrapped_within(&format!("{}: {}", debt.id, debt.text), WIDTH - INDENT, 2);
            text.extend(lines.iter().map(|line| format!("{:INDENT$}{line}\n", "")));
        }
        if self.more > 0 {
            text += &format!("  ({} more: fp debt list)\n", self.more);
        }
        text + &format!("  to take one up: fp debt close ID --plan {plan}\n")
    }
}
