//! What a run left over, read off its state.

use super::{Debt, DebtId, Origin, Standing, one_line};
use crate::run::State;
use crate::run::state::{RunStatus, Status, TaskState};

/// The leaves that a run which is over did not bring to an end, and what was let go of those that passed. Nothing
/// of a run that is on, since it may yet do them.
pub(super) fn of_run(state: &State) -> impl Iterator<Item = Debt> {
    let over = state.run.as_ref().is_some_and(|run| run.status != RunStatus::Running);
    let tasks = if over { &state.tasks[..] } else { &[] };
    tasks.iter().filter_map(|task| of_task(state, task))
}

fn of_task(state: &State, task: &TaskState) -> Option<Debt> {
    let leaf = &task.leaf;
    let text = match task.status {
        Status::Failed => match &task.reason {
            Some(reason) => format!("{} (failed: {reason})", leaf.title),
            None => format!("{} (failed)", leaf.title),
        },
        Status::Skipped => match &task.because {
            Some(because) => format!("{} (skipped, since {because} failed)", leaf.title),
            None => format!("{} (skipped)", leaf.title),
        },
        Status::Completed => format!("Unfinished after \"{}\": {}", leaf.title, let_go(task)?),
        Status::Pending | Status::Implementing | Status::AwaitingVerification => return None,
    };
    let plan = state.plan_id.clone();
    Some(Debt {
        id: DebtId::Left(plan.clone(), leaf.id.clone()),
        text: one_line(&text),
        files: leaf.files.clone(),
        from: Some(Origin { plan, task: Some(leaf.id.clone()) }),
        at: task.ended_at.or(state.last_at)?,
        standing: Standing::Open,
    })
}

/// What the verification of a task that passed has found unfinished, and told without failing it.
fn let_go(task: &TaskState) -> Option<&str> {
    let checks = &task.verification.as_ref()?.checks;
    checks.iter().find(|check| check.lets_go()).map(|check| check.detail.as_str())
}
