//! Where an issue is: the few stages that a board shows, and which of them a task or its parent is in.

use serde::{Deserialize, Serialize};

use crate::run::state::Status;

/// Where an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Not begun.
    Pending,
    /// Being built or verified.
    InProgress,
    /// Built and verified: it waits for people.
    Review,
    /// All of it is done.
    Completed,
    /// Given up.
    Failed,
}

impl Stage {
    /// All of them, in the order of a board.
    pub const ALL: [Self; 5] = [Self::Pending, Self::InProgress, Self::Review, Self::Completed, Self::Failed];

    /// The word it is written as.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in-progress",
            Self::Review => "review",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// The stage of that word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.word() == word)
    }

    /// The stage of a leaf; `None` for one that is skipped, which leaves its issue where it is.
    #[must_use]
    pub fn of_leaf(status: Status) -> Option<Self> {
        match status {
            Status::Pending => Some(Self::Pending),
            // What nobody has verified yet waits for no people.
            Status::Implementing | Status::AwaitingVerification => Some(Self::InProgress),
            Status::Completed => Some(Self::Review),
            Status::Failed => Some(Self::Failed),
            Status::Skipped => None,
        }
    }

    /// The stage of a parent whose leaves are in these states. It is done when all of them are, and given up when
    /// nothing of it is done and nothing can be any more; else it is under way as soon as one leaf is.
    #[must_use]
    pub fn of_parent(leaves: &[Status]) -> Self {
        let any = |status: Status| leaves.contains(&status);
        let begun = leaves.iter().any(|status| !matches!(status, Status::Pending | Status::Skipped));
        if !leaves.is_empty() && leaves.iter().all(|status| *status == Status::Completed) {
            Self::Completed
        } else if leaves.iter().all(|status| matches!(status, Status::Failed | Status::Skipped))
            && any(Status::Failed)
        {
            Self::Failed
        } else if begun {
            Self::InProgress
        } else {
            Self::Pending
        }
    }
}
