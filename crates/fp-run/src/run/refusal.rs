//! Collects the refusals of commands with their hints, which keeps their words the same in every command.

use std::borrow::Cow;

use super::planning::ROUNDS;
use super::state::{Status, TaskState};
use fp_plan::hint::{Exit, Hint};
use fp_plan::plan::id::TaskId;

/// The reason for refusing a command; with the hint it names what was asked, the state, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The approved plan has no such leaf.
    #[error("the approved plan has no leaf {0}")]
    UnknownTask(TaskId),
    #[error("the plan is not approved yet")]
    NotApproved,
    /// The tree has used up its rounds of critique.
    #[error("the {ROUNDS} rounds of critique are over: what is still found goes to the review")]
    RoundsOver,
    #[error("the run is not started yet")]
    NotStarted,
    #[error("the run is over")]
    Over,
    /// The command makes no sense in the task's state.
    #[error("task {task} is {}: {allowed}", status.into_str())]
    Status {
        task: TaskId,
        status: Status,
        /// The actions allowed in that state.
        allowed: String,
    },
    /// Nothing can be claimed now.
    #[error("nothing is ready: {0}")]
    NothingReady(String),
    /// The task can't be claimed now.
    #[error("task {0} is not ready: {1}")]
    NotReady(TaskId, String),
    /// A dependent of the task is completed or running.
    #[error("task {task} can't be rolled back: {} on it", built(.on_it))]
    BuiltOn {
        task: TaskId,
        /// Those dependents in document order, each with its state.
        on_it: Vec<(TaskId, Status)>,
    },
    /// A running task may change a file of the task's commit.
    #[error("task {task} can't be rolled back: running task {running} may change {file}, too")]
    Shared {
        task: TaskId,
        /// The running one.
        running: TaskId,
        /// As listed by the running task.
        file: String,
    },
    #[error("there is no open question {0:?}")]
    UnknownQuestion(String),
    #[error("question {question} has no option {given:?}: it has {options}")]
    UnknownOption {
        question: String,
        /// The unknown option.
        given: String,
        /// The known options.
        options: String,
    },
    /// The leaf was edited after the approval.
    #[error("task {0} was edited after the plan was approved")]
    Edited(TaskId),
    /// A request that is told by its words alone.
    #[error("{said}")]
    Request {
        said: String,
        /// What to do instead.
        hint: String,
    },
    /// A new approval may not change or remove a completed or running task.
    #[error("task {0} is {1} and can't be changed or removed any more")]
    Frozen(TaskId, &'static str),
}

impl Hint for Refusal {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Request { hint, .. } => hint,
            Self::NotApproved => "validate the plan and run `fp approve PLAN`",
            Self::RoundsOver => {
                "`fp critique show PLAN` prints the last one: show the user what it still finds"
            }
            Self::NotStarted => "run `fp start PLAN`",
            Self::Over => "`fp status PLAN` shows how it ended; `fp start PLAN` starts it again",
            Self::UnknownTask(_) => "`fp status PLAN` lists the leaves",
            Self::NothingReady(_) => "end your turn: you are told when there is something",
            Self::NotReady(..) => "`fp status PLAN --ready` says what each task waits for",
            Self::UnknownQuestion(_) => "`fp status PLAN` lists the open questions",
            Self::Edited(_) => "look at the change and run `fp approve PLAN` again",
            Self::Frozen(..) => {
                "undo the edit of that task in tasks.md and add a new task instead; one that is being built can be \
                 released first, a failed one retried"
            }
            Self::Status { task, .. } => {
                return Some(
                    format!("`fp why PLAN {task}` says how it came to that, and what is next")
                        .into(),
                );
            }
            Self::BuiltOn { on_it, .. } => match on_it.last()? {
                (id, Status::Completed) => {
                    return Some(
                        format!("roll back what builds on it first: `fp retry PLAN {id} --undo`")
                            .into(),
                    );
                }
                (id, Status::Implementing) => {
                    return Some(
                        format!("wait until it is over, or take it back: `fp retry PLAN {id}`")
                            .into(),
                    );
                }
                (id, _) => return Some(format!("wait until task {id} has been judged").into()),
            },
            Self::Shared { .. } => "wait until it is over, or take it back with `fp retry`",
            Self::UnknownOption { .. } => return None,
        };
        Some(hint.into())
    }

    fn ends(&self) -> Exit {
        if matches!(self, Self::NothingReady(_)) {
            Exit::NothingReady
        } else {
            Exit::Findings
        }
    }
}

pub(super) fn refuse(task: &TaskState, allowed: &str) -> Refusal {
    Refusal::Status {
        task: task.leaf.id.clone(),
        status: task.status,
        allowed: allowed.into(),
    }
}

/// Refuses in words of the caller's own.
pub fn decline(said: String, hint: impl Into<String>) -> Refusal {
    Refusal::Request {
        said,
        hint: hint.into(),
    }
}

fn built(on_it: &[(TaskId, Status)]) -> String {
    let told: Vec<String> = on_it
        .iter()
        .map(|(id, status)| format!("{id} ({})", status.into_str()))
        .collect();
    let (noun, verb) = if on_it.len() == 1 {
        ("task", "builds")
    } else {
        ("tasks", "build")
    };
    format!("{noun} {} {verb}", told.join(", "))
}
