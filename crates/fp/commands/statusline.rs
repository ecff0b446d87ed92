//! `fp statusline`: one line on the plan for the client's status line. The client runs the command after every message,
//! so it reads only what it needs, and prints nothing if there is no plan.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use fp_plan::text::counted;
use fp_run::report::standing::RunStanding;
use fp_run::report::status::{Phase, StatusReport};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CommandResult, Exit};
use crate::theme;

/// Size limit of the client's input, in bytes.
const CAP: u64 = 1024 * 1024;
/// Width of the bar, in columns.
const BAR: usize = 8;

pub(crate) fn show_statusline(context: &Context) -> CommandResult {
    let context = context.in_directory(sent_folder().unwrap_or_else(|| context.cwd.clone()));
    // A status line has no room for an error; `fp status` reports it.
    let Ok((known, _)) = context.own_plans(false) else {
        return Ok(Exit::Done);
    };
    let readable = known.iter().filter_map(|known| {
        let state = known.state.as_deref().ok()?;
        Some((Phase::of(state), state.last_at, known))
    });
    let is_active = |(phase, ..): &(Phase, _, _)| matches!(phase, Phase::Approved | Phase::Running);
    let mut active: Vec<_> = readable.filter(is_active).collect();
    active.sort_by_key(|(phase, at, _)| (*phase == Phase::Running, *at));
    let Some(report) = active.last().and_then(|(.., known)| known.report()) else {
        return Ok(Exit::Done);
    };
    let line = line_of(&report, active.len() - 1);
    let json = json!({ "planId": report.plan_id, "standing": report.standing, "line": line });
    context.report(&json, &format!("{line}\n"))
}

/// The session's folder, from the client's input.
fn sent_folder() -> Option<PathBuf> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return None;
    }
    let mut text = String::new();
    input.take(CAP).read_to_string(&mut text).ok()?;
    let sent: Value = serde_json::from_str(&text).ok()?;
    let folder = sent.pointer("/workspace/project_dir");
    let folder = PathBuf::from(folder.or_else(|| sent.get("cwd"))?.as_str()?);
    folder.is_dir().then_some(folder)
}

/// Formats a line such as `fp 12/24 ▰▰▰▰▱▱▱▱ 2.3 building, 1 question`.
fn line_of(report: &StatusReport, others: usize) -> String {
    let (counts, standing) = (report.counts, report.standing.into_str());
    let mut facts = Vec::new();
    if matches!(
        report.standing,
        RunStanding::WaitsForYou | RunStanding::Interrupted
    ) {
        facts.push(standing.to_owned());
    }
    for word in ["building", "verifying"] {
        let tasks = report.tasks.iter().filter(|task| task.state_word() == word);
        let ids: Vec<&str> = tasks.map(|task| task.id.as_str()).collect();
        match ids[..] {
            [] => {}
            [id] => facts.push(format!("{id} {word}")),
            _ => facts.push(format!("{} {word}", ids.len())),
        }
    }
    if counts.failed > 0 {
        facts.push(format!("{} failed", counts.failed));
    }
    if let questions @ 1.. = report.questions.len() {
        facts.push(counted(questions, "question"));
    }
    if facts.is_empty() {
        facts.push(standing.to_owned());
    }
    if others > 0 {
        facts.push(format!("+{}", counted(others, "plan")));
    }
    let (done, all) = (counts.completed, counts.total);
    let bar = theme::progress_bar(done, all, BAR).text();
    format!("fp {done}/{all} {bar} {}", facts.join(", "))
}
