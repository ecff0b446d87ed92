//! `fp linear`: the mirror of a plan in Linear.
//!
//! An agent makes the calls. `fp` computes which are due and remembers which were made, so that an interrupted call is
//! neither lost nor made twice: every call has a key, and one that was acknowledged by its key is never offered again.

mod mapping;
mod outbox;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fp_host::plan::OpenPlan;
use fp_plan::plan::id::{AgentName, LinearId};
use fp_plan::plan::parse;
use fp_plan::settings::AgentPlayer;
use fp_plan::text::visible_line;
use fp_run::run::State;
use fp_run::run::next::LeadAction;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

pub(crate) use self::mapping::mapping_moved_to;
use self::mapping::{LinearKey, LinearMapping, LinearStage, TeamStatus};
use self::outbox::LinearOutbox;
use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::input::Input;
use crate::printer::word_of;
use crate::source::PlanSource;

/// Largest list of statuses that is read, in bytes.
const STATUSES_CAP: u64 = 1024 * 1024;
/// Most calls that are printed at once.
const LIMIT: usize = 20;
/// Name of the agent that brings Linear up to date with a run.
const TRACKER: &str = "tracker";
/// Its type, as the client addresses it.
const TRACKER_AGENT: &str = "fp:task-tracker";

/// Print what to send to Linear, and remember what was sent
///
/// Prints nothing while `linear.enabled` is false.
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
    /// Print the issues to move and the comments to add
    Outbox {
        /// The plan.
        plan: String,
    },
    /// Record that a printed call was made, or that it failed
    Ack {
        /// The plan.
        plan: String,
        /// The printed key.
        #[arg(value_parser = |text: &str| LinearKey::try_from(text.to_owned()))]
        key: LinearKey,
        /// Id of the issue that was created, or found by its marker.
        #[arg(long, value_name = "ISSUE")]
        id: Option<LinearId>,
        /// Why the call failed.
        #[arg(long, value_name = "REASON", conflicts_with = "id")]
        failed: Option<String>,
    },
    /// Record the team's statuses
    Statuses {
        /// The plan.
        plan: String,
        /// A JSON array of statuses with `id`, `name` and `type`, as Linear lists them; `-` for standard input.
        #[arg(long)]
        file: PathBuf,
        /// Id of the team.
        #[arg(long, value_name = "ID")]
        team: Option<LinearId>,
    },
    /// Record that Linear can't be reached: from then on nothing is printed
    Absent {
        /// The plan.
        plan: String,
    },
    /// Offer failed calls again, and treat Linear as reachable
    Retry {
        /// The plan.
        plan: String,
    },
}

pub(crate) fn run(args: LinearArgs, context: &Context) -> CommandResult {
    use LinearAction::{Absent, Ack, Create, Outbox, Retry, Statuses};
    let plan = match &args.action {
        Create { plan } | Outbox { plan } | Absent { plan } | Retry { plan } => plan,
        Ack { plan, .. } | Statuses { plan, .. } => plan,
    };
    let plan = context.open(Some(plan))?;
    if !plan.settings.linear.enabled {
        return Ok(Exit::Done);
    }
    match args.action {
        Create { .. } => create(&plan, context),
        Outbox { .. } => offer(&plan, context),
        Ack {
            key, id, failed, ..
        } => acknowledge(&plan, &key, id, failed.as_deref(), context),
        Statuses { file, team, .. } => statuses(&plan, &file, team, context),
        Absent { .. } => absent(&plan, context),
        Retry { .. } => {
            change(&plan, |mapping| {
                mapping.retry();
                Ok(())
            })?;
            let json = json!({ "planId": plan.id(), "retried": true });
            context.report(
                &json,
                "Failed calls are offered again, and Linear counts as reachable\n",
            )
        }
    }
}

/// Changes the mapping under the plan's lock, and returns true if it is another one then.
fn change(
    plan: &OpenPlan,
    change: impl FnOnce(&mut LinearMapping) -> Result<(), CommandError>,
) -> Result<bool, CommandError> {
    let _lock = plan.lock()?;
    let before = LinearMapping::read(plan)?;
    let mut mapping = before.clone();
    change(&mut mapping)?;
    let changed = before != mapping;
    if changed {
        mapping.write(plan)?;
    }
    Ok(changed)
}

fn create(plan: &OpenPlan, context: &Context) -> CommandResult {
    let mapping = LinearMapping::read(plan)?;
    if mapping.absent {
        return Ok(Exit::Done);
    }
    let source = PlanSource::open(context, Some(plan.id().as_str()))?;
    let text = source.text()?;
    let (tree, problems) = parse(&text);
    if plan.load()?.state.approval.is_none() {
        source.refuse_invalid(&tree, &problems)?;
    }
    let mut due = LinearOutbox::of_issues(&tree, &mapping, &plan.settings.linear);
    due.calls.truncate(LIMIT);
    context.report(&json!(due), &due.text(plan.id()))
}

fn offer(plan: &OpenPlan, context: &Context) -> CommandResult {
    let tree = context.tree(plan)?;
    let ledger = context.told(plan.lock()?);
    let mut mapping = LinearMapping::read(plan)?;
    if mapping.absent {
        return Ok(Exit::Done);
    }
    let state = ledger.state();
    let mut due =
        LinearOutbox::of_leaves(state, &mapping).and_parents(&tree.parse(), state, &mapping);
    due.calls.truncate(LIMIT);
    if mapping.resolved_statuses.is_empty() && !due.unresolved.is_empty() {
        return Err(
            CommandError::refused("the statuses of the team are not known").hint(format!(
                "list them and pipe them to `fp linear statuses {} --file -`",
                plan.id()
            )),
        );
    }
    // Before they are printed: whoever prints and dies has offered them.
    if due.note_offers(&mut mapping) | !std::mem::replace(&mut mapping.tracker_heard, true) {
        mapping.write(plan)?;
    }
    drop(ledger);
    if due.calls.is_empty() {
        context.printer.note("note: nothing is due in Linear");
    }
    context.report(&json!(due), &due.text(plan.id()))
}

fn acknowledge(
    plan: &OpenPlan,
    key: &LinearKey,
    id: Option<LinearId>,
    failed: Option<&str>,
    context: &Context,
) -> CommandResult {
    if let LinearKey::Create(task) = key
        && context.tree(plan)?.parse().find(task.as_str()).is_none()
    {
        return Err(
            CommandError::refused(format!("the plan has no task {task}")).hint(format!(
                "`fp linear create {}` prints the keys of the issues to create",
                plan.id()
            )),
        );
    }
    change(plan, |mapping| match failed {
        Some(reason) => mapping.fail(key, reason),
        None => mapping.acknowledge(key, id),
    })?;
    let done = failed.is_none();
    let text = format!("{key} {}\n", if done { "is done" } else { "failed" });
    context.report(&json!({ "key": key, "done": done }), &text)
}

fn statuses(
    plan: &OpenPlan,
    file: &Path,
    team: Option<LinearId>,
    context: &Context,
) -> CommandResult {
    let Input { name, text } = Input::read(file, STATUSES_CAP, context)?;
    let list: Vec<TeamStatus> = serde_json::from_str(&text).map_err(|_| {
        CommandError::failed(format!("{name} is not a list of statuses"))
            .hint(r#"pass a JSON array: [{"id": "…", "name": "Todo", "type": "unstarted"}, …]"#)
    })?;
    let names = &plan.settings.linear.status_map;
    let mut text = String::new();
    let mut resolved = BTreeMap::new();
    for stage in LinearStage::ALL {
        let word = word_of(stage);
        if let Some(name) = stage.wanted_status(names).0
            && !list.iter().any(|status| status.is_called(name))
        {
            context.printer.note(&format!(
                "warning: the team has no status called {name:?} for {word}"
            ));
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
        // A stage without a status in this list keeps the one it had.
        mapping.resolved_statuses.extend(resolved);
        mapping.team_id = team.or(mapping.team_id.take());
        Ok(())
    })?;
    context.report(&json, &text)
}

fn absent(plan: &OpenPlan, context: &Context) -> CommandResult {
    let is_news = change(plan, |mapping| {
        mapping.absent = true;
        Ok(())
    })?;
    if is_news {
        context
            .printer
            .note("warning: Linear can't be reached: the plan goes on without it");
        context.printer.note(&format!(
            "hint: once it can be reached, run `fp linear retry {}`",
            plan.id()
        ));
    }
    Ok(Exit::Done)
}

/// Takes the tracker out of the agents that have `ended`, and returns true if it was among them.
pub(crate) fn tracker_ended(ended: &mut Vec<AgentName>) -> bool {
    let before = ended.len();
    ended.retain(|name| name.as_str() != TRACKER);
    ended.len() < before
}

/// The action that starts the tracker, where calls are due in Linear and no tracker is running: the last one has `ended`,
/// or its time is up. One that has not asked for its calls yet is started again. The caller holds the plan's lock.
///
/// The tracker is no part of the run: nothing waits for it, and the mapping has its start, not the log.
pub(crate) fn tracker_due(
    plan: &OpenPlan,
    state: &State,
    ended: bool,
    now: Timestamp,
) -> Result<Option<LeadAction>, CommandError> {
    if !plan.settings.linear.enabled {
        return Ok(None);
    }
    let mut mapping = LinearMapping::read(plan)?;
    if mapping.absent {
        return Ok(None);
    }
    let before = (mapping.tracked_since, mapping.tracker_heard);
    let time = SignedDuration::from_mins(plan.settings.dispatch_timeout_minutes.into());
    let started = before.0.filter(|_| !ended);
    let is_running = started.is_some_and(|since| now.duration_since(since) < time);
    let again = is_running && !mapping.tracker_heard;
    let is_due =
        (!is_running || again) && !LinearOutbox::of_leaves(state, &mapping).calls.is_empty();
    mapping.tracked_since = if is_due && !again { Some(now) } else { started };
    mapping.tracker_heard &= is_running;
    if (mapping.tracked_since, mapping.tracker_heard) != before {
        mapping.write(plan)?;
    }
    let id = plan.id();
    Ok(is_due.then(|| LeadAction::Spawn {
        name: AgentName::new(TRACKER).expect("it is a name"),
        agent: TRACKER_AGENT,
        prompt: format!(
            "You are {TRACKER}. Bring Linear up to date with plan {id}: run `fp linear outbox {id}` and go by what it prints."
        ),
        player: AgentPlayer::default(),
        again,
    }))
}
