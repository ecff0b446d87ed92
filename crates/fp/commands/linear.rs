//! `fp linear`.

use std::path::PathBuf;

use fp_core::linear::{
    Answer, AnswerError, Key, LinearId, Mapping, Outbox, Request, TeamStatuses, batch, outbox, resolve,
    rollup,
};
use fp_core::plan::parse;
use fp_core::run::State;
use fp_core::schedule::{ScheduleError, ScheduleOptions, schedule};
use fp_host::linear::{read, write};
use fp_host::plan::OpenPlan;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input::Input;
use crate::printer::Format;
use crate::render::linear as render;
use crate::source::PlanSource;

/// Largest list of statuses that is read, in bytes.
const STATUSES_CAP: u64 = 1024 * 1024;
/// Most characters of an address.
const URL: usize = 2000;

/// Say what to send to Linear, and remember what was sent
///
/// Prints nothing as long as `linear.enabled` is false.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print the next issues to be created: parents level by level, then leaves in the order in which they run
    Create(Batched),
    /// Print where issues are to be moved and what is to be said about them, as it follows from the log
    Outbox(Batched),
    /// Print where the issues of parents are to be moved, as it follows from their leaves
    Rollup(Batched),
    /// Say what became of a thing that was printed; saying it again changes nothing
    Ack(Ack),
    /// Tell which statuses the team has
    Statuses(Statuses),
    /// Tell that Linear can't be reached: nothing is printed any more
    Absent {
        /// The plan.
        plan: String,
    },
    /// Print again what failed too often, and take Linear for present
    Retry {
        /// The plan.
        plan: String,
    },
}

#[derive(Debug, clap::Args)]
struct Batched {
    /// The plan.
    plan: String,
    /// How many at most (1-200).
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: u16,
}

#[derive(Debug, clap::Args)]
struct Ack {
    /// The plan.
    plan: String,
    /// The key that was printed.
    key: Key,
    /// Id of the issue that was created, or found by its marker.
    #[arg(long, value_name = "ISSUE")]
    id: Option<LinearId>,
    /// What people call it, such as ENG-12.
    #[arg(long, value_name = "NAME", requires = "id")]
    identifier: Option<LinearId>,
    /// Where it is seen.
    #[arg(long, requires = "id", value_parser = url)]
    url: Option<String>,
    /// It failed, for this reason.
    #[arg(long, value_name = "REASON", conflicts_with = "id")]
    failed: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Statuses {
    /// The plan.
    plan: String,
    /// A JSON array of statuses with `id`, `name` and `type`, as Linear lists them; `-` for standard input.
    #[arg(long)]
    file: PathBuf,
    /// Id of the team.
    #[arg(long, value_name = "ID")]
    team: Option<LinearId>,
    /// Id of the project.
    #[arg(long, value_name = "ID")]
    project: Option<LinearId>,
}

fn url(text: &str) -> Result<String, String> {
    let plain = text.chars().count() <= URL && text.chars().all(|c| !c.is_whitespace() && !c.is_control());
    if plain && text.starts_with("https://") {
        Ok(text.to_owned())
    } else {
        Err(format!("an address begins with https:// and has no blanks and at most {URL} characters"))
    }
}

pub(crate) fn run(args: Args, context: &Context) -> CommandResult {
    let selector = match &args.action {
        Action::Create(batched) | Action::Outbox(batched) | Action::Rollup(batched) => &batched.plan,
        Action::Ack(ack) => &ack.plan,
        Action::Statuses(statuses) => &statuses.plan,
        Action::Absent { plan } | Action::Retry { plan } => plan,
    };
    let plan = context.open(Some(selector))?;
    if !plan.settings.linear.enabled {
        return Ok(Exit::Done);
    }
    match args.action {
        Action::Create(batched) => create(&plan, &batched, context),
        Action::Outbox(batched) => {
            send(&plan, context, |state, mapping| Ok(outbox(state, mapping, batched.limit.into())))
        }
        Action::Rollup(batched) => send(&plan, context, |state, mapping| {
            let tree = context.tree(&plan)?;
            Ok(rollup(&tree.parse(), state, mapping, batched.limit.into()))
        }),
        Action::Ack(ack) => acknowledge(&plan, ack, context),
        Action::Statuses(args) => statuses(&plan, &args, context),
        Action::Absent { .. } => absent(&plan, context),
        Action::Retry { .. } => {
            change(&plan, |mapping| {
                mapping.retry();
                Ok(())
            })?;
            let text = "What failed is tried again, and Linear is taken for present\n";
            context.report(&json!({ "planId": plan.id(), "retried": true }), text)
        }
    }
}

/// Changes the mapping under the plan's lock.
fn change<T>(
    plan: &OpenPlan,
    change: impl FnOnce(&mut Mapping) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let _lock = plan.lock()?;
    let before = read(plan)?;
    let mut mapping = before.clone().unwrap_or_else(|| Mapping::new(plan.id().clone()));
    let changed = change(&mut mapping)?;
    if before.as_ref() != Some(&mapping) {
        write(plan, &mapping)?;
    }
    Ok(changed)
}

fn create(plan: &OpenPlan, args: &Batched, context: &Context) -> CommandResult {
    let mapping = read(plan)?.unwrap_or_else(|| Mapping::new(plan.id().clone()));
    if mapping.absent {
        return Ok(Exit::Done);
    }
    let source = PlanSource::open(context, Some(plan.id().as_str()))?;
    let text = source.text()?;
    let (tree, problems) = parse(&text);
    if plan.load()?.state.approval.is_none() {
        source.refuse_invalid(&tree, &problems)?;
    }
    let options = ScheduleOptions {
        order: plan.settings.execution_order,
        model: plan.settings.execution_model,
        composite: plan.composites()?.unwrap_or_default(),
        ..ScheduleOptions::default()
    };
    let invalid = |error: String| {
        CommandError::refused(error)
            .hint(format!("`fp validate {}` shows what is wrong with the tree", plan.id()))
    };
    let schedule = schedule(&tree, &options)
        .map_err(|error @ ScheduleError::Cycle { .. }| invalid(error.to_string()))?;
    let order: Vec<&str> = schedule.order.iter().map(|step| step.id).collect();
    let settings = &plan.settings.linear;
    let request =
        Request { tree: &tree, order: &order, mapping: &mapping, settings, limit: args.limit.into() };
    let batch = batch(&request).map_err(|error| invalid(error.to_string()))?;
    match context.format {
        Format::Json => context.printer.json(&batch)?,
        Format::Text => context.printer.data(&render::batch(&batch, plan.id())),
    }
    Ok(Exit::Done)
}

/// Prints what `due` finds, once it is remembered that it is given out.
fn send(
    plan: &OpenPlan,
    context: &Context,
    due: impl FnOnce(&State, &Mapping) -> Result<Outbox, CommandError>,
) -> CommandResult {
    let ledger = plan.lock()?;
    context.notices(ledger.notices());
    // Nothing was ever created, so there is nothing to move.
    let mut mapping = read(plan)?.unwrap_or_else(|| Mapping::new(plan.id().clone()));
    if mapping.absent {
        return Ok(Exit::Done);
    }
    let found = due(ledger.state(), &mapping)?;
    if mapping.resolved_statuses.is_empty() && !found.unresolved.is_empty() {
        return Err(CommandError::refused("the statuses of the team are not known")
            .hint(format!("list them and pipe them to `fp linear statuses {} --file -`", plan.id())));
    }
    if mapping.give_out(&found.changes) {
        write(plan, &mapping)?;
    }
    drop(ledger);
    match context.format {
        Format::Json => context.printer.json(&found)?,
        Format::Text => context.printer.data(&render::outbox(&found, plan.id())),
    }
    Ok(Exit::Done)
}

fn acknowledge(plan: &OpenPlan, args: Ack, context: &Context) -> CommandResult {
    let Ack { key, id, identifier, url, failed, .. } = args;
    let text = match &failed {
        Some(_) => format!("{key} failed\n"),
        None => format!("{key} is done\n"),
    };
    let answer = match (failed, id) {
        (Some(reason), _) => Answer::Failed(reason),
        (None, Some(id)) => Answer::Created { id, identifier, url },
        (None, None) => Answer::Done,
    };
    let json = json!({ "key": key, "done": !matches!(answer, Answer::Failed(_)) });
    if let Key::Create(task) = &key {
        let tree = context.tree(plan)?;
        if tree.parse().find(task.as_str()).is_none() {
            return Err(CommandError::refused(format!("the plan has no task {task}")).hint(format!(
                "`fp linear create {}` prints the keys of the issues to be created",
                plan.id()
            )));
        }
    }
    change(plan, |mapping| {
        mapping.answer(&key, answer).map_err(|error| {
            let hint = match &error {
                AnswerError::OtherIssue { .. } => {
                    "the task keeps its issue: close the other one in Linear, with a word on why".to_owned()
                }
                _ => {
                    let plan = plan.id();
                    format!("`fp linear create {plan}` and `fp linear outbox {plan}` print what is due, with its key")
                }
            };
            CommandError::refused(error).hint(hint)
        })
    })?;
    context.report(&json, &text)
}

fn statuses(plan: &OpenPlan, args: &Statuses, context: &Context) -> CommandResult {
    let Input { name, text } = Input::read(&args.file, STATUSES_CAP, context)?;
    let statuses: TeamStatuses = serde_json::from_str(&text).map_err(|_| {
        CommandError::failed(format!("{name} is no list of statuses"))
            .hint(r#"it has to be a JSON array: [{"id": "…", "name": "Todo", "type": "unstarted"}, …]"#)
    })?;
    let resolved = resolve(&statuses.in_order(), &plan.settings.linear.status_map);
    change(plan, |mapping| {
        mapping.set_statuses(&resolved);
        mapping.team_id = args.team.clone().or(mapping.team_id.take());
        mapping.project_id = args.project.clone().or(mapping.project_id.take());
        Ok(())
    })?;
    for warning in &resolved.warnings {
        context.printer.note(&format!("warning: {warning}"));
    }
    let json = json!({
        "planId": plan.id(), "resolvedStatuses": resolved.statuses, "names": resolved.names,
        "warnings": resolved.warnings,
    });
    context.report(&json, &render::statuses(&resolved))
}

fn absent(plan: &OpenPlan, context: &Context) -> CommandResult {
    let known = change(plan, |mapping| Ok(std::mem::replace(&mut mapping.absent, true)))?;
    if !known {
        context
            .printer
            .note("warning: Linear can't be reached, and is left alone: the plan goes on without it");
        context.printer.note(&format!("hint: once it is there, run `fp linear retry {}`", plan.id()));
    }
    Ok(Exit::Done)
}
