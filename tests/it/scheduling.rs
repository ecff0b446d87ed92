//! The order of claims among ready tasks, the conflicts that keep tasks apart, and the estimate of a run's
//! duration.

use crate::common::Environment;
use crate::common::plan::{Leaf, PLAN, leaf, tree};
use insta::assert_snapshot;

/// A short task before a chain of three.
const CHAIN: [Leaf<'static>; 4] = [
    leaf("1", "none", "a.txt"),
    leaf("2", "none", "b.txt"),
    leaf("3", "2", "c.txt"),
    leaf("4", "3", "d.txt"),
];

fn planned(tree: &str, config: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.write(".fractal-planner/config.json", config);
    environment.plan(tree);
    environment
}

fn first(environment: &Environment) -> String {
    environment.claim("builder-1").unwrap().0
}

#[test]
fn several_builders_take_the_longest_chain_first() {
    let environment = planned(&tree(&CHAIN), "{}");
    environment.start(&["--builders", "2"]);
    let ready = environment
        .fp(&["status", "--ready", PLAN, "--format", "json"])
        .json();
    assert_eq!(
        ready["ready"],
        serde_json::json!(["2", "1"]),
        "the order of claims"
    );
    assert_eq!(first(&environment), "2");
}

#[test]
fn one_builder_keeps_to_the_order_of_the_plan() {
    let environment = planned(&tree(&CHAIN), "{}");
    environment.start(&[]);
    assert_eq!(first(&environment), "1");
}

#[test]
fn the_order_is_the_one_that_was_set_when_the_run_began() {
    let harder = tree(&CHAIN).replace(
        "Write part 2 (Complexity: 2)",
        "Write part 2 (Complexity: 3)",
    );
    let environment = planned(&harder, r#"{"executionOrder": "risk-first"}"#);
    environment.start(&[]);
    environment.write(
        ".fractal-planner/config.json",
        r#"{"executionOrder": "easy-first"}"#,
    );
    assert_eq!(first(&environment), "2");
}

#[test]
fn an_exclusive_file_is_held_by_whoever_may_change_it() {
    let manifests = [
        leaf("1", "none", "a/Cargo.toml"),
        leaf("2", "none", "b/Cargo.toml"),
    ];
    let environment = planned(&tree(&manifests), "{}");
    environment.start(&["--builders", "2"]);
    assert_eq!(first(&environment), "1");
    assert_snapshot!(environment.fp(&["claim", PLAN, "2", "--as", "builder-2"]), @"
    exit status: 1
    --- stderr
    error: task 2 is not ready: running task 1 may change Cargo.lock
    hint: `fp status sample-20261121 --ready` says what each task waits for
    ");
}

#[test]
fn files_that_are_made_are_exclusive_where_they_are_named() {
    let made = [
        leaf("1", "none", "made/a.rs"),
        leaf("2", "none", "made/b.rs"),
    ];
    let claims = |config: &str| {
        let environment = planned(&tree(&made), config);
        environment.start(&["--builders", "2"]);
        environment.claim("builder-1").unwrap();
        environment.claim("builder-2").map(|(task, _)| task)
    };
    assert_eq!(claims("{}").as_deref(), Some("2"));
    assert_eq!(claims(r#"{"exclusive": ["made/"]}"#), None);
}
