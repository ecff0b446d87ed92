//! How signals are used: for the order of tasks, and for the number of attempts.

use super::planned;
use crate::common::Environment;
use crate::common::plan::PLAN;

/// A plan of two tasks, with signals that call the second one risky.
fn risky() -> Environment {
    let environment = planned(&["src/a.rs", "src/b.rs"]);
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/signals.json"),
        r#"{"schemaVersion":1,"tasks":[{"id":"1","composite":1},{"id":"2","composite":5}]}"#,
    );
    environment
}

fn order(environment: &Environment) -> Vec<String> {
    let plan = environment.done(&["plan", PLAN, "--format", "json"]).json();
    let steps = plan["order"].as_array().unwrap();
    steps
        .iter()
        .map(|step| step["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_riskiest_goes_first() {
    let environment = risky();
    assert_eq!(order(&environment), ["1", "2"]);
    environment.write(
        ".fractal-planner/config.json",
        r#"{"executionOrder": "risk-first"}"#,
    );
    assert_eq!(order(&environment), ["2", "1"]);
    std::fs::remove_file(environment.path(&format!(".fractal-planner/plans/{PLAN}/signals.json")))
        .unwrap();
    assert_eq!(order(&environment), ["1", "2"]);
    let noted = environment.done(&["plan", PLAN]).stderr;
    assert!(
        noted.starts_with("note: the order goes by complexity alone"),
        "{noted}"
    );
}

#[test]
fn a_damaged_file_is_an_error() {
    let environment = risky();
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/signals.json"),
        "{\"schemaVersion\":1,",
    );
    insta::assert_snapshot!(environment.fp(&["plan", PLAN]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/signals.json: line 1, column 19: it is not what `fp signals` writes
    hint: run `fp signals` again, or remove the file
    ");
}
