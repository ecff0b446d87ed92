//! Sums up a plan on one Markdown page, for readers who weren't there: each task with its commit and the basis of its
//! verdict, the decisions made on the way, and the notes. All text in it comes from models or strangers, and none of it
//! is interpreted as markup.

use super::run_page::{RunPage, RunTask};
use super::{reason_lines, took};
use crate::run::event::Decider;
use crate::run::payload::short;
use fp_plan::markdown::{code, inline};
use fp_plan::text::one_line;

pub fn results_page(run: &RunPage<'_>) -> String {
    let mut page = format!("# {}\n\n", text(run.plan_id.as_str()));
    page.extend(run.goal.lines().map(|line| format!("> {}\n", text(line))));
    page.push('\n');
    page.extend(facts_of(run).iter().map(|fact| format!("- {fact}\n")));
    let requirements: Vec<String> = run.requirements.iter().map(ToString::to_string).collect();
    add_list(&mut page, "Requirements", &requirements);
    add_list(&mut page, "Checks at the end", &run.end_checks);
    if let Some(cost) = &run.cost {
        add_list(&mut page, "Cost", &cost.summary_lines());
    }
    page.push_str("\n## Tasks\n\n");
    let in_run = |id: &str| run.tasks.iter().find(|task| task.line.id.as_str() == id);
    for row in run.tree.tasks.iter().filter(|row| !row.synthetic) {
        let task = in_run(&row.id).filter(|_| row.leaf);
        add_task(&mut page, row.depth, (&row.id, &row.title), task);
    }
    let is_in_tree = |id: &str| run.tree.tasks.iter().any(|row| row.id == id);
    for task in &run.tasks {
        let (id, title) = (task.line.id.as_str(), &task.line.title);
        if !is_in_tree(id) {
            add_task(&mut page, 0, (id, title), Some(task));
        }
    }
    add_decisions(&mut page, run);
    add_list(&mut page, "Notes", &run.notes);
    page
}

/// The plan's state and times, one per line.
fn facts_of(run: &RunPage<'_>) -> Vec<String> {
    let mut facts = vec![
        format!("State: {}", run.standing.into_str()),
        run.counts.in_words(),
    ];
    let go_on = run.go_on.iter();
    facts.extend(go_on.map(|step| format!("{}: {}", step.why, code(&step.command))));
    let end = if run.phase.is_over() {
        "Ended"
    } else {
        "Last event"
    };
    for (what, at) in [("Started", run.started_at), (end, run.ended_at)] {
        facts.extend(at.map(|at| format!("{what}: {at:.0}")));
    }
    if run.wall() > 0 {
        facts.push(format!("Took: {}", took(run.wall())));
    }
    if run.revisions > 0 {
        facts.push(format!("Tasks revised after the start: {}", run.revisions));
    }
    facts
}

fn add_list(page: &mut String, heading: &str, lines: &[String]) {
    if !lines.is_empty() {
        page.push_str(&format!("\n## {heading}\n\n"));
        page.extend(
            lines
                .iter()
                .map(|line| format!("- {}\n", text(line.trim()))),
        );
    }
}

/// Adds a task, with the outcome of its last attempt. The task comes from the tree, or only from the log.
fn add_task(page: &mut String, depth: usize, (id, title): (&str, &str), task: Option<&RunTask>) {
    let indent = "  ".repeat(depth);
    page.push_str(&format!("{indent}- {} {}", text(id), text(title)));
    let Some(RunTask { line, tries, .. }) = task else {
        page.push('\n');
        return;
    };
    page.push_str(&format!(": {}", line.state_word()));
    if line.iteration > 0 {
        page.push_str(&format!(", attempt {}", line.iteration));
    }
    if let Some(commit) = &line.commit {
        page.push_str(&format!(", {}", code(short(commit))));
    }
    page.push('\n');
    let reason = line.detail.as_deref().filter(|_| line.status.is_final());
    let reason = reason.into_iter().flat_map(reason_lines);
    let mut facts: Vec<String> = reason.map(text).collect();
    if let Some(last) = tries.last() {
        facts.extend(Some(text(&last.summary)).filter(|summary| !summary.is_empty()));
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
    page.extend(facts.iter().map(|fact| format!("{indent}  - {fact}\n")));
}

fn add_decisions(page: &mut String, run: &RunPage<'_>) {
    let mut decisions: Vec<String> = run
        .interview_decisions
        .iter()
        .map(|line| text(line))
        .collect();
    decisions.extend(run.decisions.iter().map(|asked| {
        let by = match asked.by {
            Decider::Auto => " (by rule, since nobody could be asked)",
            Decider::User => "",
        };
        let answer = match asked.answer.is_empty() {
            true => "open".to_owned(),
            false => text(&asked.answer.join(", ")),
        };
        format!("{}\n  - {answer}{by}", text(&asked.question))
    }));
    if !decisions.is_empty() {
        page.push_str("\n## Decisions\n\n");
        page.extend(decisions.iter().map(|line| format!("- {line}\n")));
    }
}

fn text(text: &str) -> String {
    inline(&one_line(text))
}
