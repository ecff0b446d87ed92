//! The repository around a run: whatever its state, nothing of the user's is touched.

use std::fs;

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use crate::run::blocked_commit::rebase;
use crate::run::{chain, sample, started};

#[test]
fn uncommitted_changes_of_the_plans_files_are_refused() {
    let environment = sample();
    environment.done(&["approve", PLAN, "--yes"]);
    environment.write("a.txt", "mine\n");
    environment.write("other.txt", "mine as well\n");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--session", "s1"]), @r"
    exit status: 1
    --- stderr
    error: files that the plan changes have uncommitted changes: a.txt
    hint: commit or stash them, or add --allow-dirty to make them part of the tasks' commits
    ");
    environment.done(&["run", "start", PLAN, "--session", "s1", "--allow-dirty"]);
    environment.complete("a.txt");
    assert_snapshot!(environment.commits(), @r"
    * Write part 1

    a.txt
    * Start

    README.md
    ");
    assert_eq!(environment.git(&["status", "--short"]), "?? other.txt\n");
}

#[test]
fn what_the_user_has_staged_stays_staged() {
    let environment = started(&[]);
    environment.write("mine.txt", "staged\n");
    environment.write("README.md", "# Staged\n");
    environment.git(&["add", "mine.txt", "README.md"]);
    environment.write("README.md", "# Staged, and more\n");
    let claim = environment.fp(&["claim", PLAN, "--as", "builder-1"]);
    assert!(
        claim.code == 1
            && claim
                .stderr
                .contains("changed in the checkout while no task had it: README.md\n"),
        "{claim}"
    );
    environment.done(&["answer", PLAN, "q1", "--option", "Keep"]);
    environment.complete("a.txt");
    assert_eq!(
        environment.git(&["status", "--short"]),
        "MM README.md\nA  mine.txt\n"
    );
    assert_eq!(
        environment.git(&["show", "--name-only", "--format=", "HEAD"]),
        "a.txt\n"
    );
}

#[test]
fn a_detached_head_is_refused_unless_nothing_is_committed() {
    let environment = sample();
    environment.done(&["approve", PLAN, "--yes"]);
    environment.git(&["switch", "--quiet", "--detach"]);
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--here"]), @r"
    exit status: 2
    --- stderr
    error: HEAD is detached: no branch is checked out
    hint: check out a branch with `git switch BRANCH`
    ");
    environment.done(&["run", "start", PLAN, "--here", "--no-commit"]);
    environment.complete("a.txt");
}

#[test]
fn a_rebase_in_progress_is_named() {
    let environment = sample();
    environment.done(&["approve", PLAN, "--yes"]);
    rebase(&environment);
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--here"]), @r"
    exit status: 2
    --- stderr
    error: a rebase is in progress
    hint: finish it with `git rebase --continue`, or drop it with `git rebase --abort`
    ");
}

#[test]
fn a_repository_without_a_commit_is_refused_at_the_start() {
    let environment = Environment::new();
    environment.git(&["init", "--quiet", "--initial-branch", "main"]);
    environment.plan(&chain());
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--here"]), @r"
    exit status: 2
    --- stderr
    error: the repository has no commit yet
    hint: commit something first: a run needs a state to start from
    ");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--here", "--no-commit"]), @r"
    exit status: 2
    --- stderr
    error: the repository has no commit yet
    hint: commit something first: a run needs a state to start from
    ");
}

#[test]
fn without_a_repository_a_plan_can_be_approved_but_not_run() {
    let environment = Environment::new();
    environment.plan(&chain());
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--here"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work is not in a git working tree
    hint: run it inside a repository, or make one with `git init`
    ");
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (approved)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 1 ready, 2 waiting

      ● 1  ready      Write part 1
      ○ 2  waiting    Write part 2
                      it waits for 1
      ○ 3  waiting    Write part 3
                      it waits for 2
    ");
}

#[test]
fn without_git_the_run_does_not_start() {
    let environment = sample();
    environment.done(&["approve", PLAN, "--yes"]);
    let environment = environment.env("PATH", "/nowhere");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--here"]), @r"
    exit status: 2
    --- stderr
    error: git was not found on PATH
    hint: install git, or add its folder to PATH
    ");
}

#[test]
fn a_linked_worktree_has_the_state_of_the_main_one_and_its_own_commits() {
    let environment = sample();
    environment.git(&["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    let linked = |args: &[&str]| environment.fp_in("../linked", args);
    assert_eq!(linked(&["approve", PLAN, "--yes"]).code, 0);
    assert_eq!(linked(&["run", "start", PLAN, "--session", "s1"]).code, 0);
    let claim = linked(&["claim", PLAN, "--as", "builder-1", "--format", "json"]).json();
    environment.write("../linked/a.txt", "about 1\n");
    let submit = linked(&[
        "submit",
        PLAN,
        "1",
        "--claim",
        claim["claim"].as_str().unwrap(),
    ]);
    assert_snapshot!(submit, @r"
    exit status: 0
    --- stdout
    Task 1 handed in: 1 file changed
      a.txt
    End your turn now: a message tells you what is next.
    ");
    assert_eq!(linked(&["verdict", PLAN, "1", "--pass", "1: seen"]).code, 0);
    assert_eq!(
        environment.statuses()[0].1,
        "COMPLETED",
        "seen from the main worktree"
    );
    assert_eq!(environment.git(&["log", "--format=%s", "main"]), "Start\n");
    assert_eq!(
        environment.git(&["show", "--name-only", "--format=", "side"]),
        "a.txt\n"
    );
    assert_eq!(
        environment.git(&["-C", "../linked", "status", "--short"]),
        ""
    );
    assert!(!environment.path("../linked/.fractal-planner").exists());
}

#[test]
fn commands_work_from_a_folder_below() {
    let environment = started(&[]);
    environment.write("src/deep/x.txt", "");
    assert_eq!(
        environment.fp_in("src/deep", &["status", PLAN]),
        environment.fp(&["status", PLAN])
    );
    let claim = environment
        .fp_in(
            "src/deep",
            &["claim", PLAN, "--as", "builder-1", "--format", "json"],
        )
        .json();
    environment.write("a.txt", "about 1\n");
    let token = claim["claim"].as_str().unwrap();
    assert_snapshot!(environment.fp_in("src/deep", &["submit", PLAN, "1", "--claim", token]), @r"
    exit status: 0
    --- stdout
    Task 1 handed in: 1 file changed
      a.txt
    End your turn now: a message tells you what is next.
    ");
}

#[test]
fn names_that_mean_something_to_a_shell_or_to_git_are_only_names() {
    let names = ["$(touch pwned)", "a b&c'd", ":(top)x", "-n", "ünï*"];
    let environment = Environment::new().repo();
    let leaves: Vec<_> = ["1", "2", "3", "4", "5"]
        .iter()
        .zip(names)
        .map(|(id, file)| leaf(id, "none", file))
        .collect();
    environment.plan(&tree(&leaves));
    environment.start(&[]);
    for name in names {
        environment.complete(name);
    }
    assert!(!environment.path("pwned").exists());
    let files = environment.git(&["-c", "core.quotepath=false", "ls-files", "-z"]);
    let mut files: Vec<&str> = files.split_terminator('\0').collect();
    files.retain(|name| *name != "README.md");
    let mut expected = names.to_vec();
    expected.sort_unstable();
    assert_eq!(files, expected);
    assert_eq!(
        fs::read_dir(environment.path("")).unwrap().count(),
        names.len() + 3
    );
}

#[test]
fn a_task_that_its_builder_committed_is_done_without_another_commit() {
    let environment = started(&[]);
    let (task, token) = environment.claim("builder-1").unwrap();
    environment.write("a.txt", "about 1\n");
    environment.git(&["add", "a.txt"]);
    environment.git(&["commit", "--quiet", "--message", "By the builder itself"]);
    environment.done(&["submit", PLAN, &task, "--claim", &token]);
    assert_snapshot!(environment.pass("1").masked(), @r"
    exit status: 0
    --- stdout
    Task 1 passed, without a commit: its change is in HEAD already
    Evidence: evidence/task-1-verification.md
    ");
    assert_eq!(environment.git(&["rev-list", "--count", "HEAD"]), "2\n");
}
