//! `fp rollback`: undoes a completed task with a commit of its own.

use fp_host::run::rollback::{Prepared, roll_back};
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
}

pub(crate) fn run(args: RollbackArgs, context: &Context) -> CommandResult {
    let plan = context.open_trusted(args.plan.as_deref())?;
    context.state(&plan)?;
    let (prepared, revert) = roll_back(&plan, &args.task, || context.now())?;
    let mut text = format!("Task {} is rolled back and waits again: ", args.task);
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
    for file in &prepared.files {
        text.push_str(&format!("  {file}\n"));
    }
    text.push_str(&waiting(&prepared.waiting));
    text.push_str(&format!("Next: {}\n", plan.load()?.state.lead_command()));
    let waiting = prepared
        .waiting
        .iter()
        .map(|(id, status)| json!({ "id": id, "status": status }));
    let json = json!({
        "task": args.task, "commit": prepared.commit, "revert": revert,
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
