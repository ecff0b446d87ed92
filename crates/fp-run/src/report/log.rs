//! Describes the log for people: one line per event, plus the details that matter.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cost::spent_in_words;
use super::status::{told_at_end, used_up};
use crate::run::event::{AgentDispatch, Approve, Decider, Entry, Event, ImportedTask};
use crate::run::payload::short;
use crate::run::ready::ids_listed;
use crate::run::state::Status;
use crate::verification::{Check, CheckVerdict};
use fp_plan::plan::id::TaskId;
use fp_plan::text::{counted, shown_command};

/// An event described in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToldEvent {
    /// The task that the event concerns, if any.
    pub task: Option<TaskId>,
    /// One sentence without a full stop. May contain text from strangers, verbatim.
    pub text: String,
    /// Reasons and feedback, one paragraph each.
    pub details: Vec<String>,
    /// The new state of the task, if it deserves a colour.
    #[serde(skip)]
    pub became: Option<Status>,
}

/// Describes the events of `entry` that `is_told` selects, in order, without those about the program's own workings. A
/// detail that several of them share, such as a verdict's reasons repeated as feedback, appears once.
pub fn word_entry(entry: &Entry, mut is_told: impl FnMut(&Event) -> bool) -> Vec<ToldEvent> {
    let budget = entry.events.iter().find_map(|event| match event {
        Event::Asked { question } => used_up(&question.topic),
        _ => None,
    });
    let mut said = BTreeSet::new();
    let told = |event: &Event| {
        let text = Some(event)
            .filter(|event| is_told(event))
            .and_then(words_of)?;
        let mut details = details_of(event);
        details.retain(|detail| !detail.trim().is_empty() && said.insert(detail.clone()));
        Some(ToldEvent {
            task: task_of(event).cloned(),
            text: match (event, &budget) {
                (Event::Cancelled { by: Decider::Auto }, Some(used_up)) => {
                    format!("the run stops: {used_up}")
                }
                _ => text,
            },
            details,
            became: status_after(event),
        })
    };
    entry.events.iter().filter_map(told).collect()
}

/// The task that `event` concerns, if it concerns one.
pub(super) fn task_of(event: &Event) -> Option<&TaskId> {
    match event {
        Event::Dispatched(AgentDispatch { task, .. }) | Event::AgentEnded { task, .. } => {
            task.as_ref()
        }
        Event::AgentSpent { cost, .. } => cost.task.as_ref(),
        Event::Asked { question } => question.topic.task(),
        Event::Noted { note } => note.task.as_ref(),
        Event::Messaged { message } => Some(&message.task),
        _ => event.task(),
    }
}

fn status_after(event: &Event) -> Option<Status> {
    match event {
        Event::Judged { verdict, .. } => (!verdict.pass).then_some(Status::Failed),
        Event::Failed { .. } => Some(Status::Failed),
        Event::Completed { .. } => Some(Status::Completed),
        Event::Skipped { .. } => Some(Status::Skipped),
        _ => None,
    }
}

/// The words for `event`; `None` if it is about the program's own workings rather than the plan's progress.
fn words_of(event: &Event) -> Option<String> {
    Some(match event {
        Event::Told
        | Event::Renewed
        | Event::LeadNudged
        | Event::Dispatched(_)
        | Event::AgentStarted { .. }
        | Event::AgentKnown { .. }
        | Event::Reached { .. }
        | Event::Resumed { .. }
        | Event::Nudged { .. }
        | Event::Edited { .. }
        | Event::Submitted { .. }
        | Event::CheckoutSeen { .. }
        | Event::CommitStarted { .. } => return None,
        Event::Interviewed { by: Decider::User } => {
            "the interview records what the user said".into()
        }
        Event::Interviewed { by: Decider::Auto } => "the interview records what is assumed".into(),
        Event::Imported { from, tasks } => {
            let done = counted(tasks.len(), "task");
            format!("imported from {from}; by its source, {done} done")
        }
        Event::Approved(Approve { leaves, by, .. }) => {
            let tasks = counted(leaves.len(), "task");
            format!("approved {}: {tasks}", by_whom(*by))
        }
        Event::Validated(seen) => format!("the tree was validated, errors: {}", seen["errors"]),
        Event::Critiqued(critique) => {
            let (round, verdict) = (critique.round, critique.verdict.into_str());
            let found = counted(critique.findings.len(), "finding");
            format!("critique, round {round}: {verdict}, {found}")
        }
        Event::RunStarted(terms) => {
            let attempts = counted(terms.max_iterations as usize, "attempt");
            let builders = counted(terms.builders as usize, "builder");
            let commits = if terms.no_commit { "off" } else { "on" };
            format!("the run starts: {builders}, {attempts}, commits {commits}")
        }
        Event::AgentSpent { name, cost } => match (cost.tokens.total(), cost.micro_usd) {
            (0, None) if cost.denied.is_empty() => return None,
            (0, None) => format!("{name} has not said what it cost"),
            (_, usd) => format!("{name} has cost {}", spent_in_words(cost.tokens, usd)),
        },
        Event::AgentEnded {
            name, said, silent, ..
        } => match silent {
            Some(minutes) => {
                let limit = counted(*minutes as usize, "minute");
                format!("{name} was silent for {limit}, and was ended")
            }
            None if said.is_some() => format!("{name} has ended without a result"),
            None => return None,
        },
        Event::Answered {
            question,
            options,
            by,
        } => {
            let answer = options.join(", ");
            format!("{question} is answered {}: {answer}", by_whom(*by))
        }
        Event::NoteEnded { number } => format!("note {number} is over"),
        Event::CheckedAtEnd { .. } => "no task is left, and the checks for that ran".into(),
        Event::WholeJudged { verdict } => match verdict.pass {
            true => "the result holds as a whole".into(),
            false => "the result does not hold as a whole".into(),
        },
        Event::Cancelled { by } => format!("the run was cancelled {}", by_whom(*by)),
        Event::Finished => "the run is finished".into(),
        Event::Joined { .. } => "takes part from now on".into(),
        Event::Left => "takes part no more".into(),
        Event::HeadMoved { drifted, .. } if drifted.is_empty() => return None,
        Event::HeadMoved { drifted, .. } => {
            let tasks = counted(drifted.len(), "task");
            format!("HEAD has moved, and what {tasks} planned on has changed")
        }
        Event::ProgressDropped {} => {
            "the log came from elsewhere: tasks that are not done begin again".into()
        }
        Event::Kept { tasks } => format!(
            "stays as it is, for all that has changed: {}",
            ids_listed(tasks)
        ),
        Event::Asked { question } => format!("question {}: {}", question.id, question.header),
        Event::Noted { note } => format!("{}: {}", note.kind.into_str(), note.text),
        Event::Claimed {
            owner, iteration, ..
        } => {
            format!("{owner} claims it (attempt {iteration})")
        }
        Event::SubmitRefused { owner, .. } => format!("{owner} could not hand it in"),
        Event::Verified {
            iteration, work, ..
        } => match work.checks.iter().filter(|check| check.fails()).count() {
            0 => return None,
            number => format!("{} failed (attempt {iteration})", counted(number, "check")),
        },
        Event::Judged { verdict, .. } => {
            let result = if verdict.pass {
                "passed"
            } else {
                "did not pass"
            };
            format!("attempt {} {result}", verdict.iteration)
        }
        Event::ChecksDropped { by, .. } => {
            format!("is verified without some of its commands, {}", by_whom(*by))
        }
        Event::RevisionDue { .. } => "has to be changed".into(),
        Event::SentBack { iteration, .. } => {
            format!("goes back for attempt {iteration}")
        }
        Event::CommitBlocked { .. } => "could not be committed".into(),
        Event::Completed { commit, .. } => match commit {
            Some(commit) => format!("done, commit {}", short(commit)),
            None => "done, without a commit".into(),
        },
        Event::Released { reason, .. } => format!("its claim was taken back: {reason}"),
        Event::Failed { .. } => "failed".into(),
        Event::Skipped { because, .. } => format!("skipped because of {because}"),
        Event::Retried { restored, .. } if restored.is_empty() => "gets another attempt".into(),
        Event::Retried { restored, .. } => {
            format!("gets another attempt, and with it {}", ids_listed(restored))
        }
        Event::Messaged { message } => format!(
            "{} tells others: {}: {}",
            message.from, message.kind, message.text
        ),
        Event::CommandsTried { .. } => "the plan's commands were tried before any work".into(),
        Event::CheckedBefore { passed, .. } => {
            let result = if *passed { "passes" } else { "fails" };
            format!("its check {result} before its work")
        }
        Event::Waived { by, .. } => {
            format!("is built all the same, as decided {}", by_whom(*by))
        }
        Event::ScopeExtended { granted, .. } => {
            let (path, by) = (&granted.path, by_whom(granted.by));
            format!("may change {path} as well, granted {by}")
        }
        Event::RolledBack { revert, .. } => match revert {
            Some(revert) => format!("is rolled back by commit {}", short(revert)),
            None => "is rolled back".into(),
        },
    })
}

/// The reasons for `event` and further details, one paragraph each.
fn details_of(event: &Event) -> Vec<String> {
    let failed = |check: &Check| check.fails().then(|| paragraphs(&check.told()));
    match event {
        Event::Imported { tasks, .. } => tasks.iter().map(done_before).collect(),
        Event::Critiqued(critique) => critique.findings.iter().map(ToString::to_string).collect(),
        Event::RunStarted(terms) => labelled("session ", &terms.session),
        Event::AgentSpent { cost, .. } => labelled("refused: ", &cost.denied),
        Event::AgentEnded { said, .. } => {
            let said = said.iter().map(|said| format!("its last words: {said:?}"));
            said.collect()
        }
        Event::CheckedAtEnd { checks } => checks.iter().map(told_at_end).collect(),
        Event::WholeJudged { verdict } => verdict.reasons.clone(),
        Event::HeadMoved { drifted, .. } => {
            let drifts = drifted.iter();
            let told = drifts.map(|(id, drift)| format!("task {id}: {}", drift.summary_text()));
            told.collect()
        }
        Event::Asked { question } => vec![question.text.clone()],
        Event::Verified { work, .. } => work.checks.iter().filter_map(failed).flatten().collect(),
        Event::Judged { verdict, .. } if verdict.pass => vec![verdict.summary.clone()],
        Event::Judged { verdict, .. } => {
            let summary = Some(&verdict.summary).filter(|said| !said.is_empty());
            let reasons = paragraphs(&verdict.reasons.join("\n"));
            [reasons, labelled("Summary: ", summary)].concat()
        }
        Event::ChecksDropped { commands, .. } => {
            commands.iter().map(|line| shown_command(line)).collect()
        }
        Event::SubmitRefused { reason, .. }
        | Event::SentBack {
            feedback: reason, ..
        }
        | Event::CommitBlocked { reason, .. }
        | Event::Failed { reason, .. } => paragraphs(reason),
        Event::ScopeExtended { granted, .. } => paragraphs(&granted.reason),
        Event::Completed { note, .. } => note.iter().cloned().collect(),
        Event::CommandsTried { checks, notes } => {
            let tried = checks.iter().map(told_before);
            tried.chain(notes.iter().cloned()).collect()
        }
        _ => Vec::new(),
    }
}

fn labelled<'t>(label: &str, texts: impl IntoIterator<Item = &'t String>) -> Vec<String> {
    let texts = texts.into_iter();
    texts.map(|text| format!("{label}{text}")).collect()
}

fn done_before(done: &ImportedTask) -> String {
    let commit = done
        .commit
        .as_deref()
        .map_or_else(|| "not verified".into(), |c| format!("commit {}", short(c)));
    format!("task {}: {}, {commit}", done.task, done.title)
}

/// Describes the result of a command that ran before any work. A failure is normal at that point; the user is only
/// asked about commands that can't succeed.
fn told_before(check: &Check) -> String {
    let name = check.command().unwrap_or(&check.name);
    match check.verdict {
        CheckVerdict::Fail => format!("does not pass yet: {name}: {}", check.result()),
        _ => told_at_end(check),
    }
}

pub(super) fn by_whom(by: Decider) -> &'static str {
    match by {
        Decider::User => "by the user",
        Decider::Auto => "by a rule",
    }
}

fn paragraphs(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// Filters a log for one task: its own events, the questions about it with their answers, its notes, and the retries of
/// other tasks that restore it.
#[derive(Debug, Clone)]
pub struct TaskConcern {
    task: TaskId,
    questions: BTreeSet<String>,
}

impl TaskConcern {
    pub fn new(task: TaskId) -> Self {
        let questions = BTreeSet::new();
        Self { task, questions }
    }

    /// True if `event` concerns the task. Must be called for every event in order, because an answer names only its
    /// question.
    pub fn includes(&mut self, event: &Event) -> bool {
        match event {
            Event::Asked { question } if question.topic.concerns(&self.task) => {
                self.questions.insert(question.id.clone());
                true
            }
            Event::Asked { .. } => false,
            Event::Answered { question, .. } => self.questions.contains(question),
            Event::HeadMoved { drifted, .. } => drifted.contains_key(&self.task),
            Event::Kept { tasks } => tasks.contains(&self.task),
            Event::Retried { task, restored } => {
                *task == self.task || restored.contains(&self.task)
            }
            event => task_of(event) == Some(&self.task),
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
        serde_json::from_value(json!({ "schemaVersion": 1, "seq": 1, "at": at, "events": events }))
            .unwrap()
    }

    fn told(events: serde_json::Value) -> Vec<(Option<String>, String, Vec<String>)> {
        let told = word_entry(&entry(events), |_| true).into_iter();
        told.map(|t| (t.task.map(|id| id.to_string()), t.text, t.details))
            .collect()
    }

    fn failed_for_good() -> serde_json::Value {
        let topic = json!({ "about": "taskFailed", "task": "1" });
        json!([
            { "judged": { "task": "1", "iteration": 2, "pass": false, "judgements": [], "summary": "no",
                "reasons": ["Criterion 1 (a): b", "Check tests: c\nd"] } },
            { "failed": { "task": "1", "reason": "Criterion 1 (a): b\nCheck tests: c\nd" } },
            { "skipped": { "task": "2", "because": "1" } },
            { "asked": { "question": { "id": "q1", "topic": topic, "text": "How should it continue?",
                "header": "Task failed", "options": [] } } },
        ])
    }

    #[test]
    fn what_several_events_say_is_told_once() {
        let one = Some("1".to_owned());
        let reasons = ["Criterion 1 (a): b", "Check tests: c", "d", "Summary: no"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(
            told(failed_for_good()),
            [
                (one.clone(), "attempt 2 did not pass".into(), reasons),
                (one.clone(), "failed".into(), Vec::new()),
                (Some("2".into()), "skipped because of 1".into(), Vec::new()),
                (
                    one,
                    "question q1: Task failed".into(),
                    vec!["How should it continue?".into()]
                ),
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
                (
                    None,
                    "the interview records what the user said".into(),
                    Vec::new()
                ),
                (
                    None,
                    "the interview records what is assumed".into(),
                    Vec::new()
                ),
                (
                    None,
                    "HEAD has moved, and what 1 task planned on has changed".into(),
                    vec!["task 1: a changed by c0 \"By hand\"".into()]
                ),
                (
                    None,
                    "stays as it is, for all that has changed: 1, 2".into(),
                    Vec::new()
                ),
                (one(), "its check fails before its work".into(), Vec::new()),
                (
                    one(),
                    "is built all the same, as decided by the user".into(),
                    Vec::new()
                ),
                (
                    one(),
                    "may change b as well, granted by a rule".into(),
                    vec!["it lists all".into()]
                ),
                (one(), "is rolled back by commit c0ffee2".into(), Vec::new()),
            ]
        );
    }

    #[test]
    fn the_programs_own_workings_are_not_told() {
        let events = json!([
            "told",
            "renewed",
            { "nudged": { "task": "1", "owner": "builder-1" } },
            { "headMoved": { "head": "c0", "drifted": {} } },
            { "agentEnded": { "name": "builder-1" } },
        ]);
        assert_eq!(told(events), []);
    }

    #[test]
    fn a_task_is_concerned_by_its_questions_and_their_answers() {
        let mut concern = TaskConcern::new(TaskId::new("1").unwrap());
        let mut included = |events| {
            let events = entry(events).events;
            let included = events.iter().map(|event| concern.includes(event));
            included.collect::<Vec<bool>>()
        };
        assert_eq!(included(failed_for_good()), [true, true, false, true]);
        let answered = |id: &str| json!({ "answered": { "question": id, "options": ["Retry"], "by": "user" } });
        let later = json!([answered("q1"), answered("q2"), { "retried": { "task": "3", "restored": ["1"] } }]);
        assert_eq!(included(later), [true, false, true]);
        assert_eq!(included(json!(["told", "finished"])), [false, false]);
    }
}
