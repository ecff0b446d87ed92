//! A log that somebody edited, or that a newer version wrote.

use std::fs;

use insta::assert_snapshot;

use crate::bad_input::{every_command, plan_file, started};
use crate::common::plan::PLAN;

#[test]
fn a_line_that_is_no_entry_is_named_and_nothing_is_overwritten() {
    let environment = started();
    environment.claim("builder-1");
    let log = environment.path(&plan_file("events.jsonl"));
    let whole = fs::read_to_string(&log).unwrap();
    let broken = whole.replacen("\"seq\":2", "\"seq\":\"two\"", 1);
    fs::write(&log, &broken).unwrap();
    for args in every_command(PLAN) {
        let output = environment.fp(&args);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (2, ""),
            "{args:?}: {output}"
        );
        assert!(
            output.stderr.contains("events.jsonl:2: "),
            "{args:?}: {output}"
        );
    }
    assert_eq!(fs::read_to_string(&log).unwrap(), broken);
    assert_snapshot!(environment.fp(&["status", PLAN]), @r#"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl:2: not an entry of this log: invalid type: string "two", expected u64 at line 1 column 30
    hint: mend or remove line 2 of [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl: every line is one JSON object, numbered by `seq`
    "#);
    environment.write(".fractal-planner/plans/another-20261120/tasks.md", "");
    assert_snapshot!(environment.fp(&["plans"]), @r#"
    exit status: 1
    --- stdout
      1  another-20261120                              planning
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl:2: not an entry of this log: invalid type: string "two", expected u64 at line 1 column 30
    hint: mend or remove line 2 of [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl: every line is one JSON object, numbered by `seq`
    "#);
    fs::write(&log, &whole).unwrap();
    assert_eq!(environment.statuses()[0].1, "IMPLEMENTING");
}

#[test]
fn a_newer_log_is_refused() {
    let environment = started();
    let log = environment.path(&plan_file("events.jsonl"));
    let newer = fs::read_to_string(&log)
        .unwrap()
        .replace("\"schemaVersion\":1", "\"schemaVersion\":3");
    fs::write(&log, &newer).unwrap();
    assert_snapshot!(environment.fp(&["next", PLAN]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl:1: written by a newer fp (log version 3, this fp reads 2)
    hint: update fp: `fp --version` says what this one is
    ");
    assert_eq!(fs::read_to_string(&log).unwrap(), newer);
}

#[test]
fn a_torn_last_line_is_dropped_and_said_so() {
    let environment = started();
    let log = environment.path(&plan_file("events.jsonl"));
    let whole = fs::read_to_string(&log).unwrap();
    fs::write(
        &log,
        format!("{whole}{{\"schemaVersion\":1,\"seq\":3,\"at\""),
    )
    .unwrap();
    assert_snapshot!(environment.fp(&["status", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121 (running)
    ▱▱▱▱▱▱▱▱▱▱ 0 of 2 tasks done, 1 ready, 1 waiting

      ● 1  ready      Write part 1
      ○ 2  waiting    Write part 2
                      it waits for 1
    --- stderr
    note: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl: the last line was torn off while it was written (31 bytes): dropped
    ");
    assert_snapshot!(environment.fp(&["note", PLAN, "add", "UTIL: x"]), @r"
    exit status: 0
    --- stdout
    [plan] UTIL: x
    ");
    assert!(fs::read_to_string(&log).unwrap().starts_with(&whole));
    assert_eq!(environment.fp(&["status", PLAN]).stderr, "");
}

#[test]
fn a_lock_that_is_held_is_named() {
    let environment = started();
    let lock = fs::File::options()
        .read(true)
        .write(true)
        .open(environment.path(&plan_file("lock")))
        .unwrap();
    lock.lock().unwrap();
    fs::write(environment.path(&plan_file("lock")), "4242").unwrap();
    assert_snapshot!(environment.fp(&["next", PLAN]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/lock is held by process 4242 and was not given back within 10 s
    hint: wait for the other command to end, or end it; a lock dies with its process
    ");
    assert_eq!(
        environment.fp(&["status", PLAN]).code,
        0,
        "reading needs no lock"
    );
    drop(lock);
    environment.done(&["next", PLAN]);
}
