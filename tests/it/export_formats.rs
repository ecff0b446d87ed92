//! `fp export`: a plan with everything in it, in each neutral format.
use std::fs;

use crate::common::Environment;
use crate::common::plan::PLAN;
use insta::assert_snapshot;
use serde_json::Value;

const FOLDER: &str = ".fractal-planner/plans/sample-20261121";

/// Parents, groups, Korean, every field, and texts that have a special meaning in other formats.
const TREE: &str = r#"# Task Decomposition

## Root Task
- [ID: root] Greet people, 그리고 인사 (Complexity: 7)
  - Setup:
    - printf '%s\n' a; true
    - true

### Subtasks
- [ID: 1] Build the greeting (Complexity: 5)
  - [ID: 1.1] Write `greeting`, see #12 and @octocat (Complexity: 3)
    - Acceptance:
      - `greeting("")` returns `Hello, world!`
      - =1+1 is no formula, and <b> no markup
    - Dependencies: none
    - Files: a.txt (new)
    - Tests Required: yes
    - Hints:
      - Return a String
      - @octocat fixes #3 and GH-4, see https://github.com/a/b/issues/5
    - References:
      - README.md:1 - the title
    - Guardrails:
      - Do NOT modify files outside: a.txt
      - Do NOT add new dependencies
    - Test Commands: none
    - Covers: REQ-1, US2
    - Group: core
    - Risk: high
    - Priority: high
    - Owner: somebody
  - [ID: 1.2] 한국어 인사를 쓴다 (Complexity: 2)
    - Acceptance:
      - `b.txt` has a line
    - Dependencies: 1.1 (for its text)
    - Files: b.txt
    - Tests Required: no
    - Hints:
      - One line
      - Two lines
    - Guardrails:
      - Do NOT modify files outside: b.txt
      - Do NOT add new dependencies
    - Test Commands: none
    - Verify: test -f b.txt
    - Group: core

    Prose about *this* one.

    ```text
    T001 [P] a fence
    ```
- [ID: 2] Print it (Complexity: 2)
  - Acceptance:
    - `c.txt` has a line
  - Dependencies: 1
  - Files: c.txt
  - Tests Required: no
  - Hints:
    - One line
    - Two lines
  - Guardrails:
    - Do NOT modify files outside: c.txt
    - Do NOT add new dependencies
  - Test Commands: grep -q . c.txt; true
- [ID: 3] Explain it (Complexity: 1)
  - Acceptance:
    - `d.txt` has a line
  - Dependencies: none
  - Files: d.txt
  - Tests Required: no
  - Hints:
    - One line
    - Two lines
  - Guardrails:
    - Do NOT modify files outside: d.txt
    - Do NOT add new dependencies
  - Test Commands: none
"#;

/// The plan, with its goal.
fn planned() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(TREE);
    environment.write(
        &format!("{FOLDER}/plan.json"),
        r##"{"goal": "Greet people\n# in *every* language", "settings": {}}"##,
    );
    environment.shared()
}

/// The plan in a run in which 1.1 is done, 1.2 was given up, 2 was skipped, and 3 is being built.
fn begun() -> Environment {
    let environment = planned();
    environment.start(&["--builders", "2"]);
    environment.build_task("builder-1", "1.1", "a.txt", "Hello\n");
    environment.done(&[
        "verdict",
        PLAN,
        "1.1",
        "--pass",
        "1: seen",
        "--pass",
        "2: seen",
        "--summary",
        "fine",
    ]);
    environment.done(&["cancel", PLAN, "1.2", "--reason", "no `Korean`\nhere"]);
    environment.claim_task("builder-2", "3");
    environment
}

#[test]
fn json() {
    assert_snapshot!(begun().fp(&["export", PLAN]).masked().to_string());
}

#[test]
fn an_archived_plan_is_exported_as_well() {
    let environment = begun();
    environment.done(&["cancel", PLAN]);
    let before = environment.done(&["export", PLAN]).stdout;
    environment.done(&["plans", "archive", PLAN]);
    assert_eq!(environment.done(&["export", PLAN]).stdout, before);
}

#[test]
fn a_tree_need_not_be_valid_but_its_ids_have_to_be_different() {
    let environment = planned();
    environment
        .plan("- [ID: 1] A\n  - Dependencies: 9, 2\n- [ID: 2] B (Complexity: many)\n  - Dependencies: 1\n");
    assert_snapshot!(environment.fp(&["export", PLAN]), @r#"
    exit status: 0
    --- stdout
    {
      "goal": "Greet people\n# in *every* language",
      "schemaVersion": 1,
      "tasks": [
        {
          "dependencies": [
            "9",
            "2"
          ],
          "id": "1",
          "title": "A",
          "work": {
            "status": "todo"
          }
        },
        {
          "dependencies": [
            "1"
          ],
          "ext": {
            "Complexity": "many"
          },
          "id": "2",
          "title": "B",
          "work": {
            "status": "todo"
          }
        }
      ],
      "title": "Greet people"
    }
    "#);
    environment.plan("- [ID: 1] A\n- [ID: 1] B\n");
    assert_snapshot!(environment.fp(&["export", PLAN]), @r"
    exit status: 1
    --- stderr
    error: two tasks of sample-20261121 have the id 1
    hint: `fp validate sample-20261121` shows what is wrong with it
    ");
    environment.plan("Nothing here.\n");
    assert_snapshot!(environment.fp(&["export", PLAN]), @r"
    exit status: 1
    --- stderr
    error: sample-20261121 has no task to export
    hint: `fp validate sample-20261121` shows what is wrong with it
    ");
    fs::remove_file(environment.path(&format!("{FOLDER}/tasks.md"))).unwrap();
    assert_snapshot!(environment.fp(&["export", PLAN]), @r"
    exit status: 2
    --- stderr
    error: sample-20261121 has no task tree yet; planning is at: interview
    hint: `/fp:plan` in Claude Code plans; by hand, write its tasks.md, and `fp validate sample-20261121` checks it
    ");
}

/// A plan as JSON, without the progress of its tasks.
fn tasks(environment: &Environment, plan: &str) -> Value {
    let mut whole = environment.done(&["export", plan]).json();
    for task in whole["tasks"].as_array_mut().unwrap() {
        let task = task.as_object_mut().unwrap();
        task.remove("work");
        task.remove("ext");
    }
    whole
}

#[test]
fn a_plan_that_was_exported_as_json_is_the_same_when_it_comes_back() {
    let environment = begun();
    environment.done(&["cancel", PLAN]);
    environment.write("plan.json", environment.done(&["export", PLAN]).stdout);
    let told = environment
        .done(&["import", "plan.json", "--format", "json"])
        .json();
    let id = told["planId"]
        .as_str()
        .unwrap_or_else(|| panic!("{told:#}"));
    let (before, after) = (tasks(&environment, PLAN), tasks(&environment, id));
    assert_eq!(
        (&after["title"], &after["goal"]),
        (&before["title"], &before["goal"])
    );
    assert_eq!(after["tasks"], before["tasks"]);
    environment.done(&["validate", "--fmt", PLAN]);
    let old = environment.read(&format!("{FOLDER}/tasks.md"));
    let new = environment.read(&format!(".fractal-planner/plans/{id}/tasks.md"));
    let gone: Vec<&str> = old
        .lines()
        .filter(|line| !new.lines().any(|new| new == *line))
        .collect();
    // Lines that are kept in import.json instead, and prose that became a description.
    assert_snapshot!(gone.join("\n"), @r"
    - Owner: somebody
    - Dependencies: 1.1 (for its text)
    Prose about *this* one.
    ```text
    T001 [P] a fence
    ```
    ");
}

#[test]
fn an_order_without_a_need_goes_out_and_comes_back() {
    let environment = Environment::new().repo();
    environment.plan("- [ID: 1] A\n- [ID: 2] B\n  - Dependencies: none\n  - After: 1\n");
    environment.write("json.json", environment.done(&["export", PLAN]).stdout);
    let task = &serde_json::from_str::<serde_json::Value>(&environment.read("json.json")).unwrap()
        ["tasks"][1];
    assert_eq!(
        (&task["after"], &task["ext"]),
        (&serde_json::json!(["1"]), &serde_json::Value::Null)
    );
    let imported = environment
        .done(&["import", "json.json", "--dry-run"])
        .stdout;
    assert!(imported.contains("  - After: 1\n"), "{imported}");
    environment.write(
        "json.json",
        environment
            .read("json.json")
            .replace("\"after\": [\n        \"1\"", "\"after\": [\"2\", \"9\""),
    );
    let imported = environment
        .done(&["import", "json.json", "--dry-run"])
        .stdout;
    assert!(
        imported.contains("  - After: 2\n"),
        "what is not there is left out: {imported}"
    );
}
