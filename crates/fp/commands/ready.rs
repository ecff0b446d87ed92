//! `fp status --ready`: lists the tasks that can be claimed, and the reason for each that can't.

use fp_host::plan::OpenPlan;
use fp_plan::plan::id::PlanId;
use fp_plan::plan::parse;
use fp_plan::text::fitted;
use fp_run::report::status::Phase;
use fp_run::run::State;
use fp_run::run::ready::Obstacle;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::context::Context;
use crate::error::{CommandError, CommandResult, Exit};
use crate::printer::WIDTH;
use crate::source::PlanSource;
use crate::theme::{Look, StyledLine};

/// Most columns of an id, and the columns of the widest state.
const ID: usize = 20;
const STATE: usize = 7;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadyReport {
    plan_id: PlanId,
    phase: Phase,
    /// An obstacle to all tasks.
    bar: Option<Obstacle>,
    /// In the order of claiming.
    ready: Vec<String>,
    tasks: Vec<ReadyLine>,
}

#[derive(Serialize)]
struct ReadyLine {
    id: String,
    title: String,
    ready: bool,
    why: Option<Obstacle>,
    detail: Option<String>,
}

pub(super) fn show_ready(plan: &OpenPlan, context: &Context) -> CommandResult {
    let state = &context.state(plan)?;
    let report = if state.approval.is_none() {
        unapproved(state, &PlanSource::open(context, Some(plan.id().as_str()))?)?
    } else {
        let edited = context.tree(plan)?.edited(state);
        let (bar, obstacles) = (state.bar(), state.obstacles(&edited));
        let line = |task| ready_line(state, task, obstacles.of(task).or_else(|| bar.clone()));
        let tasks = state.tasks.iter().map(line).collect();
        let ready = if bar.is_some() {
            Vec::new()
        } else {
            state.ready(&edited)
        };
        let ready = ready
            .into_iter()
            .map(|task| task.leaf.id.to_string())
            .collect();
        ReadyReport {
            plan_id: state.plan_id.clone(),
            phase: Phase::of(state),
            bar,
            ready,
            tasks,
        }
    };
    context.styled_report(&report, &ready_text(&report))?;
    Ok(if report.ready.is_empty() {
        Exit::NothingReady
    } else {
        Exit::Done
    })
}

fn ready_line(
    state: &State,
    task: &fp_run::run::state::TaskState,
    why: Option<Obstacle>,
) -> ReadyLine {
    ReadyLine {
        id: task.leaf.id.to_string(),
        title: task.leaf.title.clone(),
        ready: why.is_none(),
        detail: why.as_ref().map(|why| state.explain(task, why)),
        why,
    }
}

/// The tasks of a tree that is not approved.
fn unapproved(state: &State, source: &PlanSource) -> Result<ReadyReport, CommandError> {
    let text = source.text()?;
    let line = |task: &fp_plan::plan::Task| ReadyLine {
        id: task.id.to_string(),
        title: task.description.to_string(),
        ready: false,
        why: Some(Obstacle::NotApproved),
        detail: None,
    };
    Ok(ReadyReport {
        plan_id: state.plan_id.clone(),
        phase: Phase::of(state),
        bar: Some(Obstacle::NotApproved),
        ready: Vec::new(),
        tasks: parse(&text).0.leaves().map(line).collect(),
    })
}

fn ready_text(report: &ReadyReport) -> String {
    let (plan, phase) = (&report.plan_id, report.phase.into_str());
    let (ready, all) = (report.ready.len(), report.tasks.len());
    let mut text = format!("Plan {plan} ({phase}): {ready} of {all} tasks ready\n");
    if let Some(bar) = &report.bar {
        let (what, next) = match bar {
            Obstacle::NotApproved => ("the plan is not approved yet", "approve"),
            Obstacle::NotStarted => ("the run is not started yet", "start"),
            _ if report.phase == Phase::Cancelled => ("the run was cancelled", "start"),
            _ => ("the run is over", "status"),
        };
        text.push_str(&format!(
            "Nothing can be claimed: {what}\nNext: fp {next} {plan}\n"
        ));
    }
    let width = report
        .tasks
        .iter()
        .map(|task| task.id.width().min(ID))
        .max()
        .unwrap_or(0);
    for (ready, heading) in [
        (true, "\nReady, in the order in which they are claimed:\n"),
        (false, "\nNot ready:\n"),
    ] {
        let tasks: Vec<&ReadyLine> = report
            .tasks
            .iter()
            .filter(|task| task.ready == ready)
            .collect();
        if !tasks.is_empty() {
            text.push_str(heading);
        }
        tasks
            .into_iter()
            .for_each(|task| text.push_str(&task_lines(task, width)));
    }
    text
}

fn task_lines(task: &ReadyLine, width: usize) -> String {
    let id = fitted(&task.id, ID);
    let pad = " ".repeat(width.saturating_sub(id.width()));
    let (word, look, explained) = shown_obstacle(task.why.as_ref());
    let head = StyledLine::default()
        .and(Look::Strong, format!("  {id}{pad}  "))
        .and(look, format!("{word:STATE$}  "));
    let below = " ".repeat(head.width());
    let mut text = head.and(Look::Plain, task.title.trim_end()).painted(WIDTH) + "\n";
    if let Some(detail) = task.detail.as_ref().filter(|_| explained) {
        text.push_str(&format!("{below}{}\n", fitted(detail, WIDTH - below.len())));
    }
    text
}

/// The word for a task's obstacle, its look, and true if its explanation adds anything.
fn shown_obstacle(why: Option<&Obstacle>) -> (&'static str, Look, bool) {
    match why {
        None => ("ready", Look::Ready, true),
        Some(Obstacle::Done) => ("done", Look::Done, false),
        Some(Obstacle::Failed) => ("failed", Look::Failed, true),
        Some(Obstacle::Blocked { .. }) => ("blocked", Look::Skipped, true),
        Some(Obstacle::Held { status, .. }) => ("held", Look::of(*status, false, None), true),
        Some(Obstacle::Edited) => ("edited", Look::Waiting, true),
        Some(Obstacle::Drifted { .. }) => ("drifted", Look::Waiting, true),
        Some(Obstacle::ToRevise) => ("revise", Look::Waiting, true),
        Some(Obstacle::PassesBefore | Obstacle::FailsBefore) => ("asked", Look::Waiting, true),
        Some(Obstacle::Waits { .. } | Obstacle::File { .. }) => ("waiting", Look::Waiting, true),
        Some(Obstacle::NotApproved | Obstacle::NotStarted | Obstacle::Over) => {
            ("waiting", Look::Waiting, false)
        }
    }
}
