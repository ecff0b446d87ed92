//! `fp log`: the history in words, as raw entries, and live.

use std::time::{Duration, Instant};

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

fn planned() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
        leaf("3", "none", "c.txt"),
    ]));
    environment
}

fn started() -> Environment {
    let environment = planned();
    environment.start(&["--max-iterations", "2"]);
    environment
}

/// Task 1 uses up its attempts and is retried; task 3 is claimed and released.
fn eventful() -> Environment {
    let environment = started();
    environment.done(&["next", PLAN]);
    environment.build("builder-1", "a.txt", "nothing\n");
    environment.fail("1");
    environment.build("builder-1", "a.txt", "nothing much\n");
    environment.fail("1");
    environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
    environment.done(&[
        "note",
        PLAN,
        "add",
        "GOTCHA: c.txt comes last",
        "--task",
        "3",
    ]);
    environment.done(&["claim", PLAN, "--as", "builder-2", "3"]);
    environment.done(&["retry", PLAN, "3"]);
    environment
}

fn log(environment: &Environment, args: &[&str]) -> Output {
    environment.fp(&[&["log", PLAN], args].concat()).masked()
}

fn log_file() -> String {
    format!(".fractal-planner/plans/{PLAN}/events.jsonl")
}

#[test]
fn everything_that_happened() {
    assert_snapshot!(log(&eventful(), &[]), @r#"
    exit status: 0
    --- stdout
    2026-11-21 (UTC)
    09:00:00      1     approved by the user: 3 tasks
    09:00:00      2     the run starts: 1 builder, 2 attempts, commits on
                          session s1
    09:00:00      5  1  builder-1 claims it (attempt 1)
    09:00:00      8  1  attempt 1 did not pass
                          Criterion 1 (`a.txt` has a line about 1): not seen
                          Summary: not yet
    09:00:00      8  1  goes back for attempt 2
    09:00:00      9  1  builder-1 claims it (attempt 2)
    09:00:00     12  1  attempt 2 did not pass
                          Criterion 1 (`a.txt` has a line about 1): not seen
                          Summary: not yet
    09:00:00     12  1  failed
    09:00:00     12  2  skipped because of 1
    09:00:00     12  1  question q1: Task failed
                          Task 1 failed for good: Criterion 1 (`a.txt` has a line
                          about 1): not seen. The verifier says: "not yet". How
                          should it continue?
    09:00:00     13     q1 is answered by the user: Retry
    09:00:00     13  1  gets another attempt, and with it 2
    09:00:00     14  3  GOTCHA: c.txt comes last
    09:00:00     15  3  builder-2 claims it (attempt 1)
    09:00:00     16  3  its claim was taken back: released by hand
    "#);
}

#[test]
fn what_concerns_one_task() {
    let environment = eventful();
    assert_snapshot!(log(&environment, &["--task", "3"]), @r"
    exit status: 0
    --- stdout
    2026-11-21 (UTC)
    09:00:00     14  3  GOTCHA: c.txt comes last
    09:00:00     15  3  builder-2 claims it (attempt 1)
    09:00:00     16  3  its claim was taken back: released by hand
    ");
    assert_snapshot!(log(&environment, &["--task", "2"]), @r"
    exit status: 0
    --- stdout
    2026-11-21 (UTC)
    09:00:00     12  2  skipped because of 1
    09:00:00     13  1  gets another attempt, and with it 2
    ");
    assert_snapshot!(log(&environment, &["--task", "9"]), @r"
    exit status: 1
    --- stderr
    error: the approved plan has no leaf 9
    hint: `fp status sample-20261121` lists the leaves
    ");
}

#[test]
fn json_is_the_log_itself() {
    let environment = eventful();
    let whole = environment.read(&log_file());
    assert_eq!(
        environment.fp(&["log", PLAN, "--format", "json"]).stdout,
        whole
    );
    let some = environment
        .fp(&["log", PLAN, "--task", "3", "--format", "json"])
        .stdout;
    let expect: String = whole
        .lines()
        .filter(|line| line.contains("\"task\":\"3\""))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(some, expect);
    assert!(expect.lines().count() > 2, "{expect}");
}

#[test]
fn before_anything_has_happened() {
    assert_snapshot!(log(&planned(), &[]), @r"
    exit status: 0
    --- stderr
    note: nothing has happened yet; planning is at: interview
    ");
    assert_snapshot!(planned().fp(&["log", "nothing"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "nothing"; there are:
      1  sample-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
}

#[test]
fn a_torn_line_is_left_out_and_a_broken_one_is_named() {
    let environment = started();
    let whole = environment.read(&log_file());
    environment.write(&log_file(), format!("{whole}{{\"schema"));
    assert_snapshot!(log(&environment, &[]), @r"
    exit status: 0
    --- stdout
    2026-11-21 (UTC)
    09:00:00      1     approved by the user: 3 tasks
    09:00:00      2     the run starts: 1 builder, 2 attempts, commits on
                          session s1
    --- stderr
    note: the last line is not whole (8 bytes): it is being written, or was torn off
    ");
    environment.write(&log_file(), format!("{whole}{{\"schema\n"));
    assert_snapshot!(log(&environment, &[]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl:3: not an entry of this log: EOF while parsing a string at line 1 column 8
    hint: mend or remove line 3 of [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl: every line is one JSON object, numbered by `seq`
    ");
}

#[test]
fn texts_of_strangers_keep_to_their_line() {
    let environment = started();
    let long = format!("GOTCHA: \u{1b}[31mred {}", "word ".repeat(40));
    environment.done(&["note", PLAN, "add", &long]);
    let output = log(&environment, &[]);
    assert!(
        output.stdout.lines().all(|line| line.chars().count() <= 80),
        "{output}"
    );
    assert!(output.stdout.contains("GOTCHA: [31mred word"), "{output}");
}

/// Showing a log of 10,000 events takes about as long as replaying it, not a multiple of that.
#[test]
fn a_long_log_is_not_slow() {
    let environment = started();
    let mut text = environment.read(&log_file());
    for seq in 3..=10_000 {
        text.push_str(&format!(
            "{{\"schemaVersion\":1,\"seq\":{seq},\"at\":\"2026-11-21T09:00:00Z\",\"events\":[{{\"noteEnded\":{{\"number\":1}}}}]}}\n"
        ));
    }
    environment.write(&log_file(), text);
    let time = |args: &[&str]| {
        let begin = Instant::now();
        let output = environment.done(args);
        (begin.elapsed(), output)
    };
    let best = |args: &[&str]| (0..3).map(|_| time(args).0).min().unwrap();
    let replay = best(&["status", PLAN]);
    let shown = best(&["log", PLAN]);
    assert_eq!(
        time(&["log", PLAN]).1.stdout.lines().count(),
        10_002,
        "and the day, and the session"
    );
    assert!(
        shown < replay * 10 + Duration::from_millis(200),
        "{shown:?}, a replay takes {replay:?}"
    );
}
