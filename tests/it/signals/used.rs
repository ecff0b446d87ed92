//! The uses of signals: the order of tasks, and the number of attempts.

use serde_json::json;

use super::{planned, tree};
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

#[test]
fn a_risky_task_has_more_iterations() {
    let environment = risky();
    environment.write(
        ".fractal-planner/config.json",
        r#"{"maxIterations": 1, "iterationScaling": {"enabled": true, "base": 0, "factor": 0.5}}"#,
    );
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "Configure"]);
    environment.done(&["approve", PLAN, "--yes"]);
    let started = environment.done(&["run", "start", PLAN, "--session", "s1"]);
    assert!(started.stdout.contains("attempts: 1 to 3"), "{started}");
    let started = environment
        .done(&["run", "start", PLAN, "--session", "s1", "--format", "json"])
        .json();
    assert_eq!(started["scaledIterations"], json!({ "2": 3 }));
    // From here on the log alone decides.
    std::fs::remove_file(environment.path(&format!(".fractal-planner/plans/{PLAN}/signals.json")))
        .unwrap();
    for (task, tries) in [("1", 1), ("2", 3)] {
        for attempt in 1..=tries {
            let claimed = environment.fp(&["claim", PLAN, "--as", "b", task, "--format", "json"]);
            let token = claimed.json()["claim"].as_str().unwrap().to_owned();
            let file = if task == "1" { "src/a.rs" } else { "src/b.rs" };
            environment.write(file, format!("// {attempt}\n"));
            environment.done(&["submit", PLAN, task, "--claim", &token]);
            environment.fail(task);
        }
    }
    let report = environment
        .done(&["status", PLAN, "--format", "json"])
        .json();
    let told = |task: usize| {
        let task = &report["tasks"][task];
        (
            task["status"].clone(),
            task["iteration"].clone(),
            task["maxIterations"].clone(),
        )
    };
    assert_eq!(told(0), (json!("FAILED"), json!(1), json!(1)));
    assert_eq!(told(1), (json!("FAILED"), json!(3), json!(3)));
}

#[test]
fn scaling_without_signals_says_what_to_do() {
    let environment = planned(&["src/a.rs"]);
    environment.write(
        ".fractal-planner/config.json",
        r#"{"iterationScaling": {"enabled": true}}"#,
    );
    environment.done(&["approve", PLAN, "--yes"]);
    let started = environment.done(&["run", "start", PLAN, "--session", "s1"]);
    assert!(
        started
            .stderr
            .contains("iterationScaling is on, and nothing was measured"),
        "{started}"
    );
    environment.done(&["signals", PLAN]);
    environment.plan(&tree(&["src/a.rs"]));
    let again = environment.done(&["run", "start", PLAN, "--session", "s1"]);
    assert_eq!(again.stderr, "");
}
