//! A broken configuration stops the commands before they do anything.

use std::fs;

use insta::assert_snapshot;

use crate::bad_input::{every_command, plan_file, started};
use crate::common::plan::PLAN;

#[test]
fn every_command_names_the_fault_and_does_nothing() {
    let environment = started();
    environment.write(".fractal-planner/config.json", "{}");
    environment.build("builder-1", "a.txt", "about 1\n");
    let before = fs::read(environment.path(&plan_file("events.jsonl"))).unwrap();
    for text in [
        "{\n  \"noCommit\": tru\n}",
        "{\n  \"noCommit\": 1\n}",
        "{\n  \"noComit\": true\n}",
        "",
        "[]",
        "\u{0}",
    ] {
        environment.write(".fractal-planner/config.json", text);
        for args in every_command(PLAN) {
            let output = environment.fp(&args);
            assert_eq!(
                (output.code, output.stdout.as_str()),
                (2, ""),
                "{text:?}, {args:?}: {output}"
            );
            assert!(
                output.stderr.contains(".fractal-planner/config.json"),
                "{text:?}, {args:?}: {output}"
            );
            assert!(
                output.stderr.contains("\nhint: "),
                "{text:?}, {args:?}: {output}"
            );
        }
    }
    assert_eq!(
        fs::read(environment.path(&plan_file("events.jsonl"))).unwrap(),
        before
    );
    environment.write(".fractal-planner/config.json", "{\n  \"noCommit\": tru\n}");
    assert_snapshot!(environment.fp(&["next", PLAN]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/config.json:3:1: not JSON: expected ident
    hint: look for a missing or extra comma, quote or bracket just before it
    ");
    environment.write(".fractal-planner/config.json", "{\n  \"noCommit\": 1\n}");
    assert_snapshot!(environment.fp(&["next", PLAN]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/config.json: noCommit: expected a boolean, found 1
    hint: `fp help config` says what each setting takes
    ");
    environment.write(".fractal-planner/config.json", "{\n  \"noComit\": true\n}");
    assert_snapshot!(environment.fp(&["next", PLAN]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/config.json: there is no setting `noComit`
    hint: did you mean `noCommit`?
    ");
    environment.write(".fractal-planner/config.json", "{}");
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit "),
        "the run goes on"
    );
}
