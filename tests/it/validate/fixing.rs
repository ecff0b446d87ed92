//! `--fix` and `--diff`.

use std::fs;

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::PLAN;
use crate::validate::{FILE, clean, large_leaf, sharing, waits_for_itself, with};

#[test]
fn fixes_are_applied_and_the_rest_is_reported() {
    let environment = with(&waits_for_itself().replacen("(Complexity: 2)", "(Complexity: 9)", 1));
    assert_snapshot!(environment.fp(&["validate", FILE, "--fix"]), @"
    exit status: 1
    --- stdout
    tasks.md:5:37: error[over-complexity]: complexity 9 is above the limit of 8
    5 | - [ID: 1] Write part 1 (Complexity: 9)
      |                                     ^
      hint: split the task into two to five subtasks

    tasks.md: not valid, 2 leaf tasks, 1 error, 0 warnings
    --- stderr
    note: 1 finding fixed in tasks.md
      2: remove the dependency
    ");
    assert_eq!(environment.read(FILE), large_leaf());
    let again = environment.fp(&["validate", FILE, "--fix"]);
    assert_eq!((again.code, again.stderr.as_str()), (1, ""), "{again}");
    assert_eq!(environment.read(FILE), large_leaf());
}

#[test]
fn a_tree_without_fixes_is_not_written() {
    for tree in [clean(), large_leaf()] {
        let environment = with(&tree);
        let before = fs::metadata(environment.path(FILE))
            .unwrap()
            .modified()
            .unwrap();
        environment.fp(&["validate", FILE, "--fix"]);
        assert_eq!(
            fs::metadata(environment.path(FILE))
                .unwrap()
                .modified()
                .unwrap(),
            before
        );
    }
}

#[test]
fn the_tree_of_a_run_that_is_on_is_not_changed() {
    let environment = Environment::new().repo();
    environment.plan(&clean());
    environment.start(&[]);
    environment.plan(&sharing());
    assert_snapshot!(environment.fp(&["validate", PLAN, "--fix"]), @"
    exit status: 1
    --- stderr
    error: the run of sample-20261121 is on: its tree is not changed
    hint: `fp task` edits one task; `fp cancel` ends the run
    ");
    assert_eq!(
        environment.read(&format!(".fractal-planner/plans/{PLAN}/tasks.md")),
        sharing()
    );
}
