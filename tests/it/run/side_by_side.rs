//! Two builders in one working tree: uncommitted files of one don't count against the other.

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

/// Tasks 1 and 2 were claimed at nine o'clock, and both builders have written their files; it is a minute later.
fn both_at_work(flags: &[&str]) -> (Environment, [String; 2]) {
    let environment = Environment::new().repo().shared();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "2", "c.txt"),
    ]));
    environment.start(&[&["--builders", "2"], flags].concat());
    let tokens = [("builder-1", "1"), ("builder-2", "2")]
        .map(|(owner, task)| environment.claim_task(owner, task));
    environment.write("a.txt", "about 1\n");
    environment.write("b.txt", "about 2\n");
    (environment.env("FP_NOW", "2026-11-21T09:01:00Z"), tokens)
}

fn second_passes(environment: &Environment, token: &str) {
    environment.done(&["submit", PLAN, "2", "--claim", token]);
    let verdict = environment.pass("2");
    assert!(verdict.stdout.starts_with("Task 2 passed"), "{verdict}");
}

#[test]
fn one_that_is_done_and_committed() {
    let (environment, [first, second]) = both_at_work(&[]);
    environment.done(&["submit", PLAN, "1", "--claim", &first]);
    environment.pass("1");
    second_passes(&environment, &second);
    assert_snapshot!(environment.commits(), @r"
    * Write part 2

    b.txt
    * Write part 1

    a.txt
    * Start

    README.md
    ");
}

#[test]
fn one_that_is_done_without_a_commit() {
    let (environment, [first, second]) = both_at_work(&["--no-commit"]);
    environment.done(&["submit", PLAN, "1", "--claim", &first]);
    environment.pass("1");
    second_passes(&environment, &second);
}

#[test]
fn one_that_has_failed_for_good() {
    let (environment, [first, second]) = both_at_work(&["--max-iterations", "1"]);
    environment.done(&["submit", PLAN, "1", "--claim", &first]);
    environment.fail("1");
    second_passes(&environment, &second);
    assert_eq!(environment.git(&["status", "--short"]), "?? a.txt\n");
}

#[test]
fn one_that_was_released() {
    let (environment, [_, second]) = both_at_work(&[]);
    environment.done(&["retry", PLAN, "1"]);
    second_passes(&environment, &second);
}

/// A file that existed when a task was claimed no longer belongs to an earlier task: whoever changes it after the claim
/// is responsible for it.
#[test]
fn a_file_of_a_task_that_was_over_before() {
    let (environment, [first, second]) = both_at_work(&["--no-commit"]);
    environment.done(&["submit", PLAN, "1", "--claim", &first]);
    environment.pass("1");
    second_passes(&environment, &second);
    let environment = environment.env("FP_NOW", "2026-11-21T09:02:00Z");
    let (_, third) = environment.claim("builder-1").unwrap();
    environment.write("c.txt", "about 3\n");
    environment.write("a.txt", "about 1, and 3\n");
    let refused = environment.fp(&["submit", PLAN, "3", "--claim", &third]);
    assert!(
        refused.code == 1 && refused.stderr.contains("boundary: a.txt was changed"),
        "{refused}"
    );
}
