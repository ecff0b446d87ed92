//! `fp linear`: links tasks to issues.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

const MAPPING: &str = ".fractal-planner/plans/sample-20261121/linear-mapping.json";

fn mirrored() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.write(
        ".fractal-planner/config.json",
        r#"{"linear": {"enabled": true, "team": "ENG"}}"#,
    );
    environment
}

#[test]
fn issues_are_recorded_and_printed() {
    let environment = mirrored();
    environment.write(
        MAPPING,
        r#"{"planId": "sample-20261121", "tasks": {"2": {"linearIssueId": "ENG-2", "linearIdentifier": "x"}}, "team": 1}"#,
    );
    environment.done(&["linear", PLAN, "1", "ENG-1"]);
    assert_snapshot!(environment.fp(&["linear", PLAN]), @r"
    exit status: 0
    --- stdout
    team: ENG
    1 ENG-1
    2 ENG-2
    ");
    assert_snapshot!(environment.read(MAPPING), @r#"{"planId":"sample-20261121","tasks":{"1":{"linearIssueId":"ENG-1"},"2":{"linearIdentifier":"x","linearIssueId":"ENG-2"}},"team":1}"#);
}

#[test]
fn what_is_no_mapping_is_left_alone() {
    let environment = mirrored();
    assert_snapshot!(environment.fp(&["linear", PLAN, "9", "ENG-1"]), @r"
    exit status: 1
    --- stderr
    error: the plan has no task 9
    hint: `fp show sample-20261121` shows its tasks
    ");
    for text in [
        "{",
        "[]",
        r#"{"tasks": {"1": {"linearIssueId": "a b"}}}"#,
        r#"{"schemaVersion": 2, "tasks": {}}"#,
    ] {
        environment.write(MAPPING, text);
        let output = environment.fp(&["linear", PLAN, "1", "ENG-1"]);
        assert_eq!(output.code, 2, "{text}: {output}");
        assert_eq!(environment.read(MAPPING), text);
    }
    environment.write(".fractal-planner/config.json", "{}");
    assert_snapshot!(environment.fp(&["linear", PLAN]), @"exit status: 0");
}

#[test]
fn the_mirror_follows_at_the_end_of_a_run() {
    let environment = mirrored();
    environment.start(&[]);
    let names = |actions: &crate::common::Output| {
        let actions = actions.json();
        let named = actions["actions"].as_array().unwrap().iter();
        named
            .map(|action| format!("{} {}", action["action"], action["agent"]))
            .collect::<Vec<_>>()
            .join(", ")
    };
    for (task, file) in [("1", "a.txt"), ("2", "b.txt")] {
        environment.build_task("builder-1", task, file, &format!("about {task}\n"));
        environment.pass(task);
    }
    let actions = environment.fp(&["next", PLAN, "--ended", "builder-1", "--format", "json"]);
    assert_snapshot!(names(&actions), @r#""spawn" "fp:linear-sync", "finish" null"#);
    let actions = environment.fp(&["next", PLAN, "--ended", "tracker", "--format", "json"]);
    assert_snapshot!(names(&actions), @r#""finish" null"#);
}
