//! Sums up a plan on one Markdown page, for readers who weren't there: each task with its commit and the basis of its
//! verdict, the decisions made on the way, and the notes. All text in it comes from models or strangers, and none
//! becomes markup.

use std::fmt::Write as _;

use super::run_page::{RunPage, RunTask};
use super::status::Phase;
use super::took;
use crate::run::event::Decider;
use crate::run::payload::short;
use fp_plan::markdown::{code, inline};
use fp_plan::text::one_line;

pub fn results_page(run: &RunPage<'_>) -> String {
    let mut page = format!("# {}\n\n", text(run.plan_id.as_str()));
    for line in run.goal.lines() {
        let _ = writeln!(page, "> {}", text(line));
    }
    let counts = &run.counts;
    let _ = write!(
        page,
        "\n- State: {}\n- Tasks: {} of {} done",
        run.phase.into_str(),
        counts.completed,
        counts.total
    );
    for (count, what) in [(counts.failed, "failed"), (counts.skipped, "skipped")] {
        if count > 0 {
            let _ = write!(page, ", {count} {what}");
        }
    }
    page.push('\n');
    let end = if matches!(run.phase, Phase::Finished | Phase::Cancelled) { "Ended" } else { "Last event" };
    for (what, at) in [("Started", run.started_at), (end, run.ended_at)] {
        if let Some(at) = at {
            let _ = writeln!(page, "- {what}: {at:.0}");
        }
    }
    if run.wall() > 0 {
        let _ = writeln!(page, "- Took: {}", took(run.wall()));
    }
    if !run.chain.tasks.is_empty() {
        let tasks: Vec<String> = run.chain.tasks.iter().map(|task| text(task.as_str())).collect();
        let _ = writeln!(page, "- Longest chain: {} ({})", tasks.join(" → "), took(run.chain.millis));
    }
    if run.revisions > 0 {
        let _ = writeln!(page, "- Tasks revised after the start: {}", run.revisions);
    }
    let requirements: Vec<String> = run.requirements.iter().map(ToString::to_string).collect();
    let cost = run.cost_lines();
    for (heading, lines) in
        [("Requirements", &requirements), ("Checks at the end", &run.end_checks), ("Cost", &cost)]
    {
        if !lines.is_empty() {
            let _ = writeln!(page, "\n## {heading}\n");
            lines.iter().for_each(|line| page.push_str(&format!("- {}\n", text(line.trim()))));
        }
    }
    page.push_str("\n## Tasks\n\n");
    task_list(&mut page, run);
    for task in &run.tasks {
        task_section(&mut page, task);
    }
    decisions(&mut page, run);
    if !run.notes.is_empty() {
        page.push_str("\n## Notes\n\n");
        run.notes.iter().for_each(|note| page.push_str(&format!("- {}\n", text(note))));
    }
    page
}

/// Lists the tasks of the tree, indented, then those that only the log has.
fn task_list(page: &mut String, run: &RunPage<'_>) {
    let in_run = |id: &str| run.tasks.iter().find(|task| task.line.id.as_str() == id);
    for row in run.tree.tasks.iter().filter(|row| !row.synthetic) {
        let outcome = in_run(&row.id).filter(|_| row.leaf).map_or_else(String::new, outcome);
        let _ = writeln!(page, "{}- {} {}{outcome}", "  ".repeat(row.depth), text(&row.id), text(&row.title));
    }
    let in_tree = |task: &&RunTask| run.tree.tasks.iter().any(|row| row.id == task.line.id.as_str());
    for task in run.tasks.iter().filter(|task| !in_tree(task)) {
        let _ =
            writeln!(page, "- {} {}{}", text(task.line.id.as_str()), text(&task.line.title), outcome(task));
    }
}

fn outcome(task: &RunTask) -> String {
    let commit =
        task.line.commit.as_ref().map_or_else(String::new, |commit| format!(", {}", code(short(commit))));
    format!(": {}{commit}", task.line.state_word())
}

fn task_section(page: &mut String, task: &RunTask) {
    let line = &task.line;
    let reason = line.detail.as_ref().filter(|_| line.status.is_final());
    if line.iteration == 0 && reason.is_none() {
        return;
    }
    let _ = write!(
        page,
        "\n## {} {}\n\n- State: {}",
        text(line.id.as_str()),
        text(&line.title),
        line.state_word()
    );
    if line.iteration > 0 {
        let _ = write!(page, ", iteration {}", line.iteration);
    }
    page.push('\n');
    if let Some(commit) = &line.commit {
        let _ = writeln!(page, "- Commit: {}", code(commit));
    }
    if let Some(reason) = reason {
        let label = if line.commit.is_some() { "Note" } else { "Reason" };
        let _ = writeln!(page, "- {label}: {}", text(reason));
    }
    for (what, at) in [("Begun", task.started_at), ("Ended", task.ended_at)] {
        if let Some(at) = at {
            let _ = writeln!(page, "- {what}: {at:.0}");
        }
    }
    let Some(last) = task.tries.last() else { return };
    if !last.summary.is_empty() {
        let _ = writeln!(page, "- Verdict: {}", text(&last.summary));
    }
    for judged in &last.criteria {
        let met = if judged.pass { "met" } else { "not met" };
        let _ = writeln!(page, "- Criterion {}, {met}: {}", judged.number, text(&judged.text));
        let _ = writeln!(page, "  - {}", text(&judged.evidence));
    }
    for file in &last.files {
        let _ = writeln!(page, "- Changed: {}", code(file));
    }
}

fn decisions(page: &mut String, run: &RunPage<'_>) {
    if !run.interview_decisions.is_empty() || !run.decisions.is_empty() {
        page.push_str("\n## Decisions\n\n");
    }
    run.interview_decisions.iter().for_each(|line| page.push_str(&format!("- {}\n", text(line))));
    for asked in &run.decisions {
        let by = match asked.by {
            Decider::Auto => " (by rule, since nobody could be asked)",
            Decider::User => "",
        };
        let answer = if asked.answer.is_empty() { "open".to_owned() } else { text(&asked.answer.join(", ")) };
        let _ = writeln!(page, "- {}\n  - {answer}{by}", text(&asked.question));
    }
}

fn text(text: &str) -> String {
    inline(&one_line(text))
}
