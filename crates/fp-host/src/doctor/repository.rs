//! The repository around a plan: whether it still has what the log says, and whether a commit can be made.

use std::collections::BTreeSet;

use fp_core::doctor::{self, Finding};
use fp_core::run::State;

use crate::git::{Git, GitError, Oid};
use crate::plan::OpenPlan;

/// What git says of the commits of `state`, and of the next one.
pub(super) fn repository(plan: &OpenPlan, state: &State) -> Vec<Finding> {
    let mut found = vec![doctor::intents(state)];
    match plan.git() {
        Ok(git) => {
            found.push(match gone(&git, state) {
                Ok(gone) => doctor::commits(state, &gone),
                Err(error) => failed(&error),
            });
            found.push(free(&git));
        }
        Err(error) => found.push(failed(&error)),
    }
    found
}

/// The commits of tasks that are not in the history of HEAD; what is no commit id is not either.
fn gone(git: &Git, state: &State) -> Result<BTreeSet<String>, GitError> {
    let commits = || state.tasks.iter().filter_map(|task| task.commit.as_ref());
    let valid: BTreeSet<Oid> = commits().filter_map(|commit| commit.parse().ok()).collect();
    let mut gone: BTreeSet<String> = git.not_in_history(&valid)?.into_iter().map(String::from).collect();
    gone.extend(commits().filter(|commit| commit.parse::<Oid>().is_err()).cloned());
    Ok(gone)
}

fn failed(error: &GitError) -> Finding {
    Finding::error("git", super::advised(error))
}

/// Whether nothing is in the way of the next commit.
pub(super) fn free(git: &Git) -> Finding {
    let lock = git.git_dir().join("index.lock");
    if lock.exists() {
        let detail = format!(
            "{} is there: git makes no commit; where no git is running, one that was killed has left it: remove it",
            lock.display()
        );
        let path = lock.to_str().filter(|path| path.chars().all(is_plain));
        let finding = Finding::error("git", detail);
        return match path {
            Some(path) => finding.mended_by(format!("rm {path}")),
            None => finding,
        };
    }
    match git.state() {
        Some(operation) => {
            Finding::warning("git", format!("a {operation} is in progress; {}", operation.way_out()))
        }
        None => Finding::ok("git", "nothing is in the way of a commit"),
    }
}

/// Whether a shell takes the character for nothing but itself.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-')
}
