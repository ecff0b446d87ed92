//! `fp statusline`: one line on the plan for the client's status line. The client asks for it after every message, so
//! it reads nothing that it doesn't need, and prints nothing where there is no plan.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use fp_host::lead::LeadLook;
use fp_plan::text::counted;
use fp_run::report::standing::RunStanding;
use fp_run::report::status::{Phase, StatusReport};
use fp_run::run::State;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::theme;

/// Most bytes that the client sends.
const CAP: u64 = 1024 * 1024;
/// Columns of the bar.
const BAR: usize = 8;

/// Print a line on the active plan for Claude Code's status line
///
/// Reads what Claude Code sends to a status line on standard input. Prints nothing where no plan is active.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct StatuslineArgs {}

pub(crate) fn run(_: StatuslineArgs, context: &Context) -> CommandResult {
    let context = sent_folder().map_or_else(
        || context.at(context.cwd.clone()),
        |folder| context.at(folder),
    );
    // A status line has no place for an error: `fp status` tells it.
    let Ok((known, _)) = context.own_plans(false) else {
        return Ok(Exit::Done);
    };
    let states = known
        .iter()
        .filter_map(|known| Some((known.state.as_deref().ok()?, &known.lead)));
    let is_active =
        |(state, _): &(&State, _)| matches!(Phase::of(state), Phase::Approved | Phase::Running);
    let mut active: Vec<(&State, &LeadLook)> = states.filter(is_active).collect();
    active.sort_by_key(|(state, _)| (Phase::of(state) == Phase::Running, state.last_at));
    let Some((state, lead)) = active.last() else {
        return Ok(Exit::Done);
    };
    let report = StatusReport::new(state, lead.presence(state));
    let line = line_of(&report, active.len() - 1);
    context.report(
        &json!({ "planId": state.plan_id, "standing": report.standing, "line": line }),
        &format!("{line}\n"),
    )
}

/// The folder of the session, by what the client sends.
fn sent_folder() -> Option<PathBuf> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return None;
    }
    let mut text = String::new();
    input.take(CAP).read_to_string(&mut text).ok()?;
    let sent: Value = serde_json::from_str(&text).ok()?;
    let folder = sent
        .pointer("/workspace/project_dir")
        .or_else(|| sent.get("cwd"))?
        .as_str()?;
    Some(PathBuf::from(folder)).filter(|folder| folder.is_dir())
}

/// Such as `fp 12/24 ▰▰▰▰▱▱▱▱ 2.3 building, 1 question`.
fn line_of(report: &StatusReport, others: usize) -> String {
    let counts = report.counts;
    let bar = theme::without_colours(&theme::bar(counts.completed, counts.total, BAR).painted(BAR));
    let mut facts = Vec::new();
    if matches!(
        report.standing,
        RunStanding::WaitsForYou | RunStanding::Interrupted
    ) {
        facts.push(report.standing.into_str().to_owned());
    }
    for word in ["building", "verifying"] {
        let ids: Vec<&str> = report
            .tasks
            .iter()
            .filter(|task| task.state_word() == word)
            .map(|task| task.id.as_str())
            .collect();
        match ids[..] {
            [] => {}
            [id] => facts.push(format!("{id} {word}")),
            _ => facts.push(format!("{} {word}", ids.len())),
        }
    }
    if counts.failed > 0 {
        facts.push(format!("{} failed", counts.failed));
    }
    let questions = report.questions.len();
    if questions > 0 {
        facts.push(counted(questions, "question"));
    }
    if facts.is_empty() {
        facts.push(report.standing.into_str().to_owned());
    }
    if others > 0 {
        facts.push(format!("+{}", counted(others, "plan")));
    }
    format!(
        "fp {}/{} {bar} {}",
        counts.completed,
        counts.total,
        facts.join(", ")
    )
}
