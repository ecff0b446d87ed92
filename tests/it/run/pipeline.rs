//! Runs in which everything goes well, at the first attempt or at the second.

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use crate::run::{sample, started};

#[test]
fn from_approval_to_the_last_commit() {
    let environment = sample();
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @r"
    exit status: 0
    --- stdout
    Approved: sample-20261121 with 3 tasks
    Next: /fp:implement sample-20261121, or in a terminal: fp run sample-20261121
    ");
    assert_snapshot!(environment.fp(&["approve", PLAN, "--yes"]), @r"
    exit status: 0
    --- stdout
    Approved already: sample-20261121 with 3 tasks
    Next: /fp:implement sample-20261121, or in a terminal: fp run sample-20261121
    ");
    assert_snapshot!(environment.fp(&["run", "start", PLAN, "--session", "s1"]), @r"
    exit status: 0
    --- stdout
    Run of sample-20261121: 0 of 3 tasks done
    Builders: 1, attempts: 3, commits: on
    Next: fp next sample-20261121
    ");
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. spawn builder-1
       agent: fp:builder
       name and description: builder-1
       prompt:
         You are builder-1 of plan sample-20261121. Run `fp claim sample-20261121 --as builder-1` and go by what it prints.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    let claim = environment.fp(&["claim", PLAN, "--as", "builder-1"]);
    assert_snapshot!(claim.masked(), @"
    exit status: 0
    --- stdout
    The user's goal, in their words:
    > sample-20261121

    ## TASK
    Write part 1 (task 1, iteration 1)

    ## EXPECTED OUTCOME
    1. `a.txt` has a line about 1

    ## MUST DO
    - One line
    - A newline at its end

    ## MUST NOT DO
    - Do NOT modify files outside: a.txt (new files beside them that are named as tests are fine)
    - Do NOT add new dependencies
    - Do NOT refactor existing code beyond the task scope

    ## CONTEXT
    - Files: a.txt
    - Tests Required: no

    ## VERIFICATION
    - Test Commands: none

    ## HAND IN
    When it is done, run this and end your turn:

        fp submit sample-20261121 1 --claim [TOKEN]

    Add --note 'GOTCHA(PATH): …' (or PATTERN, UTIL, WARN) for what whoever touches PATH should know, 'DEBT(PATH): …' for a defect outside your task.

    A file beyond these can't be done without: `fp scope extend sample-20261121 1 PATH --claim [TOKEN] --reason '…'`.
    What only the user can decide, once: `fp clarify sample-20261121 1 --as builder-1 --question '…' --option 'A|what it means' --option 'B|…'`.
    ");
    let token = claim
        .stdout
        .split("--claim ")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();
    environment.write("a.txt", "about 1\n");
    let submit = [
        "submit",
        PLAN,
        "1",
        "--claim",
        token,
        "--note",
        "gotcha: parts end with a newline",
    ];
    assert_snapshot!(environment.fp(&submit), @r"
    exit status: 0
    --- stdout
    Task 1 handed in: 1 file changed
      a.txt
    End your turn now: a message tells you what is next.
    ");
    assert_snapshot!(environment.next(&["--ended", "builder-1"]), @r"
    exit status: 0
    --- stdout
    1. verify verifier-1-i1
       agent: fp:verifier
       name and description: verifier-1-i1
       prompt:
         You are verifier-1-i1. Verify task 1 of plan sample-20261121, iteration 1: run `fp verify sample-20261121 1` and go by what it prints.
    2. wait for verifier-1-i1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    assert_snapshot!(environment.pass("1").masked(), @r"
    exit status: 0
    --- stdout
    Task 1 passed: commit [COMMIT]
    Evidence: evidence/task-1-verification.md
    ");
    assert_snapshot!(environment.next(&["--ended", "verifier-1-i1"]), @r"
    exit status: 0
    --- stdout
    1. resume builder-1
       message:
         Tasks are ready: run `fp claim sample-20261121 --as builder-1`.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]).masked(), @"
    exit status: 0
    --- stdout
    The user's goal, in their words:
    > sample-20261121

    ## TASK
    Write part 2 (task 2, iteration 1)

    ## EXPECTED OUTCOME
    1. `b.txt` has a line about 2

    ## MUST DO
    - One line
    - A newline at its end

    ## MUST NOT DO
    - Do NOT modify files outside: b.txt (new files beside them that are named as tests are fine)
    - Do NOT add new dependencies
    - Do NOT refactor existing code beyond the task scope

    ## CONTEXT
    - Files: b.txt
    - Tests Required: no
    - Task 1 did: Write part 1 (a.txt, commit bcf16c3): fine
    - Note [Task 1] GOTCHA: parts end with a newline

    ## VERIFICATION
    - Test Commands: none

    ## HAND IN
    When it is done, run this and end your turn:

        fp submit sample-20261121 2 --claim [TOKEN]

    Add --note 'GOTCHA(PATH): …' (or PATTERN, UTIL, WARN) for what whoever touches PATH should know, 'DEBT(PATH): …' for a defect outside your task.

    A file beyond these can't be done without: `fp scope extend sample-20261121 2 PATH --claim [TOKEN] --reason '…'`.
    What only the user can decide, once: `fp clarify sample-20261121 2 --as builder-1 --question '…' --option 'A|what it means' --option 'B|…'`.
    ");
    assert_snapshot!(environment.fp(&["status", PLAN]).masked(), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▰▰▰▱▱▱▱▱▱▱ 1 of 3 tasks done, 1 being built, 1 waiting

      ▶ 2  building   Write part 2  (1/3, builder-1)
      ○ 3  waiting    Write part 3
                      it waits for 2
      ✓ 1  done       Write part 1  (1/3, [COMMIT])
    ");
    assert_snapshot!(environment.commits(), @r"
    * Write part 1

    a.txt
    * Start

    README.md
    ");
    assert_snapshot!(environment.read(&format!(".fractal-planner/plans/{PLAN}/notepad.md")), @r"
    # Implementation Notepad

    Plan: sample-20261121
    Started: 2026-11-21T09:00:00Z

    ## Entries (most recent last)

    - [Task 1] GOTCHA: parts end with a newline
    ");
    assert_snapshot!(
        environment.read(&format!(".fractal-planner/plans/{PLAN}/evidence/task-1-verification.md")), @"
    # Verification Evidence: Task 1

    Result: PASS
    Timestamp: 2026-11-21T09:00:00Z
    Task: Write part 1
    Iteration: 1
    Tree: c05303a981feeb9d746fd845de3c8a68cce2884d

    ## Criteria Results

    | # | Criterion | Result | Evidence |
    |---|-----------|--------|---------|
    | 1 | `a.txt` has a line about 1 | PASS | seen |

    ## Mechanical Checks

    | Check | Result | Detail |
    |-------|--------|--------|
    | changes | PASS | 1 file changed |
    | boundary | PASS | every change is within the task's files |
    | dependencies | N/A | no manifest and no lock file changed |
    | leftovers | PASS | none in the added lines |
    | tests | N/A | no test was touched |

    ## Test Output

    No test commands

    ## Files Reviewed

    - a.txt

    ## Summary

    fine
    "
    );
}

#[test]
fn a_finished_run_shows_its_report_as_often_as_asked() {
    let environment = started(&[]);
    for file in ["a.txt", "b.txt", "c.txt"] {
        environment.complete(file);
    }
    let finish = environment.next(&[]);
    assert_snapshot!(finish, @r"
    exit status: 0
    --- stdout
    1. finish
       The run is over. Show this report:

    Plan sample-20261121 (finished)
    3 of 3 tasks done

      1  done       Write part 1  (1/3, [COMMIT])
      2  done       Write part 2  (1/3, [COMMIT])
      3  done       Write part 3  (1/3, [COMMIT])
    ");
    assert_eq!(environment.next(&[]), finish);
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]), @r"
    exit status: 1
    --- stderr
    error: the run is over
    hint: `fp status sample-20261121` shows how it ended; `fp start sample-20261121` starts it again
    ");
    assert_snapshot!(environment.fp(&["plans"]), @r"
    exit status: 0
    --- stdout
    No active plan; `fp new GOAL` makes one
    (1 that are over: fp plans --all)
    ");
    assert_snapshot!(environment.fp(&["plans", "--all"]), @r"
    exit status: 0
    --- stdout
      1  sample-20261121                               finished       3 of 3 done
    ");
    assert_snapshot!(environment.fp(&["cancel", PLAN]), @r"
    exit status: 0
    --- stdout
    The run is over already
    ");
    assert_snapshot!(environment.commits(), @r"
    * Write part 3

    c.txt
    * Write part 2

    b.txt
    * Write part 1

    a.txt
    * Start

    README.md
    ");
}

#[test]
fn a_failed_verdict_comes_back_as_feedback() {
    let environment = started(&[]);
    environment.build("builder-1", "a.txt", "nothing\n");
    assert_snapshot!(environment.fail("1"), @r"
    exit status: 0
    --- stdout
    Task 1 did not pass: it goes back, attempt 2
    Evidence: evidence/task-1-verification.md
    ");
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
    let claim = environment
        .fp(&["claim", PLAN, "--as", "builder-1"])
        .masked();
    let feedback = claim
        .stdout
        .find("## FEEDBACK")
        .expect("the payload says what to mend");
    assert_snapshot!(&claim.stdout[feedback..], @"
    ## FEEDBACK
    The iteration before did not pass. Mend this first:
    Criterion 1 (`a.txt` has a line about 1): not seen

    ## HAND IN
    When it is done, run this and end your turn:

        fp submit sample-20261121 1 --claim [TOKEN]

    Add --note 'GOTCHA(PATH): …' (or PATTERN, UTIL, WARN) for what whoever touches PATH should know, 'DEBT(PATH): …' for a defect outside your task.

    A file beyond these can't be done without: `fp scope extend sample-20261121 1 PATH --claim [TOKEN] --reason '…'`.
    ");
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_snapshot!(environment.pass("1").masked(), @r"
    exit status: 0
    --- stdout
    Task 1 passed: commit [COMMIT]
    Evidence: evidence/task-1-verification.md
    ");
    assert_eq!(environment.git(&["show", "HEAD:a.txt"]), "about 1\n");
}

#[test]
fn exit_codes_tell_refused_from_nothing_ready() {
    let environment = started(&[]);
    environment.claim("builder-1");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-2"]), @r"
    exit status: 3
    --- stderr
    error: nothing is ready: 0 of 3 tasks are over; under way: 1 (building, builder-1)
    hint: end your turn: you are told when there is something
    ");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-2", "2"]), @"
    exit status: 1
    --- stderr
    error: task 2 is not ready: it waits for 1
    hint: `fp status sample-20261121 --ready` says what each task waits for
    ");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-2", "9"]), @r"
    exit status: 1
    --- stderr
    error: the approved plan has no leaf 9
    hint: `fp status sample-20261121` lists the leaves
    ");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1", "2"]), @r"
    exit status: 1
    --- stderr
    error: builder-1 holds task 1, which is building: one task at a time
    hint: run `fp claim` without a task for the payload of the one you hold
    ");
    assert_snapshot!(environment.fp(&["submit", PLAN, "1", "--claim", "0123"]), @r"
    exit status: 1
    --- stderr
    error: the claim on task 1 is not yours any more: its token has changed
    hint: run `fp claim sample-20261121 --as NAME`: if the task is still yours, it prints the token in force
    ");
    assert_snapshot!(environment.fp(&["submit", PLAN, "2", "--claim", "0123"]), @r"
    exit status: 1
    --- stderr
    error: task 2 is waiting: claim it first
    hint: `fp why sample-20261121 2` says how it came to that, and what is next
    ");
    assert_snapshot!(environment.pass("1"), @r"
    exit status: 1
    --- stderr
    error: task 1 is building: only a submitted task can be verified
    hint: `fp why sample-20261121 1` says how it came to that, and what is next
    ");
    assert_snapshot!(environment.fp(&["retry", PLAN, "2"]), @r"
    exit status: 1
    --- stderr
    error: task 2 is waiting: only a failed task can be retried
    hint: `fp why sample-20261121 2` says how it came to that, and what is next
    ");
    assert_snapshot!(environment.fp(&["answer", PLAN, "q1", "--option", "Retry"]), @r#"
    exit status: 1
    --- stderr
    error: there is no open question "q1"
    hint: `fp status sample-20261121` lists the open questions
    "#);
    assert_snapshot!(environment.fp(&["note", PLAN, "add", "remember this"]), @"
    exit status: 0
    --- stdout
    [plan] WARN: remember this
    ");
    assert_snapshot!(environment.fp(&["note", PLAN, "add", "WARN: x", "--task", "9"]), @r"
    exit status: 1
    --- stderr
    error: the approved plan has no leaf 9
    hint: `fp status sample-20261121` lists the leaves
    ");
}

#[test]
fn a_verdict_judges_each_criterion_of_this_iteration() {
    let environment = started(&[]);
    environment.build("builder-1", "a.txt", "about 1\n");
    let verdict = |args: &[&str]| environment.fp(&[&["verdict", PLAN, "1"], args].concat());
    assert_snapshot!(verdict(&["--summary", "fine"]), @r"
    exit status: 2
    --- stderr
    error: no judgement on criteria 1
    hint: judge each criterion once: --pass 'N: …' or --fail 'N: …'
    ");
    assert_snapshot!(verdict(&["--pass", "1: a", "--fail", "1: b"]), @r"
    exit status: 2
    --- stderr
    error: criterion 1 is judged twice
    hint: judge each criterion once: --pass 'N: …' or --fail 'N: …'
    ");
    assert_snapshot!(verdict(&["--pass", "2: a"]), @r"
    exit status: 2
    --- stderr
    error: there is no criterion 2: the task has 1
    hint: judge each criterion once: --pass 'N: …' or --fail 'N: …'
    ");
    for word in ["1: read", "1: OK.", "1: ---"] {
        let refused = verdict(&["--pass", word]);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(
            refused.stderr.contains("is no evidence for criterion 1"),
            "{refused}"
        );
    }
    assert_snapshot!(verdict(&["--pass", "fine"]), @r#"
    exit status: 2
    --- stderr
    error: "fine" is no judgement
    hint: write the number of the criterion, or several as in 1,3, a colon and the evidence: '1: tests/a.sh shows it'
    "#);
    assert_snapshot!(verdict(&["--iteration", "2", "--pass", "1: a"]), @r"
    exit status: 1
    --- stderr
    error: task 1 is at attempt 1, this verdict is about attempt 2
    hint: run `fp verify sample-20261121 1` and judge what it shows
    ");
    assert_eq!(
        environment.statuses()[0].1,
        "AWAITING_VERIFICATION",
        "nothing was recorded"
    );
    assert_eq!(verdict(&["--iteration", "1", "--pass", "1: a"]).code, 0);
    assert_snapshot!(verdict(&["--iteration", "1", "--pass", "1: a"]), @r"
    exit status: 1
    --- stderr
    error: task 1 is done: its commit is made, and only a submitted task can be verified
    hint: `fp why sample-20261121 1` says how it came to that, and what is next
    ");
}

#[test]
fn tasks_of_one_file_wait_for_each_other() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "src"),
        leaf("2", "none", "src/b.txt"),
        leaf("3", "none", "c.txt"),
    ]));
    environment.start(&["--builders", "3"]);
    assert_snapshot!(environment.next(&[]), @r"
    exit status: 0
    --- stdout
    1. spawn builder-1
       agent: fp:builder
       name and description: builder-1
       prompt:
         You are builder-1 of plan sample-20261121. Run `fp claim sample-20261121 --as builder-1` and go by what it prints.
    2. spawn builder-2
       agent: fp:builder
       name and description: builder-2
       prompt:
         You are builder-2 of plan sample-20261121. Run `fp claim sample-20261121 --as builder-2` and go by what it prints.
    3. wait for builder-1, builder-2
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    ");
    environment.claim("builder-1");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-2", "2"]), @"
    exit status: 1
    --- stderr
    error: task 2 is not ready: running task 1 may change src/b.txt
    hint: `fp status sample-20261121 --ready` says what each task waits for
    ");
    assert_eq!(environment.claim("builder-2").unwrap().0, "3");
    assert_snapshot!(environment.fp(&["status", PLAN]).masked(), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 3 tasks done, 2 being built, 1 waiting

      ▶ 1  building   Write part 1  (1/3, builder-1)
      ▶ 3  building   Write part 3  (1/3, builder-2)
      ○ 2  waiting    Write part 2
                      running task 1 may change src/b.txt
    ");
}

#[test]
fn without_commits_the_changes_stay_in_the_working_tree() {
    let environment = started(&["--no-commit"]);
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_snapshot!(environment.pass("1"), @r"
    exit status: 0
    --- stdout
    Task 1 passed, without a commit: commits are off
    Evidence: evidence/task-1-verification.md
    ");
    assert_eq!(environment.git(&["status", "--short"]), "?? a.txt\n");
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▰▰▰▱▱▱▱▱▱▱ 1 of 3 tasks done, 1 ready, 1 waiting

      ● 2  ready      Write part 2
      ○ 3  waiting    Write part 3
                      it waits for 2
      ✓ 1  done       Write part 1  (1/3)
                      commits are off
    ");
}
