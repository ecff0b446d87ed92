//! Sums up a plan on one Markdown page, for readers who weren't there: each task with its commit and the basis of its
//! verdict, the decisions made on the way, and the notes. All text in it comes from models or strangers, and none
//! becomes markup.

use std::fmt::Write as _;

use super::cost::CostReport;
use super::run_page::{RunPage, RunTask};
use super::status::Phase;
use super::{reason_lines, took};
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
        run.standing.into_str(),
        counts.completed,
        counts.total
    );
    for (count, what) in [(counts.failed, "failed"), (counts.skipped, "skipped")] {
        if count > 0 {
            let _ = write!(page, ", {count} {what}");
        }
    }
    page.push('\n');
    if let Some(step) = &run.go_on {
        let _ = writeln!(page, "- {}: {}", step.why, code(&step.command));
    }
    let end = if matches!(run.phase, Phase::Finished | Phase::Cancelled) {
        "Ended"
    } else {
        "Last event"
    };
    for (what, at) in [("Started", run.started_at), (end, run.ended_at)] {
        if let Some(at) = at {
            let _ = writeln!(page, "- {what}: {at:.0}");
        }
    }
    if run.wall() > 0 {
        let _ = writeln!(page, "- Took: {}", took(run.wall()));
    }
    if !run.chain.tasks.is_empty() {
        let tasks: Vec<String> = run
            .chain
            .tasks
            .iter()
            .map(|task| text(task.as_str()))
            .collect();
        let _ = writeln!(
            page,
            "- Longest chain: {} ({})",
            tasks.join(" → "),
            took(run.chain.millis)
        );
    }
    if run.revisions > 0 {
        let _ = writeln!(page, "- Tasks revised after the start: {}", run.revisions);
    }
    let requirements: Vec<String> = run.requirements.iter().map(ToString::to_string).collect();
    let cost = run.cost.as_ref().map(CostReport::lines).unwrap_or_default();
    for (heading, lines) in [
        ("Requirements", &requirements),
        ("Checks at the end", &run.end_checks),
        ("Cost", &cost),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(page, "\n## {heading}\n");
            lines
                .iter()
                .for_each(|line| page.push_str(&format!("- {}\n", text(line.trim()))));
        }
    }
    if let Some(cost) = run.cost.as_ref().filter(|cost| !cost.agents.is_empty()) {
        page.push('\n');
        let mut row = |cells: &[String]| {
            let _ = writeln!(page, "| {} |", cells.join(" | "));
        };
        row(&CostReport::COLUMNS.map(str::to_owned));
        row(&CostReport::COLUMNS.map(|_| "---".to_owned()));
        cost.rows()
            .for_each(|cells| row(&cells.map(|cell| text(&cell))));
    }
    page.push_str("\n## Tasks\n\n");
    let in_run = |id: &str| run.tasks.iter().find(|task| task.line.id.as_str() == id);
    for row in run.tree.tasks.iter().filter(|row| !row.synthetic) {
        task_item(
            &mut page,
            row.depth,
            (&row.id, &row.title),
            in_run(&row.id).filter(|_| row.leaf),
        );
    }
    let in_tree = |task: &&RunTask| {
        run.tree
            .tasks
            .iter()
            .any(|row| row.id == task.line.id.as_str())
    };
    for task in run.tasks.iter().filter(|task| !in_tree(task)) {
        task_item(
            &mut page,
            0,
            (task.line.id.as_str(), &task.line.title),
            Some(task),
        );
    }
    decisions(&mut page, run);
    if !run.notes.is_empty() {
        page.push_str("\n## Notes\n\n");
        run.notes
            .iter()
            .for_each(|note| page.push_str(&format!("- {}\n", text(note))));
    }
    page
}

/// Adds a task of the tree, or one that only the log has, with what its last attempt left.
fn task_item(page: &mut String, depth: usize, (id, title): (&str, &str), task: Option<&RunTask>) {
    let indent = "  ".repeat(depth);
    let _ = write!(page, "{indent}- {} {}", text(id), text(title));
    let Some(RunTask { line, tries, .. }) = task else {
        page.push('\n');
        return;
    };
    let attempt = Some(line.iteration)
        .filter(|count| *count > 0)
        .map(|count| format!("attempt {count}"));
    let commit = line.commit.as_ref().map(|commit| code(short(commit)));
    let outcome = [Some(line.state_word().to_owned()), attempt, commit]
        .into_iter()
        .flatten();
    let _ = writeln!(page, ": {}", outcome.collect::<Vec<_>>().join(", "));
    let reason = line.detail.as_deref().filter(|_| line.status.is_final());
    let verdict = tries
        .last()
        .map(|last| last.summary.as_str())
        .filter(|summary| !summary.is_empty());
    let mut facts: Vec<String> = reason
        .into_iter()
        .flat_map(reason_lines)
        .chain(verdict)
        .map(text)
        .collect();
    if let Some(last) = tries.last() {
        facts.extend(last.criteria.iter().map(|judged| {
            let met = if judged.pass { "met" } else { "not met" };
            let (criterion, evidence) = (text(&judged.text), text(&judged.evidence));
            format!(
                "Criterion {}, {met}: {criterion}: {evidence}",
                judged.number
            )
        }));
        facts.extend(
            last.files
                .iter()
                .map(|file| format!("Changed: {}", code(file))),
        );
    }
    facts
        .iter()
        .for_each(|fact| page.push_str(&format!("{indent}  - {fact}\n")));
}

fn decisions(page: &mut String, run: &RunPage<'_>) {
    if !run.interview_decisions.is_empty() || !run.decisions.is_empty() {
        page.push_str("\n## Decisions\n\n");
    }
    run.interview_decisions
        .iter()
        .for_each(|line| page.push_str(&format!("- {}\n", text(line))));
    for asked in &run.decisions {
        let by = match asked.by {
            Decider::Auto => " (by rule, since nobody could be asked)",
            Decider::User => "",
        };
        let answer = if asked.answer.is_empty() {
            "open".to_owned()
        } else {
            text(&asked.answer.join(", "))
        };
        let _ = writeln!(page, "- {}\n  - {answer}{by}", text(&asked.question));
    }
}

fn text(text: &str) -> String {
    inline(&one_line(text))
}
