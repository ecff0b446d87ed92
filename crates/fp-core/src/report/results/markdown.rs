//! The results as one Markdown page. All text in it is a model's or a stranger's, and none of it becomes markup.

use std::fmt::Write as _;

use super::{Outcome, Results, TaskResult, word};
use crate::markdown::{code, inline};
use crate::run::event::Decider;
use crate::run::payload::short;
use crate::text::one_line;

const INFALLIBLE: &str = "writing to a string can't fail";

/// The page.
#[must_use]
pub fn markdown(results: &Results) -> String {
    let mut page = Page(String::new());
    page.line("# ", &[Part::Text(results.plan_id.as_str())]);
    page.0.push('\n');
    for line in results.goal.lines() {
        page.line("> ", &[Part::Text(line)]);
    }
    page.head(results);
    page.0.push_str("\n## Tasks\n\n");
    for task in &results.tasks {
        page.entry(task);
    }
    for task in &results.tasks {
        if let Some(outcome) = task.outcome.as_ref().filter(|o| o.iteration > 0 || o.reason.is_some()) {
            page.task(task, outcome);
        }
    }
    page.decisions(results);
    if !results.notes.is_empty() {
        page.0.push_str("\n## Notes\n\n");
        for note in &results.notes {
            page.line("- ", &[Part::Text(note)]);
        }
    }
    page.0
}

/// A part of a line.
enum Part<'a> {
    /// Of the page itself.
    Own(&'a str),
    /// Text, on one line.
    Text(&'a str),
    /// A path, a commit.
    Code(&'a str),
}

struct Page(String);

impl Page {
    fn line(&mut self, begin: &str, parts: &[Part<'_>]) {
        self.0.push_str(begin);
        for part in parts {
            match part {
                Part::Own(text) => self.0.push_str(text),
                Part::Text(text) => inline(&mut self.0, &one_line(text)).expect(INFALLIBLE),
                Part::Code(text) => code(&mut self.0, text).expect(INFALLIBLE),
            }
        }
        self.0.push('\n');
    }

    fn head(&mut self, results: &Results) {
        let counts = &results.counts;
        let _ = write!(
            self.0,
            "\n- State: {}\n- Tasks: {} of {} done",
            results.phase.word(),
            counts.completed,
            counts.total
        );
        for (count, what) in [(counts.failed, "failed"), (counts.skipped, "skipped")] {
            if count > 0 {
                let _ = write!(self.0, ", {count} {what}");
            }
        }
        self.0.push('\n');
        for (what, at) in [("Started", results.started_at), ("Last event", results.last_at)] {
            if let Some(at) = at {
                let _ = writeln!(self.0, "- {what}: {at}");
            }
        }
    }

    /// A task in the tree.
    fn entry(&mut self, task: &TaskResult) {
        let begin = format!("{}- ", "  ".repeat(task.depth));
        let mut parts = vec![Part::Text(&task.id), Part::Own(" "), Part::Text(&task.title)];
        if let Some(outcome) = &task.outcome {
            parts.extend([Part::Own(": "), Part::Own(word(outcome.status))]);
            if let Some(commit) = &outcome.commit {
                parts.extend([Part::Own(", "), Part::Code(short(commit))]);
            }
        }
        self.line(&begin, &parts);
    }

    /// What came of a task that was begun, or that won't be.
    fn task(&mut self, task: &TaskResult, outcome: &Outcome) {
        self.0.push('\n');
        self.line("## ", &[Part::Text(&task.id), Part::Own(" "), Part::Text(&task.title)]);
        let iterations = match outcome.iteration {
            0 => String::new(),
            iteration => format!(", iteration {iteration}"),
        };
        self.line("\n- State: ", &[Part::Own(word(outcome.status)), Part::Own(&iterations)]);
        if let Some(commit) = &outcome.commit {
            self.line("- Commit: ", &[Part::Code(commit)]);
        }
        if let Some(reason) = &outcome.reason {
            let label = if outcome.commit.is_some() { "- Note: " } else { "- Reason: " };
            self.line(label, &[Part::Text(reason)]);
        }
        for (what, at) in [("Begun", outcome.started_at), ("Ended", outcome.ended_at)] {
            if let Some(at) = at {
                let _ = writeln!(self.0, "- {what}: {at}");
            }
        }
        if let Some(summary) = &outcome.summary {
            self.line("- Verdict: ", &[Part::Text(summary)]);
        }
        for judged in &outcome.criteria {
            let begin =
                format!("- Criterion {}, {}: ", judged.number, if judged.pass { "met" } else { "not met" });
            self.line(&begin, &[Part::Text(&judged.text)]);
            self.line("  - ", &[Part::Text(&judged.evidence)]);
        }
        for file in &outcome.files {
            self.line("- Changed: ", &[Part::Code(file)]);
        }
    }

    fn decisions(&mut self, results: &Results) {
        if results.decisions.is_empty() {
            return;
        }
        self.0.push_str("\n## Decisions\n\n");
        for decision in &results.decisions {
            self.line("- ", &[Part::Text(&decision.question)]);
            let by =
                if decision.by == Decider::Auto { " (by rule, since nobody could be asked)" } else { "" };
            let answer = match decision.answer.is_empty() {
                true => "open".to_owned(),
                false => decision.answer.join(", "),
            };
            self.line("  - ", &[Part::Text(&answer), Part::Own(by)]);
        }
    }
}
