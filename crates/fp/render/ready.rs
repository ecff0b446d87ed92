//! The report of what is ready as text that fits 80 columns.

use fp_core::report::ready::{ReadyLine, ReadyReport};
use fp_core::run::ready::Obstacle;
use fp_core::text::fitted;
use unicode_width::UnicodeWidthStr as _;

/// Columns of a line.
const WIDTH: usize = 80;
/// Most columns of an id.
const ID: usize = 20;
/// Columns of the widest state.
const STATE: usize = 7;

/// The whole report: what is ready first, in the order in which it is claimed, then the rest as the document has
/// it.
pub(crate) fn text(report: &ReadyReport) -> String {
    let mut text = format!(
        "Plan {} ({}): {} of {} tasks ready\n",
        report.plan_id,
        report.phase.word(),
        report.ready.len(),
        report.tasks.len()
    );
    if let Some(statement) = statement(report) {
        text.push_str(&format!("{statement}\n"));
    }
    let width = report.tasks.iter().map(|task| task.id.width().min(ID)).max().unwrap_or(0);
    for (ready, heading) in
        [(true, "\nReady, in the order in which they are claimed:\n"), (false, "\nNot ready:\n")]
    {
        let mut tasks = report.tasks.iter().filter(|task| task.ready == ready).peekable();
        if tasks.peek().is_some() {
            text.push_str(heading);
        }
        tasks.for_each(|task| text.push_str(&line(task, width)));
    }
    text
}

fn statement(report: &ReadyReport) -> Option<String> {
    let plan = &report.plan_id;
    let (what, next) = match report.bar.as_ref()? {
        Obstacle::NotApproved => ("the plan is not approved yet", "approve"),
        Obstacle::NotStarted => ("the run is not started yet", "run start"),
        _ => ("the run is over", "status"),
    };
    Some(format!("Nothing can be claimed: {what}\nNext: fp {next} {plan}"))
}

fn line(task: &ReadyLine, width: usize) -> String {
    let id = fitted(&task.id, ID);
    let pad = " ".repeat(width.saturating_sub(id.width()));
    let head = format!("  {id}{pad}  {:STATE$}  ", word(task.why.as_ref()));
    let room = WIDTH - head.width();
    let mut text = format!("{head}{}", fitted(&task.title, room)).trim_end().to_owned() + "\n";
    if let Some(detail) = task.detail.as_ref().filter(|_| says_more(task.why.as_ref())) {
        text.push_str(&format!("{}{}\n", " ".repeat(head.width()), fitted(detail, room)));
    }
    text
}

/// Whether the words of a reason say more than the state and the head of the report do.
fn says_more(why: Option<&Obstacle>) -> bool {
    !matches!(why, Some(Obstacle::Done | Obstacle::NotApproved | Obstacle::NotStarted | Obstacle::Over))
}

fn word(why: Option<&Obstacle>) -> &'static str {
    match why {
        None => "ready",
        Some(Obstacle::Done) => "done",
        Some(Obstacle::Failed) => "FAILED",
        Some(Obstacle::Blocked { .. }) => "blocked",
        Some(Obstacle::Held { .. }) => "held",
        Some(Obstacle::Edited) => "edited",
        Some(Obstacle::Drifted { .. }) => "drifted",
        Some(Obstacle::PassesBefore) => "asked",
        Some(Obstacle::Waits { .. } | Obstacle::Phase { .. } | Obstacle::File { .. }) => "waiting",
        Some(Obstacle::NotApproved | Obstacle::NotStarted | Obstacle::Over) => "pending",
    }
}
