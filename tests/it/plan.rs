//! `fp schedule`, formerly `fp plan`: the order of the tasks, and when they start.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr as _;

/// A leaf: id, title, complexity, dependencies, files.
type Leaf<'a> = (&'a str, &'a str, u32, &'a str, &'a str);

const LEAVES: &[Leaf<'_>] = &[
    ("1", "Write the parser", 3, "none", "src/parser.rs"),
    ("2", "Write the printer", 2, "none", "src/printer.rs"),
    (
        "3",
        "Tell the parser's errors",
        2,
        "1",
        "src/parser.rs, src/error.rs",
    ),
    (
        "4",
        "Print <b>bold</b> `code` and 한국어",
        1,
        "2",
        "src/printer.rs",
    ),
    (
        "5",
        "Mend the docs of the parser",
        4,
        "none",
        "src/parser.rs",
    ),
    ("6", "Read the configuration", 1, "none", "src/config.rs"),
];

fn planned(leaves: &[Leaf<'_>]) -> Environment {
    let mut tree = String::from("- [ID: root] Sample goal (Complexity: 5)\n");
    for (id, title, complexity, after, files) in leaves {
        tree.push_str(&format!(
            "- [ID: {id}] {title} (Complexity: {complexity})\n  - Acceptance:\n    - `{id}` is printed\n  \
             - Dependencies: {after}\n  - Files: {files}\n  - Tests Required: no\n  - Hints:\n    - One\n    - Two\n  \
             - Guardrails:\n    - Do NOT modify files outside: {files}\n"
        ));
    }
    let environment = Environment::new().repo();
    environment.plan(&tree);
    environment
}

#[test]
fn one_after_the_other() {
    let environment = planned(LEAVES);
    assert_snapshot!(environment.fp(&["plan"]), @"
    exit status: 0
    --- stdout
    6 tasks, at most 1 at once
    1. at 0 min   1 Write the parser (3)
    2. at 11 min  2 Write the printer (2)
    3. at 40 min  3 Tell the parser's errors (2)
    4. at 35 min  4 Print <b>bold</b> `code` and 한국어 (1)
    5. at 19 min  5 Mend the docs of the parser (4)
    6. at 48 min  6 Read the configuration (1)

    Critical path, 24 min: 1 → 3
    About 57 min with 1 builder (critical path 24), about 29 min in one session;
      12 agents
    By builders: 57 min with 1, 42 min with 2
    The split gains less than a fifth of one session: make it one leaf, or say why
      it is split: `Split: gate | context | asked`
    ");
}

#[test]
fn side_by_side() {
    let environment = planned(LEAVES);
    assert_snapshot!(environment.fp(&["plan", PLAN, "--parallel", "3"]), @"
    exit status: 0
    --- stdout
    6 tasks, at most 3 at once
    1. at 0 min   1 Write the parser (3)
    2. at 0 min   2 Write the printer (2)
    3. at 31 min  3 Tell the parser's errors (2): src/parser.rs is with 5
    4. at 10 min  4 Print <b>bold</b> `code` and 한국어 (1): after 2
    5. at 13 min  5 Mend the docs of the parser (4): src/parser.rs is with 1
    6. at 0 min   6 Read the configuration (1)

    Critical path, 24 min: 1 → 3
    About 42 min with 3 builders (critical path 24), about 29 min in one session;
      12 agents
    By builders: 57 min with 1, 42 min with 2
    The split gains less than a fifth of one session: make it one leaf, or say why
      it is split: `Split: gate | context | asked`
    ");
}

#[test]
fn json_has_all_of_it() {
    let environment = planned(&LEAVES[..3]);
    assert_snapshot!(environment.fp(&["plan", "--parallel", "4", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "executionOrder": "document-order",
      "order": [
        {
          "acceptance": [
            "`1` is printed"
          ],
          "commands": [],
          "complexity": 3,
          "delay": null,
          "dependencies": [],
          "files": [
            "src/parser.rs"
          ],
          "id": "1",
          "position": 1,
          "start": 0,
          "title": "Write the parser"
        },
        {
          "acceptance": [
            "`2` is printed"
          ],
          "commands": [],
          "complexity": 2,
          "delay": null,
          "dependencies": [],
          "files": [
            "src/printer.rs"
          ],
          "id": "2",
          "position": 2,
          "start": 0,
          "title": "Write the printer"
        },
        {
          "acceptance": [
            "`3` is printed"
          ],
          "commands": [],
          "complexity": 2,
          "delay": {
            "cause": "dependency",
            "on": [
              "1"
            ]
          },
          "dependencies": [
            "1"
          ],
          "files": [
            "src/parser.rs",
            "src/error.rs"
          ],
          "id": "3",
          "position": 3,
          "start": 13,
          "title": "Tell the parser's errors"
        }
      ],
      "prediction": {
        "builders": 4,
        "byBuilders": [
          {
            "builders": 1,
            "minutes": 30
          },
          {
            "builders": 2,
            "minutes": 24
          }
        ],
        "criticalPath": {
          "minutes": 24,
          "tasks": [
            "1",
            "3"
          ]
        },
        "isNotWorth": true,
        "measured": 0,
        "minutes": 24,
        "session": 15,
        "sittings": 6
      },
      "schemaVersion": 1
    }
    "#);
}

#[test]
fn the_order_of_ties() {
    let environment = planned(LEAVES);
    let ids = |args: &[&str]| {
        let output = environment
            .fp(&[&["plan", "--format", "json"], args].concat())
            .json();
        let order = output["order"].as_array().unwrap();
        order
            .iter()
            .map(|step| step["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(ids(&[]), "1 2 3 4 5 6");
    assert_eq!(ids(&["--order", "risk-first"]), "5 1 2 3 4 6");
    assert_eq!(ids(&["--order", "easy-first"]), "6 2 4 1 3 5");
    environment.write(
        ".fractal-planner/config.json",
        r#"{"executionOrder": "risk-first"}"#,
    );
    assert_eq!(ids(&[]), "5 1 2 3 4 6");
    assert_eq!(ids(&["--order", "document-order"]), "1 2 3 4 5 6");
}

#[test]
fn the_settings_say_how_many_run_at_once() {
    let environment = planned(LEAVES);
    // The minutes in which the six tasks start.
    let starts = |args: &[&str]| {
        let output = environment
            .fp(&[&["plan", "--format", "json"], args].concat())
            .json();
        let steps = output["order"].as_array().unwrap();
        let starts = steps.iter().map(|step| step["start"].as_u64().unwrap());
        starts.collect::<Vec<_>>()
    };
    let one = starts(&[]);
    assert_eq!(one, [0, 11, 40, 35, 19, 48]);
    environment.write(".fractal-planner/config.json", r#"{"maxParallelTasks": 4}"#);
    assert_eq!(starts(&[]), [0, 0, 31, 10, 13, 0]);
    assert_eq!(starts(&["--parallel", "1"]), one);
}

#[test]
fn it_fits_80_columns_whatever_is_in_it() {
    let long = "한국어 제목이 아주 길어서 ".repeat(12);
    let leaves: Vec<(String, String, String)> = (1..=60)
        .map(|id| {
            let after = if id == 1 {
                "none".to_owned()
            } else {
                format!("{}", id - 1)
            };
            (id.to_string(), format!("{long} {id}"), after)
        })
        .collect();
    let leaves: Vec<Leaf<'_>> = leaves
        .iter()
        .map(|(id, title, after)| {
            (
                id.as_str(),
                title.as_str(),
                2,
                after.as_str(),
                "src/a/very/long/path/to/some/file.rs",
            )
        })
        .collect();
    let output = planned(&leaves).fp(&["plan", "--parallel", "3"]);
    assert_eq!(output.code, 0, "{output}");
    for line in output.stdout.lines() {
        assert!(line.width() <= 80, "{} columns: {line}", line.width());
    }
    assert_snapshot!(output.stdout.lines().skip_while(|line| !line.starts_with("59.")).collect::<Vec<_>>().join("\n"), @"
    59. at 580 min  59 한국어 제목이 아주 길어서 한국어 제목이 아주 길어서 한국어
                    제목이 아주 길어서 한국어 제목이 아주 길어서 한국어 제목이 아주
                    길어서 한국어 제목이 아주 길어서 한국어 제목이 아주 길어서 한국…
    60. at 590 min  60 한국어 제목이 아주 길어서 한국어 제목이 아주 길어서 한국어
                    제목이 아주 길어서 한국어 제목이 아주 길어서 한국어 제목이 아주
                    길어서 한국어 제목이 아주 길어서 한국어 제목이 아주 길어서 한국…

    Critical path, 600 min: 1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → 9 → 10 → 11 → 12 → 13
      → 14 → 15 → 16 → 17 → 18 → 19 → 20 → 21 → 22 → 23 → 24 → 25 → 26 → 27 → 28 →
      29 → 30 → 31 → 32 → 33 → 34 → 35 → 36 → 37 → 38 → 39 → 40 → 41 → 42 → 43 → 44
      → 45 → 46 → 47 → 48 → 49 → 50 → 51 → 52 → 53 → 54 → 55 → 56 → 57 → 58 → 59 →
      60
    About 600 min with 3 builders (critical path 600), about 240 min in one
      session; 120 agents
    The split gains less than a fifth of one session: make it one leaf, or say why
      it is split: `Split: gate | context | asked`
    ");
}

#[test]
fn what_is_in_the_way() {
    let environment = planned(LEAVES);
    assert_snapshot!(environment.fp(&["plan", "--parallel", "0"]), @r"
    exit status: 2
    --- stderr
    error: invalid value '0' for '--parallel <N>': 0 is not in 1..=16

    For more information, try '--help'.
    ");
    assert_snapshot!(environment.fp(&["plan", "--order", "random"]), @r"
    exit status: 2
    --- stderr
    error: invalid value 'random' for '--order <ORDER>'
      [possible values: document-order, risk-first, easy-first]

    For more information, try '--help'.
    ");
    environment.write("tree.md", "- [ID: root] Goal\n");
    assert_snapshot!(environment.fp(&["plan", "tree.md"]), @r"
    exit status: 2
    --- stderr
    error: tree.md is a file, and a plan is needed
    hint: name the plan: `fp plans` lists them
    ");
    let environment = planned(&[("1", "One", 1, "2", "a.rs"), ("2", "Two", 1, "1", "b.rs")]);
    assert_snapshot!(environment.fp(&["plan"]), @r"
    exit status: 1
    --- stderr
    error: .fractal-planner/plans/sample-20261121/tasks.md is not valid: it has 1 error
    hint: `fp validate sample-20261121` shows them
    ");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let environment = planned(LEAVES);
    let outputs =
        [(); 2].map(|()| environment.fp(&["plan", "--parallel", "3", "--format", "json"]));
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn each_task_has_its_commands() {
    let environment = Environment::new().repo();
    let commands =
        "  - Test Commands:\n    - sh a.sh, b\n    - sh `c`\n  - Verify: test -f a.txt\n";
    let tree = tree(&[leaf("1", "none", "a.txt"), leaf("2", "1", "b.txt")]);
    environment.plan(&tree.replacen("  - Test Commands: none\n", commands, 1));
    let json = environment.done(&["plan", PLAN, "--format", "json"]).json();
    let expect = serde_json::json!(["sh a.sh, b", "sh `c`", "test -f a.txt"]);
    assert_eq!(
        (&json["order"][0]["commands"], &json["order"][1]["commands"]),
        (&expect, &serde_json::json!([]))
    );
}
