//! `fp evidence`: what the last verdict rests on, read back from its file.

use crate::common::plan::{Leaf, PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

const FILE: &str = ".fractal-planner/plans/sample-20261121/evidence/task-1-verification.md";

/// What is shown, with the time that the command took masked.
fn shown(environment: &Environment, flags: &[&str]) -> Output {
    let output = environment.fp(&[&["evidence", PLAN, "1"], flags].concat());
    let time = regex::Regex::new(r"\d+\.\d+ s\b").unwrap();
    Output { stdout: time.replace(&output.stdout, "[TIME]").into_owned(), ..output }
}

fn judged(pass: bool) -> Environment {
    let environment = Environment::new().repo();
    let tested = Leaf { test: "cat a.txt", ..leaf("1", "none", "a.txt") };
    environment.plan(&tree(&[tested, leaf("2", "1", "b.txt")]));
    environment.start(&[]);
    environment.build("builder-1", "a.txt", "about | 1\n```\n## Summary\n");
    let output = if pass { environment.pass("1") } else { environment.fail("1") };
    assert_eq!(output.code, 0, "{output}");
    environment
}

#[test]
fn what_a_verdict_rests_on() {
    let environment = judged(true);
    assert_snapshot!(shown(&environment, &[]), @r"
    exit status: 0
    --- stdout
    # Task 1: Write part 1

    pass, iteration 1, 2026-11-21T09:00:00Z

    ## Criteria

    pass  1. `a.txt` has a line about 1
             seen

    ## Checks

    pass  changes: 1 file changed
    pass  boundary: every change is within the task's files
    n/a   dependencies: no manifest and no lock file changed
    pass  leftovers: none in the added lines
    n/a   tests: no test was touched
    pass  command: cat a.txt
          exit status 0 after [TIME], output sha256 02f8b74c30e6987d…
          about | 1
          ```
          ## Summary

    ## Files

    - a.txt

    ## Summary

    fine
    ");
    assert_snapshot!(shown(&environment, &["--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "at": "2026-11-21T09:00:00Z",
      "checks": [
        {
          "detail": "1 file changed",
          "name": "changes",
          "verdict": "pass"
        },
        {
          "detail": "every change is within the task's files",
          "name": "boundary",
          "verdict": "pass"
        },
        {
          "detail": "no manifest and no lock file changed",
          "name": "dependencies",
          "verdict": "notApplicable"
        },
        {
          "detail": "none in the added lines",
          "name": "leftovers",
          "verdict": "pass"
        },
        {
          "detail": "no test was touched",
          "name": "tests",
          "verdict": "notApplicable"
        }
      ],
      "criteria": [
        {
          "criterion": "`a.txt` has a line about 1",
          "evidence": "seen",
          "number": 1,
          "pass": true
        }
      ],
      "files": [
        "a.txt"
      ],
      "iteration": 1,
      "outputs": [
        {
          "name": "command: cat a.txt",
          "text": "exit status 0 after [TIME], output sha256 02f8b74c30e6987d…\nabout | 1\n```\n## Summary",
          "verdict": "pass"
        }
      ],
      "pass": true,
      "schemaVersion": 1,
      "summary": "fine",
      "task": "1",
      "title": "Write part 1"
    }
    "#);
    let failed = judged(false).fp(&["evidence", PLAN, "1"]);
    assert!(failed.stdout.contains("\nFAIL, iteration 1, "), "{failed}");
    assert_eq!(failed.code, 0, "reading it went well");
}

#[test]
fn where_there_is_none() {
    let environment = judged(true);
    assert_snapshot!(environment.fp(&["evidence", PLAN, "2"]), @r"
    exit status: 1
    --- stderr
    error: task 2 has no evidence: it is PENDING, and no verdict has been recorded
    hint: `fp status sample-20261121` shows where each task is
    ");
    assert_snapshot!(environment.fp(&["evidence", PLAN, "7"]), @r"
    exit status: 1
    --- stderr
    error: the approved plan has no leaf 7
    hint: `fp status PLAN` lists the leaves
    ");
}

#[test]
fn a_file_that_is_broken_names_its_line() {
    let environment = judged(true);
    let text = environment.read(FILE);
    environment.write(FILE, text.replace("Result: PASS", "Result: fine"));
    assert_snapshot!(environment.fp(&["evidence", PLAN, "1"]), @r#"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/evidence/task-1-verification.md: line 3: "fine" is neither PASS nor FAIL
    hint: mend that line, or remove the file: the verdict itself is in the log, and is not lost
    "#);
    environment.write(FILE, [0xff, 0xfe]);
    assert_eq!(environment.fp(&["evidence", PLAN, "1"]).code, 2);
}

#[test]
fn a_file_that_says_other_than_the_log_is_noted() {
    let environment = judged(false);
    let text = environment.read(FILE);
    environment.write(FILE, text.replace("Result: FAIL", "Result: PASS"));
    let output = environment.fp(&["evidence", PLAN, "1"]);
    assert_eq!(output.stderr, "note: the file says PASS, but the log says FAIL: it was edited\n");
    environment.write(FILE, text.replace("Task 1\n", "Task 2\n"));
    let output = environment.fp(&["evidence", PLAN, "1"]);
    assert_eq!(output.stderr, "note: the file is about task 2\n");
}

#[cfg(unix)]
#[test]
fn a_folder_that_leads_elsewhere_is_not_followed() {
    let environment = judged(true);
    let folder = environment.path(".fractal-planner/plans/sample-20261121/evidence");
    std::fs::rename(&folder, environment.beside("elsewhere")).unwrap();
    std::os::unix::fs::symlink(environment.beside("elsewhere"), &folder).unwrap();
    let output = environment.fp(&["evidence", PLAN, "1"]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output}");
}
