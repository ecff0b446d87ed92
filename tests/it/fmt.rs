//! `fp fmt`: turns a tree written in any style into the canonical form.

use std::fs;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

const TREE: &str = "\
# [root] Add a greeting

- Complexity: 3

## [1] Greet
* Tests Required: yes (unit)
* Files:
  1. `src/greet.rs` (new)
* Owner: me

Not before the release.

## [2] Say goodbye
- Complexity: 2
- Acceptance: prints `bye, bye`; ends with 0
- Dependencies: 1
";

fn place() -> Environment {
    let environment = Environment::new().repo();
    environment.write("tree.md", TREE);
    environment
}

#[test]
fn a_tree_is_written_in_the_list_dialect() {
    let environment = place();
    assert_snapshot!(environment.fp(&["validate", "--fmt", "tree.md"]), @r"
    exit status: 0
    --- stderr
    note: tree.md is in canonical form now
    ");
    assert_snapshot!(environment.read("tree.md"), @"
    # Task Decomposition

    ## Root Task
    - [ID: root] Add a greeting (Complexity: 3)

    ### Subtasks
    - [ID: 1] Greet
      - Files: src/greet.rs (new)
      - Tests Required: yes (unit)
      - Owner: me

      Not before the release.

    - [ID: 2] Say goodbye (Complexity: 2)
      - Acceptance:
        - prints `bye, bye`
        - ends with 0
      - Dependencies: 1
    ");
    let modified = || {
        fs::metadata(environment.path("tree.md"))
            .unwrap()
            .modified()
            .unwrap()
    };
    let before = modified();
    assert_snapshot!(environment.fp(&["validate", "--fmt", "tree.md"]), @r"
    exit status: 0
    --- stderr
    note: tree.md is in canonical form
    ");
    assert_eq!(modified(), before, "what is in the form is not written");
}

#[test]
fn checking_writes_nothing() {
    let environment = place();
    assert_snapshot!(environment.fp(&["validate", "--fmt", "tree.md", "--check"]), @r"
    exit status: 1
    --- stderr
    note: tree.md is not in canonical form
    ");
    assert_snapshot!(environment.fp(&["validate", "--fmt", "tree.md", "--check", "--format", "json"]), @r#"
    exit status: 1
    --- stdout
    {
      "changed": true,
      "schemaVersion": 1,
      "written": false
    }
    "#);
    assert_eq!(environment.read("tree.md"), TREE);
    assert_snapshot!(environment.fp(&["validate", "--fmt", "tree.md", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "changed": true,
      "schemaVersion": 1,
      "written": true
    }
    "#);
    let output = environment.fp(&["validate", "tree.md", "--fmt", "--check"]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""), "{output}");
}

#[test]
fn line_ends_stay_as_they_are() {
    let environment = place();
    environment.write("tree.md", TREE.replace('\n', "\r\n"));
    environment.done(&["validate", "--fmt", "tree.md"]);
    let text = fs::read_to_string(environment.path("tree.md")).unwrap();
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    assert_eq!(
        environment
            .fp(&["validate", "--fmt", "tree.md", "--check"])
            .code,
        0
    );
}

#[test]
fn what_is_no_tree_or_not_readable_is_left_alone() {
    let environment = place();
    assert_snapshot!(environment.fp(&["validate", "--fmt", "README.md"]), @r"
    exit status: 1
    --- stderr
    error: README.md is unchanged: there is no task in it
    hint: name a task tree: `fp plans` lists the plans
    ");
    let text = "- [ID: 1] A\n- [ID 2] B\n- [ID=3] C\n";
    environment.write("tree.md", text);
    assert_snapshot!(environment.fp(&["validate", "--fmt", "tree.md"]), @r"
    exit status: 1
    --- stderr
    error: tree.md is unchanged: it has 2 lines that can't be read
    hint: `fp validate tree.md` shows what is wrong
    ");
    assert_eq!(environment.read("tree.md"), text);
    assert_snapshot!(environment.fp(&["validate", "--fmt", "missing.md"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/missing.md can't be read: no such file or directory
    hint: check the path
    ");
}

/// An approval binds the meaning of a tree, not its layout.
#[test]
fn an_approval_outlives_formatting_and_a_run_forbids_it() {
    let environment = Environment::new().repo();
    let loose = tree(&[leaf("1", "none", "a.txt"), leaf("2", "1", "b.txt")])
        .replace("- Files:", "* **Files**:")
        .replace("  - Dependencies: none\n", "")
        .replace(
            "  - Acceptance:",
            "  - Dependencies: none\n\n  - Acceptance Criteria:",
        );
    environment.plan(&loose.replace(
        "  - Dependencies: none\n\n  - Acceptance Criteria:\n    - `b.txt`",
        "  - Acceptance Criteria:\n    - `b.txt`",
    ));
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(environment.fp(&["validate", "--fmt", PLAN]), @r"
    exit status: 0
    --- stderr
    note: .fractal-planner/plans/sample-20261121/tasks.md is in canonical form now
    ");
    environment.done(&["run", "start", PLAN, "--session", "s1"]);
    assert_eq!(environment.build("builder-1", "a.txt", "about 1\n"), "1");
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit ")
    );
    environment.done(&["validate", "--fmt", PLAN]);
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let text = environment.read(&path).replace("- Files:", "* Files:");
    environment.write(&path, &text);
    assert_snapshot!(environment.fp(&["validate", "--fmt"]), @r"
    exit status: 1
    --- stderr
    error: the run of sample-20261121 is on: its tree is not changed
    hint: `fp task` edits one task; `fp cancel` ends the run
    ");
    assert_eq!(environment.read(&path), text);
    assert_eq!(environment.fp(&["validate", "--fmt", "--check"]).code, 1);
}
