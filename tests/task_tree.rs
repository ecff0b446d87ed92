//! The task tree through the command line: what reads the output of `fp` gets a status and one JSON value, and
//! nothing before it.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod common;

use common::Environment;
use common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

fn place(text: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.plan(text);
    environment.write("tree.md", text);
    environment
}

#[test]
fn nothing_stands_before_the_json() {
    let valid = tree(&[leaf("1", "none", "a.txt"), leaf("2", "1", "b.txt")]);
    let invalid = valid.replace("Dependencies: 1", "Dependencies: 7");
    let mut seen = Vec::new();
    for (name, text) in [("valid", &valid), ("invalid", &invalid), ("empty", &String::new())] {
        let environment = place(text);
        for args in [
            &["validate", PLAN][..],
            &["validate", "tree.md"],
            &["validate", "tree.md", "--strict", "--all"],
            &["validate", "tree.md", "--fix"],
            &["fmt", "tree.md", "--check"],
            &["fmt", "tree.md"],
            &["plan", PLAN],
        ] {
            let output = environment.fp(&[args, &["--format", "json"]].concat());
            if !output.stdout.is_empty() {
                assert_eq!(output.json()["schemaVersion"], 1, "{name} {args:?}: {output}");
                assert!(output.stdout.starts_with("{\n"), "{name} {args:?}: {output}");
            }
            seen.push(format!("{name} {}: {}", args.join(" "), output.code));
        }
    }
    assert_snapshot!(seen.join("\n"), @r"
    valid validate sample-20261121: 0
    valid validate tree.md: 0
    valid validate tree.md --strict --all: 0
    valid validate tree.md --fix: 0
    valid fmt tree.md --check: 1
    valid fmt tree.md: 0
    valid plan sample-20261121: 0
    invalid validate sample-20261121: 1
    invalid validate tree.md: 1
    invalid validate tree.md --strict --all: 1
    invalid validate tree.md --fix: 1
    invalid fmt tree.md --check: 1
    invalid fmt tree.md: 0
    invalid plan sample-20261121: 1
    empty validate sample-20261121: 1
    empty validate tree.md: 1
    empty validate tree.md --strict --all: 1
    empty validate tree.md --fix: 1
    empty fmt tree.md --check: 1
    empty fmt tree.md: 1
    empty plan sample-20261121: 1
    ");
}

#[test]
fn a_limit_that_is_no_number_is_not_taken() {
    let environment = place(&tree(&[leaf("1", "none", "a.txt")]));
    let mut said = String::new();
    for limit in ["four", "", "4.5", "0", "11", "-1", "4x", "99999999999999999999"] {
        let flag = format!("--max-complexity={limit}");
        let output = environment.fp(&["validate", "tree.md", &flag]);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{limit:?}: {output}");
        said.push_str(output.stderr.lines().next().unwrap_or_default());
        said.push('\n');
    }
    assert_snapshot!(said, @r"
    error: invalid value 'four' for '--max-complexity <N>': invalid digit found in string
    error: invalid value '' for '--max-complexity <N>': cannot parse integer from empty string
    error: invalid value '4.5' for '--max-complexity <N>': invalid digit found in string
    error: invalid value '0' for '--max-complexity <N>': 0 is not in 1..=10
    error: invalid value '11' for '--max-complexity <N>': 11 is not in 1..=10
    error: invalid value '-1' for '--max-complexity <N>': -1 is not in 1..=10
    error: invalid value '4x' for '--max-complexity <N>': invalid digit found in string
    error: invalid value '99999999999999999999' for '--max-complexity <N>': number too large to fit in target type
    ");
}

/// A fence, Windows line ends, a byte-order mark and the other dialect, all at once.
#[test]
fn what_counts_as_a_task_is_the_same_for_every_command() {
    let text = "\u{feff}# [root] R\n\n```md\n- [ID: 9] no task (Complexity: 9)\n```\n\n## [1] A\n\n- Complexity: 2\n- Dependencies:\n\n  - 2\n\n## [2] B (Complexity: 3)\n\n- [ID: 2.1] C (Complexity: 1)\n- [ID: 2.2] D (Complexity: 1)\n";
    let environment = place(&text.replace('\n', "\r\n"));
    let report = environment.fp(&["validate", "tree.md", "--format", "json"]).json();
    assert_eq!(report["totalLeafTasks"], 3);
    assert_snapshot!(environment.fp(&["show", "tree.md"]), @r"
    exit status: 0
    --- stdout
    root  R
    ├─ 1  A (2)  after 2
    └─ 2  B (3)
       ├─ 2.1  C (1)
       └─ 2.2  D (1)
    ");
    environment.done(&["fmt", "tree.md"]);
    assert_eq!(environment.fp(&["validate", "tree.md", "--format", "json"]).json()["totalLeafTasks"], 3);
}
