//! `fp retry`: has a task built again, in whatever state it is.

use fp_host::plan::OpenPlan;
use fp_host::run::rollback::{Prepared, roll_back};
use fp_plan::plan::id::TaskId;
use fp_run::run::event::Event;
use fp_run::run::state::Status;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::input;
use crate::source::PlanSource;

/// Build a task again: a failed, a finished or a current one
///
/// Tasks that were skipped because of a failed task are no longer skipped. A finished task is first undone by a commit
/// of its own. That needs your consent, and is refused while a task that depends on it is done or under way, or if its
/// files have uncommitted changes. A task that is being built is taken back from its builder, and the attempt doesn't
/// count.
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct RetryArgs {
    /// The plan; defaults to the active one, or the last one.
    plan: Option<String>,
    /// The task.
    task: TaskId,
    /// Undo a finished task without asking.
    #[arg(long)]
    undo: bool,
}

pub(crate) fn run(args: RetryArgs, context: &Context) -> CommandResult {
    let task = &args.task;
    if args.undo {
        return undo_task(&context.open_trusted(args.plan.as_deref())?, task, context);
    }
    let source = PlanSource::open_to_read(context, args.plan.as_deref())?;
    let plan = source.plan()?;
    let id = plan.id();
    let state = plan.load()?.state;
    let known = state.task(task);
    match known.map(|known| (known.status, known.imported)) {
        Some((Status::Implementing, _)) => {
            release_task(&context.open_trusted(Some(id.as_str()))?, task, context)
        }
        Some((Status::Completed, false)) => {
            let question = format!("Task {task} is done. Undo it by a commit of its own?");
            if !input::can_ask(context) || !input::agrees(&question, context) {
                return Err(
                    CommandError::refused(format!("task {task} is done, and stays so")).with_hint(
                        format!("`fp retry {id} {task} --undo` undoes it by a commit of its own"),
                    ),
                );
            }
            undo_task(&context.open_trusted(Some(id.as_str()))?, task, context)
        }
        _ => retry_task(&source, plan, task, context),
    }
}

/// Withdraws the claim on task `id`.
fn release_task(plan: &OpenPlan, id: &TaskId, context: &Context) -> CommandResult {
    let mut ledger = plan.lock_in_order()?;
    let events = ledger.state().release(id, "released by hand")?;
    ledger.append(events, context.now())?;
    let json = json!({ "task": id, "status": Status::Pending });
    context.report(&json, &format!("Task {id} waits again\n"))
}

/// Gives the failed task `task` another attempt.
fn retry_task(
    source: &PlanSource,
    plan: &OpenPlan,
    task: &TaskId,
    context: &Context,
) -> CommandResult {
    let mut ledger = plan.lock_in_order()?;
    let mut events = ledger.state().retry(task)?;
    let was_done = ledger.state().task(task).is_some_and(|task| task.imported);
    // A task that was imported as done may lack criteria, but one that is built again may not.
    let to_revise = was_done && !source.is_valid_anew(task)?;
    if to_revise {
        events.push(Event::RevisionDue { task: task.clone() });
    }
    let restored: Vec<String> = events
        .iter()
        .flat_map(|event| match event {
            Event::Retried { restored, .. } => restored.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        })
        .collect();
    ledger.append(events, context.now())?;
    let mut text = format!("Task {} waits again", task);
    if !restored.is_empty() {
        text.push_str(&format!(", and so do {}", restored.join(", ")));
    }
    let id = plan.id();
    let next = match to_revise {
        true => {
            text.push_str(&format!(
                ". It was not written to be built: `fp validate {id}` shows what is missing"
            ));
            format!(
                "fp task revise {id} {} --file -, then fp approve {id}",
                task
            )
        }
        false => ledger.state().lead_command(),
    };
    let json = json!({ "task": task, "status": Status::Pending, "restored": restored });
    context.report(&json, &format!("{text}\nNext: {next}\n"))
}

/// Undoes the completed task `id` with a separate commit.
fn undo_task(plan: &OpenPlan, id: &TaskId, context: &Context) -> CommandResult {
    context.state(plan)?;
    let (prepared, revert) = roll_back(plan, id, || context.now())?;
    context.remove_unneeded_worktrees(plan);
    let mut text = format!("Task {id} is rolled back and waits again: ");
    text += &match (&prepared.commit, &revert) {
        (None, _) => without_commit(&prepared),
        (Some(commit), None) => format!("what commit {} did was gone already", commit.short()),
        (Some(commit), Some(revert)) => {
            let is_gone = prepared.files.is_empty();
            let undone = if is_gone {
                "had been undone"
            } else {
                "is undone"
            };
            format!("commit {} {undone} by {}", commit.short(), revert.short())
        }
    };
    text.push('\n');
    text.extend(prepared.files.iter().map(|file| format!("  {file}\n")));
    text.push_str(&waiting_text(&prepared.waiting));
    text.push_str(&format!("Next: {}\n", plan.load()?.state.lead_command()));
    let waiting = prepared
        .waiting
        .iter()
        .map(|(id, status)| json!({ "id": id, "status": status }));
    let json = json!({
        "task": id, "commit": prepared.commit, "revert": revert,
        "files": prepared.files, "waiting": waiting.collect::<Vec<_>>(),
    });
    context.report(&json, &text)
}

fn without_commit(prepared: &Prepared<'_>) -> String {
    let note = prepared
        .note
        .as_ref()
        .map_or_else(String::new, |note| format!(" ({note})"));
    format!("it has no commit{note}, so its change stays where it is")
}

fn waiting_text(waiting: &[(TaskId, Status)]) -> String {
    if waiting.is_empty() {
        return String::new();
    }
    let told: Vec<String> = waiting
        .iter()
        .map(|(id, status)| format!("{id} ({})", status.into_str()))
        .collect();
    format!("What waits for it: {}\n", told.join(", "))
}
