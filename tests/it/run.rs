//! The commands of a run from the view of their callers: lead, builders, verifiers and the user.

mod approval;
mod blocked_commit;
mod commits;
mod failing;
mod judging;
mod pipeline;
mod repository;
mod session;
mod side_by_side;

use crate::common::Environment;
use crate::common::plan::{Leaf, PLAN, leaf, tree};

/// A repository with [`PLAN`]: tasks 1, 2 and 3 change `a.txt`, `b.txt` and `c.txt`, each depending on the previous
/// one.
fn sample() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&chain());
    environment
}

fn chain() -> String {
    tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
        leaf("3", "2", "c.txt"),
    ])
}

/// [`sample`], approved and started.
fn started(flags: &[&str]) -> Environment {
    let environment = sample();
    environment.start(flags);
    environment
}

impl Environment {
    /// Takes the next task from claim to verdict.
    fn complete(&self, file: &str) -> String {
        let task = self.build("builder-1", file, &format!("about {file}\n"));
        let verdict = self.pass(&task);
        assert!(
            verdict.stdout.starts_with(&format!("Task {task} passed")),
            "{verdict}"
        );
        task
    }
}
