//! Processes killed at the critical moments of bringing a change onto the branch; `tests/kill` shows that whole runs
//! survive kills at random moments.

use std::fs;

use crate::common::Environment;
use crate::common::plan::PLAN;
use crate::common::program::write_program;
use crate::worktree::{sample, worktree};

/// Task 1 is submitted. After that, the first git call with the argument `word` runs `script` before the real git,
/// which is `$GIT`.
fn with_git_that(word: &str, script: &str) -> Environment {
    let environment = with_git_in(sample(), word, script);
    environment.start(&["--builders", "2"]);
    environment.build_in("builder-1", "a.txt", "first\nsecond, about 1\nthird\n");
    fs::write(environment.beside("armed"), "").unwrap();
    environment
}

/// `environment` with that git, once the file `armed` is beside it.
fn with_git_in(environment: Environment, word: &str, script: &str) -> Environment {
    let real = environment.run("sh", &["-c", "command -v git"]).stdout;
    let folder = environment.beside("bin");
    let text = format!(
        "#!/bin/sh\nGIT={}\ndone={}\nfor argument; do\n  if [ \"$argument\" = {word} ] && [ -e {armed} ] && [ ! -e \
         \"$done\" ]; then\n    : > \"$done\"\n    {script}\n  fi\ndone\nexec \"$GIT\" \"$@\"\n",
        real.trim(),
        environment.beside("done").display(),
        armed = environment.beside("armed").display(),
    );
    write_program(&folder.join("git"), text);
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    environment.env("PATH", path)
}

/// Kills the `fp` that started this git.
const KILL: &str = "kill -9 $PPID; sleep 0.1; exit 1";

fn killed_at(word: &str) -> Environment {
    let environment = with_git_that(word, KILL);
    let verdict = environment.pass("1");
    assert_eq!(verdict.code, -1, "it was killed: {verdict}");
    assert!(environment.beside("done").exists());
    environment
}

/// Asserts that the run continues until task 1 is committed, and leaves nothing behind.
fn goes_on(environment: &Environment) {
    environment.next(&[]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
    assert_eq!(
        environment.git(&["log", "--format=%s"]),
        "Write part 1\nAdd two texts\nStart\n"
    );
    assert_eq!(environment.read("a.txt"), "first\nsecond, about 1\nthird\n");
    assert_eq!(environment.git(&["status", "--short"]), "");
    environment.done(&["cancel", PLAN]);
    environment.assert_swept();
}

#[test]
fn before_the_objects_are_compared() {
    goes_on(&killed_at("--no-abbrev"));
}

#[test]
fn before_the_files_are_in_place() {
    goes_on(&killed_at("checkout-index"));
}

#[test]
fn between_the_files_and_the_commit() {
    let environment = killed_at("commit");
    assert_eq!(
        environment.git(&["status", "--short"]),
        "M  a.txt\n",
        "the files are in place, and in the index"
    );
    goes_on(&environment);
}

#[test]
fn after_the_commit() {
    let environment = with_git_that("commit", &format!("\"$GIT\" \"$@\"; {KILL}"));
    assert_eq!(environment.pass("1").code, -1);
    assert_eq!(
        environment.git(&["log", "--format=%s", "-1"]),
        "Write part 1\n"
    );
    goes_on(&environment);
}

#[test]
fn while_a_conflict_is_shown() {
    let environment = with_git_that("restore", KILL);
    fs::remove_file(environment.beside("armed")).unwrap();
    environment.write("a.txt", "first\nsecond, by hand\nthird\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "Edit by hand"]);
    environment.pass("1");
    assert_eq!(environment.statuses()[0].1, "IMPLEMENTING");
    fs::write(environment.beside("armed"), "").unwrap();
    assert_eq!(
        environment.fp(&["claim", PLAN, "--as", "builder-1"]).code,
        -1
    );
    environment.claim("builder-1").unwrap();
    let marked = environment.read(&format!("{}/a.txt", worktree("builder-1")));
    assert!(
        marked.contains("<<<<<<<") && marked.contains("about 1"),
        "{marked}"
    );
}

#[test]
fn while_a_worktree_is_made() {
    let environment = with_git_that("worktree", &format!("\"$GIT\" \"$@\" & sleep 0.01; {KILL}"));
    let claim = environment.fp(&["claim", PLAN, "--as", "builder-2"]);
    assert_eq!(claim.code, -1, "{claim}");
    let (task, _) = environment.claim("builder-2").unwrap();
    assert_eq!(task, "2");
    assert_eq!(
        environment.read(&format!("{}/b.txt", worktree("builder-2"))),
        "first\nsecond\nthird\n"
    );
    environment.done(&["cancel", PLAN]);
    environment.assert_swept();
}

/// A user's edit between the crash and the next command is kept.
#[test]
fn what_the_user_does_after_a_crash_is_kept() {
    let environment = killed_at("commit");
    environment.write("a.txt", "by hand\n");
    let ask = environment.next(&[]);
    assert!(
        ask.stdout
            .contains("a.txt has changes in the checkout that are not committed"),
        "{ask}"
    );
    assert_eq!(environment.read("a.txt"), "by hand\n");
}

/// A builder puts a repository of its own, whose filter runs a program, in the place of its worktree's while its work
/// is measured.
#[test]
fn another_repository_in_the_place_of_the_one_that_was_checked() {
    let environment = sample();
    let other = environment.beside("other").display().to_string();
    environment.git(&["clone", "--quiet", ".", &other]);
    let filter = format!("touch '{other}/ran'; cat");
    environment.git(&["-C", &other, "config", "filter.own.clean", &filter]);
    fs::create_dir_all(environment.beside("other/.git/info")).unwrap();
    fs::write(
        environment.beside("other/.git/info/attributes"),
        "* filter=own\n",
    )
    .unwrap();
    let folder = ".fractal-planner/plans/sample-20261121/worktrees/builder-1";
    let place = environment.path(folder).display().to_string();
    let swap = format!("echo 'gitdir: {other}/.git' >'{place}/.git'; touch '{place}/a.txt'");
    let environment = with_git_in(environment, "--porcelain=v2", &swap);
    environment.start(&["--builders", "2"]);
    let token = environment.claim("builder-1").unwrap().1;
    environment.write(
        &format!("{folder}/a.txt"),
        "first\nsecond, about 1\nthird\n",
    );
    fs::write(environment.beside("armed"), "").unwrap();
    let submit = environment.fp(&["submit", PLAN, "1", "--claim", &token]);
    assert!(environment.beside("done").exists(), "{submit}");
    assert!(!environment.beside("other/ran").exists(), "the filter ran");
}
