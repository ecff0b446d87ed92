//! The user's checkout: which changes enter it, and that the user's own stay.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use crate::worktree::{sample, started, worktree};

/// Task 1 has been submitted.
fn handed_in() -> Environment {
    let environment = started();
    environment.build_in("builder-1", "a.txt", "first\nsecond, about 1\nthird\n");
    environment
}

#[test]
fn what_the_user_has_staged_or_changed_elsewhere_stays() {
    let environment = handed_in();
    environment.write("mine.txt", "staged\n");
    environment.git(&["add", "mine.txt"]);
    environment.write("mine.txt", "staged, and changed after that\n");
    environment.write("README.md", "# Changed\n");
    environment.write("new.txt", "unknown to git\n");
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    assert_eq!(
        environment.git(&["status", "--short"]),
        " M README.md\nAM mine.txt\n?? new.txt\n"
    );
    assert_eq!(
        environment.git(&["show", "--format=", "--name-only", "HEAD"]),
        "a.txt\n"
    );
    assert_eq!(environment.git(&["show", ":mine.txt"]), "staged\n");
}

/// The hook plays a user who saves a file while the hook runs.
#[test]
fn what_is_edited_while_a_commit_hook_runs_stays() {
    let environment = handed_in();
    environment.git_hook("pre-commit", "echo 'my own' >> a.txt; exit 1");
    let verdict = environment.pass("1");
    let told = "git made no commit, and said nothing; edited meanwhile, and left as it is: a.txt";
    assert!(verdict.stdout.contains(told), "{verdict}");
    assert_eq!(
        environment.read("a.txt"),
        "first\nsecond, about 1\nthird\nmy own\n"
    );
}

#[test]
fn a_file_that_the_user_has_changed_is_a_question() {
    let environment = handed_in();
    environment.write("a.txt", "by hand, not committed\n");
    let verdict = environment.pass("1");
    assert_snapshot!(verdict, @r"
    exit status: 0
    --- stdout
    Task 1 passed, its commit is due: a.txt has changes in the checkout that are not committed: commit them or put them back
    Evidence: evidence/task-1-verification.md
    ");
    assert_eq!(environment.read("a.txt"), "by hand, not committed\n");
    let ask = environment.next(&[]);
    assert!(ask.stdout.contains("ask q1\n"), "{ask}");
    // The option to leave the change uncommitted would overwrite the same file.
    let left = environment.fp(&["answer", PLAN, "q1", "--option", "Leave uncommitted"]);
    assert_snapshot!(left, @r"
    exit status: 1
    --- stderr
    error: a.txt has changes in the checkout that are not committed: commit them or put them back
    hint: fix it, then answer again
    ");
    environment.git(&["checkout", "--quiet", "a.txt"]);
    environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
    environment.next(&[]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
    assert_eq!(environment.read("a.txt"), "first\nsecond, about 1\nthird\n");
    assert_eq!(environment.git(&["status", "--short"]), "");
}

#[test]
fn a_change_that_git_was_told_to_overlook_is_the_users() {
    let environment = handed_in();
    environment.git(&["update-index", "--skip-worktree", "a.txt"]);
    environment.write("a.txt", "by hand, hidden\n");
    let verdict = environment.pass("1");
    assert!(
        verdict
            .stdout
            .contains("a.txt has changes in the checkout that are not committed"),
        "{verdict}"
    );
    assert_eq!(environment.read("a.txt"), "by hand, hidden\n");
}

#[test]
fn what_is_in_the_place_of_a_new_file_is_a_question() {
    let check = |prepare: &dyn Fn(&Environment), reason: &str| {
        let environment = Environment::new().repo();
        environment.plan(&tree(&[leaf("1", "none", "src/new.txt")]));
        environment.start(&["--builders", "2"]);
        environment.build_in("builder-1", "src/new.txt", "about 1\n");
        prepare(&environment);
        let verdict = environment.pass("1");
        assert!(verdict.stdout.contains(reason), "{verdict}");
        environment
    };
    let environment = check(
        &|environment| {
            environment.write(".gitignore", "src\n");
            environment.write("src/new.txt", "the user's\n");
        },
        "src/new.txt is there already, and is in no commit",
    );
    assert_eq!(environment.read("src/new.txt"), "the user's\n");
    // A link that leads out of the repository isn't followed.
    let environment = check(
        &|environment| {
            fs::create_dir(environment.beside("outside")).unwrap();
            std::os::unix::fs::symlink(environment.beside("outside"), environment.path("src"))
                .unwrap();
        },
        "src, above src/new.txt, is not what the last commit has",
    );
    assert_eq!(
        fs::read_dir(environment.beside("outside")).unwrap().count(),
        0
    );
    check(
        &|environment| environment.write("src", "a file\n"),
        "src, above src/new.txt",
    );
}

#[test]
fn a_hook_that_says_no_leaves_the_checkout_as_it_was() {
    let environment = handed_in();
    environment.git_hook("pre-commit", "echo 'formatted' >&2; exit 1");
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.contains("git made no commit: formatted"),
        "{verdict}"
    );
    assert_eq!(environment.git(&["status", "--short"]), "");
    environment.next(&[]);
    environment.done(&["answer", PLAN, "q1", "--option", "Send back"]);
    environment.git_hook("pre-commit", "exit 0");
    environment.build_in(
        "builder-1",
        "a.txt",
        "first\nsecond, about 1, mended\nthird\n",
    );
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    assert_eq!(
        environment.read("a.txt"),
        "first\nsecond, about 1, mended\nthird\n"
    );
}

#[test]
fn what_stays_uncommitted_by_choice_is_in_the_checkout() {
    let environment = handed_in();
    environment.git_hook("pre-commit", "exit 1");
    environment.pass("1");
    environment.next(&[]);
    environment.done(&["answer", PLAN, "q1", "--option", "Leave uncommitted"]);
    assert_eq!(environment.git(&["status", "--short"]), " M a.txt\n");
    assert_eq!(environment.read("a.txt"), "first\nsecond, about 1\nthird\n");
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}

#[test]
fn modes_links_deletions_and_folders_come_over() {
    let environment = Environment::new().repo();
    environment.write("old/only.txt", "goes\n");
    environment.write("run.sh", "#!/bin/sh\n");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Add files"]);
    let tree = tree(&[leaf(
        "1",
        "none",
        "old/, run.sh, new/deep/link, new/file.txt",
    )]);
    environment.plan(&tree.replace("One line", "Make a symbolic link"));
    environment.start(&["--builders", "2"]);
    let (_, token) = environment.claim("builder-1").unwrap();
    let own = environment.path(&worktree("builder-1"));
    fs::remove_file(own.join("old/only.txt")).unwrap();
    fs::set_permissions(own.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(own.join("new/deep")).unwrap();
    std::os::unix::fs::symlink("../file.txt", own.join("new/deep/link")).unwrap();
    fs::write(own.join("new/file.txt"), "about 1\n").unwrap();
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    assert_eq!(environment.git(&["status", "--short"]), "");
    assert!(
        !environment.path("old").exists(),
        "an empty folder goes as well"
    );
    assert_eq!(environment.read("new/deep/link"), "about 1\n");
    let raw = environment.git(&["show", "--format=", "--summary", "--no-renames", "HEAD"]);
    assert_eq!(
        raw,
        " create mode 120000 new/deep/link\n create mode 100644 new/file.txt\n delete mode 100644 old/only.txt\n mode \
         change 100644 => 100755 run.sh\n"
    );
}

#[test]
fn commits_are_made_where_the_run_was_started() {
    let environment = sample();
    environment.git(&["worktree", "add", "--quiet", "-b", "feature", "../linked"]);
    environment.done(&["approve", PLAN, "--yes"]);
    let start = environment.fp_in(
        "../linked",
        &["run", "start", PLAN, "--session", "s1", "--builders", "2"],
    );
    assert_eq!(start.code, 0, "{start}");
    environment.build_in("builder-1", "a.txt", "first\nsecond, about 1\nthird\n");
    // Verdicts work from the main checkout and from a builder's own worktree.
    environment.build_in("builder-2", "b.txt", "first\nsecond, about 2\nthird\n");
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit ")
    );
    let verdict = environment.fp_in(
        &worktree("builder-2"),
        &[
            "verdict",
            PLAN,
            "2",
            "--pass",
            "1: seen",
            "--summary",
            "fine",
        ],
    );
    assert!(
        verdict.stdout.starts_with("Task 2 passed: commit "),
        "{verdict}"
    );
    assert_eq!(
        environment.git(&["log", "--format=%s", "main"]),
        "Add two texts\nStart\n"
    );
    assert_eq!(
        environment.git(&["log", "--format=%s", "feature"]),
        "Write part 2\nWrite part 1\nAdd two texts\nStart\n"
    );
    assert_eq!(
        environment.git(&["-C", "../linked", "status", "--short"]),
        ""
    );
    assert_eq!(environment.git(&["status", "--short"]), "");
    environment.done(&["cancel", PLAN]);
    assert!(!environment.path(".git/worktrees/builder-1").exists());
    assert!(
        environment.path(".git/worktrees/linked").exists(),
        "the user's own worktree stays"
    );
}

#[test]
fn a_checkout_that_is_gone_is_named() {
    let environment = sample();
    environment.git(&["worktree", "add", "--quiet", "-b", "feature", "../linked"]);
    environment.done(&["approve", PLAN, "--yes"]);
    let start = environment.fp_in(
        "../linked",
        &["run", "start", PLAN, "--session", "s1", "--builders", "2"],
    );
    assert_eq!(start.code, 0, "{start}");
    environment.git(&["worktree", "remove", "../linked"]);
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/linked is not a checkout of this repository
    hint: run `fp start sample-20261121` in the checkout that should get the commits
    ");
}

#[test]
fn another_branch_is_a_question() {
    let environment = handed_in();
    environment.git(&["checkout", "--quiet", "--orphan", "other"]);
    environment.git(&["commit", "--quiet", "--message", "Begin anew"]);
    let verdict = environment.pass("1");
    assert!(
        verdict
            .stdout
            .contains("the branch was switched, or its history rewritten"),
        "{verdict}"
    );
    environment.git(&["checkout", "--quiet", "main"]);
    environment.next(&[]);
    environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
    environment.next(&[]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}
