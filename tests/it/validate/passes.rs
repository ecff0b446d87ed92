//! The passes of `--fix` over a plan's tree are counted, so that they can't repeat forever.

use insta::assert_snapshot;

use crate::common::plan::PLAN;
use crate::common::{Environment, Output};
use crate::validate::{FILE, clean, large_leaf, vague, waits_for_itself, with};

impl Environment {
    fn tree_of_plan(&self) -> String {
        self.read(&format!(".fractal-planner/plans/{PLAN}/tasks.md"))
    }

    fn in_plan(&self, file: &str) -> std::path::PathBuf {
        self.path(&format!(".fractal-planner/plans/{PLAN}/{file}"))
    }

    fn plan_log(&self) -> Option<String> {
        std::fs::read_to_string(self.in_plan("events.jsonl")).ok()
    }

    /// A pass over `tree`.
    fn validated(&self, tree: &str) -> Output {
        self.plan(tree);
        self.fp(&["validate", PLAN, "--fix"])
    }
}

fn place() -> Environment {
    Environment::new().repo()
}

/// [`large_leaf`] as changed by repair attempt `number`, which doesn't fix it.
fn attempt(number: usize) -> String {
    large_leaf().replacen("One line", &format!("One line, try {number}"), 1)
}

#[test]
fn a_pass_that_leaves_errors_says_which_one_it_is() {
    let environment = place();
    assert_snapshot!(environment.validated(&attempt(1)), @r"
    exit status: 1
    --- stdout
    .fractal-planner/plans/sample-20261121/tasks.md:5:37: error[over-complexity]: complexity 6 is above the limit of 4
    5 | - [ID: 1] Write part 1 (Complexity: 6)
      |                                     ^
      hint: split the task into two to five subtasks

    .fractal-planner/plans/sample-20261121/tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    --- stderr
    note: pass 1 of 6
    ");
    let log = environment.plan_log();
    let again = environment.fp(&["validate", PLAN, "--fix"]);
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (1, "note: pass 1 of 6\n"),
        "the same tree again"
    );
    assert_eq!(environment.plan_log(), log);
    let fixed = attempt(2).replace("Dependencies: 1", "Dependencies: 1, 2");
    assert_snapshot!(environment.validated(&fixed).stderr, @r"
    note: 1 finding fixed in .fractal-planner/plans/sample-20261121/tasks.md
      2: remove the dependency
    note: pass 2 of 6
    ");
    assert_eq!(environment.tree_of_plan(), attempt(2));
    let json = environment.fp(&["validate", PLAN, "--fix", "--format", "json"]);
    assert_eq!(
        json.json()["pass"].to_string(),
        r#"{"number":2,"of":6,"over":false}"#
    );
    assert_snapshot!(environment.validated(&clean()), @r"
    exit status: 0
    --- stdout
    .fractal-planner/plans/sample-20261121/tasks.md: valid, 2 leaf tasks, 0 errors, 0 warnings
    ");
    assert_eq!(
        environment.validated(&attempt(3)).stderr,
        "note: pass 1 of 6\n",
        "a valid tree sets it back"
    );
    assert_snapshot!(environment.done(&["log", PLAN]).stdout, @r"
    2026-11-21 (UTC)
    09:00:00      1    the tree is not valid, pass 1: 1 error, 0 warnings
    09:00:00      2    the tree is not valid, pass 2: 1 error, 0 warnings
    09:00:00      3    the tree is valid, pass 3
    09:00:00      4    the tree is not valid, pass 1: 1 error, 0 warnings
    ");
    assert!(environment.done(&["plans"]).stdout.ends_with(" planning\n"));
}

#[test]
fn the_seventh_pass_in_vain_fixes_nothing() {
    let environment = place();
    for number in 1..=6 {
        let also = if number == 3 {
            "Tests Required: maybe"
        } else {
            "Tests Required: no"
        };
        let output =
            environment.validated(&attempt(number).replacen("Tests Required: no", also, 1));
        assert_eq!(
            output.stderr,
            format!("note: pass {number} of 6\n"),
            "{output}"
        );
    }
    let log = environment.plan_log();
    let seventh = attempt(7).replace("Dependencies: 1", "Dependencies: 1, 2");
    for _ in 0..2 {
        insta::allow_duplicates! { assert_snapshot!(environment.validated(&seventh), @r"
        exit status: 1
        --- stdout
        .fractal-planner/plans/sample-20261121/tasks.md:5:37: error[over-complexity]: complexity 6 is above the limit of 4
        5 | - [ID: 1] Write part 1 (Complexity: 6)
          |                                     ^
          hint: split the task into two to five subtasks

        .fractal-planner/plans/sample-20261121/tasks.md:21:22: error[ancestor-dependency]: task 2 waits for itself
        21 |   - Dependencies: 1, 2
           |                      ^
          hint: name the tasks beside it that it needs

        .fractal-planner/plans/sample-20261121/tasks.md: not valid, 2 leaf tasks, 2 errors, 0 warnings (1 can be fixed: --fix)
        --- stderr
        note: 6 passes have not made this tree valid, and nothing more is fixed; stop and tell the user what keeps failing (in each of them: over-complexity)
        "); }
        assert_eq!(environment.tree_of_plan(), seventh);
    }
    let json = environment.fp(&["validate", PLAN, "--fix", "--format", "json"]);
    assert_eq!(
        (json.code, json.json()["pass"].to_string()),
        (1, r#"{"number":6,"of":6,"over":true}"#.into())
    );
    let gate = environment.fp(&["validate", PLAN, "--fix", "--gate"]);
    assert!(
        gate.stdout.starts_with("BLOCK: ") && gate.stderr.starts_with("note: 6 passes have"),
        "{gate}"
    );
    assert_eq!(environment.plan_log(), log);
    let output = environment.validated(&waits_for_itself());
    assert_eq!(
        (output.code, environment.tree_of_plan()),
        (0, clean()),
        "what makes it valid is done: {output}"
    );
    assert_eq!(
        environment.validated(&attempt(8)).stderr,
        "note: pass 1 of 6\n"
    );
}

#[test]
fn warnings_count_where_they_fail() {
    let environment = place();
    environment.plan(&vague());
    let output = environment.fp(&["validate", PLAN, "--fix", "--strict"]);
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (1, "note: pass 1 of 6\n"),
        "{output}"
    );
    let output = environment.fp(&["validate", PLAN, "--fix"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
}

#[test]
fn without_fix_nothing_is_written() {
    let environment = place();
    environment.plan(&waits_for_itself());
    for flags in [["--strict"].as_slice(), &["--gate"], &["--format", "json"]] {
        let output = environment.fp(&[&["validate", PLAN], flags].concat());
        assert_eq!((output.code, output.stderr.as_str()), (1, ""), "{output}");
    }
    let files = std::fs::read_dir(environment.in_plan("")).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["tasks.md"]);
}

#[test]
fn a_file_has_no_passes() {
    let environment = with(&large_leaf());
    let output = environment.fp(&["validate", FILE, "--fix"]);
    assert_eq!((output.code, output.stderr.as_str()), (1, ""), "{output}");
}

#[test]
fn an_approved_plan_stays_approved_and_a_running_one_is_not_counted() {
    let environment = place();
    environment.plan(&clean());
    environment.done(&["approve", PLAN, "--yes"]);
    environment.done(&["validate", PLAN, "--fix"]);
    let status = environment.done(&["status", PLAN]);
    assert!(status.stdout.contains("(approved)"), "{status}");
    environment.start(&[]);
    let log = environment.plan_log();
    let output = environment.validated(&large_leaf());
    assert_eq!((output.code, output.stderr.as_str()), (1, ""), "{output}");
    assert_eq!(environment.plan_log(), log);
}

#[test]
fn an_approval_begins_anew() {
    let environment = place();
    for number in 1..=2 {
        environment.validated(&attempt(number));
    }
    environment.plan(&clean());
    environment.done(&["approve", PLAN, "--yes"]);
    assert_eq!(
        environment.validated(&attempt(3)).stderr,
        "note: pass 1 of 6\n"
    );
}

#[test]
fn what_was_found_is_told_although_nothing_can_be_counted() {
    let environment = place();
    environment.plan(&large_leaf());
    std::fs::create_dir(environment.in_plan("events.jsonl")).unwrap();
    assert_snapshot!(environment.fp(&["validate", PLAN, "--fix"]), @r"
    exit status: 1
    --- stdout
    .fractal-planner/plans/sample-20261121/tasks.md:5:37: error[over-complexity]: complexity 6 is above the limit of 4
    5 | - [ID: 1] Write part 1 (Complexity: 6)
      |                                     ^
      hint: split the task into two to five subtasks

    .fractal-planner/plans/sample-20261121/tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    --- stderr
    note: this pass is not counted: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl is not a file
    ");
    assert_snapshot!(environment.validated(&clean()), @r"
    exit status: 0
    --- stdout
    .fractal-planner/plans/sample-20261121/tasks.md: valid, 2 leaf tasks, 0 errors, 0 warnings
    --- stderr
    note: this pass is not counted: [ROOT]/work/.fractal-planner/plans/sample-20261121/events.jsonl is not a file
    ");
}
