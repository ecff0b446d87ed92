//! Questions to the user: what is asked, and what each answer means.

use serde::{Deserialize, Serialize};

use crate::plan::id::TaskId;

/// One way to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What the user sees and `fp answer --option` takes.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// What a question is about; decides what its answers do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "about", content = "task")]
pub enum Topic {
    /// A task has used up its iterations.
    TaskFailed(TaskId),
    /// Two verifiers ended without a verdict.
    VerifierSilent(TaskId),
    /// A commit could not be made.
    CommitBlocked(TaskId),
    /// Builders keep ending without taking a task.
    BuildersSilent,
    /// What these tasks were planned on has changed.
    Drift(Vec<TaskId>),
    /// The checks of a task pass before its work, in test-driven work.
    PassesBefore(TaskId),
    /// A builder's own question about its task.
    Clarify(TaskId),
    /// A builder wants to change a file that its task doesn't list.
    Scope {
        /// The task.
        task: TaskId,
        /// The file, in normal form.
        path: String,
    },
}

impl Topic {
    /// The task it is about, if it is about one.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::TaskFailed(task) | Self::VerifierSilent(task) | Self::CommitBlocked(task) => Some(task),
            Self::Clarify(task) | Self::Scope { task, .. } | Self::PassesBefore(task) => Some(task),
            Self::BuildersSilent | Self::Drift(_) => None,
        }
    }

    /// Whether a builder has asked it, and waits for the answer.
    #[must_use]
    pub fn is_inquiry(&self) -> bool {
        matches!(self, Self::Clarify(_) | Self::Scope { .. })
    }
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Its id, unique in the run.
    pub id: String,
    /// What it is about.
    pub topic: Topic,
    /// The question itself.
    pub text: String,
    /// A heading of at most 12 characters.
    pub header: String,
    /// The answers, the recommended one first.
    pub options: Vec<Choice>,
    /// Why it is asked; empty where the text says so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The labels that have a meaning.
pub mod label {
    /// Go on with the other tasks.
    pub const CONTINUE: &str = "Continue";
    /// Try the same again.
    pub const RETRY: &str = "Retry";
    /// End the run.
    pub const STOP: &str = "Stop";
    /// Give the task up and go on.
    pub const GIVE_UP: &str = "Give up";
    /// Back to the builder, with the reason as feedback.
    pub const SEND_BACK: &str = "Send back";
    /// Not a choice: the task was given up before the question was answered.
    pub const MOOT: &str = "Given up";
    /// Take the task as done, without a commit.
    pub const LEAVE: &str = "Leave uncommitted";
    /// The file becomes part of the task.
    pub const ALLOW: &str = "Allow";
    /// It does not.
    pub const DENY: &str = "Deny";
    /// The tasks stay as they are.
    pub const KEEP: &str = "Keep";
    /// They are changed and approved again.
    pub const REVISE: &str = "Revise";
    /// Build it all the same.
    pub const BUILD: &str = "Build it";
    /// There is nothing to do.
    pub const DONE: &str = "Take as done";
    /// Not a choice: the builder went on, or lost its claim, before the question was answered.
    pub const WITHDRAWN: &str = "Withdrawn";
}

fn choice(label: &str, description: &str) -> Choice {
    Choice { label: label.into(), description: description.into() }
}

impl Question {
    /// The question about `topic`; `serial` makes its id unique, `reason` says what happened.
    #[must_use]
    pub fn new(topic: Topic, serial: u64, reason: &str) -> Self {
        let stop = choice(label::STOP, "end the run; what is done stays");
        let (header, text, options) = match &topic {
            Topic::TaskFailed(task) => (
                "Task failed",
                format!("Task {task} failed for good: {reason}. How to go on?"),
                vec![
                    choice(label::CONTINUE, "go on with the tasks that don't depend on it"),
                    choice(label::RETRY, "give it all its iterations again"),
                    stop,
                ],
            ),
            Topic::VerifierSilent(task) => (
                "No verdict",
                format!("Two verifiers of task {task} ended without a verdict. How to go on?"),
                vec![
                    choice(label::RETRY, "start another verifier"),
                    choice(label::GIVE_UP, "give the task up and go on"),
                    stop,
                ],
            ),
            Topic::CommitBlocked(task) => (
                "Commit",
                format!("Task {task} passed, but its commit could not be made: {reason}"),
                vec![
                    choice(label::SEND_BACK, "the builder mends it, with this reason as feedback"),
                    choice(label::RETRY, "make the commit again, after you have mended it"),
                    choice(label::LEAVE, "take the task as done and leave its change uncommitted"),
                    stop,
                ],
            ),
            Topic::Scope { task, path } => (
                "More files",
                format!("The builder of task {task} wants to change {path} as well: {reason}"),
                vec![
                    choice(label::ALLOW, "the file becomes part of the task, and the report says so"),
                    choice(label::DENY, "the builder does without"),
                ],
            ),
            Topic::Drift(tasks) => (
                "Drift",
                format!(
                    "What {} planned on has changed since the approval: {reason}. Do the tasks still fit?",
                    if tasks.len() == 1 { "a task was" } else { "tasks were" }
                ),
                vec![
                    choice(label::KEEP, "they stay as they are"),
                    choice(
                        label::REVISE,
                        "change them in tasks.md and approve the plan again; they wait for that",
                    ),
                    stop,
                ],
            ),
            Topic::PassesBefore(task) => (
                "Test first",
                format!(
                    "The Verify command of task {task} passes before its work, so that it proves nothing. How to go on?"
                ),
                vec![
                    choice(label::BUILD, "build it all the same; the report says so"),
                    choice(label::DONE, "there is nothing to do: take the task as done"),
                    stop,
                ],
            ),
            Topic::Clarify(task) => ("Task", format!("Task {task}: {reason}"), Vec::new()),
            Topic::BuildersSilent => (
                "No builder",
                "Tasks are ready, but builders end without taking one. How to go on?".to_owned(),
                vec![choice(label::RETRY, "start builders again"), stop],
            ),
        };
        let id = format!("q{serial}");
        Self { id, topic, text, header: header.into(), options, reason: reason.into() }
    }

    /// The builder's own question `text` about `task`, with the answers that it offers.
    #[must_use]
    pub fn clarification(task: &TaskId, serial: u64, text: &str, options: Vec<Choice>) -> Self {
        let asked = Self::new(Topic::Clarify(task.clone()), serial, text);
        let header: String = format!("Task {task}").chars().take(12).collect();
        Self { header, options, ..asked }
    }

    /// The answer taken when nobody can be asked: one that goes on with what can be done, and ends.
    #[must_use]
    pub fn unattended_answer(&self) -> &str {
        match self.topic {
            Topic::Clarify(_) => self.options.first().map_or(label::CONTINUE, |first| &first.label),
            Topic::Scope { .. } => label::DENY,
            Topic::Drift(_) => label::KEEP,
            Topic::PassesBefore(_) => label::BUILD,
            Topic::TaskFailed(_) => label::CONTINUE,
            Topic::VerifierSilent(_) => label::GIVE_UP,
            Topic::CommitBlocked(_) => label::SEND_BACK,
            Topic::BuildersSilent => label::STOP,
        }
    }
}
