//! The task tree through the command line: programs that read the output of `fp` get a status and one JSON
//! value, with nothing before it.

use std::time::Instant;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use fp_plan::plan::format;
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
    for (name, text) in [
        ("valid", &valid),
        ("invalid", &invalid),
        ("empty", &String::new()),
    ] {
        let environment = place(text);
        for args in [
            &["validate", PLAN][..],
            &["validate", "tree.md"],
            &["validate", "tree.md", "--strict", "--all"],
            &["validate", "tree.md", "--fix"],
            &["validate", "--fmt", "tree.md", "--check"],
            &["validate", "--fmt", "tree.md"],
            &["plan", PLAN],
        ] {
            let output = environment.fp(&[args, &["--format", "json"]].concat());
            if !output.stdout.is_empty() {
                assert_eq!(
                    output.json()["schemaVersion"],
                    1,
                    "{name} {args:?}: {output}"
                );
                assert!(
                    output.stdout.starts_with("{\n"),
                    "{name} {args:?}: {output}"
                );
            }
            seen.push(format!("{name} {}: {}", args.join(" "), output.code));
        }
    }
    assert_snapshot!(seen.join("\n"), @"
    valid validate sample-20261121: 0
    valid validate tree.md: 0
    valid validate tree.md --strict --all: 0
    valid validate tree.md --fix: 0
    valid validate --fmt tree.md --check: 1
    valid validate --fmt tree.md: 0
    valid plan sample-20261121: 0
    invalid validate sample-20261121: 1
    invalid validate tree.md: 1
    invalid validate tree.md --strict --all: 1
    invalid validate tree.md --fix: 1
    invalid validate --fmt tree.md --check: 1
    invalid validate --fmt tree.md: 0
    invalid plan sample-20261121: 1
    empty validate sample-20261121: 1
    empty validate tree.md: 1
    empty validate tree.md --strict --all: 1
    empty validate tree.md --fix: 1
    empty validate --fmt tree.md --check: 1
    empty validate --fmt tree.md: 1
    empty plan sample-20261121: 1
    ");
}

#[test]
fn a_limit_that_is_no_number_is_not_taken() {
    let environment = place(&tree(&[leaf("1", "none", "a.txt")]));
    let mut said = String::new();
    for limit in [
        "four",
        "",
        "4.5",
        "0",
        "11",
        "-1",
        "4x",
        "99999999999999999999",
    ] {
        let flag = format!("--max-complexity={limit}");
        let output = environment.fp(&["validate", "tree.md", &flag]);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (2, ""),
            "{limit:?}: {output}"
        );
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

/// A fence, Windows line endings, a byte-order mark and the other dialect, all at once.
#[test]
fn what_counts_as_a_task_is_the_same_for_every_command() {
    let text = "\u{feff}# [root] R\n\n```md\n- [ID: 9] no task (Complexity: 9)\n```\n\n## [1] A\n\n- Complexity: 2\n- Dependencies:\n\n  - 2\n\n## [2] B (Complexity: 3)\n\n- [ID: 2.1] C (Complexity: 1)\n- [ID: 2.2] D (Complexity: 1)\n";
    let environment = place(&text.replace('\n', "\r\n"));
    let report = environment
        .fp(&["validate", "tree.md", "--format", "json"])
        .json();
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
    environment.done(&["validate", "--fmt", "tree.md"]);
    assert_eq!(
        environment
            .fp(&["validate", "tree.md", "--format", "json"])
            .json()["totalLeafTasks"],
        3
    );
}

/// Reading and formatting take about the same time for any text of the same size, whatever its shape; anything
/// quadratic would take a thousand times as long.
#[test]
fn no_shape_of_text_takes_long() {
    const SIZE: usize = 100_000;
    let filled = |unit: &str| unit.repeat(SIZE / unit.len());
    let time = |text: &str| {
        let runs = (0..3).map(|_| {
            let start = Instant::now();
            drop(format(text));
            start.elapsed()
        });
        runs.min().unwrap()
    };
    let tree =
        "- [ID: 1] A (Complexity: 3)\n  - Acceptance:\n    - `a, b` is, (c, d)\n  - Files: a, b\n";
    let reference = time(&filled(tree));
    for (name, text) in [
        (
            "blanks in a title",
            format!("- [ID: 1] a{}b\n", " ".repeat(SIZE)),
        ),
        ("blanks alone", " ".repeat(SIZE)),
        (
            "blanks before a complexity",
            format!("- [ID: 1] a{}(Complexity: 3)", " ".repeat(SIZE)),
        ),
        (
            "blanks in a file",
            format!("- [ID: 1] a\n  - Files: a{}b\n", " ".repeat(SIZE)),
        ),
        (
            "blanks in a label",
            format!("- [ID: 1] a\n  - Files{}: b\n", " ".repeat(SIZE)),
        ),
        (
            "open complexities",
            format!("- [ID: 1] a{}", filled("(Complexity: ")),
        ),
        ("open ids", filled("- [ID: ")),
        (
            "brackets",
            format!("- [ID: 1] a\n  - Acceptance: {}", filled("([{")),
        ),
        (
            "backticks",
            format!("- [ID: 1] a\n  - Acceptance: {}", filled("` `` ``` ")),
        ),
        (
            "quotes",
            format!("- [ID: 1] a\n  - Acceptance: {}", filled("\"a, 'b")),
        ),
        (
            "ands",
            format!("- [ID: 1] a\n  - Dependencies: {}", filled("1 and ")),
        ),
        (
            "words of a file",
            format!("- [ID: 1] a\n  - Files: {}", filled("a ")),
        ),
        ("emphasis", format!("- {}[ID: 1] a", filled("*_"))),
        ("definitions", filled("[a]: b\n")),
        (
            "definitions of many links",
            (0..SIZE / 10).map(|n| format!("[{n}]: b\n")).collect(),
        ),
        ("empty items", filled("-\n")),
        ("headings", filled("# [1] a\n")),
        ("notes", format!("- [ID: 1] a\n{}", filled("\n  b\n"))),
        (
            "duplicates",
            format!("- [ID: 1] a\n{}", filled("  - Files: b\n")),
        ),
        (
            "comments",
            format!("- [ID: 1] a\n{}", filled("  <!-- b -->\n\n")),
        ),
        (
            "lazy lines",
            format!("- [ID: 1] a\n  - - b\n{}", filled("=c\n")),
        ),
        (
            "tabs",
            format!("- [ID: 1] a\n  - b\n\n{}", filled("\t\t- c\n")),
        ),
        ("fences", format!("- [ID: 1] a\n{}", filled("  ```\n  b\n"))),
    ] {
        let taken = time(&text);
        assert!(
            taken < reference * 25,
            "{name}: {taken:?}, a tree of the same size {reference:?}"
        );
    }
}
