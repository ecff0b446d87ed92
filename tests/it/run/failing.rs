//! Tasks that fail, and the user's answers.

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::{Leaf, PLAN, leaf, tree};
use crate::run::started;

/// Fails task 1 until its attempts are used up.
fn fail_for_good(environment: &Environment) {
    for iteration in 1..=3 {
        environment.build("builder-1", "a.txt", &format!("try {iteration}\n"));
        let verdict = environment.fail("1");
        assert_eq!(verdict.code, 0, "{verdict}");
    }
}

#[test]
fn the_last_iteration_skips_what_waits_and_asks() {
    let environment = started(&[]);
    fail_for_good(&environment);
    assert_snapshot!(environment.next(&[]), @r#"
    exit status: 0
    --- stdout
    1. ask q1
       question: Task 1 failed for good: Criterion 1 (`a.txt` has a line about 1): not seen. The verifier says: "not yet". How should it continue? [sample-20261121 q1 0cab9daa]
       header: Task failed
       options:
       - Continue: go on with the tasks that don't depend on it
       - Retry: give it all its attempts again
       - Change the task: correct it with `fp task revise`, then `fp approve`; it goes on with its work
       - Stop: end the run; what is done stays
       then: the answer is recorded as it is given; without hooks: fp answer sample-20261121 q1 --option 'LABEL'
    "#);
    assert_snapshot!(environment.fp(&["status", PLAN]), @r#"
    exit status: 0
    --- stdout
    Plan sample-20261121 (waits for you)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 1 failed, 2 skipped

    Needs you:
      Nothing goes on before you have answered
      ? Task 1 failed for good: Criterion 1 (`a.txt` has a line about 1): not seen. The verifier says: "not yet". How should it continue?
        fp answer sample-20261121 q1 --option Continue

      ✕ 1  failed     Write part 1  (3/3, 1 question)
                      Criterion 1 (`a.txt` has a line about 1): not seen
      – 2  skipped    Write part 2
                      Blocked by 1
      – 3  skipped    Write part 3
                      Blocked by 1
    "#);
    assert_snapshot!(environment.fp(&["answer", PLAN, "q1", "--option", "Perhaps"]), @r#"
    exit status: 1
    --- stderr
    error: question q1 has no option "Perhaps"
    hint: it has Continue, Retry, Change the task, Stop
    "#);
    assert_snapshot!(environment.fp(&["answer", PLAN, "q1", "--option", "retry"]), @r"
    exit status: 0
    --- stdout
    Recorded
    Next: fp next sample-20261121
    ");
    assert_snapshot!(environment.fp(&["answer", PLAN, "q1", "--option", "retry"]), @r#"
    exit status: 1
    --- stderr
    error: there is no open question "q1"
    hint: `fp status sample-20261121` lists the open questions
    "#);
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 1 ready, 2 waiting

      ● 1  ready      Write part 1  (3 failed)
      ○ 2  waiting    Write part 2
                      it waits for 1
      ○ 3  waiting    Write part 3
                      it waits for 2
    ");
    assert_snapshot!(environment.next(&["--ended", "builder-1"]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Tasks are ready: run `fp claim sample-20261121 --as builder-1`.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    for file in ["a.txt", "b.txt", "c.txt"] {
        environment.complete(file);
    }
    assert_snapshot!(environment.fp(&["status", PLAN]).masked(), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▰▰▰▰▰▰▰▰▰▰ 3 of 3 tasks done

      ✓ 1  done       Write part 1  (1/3, 3 failed, 1 question, [COMMIT])
      ✓ 2  done       Write part 2  (1/3, [COMMIT])
      ✓ 3  done       Write part 3  (1/3, [COMMIT])
    ");
}

#[test]
fn to_continue_leaves_the_failed_task_for_a_later_retry() {
    let environment = started(&[]);
    fail_for_good(&environment);
    environment.done(&["answer", PLAN, "q1", "--option", "Continue"]);
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. finish
       The run is over. Show this report:

    Plan sample-20261121 (finished)
    0 of 3 tasks done, 1 failed, 2 skipped

      1  failed     Write part 1  (3/3, 1 question)
                    Criterion 1 (`a.txt` has a line about 1): not seen
      2  skipped    Write part 2
                    Blocked by 1
      3  skipped    Write part 3
                    Blocked by 1
    ");
    assert_snapshot!(environment.fp(&["retry", PLAN, "2"]), @r"
    exit status: 1
    --- stderr
    error: task 2 is skipped: it waits for a failed task, retry 1
    hint: `fp why sample-20261121 2` says how it came to that, and what is next
    ");
    assert_snapshot!(environment.fp(&["retry", PLAN, "1"]), @r"
    exit status: 0
    --- stdout
    Task 1 waits again, and so do 2, 3
    Next: fp next sample-20261121
    ");
    assert_eq!(environment.complete("a.txt"), "1");
}

#[test]
fn to_stop_ends_the_run_and_a_start_goes_on() {
    let environment = started(&[]);
    fail_for_good(&environment);
    environment.done(&["answer", PLAN, "q1", "--option", "Stop"]);
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. finish
       The run is over. Show this report:

    Plan sample-20261121 (cancelled)
    0 of 3 tasks done, 1 failed, 2 skipped

      1  failed     Write part 1  (3/3, 1 question)
                    Criterion 1 (`a.txt` has a line about 1): not seen
      2  skipped    Write part 2
                    Blocked by 1
      3  skipped    Write part 3
                    Blocked by 1
    ");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]), @r"
    exit status: 1
    --- stderr
    error: the run is over
    hint: `fp status sample-20261121` shows how it ended; `fp start sample-20261121` starts it again
    ");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--here"]), @r"
    exit status: 0
    --- stdout
    Run of sample-20261121: 0 of 3 tasks done, 1 failed, 2 skipped
    Builders: 1, attempts: 3, commits: on
    Next: fp next sample-20261121
    ");
}

#[test]
fn giving_a_task_up_by_hand() {
    let environment = started(&[]);
    let (_, token) = environment.claim("builder-1").unwrap();
    assert_snapshot!(environment.fp(&["cancel", PLAN, "1", "--reason", "no longer wanted"]), @r"
    exit status: 0
    --- stdout
    Task 1 is given up; 2 tasks that wait for it are skipped
    ");
    assert_snapshot!(environment.fp(&["cancel", PLAN, "1", "--reason", "no longer wanted"]), @r"
    exit status: 1
    --- stderr
    error: task 1 is failed: only a task that is not over can be given up
    hint: `fp why sample-20261121 1` says how it came to that, and what is next
    ");
    assert_snapshot!(environment.fp(&["submit", PLAN, "1", "--claim", &token]), @r"
    exit status: 1
    --- stderr
    error: task 1 is failed: nothing can be handed in for it
    hint: `fp why sample-20261121 1` says how it came to that, and what is next
    ");
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 1 failed, 2 skipped

      ✕ 1  failed     Write part 1  (1/3)
                      no longer wanted
      – 2  skipped    Write part 2
                      Blocked by 1
      – 3  skipped    Write part 3
                      Blocked by 1
    ");
}

#[test]
fn a_released_task_is_claimed_by_another_without_losing_the_work() {
    let environment = started(&[]);
    let (_, old) = environment.claim("builder-1").unwrap();
    environment.write("a.txt", "half of it\n");
    assert_snapshot!(environment.fp(&["retry", PLAN, "1"]), @r"
    exit status: 0
    --- stdout
    Task 1 waits again
    ");
    let (task, token) = environment.claim("builder-2").unwrap();
    assert_eq!(task, "1");
    assert_snapshot!(environment.fp(&["submit", PLAN, "1", "--claim", &old]), @r"
    exit status: 1
    --- stderr
    error: the claim on task 1 is not yours any more: its token has changed
    hint: run `fp claim sample-20261121 --as NAME`: if the task is still yours, it prints the token in force
    ");
    assert_snapshot!(environment.fp(&["submit", PLAN, "1", "--claim", &token]), @r"
    exit status: 0
    --- stdout
    Task 1 handed in: 1 file changed
      a.txt
    End your turn now: a message tells you what is next.
    ");
}

#[test]
fn a_cancelled_run_keeps_what_is_done() {
    let environment = started(&[]);
    environment.complete("a.txt");
    environment.claim("builder-1");
    assert_snapshot!(environment.fp(&["cancel", PLAN]), @r"
    exit status: 0
    --- stdout
    The run is cancelled; `fp start sample-20261121` goes on with what is left
    ");
    assert_snapshot!(environment.fp(&["cancel"]), @r"
    exit status: 2
    --- stderr
    error: no plan was named and none is active; there are:
      1  sample-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans --all` lists them
    ");
    for command in [
        &["status"][..],
        &["report", "--handoff"],
        &["log"],
        &["report"],
    ] {
        let output = environment.done(command);
        assert!(
            output
                .stderr
                .starts_with("note: this is the last plan, sample-20261121, cancelled "),
            "{output}"
        );
        assert_eq!(
            output.stdout,
            environment.done(&[command, &[PLAN]].concat()).stdout,
            "{command:?}"
        );
    }
    assert_eq!(
        environment.done(&["why", "1"]).stdout,
        environment.done(&["why", PLAN, "1"]).stdout
    );
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. finish
       The run is over. Show this report:

    Plan sample-20261121 (cancelled)
    1 of 3 tasks done, 1 stopped, 1 waiting

      1  done       Write part 1  (1/3, [COMMIT])
      2  stopped    Write part 2  (1/3, builder-1)
      3  waiting    Write part 3
                    it waits for 2
    ");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--session", "s2"]), @r"
    exit status: 0
    --- stdout
    Run of sample-20261121: 1 of 3 tasks done, 1 taken back, since the run was interrupted
    Builders: 1, attempts: 3, commits: on
    Next: fp next sample-20261121
    ");
    assert_eq!(environment.complete("b.txt"), "2");
}

#[test]
fn a_builder_that_stops_is_nudged_and_then_loses_its_claim() {
    let environment = started(&[]);
    environment.next(&[]);
    environment.claim("builder-1");
    assert_snapshot!(environment.next(&["--ended", "builder-1"]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         builder-1, you hold task 1 of plan sample-20261121 and have not handed it in. Run `fp claim sample-20261121 --as builder-1` for its payload, go on with it, and submit it when it is done.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    for _ in 0..2 {
        environment.next(&["--ended", "builder-1"]);
    }
    assert_snapshot!(environment.next(&["--ended", "builder-1"]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Tasks are ready: run `fp claim sample-20261121 --as builder-1`.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 1 ready, 2 waiting

      ● 1  ready      Write part 1  (2/3)
      ○ 2  waiting    Write part 2
                      it waits for 1
      ○ 3  waiting    Write part 3
                      it waits for 2
    ");
}

#[test]
fn a_builder_that_is_gone_before_it_claims_is_started_again_then_asked_about() {
    let environment = started(&[]);
    environment.next(&[]);
    for _ in 0..2 {
        assert!(
            environment
                .next(&["--ended", "builder-1"])
                .stdout
                .starts_with("1. spawn builder-1\n")
        );
    }
    assert_snapshot!(environment.next(&["--ended", "builder-1"]), @r"
    exit status: 0
    --- stdout
    1. ask q1
       question: Tasks are ready, but builders end without taking one. How should it continue? [sample-20261121 q1 894bf457]
       header: No builder
       options:
       - Retry: start builders again
       - Stop: end the run; what is done stays
       then: the answer is recorded as it is given; without hooks: fp answer sample-20261121 q1 --option 'LABEL'
    ");
}

#[test]
fn a_verifier_that_says_nothing_is_replaced_once_then_asked_about() {
    let environment = started(&[]);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.next(&[]);
    assert_snapshot!(environment.next(&["--ended", "verifier-1-i1"]), @r"
    exit status: 0
    --- stdout
    1. verify verifier-1-i1-2
       agent: fp:verifier
       name and description: verifier-1-i1-2
       prompt:
         You are verifier-1-i1-2. Verify task 1 of plan sample-20261121, iteration 1: run `fp verify sample-20261121 1` and go by what it prints.
    2. wait for verifier-1-i1-2
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    assert_snapshot!(environment.next(&["--ended", "verifier-1-i1-2"]), @r"
    exit status: 0
    --- stdout
    1. ask q1
       question: Two verifiers of task 1 ended without a verdict. How should it continue? [sample-20261121 q1 58fdf116]
       header: No verdict
       options:
       - Retry: start another verifier
       - Give up: give the task up and go on
       - Stop: end the run; what is done stays
       then: the answer is recorded as it is given; without hooks: fp answer sample-20261121 q1 --option 'LABEL'
    ");
    assert_snapshot!(environment.pass("1").masked(), @r"
    exit status: 0
    --- stdout
    Task 1 passed: commit [COMMIT]
    Evidence: evidence/task-1-verification.md
    ");
    assert_eq!(
        environment
            .done(&["status", PLAN, "--format", "json"])
            .json()["questions"],
        serde_json::json!([])
    );
}

/// A submission that is bound to fail is refused with the ways to fix it, and doesn't use up an attempt.
#[test]
fn a_submission_that_is_bound_to_fail_is_refused() {
    let environment = started(&[]);
    let before = environment.read("README.md");
    let (task, token) = environment.claim("builder-1").unwrap();
    let submit = ["submit", PLAN, &task, "--claim", &token];
    let log = format!(".fractal-planner/plans/{PLAN}/events.jsonl");
    let logged = environment.read(&log);
    environment.write("a.txt", "about 1\n<<<<<<< HEAD\n");
    environment.write("README.md", "# Changed\n");
    environment.write("new file.txt", "not of the task\n");
    let refused = environment.fp(&submit);
    let masked = refused.masked().stderr.replace(&token, "[TOKEN]");
    let source = masked.find("--source=").unwrap() + "--source=".len();
    let base = masked[source..].split(' ').next().unwrap().to_owned();
    assert_snapshot!(masked.replace(&base, "[TREE]"), @r"
    error: task 1 can't be handed in: boundary: README.md was changed, is not in the task's files; new file.txt is new, is not in the task's files; leftovers: a.txt:2: <<<<<<< HEAD
    hint: nothing was handed in, and no attempt is used: correct this and run `fp submit` again
    hint: if you changed README.md, undo it: `git restore --source=[TREE] --worktree -- README.md`; if the task can't be done without it: `fp scope extend sample-20261121 1 README.md --claim [TOKEN] --reason '…'`
    hint: if you changed 'new file.txt', undo it: `rm -- 'new file.txt'`; if the task can't be done without it: `fp scope extend sample-20261121 1 'new file.txt' --claim [TOKEN] --reason '…'`
    ");
    assert_eq!(refused.code, 1);
    // The log records the refusal and its reason only once.
    environment.fp(&submit);
    let log = environment.read(&log);
    let more: Vec<&str> = log.strip_prefix(&logged).unwrap().lines().collect();
    assert!(
        more.len() == 1 && more[0].contains(r#"[{"submitRefused":{"task":"1","owner":"builder-1""#),
        "{more:?}"
    );
    let source = refused
        .stderr
        .split("--source=")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    environment.git(&[
        "restore",
        &format!("--source={source}"),
        "--worktree",
        "--",
        "README.md",
    ]);
    assert_eq!(environment.read("README.md"), before);
    std::fs::remove_file(environment.path("new file.txt")).unwrap();
    environment.write("a.txt", "about 1\n");
    environment.done(&submit);
}

/// A plan whose first task has a command that can't pass; the task was built and failed only because of it.
fn failed_by_its_command() -> Environment {
    let environment = Environment::new().shared().repo();
    environment.plan(&tree(&[Leaf {
        test: "ls no-such-flag",
        ..leaf("1", "none", "a.txt")
    }]));
    environment.start(&[]);
    environment.build("builder-1", "a.txt", "about 1\n");
    let verdict = environment.pass("1");
    assert!(
        verdict
            .stdout
            .starts_with("Task 1 did not pass by its commands: the user is asked\n"),
        "{verdict}"
    );
    environment
}

#[test]
fn a_check_is_dropped_by_the_users_choice() {
    let environment = failed_by_its_command();
    let asked = environment.next(&[]).stdout;
    assert!(
        asked.contains(
            "`ls no-such-flag` ended with exit status 2: \"ls: cannot access 'no-such-flag'"
        ),
        "{asked}"
    );
    environment.done(&["answer", PLAN, "q1", "--option", "Run without this check"]);
    assert!(environment.next(&[]).stdout.starts_with("1. verify "));
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    let evidence = environment.read(&format!(
        ".fractal-planner/plans/{PLAN}/evidence/task-1-verification.md"
    ));
    let dropped = "command: ls no-such-flag (NOTE)\n\n```\nnot run: by the user's choice";
    assert!(evidence.contains(dropped), "{evidence}");
    let report = environment.next(&[]).stdout;
    assert!(
        report.contains("- not checked, by your choice: ls no-such-flag"),
        "{report}"
    );
}

#[test]
fn a_task_is_changed_and_goes_on_with_its_work() {
    let environment = failed_by_its_command();
    let answered = environment
        .done(&["answer", PLAN, "q1", "--option", "Change the task"])
        .stdout;
    let command = format!("fp task revise {PLAN} 1 --file -, then fp approve {PLAN}");
    assert_eq!(answered, format!("Recorded\nNext: {command}\n"));
    assert!(
        environment
            .next(&[])
            .stdout
            .contains(&format!("run `fp task revise {PLAN} 1 --file -`"))
    );
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.done(&["approve", PLAN, "--yes"]);
    assert!(
        environment
            .next(&["--ended", "builder-1"])
            .stdout
            .starts_with("1. resume builder-1")
    );
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
}

#[test]
fn the_builder_of_a_task_that_is_given_up_is_told() {
    let environment = started(&[]);
    environment.next(&[]);
    environment.claim("builder-1").unwrap();
    environment.done(&["cancel", PLAN, "1", "--reason", "not wanted"]);
    let next = environment.next(&[]).stdout;
    let told = "resume builder-1\n   message:\n     builder-1, task 1 of plan sample-20261121 is not yours any more: \
                leave it as it is and run `fp claim sample-20261121 --as builder-1`";
    assert!(next.contains(told), "{next}");
    let again = environment.next(&["--ended", "builder-1"]).stdout;
    assert!(!again.contains("not yours"), "{again}");
}

#[test]
fn nobody_is_told_of_a_task_that_no_builder_is_at() {
    let environment = started(&[]);
    environment.next(&[]);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.done(&["cancel", PLAN, "1", "--reason", "not wanted"]);
    let next = environment.next(&["--ended", "builder-1"]).stdout;
    assert!(!next.contains("not yours"), "{next}");
}
