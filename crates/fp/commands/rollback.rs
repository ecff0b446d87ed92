//! `fp rollback`: undoes a completed task with a commit of its own.

use fp_host::git::Oid;
use fp_host::run::rollback::{Prepared, prepare, roll_back};
use fp_plan::plan::id::TaskId;
use fp_run::run::state::Status;
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;

/// Undo a task that is done, by a commit of its own; the task waits again
///
/// Refused while something that was built on it is done or under way, and where its files have uncommitted changes.
#[derive(Debug, clap::Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct RollbackArgs {
    /// The plan; defaults to the only active one.
    plan: Option<String>,
    /// The task.
    task: TaskId,
    /// Say what would be undone, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: RollbackArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(args.plan.as_deref())?;
    context.state(&plan)?;
    let (prepared, revert) = if args.dry_run {
        (prepare(&plan, &args.task)?, None)
    } else {
        roll_back(&plan, &args.task, || context.now())?
    };
    let mut text = if args.dry_run {
        would(&args.task, &prepared)
    } else {
        done(&args.task, &prepared, revert.as_ref())
    };
    for file in prepared.files() {
        text.push_str(&format!("  {file}\n"));
    }
    text.push_str(&waiting(&prepared.waiting));
    if args.dry_run {
        text.push_str("Nothing is changed (--dry-run).\n");
    } else {
        text.push_str(&format!("Next: {}\n", plan.load()?.state.lead_command()));
    }
    let waiting = prepared
        .waiting
        .iter()
        .map(|(id, status)| json!({ "id": id, "status": status }));
    let json = json!({
        "task": args.task, "dryRun": args.dry_run, "commit": prepared.commit, "revert": revert,
        "files": prepared.files(), "waiting": waiting.collect::<Vec<_>>(),
    });
    context.report(&json, &text)
}

fn would(task: &TaskId, prepared: &Prepared) -> String {
    match &prepared.commit {
        Some(commit) if prepared.files().is_empty() => {
            format!(
                "Task {task} ({}): what commit {} did is gone already\n",
                prepared.title,
                commit.short()
            )
        }
        Some(commit) => {
            format!(
                "Task {task} ({}): commit {} would be undone\n",
                prepared.title,
                commit.short()
            )
        }
        None => format!(
            "Task {task} ({}): {}\n",
            prepared.title,
            without_commit(prepared)
        ),
    }
}

fn done(task: &TaskId, prepared: &Prepared, revert: Option<&Oid>) -> String {
    let mut text = format!("Task {task} is rolled back and waits again");
    match (&prepared.commit, revert) {
        (Some(commit), Some(revert)) if prepared.files().is_empty() => {
            text.push_str(&format!(
                ": commit {} had been undone by {}\n",
                commit.short(),
                revert.short()
            ));
        }
        (Some(commit), Some(revert)) => {
            text.push_str(&format!(
                ": commit {} is undone by {}\n",
                commit.short(),
                revert.short()
            ));
        }
        (Some(commit), None) => {
            text.push_str(&format!(
                ": what commit {} did was gone already\n",
                commit.short()
            ));
        }
        (None, _) => text.push_str(&format!(": {}\n", without_commit(prepared))),
    }
    text
}

fn without_commit(prepared: &Prepared) -> String {
    let note = prepared
        .note
        .as_ref()
        .map_or_else(String::new, |note| format!(" ({note})"));
    format!("it has no commit{note}, so its change stays where it is")
}

fn waiting(waiting: &[(TaskId, Status)]) -> String {
    if waiting.is_empty() {
        return String::new();
    }
    let told: Vec<String> = waiting
        .iter()
        .map(|(id, status)| format!("{id} ({})", status.into_str()))
        .collect();
    format!("What waits for it: {}\n", told.join(", "))
}
