//! Dependency cycles: the shortest one in each group of tasks that depend on each other, as a path.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::common::plan::{leaf, tree};
use crate::validate::{validate, with};

/// The details of all findings about cycles in a tree of leaves `(id, dependencies)`.
fn cycles(leaves: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<String> = leaves.iter().map(|(id, _)| format!("{id}.txt")).collect();
    let leaves: Vec<_> = leaves
        .iter()
        .zip(&files)
        .map(|((id, after), file)| leaf(id, after, file))
        .collect();
    let report = validate(&tree(&leaves), &["--format", "json"]).json();
    let violations = report["violations"].as_array().unwrap();
    let cycles = violations
        .iter()
        .filter(|violation| violation["type"] == "dependency-cycle");
    cycles
        .map(|violation| violation["detail"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn of_each_tangle_the_shortest_path_with_the_smallest_id_first() {
    let check = |leaves: &[(&str, &str)], expect: &[&str]| {
        let expect: Vec<String> = expect
            .iter()
            .map(|path| format!("tasks wait for each other: {path}"))
            .collect();
        assert_eq!(cycles(leaves), expect, "{leaves:?}");
    };
    check(&[("1", "2"), ("2", "1")], &["1 → 2 → 1"]);
    check(&[("3", "1"), ("1", "2"), ("2", "3")], &["1 → 2 → 3 → 1"]);
    check(&[("1", "2, 3"), ("2", "1"), ("3", "1")], &["1 → 2 → 1"]);
    check(&[("10", "2"), ("2", "10")], &["2 → 10 → 2"]);
    check(
        &[("1", "2, 3"), ("2", "1, 3"), ("3", "1, 2")],
        &["1 → 2 → 1"],
    );
    check(
        &[("1", "2"), ("2", "3"), ("3", "4, 2"), ("4", "1")],
        &["2 → 3 → 2"],
    );
    check(
        &[("1", "2"), ("2", "1"), ("3", "4"), ("4", "3")],
        &["1 → 2 → 1", "3 → 4 → 3"],
    );
    check(&[("1", "none"), ("2", "1")], &[]);
}

#[test]
fn the_text() {
    let text = tree(&[
        leaf("1", "3", "a.txt"),
        leaf("2", "1", "b.txt"),
        leaf("3", "2", "c.txt"),
    ]);
    assert_snapshot!(validate(&text, &[]), @r"
    exit status: 1
    --- stdout
    tasks.md:8:19: error[dependency-cycle]: tasks wait for each other: 1 → 3 → 2 → 1
    8 |   - Dependencies: 3
      |                   ^
      hint: remove the dependency that matters least, or split a task so that both can wait for one part

    tasks.md: not valid, 3 leaf tasks, 1 error, 0 warnings
    ");
}

#[test]
fn a_tangle_is_one_finding_and_every_pair_is_listed() {
    let all = (1..=100).map(|id| id.to_string()).collect::<Vec<_>>();
    let mut text = String::from("- [ID: root] Tangle (Complexity: 9)\n");
    for id in &all {
        let others: Vec<&str> = all
            .iter()
            .filter(|other| *other != id)
            .map(String::as_str)
            .collect();
        let _ = writeln!(
            text,
            "- [ID: {id}] Knot (Complexity: 2)\n  - Dependencies: {}",
            others.join(", ")
        );
    }
    for id in 101..=400 {
        let other = if id % 2 == 1 { id + 1 } else { id - 1 };
        let _ = writeln!(
            text,
            "- [ID: {id}] Half (Complexity: 2)\n  - Dependencies: {other}"
        );
    }
    let output = with(&text).fp(&["validate", crate::validate::FILE, "--all"]);
    let found = output
        .stdout
        .matches("error[dependency-cycle]: tasks wait for each other: ")
        .count();
    assert_eq!(found, 151, "{}", output.code);
    assert!(
        output.stdout.contains("wait for each other: 1 → 2 → 1\n"),
        "{}",
        output.code
    );
}
