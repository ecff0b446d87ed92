//! `fp status --ready`: lists the tasks that can be claimed, and for each other task the reason why it can't.

use std::collections::BTreeSet;

use fp_host::plan::OpenPlan;
use fp_plan::plan::id::TaskId;
use fp_run::report::status::{Phase, StatusReport};
use fp_run::run::ready::Obstacle;
use serde_json::{Value, json};

use super::StatusView;
use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::printer::WIDTH;

pub(super) fn show_ready(plan: &OpenPlan, context: &Context) -> CommandResult {
    let (state, lead) = context.state_and_lead(plan)?;
    let tree = context.tree(plan)?;
    let (phase, bar) = (Phase::of(&state), state.bar());
    let edited = match state.approval {
        Some(_) => tree.edited(&state),
        None => BTreeSet::new(),
    };
    let obstacles = state.obstacles(&edited);
    let row = |id: &str, title: &str, why: Option<&Obstacle>, detail: Option<String>| json!({ "id": id, "title": title, "ready": why.is_none(), "why": why, "detail": detail });
    let rows: Vec<Value> = match state.approval {
        Some(_) => {
            let of_task = |task| {
                let why = obstacles.obstacle_to(task).or_else(|| bar.clone());
                let detail = why.as_ref().map(|why| state.explain(task, why));
                row(
                    task.leaf.id.as_str(),
                    &task.leaf.title,
                    why.as_ref(),
                    detail,
                )
            };
            state.tasks.iter().map(of_task).collect()
        }
        None => {
            let tree = tree.parse();
            let leaves = tree.leaves();
            leaves
                .map(|task| row(&task.id, &task.description, bar.as_ref(), None))
                .collect()
        }
    };
    let ready = match bar {
        Some(_) => Vec::new(),
        None => state.ready(&edited),
    };
    let ready: Vec<TaskId> = ready.into_iter().map(|task| task.leaf.id.clone()).collect();
    let (id, count, all) = (plan.id(), ready.len(), rows.len());
    let mut text = format!(
        "Plan {id} ({}): {count} of {all} tasks ready\n",
        phase.into_str()
    );
    if let Some(bar) = &bar {
        let (what, next) = match bar {
            Obstacle::NotApproved => ("the plan is not approved yet", "approve"),
            Obstacle::NotStarted => ("the run is not started yet", "start"),
            _ if phase == Phase::Cancelled => ("the run was cancelled", "start"),
            _ => ("the run is over", "status"),
        };
        text += &format!("Nothing can be claimed: {what}\nNext: fp {next} {id}\n");
    } else {
        let report = StatusReport::with_edits(&state, lead, &edited);
        let view = StatusView::new(&state, &report, context.now(), WIDTH);
        text += &view.ready_text(&ready);
    }
    let json = json!({ "planId": id, "phase": phase, "bar": bar, "ready": ready, "tasks": rows });
    context.styled_report(&json, &text)?;
    Ok(match ready.is_empty() {
        true => Exit::NothingReady,
        false => Exit::Done,
    })
}

impl StatusView<'_> {
    /// The tasks in `ready`, in the order in which they would be claimed, and then the others.
    fn ready_text(&self, ready: &[TaskId]) -> String {
        let tasks = &self.report.tasks;
        let first = ready
            .iter()
            .filter_map(|id| tasks.iter().find(|task| task.id == *id));
        let others = tasks.iter().filter(|task| !ready.contains(&task.id));
        let mut text = String::new();
        for (heading, tasks) in [
            (
                "Ready, in the order in which they are claimed:",
                first.collect::<Vec<_>>(),
            ),
            ("Not ready:", others.collect()),
        ] {
            let lines = tasks.iter().flat_map(|task| self.lines_of(task));
            let lines: String = lines
                .map(|line| line.painted(self.columns) + "\n")
                .collect();
            if !lines.is_empty() {
                text += &format!("\n{heading}\n{lines}");
            }
        }
        text
    }
}
