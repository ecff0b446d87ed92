//! `fp` alone: where the repository stands, in a few lines, and what to do next.

use fp_plan::text::{counted, wrapped_whole};
use fp_run::report::handoff::{NextStep, next_steps};
use serde_json::json;

use super::help::HEADLINE;
use crate::context::Context;
use crate::error::CommandResult;
use crate::printer::columns;
use crate::theme::Look;

/// Most plans that are listed.
const PLANS: usize = 3;

pub(crate) fn run(context: &Context) -> CommandResult {
    let (known, others) = context.own_plans(false)?;
    context.warn_of_unread(&known);
    let reports: Vec<_> = known
        .iter()
        .filter_map(|known| Some((known.state.as_deref().ok()?, known.report()?)))
        .collect();
    let mut shown: Vec<_> = reports
        .iter()
        .filter(|(_, report)| !report.phase.is_over())
        .collect();
    if shown.is_empty() {
        shown.extend(reports.iter().max_by_key(|(state, _)| state.last_at));
    }
    let has_tree = |id| {
        known
            .iter()
            .any(|known| known.folder.id() == id && known.folder.file("tasks.md").exists())
    };
    let next = match shown[..] {
        [] => NextStep {
            command: "/fp:plan GOAL".into(),
            why: "in Claude Code; `fp demo` shows it without".into(),
        },
        [(state, _)] if !has_tree(&state.plan_id) => NextStep {
            command: format!("fp status {}", state.plan_id),
            why: "shows what of the plan is written".into(),
        },
        [(state, report)] => next_steps(state, report.standing)
            .into_iter()
            .next()
            .unwrap_or_else(|| NextStep {
                command: format!("fp report {}", state.plan_id),
                why: "shows the result".into(),
            }),
        _ => NextStep {
            command: "fp status PLAN".into(),
            why: "shows one of them".into(),
        },
    };
    let reports: Vec<_> = shown.iter().map(|(_, report)| report).collect();
    let mut text = match reports[..] {
        [] => format!("{HEADLINE}\nNothing is planned here yet\n"),
        [report] => {
            let question = report
                .questions
                .iter()
                .take(1)
                .map(|asked| format!("Asks: {asked}\n"));
            let done = (report.counts.total > 0).then(|| format!("{}\n", report.counts.in_words()));
            let head = format!("{} ({})\n", report.plan_id, report.standing.into_str());
            [head].into_iter().chain(done).chain(question).collect()
        }
        _ => reports
            .iter()
            .take(PLANS)
            .map(|report| report.line() + "\n")
            .collect(),
    };
    text = text
        .lines()
        .flat_map(|line| wrapped_whole(line, columns()))
        .map(|line| line + "\n")
        .collect();
    if others > 0 {
        text += &format!(
            "{} came with the repository: `fp plans` lists them\n",
            counted(others, "plan")
        );
    }
    text += &format!(
        "Next: {}  ({})\nMore: fp help\n",
        Look::Hint.paint(&next.command),
        next.why
    );
    let plans = reports.iter().map(|report| {
        json!({ "planId": report.plan_id, "phase": report.phase,
            "standing": report.standing, "counts": report.counts })
    });
    let json = json!({ "plans": plans.collect::<Vec<_>>(), "others": others, "next": next });
    context.styled_report(&json, &text)
}
