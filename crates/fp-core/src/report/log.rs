//! The log in words: what each event says, in one line and the details that matter.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::plan::id::TaskId;
use crate::run::event::{Decider, Dispatch, Entry, Event, ImportedTask};
use crate::run::payload::short;
use crate::run::ready::List;
use crate::text::counted;
use crate::verification::change::Change;
use crate::verification::{Check, CheckVerdict};

/// Most files that a line names.
const FILES: usize = 3;

/// One event in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToldEvent {
    /// The task it is about, where it is about one.
    pub task: Option<TaskId>,
    /// What happened; one sentence without a full stop. Holds texts of strangers, as they are.
    pub text: String,
    /// Reasons and feedback, a paragraph each.
    pub details: Vec<String>,
}

/// The events of `entry` in words, in order. What several of them have as a detail, such as the reasons of a verdict
/// that come back as feedback, is told once.
#[must_use]
pub fn tell(entry: &Entry) -> Vec<ToldEvent> {
    let mut said = BTreeSet::new();
    let mut all: Vec<ToldEvent> = entry.events.iter().map(words).collect();
    for told in &mut all {
        told.details.retain(|detail| !detail.trim().is_empty() && said.insert(detail.clone()));
    }
    all
}

fn words(event: &Event) -> ToldEvent {
    ToldEvent { task: about(event), text: text(event), details: details(event) }
}

fn text(event: &Event) -> String {
    match event {
        Event::Interviewed { by: Decider::User } => "the interview records what the user said".into(),
        Event::Interviewed { .. } => "the interview records what is assumed".into(),
        Event::Imported { from, tasks } => {
            format!(
                "imported from {from}, with {} that the source says is done",
                counted(tasks.len(), "task")
            )
        }
        Event::Approved { leaves, by, .. } => {
            format!("approved {}: {}", by_whom(*by), counted(leaves.len(), "task"))
        }
        Event::Validated { pass, errors: 0, .. } => format!("the tree is valid, pass {pass}"),
        Event::Validated { pass, errors, warnings, .. } => format!(
            "the tree is not valid, pass {pass}: {}, {}",
            counted(*errors, "error"),
            counted(*warnings, "warning")
        ),
        Event::Critiqued { round, verdict, findings, .. } => {
            format!("critique, round {round}: {}, {}", verdict.word(), counted(findings.len(), "finding"))
        }
        Event::RunStarted(terms) => {
            let iterations = match terms.scaled_iterations.values().max() {
                Some(most) => format!("{} to {most} iterations", terms.max_iterations),
                None => counted(terms.max_iterations as usize, "iteration"),
            };
            let commits = if terms.no_commit { "off" } else { "on" };
            format!(
                "the run starts: {}, {iterations}, commits {commits}",
                counted(terms.builders as usize, "builder")
            )
        }
        Event::Dispatched { dispatch: Dispatch::Resume, name, .. } => format!("{name} is to be woken"),
        Event::Dispatched { name, .. } => format!("{name} is to be started"),
        Event::Told => "the lead has been told".into(),
        Event::LeadNudged => "the lead had stopped, and is told to go on".into(),
        Event::AgentEnded { name } => format!("{name} has ended its turn"),
        Event::AgentKnown { name, id } => format!("{name} is the agent {id} of the client"),
        Event::Edited { path, .. } => format!("its builder has edited {path}, which it doesn't list"),
        Event::Claimed { owner, iteration, .. } => format!("{owner} claims it, iteration {iteration}"),
        Event::Resumed { owner, .. } => format!("{owner} asks for it again"),
        Event::Nudged { owner, .. } => format!("{owner} is told to go on"),
        Event::Submitted { owner, files, .. } => format!("{owner} hands it in: {}", changed(files)),
        Event::Verified { iteration, checks, .. } => match failed(checks).count() {
            0 => format!("no check of iteration {iteration} failed"),
            number => format!("{} of iteration {iteration} failed", counted(number, "check")),
        },
        Event::Judged { iteration, pass: true, .. } => format!("iteration {iteration} passed"),
        Event::Judged { iteration, .. } => format!("iteration {iteration} did not pass"),
        Event::SentBack { iteration, .. } => format!("goes back to its builder, iteration {iteration}"),
        Event::CommitStarted { message, .. } => {
            format!("is being committed: {}", message.lines().next().unwrap_or_default())
        }
        Event::CommitBlocked { .. } => "could not be committed".into(),
        Event::Completed { commit: Some(commit), .. } => format!("completed, commit {}", short(commit)),
        Event::Completed { .. } => "completed, without a commit".into(),
        Event::Released { reason, .. } => format!("its claim is taken back: {reason}"),
        Event::Failed { .. } => "FAILED".into(),
        Event::Skipped { because, .. } => format!("skipped because of {because}"),
        Event::Retried { restored, .. } if restored.is_empty() => "gets another try".into(),
        Event::Retried { restored, .. } => format!("gets another try, and with it {}", List(restored)),
        Event::Asked { question } => format!("question {}: {}", question.id, question.header),
        Event::Answered { question, options, by } => {
            format!("{question} is answered {}: {}", by_whom(*by), options.join(", "))
        }
        Event::Messaged { message } => {
            format!("{} tells {}: {}: {}", message.from, message.to(), message.kind.word(), message.text)
        }
        Event::Noted { note } => format!("{}: {}", note.kind.word(), note.text),
        Event::Cancelled { by } => format!("the run was cancelled {}", by_whom(*by)),
        Event::Finished => "the run is finished".into(),
        Event::HeadMoved { drifted, .. } if drifted.is_empty() => "HEAD has moved".into(),
        Event::HeadMoved { drifted, .. } => {
            format!("HEAD has moved, and what {} planned on has changed", counted(drifted.len(), "task"))
        }
        Event::Kept { tasks } => format!("stays as it is, for all that has changed: {}", List(tasks)),
        Event::CheckedBefore { passed: true, .. } => "its check passes before its work".into(),
        Event::CheckedBefore { .. } => "its check fails before its work".into(),
        Event::Waived { by, .. } => format!("is built all the same, as decided {}", by_whom(*by)),
        Event::ScopeExtended { path, by, .. } => {
            format!("may change {path} as well, granted {}", by_whom(*by))
        }
        Event::RolledBack { revert: Some(revert), .. } => {
            format!("is rolled back by commit {}", short(revert))
        }
        Event::RolledBack { .. } => "is rolled back".into(),
    }
}

/// The reasons and the feedback of an event, a paragraph each.
fn details(event: &Event) -> Vec<String> {
    match event {
        Event::Critiqued { findings, .. } => findings.iter().map(ToString::to_string).collect(),
        Event::RunStarted(terms) => terms.session.iter().map(|s| format!("session {s}")).collect(),
        Event::Verified { checks, .. } => {
            failed(checks).map(|check| format!("Check {}: {}", check.name, check.detail)).collect()
        }
        Event::Judged { pass: true, summary, .. } => vec![summary.clone()],
        Event::Judged { reasons, .. } => paragraphs(&reasons.join("\n")),
        Event::SentBack { feedback: reason, .. }
        | Event::CommitBlocked { reason, .. }
        | Event::Failed { reason, .. } => paragraphs(reason),
        Event::Imported { tasks, .. } => tasks.iter().map(done_before).collect(),
        Event::Completed { note, .. } => note.iter().cloned().collect(),
        Event::Asked { question } => vec![question.text.clone()],
        Event::HeadMoved { drifted, .. } => {
            drifted.iter().map(|(id, drift)| format!("task {id}: {}", drift.told())).collect()
        }
        Event::ScopeExtended { reason, .. } => paragraphs(reason),
        _ => Vec::new(),
    }
}

fn done_before(done: &ImportedTask) -> String {
    let commit =
        done.commit.as_deref().map_or_else(|| "not verified".into(), |c| format!("commit {}", short(c)));
    format!("task {}: {}, {commit}", done.task, done.title)
}

fn failed(checks: &[Check]) -> impl Iterator<Item = &Check> {
    checks.iter().filter(|check| check.verdict == CheckVerdict::Fail)
}

fn by_whom(by: Decider) -> &'static str {
    match by {
        Decider::User => "by the user",
        Decider::Auto => "by a rule",
    }
}

fn paragraphs(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn changed(files: &[Change]) -> String {
    let shown: Vec<String> = files.iter().take(FILES).map(|file| file.path.to_string()).collect();
    match files.len().saturating_sub(FILES) {
        0 if files.is_empty() => "nothing changed".into(),
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The task that `event` is about.
fn about(event: &Event) -> Option<TaskId> {
    match event {
        Event::Claimed { task, .. }
        | Event::Resumed { task, .. }
        | Event::Nudged { task, .. }
        | Event::Submitted { task, .. }
        | Event::Verified { task, .. }
        | Event::Judged { task, .. }
        | Event::SentBack { task, .. }
        | Event::CommitStarted { task, .. }
        | Event::CommitBlocked { task, .. }
        | Event::Completed { task, .. }
        | Event::Released { task, .. }
        | Event::Failed { task, .. }
        | Event::Skipped { task, .. }
        | Event::Retried { task, .. }
        | Event::CheckedBefore { task, .. }
        | Event::Waived { task, .. }
        | Event::ScopeExtended { task, .. }
        | Event::Edited { task, .. }
        | Event::RolledBack { task, .. } => Some(task.clone()),
        Event::Dispatched { task, .. } => task.clone(),
        Event::Asked { question } => question.topic.task().cloned(),
        Event::Noted { note } => note.task.clone(),
        Event::Messaged { message } => Some(message.task.clone()),
        Event::Interviewed { .. }
        | Event::Imported { .. }
        | Event::Approved { .. }
        | Event::Validated { .. }
        | Event::Critiqued { .. }
        | Event::RunStarted(_)
        | Event::Told
        | Event::LeadNudged
        | Event::HeadMoved { .. }
        | Event::Kept { .. }
        | Event::AgentEnded { .. }
        | Event::AgentKnown { .. }
        | Event::Answered { .. }
        | Event::Cancelled { .. }
        | Event::Finished => None,
    }
}

/// What a log says of one task: its own events, the questions about it with their answers, its notes, and where
/// another task's end or new try reaches it.
#[derive(Debug, Clone)]
pub struct TaskConcern {
    task: TaskId,
    questions: BTreeSet<String>,
}

impl TaskConcern {
    /// Everything about `task`.
    #[must_use]
    pub fn with(task: TaskId) -> Self {
        Self { task, questions: BTreeSet::new() }
    }

    /// Which events of `entry` are about the task. To be asked entry by entry, from the first one on: an answer
    /// names its question alone.
    pub fn of(&mut self, entry: &Entry) -> Vec<bool> {
        entry.events.iter().map(|event| self.has(event)).collect()
    }

    fn has(&mut self, event: &Event) -> bool {
        if let Event::Asked { question } = event
            && question.topic.task() == Some(&self.task)
        {
            self.questions.insert(question.id.clone());
        }
        match event {
            Event::Answered { question, .. } => self.questions.contains(question),
            Event::Retried { task, restored } => *task == self.task || restored.contains(&self.task),
            event => about(event).as_ref() == Some(&self.task),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;

    fn entry(events: serde_json::Value) -> Entry {
        let at = Timestamp::UNIX_EPOCH;
        serde_json::from_value(json!({ "schemaVersion": 1, "seq": 1, "at": at, "events": events })).unwrap()
    }

    fn told(events: serde_json::Value) -> Vec<(Option<String>, String, Vec<String>)> {
        let told = tell(&entry(events)).into_iter();
        told.map(|t| (t.task.map(|id| id.to_string()), t.text, t.details)).collect()
    }

    fn failed_for_good() -> serde_json::Value {
        let topic = json!({ "about": "taskFailed", "task": "1" });
        json!([
            { "judged": { "task": "1", "iteration": 2, "pass": false, "judgements": [], "summary": "no",
                "reasons": ["Criterion 1 (a): b", "Check tests: c\nd"] } },
            { "failed": { "task": "1", "reason": "Criterion 1 (a): b\nCheck tests: c\nd" } },
            { "skipped": { "task": "2", "because": "1" } },
            { "asked": { "question": { "id": "q1", "topic": topic, "text": "How to go on?",
                "header": "Task failed", "options": [] } } },
        ])
    }

    #[test]
    fn what_several_events_say_is_told_once() {
        let one = Some("1".to_owned());
        let reasons = ["Criterion 1 (a): b", "Check tests: c", "d"].map(str::to_owned).to_vec();
        assert_eq!(
            told(failed_for_good()),
            [
                (one.clone(), "iteration 2 did not pass".into(), reasons),
                (one.clone(), "FAILED".into(), Vec::new()),
                (Some("2".into()), "skipped because of 1".into(), Vec::new()),
                (one, "question q1: Task failed".into(), vec!["How to go on?".into()]),
            ]
        );
    }

    #[test]
    fn what_builders_and_persons_do_in_between() {
        let one = || Some("1".to_owned());
        let drift = json!({ "files": ["a"], "commits": ["c0 \"By hand\""] });
        let events = json!([
            { "interviewed": { "by": "user" } },
            { "interviewed": { "by": "auto" } },
            { "headMoved": { "head": "c0", "drifted": { "1": drift } } },
            { "kept": { "tasks": ["1", "2"] } },
            { "checkedBefore": { "task": "1", "checks": [], "passed": false } },
            { "waived": { "task": "1", "by": "user" } },
            { "scopeExtended": { "task": "1", "path": "b", "reason": "it lists all", "by": "auto" } },
            { "rolledBack": { "task": "1", "commit": "c0ffee1", "revert": "c0ffee2c0ffee" } },
        ]);
        assert_eq!(
            told(events),
            [
                (None, "the interview records what the user said".into(), Vec::new()),
                (None, "the interview records what is assumed".into(), Vec::new()),
                (
                    None,
                    "HEAD has moved, and what 1 task planned on has changed".into(),
                    vec!["task 1: a changed by c0 \"By hand\"".into()]
                ),
                (None, "stays as it is, for all that has changed: 1, 2".into(), Vec::new()),
                (one(), "its check fails before its work".into(), Vec::new()),
                (one(), "is built all the same, as decided by the user".into(), Vec::new()),
                (one(), "may change b as well, granted by a rule".into(), vec!["it lists all".into()]),
                (one(), "is rolled back by commit c0ffee2".into(), Vec::new()),
            ]
        );
    }

    #[test]
    fn a_task_is_concerned_by_its_questions_and_their_answers() {
        let mut concern = TaskConcern::with(TaskId::new("1").unwrap());
        assert_eq!(concern.of(&entry(failed_for_good())), [true, true, false, true]);
        let answered =
            |id: &str| json!({ "answered": { "question": id, "options": ["Retry"], "by": "user" } });
        let later =
            entry(json!([answered("q1"), answered("q2"), { "retried": { "task": "3", "restored": ["1"] } }]));
        assert_eq!(concern.of(&later), [true, false, true]);
        assert_eq!(concern.of(&entry(json!(["told", "finished"]))), [false, false]);
    }
}
