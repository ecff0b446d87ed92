//! What names a thing to be sent: the same thing has the same key whenever it is asked for, and another thing about
//! the same issue has another one. A key has no character that a shell gives a meaning.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::stage::Stage;
use crate::plan::id::TaskId;

/// Name of one thing to be sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Key {
    /// `create/TASK`: the issue of a task.
    Create(TaskId),
    /// `status/TASK/STAGE/NUMBER`: where its issue is moved to.
    Status {
        /// The task.
        task: TaskId,
        /// Where to.
        stage: Stage,
        /// Which move of this issue it is, from 1, so that a move back to a stage is another one.
        number: usize,
    },
    /// `comment/TASK/DIGEST`: what is said about it.
    Comment {
        /// The task.
        task: TaskId,
        /// Hexadecimal digits that follow from what is said and from the moment that it is about.
        digest: String,
    },
}

/// A text that is no key, cut to 80 characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no key: keys are `create/TASK`, `status/TASK/STAGE/NUMBER` and `comment/TASK/DIGEST`")]
pub struct InvalidKey(String);

impl Key {
    /// The task that it is about.
    #[must_use]
    pub fn task(&self) -> &TaskId {
        match self {
            Self::Create(task) | Self::Status { task, .. } | Self::Comment { task, .. } => task,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(task) => write!(f, "create/{task}"),
            Self::Status { task, stage, number } => write!(f, "status/{task}/{}/{number}", stage.word()),
            Self::Comment { task, digest } => write!(f, "comment/{task}/{digest}"),
        }
    }
}

impl std::str::FromStr for Key {
    type Err = InvalidKey;
    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let parts: Vec<&str> = text.split('/').collect();
        let task = |text: &str| TaskId::new(text).ok();
        let key = match parts[..] {
            ["create", id] => task(id).map(Self::Create),
            ["status", id, stage, number] => {
                let number = number.parse().ok().filter(|n| *n > 0);
                task(id).zip(Stage::named(stage)).zip(number).map(|((task, stage), number)| Self::Status {
                    task,
                    stage,
                    number,
                })
            }
            ["comment", id, digest] => task(id)
                .filter(|_| (1..=64).contains(&digest.len()) && digest.bytes().all(|b| b.is_ascii_hexdigit()))
                .map(|task| Self::Comment { task, digest: digest.to_owned() }),
            _ => None,
        };
        key.ok_or_else(|| InvalidKey(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for Key {
    type Error = InvalidKey;
    fn try_from(text: String) -> Result<Self, InvalidKey> {
        text.parse()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.to_string()
    }
}
