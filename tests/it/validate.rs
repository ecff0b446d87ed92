//! `fp validate`: its output in each format, the changes it makes, and its exit status.

mod cycles;
mod fixing;
mod json;
mod large;
mod text;

use crate::common::plan::{leaf, tree};
use crate::common::{Environment, Output};

/// The file that is checked.
const FILE: &str = "tasks.md";

/// A tree without findings: two leaves, the second after the first.
fn clean() -> String {
    tree(&[leaf("1", "none", "a.txt"), leaf("2", "1", "b.txt")])
}

/// [`clean`] with an error in the first leaf that has no automatic fix.
fn large_leaf() -> String {
    clean().replacen("(Complexity: 2)", "(Complexity: 9)", 1)
}

/// [`clean`] with an error in the second leaf that `--fix` repairs.
fn waits_for_itself() -> String {
    clean().replace("Dependencies: 1", "Dependencies: 1, 2")
}

/// [`clean`] with a warning in the second leaf that `--fix` repairs.
fn sharing() -> String {
    let both = tree(&[leaf("1", "none", "a.txt"), leaf("2", "none", "a.txt")]);
    both.replace("(Complexity: 2)", "(Complexity: 5)")
}

/// [`clean`] with a warning that has no automatic fix.
fn vague() -> String {
    clean().replace("`b.txt` has a line about 2", "The line is written properly")
}

/// A repository with `tree` in [`FILE`].
fn with(tree: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.write(FILE, tree);
    environment
}

/// The output of `fp validate` for `tree`.
fn validate(tree: &str, flags: &[&str]) -> Output {
    with(tree).fp(&[&["validate", FILE], flags].concat())
}
