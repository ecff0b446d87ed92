//! The commands of a run with invalid input and failing disks: they report one error that names the place and the
//! remedy, and lose nothing that was already written.

mod config;
mod disk;
mod ledger;
mod names;
mod surroundings;
mod trees;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

/// A repository with [`PLAN`] of two tasks, approved and started.
fn started() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&two_tasks());
    environment.start(&[]);
    environment
}

fn two_tasks() -> String {
    tree(&[leaf("1", "none", "a.txt"), leaf("2", "1", "b.txt")])
}

fn plan_file(name: &str) -> String {
    format!(".fractal-planner/plans/{PLAN}/{name}")
}

/// Each command of a run, for the plan `selector`.
fn every_command(selector: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["approve", selector, "--yes"],
        vec!["run", "start", selector, "--session", "s1"],
        vec!["next", selector],
        vec!["claim", selector, "--as", "builder-1"],
        vec!["submit", selector, "1", "--claim", "0123456789abcdef"],
        vec!["verify", selector, "1"],
        vec!["verdict", selector, "1", "--pass", "1: seen"],
        vec!["answer", selector, "q1", "--option", "Retry"],
        vec!["retry", selector, "1"],
        vec!["cancel", selector, "1", "--reason", "no"],
        vec!["note", selector, "add", "UTIL: x"],
        vec!["note", selector, "list"],
        vec!["status", selector],
        vec!["why", selector, "1"],
        vec!["log", selector],
        vec!["report", selector],
        vec!["report", "--handoff", selector],
        vec!["cancel", selector],
    ]
}
