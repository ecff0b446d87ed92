//! Defines the questions to the user and the consequences of each answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::ready::tasks_listed;
use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_plan::settings::SpendingLimit;
use fp_plan::text::prompt_lines;

/// Maximum length of a text from a builder or another machine, in bytes.
const MAX_SAID: usize = 8000;
/// Maximum length of a question, in bytes; its commands are shown in full.
const MAX_QUESTION: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerOption {
    /// The text that the user sees and `fp answer --option` takes.
    pub label: String,
    pub description: String,
}

impl AnswerOption {
    pub(super) fn map_texts(&self, made: fn(&str) -> String) -> Self {
        Self {
            label: made(&self.label),
            description: made(&self.description),
        }
    }
}

/// The subject of a question; determines what its answers do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "about", content = "task")]
pub enum Topic {
    /// A task has used up its iterations.
    TaskFailed(TaskId),
    /// A task failed only because of its commands, or they had already failed in the same tree: the plan may be at
    /// fault.
    CheckFailed {
        task: TaskId,
        commands: BTreeSet<String>,
    },
    /// Commands of these tasks failed before any work: the plan or the project may be at fault.
    FailsBefore {
        commands: BTreeMap<TaskId, BTreeSet<String>>,
    },
    /// Two verifiers ended without a verdict.
    VerifierSilent(TaskId),
    /// A commit could not be made.
    CommitBlocked(TaskId),
    /// A commit could not be made, because git is locked: its index, HEAD, or another of its files.
    IndexLocked(TaskId),
    /// A hook changed the content of a commit.
    CommitRewritten(TaskId),
    /// Files in the checkout changed while no task held them.
    CheckoutChanged {
        /// The working tree including these changes.
        tree: String,
        paths: Vec<RepoPath>,
    },
    /// Builders keep ending without taking a task.
    BuildersSilent,
    /// The agents of the run, or of a task, have used up their budget.
    Budget {
        limit: SpendingLimit,
        /// The amount spent when the question was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<SpendingLimit>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// A check at the end of the run failed.
    EndChecks,
    /// The result as a whole did not pass.
    WholeFailed,
    /// Something these tasks were planned on has changed.
    Drift(Vec<TaskId>),
    /// Test-driven work: a task's checks already pass before the work.
    PassesBefore(TaskId),
    /// A builder asked a question about its task.
    Clarify(TaskId),
    /// A builder doubted commands of its own task, in runs of version 0.2.
    CheckDoubted {
        task: TaskId,
        commands: BTreeSet<String>,
    },
    /// A builder asked to change a file outside its task.
    Scope {
        task: TaskId,
        /// In normal form.
        path: String,
    },
}

impl Topic {
    /// The task that the topic is about, if it's about a single one.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::TaskFailed(task) | Self::VerifierSilent(task) | Self::PassesBefore(task) => {
                Some(task)
            }
            Self::CommitBlocked(task) | Self::IndexLocked(task) | Self::CommitRewritten(task) => {
                Some(task)
            }
            Self::Clarify(task) | Self::Scope { task, .. } => Some(task),
            Self::CheckFailed { task, .. } | Self::CheckDoubted { task, .. } => Some(task),
            Self::Budget { task, .. } => task.as_ref(),
            Self::FailsBefore { commands } => {
                commands.keys().next().filter(|_| commands.len() == 1)
            }
            Self::BuildersSilent
            | Self::EndChecks
            | Self::WholeFailed
            | Self::Drift(_)
            | Self::CheckoutChanged { .. } => None,
        }
    }

    /// True if `id` is among the tasks that the topic is about.
    pub fn concerns(&self, id: &TaskId) -> bool {
        matches!(self, Self::Drift(tasks) if tasks.contains(id)) || self.task() == Some(id)
    }

    /// The commands in doubt, by task.
    pub(super) fn doubted_commands(&self) -> Vec<(&TaskId, &BTreeSet<String>)> {
        match self {
            Self::CheckFailed { task, commands } | Self::CheckDoubted { task, commands } => {
                vec![(task, commands)]
            }
            Self::FailsBefore { commands } => commands.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// True if an answer can cause `event`. Covers only events that require holding their task.
    pub(super) fn offers(&self, event: &Event) -> bool {
        let is_it = self.task().is_some() && self.task() == event.task();
        match event {
            Event::ScopeExtended { granted, .. } => {
                is_it && matches!(self, Self::Scope { path, .. } if *path == granted.path)
            }
            Event::ChecksDropped { task, commands, .. } => {
                self.doubted_commands().contains(&(task, commands))
            }
            Event::Waived { .. } => is_it && matches!(self, Self::PassesBefore(_)),
            Event::Completed { commit: None, .. } => {
                is_it && matches!(self, Self::PassesBefore(_) | Self::CommitBlocked(_))
            }
            Event::SentBack { base: None, .. } => {
                is_it && matches!(self, Self::CommitBlocked(_) | Self::CheckFailed { .. })
            }
            _ => false,
        }
    }

    /// True if a builder asked the question and is waiting for the answer.
    pub fn is_inquiry(&self) -> bool {
        matches!(
            self,
            Self::Clarify(_) | Self::CheckDoubted { .. } | Self::Scope { .. }
        )
    }
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Unique in the run.
    pub id: String,
    pub topic: Topic,
    pub text: String,
    /// A heading of at most 12 characters.
    pub header: String,
    /// The options, recommended one first.
    pub options: Vec<AnswerOption>,
    /// The reason for asking; empty if the text already gives it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// An answer that has consequences; its label is what the user sees and the log stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(const_into_str)]
pub enum AnswerChoice {
    /// Continue with the other tasks.
    Continue,
    /// Repeat what failed.
    Retry,
    /// End the run.
    Stop,
    /// Give the task up and continue.
    #[strum(to_string = "Give up")]
    GiveUp,
    /// Send the task back to its builder, with the reason as feedback.
    #[strum(to_string = "Send back")]
    SendBack,
    /// Accept the task as done, without a commit.
    #[strum(to_string = "Leave uncommitted")]
    Leave,
    /// Make the file part of the task.
    Allow,
    /// Keep the file out of the task.
    Deny,
    /// Leave the tasks as they are.
    Keep,
    /// Change the tasks and approve them again.
    Revise,
    /// Change the task, then continue its work.
    #[strum(to_string = "Change the task")]
    Change,
    /// Stop running these commands as checks of the task.
    #[strum(to_string = "Run without this check")]
    Drop,
    /// Build the task anyway.
    #[strum(to_string = "Build it")]
    Build,
    /// Accept the task as done: nothing is left to do.
    #[strum(to_string = "Take as done")]
    Done,
    /// Add a task to the plan.
    #[strum(to_string = "Add a task")]
    AddTask,
    /// Add tasks that mend what was found.
    Repair,
    /// End the run as finished.
    #[strum(to_string = "Finish anyway")]
    Finish,
}

/// The reason for closing a question without the user; its label is stored in place of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(const_into_str)]
pub(super) enum ClosedUnanswered {
    /// The task was given up.
    #[strum(to_string = "Given up")]
    GivenUp,
    /// The builder continued, or lost its claim.
    Withdrawn,
    /// The verdict came after all.
    Judged,
}

impl AnswerChoice {
    /// Describes the choice in a question about `topic`.
    fn meaning(self, topic: &Topic) -> &'static str {
        use AnswerChoice::*;
        match (self, topic) {
            (Continue, Topic::Budget { .. }) => "spend as much again",
            (Continue, _) => "go on with the tasks that don't depend on it",
            (Retry, Topic::TaskFailed(_)) => "give it all its attempts again",
            (Retry, Topic::VerifierSilent(_)) => "start another verifier",
            (Retry, Topic::BuildersSilent) => "start builders again",
            (Retry, Topic::CommitBlocked(_)) => "make the commit again, after you have mended it",
            (Retry, Topic::CheckoutChanged { .. }) => {
                "look again, after you have committed them or put them back"
            }
            (Retry, _) => "try again, once the lock is gone",
            (Stop, Topic::CommitRewritten(_)) => "end the run; `fp retry --undo` undoes the commit",
            (Stop, _) => "end the run; what is done stays",
            (GiveUp, _) => "give the task up and go on",
            (SendBack, Topic::CommitBlocked(_)) => {
                "the builder mends it, with this reason as feedback"
            }
            (SendBack, _) => "the builder mends it, with this as feedback",
            (Leave, _) => "take the task as done and leave its change uncommitted",
            (Allow, _) => "the file becomes part of the task, and the report says so",
            (Deny, _) => "the builder does without",
            (Keep, Topic::CommitRewritten(_)) => "the hook is right: the commit stays as it is",
            (Keep, Topic::CheckoutChanged { .. }) => "they stay, and are part of no task's commit",
            (Keep, Topic::FailsBefore { .. }) => "build it as it is planned, with this check",
            (Keep, _) => "they stay as they are",
            (Revise, _) => {
                "change them with `fp task revise`; they wait until the plan is approved again"
            }
            (Change, Topic::FailsBefore { .. }) => {
                "correct it with `fp task revise`, then `fp approve`; what has this check waits until then"
            }
            (Change, _) => {
                "correct it with `fp task revise`, then `fp approve`; it goes on with its work"
            }
            (Drop, Topic::FailsBefore { .. }) => {
                "verify without; the evidence and the report say so"
            }
            (Drop, _) => "verify it again without; the evidence and the report say so",
            (Build, _) => "build it all the same; the report says so",
            (Done, _) => "there is nothing to do: take the task as done",
            (AddTask, _) => {
                "a task that fixes it, with `fp task add`; the checks run again after it"
            }
            (Repair, _) => {
                "add up to five tasks that mend it, with the files and commands of those that made it"
            }
            (Finish, _) => "the run is finished as it is; the report says what failed",
        }
    }
}

const GO_ON: &str = "How should it continue?";

impl Topic {
    /// The heading, the choices with the recommended one first, and the choice taken if nobody can be asked, which
    /// continues with whatever can be done and can't loop. A builder's own question comes with its own options.
    pub(super) fn form(&self) -> (&'static str, &'static [AnswerChoice], AnswerChoice) {
        use AnswerChoice::*;
        match self {
            Self::TaskFailed(_) => ("Task failed", &[Continue, Retry, Change, Stop], Continue),
            Self::CheckFailed { .. } | Self::CheckDoubted { .. } => {
                ("Check", &[Change, Drop, SendBack, Stop], SendBack)
            }
            Self::FailsBefore { .. } => ("Check", &[Change, Drop, Keep, Stop], Keep),
            Self::VerifierSilent(_) => ("No verdict", &[Retry, GiveUp, Stop], GiveUp),
            Self::CommitBlocked(_) => ("Commit", &[SendBack, Retry, Leave, Stop], SendBack),
            Self::IndexLocked(_) => ("Commit", &[Retry, Stop], Stop),
            Self::CommitRewritten(_) => ("Commit", &[Keep, Stop], Keep),
            Self::CheckoutChanged { .. } => ("Checkout", &[Keep, Retry, Stop], Keep),
            Self::BuildersSilent => ("No builder", &[Retry, Stop], Stop),
            Self::Scope { .. } => ("More files", &[Allow, Deny], Deny),
            Self::Drift(_) => ("Drift", &[Keep, Revise, Stop], Keep),
            Self::PassesBefore(_) => ("Test first", &[Build, Done, Stop], Build),
            Self::EndChecks => ("Last checks", &[AddTask, Finish, Stop], Finish),
            Self::WholeFailed => ("Last verdict", &[Repair, Finish, Stop], Repair),
            Self::Budget { task: None, .. } => ("Budget", &[Continue, Stop], Stop),
            Self::Budget { .. } => ("Budget", &[Continue, GiveUp, Stop], GiveUp),
            Self::Clarify(_) => ("Task", &[], Continue),
        }
    }

    /// The offered choice with this label.
    pub(super) fn choice_of(&self, label: &str) -> Option<AnswerChoice> {
        let (_, offered, _) = self.form();
        offered
            .iter()
            .copied()
            .find(|choice| choice.into_str() == label)
    }

    fn question_text(&self, reason: &str) -> String {
        match self {
            Self::TaskFailed(task) => {
                let reason = reason.trim_end_matches('.');
                format!("Task {task} failed for good: {reason}. {GO_ON}")
            }
            Self::CheckFailed { task, .. } | Self::CheckDoubted { task, .. } => {
                format!("Task {task} did not pass by its commands. {reason} {GO_ON}")
            }
            Self::FailsBefore { commands } => {
                let tasks = tasks_listed(commands.keys());
                format!("A check of {tasks} fails before any work. {reason} {GO_ON}")
            }
            Self::VerifierSilent(task) => {
                format!("Two verifiers of task {task} ended without a verdict{reason}. {GO_ON}")
            }
            Self::CommitBlocked(task) | Self::IndexLocked(task) => {
                format!("Task {task} passed, but its commit could not be made: {reason}")
            }
            Self::CommitRewritten(task) => format!(
                "The commit of task {task} is not what was verified: a hook changed {reason}. {GO_ON}"
            ),
            Self::CheckoutChanged { .. } => {
                format!("Changed in the checkout while no task had it: {reason}. {GO_ON}")
            }
            Self::Scope { task, path } => {
                format!("The builder of task {task} wants to change {path} as well: {reason}")
            }
            Self::Drift(tasks) => {
                let planned = match tasks.len() {
                    1 => "a task was planned",
                    _ => "tasks were planned",
                };
                format!(
                    "What {planned} on has changed since the approval: {reason}. Do the tasks still fit?"
                )
            }
            Self::PassesBefore(task) => format!(
                "The Verify command of task {task} passes before its work, so that it proves nothing. {GO_ON}"
            ),
            Self::Clarify(task) => format!("Task {task}: {reason}"),
            Self::Budget { limit, spent, task } => {
                let spent = spent.unwrap_or(*limit);
                let task = task.as_ref().map(|task| format!("task {task}"));
                let of = task.as_deref().unwrap_or("the run");
                format!("The budget of {of} is {limit}, and {spent} is spent. {GO_ON}")
            }
            Self::EndChecks => format!("No task is left, but a check fails: {reason}. {GO_ON}"),
            Self::WholeFailed => format!(
                "No task is left, but the result does not hold as a whole: {reason} {GO_ON}"
            ),
            Self::BuildersSilent => {
                format!("Tasks are ready, but builders end without taking one{reason}. {GO_ON}")
            }
        }
    }
}

/// Makes text from a model or a stranger safe for a prompt and puts it on one line.
pub(super) fn safe_line(text: &str) -> String {
    said_within(text, MAX_SAID)
}

/// Like [`safe_line`], but cuts to at most `max` bytes.
pub(crate) fn said_within(text: &str, max: usize) -> String {
    let safe = prompt_lines(text, max);
    let lines = safe.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

impl Question {
    /// Composes the question about `topic`. `serial` makes its id unique; `reason` says what happened.
    pub fn new(topic: Topic, serial: u64, reason: &str) -> Self {
        let (header, offered, _) = topic.form();
        let option = |choice: &AnswerChoice| AnswerOption {
            label: choice.into_str().to_owned(),
            description: choice.meaning(&topic).to_owned(),
        };
        Self {
            id: format!("q{serial}"),
            text: topic.question_text(reason),
            header: match &topic {
                Topic::Clarify(task) => format!("{header} {task}").chars().take(12).collect(),
                _ => header.to_owned(),
            },
            options: offered.iter().map(option).collect(),
            reason: reason.into(),
            topic,
        }
    }

    /// The question as it is shown and compared: each text is made safe and put on one line, since it may come from a
    /// builder or another machine.
    pub fn with_safe_texts(&self) -> Self {
        let options = self
            .options
            .iter()
            .map(|option| option.map_texts(safe_line));
        Self {
            text: said_within(&self.text, MAX_QUESTION),
            header: safe_line(&self.header),
            options: options.collect(),
            ..self.clone()
        }
    }

    /// The answer taken if nobody can be asked.
    pub fn unattended_answer(&self) -> &str {
        match (&self.topic, self.options.first()) {
            (Topic::Clarify(_), Some(first)) => &first.label,
            (topic, _) => topic.form().2.into_str(),
        }
    }
}
