//! Defines the questions to the user and the consequences of each answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::ready::listed;
use fp_plan::plan::id::TaskId;
use fp_plan::repo_path::RepoPath;
use fp_plan::settings::SpendingLimit;
use fp_plan::text::prompt_lines;

/// Longest text of a builder or of another machine, in bytes.
const MAX_SAID: usize = 8000;
/// Longest question, in bytes: the commands in it are whole.
const MAX_QUESTION: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerOption {
    /// The text that the user sees and `fp answer --option` takes.
    pub label: String,
    pub description: String,
}

impl AnswerOption {
    pub(super) fn each(&self, made: fn(&str) -> String) -> Self {
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
    /// A command is all that a task failed by, or it failed before in the same tree: the plan may be at fault.
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
    /// Files of the checkout changed while no task had them.
    CheckoutChanged {
        /// The working tree with these changes.
        tree: String,
        paths: Vec<RepoPath>,
    },
    /// Builders keep ending without taking a task.
    BuildersSilent,
    /// The agents of the run, or of a task, have cost as much as they may.
    Budget {
        limit: SpendingLimit,
        /// The cost when it was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<SpendingLimit>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    /// A check failed once no task was left.
    EndChecks,
    /// Something these tasks were planned on has changed.
    Drift(Vec<TaskId>),
    /// Test-driven work: a task's checks pass before the work.
    PassesBefore(TaskId),
    /// A builder's own question about its task.
    Clarify(TaskId),
    /// A builder doubted commands of its own task, in runs of version 0.2.
    CheckDoubted {
        task: TaskId,
        commands: BTreeSet<String>,
    },
    /// A builder wants to change a file outside its task.
    Scope {
        task: TaskId,
        /// In normal form.
        path: String,
    },
}

impl Topic {
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::TaskFailed(task) | Self::VerifierSilent(task) | Self::CommitBlocked(task) => {
                Some(task)
            }
            Self::Clarify(task) | Self::Scope { task, .. } | Self::PassesBefore(task) => Some(task),
            Self::CheckFailed { task, .. } | Self::CheckDoubted { task, .. } => Some(task),
            Self::Budget { task, .. } => task.as_ref(),
            Self::FailsBefore { commands } => {
                commands.keys().next().filter(|_| commands.len() == 1)
            }
            Self::IndexLocked(task) | Self::CommitRewritten(task) => Some(task),
            Self::BuildersSilent
            | Self::EndChecks
            | Self::Drift(_)
            | Self::CheckoutChanged { .. } => None,
        }
    }

    /// True if `id` is among what it is about.
    pub fn concerns(&self, id: &TaskId) -> bool {
        matches!(self, Self::Drift(tasks) if tasks.contains(id)) || self.task() == Some(id)
    }

    /// True if the commit of `id` waits for the answer.
    pub fn blocks_commit_of(&self, id: &TaskId) -> bool {
        matches!(self, Self::CommitBlocked(task) | Self::IndexLocked(task) if task == id)
    }

    /// True if an answer to a question about it can have `event` for its consequence, among those about a task that is
    /// somebody's.
    pub(super) fn offers(&self, event: &Event) -> bool {
        match (self, event) {
            (Self::Scope { task, path }, Event::ScopeExtended { task: of, granted }) => {
                (task, path) == (of, &granted.path)
            }
            (
                Self::PassesBefore(task) | Self::CommitBlocked(task),
                Event::Completed {
                    task: of,
                    commit: None,
                    ..
                },
            )
            | (
                Self::CommitBlocked(task) | Self::CheckFailed { task, .. },
                Event::SentBack {
                    task: of,
                    base: None,
                    ..
                },
            ) => task == of,
            (
                Self::CheckFailed { task, commands } | Self::CheckDoubted { task, commands },
                Event::ChecksDropped {
                    task: of,
                    commands: dropped,
                    ..
                },
            ) => (task, commands) == (of, dropped),
            (Self::PassesBefore(task), Event::Waived { task: of, .. }) => task == of,
            (
                Self::FailsBefore { commands },
                Event::ChecksDropped {
                    task,
                    commands: dropped,
                    ..
                },
            ) => commands.get(task) == Some(dropped),
            _ => false,
        }
    }

    /// True if a builder asked it and waits for the answer.
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
    /// The reason for asking; empty if the text says so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// An answer that has consequences; its word is what the user sees and the log stores.
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
    /// Change the task, which then goes on with its work.
    #[strum(to_string = "Change the task")]
    Change,
    /// Don't run these commands as checks of the task any more.
    #[strum(to_string = "Run without this check")]
    Drop,
    /// Build it anyway.
    #[strum(to_string = "Build it")]
    Build,
    /// Accept the task as done: nothing is left to do.
    #[strum(to_string = "Take as done")]
    Done,
    /// Add a task to the plan.
    #[strum(to_string = "Add a task")]
    AddTask,
    /// End the run as finished.
    #[strum(to_string = "Finish anyway")]
    Finish,
}

/// The reason for closing a question without the user; its word stands in the place of an answer.
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

const CHANGE: (AnswerChoice, &str) = (
    AnswerChoice::Change,
    "correct it with `fp task revise`, then `fp approve`; it goes on with its work",
);
const STOP: (AnswerChoice, &str) = (AnswerChoice::Stop, "end the run; what is done stays");

impl Topic {
    /// The choices for this topic with their meanings, recommended one first. Empty for a builder's own question, which
    /// brings its options.
    pub fn choices(&self) -> &'static [(AnswerChoice, &'static str)] {
        match self {
            Self::TaskFailed(_) => &[
                (
                    AnswerChoice::Continue,
                    "go on with the tasks that don't depend on it",
                ),
                (AnswerChoice::Retry, "give it all its attempts again"),
                CHANGE,
                STOP,
            ],
            Self::CheckFailed { .. } | Self::CheckDoubted { .. } => &[
                CHANGE,
                (
                    AnswerChoice::Drop,
                    "verify it again without; the evidence and the report say so",
                ),
                (
                    AnswerChoice::SendBack,
                    "the builder mends it, with this as feedback",
                ),
                STOP,
            ],
            Self::FailsBefore { .. } => &[
                (
                    AnswerChoice::Change,
                    "correct it with `fp task revise`, then `fp approve`; what has this check waits until then",
                ),
                (
                    AnswerChoice::Drop,
                    "verify without; the evidence and the report say so",
                ),
                (
                    AnswerChoice::Keep,
                    "build it as it is planned, with this check",
                ),
                STOP,
            ],
            Self::VerifierSilent(_) => &[
                (AnswerChoice::Retry, "start another verifier"),
                (AnswerChoice::GiveUp, "give the task up and go on"),
                STOP,
            ],
            Self::CommitBlocked(_) => &[
                (
                    AnswerChoice::SendBack,
                    "the builder mends it, with this reason as feedback",
                ),
                (
                    AnswerChoice::Retry,
                    "make the commit again, after you have mended it",
                ),
                (
                    AnswerChoice::Leave,
                    "take the task as done and leave its change uncommitted",
                ),
                STOP,
            ],
            Self::IndexLocked(_) => &[
                (AnswerChoice::Retry, "try again, once the lock is gone"),
                STOP,
            ],
            Self::CommitRewritten(_) => &[
                (
                    AnswerChoice::Keep,
                    "the hook is right: the commit stays as it is",
                ),
                (
                    AnswerChoice::Stop,
                    "end the run; `fp retry --undo` undoes the commit",
                ),
            ],
            Self::CheckoutChanged { .. } => &[
                (
                    AnswerChoice::Keep,
                    "they stay, and are part of no task's commit",
                ),
                (
                    AnswerChoice::Retry,
                    "look again, after you have committed them or put them back",
                ),
                STOP,
            ],
            Self::Scope { .. } => &[
                (
                    AnswerChoice::Allow,
                    "the file becomes part of the task, and the report says so",
                ),
                (AnswerChoice::Deny, "the builder does without"),
            ],
            Self::Drift(_) => &[
                (AnswerChoice::Keep, "they stay as they are"),
                (
                    AnswerChoice::Revise,
                    "change them with `fp task revise`; they wait until the plan is approved again",
                ),
                STOP,
            ],
            Self::PassesBefore(_) => &[
                (
                    AnswerChoice::Build,
                    "build it all the same; the report says so",
                ),
                (
                    AnswerChoice::Done,
                    "there is nothing to do: take the task as done",
                ),
                STOP,
            ],
            Self::EndChecks => &[
                (
                    AnswerChoice::AddTask,
                    "a task that fixes it, with `fp task add`; the checks run again after it",
                ),
                (
                    AnswerChoice::Finish,
                    "the run is finished as it is; the report says what failed",
                ),
                STOP,
            ],
            Self::Budget { task: None, .. } => {
                &[(AnswerChoice::Continue, "spend as much again"), STOP]
            }
            Self::Budget { task: Some(_), .. } => &[
                (AnswerChoice::Continue, "spend as much again"),
                (AnswerChoice::GiveUp, "give the task up and go on"),
                STOP,
            ],
            Self::BuildersSilent => &[(AnswerChoice::Retry, "start builders again"), STOP],
            Self::Clarify(_) => &[],
        }
    }

    /// Finds the choice with this label among those offered.
    pub(super) fn choice(&self, label: &str) -> Option<AnswerChoice> {
        self.choices()
            .iter()
            .map(|(choice, _)| *choice)
            .find(|choice| choice.into_str() == label)
    }
}

/// What somebody said, on one line and safe for a prompt.
pub(super) fn said(text: &str) -> String {
    said_within(text, MAX_SAID)
}

/// The same in at most `max` bytes.
pub(super) fn said_within(text: &str, max: usize) -> String {
    let safe = prompt_lines(text, max);
    let lines = safe.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

impl Question {
    /// Words the question about `topic`. `serial` makes its id unique; `reason` tells what happened.
    pub fn new(topic: Topic, serial: u64, reason: &str) -> Self {
        let (header, text) = match &topic {
            Topic::TaskFailed(task) => {
                let reason = reason.trim_end_matches('.');
                (
                    "Task failed",
                    format!("Task {task} failed for good: {reason}. How should it continue?"),
                )
            }
            Topic::CheckFailed { task, .. } | Topic::CheckDoubted { task, .. } => (
                "Check",
                format!(
                    "Task {task} did not pass by its commands. {reason} How should it continue?"
                ),
            ),
            Topic::FailsBefore { commands } => {
                let tasks: Vec<TaskId> = commands.keys().cloned().collect();
                let of = if tasks.len() == 1 { "task" } else { "tasks" };
                let text = format!(
                    "A check of {of} {} fails before any work. {reason} How should it continue?",
                    listed(&tasks)
                );
                ("Check", text)
            }
            Topic::VerifierSilent(task) => (
                "No verdict",
                format!(
                    "Two verifiers of task {task} ended without a verdict{reason}. How should it continue?"
                ),
            ),
            Topic::CommitBlocked(task) | Topic::IndexLocked(task) => (
                "Commit",
                format!("Task {task} passed, but its commit could not be made: {reason}"),
            ),
            Topic::CommitRewritten(task) => (
                "Commit",
                format!(
                    "The commit of task {task} is not what was verified: a hook changed {reason}. How should it continue?"
                ),
            ),
            Topic::CheckoutChanged { .. } => (
                "Checkout",
                format!(
                    "Changed in the checkout while no task had it: {reason}. How should it continue?"
                ),
            ),
            Topic::Scope { task, path } => (
                "More files",
                format!("The builder of task {task} wants to change {path} as well: {reason}"),
            ),
            Topic::Drift(tasks) => (
                "Drift",
                format!(
                    "What {} planned on has changed since the approval: {reason}. Do the tasks still fit?",
                    if tasks.len() == 1 {
                        "a task was"
                    } else {
                        "tasks were"
                    }
                ),
            ),
            Topic::PassesBefore(task) => (
                "Test first",
                format!(
                    "The Verify command of task {task} passes before its work, so that it proves nothing. How should it continue?"
                ),
            ),
            Topic::Clarify(task) => ("Task", format!("Task {task}: {reason}")),
            Topic::Budget { limit, spent, task } => {
                let spent = spent.unwrap_or(*limit);
                let of = task
                    .as_ref()
                    .map_or("the run".to_owned(), |task| format!("task {task}"));
                (
                    "Budget",
                    format!(
                        "The budget of {of} is {limit}, and {spent} is spent. How should it continue?"
                    ),
                )
            }
            Topic::EndChecks => (
                "Last checks",
                format!("No task is left, but a check fails: {reason}. How should it continue?"),
            ),
            Topic::BuildersSilent => (
                "No builder",
                format!(
                    "Tasks are ready, but builders end without taking one{reason}. How should it continue?"
                ),
            ),
        };
        let option = |(choice, description): &(AnswerChoice, &str)| AnswerOption {
            label: choice.into_str().to_owned(),
            description: (*description).to_owned(),
        };
        let options = topic.choices().iter().map(option).collect();
        let id = format!("q{serial}");
        Self {
            id,
            topic,
            text,
            header: header.into(),
            options,
            reason: reason.into(),
        }
    }

    /// Words the builder's own question `text` about `task`.
    pub fn clarification(
        task: &TaskId,
        serial: u64,
        text: &str,
        options: Vec<AnswerOption>,
    ) -> Self {
        let asked = Self::new(Topic::Clarify(task.clone()), serial, text);
        let header: String = format!("Task {task}").chars().take(12).collect();
        Self {
            header,
            options,
            ..asked
        }
    }

    /// The question as it is asked and compared: each text of it, which may come from a builder or another machine, on
    /// one line.
    pub fn shown(&self) -> Self {
        let options = self
            .options
            .iter()
            .map(|option| option.each(said))
            .collect();
        Self {
            text: said_within(&self.text, MAX_QUESTION),
            header: said(&self.header),
            options,
            ..self.clone()
        }
    }

    /// The answer taken if nobody can be asked: it continues with what can be done, and can't loop.
    pub fn unattended_answer(&self) -> &str {
        let choice = match self.topic {
            Topic::Clarify(_) => {
                return self
                    .options
                    .first()
                    .map_or(AnswerChoice::Continue.into_str(), |first| &first.label);
            }
            Topic::Scope { .. } => AnswerChoice::Deny,
            Topic::Drift(_) => AnswerChoice::Keep,
            Topic::PassesBefore(_) => AnswerChoice::Build,
            Topic::TaskFailed(_) => AnswerChoice::Continue,
            Topic::VerifierSilent(_) | Topic::Budget { task: Some(_), .. } => AnswerChoice::GiveUp,
            Topic::CommitBlocked(_) | Topic::CheckFailed { .. } | Topic::CheckDoubted { .. } => {
                AnswerChoice::SendBack
            }
            Topic::EndChecks => AnswerChoice::Finish,
            Topic::BuildersSilent | Topic::IndexLocked(_) | Topic::Budget { task: None, .. } => {
                AnswerChoice::Stop
            }
            Topic::CommitRewritten(_)
            | Topic::CheckoutChanged { .. }
            | Topic::FailsBefore { .. } => AnswerChoice::Keep,
        };
        choice.into_str()
    }
}
