//! Where HEAD has gone since the run last looked at it.

use fp_core::run::State;
use fp_core::run::drift::{Moved, SeenCommit};
use fp_core::run::state::Status;

use crate::git::{Commit, GitError};
use crate::plan::OpenPlan;

/// What came to HEAD since `state` looked at it; `None` where nothing did, nobody would care, or there is no HEAD. No
/// process where git's files show that it has not moved, else two.
///
/// # Errors
/// A failing git.
pub fn moved(plan: &OpenPlan, state: &State) -> Result<Option<Moved>, GitError> {
    let waits = |status| state.count(status) > 0;
    let Some(seen) = &state.head else { return Ok(None) };
    if !state.is_running() || !(waits(Status::Pending) || waits(Status::Skipped)) {
        return Ok(None);
    }
    let git = plan.git()?;
    if git.head_in_files().as_ref() == Some(seen) {
        return Ok(None);
    }
    let head = match git.head() {
        Ok(head) => head.commit.to_string(),
        Err(GitError::NoCommit) => return Ok(None),
        Err(error) => return Err(error),
    };
    if head == *seen {
        return Ok(None);
    }
    let since = seen.parse().map(|seen| git.commits_since(&seen));
    let commits = match since {
        Ok(Err(GitError::MissingObject { .. })) | Err(_) => Vec::new(),
        Ok(commits) => commits?,
    };
    Ok(Some(Moved { head, commits: commits.iter().map(told).collect() }))
}

fn told(commit: &Commit) -> SeenCommit {
    SeenCommit {
        hash: commit.hash.to_string(),
        told: format!("{} {:?}", commit.hash.short(), commit.subject),
        files: commit.files.iter().map(ToString::to_string).collect(),
    }
}
