//! The place of work: the repository and the settings.

use fp_host::config::Config;
use fp_host::git::GitError;
use fp_host::git::command::ask;

use super::DoctorFinding;
use crate::context::Context;

/// The repository of the current folder, in which a run can start.
pub(super) fn repository(context: &Context) -> DoctorFinding {
    let check = "repository";
    let repo = context.repo();
    if repo.git_dir.is_none() {
        return DoctorFinding::warning(check, "the current folder is in none, and plans need one")
            .fixed_by("git init");
    }
    let root = repo.root.display();
    match ask(&context.cwd, &["rev-parse", "--verify", "--quiet", "HEAD"]) {
        // A missing commit shows in the status alone; every other fault has words.
        Err(GitError::Failed(failure)) if failure.stderr.is_empty() => DoctorFinding::warning(
            check,
            format!("{root} has no commit yet, and a run starts from one"),
        )
        .fixed_by("git commit --allow-empty --message Start"),
        // Another check reports a missing git.
        Ok(_) | Err(GitError::NotInstalled) => {
            let worktree = repo.worktree.display();
            let linked = if repo.worktree == repo.root {
                String::new()
            } else {
                format!(", a worktree of {root}")
            };
            DoctorFinding::ok(check, format!("{worktree}{linked}"))
        }
        Err(error) => DoctorFinding::of_error(check, error),
    }
}

/// The settings of all layers.
pub(super) fn settings(context: &Context) -> DoctorFinding {
    match Config::load(context.repo(), &|name| context.env(name)) {
        Ok(_) => DoctorFinding::ok("settings", "all can be read"),
        Err(error) => DoctorFinding::of_error("settings", error),
    }
}
