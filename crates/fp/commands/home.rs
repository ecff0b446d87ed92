//! `fp` without a command: the state of the repository in a few lines, and the next step.

use fp_plan::text::{counted, wrapped_whole};
use fp_run::report::handoff::{NextStep, next_steps};
use fp_run::report::status::StatusReport;
use fp_run::run::State;
use serde_json::json;

use super::help::HEADLINE;
use crate::context::{Context, Known};
use crate::error::CommandResult;
use crate::printer::columns;
use crate::theme::Look;

/// Maximum number of plans to list.
const PLANS: usize = 3;

pub(crate) fn show_home(context: &Context) -> CommandResult {
    let (known, others) = context.own_plans(false)?;
    context.warn_of_unread(&known);
    let readable = known.iter().filter_map(|known| {
        let state = known.state.as_deref().ok()?;
        Some((known, state, known.report()?))
    });
    let reports: Vec<_> = readable.collect();
    let open = reports
        .iter()
        .filter(|(.., report)| !report.phase.is_over());
    let mut shown: Vec<_> = open.collect();
    if shown.is_empty() {
        shown.extend(reports.iter().max_by_key(|(_, state, _)| state.last_at));
    }
    let (mut text, next) = match shown[..] {
        [] => (
            format!("{HEADLINE}\nNothing is planned here yet\n"),
            NextStep::new(
                "/fp:plan GOAL".into(),
                "in Claude Code; `fp demo` shows it without",
            ),
        ),
        [(known, state, report)] => (standing_text(report), step_of_plan(known, state, report)),
        _ => (
            shown
                .iter()
                .take(PLANS)
                .map(|(.., report)| report.list_line() + "\n")
                .collect(),
            NextStep::new("fp status PLAN".into(), "shows one of them"),
        ),
    };
    let lines = text.lines().flat_map(|line| wrapped_whole(line, columns()));
    text = lines.map(|line| line + "\n").collect();
    if others > 0 {
        let plans = counted(others, "plan");
        text += &format!("{plans} came with the repository: `fp plans` lists them\n");
    }
    let command = Look::Hint.paint(&next.command);
    text += &format!("Next: {command}  ({})\nMore: fp help\n", next.why);
    let plans = shown.iter().map(|(.., report)| {
        json!({ "planId": report.plan_id, "phase": report.phase,
            "standing": report.standing, "counts": report.counts })
    });
    let json = json!({ "plans": plans.collect::<Vec<_>>(), "others": others, "next": next });
    context.styled_report(&json, &text)
}

fn standing_text(report: &StatusReport) -> String {
    let mut text = format!("{} ({})\n", report.plan_id, report.standing.into_str());
    if report.counts.total > 0 {
        text += &(report.counts.in_words() + "\n");
    }
    let question = report.questions.first();
    text + &question.map_or_else(String::new, |asked| format!("Asks: {asked}\n"))
}

fn step_of_plan(known: &Known, state: &State, report: &StatusReport) -> NextStep {
    let id = &state.plan_id;
    if !known.folder.file("tasks.md").exists() {
        return NextStep::new(
            format!("fp status {id}"),
            "shows what of the plan is written",
        );
    }
    let result = || NextStep::new(format!("fp report {id}"), "shows the result");
    let steps = next_steps(state, report.standing);
    steps.into_iter().next().unwrap_or_else(result)
}
