//! A change that conflicts with a person's newer commit goes back to its builder, who resolves it.

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::PLAN;
use crate::worktree::{started, worktree};

/// Task 1 has been submitted, and a person has committed a different change to the same line.
fn overtaken(flags: &[&str]) -> Environment {
    let environment = crate::worktree::sample();
    environment.start(&[&["--builders", "2"], flags].concat());
    environment.build_in("builder-1", "a.txt", "first\nsecond, about 1\nthird\n");
    environment.write("a.txt", "first\nsecond, by hand\nthird\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "Edit by hand"]);
    environment
}

#[test]
fn a_conflict_goes_back_with_its_reason_and_its_markers() {
    let environment = overtaken(&[]);
    assert_snapshot!(environment.pass("1").masked().with_short_ids(), @"
    exit status: 0
    --- stdout
    Task 1 passed, and can't be committed: it goes back, attempt 2
    Evidence: evidence/task-1-verification.md
    ");
    assert_eq!(
        environment.read("a.txt"),
        "first\nsecond, by hand\nthird\n",
        "the checkout is as it was"
    );
    assert_eq!(environment.git(&["status", "--short"]), "");
    let resume = environment.next(&["--ended", "builder-1"]);
    assert!(
        resume.stdout.starts_with("1. resume builder-1\n"),
        "{resume}"
    );

    let own = worktree("builder-1");
    let (task, token) = environment.claim("builder-1").unwrap();
    assert_eq!(task, "1");
    let marked = environment.read(&format!("{own}/a.txt"));
    let lines: Vec<&str> = marked
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "first", "<<<<<<<", "second,", "=======", "second,", ">>>>>>>", "third"
        ],
        "{marked}"
    );

    // A file with conflict markers can't be submitted.
    let refused = environment.fp(&["submit", PLAN, "1", "--claim", &token]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains("leftovers: a.txt:2"), "{refused}");
    environment.build_in(
        "builder-1",
        "a.txt",
        "first\nsecond, by hand, about 1\nthird\n",
    );
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    assert_eq!(
        environment.read("a.txt"),
        "first\nsecond, by hand, about 1\nthird\n"
    );
    assert_eq!(
        environment.git(&["log", "--format=%s", "-2"]),
        "Write part 1\nEdit by hand\n"
    );
}

#[test]
fn a_change_elsewhere_in_the_file_is_merged() {
    let environment = started();
    environment.write(
        "a.txt",
        "first\nsecond\nthird\nfourth\nfifth\nsixth\nseventh\n",
    );
    environment.git(&["commit", "--quiet", "--all", "--message", "Add lines"]);
    environment.build_in(
        "builder-1",
        "a.txt",
        "first, about 1\nsecond\nthird\nfourth\nfifth\nsixth\nseventh\n",
    );
    environment.write(
        "a.txt",
        "first\nsecond\nthird\nfourth\nfifth\nsixth\nseventh, by hand\n",
    );
    environment.git(&["commit", "--quiet", "--all", "--message", "Edit by hand"]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    let expected = "first, about 1\nsecond\nthird\nfourth\nfifth\nsixth\nseventh, by hand\n";
    assert_eq!(environment.read("a.txt"), expected);
    assert_eq!(environment.git(&["status", "--short"]), "");
}

#[test]
fn a_file_that_was_renamed_meanwhile_is_followed() {
    let environment = started();
    environment.build_in(
        "builder-1",
        "a.txt",
        "first\nsecond\nthird\nfourth, about 1\n",
    );
    environment.git(&["mv", "a.txt", "c.txt"]);
    environment.git(&["commit", "--quiet", "--message", "Rename by hand"]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    assert_eq!(
        environment.read("c.txt"),
        "first\nsecond\nthird\nfourth, about 1\n"
    );
    assert!(!environment.path("a.txt").exists());
    assert_eq!(
        environment.git(&["show", "--format=%s", "--name-status", "HEAD"]),
        "Write part 1\n\nM\tc.txt\n"
    );
    assert_eq!(environment.git(&["status", "--short"]), "");
}

#[test]
fn a_file_that_was_deleted_meanwhile_is_a_conflict() {
    let environment = started();
    environment.build_in("builder-1", "a.txt", "first\nsecond, about 1\nthird\n");
    environment.git(&["rm", "--quiet", "a.txt"]);
    environment.git(&["commit", "--quiet", "--message", "Delete by hand"]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.contains("it goes back, attempt"),
        "{verdict}"
    );
    let claim = environment.done(&["claim", PLAN, "--as", "builder-1"]);
    assert!(claim.stdout.contains("CONFLICT (modify/delete)"), "{claim}");
    assert_eq!(environment.statuses()[0].1, "IMPLEMENTING");
    assert!(!environment.path("a.txt").exists());
    let own = format!("{}/a.txt", worktree("builder-1"));
    assert_eq!(
        environment.read(&own),
        "first\nsecond, about 1\nthird\n",
        "nothing of the work is lost"
    );
}

#[test]
fn at_the_last_attempt_the_task_fails() {
    let environment = overtaken(&["--max-iterations", "1"]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.contains("that was its last attempt\n"),
        "{verdict}"
    );
    assert_eq!(environment.statuses()[0].1, "FAILED");
    assert_eq!(environment.statuses()[2].1, "SKIPPED");
    let ask = environment.next(&["--ended", "builder-1"]);
    assert!(
        ask.stdout
            .contains("Task 1 failed for good: Its change does not fit"),
        "{ask}"
    );
}
