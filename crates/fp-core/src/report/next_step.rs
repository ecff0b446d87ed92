//! What somebody can do to bring a plan on, as commands to be typed.

use serde::Serialize;

use super::status::Phase;
use crate::plan::id::{PlanId, TaskId};
use crate::run::State;
use crate::run::question::Question;
use crate::run::state::Status;
use crate::text::shell_quoted;

/// A command, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NextStep {
    /// The command as it is typed: in a terminal, or, where it begins with `/`, in Claude Code.
    pub command: String,
    /// What it does.
    pub why: String,
}

impl NextStep {
    pub(super) fn new(command: String, why: impl Into<String>) -> Self {
        Self { command, why: why.into() }
    }

    /// What answers `question`: the option `wanted`, or the first where there is none of that label, stands in the
    /// command, all of them in the words.
    pub(super) fn answer(plan: &PlanId, question: &Question, wanted: &str) -> Self {
        let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
        let chosen = labels.iter().find(|label| **label == wanted).or(labels.first());
        Self::new(
            format!(
                "fp answer {plan} {} --option {}",
                shell_quoted(&question.id),
                shell_quoted(chosen.copied().unwrap_or_default())
            ),
            format!("answers {} ({})", question.id, labels.join(", ")),
        )
    }

    /// What gives `task` another try.
    pub(super) fn retry(plan: &PlanId, task: &TaskId) -> Self {
        Self::new(format!("fp retry {plan} {task}"), format!("gives task {task} another try"))
    }

    /// What goes on with the run.
    pub(super) fn go_on(plan: &PlanId, why: &str) -> Self {
        Self::new(format!("/fp:implement {plan}"), why)
    }
}

/// What brings the plan of `state` on, the first thing first; nothing where all is done.
#[must_use]
pub fn next_steps(state: &State) -> Vec<NextStep> {
    let plan = &state.plan_id;
    let mut steps: Vec<NextStep> = state.open_questions().map(|q| NextStep::answer(plan, q, "")).collect();
    let asked = |id: &TaskId| state.open_questions().any(|q| q.topic.task() == Some(id));
    let failed = state.tasks.iter().filter(|task| task.status == Status::Failed && !asked(&task.leaf.id));
    steps.extend(failed.map(|task| NextStep::retry(plan, &task.leaf.id)));
    let open = state.tasks.iter().any(|task| !task.status.is_final());
    match Phase::of(state) {
        Phase::Planning => {
            steps.push(NextStep::new(format!("fp validate {plan}"), "checks the task tree"));
            steps.push(NextStep::new(format!("fp approve {plan}"), "approves it as it stands"));
        }
        Phase::Approved => steps.push(NextStep::go_on(plan, "builds it")),
        Phase::Cancelled if open => steps.push(NextStep::go_on(plan, "goes on where it was cancelled")),
        Phase::Running => steps.push(NextStep::go_on(plan, "goes on with the run")),
        Phase::Finished | Phase::Cancelled => {}
    }
    steps
}
