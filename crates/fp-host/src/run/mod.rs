//! What a run does to the world: it measures a change, runs its checks, commits it, and writes what people
//! read. What any of it means is decided in `fp_run::run`.

pub mod commit;
pub mod evidence;
mod integrate;
pub mod place;
pub mod rollback;
pub mod verify;
pub mod worktree;

use std::borrow::Cow;
use std::path::PathBuf;

use fp_plan::hint::{ErrorEnd, Hint};
use fp_plan::plan::id::AgentName;
use fp_run::run::Refusal;
use fp_run::verification::change::Change;

use crate::file::FileError;
use crate::git::GitError;
use crate::store::StoreError;

/// Why a step of a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The run does not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The ledger can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Git can't say or do it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file can't be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The worktree of a builder is gone, or is none any more.
    #[error("the worktree of {owner} is gone: {}", path.display())]
    NoWorktree {
        /// The builder.
        owner: AgentName,
        /// Where it was.
        path: PathBuf,
    },
    /// Something in the checkout is in the way of a task's files.
    #[error("{0}")]
    InTheWay(String),
    /// A task can't be rolled back; everything is as it was.
    #[error(transparent)]
    Rollback(#[from] rollback::RollbackError),
    /// A hash in the log is none.
    #[error("{0}")]
    Oid(#[from] crate::git::InvalidOid),
}

impl Hint for RunError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Store(error) => error.hint(),
            Self::Git(error) => error.hint(),
            Self::File(error) => error.hint(),
            Self::NoWorktree { owner, .. } => {
                let again = format!(
                    "`fp claim PLAN --as {owner}` makes it again, at the commit that the task began on"
                );
                Some(again.into())
            }
            Self::Rollback(error) => Some(error.hint().into()),
            Self::InTheWay(_) => Some("see to it, then answer again".into()),
            Self::Oid(_) => Some(
                "the plan's events.jsonl was changed by hand: put back the commit that it named, `git log` shows it"
                    .into(),
            ),
        }
    }

    fn ends(&self) -> ErrorEnd {
        match self {
            Self::Refused(refusal) => refusal.ends(),
            Self::NoWorktree { .. } | Self::InTheWay(_) | Self::Rollback(_) => ErrorEnd::Refused,
            Self::Store(_) | Self::Git(_) | Self::File(_) | Self::Oid(_) => ErrorEnd::Failed,
        }
    }
}

/// A token that no other claim has: it fences, it does not authenticate.
pub fn fresh_token() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Each `RandomState` is seeded from the system's randomness.
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}

/// Every path of a change, the old end of a rename included.
fn paths(changes: &[Change]) -> Vec<fp_plan::repo_path::RepoPath> {
    changes.iter().flat_map(|c| c.ends().cloned().collect::<Vec<_>>()).collect()
}
