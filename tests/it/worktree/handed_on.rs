//! Builders that go on while their work is judged, and work that another builder takes up.

use std::fs;

use super::*;

/// Task 1 is submitted by builder-1, which has begun task 2 since.
fn gone_on() -> Environment {
    let environment = started();
    environment.build_in("builder-1", "a.txt", "first, about 1\nsecond\nthird\n");
    let (task, _) = environment.claim("builder-1").unwrap();
    assert_eq!(task, "2");
    environment.write_in("builder-1", "b.txt", "begun\n");
    environment
}

fn text_in(environment: &Environment, owner: &str, file: &str) -> String {
    environment.read(&format!("{}/{file}", worktree(owner)))
}

#[test]
fn the_next_task_begins_without_the_last_one() {
    let environment = gone_on();
    assert_eq!(
        text_in(&environment, "builder-1", "a.txt"),
        "first\nsecond\nthird\n"
    );
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit ")
    );
    assert_eq!(environment.read("a.txt"), "first, about 1\nsecond\nthird\n");
    assert_eq!(text_in(&environment, "builder-1", "b.txt"), "begun\n");
}

#[test]
fn what_failed_goes_on_with_another_builder_on_the_newest_commit() {
    let environment = gone_on();
    environment.write("a.txt", "first\nsecond\nthird, by hand\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "Edit by hand"]);
    environment.fail("1");
    let claim = environment
        .done(&["claim", PLAN, "--as", "builder-2"])
        .stdout;
    for expected in [
        "(task 1, iteration 2)",
        "The iteration before did not pass. Mend this first:\nCriterion 1",
        "- Your checkout has the earlier attempt's work, in a.txt: go on from there\n",
    ] {
        assert!(claim.contains(expected), "{expected}: {claim}");
    }
    assert_eq!(
        text_in(&environment, "builder-2", "a.txt"),
        "first, about 1\nsecond\nthird, by hand\n"
    );
    let other = text_in(&environment, "builder-1", "b.txt");
    assert_eq!(other, "begun\n", "the builder before is left alone");
    let both = "first, about 1\nsecond, mended\nthird, by hand\n";
    environment.build_in("builder-2", "a.txt", both);
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit ")
    );
    assert_eq!(environment.read("a.txt"), both);
    let changed = environment.git(&["show", "--format=", "--name-only", "HEAD"]);
    assert_eq!(changed, "a.txt\n");
}

#[test]
fn what_conflicts_meanwhile_comes_with_its_markers() {
    let environment = gone_on();
    environment.write("a.txt", "first, by hand\nsecond\nthird\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "Edit by hand"]);
    environment.fail("1");
    let claim = environment
        .done(&["claim", PLAN, "--as", "builder-2"])
        .stdout;
    let told = "It conflicts with newer commits in a.txt: keep what both are for";
    assert!(claim.contains(told), "{claim}");
    let marked = text_in(&environment, "builder-2", "a.txt");
    assert!(
        marked.contains("<<<<<<<") && marked.contains("about 1") && marked.contains("by hand"),
        "{marked}"
    );
}

#[test]
fn what_was_not_judged_when_the_run_ends_is_kept() {
    let environment = gone_on();
    environment.done(&["cancel", PLAN]);
    environment.assert_swept();
    for (task, line) in [("1", "+first, about 1"), ("2", "+begun")] {
        let patch = format!(".fractal-planner/plans/{PLAN}/unfinished/task-{task}.patch");
        let patch = fs::read_to_string(environment.path(&patch)).unwrap();
        assert!(patch.contains(line), "{patch}");
    }
    environment.start(&["--builders", "2"]);
    environment.fail("1");
    environment.claim("builder-2").unwrap();
    let text = text_in(&environment, "builder-2", "a.txt");
    assert_eq!(text, "first, about 1\nsecond\nthird\n");
}

/// Git has removed the submission's tree: the next attempt begins anew.
#[test]
fn a_submission_that_is_gone_is_done_again() {
    let environment = gone_on();
    environment.fail("1");
    environment.git(&["gc", "--quiet", "--prune=now"]);
    let (task, _) = environment.claim("builder-2").unwrap();
    assert_eq!(task, "1");
    let text = text_in(&environment, "builder-2", "a.txt");
    assert_eq!(text, "first\nsecond\nthird\n");
}
