//! Collects the refusals of commands with their hints, so that every command words them the same way.

use std::borrow::Cow;

use super::state::TaskState;
use fp_plan::hint::{Exit, Hint};
use fp_plan::plan::id::TaskId;

/// The reason for refusing a command. Its message and hint together name the request, the state, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The approved plan has no such leaf.
    #[error("the approved plan has no leaf {0}")]
    UnknownTask(TaskId),
    #[error("the plan is not approved yet")]
    NotApproved,
    #[error("the run is not started yet")]
    NotStarted,
    #[error("the run is over")]
    Over,
    /// Nothing can be claimed now.
    #[error("nothing is ready: {0}")]
    NothingReady(String),
    /// The leaf was edited after the approval.
    #[error("task {0} was edited after the plan was approved")]
    Edited(TaskId),
    /// A refusal without a variant of its own, described only by its message.
    #[error("{said}")]
    Request {
        said: String,
        /// Advice on what to do instead.
        hint: String,
    },
}

impl Hint for Refusal {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Request { hint, .. } => hint,
            Self::NotApproved => "validate the plan and run `fp approve PLAN`",
            Self::NotStarted => "run `fp start PLAN`",
            Self::Over => "`fp status PLAN` shows how it ended; `fp start PLAN` starts it again",
            Self::UnknownTask(_) => "`fp status PLAN` lists the leaves",
            Self::NothingReady(_) => "end your turn: you are told when there is something",
            Self::Edited(_) => "look at the change and run `fp approve PLAN` again",
        };
        Some(hint.into())
    }

    fn exit_status(&self) -> Exit {
        match self {
            Self::NothingReady(_) => Exit::NothingReady,
            _ => Exit::Findings,
        }
    }
}

/// Returns the refusal of a request that makes no sense in the state of `task`; `allowed` says which ones would.
pub fn refuse(task: &TaskState, allowed: &str) -> Refusal {
    let (id, status) = (&task.leaf.id, task.status.into_str());
    decline(
        format!("task {id} is {status}: {allowed}"),
        format!("`fp why PLAN {id}` says how it came to that, and what is next"),
    )
}

/// Returns a refusal with the caller's own message.
pub fn decline(said: String, hint: impl Into<String>) -> Refusal {
    Refusal::Request {
        said,
        hint: hint.into(),
    }
}
