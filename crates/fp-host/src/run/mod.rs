//! `fp_run::run` decides the steps of a run; this module performs those with side effects: measuring a change, running
//! checks, committing, and writing the files that people read.

pub mod branch;
pub mod commit;
pub mod end_checks;
pub mod evidence;
mod frozen;
mod integrate;
pub mod place;
pub mod rollback;
pub mod shown_change;
pub mod trial;
pub mod verify;
pub mod whole;
pub mod worktree;

use fp_run::verification::change::Change;

/// A token unique to one claim. It is a fencing token, not a credential.
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
