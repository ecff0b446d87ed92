//! Builders with their own worktrees: the work there, how it gets onto the branch, and the removal of everything left
//! over.

mod checkout;
mod conflict;
mod handed_on;
mod killed;
mod leftovers;
mod side_by_side;

use std::path::PathBuf;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};

/// A repository with `a.txt` and `b.txt`, and [`PLAN`]: tasks 1 and 2 change one of them each, task 3 changes `a.txt`
/// after both.
fn sample() -> Environment {
    let environment = Environment::new().repo();
    environment.write("a.txt", "first\nsecond\nthird\n");
    environment.write("b.txt", "first\nsecond\nthird\n");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Add two texts"]);
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "1, 2", "a.txt"),
    ]));
    environment
}

/// [`sample`], approved and started with two builders.
fn started() -> Environment {
    let environment = sample();
    environment.start(&["--builders", "2"]);
    environment
}

/// Path of a builder's worktree from the top of the repository.
fn worktree(owner: &str) -> String {
    format!(".fractal-planner/plans/{PLAN}/worktrees/{owner}")
}

impl Environment {
    /// Writes `file` in the worktree of `owner`.
    fn write_in(&self, owner: &str, file: &str, text: &str) {
        self.write(&format!("{}/{file}", worktree(owner)), text);
    }

    /// Claims for `owner`, writes `file` in its worktree, and submits. Returns the task.
    fn build_in(&self, owner: &str, file: &str, text: &str) -> String {
        let (task, token) = self.claim(owner).expect("a task is ready");
        self.write_in(owner, file, text);
        self.done(&["submit", PLAN, &task, "--claim", &token]);
        task
    }

    /// Asserts that neither the plan's folder nor git has any trace of a worktree.
    fn assert_swept(&self) {
        let folder = self.path(&format!(".fractal-planner/plans/{PLAN}/worktrees"));
        assert!(!folder.exists(), "{} is left over", folder.display());
        let known: Vec<PathBuf> = std::fs::read_dir(self.path(".git/worktrees"))
            .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
            .unwrap_or_default();
        assert!(known.is_empty(), "{known:?}");
    }
}

impl Output {
    /// This output with shortened commit ids replaced.
    fn with_short_ids(self) -> Self {
        let ids = regex::Regex::new(r"\b[0-9a-f]{10}\b").unwrap();
        Self {
            stdout: ids.replace_all(&self.stdout, "[ID]").into_owned(),
            ..self
        }
    }
}
