//! `fp show`: the tree with the states of its tasks, as text and as data, and its exports as files.

use crate::common::Environment;
use crate::common::plan::{Leaf, PLAN, leaf, tree};
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr as _;

const LEAVES: [Leaf<'_>; 4] = [
    leaf("1", "none", "a.txt"),
    leaf("2", "1", "b.txt"),
    leaf("3", "2", "c.txt"),
    leaf("4", "none", "d.txt"),
];

fn planned() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&LEAVES));
    environment
}

#[test]
fn before_the_approval_there_are_no_states() {
    assert_snapshot!(planned().fp(&["show"]), @r"
    exit status: 0
    --- stdout
    root  Sample goal (5)
    ├─ 1  Write part 1 (2)
    ├─ 2  Write part 2 (2)  after 1
    ├─ 3  Write part 3 (2)  after 2
    └─ 4  Write part 4 (2)
    ");
}

#[test]
fn a_run_has_states() {
    let environment = planned().shared();
    environment.start(&["--builders", "2"]);
    assert_snapshot!(environment.fp(&["show", PLAN]), @r"
    exit status: 0
    --- stdout
    root  Sample goal (5)
    ├─ 1  Write part 1 (2, ready)
    ├─ 2  Write part 2 (2, waiting)  after 1
    ├─ 3  Write part 3 (2, waiting)  after 2
    └─ 4  Write part 4 (2, ready)
    ");
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_eq!(environment.pass("1").code, 0);
    environment.done(&["cancel", PLAN, "2", "--reason", "it can't be done"]);
    environment.claim("builder-2").unwrap();
    assert_snapshot!(environment.fp(&["show", PLAN]), @r"
    exit status: 0
    --- stdout
    root  Sample goal (5)
    ├─ 1  Write part 1 (2, done)
    ├─ 2  Write part 2 (2, failed)  after 1
    ├─ 3  Write part 3 (2, skipped)  after 2
    └─ 4  Write part 4 (2, building)
    ");
}

#[test]
fn an_edited_task_is_not_ready() {
    let environment = planned();
    environment.start(&[]);
    environment.plan(&tree(&LEAVES).replace("Write part 4", "Write part four"));
    let shown = environment.fp(&["show", PLAN]).stdout;
    assert!(shown.contains("4  Write part four (2, waiting)"), "{shown}");
    let json = environment.fp(&["show", PLAN, "--format", "json"]).json();
    assert_eq!(
        json["tasks"][4]["state"]["detail"],
        format!("it was edited after the approval: run `fp approve {PLAN}`")
    );
}

#[test]
fn json_has_all_of_it() {
    let environment = Environment::new();
    environment.write("tree.md", tree(&LEAVES[..2]));
    assert_snapshot!(environment.fp(&["show", "tree.md", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "counts": null,
      "criticalPath": {
        "minutes": 22,
        "tasks": [
          "1",
          "2"
        ]
      },
      "goal": "Sample goal",
      "leaves": 2,
      "phase": null,
      "planId": null,
      "problems": [],
      "schedules": [
        {
          "builders": 1,
          "minutes": 22,
          "places": [
            {
              "delay": null,
              "id": "1",
              "start": 0
            },
            {
              "delay": {
                "cause": "dependency",
                "on": [
                  "1"
                ]
              },
              "id": "2",
              "start": 10
            }
          ]
        }
      ],
      "schemaVersion": 1,
      "sessionMinutes": 8,
      "tasks": [
        {
          "acceptance": [],
          "after": [],
          "children": [
            1,
            2
          ],
          "complexity": 5,
          "covers": [],
          "critical": false,
          "dependencies": [],
          "depth": 0,
          "files": [],
          "group": null,
          "guardrails": [],
          "hints": [],
          "id": "root",
          "kind": null,
          "leaf": false,
          "notes": [],
          "parent": null,
          "parentId": null,
          "priority": null,
          "references": [],
          "risk": null,
          "setup": [],
          "split": null,
          "state": null,
          "testCommands": [],
          "testsRequired": null,
          "title": "Sample goal",
          "verify": null
        },
        {
          "acceptance": [
            "`a.txt` has a line about 1"
          ],
          "after": [],
          "children": [],
          "complexity": 2,
          "covers": [],
          "critical": true,
          "dependencies": [],
          "depth": 1,
          "files": [
            "a.txt"
          ],
          "group": null,
          "guardrails": [],
          "hints": [
            "One line",
            "A newline at its end"
          ],
          "id": "1",
          "kind": null,
          "leaf": true,
          "notes": [],
          "parent": 0,
          "parentId": "root",
          "priority": null,
          "references": [],
          "risk": null,
          "setup": [],
          "split": null,
          "state": null,
          "testCommands": [],
          "testsRequired": false,
          "title": "Write part 1",
          "verify": null
        },
        {
          "acceptance": [
            "`b.txt` has a line about 2"
          ],
          "after": [
            1
          ],
          "children": [],
          "complexity": 2,
          "covers": [],
          "critical": true,
          "dependencies": [
            "1"
          ],
          "depth": 1,
          "files": [
            "b.txt"
          ],
          "group": null,
          "guardrails": [],
          "hints": [
            "One line",
            "A newline at its end"
          ],
          "id": "2",
          "kind": null,
          "leaf": true,
          "notes": [],
          "parent": 0,
          "parentId": "root",
          "priority": null,
          "references": [],
          "risk": null,
          "setup": [],
          "split": null,
          "state": null,
          "testCommands": [],
          "testsRequired": false,
          "title": "Write part 2",
          "verify": null
        }
      ],
      "totalComplexity": 4
    }
    "#);
}

#[test]
fn an_export_goes_to_a_file() {
    let environment = planned();
    assert_snapshot!(environment.fp(&["show", "--format", "html", "--out", "plan.html"]), @r"
    exit status: 0
    --- stderr
    note: written to plan.html
    ");
    let page = environment.read("plan.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert_eq!(page, environment.fp(&["show", "--format", "html"]).stdout);
    assert_eq!(environment.fp(&["show", "--out", "plan.txt"]).stdout, "");
    assert_eq!(
        environment.read("plan.txt"),
        environment.fp(&["show"]).stdout
    );
    assert_snapshot!(environment.fp(&["show", "--format", "html", "--out", "not/there/plan.html"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/not/there/plan.html can't be written: no such file or directory
    hint: check the path
    ");
}

#[test]
fn a_tree_that_is_not_valid_is_shown() {
    let environment = Environment::new();
    environment.write(
        "tree.md",
        "- [ID: root] Goal\n- [ID: 1] A\n  - Dependencies: 2\n- [ID: 2] B\n  - Dependencies: 1\n",
    );
    assert_snapshot!(environment.fp(&["show", "tree.md"]), @r"
    exit status: 0
    --- stdout
    root  Goal
    ├─ 1  A  after 2
    └─ 2  B  after 1
    ");
    for format in ["json", "html"] {
        assert_eq!(
            environment
                .fp(&["show", "tree.md", "--format", format])
                .code,
            0,
            "{format}"
        );
    }
    environment.write("empty.md", "Nothing\n");
    assert_snapshot!(environment.fp(&["show", "empty.md"]), @r"
    exit status: 0
    --- stdout
    No tasks
    ");
    assert_snapshot!(environment.fp(&["show", "none.md"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/none.md can't be read: no such file or directory
    hint: check the path
    ");
}

#[test]
fn it_fits_80_columns_whatever_is_in_it() {
    let environment = Environment::new();
    let mut text = String::from("- [ID: root] 아주 긴 제목\n");
    for depth in 1..12 {
        let id = vec!["1"; depth].join(".");
        let below = "  ".repeat(depth - 1);
        text.push_str(&format!(
            "{below}- [ID: {id}] 아주 긴 제목이 여기에 있습니다 그리고 더 길어집니다 (Complexity: 3)\n"
        ));
    }
    environment.write("tree.md", text);
    let output = environment.fp(&["show", "tree.md"]);
    assert_eq!(output.stdout.lines().count(), 12, "{output}");
    for line in output.stdout.lines() {
        assert!(line.width() <= 80, "{} columns: {line}", line.width());
    }
}

/// Deep, wide and linked trees: anything worse than linear would take minutes here.
#[test]
fn large_trees_are_exported_at_once() {
    let environment = Environment::new();
    let ids: Vec<String> = (1..=5_000).map(|id| id.to_string()).collect();
    let leaves: Vec<Leaf<'_>> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| leaf(id, if at == 0 { "none" } else { &ids[at - 1] }, "a.txt"))
        .collect();
    environment.write("tree.md", tree(&leaves));
    for format in ["text", "json", "html"] {
        let output = environment.fp(&["show", "tree.md", "--format", format]);
        assert_eq!(output.code, 0, "{format}: {}", output.stderr);
        assert!(output.stdout.contains("5000"), "{format}");
    }
}

#[test]
fn states_and_findings_have_their_colours_where_the_terminal_has_any() {
    let environment = planned();
    environment.start(&[]);
    environment.done(&["cancel", "1", "--reason", "no"]);
    let broken = tree(&[Leaf {
        after: "7",
        ..LEAVES[0]
    }]);
    environment.write(
        "broken.md",
        broken.replace("Write part 1", "\u{1b}[32mDone\u{1b}[0m"),
    );
    let environment = environment.env("LANG", "C.UTF-8");
    let told = |environment: &Environment, args: &[&str]| {
        let output = environment.fp(args);
        assert_eq!(
            output.stdout.contains('\u{1b}'),
            environment.fp(&["config"]).stdout.contains('\u{1b}')
        );
        output.stdout.replace('\u{1b}', "~")
    };
    let commands: [&[&str]; 4] = [
        &["show"],
        &["status", "--ready"],
        &["doctor"],
        &["validate", "broken.md"],
    ];
    let plain = commands.map(|args| told(&environment, args));
    assert!(!plain.concat().contains('~'), "{plain:?}");
    let environment = environment.env("CLICOLOR_FORCE", "1");
    let [shown, ready, doctor, validated] = commands.map(|args| told(&environment, args));
    assert!(
        shown.contains("├─ ~[1m1  ~[0mWrite part 1~[31m (2, failed)~[0m\n"),
        "{shown}"
    );
    assert!(
        shown.contains("└─ ~[1m4  ~[0mWrite part 4~[34m (2, ready)~[0m\n"),
        "{shown}"
    );
    assert!(
        ready.contains("~[2m  – ~[0m~[1m2  ~[0m~[2mskipped    ~[0mWrite part 2\n"),
        "{ready}"
    );
    assert!(
        doctor.contains("  ~[32mok~[0m       settings     all can be read\n"),
        "{doctor}"
    );
    assert!(
        validated.contains(": ~[31merror[unknown-dependency]:~[0m "),
        "{validated}"
    );
    // `fp` colours only its own words.
    assert!(!validated.contains("~[32m"), "{validated}");
    environment.done(&["show", "--out", "tree.txt"]);
    assert_eq!(environment.read("tree.txt"), plain[0]);
    let environment = environment.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "0");
    assert_eq!(commands.map(|args| told(&environment, args)), plain);
}

#[test]
fn nothing_is_ready_once_the_run_is_cancelled() {
    let environment = planned();
    environment.start(&[]);
    assert!(
        environment
            .done(&["show"])
            .stdout
            .contains("Write part 1 (2, ready)")
    );
    environment.done(&["cancel"]);
    assert!(
        environment
            .done(&["show"])
            .stdout
            .contains("Write part 1 (2, waiting)")
    );
    assert!(
        environment
            .done(&["status"])
            .stdout
            .contains("1  waiting    Write part 1")
    );
    assert!(
        environment
            .done(&["report"])
            .stdout
            .contains("Write part 1: waiting")
    );
}
