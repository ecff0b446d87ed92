//! `fp export`.

use std::collections::HashSet;

use fp_exchange::{TaskWork, json_text, portable_plan};
use fp_host::plan::OpenPlan;
use fp_plan::plan::id::TaskId;
use fp_plan::plan::{Plan, Task};
use fp_run::run::State;
use fp_run::run::state::Status;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};

/// Export a plan with the state of each task, as JSON
///
/// The tree may be invalid, but no two tasks may have the same id. It also accepts an archived plan.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The plan; defaults to the active one, or the last one.
    plan: Option<String>,
}

pub(crate) fn run(args: ExportArgs, context: &Context) -> CommandResult {
    let plan = context.open_to_read(args.plan.as_deref())?;
    let state = context.state(&plan)?;
    let tree = context.tree(&plan)?;
    let parsed = tree.parse();
    refuse_ambiguous(&plan, &parsed)?;
    context.printer.exact(&text_of(&plan, &parsed, &state));
    Ok(Exit::Done)
}

/// Fails if there is nothing to export, or if two tasks have the same id.
fn refuse_ambiguous(plan: &OpenPlan, tree: &Plan<'_>) -> Result<(), CommandError> {
    let mut seen = HashSet::new();
    let twice = tree
        .tasks
        .iter()
        .find(|task| !task.synthetic && !seen.insert(&task.id));
    let message = match twice {
        Some(task) => format!("two tasks of {} have the id {}", plan.id(), task.id),
        None if tree.tasks.is_empty() => format!("{} has no task to export", plan.id()),
        None => return Ok(()),
    };
    Err(CommandError::refused(message).with_hint(format!(
        "`fp validate {}` shows what is wrong with it",
        plan.id()
    )))
}

fn text_of(plan: &OpenPlan, tree: &Plan<'_>, state: &State) -> String {
    let mut whole = portable_plan(tree, plan.folder.goal().as_deref(), |leaf| {
        work_of(state, leaf)
    });
    if whole.title.is_empty() {
        whole.title = plan.id().to_string();
    }
    json_text(&whole)
}

fn work_of(state: &State, leaf: &Task<'_>) -> TaskWork {
    let Ok(id) = TaskId::new(&*leaf.id) else {
        return TaskWork::Todo;
    };
    let Some(task) = state.task(&id) else {
        // Until the plan is approved, only its source knows which tasks are done.
        let done = state
            .imported
            .get(&id)
            .filter(|done| done.title == leaf.description);
        return done.map_or(TaskWork::Todo, |done| TaskWork::Done {
            commit: done.commit.clone(),
        });
    };
    match task.status {
        Status::Pending => TaskWork::Todo,
        Status::Implementing | Status::AwaitingVerification => TaskWork::Running,
        Status::Completed => TaskWork::Done {
            commit: task.commit.clone(),
        },
        Status::Failed => TaskWork::Failed {
            reason: task.reason.clone(),
        },
        Status::Skipped => TaskWork::Skipped,
    }
}
