//! `fp evidence`: shows the evidence for the last verdict.

use crate::common::plan::{Leaf, PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

const FILE: &str = ".fractal-planner/plans/sample-20261121/evidence/task-1-verification.md";

/// The output, with the command's duration masked.
fn shown(environment: &Environment, flags: &[&str]) -> Output {
    let output = environment.fp(&[&["why", "--evidence", PLAN, "1"], flags].concat());
    let time = regex::Regex::new(r"\d+\.\d+ s\b").unwrap();
    Output {
        stdout: time.replace(&output.stdout, "[TIME]").into_owned(),
        ..output
    }
}

fn judged(pass: bool) -> Environment {
    let environment = Environment::new().repo();
    let tested = Leaf {
        test: "cat a.txt",
        ..leaf("1", "none", "a.txt")
    };
    environment.plan(&tree(&[tested, leaf("2", "1", "b.txt")]));
    environment.start(&[]);
    environment.build("builder-1", "a.txt", "about | 1\n```\n## Summary\n");
    let output = if pass {
        environment.pass("1")
    } else {
        environment.fail("1")
    };
    assert_eq!(output.code, 0, "{output}");
    environment
}

#[test]
fn what_a_verdict_rests_on() {
    let environment = judged(true);
    let text = shown(&environment, &[]).stdout;
    assert_snapshot!(text, @"
    # Verification Evidence: Task 1

    Result: PASS
    Timestamp: 2026-11-21T09:00:00Z
    Task: Write part 1
    Iteration: 1
    Tree: 72bbee1451fc8e0ded4f41b0351dfe548d672db6

    ## Criteria Results

    | # | Criterion | Result | Evidence |
    |---|-----------|--------|---------|
    | 1 | `a.txt` has a line about 1 | PASS | seen |

    ## Mechanical Checks

    | Check | Result | Detail |
    |-------|--------|--------|
    | changes | PASS | 1 file changed |
    | boundary | PASS | every change is within the task's files |
    | dependencies | N/A | no manifest and no lock file changed |
    | leftovers | PASS | none in the added lines |
    | tests | N/A | no test was touched |

    ## Test Output

    command: cat a.txt (PASS)

    ````
    exit status 0 after [TIME], output sha256 02f8b74c30e6987d…
    about | 1
    ```
    ## Summary
    ````


    ## Files Reviewed

    - a.txt

    ## Summary

    fine
    ");
    let json = environment
        .done(&["why", "--evidence", PLAN, "1", "--format", "json"])
        .json();
    assert_eq!(json["text"], environment.read(FILE));
    assert!(
        FILE.ends_with(json["file"].as_str().unwrap()) && json["task"] == "1",
        "{json}"
    );
    let failed = judged(false).fp(&["why", "--evidence", PLAN, "1"]);
    let seen = [
        "Result: FAIL",
        "Tree: ",
        "| changes | PASS |",
        "command: cat a.txt (PASS)",
        "- a.txt",
    ];
    for line in seen {
        assert!(
            failed.stdout.contains(&format!("\n{line}")),
            "{line}: {failed}"
        );
    }
    assert_eq!(failed.code, 0, "reading it went well");
}

#[test]
fn where_there_is_none() {
    let environment = judged(true);
    assert_snapshot!(environment.fp(&["why", "--evidence", PLAN, "2"]), @r"
    exit status: 1
    --- stderr
    error: task 2 has no evidence: it is waiting, and no verdict has been recorded
    hint: `fp status sample-20261121` shows where each task is
    ");
    assert_snapshot!(environment.fp(&["why", "--evidence", PLAN, "7"]), @r"
    exit status: 1
    --- stderr
    error: the approved plan has no leaf 7
    hint: `fp status sample-20261121` lists the leaves
    ");
}

#[test]
fn a_file_that_is_no_text_is_named() {
    let environment = judged(true);
    environment.write(FILE, [0xff, 0xfe]);
    let output = environment.fp(&["why", "--evidence", PLAN, "1"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("task-1-verification.md"), "{output}");
}

#[test]
fn a_file_that_says_other_than_the_log_is_noted() {
    let environment = judged(false);
    let text = environment.read(FILE);
    environment.write(FILE, text.replace("Result: FAIL", "Result: PASS"));
    let output = environment.fp(&["why", "--evidence", PLAN, "1"]);
    assert_eq!(
        output.stderr,
        "note: the file was edited: by the log the task did not pass\n"
    );
    environment.write(FILE, text.replace("Task 1\n", "Task 2\n"));
    let output = environment.fp(&["why", "--evidence", PLAN, "1"]);
    assert_eq!(
        output.stderr,
        "note: the file was edited: by the log the task did not pass\n"
    );
}

#[cfg(unix)]
#[test]
fn a_folder_that_leads_elsewhere_is_not_followed() {
    let environment = judged(true);
    let folder = environment.path(".fractal-planner/plans/sample-20261121/evidence");
    std::fs::rename(&folder, environment.beside("elsewhere")).unwrap();
    std::os::unix::fs::symlink(environment.beside("elsewhere"), &folder).unwrap();
    let output = environment.fp(&["why", "--evidence", PLAN, "1"]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
}

#[test]
fn each_try_is_kept_the_last_one_first() {
    let environment = judged(false);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass("1");
    let text = environment.read(FILE);
    let told: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("Result: ") || line.starts_with("Iteration: "))
        .collect();
    assert_eq!(
        told,
        [
            "Result: PASS",
            "Iteration: 2",
            "Result: FAIL",
            "Iteration: 1"
        ]
    );
    assert!(
        text.contains("\n\nfine\n\n# Verification Evidence: Task 1\n"),
        "{text}"
    );
    assert_eq!(environment.fp(&["why", "--evidence", PLAN, "1"]).stderr, "");
}
