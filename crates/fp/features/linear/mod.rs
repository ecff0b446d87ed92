//! `fp linear`: the mirror of a plan in Linear.
//!
//! An agent makes the calls. What has to be sent, in which order, and what was sent already is computed and remembered
//! here, so that an interrupted call is neither lost nor made twice: every call has a key, and one that was
//! acknowledged by its key is never offered again.

mod mapping;
mod outbox;
#[cfg(test)]
mod tests;
mod upkeep;

use std::collections::BTreeMap;
use std::path::PathBuf;

use fp_host::plan::OpenPlan;
use fp_plan::plan::id::LinearId;
use fp_plan::plan::parse;
use fp_plan::text::visible_line;
use serde_json::json;

use self::mapping::{CallResult, InvalidLinearKey, LinearKey, LinearMapping, LinearStage, TeamStatus};
use self::outbox::LinearOutbox;
use self::upkeep::{read_mapping, write_mapping};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input::Input;
use crate::source::PlanSource;

pub(crate) use self::upkeep::{LinearError, mapping_moved_to, mirror_findings, tracker_due, tracker_ended};

/// Largest list of statuses that is read, in bytes.
const STATUSES_CAP: u64 = 1024 * 1024;
/// Most calls that are printed at once.
const LIMIT: usize = 20;

/// Print what to send to Linear, and remember what was sent
///
/// Prints nothing as long as `linear.enabled` is false.
#[derive(Debug, clap::Args)]
pub(crate) struct LinearArgs {
    #[command(subcommand)]
    action: LinearAction,
}

#[derive(Debug, clap::Subcommand)]
enum LinearAction {
    /// Print the next issues to create: parents level by level, then leaves
    Create {
        /// The plan.
        plan: String,
    },
    /// Print which issues to move and which comments to make, as they follow from the log
    Outbox {
        /// The plan.
        plan: String,
    },
    /// Say what became of a call that was printed; saying it again changes nothing
    Ack(AckArgs),
    /// Tell which statuses the team has
    Statuses(StatusesArgs),
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
struct AckArgs {
    /// The plan.
    plan: String,
    /// The key that was printed.
    #[arg(value_parser = key)]
    key: LinearKey,
    /// Id of the issue that was created, or found by its marker.
    #[arg(long, value_name = "ISSUE")]
    id: Option<LinearId>,
    /// Its name for people, such as ENG-12.
    #[arg(long, value_name = "NAME", requires = "id")]
    identifier: Option<LinearId>,
    /// The call failed, for this reason.
    #[arg(long, value_name = "REASON", conflicts_with = "id")]
    failed: Option<String>,
}

#[derive(Debug, clap::Args)]
struct StatusesArgs {
    /// The plan.
    plan: String,
    /// A JSON array of statuses with `id`, `name` and `type`, as Linear lists them; `-` for standard input.
    #[arg(long)]
    file: PathBuf,
    /// Id of the team.
    #[arg(long, value_name = "ID")]
    team: Option<LinearId>,
}

fn key(text: &str) -> Result<LinearKey, InvalidLinearKey> {
    text.to_owned().try_into()
}

pub(crate) fn run(args: LinearArgs, context: &Context) -> CommandResult {
    let selector = match &args.action {
        LinearAction::Create { plan }
        | LinearAction::Outbox { plan }
        | LinearAction::Absent { plan }
        | LinearAction::Retry { plan } => plan,
        LinearAction::Ack(ack) => &ack.plan,
        LinearAction::Statuses(statuses) => &statuses.plan,
    };
    let plan = context.open(Some(selector))?;
    if !plan.settings.linear.enabled {
        return Ok(Exit::Done);
    }
    match args.action {
        LinearAction::Create { .. } => create(&plan, context),
        LinearAction::Outbox { .. } => offer(&plan, context),
        LinearAction::Ack(ack) => acknowledge(&plan, ack, context),
        LinearAction::Statuses(args) => statuses(&plan, args, context),
        LinearAction::Absent { .. } => absent(&plan, context),
        LinearAction::Retry { .. } => {
            change(&plan, |mapping| {
                mapping.retry();
                Ok(())
            })?;
            let text = "What failed is tried again, and Linear is taken for present\n";
            context.report(&json!({ "planId": plan.id(), "retried": true }), text)
        }
    }
}

/// The mapping of `plan`, or one of which nothing was sent.
fn mapping_of(plan: &OpenPlan) -> Result<LinearMapping, LinearError> {
    Ok(read_mapping(plan)?.unwrap_or_else(|| LinearMapping::new(plan.id())))
}

/// Changes the mapping under the plan's lock.
fn change<T>(
    plan: &OpenPlan,
    change: impl FnOnce(&mut LinearMapping) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let _lock = plan.lock()?;
    let before = mapping_of(plan)?;
    let mut mapping = before.clone();
    let changed = change(&mut mapping)?;
    if before != mapping {
        write_mapping(plan, &mapping)?;
    }
    Ok(changed)
}

fn create(plan: &OpenPlan, context: &Context) -> CommandResult {
    let mapping = mapping_of(plan)?;
    if mapping.absent {
        return Ok(Exit::Done);
    }
    let source = PlanSource::open(context, Some(plan.id().as_str()))?;
    let text = source.text()?;
    let (tree, problems) = parse(&text);
    if plan.load()?.state.approval.is_none() {
        source.refuse_invalid(&tree, &problems)?;
    }
    let due = LinearOutbox::of_issues(&tree, &mapping, &plan.settings.linear).cut(LIMIT);
    context.report(&json!(due), &due.text(plan.id()))
}

/// Prints what is due, once it is remembered that it is offered.
fn offer(plan: &OpenPlan, context: &Context) -> CommandResult {
    let tree = context.tree(plan)?;
    let ledger = plan.lock()?;
    context.notices(ledger.notices());
    let mut mapping = mapping_of(plan)?;
    if mapping.absent {
        return Ok(Exit::Done);
    }
    let state = ledger.state();
    let due = LinearOutbox::of_leaves(state, &mapping).and_parents(&tree.parse(), state, &mapping).cut(LIMIT);
    if mapping.resolved_statuses.is_empty() && !due.unresolved.is_empty() {
        return Err(CommandError::refused("the statuses of the team are not known")
            .hint(format!("list them and pipe them to `fp linear statuses {} --file -`", plan.id())));
    }
    if due.note_offers(&mut mapping) {
        write_mapping(plan, &mapping)?;
    }
    drop(ledger);
    context.report(&json!(due), &due.text(plan.id()))
}

fn acknowledge(plan: &OpenPlan, args: AckArgs, context: &Context) -> CommandResult {
    let AckArgs { key, id, identifier, failed, .. } = args;
    let done = failed.is_none();
    let result = match (failed, id) {
        (Some(reason), _) => CallResult::Failed(reason),
        (None, Some(id)) => CallResult::Created { id, identifier },
        (None, None) => CallResult::Done,
    };
    if let LinearKey::Create(task) = &key
        && context.tree(plan)?.parse().find(task.as_str()).is_none()
    {
        return Err(CommandError::refused(format!("the plan has no task {task}"))
            .hint(format!("`fp linear create {}` prints the keys of the issues to create", plan.id())));
    }
    change(plan, |mapping| Ok(mapping.acknowledge(&key, result)?))?;
    let text = if done { format!("{key} is done\n") } else { format!("{key} failed\n") };
    context.report(&json!({ "key": key, "done": done }), &text)
}

fn statuses(plan: &OpenPlan, args: StatusesArgs, context: &Context) -> CommandResult {
    let Input { name, text } = Input::read(&args.file, STATUSES_CAP, context)?;
    let list: Vec<TeamStatus> = serde_json::from_str(&text).map_err(|_| {
        CommandError::failed(format!("{name} is no list of statuses"))
            .hint(r#"it has to be a JSON array: [{"id": "…", "name": "Todo", "type": "unstarted"}, …]"#)
    })?;
    let names = &plan.settings.linear.status_map;
    let mut text = String::new();
    let mut resolved = BTreeMap::new();
    for stage in LinearStage::ALL {
        let word = stage.word();
        if let Some(name) = stage.unknown_name(&list, names) {
            context.printer.note(&format!("warning: the team has no status called {name:?} for {word}"));
        }
        match stage.status_among(&list, names) {
            Some(TeamStatus { id, name, .. }) => {
                text += &format!("{word:<11}  {}  ({id})\n", visible_line(name));
                resolved.insert(stage, id.clone());
            }
            None => text += &format!("{word:<11}  none: issues are not moved there\n"),
        }
    }
    let json = json!({ "planId": plan.id(), "resolvedStatuses": resolved });
    change(plan, |mapping| {
        // A stage that isn't found any more keeps its status.
        mapping.resolved_statuses.extend(resolved);
        mapping.team_id = args.team.or(mapping.team_id.take());
        Ok(())
    })?;
    context.report(&json, &text)
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
