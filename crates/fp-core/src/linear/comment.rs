//! What is said about an issue when its task ends: on what the pass rests, or why the task was given up.

use std::fmt::Write as _;

use super::one_line;
use crate::run::State;
use crate::run::approval::hash;
use crate::run::payload::short;
use crate::run::state::{Status, TaskState};

/// Most characters of one entry.
const ENTRY: usize = 500;
/// Digits of a digest.
const DIGITS: usize = 8;

/// A comment on the end of a task.
pub(super) struct Comment {
    /// What is said, in Markdown; the last line is the marker.
    pub(super) body: String,
    /// What it can be found by.
    pub(super) marker: String,
    /// Digits that no other comment on that issue has.
    pub(super) digest: String,
}

/// What there is to say about `task`; nothing before it has ended, and nothing when it was skipped.
pub(super) fn comment(state: &State, task: &TaskState) -> Option<Comment> {
    let id = &task.leaf.id;
    let iterations = format!("iteration {} of {}", task.iteration, state.iterations_of(id));
    let mut body = match task.status {
        Status::Completed => completed(task, &iterations),
        Status::Failed => failed(task, &iterations),
        _ => return None,
    };
    let ended = task.ended_at.map(|at| at.to_string()).unwrap_or_default();
    let digest = hash(format!("{ended}\n{body}").as_bytes())[..DIGITS].to_owned();
    let marker = format!("fp: {}/{id} {digest}", state.plan_id);
    let _ = write!(body, "\n{marker}");
    Some(Comment { body, marker, digest })
}

fn completed(task: &TaskState, iterations: &str) -> String {
    let mut text = match task.imported {
        true => "Was done before the plan was imported.".to_owned(),
        false => format!("Passed in {iterations}."),
    };
    match (&task.commit, &task.note) {
        (Some(commit), _) => {
            let _ = write!(text, " Commit {}.", short(commit));
        }
        (None, Some(note)) => {
            let _ = write!(text, " No commit: {}.", one_line(note, ENTRY));
        }
        (None, None) => {}
    }
    text.push('\n');
    judgements(&mut text, task);
    text
}

fn failed(task: &TaskState, iterations: &str) -> String {
    let reason = one_line(task.reason.as_deref().unwrap_or("no reason was given"), ENTRY);
    let mut text = format!("Given up in {iterations}: {reason}\n");
    judgements(&mut text, task);
    text
}

fn judgements(text: &mut String, task: &TaskState) {
    let Some(verdict) = &task.verdict else { return };
    if !verdict.summary.trim().is_empty() {
        let _ = write!(text, "\n{}\n", one_line(&verdict.summary, ENTRY));
    }
    if !verdict.judgements.is_empty() {
        text.push('\n');
    }
    for judgement in &verdict.judgements {
        let word = if judgement.pass { "met" } else { "not met" };
        let evidence = one_line(&judgement.evidence, ENTRY);
        let _ = writeln!(text, "- Criterion {}, {word}: {evidence}", judgement.criterion);
    }
}
