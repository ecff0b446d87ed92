//! A commit that can't be made becomes a question, and each of its answers does what it promises.

use std::fs;

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::PLAN;
use crate::run::started;

/// Task 1 has passed, and a pre-commit hook refuses its commit.
fn blocked() -> Environment {
    let environment = started(&[]);
    environment.git_hook(
        "pre-commit",
        "echo 'no trailing blanks, please' >&2; exit 1",
    );
    environment.build("builder-1", "a.txt", "about 1\n");
    environment
}

/// A git hook that kills the `fp` that started that git.
#[cfg(target_os = "linux")]
const DIES: &str = "kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)";

#[test]
fn a_hook_that_says_no_is_a_question() {
    let environment = blocked();
    assert_snapshot!(environment.pass("1"), @r"
    exit status: 0
    --- stdout
    Task 1 passed, its commit is due: git made no commit: no trailing blanks, please
    Evidence: evidence/task-1-verification.md
    ");
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. ask q1
       question: Task 1 passed, but its commit could not be made: git made no commit: no trailing blanks, please [sample-20261121 q1 19a0231b]
       header: Commit
       options:
       - Send back: the builder mends it, with this reason as feedback
       - Retry: make the commit again, after you have mended it
       - Leave uncommitted: take the task as done and leave its change uncommitted
       - Stop: end the run; what is done stays
       then: the answer is recorded as it is given; without hooks: fp answer sample-20261121 q1 --option 'LABEL'
    ");
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (waits for you)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 1 asking you, 2 waiting

    Needs you:
      Nothing goes on before you have answered
      ? Task 1 passed, but its commit could not be made: git made no commit: no trailing blanks, please
        fp answer sample-20261121 q1 --option 'Send back'

      ? 1  asking     Write part 1  (1/3, builder-1)
                      it waits for your answer
      ○ 2  waiting    Write part 2
                      it waits for 1
      ○ 3  waiting    Write part 3
                      it waits for 2
    ");
    assert_eq!(
        environment.git(&["status", "--short"]),
        "?? a.txt\n",
        "the index is as it was"
    );
}

#[test]
fn send_back_gives_the_builder_the_reason() {
    let environment = blocked();
    environment.pass("1");
    environment.done(&["answer", PLAN, "q1", "--option", "Send back"]);
    assert_snapshot!(environment.next(&["--ended", "builder-1"]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Task 1 did not pass: run `fp claim sample-20261121 --as builder-1` for what to mend, then submit again.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    environment.git_hook("pre-commit", "exit 0");
    environment.build("builder-1", "a.txt", "about 1, mended\n");
    assert_snapshot!(environment.pass("1").masked(), @r"
    exit status: 0
    --- stdout
    Task 1 passed: commit [COMMIT]
    Evidence: evidence/task-1-verification.md
    ");
}

#[test]
fn retry_makes_the_commit_once_it_can_be_made() {
    let environment = blocked();
    environment.pass("1");
    environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
    assert!(
        environment.next(&[]).stdout.starts_with("1. ask q2\n"),
        "the hook still says no"
    );
    environment.git_hook("pre-commit", "exit 0");
    environment.done(&["answer", PLAN, "q2", "--option", "Retry"]);
    assert!(
        environment
            .next(&[])
            .stdout
            .starts_with("1. resume builder-1\n")
    );
    assert_snapshot!(environment.commits(), @r"
    * Write part 1

    a.txt
    * Start

    README.md
    ");
}

#[test]
fn leave_uncommitted_completes_the_task() {
    let environment = blocked();
    environment.pass("1");
    environment.done(&["answer", PLAN, "q1", "--option", "Leave uncommitted"]);
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▰▰▰▱▱▱▱▱▱▱ 1 of 3 tasks done, 1 ready, 1 waiting

      ● 2  ready      Write part 2
      ○ 3  waiting    Write part 3
                      it waits for 2
      ✓ 1  done       Write part 1  (1/3, 1 question)
                      left uncommitted by the user's choice
    ");
    assert_eq!(environment.git(&["status", "--short"]), "?? a.txt\n");
}

#[test]
fn stop_leaves_the_task_passed_and_a_start_commits_it() {
    let environment = blocked();
    environment.pass("1");
    environment.done(&["answer", PLAN, "q1", "--option", "Stop"]);
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. finish
       The run is over. Show this report:

    Plan sample-20261121 (cancelled)
    0 of 3 tasks done, 1 stopped, 2 waiting

      1  stopped    Write part 1  (1/3, builder-1)
                    it passed and waits for its commit
      2  waiting    Write part 2
                    it waits for 1
      3  waiting    Write part 3
                    it waits for 2
    ");
    environment.git_hook("pre-commit", "exit 0");
    environment.done(&["run", "start", PLAN, "--session", "s2"]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}

#[test]
fn unattended_the_builder_mends_it_or_the_task_fails() {
    let environment = blocked().env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    environment.pass("1");
    assert_snapshot!(environment.next(&["--ended", "builder-1"]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Task 1 did not pass: run `fp claim sample-20261121 --as builder-1` for what to mend, then submit again.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    for text in ["two\n", "three\n"] {
        environment.build("builder-1", "a.txt", text);
        environment.pass("1");
        environment.next(&["--ended", "builder-1"]);
    }
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. finish
       The run is over. Show this report:

    Plan sample-20261121 (finished)
    0 of 3 tasks done, 1 failed, 2 skipped

      1  failed     Write part 1  (3/3, 4 questions)
                    The commit could not be made: git made no commit: no trailing
                    blanks, please
      2  skipped    Write part 2
                    Blocked by 1
      3  skipped    Write part 3
                    Blocked by 1
    ");
}

#[test]
fn a_rebase_in_progress_is_a_question() {
    let environment = started(&[]);
    environment.build("builder-1", "a.txt", "about 1\n");
    rebase(&environment);
    assert_snapshot!(environment.pass("1").masked(), @r"
    exit status: 0
    --- stdout
    Task 1 passed, its commit is due: a rebase is in progress; finish it with `git rebase --continue`, or drop it with `git rebase --abort`
    Evidence: evidence/task-1-verification.md
    ");
    environment.git(&["rebase", "--abort"]);
    environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
    environment.next(&[]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}

/// Leaves a rebase in progress, stopped at an `edit`.
pub(crate) fn rebase(environment: &Environment) {
    environment.git(&["commit", "--quiet", "--allow-empty", "--message", "Another"]);
    environment.git(&[
        "-c",
        "sequence.editor=sed -i s/^pick/edit/",
        "rebase",
        "--quiet",
        "--interactive",
        "HEAD~1",
    ]);
}

#[test]
fn a_lock_left_by_a_git_that_died_is_a_question() {
    let environment = started(&[]);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.write(".git/index.lock", "");
    assert_snapshot!(environment.pass("1"), @r"
    exit status: 0
    --- stdout
    Task 1 passed, its commit is due: git is locked: another git process is at work, or one that died left `index.lock` behind
    Evidence: evidence/task-1-verification.md
    ");
    fs::remove_file(environment.path(".git/index.lock")).unwrap();
    environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
    environment.next(&[]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}

#[test]
fn any_lock_left_by_a_git_that_died_is_a_question_and_told_by_doctor() {
    for lock in ["HEAD.lock", "refs/heads/main.lock"] {
        let environment = started(&[]);
        environment.build("builder-1", "a.txt", "about 1\n");
        let path = format!(".git/{lock}");
        environment.write(&path, "");
        let passed = environment.pass("1").stdout;
        let told = format!(
            "git is locked: another git process is at work, or one that died left `{lock}` behind"
        );
        assert!(passed.contains(&told), "{passed}");
        let doctor = environment.fp(&["doctor"]).stdout;
        assert!(doctor.contains("keeps git from committing"), "{doctor}");
        fs::remove_file(environment.path(&path)).unwrap();
        environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
        environment.next(&[]);
        assert_eq!(environment.statuses()[0].1, "COMPLETED", "{lock}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_commit_whose_process_died_is_found_and_not_made_again() {
    let environment = started(&[]);
    // The commit is made, but the process dies before it can log it.
    environment.git_hook("post-commit", DIES);
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, -1);
    assert_eq!(environment.statuses()[0].1, "AWAITING_VERIFICATION");
    let hash = environment.git(&["rev-parse", "HEAD"]);
    fs::remove_file(environment.path(".git/hooks/post-commit")).unwrap();
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Tasks are ready: run `fp claim sample-20261121 --as builder-1`.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    let task = &environment
        .done(&["status", PLAN, "--format", "json"])
        .json()["tasks"][0];
    assert_eq!(task["commit"].as_str(), Some(hash.trim()));
    assert_snapshot!(environment.commits(), @r"
    * Write part 1

    a.txt
    * Start

    README.md
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn such_a_commit_is_found_though_a_hook_reworded_it() {
    let environment = started(&[]);
    environment.git_hook("commit-msg", "echo 'Ticket-1: reworded' > $1");
    environment.git_hook("post-commit", DIES);
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, -1);
    fs::remove_file(environment.path(".git/hooks/post-commit")).unwrap();
    environment.next(&[]);
    let task = &environment
        .done(&["status", PLAN, "--format", "json"])
        .json()["tasks"][0];
    assert_eq!(
        task["commit"].as_str(),
        Some(environment.git(&["rev-parse", "HEAD"]).trim())
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_commit_that_goes_on_after_its_process_died_is_waited_for() {
    let environment = started(&[]);
    environment.git_hook("pre-commit", &format!("{DIES}; sleep 2; exit 0"));
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, -1);
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Tasks are ready: run `fp claim sample-20261121 --as builder-1`.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    let task = &environment
        .done(&["status", PLAN, "--format", "json"])
        .json()["tasks"][0];
    assert_eq!(
        task["commit"].as_str(),
        Some(environment.git(&["rev-parse", "HEAD"]).trim())
    );
    assert_snapshot!(environment.commits(), @r"
    * Write part 1

    a.txt
    * Start

    README.md
    ");
}

/// After the commit, `fp` and git are killed before git has written the index.
#[cfg(target_os = "linux")]
#[test]
fn an_index_that_a_dead_git_left_behind_is_brought_to_its_commit() {
    let environment = started(&[]);
    environment.git_hook(
        "reference-transaction",
        &format!("test $1 = committed || exit 0; {DIES}; kill -9 $PPID"),
    );
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, -1);
    fs::remove_file(environment.path(".git/hooks/reference-transaction")).unwrap();
    assert_eq!(
        environment.git(&["status", "--short"]),
        "",
        "the index was there first"
    );
    environment.write(".git/index.lock", "");
    assert!(
        environment
            .next(&[])
            .stdout
            .starts_with("1. resume builder-1\n")
    );
    fs::remove_file(environment.path(".git/index.lock")).unwrap();
    assert_eq!(environment.git(&["status", "--short"]), "");
    let task = &environment
        .done(&["status", PLAN, "--format", "json"])
        .json()["tasks"][0];
    assert_eq!(
        task["commit"].as_str(),
        Some(environment.git(&["rev-parse", "HEAD"]).trim())
    );
    assert_eq!(environment.git(&["rev-list", "--count", "HEAD"]), "2\n");
}
