//! Words the log for people: one line per event, and the details that matter.

use std::collections::BTreeSet;

use serde::Serialize;

use super::cost::spent_in_words;
use super::status::{told_at_end, used_up};
use crate::critique::Critique;
use crate::run::event::{Approve, Decider, Dispatch, Entry, Event, ImportedTask};
use crate::run::payload::short;
use crate::run::planning::Seen;
use crate::run::ready::listed;
use crate::run::state::{Granted, Status, TaskVerdict};
use crate::verification::change::Change;
use crate::verification::{Check, CheckVerdict};
use fp_plan::plan::id::TaskId;
use fp_plan::text::{counted, first_few, shown_command};

/// Maximum number of files listed in a line.
const FILES: usize = 3;

/// One event in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToldEvent {
    /// The task it concerns, if any.
    pub task: Option<TaskId>,
    /// One sentence without a full stop. Contains strangers' texts verbatim.
    pub text: String,
    /// Reasons and feedback, one paragraph each.
    pub details: Vec<String>,
    /// The state that its task came into, as far as it deserves a colour.
    #[serde(skip)]
    pub became: Option<Status>,
}

/// Words the events of `entry`, in order. What ends by a rule because a budget is used up says so. A detail shared by several events, such as the reasons of a verdict that
/// return as feedback, appears once.
pub fn tell(entry: &Entry) -> Vec<ToldEvent> {
    let mut said = BTreeSet::new();
    let mut all: Vec<ToldEvent> = entry.events.iter().map(words).collect();
    let budget = entry.events.iter().find_map(|event| match event {
        Event::Asked { question } => used_up(&question.topic),
        _ => None,
    });
    if let Some(used_up) = budget {
        let cancelled = Event::Cancelled { by: Decider::Auto };
        let ends = all.iter_mut().zip(&entry.events);
        ends.filter(|(_, event)| **event == cancelled)
            .for_each(|(told, _)| told.text = format!("the run stops: {used_up}"));
    }
    for told in &mut all {
        told.details
            .retain(|detail| !detail.trim().is_empty() && said.insert(detail.clone()));
    }
    all
}

/// True for an event that tells how the program works rather than what became of the plan.
pub fn is_minor(event: &Event) -> bool {
    match event {
        Event::Told
        | Event::Renewed
        | Event::LeadNudged
        | Event::Dispatched { .. }
        | Event::AgentStarted { .. }
        | Event::AgentKnown { .. }
        | Event::Reached { .. }
        | Event::Resumed { .. }
        | Event::Nudged { .. }
        | Event::Edited { .. }
        | Event::Submitted { .. }
        | Event::CheckoutSeen { .. }
        | Event::CommitStarted { .. } => true,
        Event::HeadMoved { drifted, .. } => drifted.is_empty(),
        Event::AgentEnded { said, silent, .. } => said.is_none() && silent.is_none(),
        Event::AgentSpent { cost, .. } => {
            cost.tokens.total() == 0 && cost.micro_usd.is_none() && cost.denied.is_empty()
        }
        Event::Verified { work, .. } => !work.checks.iter().any(Check::fails),
        _ => false,
    }
}

impl ToldEvent {
    fn with(self, details: Vec<String>) -> Self {
        Self { details, ..self }
    }

    fn and(self, became: Status) -> Self {
        Self {
            became: Some(became),
            ..self
        }
    }
}

fn words(event: &Event) -> ToldEvent {
    let run = |text: String| ToldEvent {
        task: None,
        text,
        details: Vec::new(),
        became: None,
    };
    let of_task = |task: &TaskId, text: String| ToldEvent {
        task: Some(task.clone()),
        ..run(text)
    };
    match event {
        Event::Interviewed { by: Decider::User } => {
            run("the interview records what the user said".into())
        }
        Event::Interviewed { by: Decider::Auto } => {
            run("the interview records what is assumed".into())
        }
        Event::Imported { from, tasks } => {
            let tasks_done = counted(tasks.len(), "task");
            run(format!(
                "imported from {from}; by its source, {tasks_done} done"
            ))
            .with(tasks.iter().map(done_before).collect())
        }
        Event::Approved(Approve { leaves, by, .. }) => run(format!(
            "approved {}: {}",
            by_whom(*by),
            counted(leaves.len(), "task")
        )),
        Event::Validated {
            pass,
            seen: Seen { errors: 0, .. },
        } => run(format!("the tree is valid, pass {pass}")),
        Event::Validated {
            pass,
            seen: Seen {
                errors, warnings, ..
            },
        } => run(format!(
            "the tree is not valid, pass {pass}: {}, {}",
            counted(*errors, "error"),
            counted(*warnings, "warning")
        )),
        Event::Critiqued(Critique {
            round,
            verdict,
            findings,
            ..
        }) => {
            let found = counted(findings.len(), "finding");
            run(format!(
                "critique, round {round}: {}, {found}",
                verdict.into_str()
            ))
            .with(findings.iter().map(ToString::to_string).collect())
        }
        Event::RunStarted(terms) => {
            let iterations = counted(terms.max_iterations as usize, "attempt");
            let builders = counted(terms.builders as usize, "builder");
            let commits = if terms.no_commit { "off" } else { "on" };
            run(format!(
                "the run starts: {builders}, {iterations}, commits {commits}"
            ))
            .with(
                terms
                    .session
                    .iter()
                    .map(|session| format!("session {session}"))
                    .collect(),
            )
        }
        Event::Dispatched {
            dispatch,
            name,
            task,
        } => {
            let what = if *dispatch == Dispatch::Resume {
                "waking"
            } else {
                "starting"
            };
            ToldEvent {
                task: task.clone(),
                ..run(format!("{what} {name}"))
            }
        }
        Event::Told => run("the lead has been told".into()),
        Event::LeadNudged => run("the lead had stopped, and is told to go on".into()),
        Event::AgentStarted { name, process } => {
            let model = process.model.iter().map(|model| format!("model {model}"));
            let session = process
                .session
                .iter()
                .map(|session| format!("session {session}"));
            run(format!("{name} is a process of {}", process.program))
                .with(model.chain(session).collect())
        }
        Event::AgentSpent { name, cost } => ToldEvent {
            task: cost.task.clone(),
            text: match (cost.tokens.total(), cost.micro_usd) {
                (0, None) => format!("{name} has not said what it cost"),
                (_, usd) => format!("{name} has cost {}", spent_in_words(cost.tokens, usd)),
            },
            details: cost
                .denied
                .iter()
                .map(|rule| format!("refused: {rule}"))
                .collect(),
            became: None,
        },
        Event::AgentEnded {
            name,
            task,
            said,
            silent,
        } => {
            let ended = match silent {
                Some(minutes) => {
                    let limit = counted(*minutes as usize, "minute");
                    format!("{name} was silent for {limit}, and was ended")
                }
                None if said.is_some() => format!("{name} has ended without a result"),
                None => format!("{name} has ended its turn"),
            };
            let said = said.iter().map(|said| format!("its last words: {said:?}"));
            ToldEvent {
                task: task.clone(),
                ..run(ended).with(said.collect())
            }
        }
        Event::Reached { name } => run(format!("{name} has its message")),
        Event::AgentKnown { name, id } => run(format!("{name} is the agent {id} of the client")),
        Event::Answered {
            question,
            options,
            by,
        } => run(format!(
            "{question} is answered {}: {}",
            by_whom(*by),
            options.join(", ")
        )),
        Event::CheckedAtEnd { checks } => {
            run("no task is left, and the checks for that ran".into())
                .with(checks.iter().map(told_at_end).collect())
        }
        Event::Cancelled { by } => run(format!("the run was cancelled {}", by_whom(*by))),
        Event::Finished => run("the run is finished".into()),
        Event::Joined { .. } => run("takes part from now on".into()),
        Event::Left => run("takes part no more".into()),
        Event::Renewed => run("is still at work".into()),
        Event::HeadMoved { drifted, .. } if drifted.is_empty() => run("HEAD has moved".into()),
        Event::HeadMoved { drifted, .. } => {
            let drifts = drifted
                .iter()
                .map(|(id, drift)| format!("task {id}: {}", drift.told()));
            let tasks = counted(drifted.len(), "task");
            run(format!(
                "HEAD has moved, and what {tasks} planned on has changed"
            ))
            .with(drifts.collect())
        }
        Event::ProgressDropped {} => {
            run("the log came from elsewhere: tasks that are not done begin again".into())
        }
        Event::CheckoutSeen { .. } => run("the checkout counts as it is".into()),
        Event::Kept { tasks } => run(format!(
            "stays as it is, for all that has changed: {}",
            listed(tasks)
        )),
        Event::Asked { question } => ToldEvent {
            task: question.topic.task().cloned(),
            text: format!("question {}: {}", question.id, question.header),
            details: vec![question.text.clone()],
            became: None,
        },
        Event::Noted { note } => ToldEvent {
            task: note.task.clone(),
            ..run(format!("{}: {}", note.kind.into_str(), note.text))
        },
        Event::Edited { task, path, .. } => of_task(
            task,
            format!("its builder has edited {path}, which it doesn't list"),
        ),
        Event::Claimed {
            task,
            owner,
            iteration,
            ..
        } => of_task(task, format!("{owner} claims it (attempt {iteration})")),
        Event::Resumed { task, owner, .. } => of_task(task, format!("{owner} asks for it again")),
        Event::Nudged { task, owner, .. } => of_task(task, format!("{owner} is told to go on")),
        Event::Submitted {
            task, owner, files, ..
        } => of_task(task, format!("{owner} hands it in: {}", changed(files))),
        Event::SubmitRefused {
            task,
            owner,
            reason,
        } => of_task(task, format!("{owner} could not hand it in")).with(paragraphs(reason)),
        Event::Verified {
            task,
            iteration,
            work,
        } => {
            let failed = || {
                work.checks
                    .iter()
                    .filter(|check| check.verdict == CheckVerdict::Fail)
            };
            let text = match failed().count() {
                0 => format!("checks passed (attempt {iteration})"),
                number => format!("{} failed (attempt {iteration})", counted(number, "check")),
            };
            of_task(task, text).with(
                failed()
                    .flat_map(|check| paragraphs(&check.told()))
                    .collect(),
            )
        }
        Event::Judged {
            task,
            verdict:
                TaskVerdict {
                    iteration,
                    pass: true,
                    summary,
                    ..
                },
        } => of_task(task, format!("attempt {iteration} passed")).with(vec![summary.clone()]),
        Event::Judged {
            task,
            verdict:
                TaskVerdict {
                    iteration,
                    reasons,
                    summary,
                    ..
                },
        } => {
            let mut reasons = paragraphs(&reasons.join("\n"));
            reasons.extend(
                Some(summary)
                    .filter(|said| !said.is_empty())
                    .map(|said| format!("Summary: {said}")),
            );
            of_task(task, format!("attempt {iteration} did not pass"))
                .with(reasons)
                .and(Status::Failed)
        }
        Event::ChecksDropped { task, commands, by } => of_task(
            task,
            format!("is verified without some of its commands, {}", by_whom(*by)),
        )
        .with(commands.iter().map(|line| shown_command(line)).collect()),
        Event::RevisionDue { task } => of_task(task, "has to be changed".into()),
        Event::SentBack {
            task,
            iteration,
            feedback,
            ..
        } => {
            let text = format!("goes back to its builder for attempt {iteration}");
            of_task(task, text).with(paragraphs(feedback))
        }
        Event::CommitStarted { task, intent } => {
            of_task(task, format!("is being committed: {}", intent.subject()))
        }
        Event::CommitBlocked { task, reason, .. } => {
            of_task(task, "could not be committed".into()).with(paragraphs(reason))
        }
        Event::Completed { task, commit, note } => {
            let commit = commit.as_ref().map_or_else(
                || "without a commit".into(),
                |commit| format!("commit {}", short(commit)),
            );
            of_task(task, format!("done, {commit}"))
                .with(note.iter().cloned().collect())
                .and(Status::Completed)
        }
        Event::Released { task, reason, .. } => {
            of_task(task, format!("its claim was taken back: {reason}"))
        }
        Event::Failed { task, reason } => of_task(task, "failed".into())
            .with(paragraphs(reason))
            .and(Status::Failed),
        Event::Skipped { task, because } => {
            of_task(task, format!("skipped because of {because}")).and(Status::Skipped)
        }
        Event::Retried { task, restored } if restored.is_empty() => {
            of_task(task, "gets another attempt".into())
        }
        Event::Retried { task, restored } => of_task(
            task,
            format!("gets another attempt, and with it {}", listed(restored)),
        ),
        Event::Messaged { message } => {
            let told = format!(
                "{} tells others: {}: {}",
                message.from, message.kind, message.text
            );
            of_task(&message.task, told)
        }
        Event::CommandsTried { checks, notes } => {
            let details = checks.iter().map(told_before).chain(notes.iter().cloned());
            run("the plan's commands were tried before any work".into()).with(details.collect())
        }
        Event::CheckedBefore { task, passed, .. } => {
            let result = if *passed { "passes" } else { "fails" };
            of_task(task, format!("its check {result} before its work"))
        }
        Event::Waived { task, by } => of_task(
            task,
            format!("is built all the same, as decided {}", by_whom(*by)),
        ),
        Event::ScopeExtended {
            task,
            granted: Granted { path, by, reason },
        } => {
            let text = format!("may change {path} as well, granted {}", by_whom(*by));
            of_task(task, text).with(paragraphs(reason))
        }
        Event::RolledBack { task, revert, .. } => {
            let commit = revert.as_ref().map_or_else(String::new, |revert| {
                format!(" by commit {}", short(revert))
            });
            of_task(task, format!("is rolled back{commit}"))
        }
    }
}

fn done_before(done: &ImportedTask) -> String {
    let commit = done
        .commit
        .as_deref()
        .map_or_else(|| "not verified".into(), |c| format!("commit {}", short(c)));
    format!("task {}: {}, {commit}", done.task, done.title)
}

/// The result of a command before any work, which may well fail; the user is asked about what can't succeed.
fn told_before(check: &Check) -> String {
    let name = check.command().unwrap_or(&check.name);
    match check.verdict {
        CheckVerdict::Fail => format!("does not pass yet: {name}: {}", check.result()),
        _ => told_at_end(check),
    }
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
    let paths: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
    if paths.is_empty() {
        "nothing changed".into()
    } else {
        first_few(&paths, FILES)
    }
}

/// Filters a log for one task: its own events, the questions about it with their answers, its notes, and the retries of
/// other tasks that restore it.
#[derive(Debug, Clone)]
pub struct TaskConcern {
    task: TaskId,
    questions: BTreeSet<String>,
}

impl TaskConcern {
    pub fn with(task: TaskId) -> Self {
        Self {
            task,
            questions: BTreeSet::new(),
        }
    }

    /// Tells which events of `entry` concern the task. Must be called for every entry in order, because an answer names
    /// only its question.
    pub fn of(&mut self, entry: &Entry) -> Vec<bool> {
        entry.events.iter().map(|event| self.has(event)).collect()
    }

    fn has(&mut self, event: &Event) -> bool {
        if let Event::Asked { question } = event
            && question.topic.concerns(&self.task)
        {
            self.questions.insert(question.id.clone());
        }
        match event {
            Event::Asked { question } => question.topic.concerns(&self.task),
            Event::Answered { question, .. } => self.questions.contains(question),
            Event::HeadMoved { drifted, .. } => drifted.contains_key(&self.task),
            Event::Kept { tasks } => tasks.contains(&self.task),
            Event::Retried { task, restored } => {
                *task == self.task || restored.contains(&self.task)
            }
            event => words(event).task.as_ref() == Some(&self.task),
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
        let told = tell(&entry(events)).into_iter();
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
    fn a_task_is_concerned_by_its_questions_and_their_answers() {
        let mut concern = TaskConcern::with(TaskId::new("1").unwrap());
        assert_eq!(
            concern.of(&entry(failed_for_good())),
            [true, true, false, true]
        );
        let answered = |id: &str| json!({ "answered": { "question": id, "options": ["Retry"], "by": "user" } });
        let later = entry(
            json!([answered("q1"), answered("q2"), { "retried": { "task": "3", "restored": ["1"] } }]),
        );
        assert_eq!(concern.of(&later), [true, false, true]);
        assert_eq!(
            concern.of(&entry(json!(["told", "finished"]))),
            [false, false]
        );
    }
}
