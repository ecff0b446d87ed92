//! `fp signals`: its measurements, its file, and the harmlessness of file names.

mod history;
mod hostile;
mod used;

use crate::common::plan::PLAN;
use crate::common::{Environment, Output};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A tree whose leaves, from 1, list these files.
fn tree(files: &[&str]) -> String {
    let mut text =
        String::from("## Root Task\n- [ID: root] Sample (Complexity: 5)\n\n### Subtasks\n");
    for (number, files) in (1..).zip(files) {
        text.push_str(&format!(
            "- [ID: {number}] Write part {number} (Complexity: 2)\n  - Acceptance:\n    - `x` is {number}\n  \
             - Dependencies: none\n  - Files: {files}\n  - Tests Required: yes\n  - Hints:\n    - One\n    - Two\n  \
             - Guardrails:\n    - Do NOT modify files outside: {files}\n    - Do NOT add new dependencies\n  \
             - Test Commands: true\n"
        ));
    }
    text
}

/// A small crate.
fn sample() -> Environment {
    let environment = Environment::new().repo();
    environment.write("Cargo.toml", "[package]\nname = \"sample\"\n");
    environment.write("src/lib.rs", "mod a;\nmod b;\nmod c;\n");
    environment.write("src/a.rs", "pub struct A;\n".repeat(100));
    environment.write("src/b.rs", "use crate::a::A;\n#[cfg(test)]\nmod tests {}\n");
    environment.write("src/c.rs", "use super::{a, b};\n// use crate::d;\n");
    environment.write("tests/a.rs", "use sample::a;\n");
    environment.write(".gitignore", "made/\n");
    environment.write("made/by.rs", "use crate::a;\n1\n2\n");
    environment.git(&["add", "--all"]);
    environment.git(&["commit", "--quiet", "--message", "fix: the parts"]);
    environment
}

/// The signals of the tasks that list these files.
fn signals(environment: &Environment, files: &[&str]) -> Value {
    environment.write("tree.md", tree(files));
    let output = environment.fp(&["signals", "tree.md", "--format", "json"]);
    assert_eq!(output.code, 0, "{output}");
    output.json()["tasks"].clone()
}

/// The totals of each of these files, separated by `, `, with its path as a task would list it.
fn measured(environment: &Environment, files: &str) -> Value {
    signals(environment, &files.split(", ").collect::<Vec<_>>())
}

fn planned(files: &[&str]) -> Environment {
    let environment = sample();
    environment.plan(&tree(files));
    environment
}

#[test]
fn a_table_of_all_tasks() {
    let environment = planned(&[
        "src/a.rs",
        "src/b.rs, src/c.rs, src/d.rs (new)",
        "src/, Cargo.toml",
        "none",
    ]);
    assert_snapshot!(environment.fp(&["signals", PLAN]), @"
    exit status: 0
    --- stdout
    Scope  Git  Composite  Task
        2    1          2  1 Write part 1
        3    1          2  2 Write part 2
        5    1          3  3 Write part 3
        1    1          1  4 Write part 4
    ");
}

#[test]
fn the_file_has_the_signals_and_what_they_are_made_of() {
    let environment = planned(&["src/a.rs, src/c.rs"]);
    let output = environment.done(&["signals", PLAN, "--format", "json"]);
    let file = environment.read(&format!(".fractal-planner/plans/{PLAN}/signals.json"));
    assert_eq!(serde_json::from_str::<Value>(&file).unwrap(), output.json());
    assert_snapshot!(file, @r#"
    {
      "schemaVersion": 1,
      "tasks": [
        {
          "authors": 2,
          "commits": 2,
          "composite": 2,
          "fileScope": 2,
          "files": 2,
          "filesWithHistory": 2,
          "fixCommits": 2,
          "gitRisk": 1,
          "id": "1",
          "lines": 102,
          "title": "Write part 1"
        }
      ]
    }
    "#);
}

#[test]
fn every_file_adds_to_the_sums() {
    let environment = sample();
    let files = measured(
        &environment,
        "src/a.rs, src/c.rs, src/new.rs (new), ../up, tests/a.rs",
    );
    let names = ["lines", "commits", "authors", "fixCommits"];
    let sums = |at: usize| names.map(|name| files[at][name].as_u64().unwrap());
    assert_eq!(sums(0), [100, 1, 1, 1]);
    assert_eq!(sums(1), [2, 1, 1, 1]);
    assert_eq!(sums(2), [0; 4], "not there yet");
    assert_eq!(sums(3), [0; 4], "outside");
    assert_eq!(sums(4), [1, 1, 1, 1]);
}

#[test]
fn what_deserves_another_look_is_said() {
    let environment = planned(&["src/a.rs"]);
    for number in 0..40 {
        environment.write(
            "src/big.rs",
            format!("use crate::a;\nuse crate::b;\n// {number}\n").repeat(400),
        );
        environment.git(&["add", "--all"]);
        environment.git(&["commit", "--quiet", "--message", "Fix it again"]);
    }
    environment.plan(&tree(&[
        "src/a.rs, src/big.rs, src/b.rs, src/c.rs",
        "src/big.rs",
        "src/b.rs",
    ]));
    assert_snapshot!(environment.fp(&["signals", PLAN]), @"
    exit status: 0
    --- stdout
    Scope  Git  Composite  Task
        5    4          5  1 Write part 1
        5    5          5  2 Write part 2
        1    1          1  3 Write part 3

    Worth another look: 1, 2
    ");
}

#[test]
fn nothing_is_written_for_a_file() {
    let environment = sample();
    environment.write("tree.md", tree(&["src/a.rs"]));
    let before = environment.git(&["status", "--porcelain", "--ignored"]);
    assert_eq!(environment.fp(&["signals", "tree.md"]).code, 0);
    assert_eq!(
        environment.git(&["status", "--porcelain", "--ignored"]),
        before
    );
}

#[test]
fn a_tree_without_tasks_is_refused() {
    let environment = Environment::new().repo();
    environment.write("tree.md", "# Nothing\n");
    assert_snapshot!(environment.fp(&["signals", "tree.md"]), @r"
    exit status: 1
    --- stderr
    error: tree.md has no task
    hint: `fp validate` says what is wrong with it
    ");
}

#[test]
fn a_folder_or_a_pattern_is_many_files() {
    let environment = sample();
    let of = |listed: &str| {
        let task = &signals(&environment, &[listed])[0];
        ["files", "fileScope", "commits"].map(|name| task[name].as_u64().unwrap())
    };
    assert_eq!(of("src"), [5, 5, 4]);
    assert_eq!(of("src/*.rs"), [5, 5, 0]);
    assert_eq!(of("src/a.rs, ./src//a.rs"), [1, 2, 1], "a file counts once");
    assert_eq!(of("nowhere/"), [1, 1, 0]);
    assert_eq!(of("none"), [0, 1, 0]);
}

#[test]
fn the_repository_to_measure_on_is_always_the_same() {
    let environment = Environment::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/repository.sh");
    let make = |folder: &str| {
        let made = environment.run("sh", &[script, folder, "60", "30", "6"]);
        assert_eq!(made.code, 0, "{made}");
        let path = |path: &str| environment.path(folder).join(path);
        let tree = std::fs::read_to_string(path(".fractal-planner/plans/bench-20261121/tasks.md"))
            .unwrap();
        (
            environment.fp_in(folder, &["signals", "bench", "--format", "json"]),
            tree,
        )
    };
    let (first, tree) = make("one");
    assert_eq!((first, tree), make("two"));
    let validated = environment.fp_in("one", &["validate", "bench"]);
    assert!(
        validated.stdout.contains("valid, 6 leaf tasks, 0 errors"),
        "{validated}"
    );
    let tasks = environment
        .fp_in("one", &["signals", "bench", "--format", "json"])
        .json();
    let sum = |name: &str| {
        tasks["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t[name].as_u64().unwrap())
            .sum::<u64>()
    };
    for name in ["lines", "commits", "fixCommits"] {
        assert!(sum(name) > 0, "{name}: {tasks}");
    }
    assert_eq!(
        environment.run("sh", &[script, "one"]).code,
        2,
        "it never writes over anything"
    );
}

#[test]
fn the_order_of_files_makes_no_difference() {
    let environment = sample();
    let mut there = signals(&environment, &["src/a.rs, src/b.rs, tests, x"]);
    let back = signals(&environment, &["x, tests, src/b.rs, src/a.rs"]);
    there[0]["title"] = back[0]["title"].clone();
    assert_eq!(there, back);
}

#[test]
fn it_works_from_a_folder_and_in_a_linked_worktree() {
    let environment = planned(&["src/a.rs"]);
    let here = environment.fp(&["signals", PLAN, "--format", "json"]);
    assert_eq!(
        environment.fp_in("src", &["signals", PLAN, "--format", "json"]),
        here
    );
    environment.git(&["worktree", "add", "--quiet", "-b", "side", "../side"]);
    std::fs::write(environment.beside("side/src/a.rs"), "1\n").unwrap();
    let there = environment.fp_in("../side", &["signals", PLAN, "--format", "json"]);
    assert_eq!(there.json()["tasks"][0]["lines"], json!(1), "{there}");
}

fn code_and_notes(output: &Output) -> (i32, &str) {
    (output.code, &output.stderr)
}
