//! `fp_run::run` decides the steps of a run; this carries out those that touch the world: measuring a change,
//! running checks, committing, and writing the files that people read.

pub mod commit;
pub mod end_checks;
pub mod evidence;
mod integrate;
pub mod place;
pub mod rollback;
pub mod trial;
pub mod verify;
pub mod worktree;

use std::borrow::Cow;
use std::path::PathBuf;

use fp_plan::hint::{Exit, Hint};
use fp_plan::plan::id::AgentName;
use fp_run::run::Refusal;
use fp_run::verification::change::Change;

use crate::file::FileError;
use crate::git::GitError;
use crate::store::StoreError;
use crate::trust::TrustError;

/// Why a step of a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The worktree of a builder is missing or broken.
    #[error("the worktree of {owner} is gone: {}", path.display())]
    NoWorktree {
        /// The builder.
        owner: AgentName,
        path: PathBuf,
    },
    /// Something in the checkout blocks a task's files.
    #[error("{0}")]
    InTheWay(String),
    /// A hash in the log is not valid.
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
            Self::Trust(error) => error.hint(),
            Self::NoWorktree { owner, .. } => {
                let again = format!(
                    "`fp claim PLAN --as {owner}` makes it again, at the commit that the task began on"
                );
                Some(again.into())
            }
            Self::InTheWay(_) => Some("fix it, then answer again".into()),
            Self::Oid(_) => Some(
                "the plan's events.jsonl was changed by hand: put back the commit that it named, `git log` shows it"
                    .into(),
            ),
        }
    }

    fn ends(&self) -> Exit {
        match self {
            Self::Refused(refusal) => refusal.ends(),
            Self::NoWorktree { .. } | Self::InTheWay(_) => Exit::Findings,
            Self::Store(error) => error.ends(),
            Self::Trust(error) => error.ends(),
            Self::Git(_) | Self::File(_) | Self::Oid(_) => Exit::Failed,
        }
    }
}

/// A token unique to one claim: it fences, it does not authenticate.
pub fn fresh_token() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    // Each `RandomState` is seeded from the system's randomness.
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:016x}", hasher.finish())
}

/// Every path of a change, with the old end of a rename.
fn paths(changes: &[Change]) -> Vec<fp_plan::repo_path::RepoPath> {
    changes
        .iter()
        .flat_map(|c| c.ends().cloned().collect::<Vec<_>>())
        .collect()
}
