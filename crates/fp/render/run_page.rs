//! The report on a run as text that fits 80 columns.

use fp_core::report::duration::{minute, took};
use fp_core::report::run_page::{Decision, Lane, RunPage, RunTask};
use fp_core::run::event::Decider;
use fp_core::run::payload::short;
use fp_core::text::fitted;
use unicode_width::UnicodeWidthStr as _;

use super::WIDTH;
use super::status::word;

/// Most columns of a name in a table.
const NAME: usize = 20;

/// The whole report; what each verdict rests on is on the page alone.
pub(crate) fn text(run: &RunPage<'_>) -> String {
    let goal = run.goal.lines().next().unwrap_or_default();
    let mut text = format!("{}\n\n  Plan {} ({})\n", fitted(goal, WIDTH), run.plan_id, run.phase.word());
    match run.started_at.zip(run.ended_at) {
        Some((from, to)) => {
            let wall = took(run.wall());
            text.push_str(&format!("  From {} to {}, {wall}\n", minute(from), minute(to)));
        }
        None => text.push_str("  The run has not started.\n"),
    }
    if run.counts.total > 0 {
        text.push_str(&format!("  {}\n", run.counts.in_words()));
    }
    if !run.chain.tasks.is_empty() {
        let tasks: Vec<&str> = run.chain.tasks.iter().map(|task| task.as_str()).collect();
        let chain = format!("Longest chain, {}: {}", took(run.chain.millis), tasks.join(" → "));
        text.push_str(&format!("  {}\n", fitted(&chain, WIDTH - 2)));
    }
    builders(&mut text, run);
    list(&mut text, "Tasks", &run.tasks, |task| task_line(task, id_width(&run.tasks)));
    list(&mut text, "Questions", &run.decisions, decision);
    list(&mut text, "Commits, oldest first", &run.commits, |made| {
        let undone = if made.undone { " (rolled back)" } else { "" };
        format!("{}  task {}: {}{undone}", short(&made.hash), made.task, made.subject)
    });
    list(&mut text, "Notes", &run.notes, Clone::clone);
    text
}

fn list<T>(text: &mut String, title: &str, items: &[T], told: impl Fn(&T) -> String) {
    if items.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title}\n"));
    for item in items {
        text.push_str(&format!("  {}\n", fitted(&told(item), WIDTH - 2)));
    }
}

/// What each builder's time went into, a line each.
fn builders(text: &mut String, run: &RunPage<'_>) {
    let lanes: Vec<&Lane> = run.lanes.iter().filter(|lane| !lane.user).collect();
    if lanes.is_empty() {
        return;
    }
    text.push_str(&format!("\n{:<NAME$}", "Builders"));
    for column in ["building", "verified", "waiting", "asking", "idle"] {
        text.push_str(&format!("{column:>12}"));
    }
    text.push('\n');
    for lane in lanes {
        let name = format!("  {}", fitted(&lane.name, NAME - 3));
        text.push_str(&format!("{name}{}", " ".repeat(NAME.saturating_sub(name.width()))));
        let times = &lane.millis;
        let verified = times.verifying + times.committing;
        for part in [times.building, verified, times.waiting, times.asking, lane.idle] {
            text.push_str(&format!("{:>12}", took(part)));
        }
        text.push('\n');
    }
}

fn id_width(tasks: &[RunTask]) -> usize {
    tasks.iter().map(|task| task.line.id.as_str().len()).max().unwrap_or(0).min(NAME)
}

fn task_line(task: &RunTask, width: usize) -> String {
    let line = &task.line;
    let state = if line.ready { "ready" } else { word(line.status) };
    let tries = match task.tries.len() {
        0 => String::new(),
        1 => "1 try".to_owned(),
        tries => format!("{tries} tries"),
    };
    let time = if task.tries.is_empty() { String::new() } else { took(task.millis.total()) };
    format!("{:<width$}  {state:<9}  {tries:<7}  {time:>11}  {}", fitted(line.id.as_str(), NAME), line.title)
}

fn decision(asked: &Decision) -> String {
    let by = match asked.by {
        Decider::User => "the user",
        Decider::Auto => "a rule",
    };
    match asked.answer.is_empty() {
        true => format!("open: {}", asked.question),
        false => format!("{}, by {by}: {}", asked.answer.join(", "), asked.question),
    }
}
