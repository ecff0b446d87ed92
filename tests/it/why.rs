//! `fp why`: the reasons for a task's state, and how to unblock it.

use crate::common::plan::{Leaf, PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

fn planned() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
        leaf("3", "2", "c.txt"),
        leaf("4", "none", "d.txt"),
    ]));
    environment
}

fn started() -> Environment {
    let environment = planned();
    environment.start(&["--max-iterations", "2"]);
    environment
}

fn why(environment: &Environment, task: &str) -> Output {
    let output = environment.fp(&["why", PLAN, task]).masked();
    let commit = regex::Regex::new("commit [0-9a-f]{7}").unwrap();
    Output {
        stdout: commit
            .replace_all(&output.stdout, "commit [COMMIT]")
            .into_owned(),
        ..output
    }
}

#[test]
fn a_task_that_waits() {
    let environment = started();
    assert_snapshot!(why(&environment, "3"), @r"
    exit status: 0
    --- stdout
    Task 3: Write part 3

    State:
      3  waiting  Write part 3: it waits for 2
        2  waiting  Write part 2: it waits for 1
          1  ready  Write part 1: it is ready

    What unblocks it:
      /fp:implement sample-20261121
          has task 1 built, in Claude Code; in a terminal: `fp run sample-20261121`
    ");
    environment.claim("builder-1").unwrap();
    assert_snapshot!(why(&environment, "2"), @"
    exit status: 0
    --- stdout
    Task 2: Write part 2

    State:
      2  waiting  Write part 2: it waits for 1
        1  building  Write part 1: it is being built by builder-1, attempt 1 of 2

    What unblocks it:
      fp retry sample-20261121 1
          takes task 1 back from builder-1, in case that one is gone
    ");
}

#[test]
fn a_task_that_failed_and_those_that_wait_for_it() {
    let environment = started();
    environment.build("builder-1", "a.txt", "nothing\n");
    environment.fail("1");
    environment.build("builder-1", "a.txt", "nothing\n");
    environment.fail("1");
    assert_snapshot!(why(&environment, "1"), @r#"
    exit status: 0
    --- stdout
    Task 1: Write part 1

    State:
      1  failed  Write part 1: question q1 waits for an answer: Task 1 failed for
                 good: Criterion 1 (`a.txt` has a line about 1): not seen. The
                 verifier says: "not yet". How should it continue?

    History:
    2026-11-21 (UTC)
    09:00:00      3  1  builder-1 claims it (attempt 1)
    09:00:00      6  1  attempt 1 did not pass
                          Criterion 1 (`a.txt` has a line about 1): not seen
                          Summary: not yet
    09:00:00      6  1  goes back for attempt 2
    09:00:00      7  1  builder-1 claims it (attempt 2)
    09:00:00     10  1  attempt 2 did not pass
                          Criterion 1 (`a.txt` has a line about 1): not seen
                          Summary: not yet
    09:00:00     10  1  failed
    09:00:00     10  1  question q1: Task failed
                          Task 1 failed for good: Criterion 1 (`a.txt` has a line
                          about 1): not seen. The verifier says: "not yet". How
                          should it continue?

    What unblocks it:
      fp answer sample-20261121 q1 --option Retry
          answers q1 (Continue, Retry, Change the task, Stop)
    "#);
    environment.done(&["answer", PLAN, "q1", "--option", "Continue"]);
    assert_snapshot!(why(&environment, "3"), @"
    exit status: 0
    --- stdout
    Task 3: Write part 3

    State:
      3  skipped  Write part 3: Blocked by 1
        2  skipped  Write part 2: Blocked by 1
          1  failed  Write part 1: Criterion 1 (`a.txt` has a line about 1): not
                     seen

    History:
    2026-11-21 (UTC)
    09:00:00     10  3  skipped because of 1

    What unblocks it:
      fp retry sample-20261121 1
          gives task 1 another attempt
      fp task revise sample-20261121 1 --file -
          changes task 1, if it is at fault; then `fp approve sample-20261121`
    ");
    let report = environment
        .done(&["why", PLAN, "3", "--format", "json"])
        .json();
    let chain = report["chain"].as_array().unwrap();
    let ids: Vec<&str> = chain
        .iter()
        .map(|link| link["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["3", "2", "1"]);
    assert_eq!(report["next"][0]["command"], format!("fp retry {PLAN} 1"));
    environment.done(&["retry", PLAN, "1"]);
    assert_snapshot!(why(&environment, "3"), @r"
    exit status: 0
    --- stdout
    Task 3: Write part 3

    State:
      3  waiting  Write part 3: it waits for 2
        2  waiting  Write part 2: it waits for 1
          1  ready  Write part 1: it is ready

    History:
    2026-11-21 (UTC)
    09:00:00     10  3  skipped because of 1
    09:00:00     12  1  gets another attempt, and with it 2, 3

    What unblocks it:
      /fp:implement sample-20261121
          has task 1 built, in Claude Code; in a terminal: `fp run sample-20261121`
    ");
}

#[test]
fn a_task_that_is_done_and_one_that_was_edited() {
    let environment = started();
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass("1");
    assert_snapshot!(why(&environment, "1"), @r"
    exit status: 0
    --- stdout
    Task 1: Write part 1

    State:
      1  done  Write part 1: it passed

    History:
    2026-11-21 (UTC)
    09:00:00      3  1  builder-1 claims it (attempt 1)
    09:00:00      6  1  attempt 1 passed
                          fine
    09:00:00      8  1  done, commit [COMMIT]

    What unblocks it:
      nothing: it is done
    ");
    let tasks = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let text = environment
        .read(&tasks)
        .replace("Write part 4", "Write another part 4");
    environment.write(&tasks, text);
    assert_snapshot!(why(&environment, "4"), @r"
    exit status: 0
    --- stdout
    Task 4: Write part 4

    State:
      4  waiting  Write part 4: it was edited after the approval: run `fp approve
                  sample-20261121`

    What unblocks it:
      fp approve sample-20261121
          approves the tree as it is now, after a look at it
    ");
}

#[test]
fn what_it_does_not_know() {
    let environment = planned();
    assert_snapshot!(why(&environment, "1"), @r"
    exit status: 1
    --- stderr
    error: the plan is not approved yet
    hint: validate the plan and run `fp approve sample-20261121`
    ");
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(why(&environment, "1"), @r"
    exit status: 0
    --- stdout
    Task 1: Write part 1

    State:
      1  ready  Write part 1: the run is not started yet

    What unblocks it:
      /fp:implement sample-20261121
          has task 1 built, in Claude Code; in a terminal: `fp run sample-20261121`
    ");
    assert_snapshot!(why(&environment, "9"), @r"
    exit status: 1
    --- stderr
    error: the approved plan has no leaf 9
    hint: `fp status sample-20261121` lists the leaves
    ");
    assert_snapshot!(why(&environment, "../1"), @r#"
    exit status: 2
    --- stderr
    error: invalid value '../1' for '<TASK>': "../1" is not an id: ids are letters, digits, `-`, `_`, in segments joined by `.`

    For more information, try '--help'.
    "#);
    assert_snapshot!(environment.fp(&["why", "nothing", "1"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "nothing"; there are:
      1  sample-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    let log = format!(".fractal-planner/plans/{PLAN}/events.jsonl");
    let whole = environment.read(&log);
    environment.write(&log, format!("{whole}{{"));
    assert_snapshot!(why(&environment, "1").stderr, @r"note: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl: the last line was torn off while it was written (1 bytes): dropped");
}

#[test]
fn each_reason_of_an_earlier_attempt_is_one_line_for_the_verifier() {
    let environment = Environment::new().repo();
    let leaf = Leaf {
        id: "1",
        after: "none",
        file: "a.txt",
        test: "`grep -H wanted a.txt b.txt`",
    };
    environment.plan(&tree(&[leaf]));
    environment.start(&["--max-iterations", "2"]);
    for (text, reasons) in [("first\n", 0), ("second\n", 2)] {
        environment.build("builder-1", "a.txt", text);
        let seen = environment.fp(&["verify", PLAN, "1"]).stdout;
        let before = seen
            .lines()
            .filter(|line| line.starts_with("- failed before"));
        assert_eq!(before.count(), reasons, "{seen}");
        environment.fail("1");
    }
}

/// A failure ends with the last lines of the command's output, not with its hash.
#[test]
fn a_failure_ends_with_what_the_command_printed_last() {
    let environment = Environment::new().repo();
    environment.write(
        "check.sh",
        "seq 1 99; echo; echo 'left: 3'; echo '2 of 99 tests failed'; exit 1\n",
    );
    environment.git(&["add", "check.sh"]);
    environment.git(&["commit", "--quiet", "--message", "Add a check"]);
    environment.plan(&tree(&[Leaf {
        id: "1",
        after: "none",
        file: "a.txt",
        test: "`sh check.sh`",
    }]));
    environment.start(&["--max-iterations", "1"]);
    environment.build("builder-1", "a.txt", "first\n");
    environment.fp(&["verify", PLAN, "1"]);
    environment.fail("1");
    for told in [
        environment.done(&["status"]).stdout,
        environment.done(&["status", "--all"]).stdout,
    ] {
        let task = &told[told.find("failed     Write part 1").unwrap()..];
        let lines: Vec<&str> = task.lines().skip(1).map(str::trim_start).collect();
        assert_eq!(
            lines,
            [
                "Criterion 1 (`a.txt` has a line about 1): not seen",
                "left: 3",
                "2 of 99 tests failed"
            ],
            "{told}"
        );
    }
    let told = why(&environment, "1").stdout;
    let lines = "\n                      `sh check.sh` failed: exit status 1\n";
    assert!(told.contains(lines), "{told}");
    assert!(
        told.contains(
            "                      left: 3\n                      2 of 99 tests failed\n"
        ),
        "{told}"
    );
    assert!(!told.contains("sha256"), "{told}");
    let question = environment.done(&["status", "--json"]).json()["questions"][0].clone();
    assert!(
        question
            .as_str()
            .unwrap()
            .contains("; left: 3; 2 of 99 tests failed. The verifier"),
        "{question}"
    );
    environment.done(&["answer", PLAN, "q1", "--option", "Stop"]);
    let chain = why(&environment, "1")
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        chain.contains("not seen; left: 3; 2 of 99 tests failed History:"),
        "{chain}"
    );
    let handoff = environment.done(&["report", "--handoff"]).stdout;
    assert!(
        handoff.contains("left: 3\n                  2 of 99 tests failed\n"),
        "{handoff}"
    );
    let report = environment.done(&["report", "--markdown"]).stdout;
    assert!(
        report.contains("not seen; left: 3; 2 of 99 tests failed\n"),
        "{report}"
    );
}
