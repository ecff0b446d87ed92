//! `fp critique`: every leaf is judged, the verdict is counted, and rounds end.

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

/// A plan with three leaves.
fn planned() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&three());
    environment
}

fn three() -> String {
    tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
        leaf("3", "none", "c.txt"),
    ])
}

impl Environment {
    fn record(&self, args: &[&str]) -> Output {
        self.fp(&[&["critique", "record", PLAN], args].concat())
    }

    fn page(&self) -> String {
        self.read(&format!(".fractal-planner/plans/{PLAN}/critique.md"))
    }

    /// Writes the tree with a different hint for each number.
    fn revise(&self, number: usize) {
        self.plan(&three().replacen("One line", &format!("One line, the {number}th try"), 1));
    }

    /// Asserts that the critique is refused with this exit code and that nothing is recorded; returns the error.
    #[track_caller]
    fn refused_critique(&self, args: &[&str], code: i32) -> String {
        let output = self.record(args);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (code, ""),
            "{output}"
        );
        assert!(
            !self
                .path(&format!(".fractal-planner/plans/{PLAN}/critique.md"))
                .exists()
        );
        assert!(
            !self
                .path(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"))
                .exists()
        );
        output.stderr
    }
}

#[test]
fn the_worst_finding_is_the_verdict() {
    let environment = planned();
    let args = [
        "--pass",
        "1",
        "--warn",
        "2 hints: `b.txt` is *not* there",
        "--fail",
        "3 Criteria: met by anything",
    ];
    assert_snapshot!(environment.record(&args), @r"
    exit status: 1
    --- stdout
    FAIL in round 1 of 3: 2 findings, 1 of 3 leaves pass
    next: revise by critique.md, warnings too, then criticise again (round 2 of 3)
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    assert_snapshot!(environment.page(), @"
    FAIL

    Round 1 of 3

    - FAIL 3 (Write part 3), criteria: met by anything
    - WARN 2 (Write part 2), hints: `b.txt` is *not* there

    1 of 3 leaves pass
    ");
    environment.revise(1);
    assert_snapshot!(environment.record(&["--pass", "1,3", "--warn", "2 hints: still vague"]), @r"
    exit status: 0
    --- stdout
    WARN in round 2 of 3: 1 finding, 2 of 3 leaves pass
    next: review
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    environment.revise(2);
    assert_snapshot!(environment.record(&["--pass", "1,2", "--pass", "3"]), @r"
    exit status: 0
    --- stdout
    PASS in round 3 of 3: 0 findings, 3 of 3 leaves pass
    next: review
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    assert_snapshot!(environment.page(), @"
    PASS

    Round 3 of 3

    3 of 3 leaves pass
    ");
}

#[test]
fn three_rounds_end_with_the_user() {
    let environment = planned();
    let fail = [
        "--pass",
        "1,2",
        "--fail",
        "3 scope: nobody asked for it",
        "--fail",
        "tree coverage: R2 is missing",
    ];
    for round in 1..=3 {
        environment.revise(round);
        let output = environment.record(&fail);
        assert_eq!(output.code, 1, "{output}");
        assert!(
            output
                .stdout
                .starts_with(&format!("FAIL in round {round} of 3: ")),
            "{output}"
        );
        let again = environment.record(&fail);
        assert_eq!(again, output, "a critic that repeats itself costs no round");
    }
    assert_snapshot!(environment.record(&fail), @r"
    exit status: 1
    --- stdout
    FAIL in round 3 of 3: 2 findings, 2 of 3 leaves pass
    next: review; the user decides about what is left
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    environment.revise(4);
    let page = environment.page();
    assert_snapshot!(environment.record(&["--pass", "1,2,3"]), @r"
    exit status: 1
    --- stderr
    error: the 3 rounds of critique are over: what is still found goes to the review
    hint: `fp critique show sample-20261121` prints the last one: show the user what it still finds
    ");
    assert_eq!(environment.page(), page);
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(environment.record(&["--pass", "1,2,3"]), @r"
    exit status: 0
    --- stdout
    PASS in round 1 of 3: 0 findings, 3 of 3 leaves pass
    next: review
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
}

#[test]
fn it_is_shown_and_said_when_the_tree_has_changed() {
    let environment = planned();
    assert_snapshot!(environment.fp(&["critique", "show", PLAN]), @r"
    exit status: 0
    --- stdout
    No critique yet
    ");
    assert_snapshot!(environment.fp(&["critique", "show", PLAN, "--format", "json"]).stdout, @r#"
    {
      "critique": null,
      "planId": "sample-20261121",
      "schemaVersion": 1
    }
    "#);
    environment.record(&["--pass", "1,2", "--fail", "3 scope: nobody asked for it"]);
    assert_snapshot!(environment.fp(&["critique", "show", PLAN]), @"
    exit status: 0
    --- stdout
    FAIL

    Round 1 of 3

    - FAIL 3 (Write part 3), scope: nobody asked for it

    2 of 3 leaves pass
    ");
    assert_snapshot!(environment.done(&["show", PLAN]).stdout, @r"
    root  Sample goal (5)
    ├─ 1  Write part 1 (2)
    ├─ 2  Write part 2 (2)  after 1
    └─ 3  Write part 3 (2)

    critique: FAIL in round 1, 1 finding (critique.md)
    ");
    assert_snapshot!(environment.done(&["status"]).stdout, @r"
    Plan sample-20261121 (planning)
    Written so far: tasks.md, critique.md
    critique: FAIL in round 1, 1 finding (critique.md)
    Next: fp validate sample-20261121, then fp approve sample-20261121
    ");
    let planned = &environment.done(&["status", "--format", "json"]).json()["written"];
    assert_eq!(planned.to_string(), r#"["tasks.md","critique.md"]"#);
    environment.revise(1);
    assert_snapshot!(environment.fp(&["critique", "show"]), @"
    exit status: 0
    --- stdout
    FAIL

    Round 1 of 3

    - FAIL 3 (Write part 3), scope: nobody asked for it

    2 of 3 leaves pass

    The tree has changed since. To judge next:

    - 1: changed
    - 3: has not passed yet
    ");
    assert_snapshot!(environment.fp(&["critique", "show", PLAN, "--format", "json"]).stdout, @r#"
    {
      "changed": true,
      "critique": {
        "findings": [
          {
            "item": "scope",
            "task": "3",
            "text": "nobody asked for it",
            "title": "Write part 3",
            "verdict": "FAIL"
          }
        ],
        "leaves": 3,
        "round": 1,
        "treeHash": "e0fb4686c4535d08a8952b5dfb15029a19d742e1fc4e2321647fc70dd40c6f95",
        "verdict": "FAIL"
      },
      "due": [
        "1",
        "3"
      ],
      "planId": "sample-20261121",
      "rounds": 3,
      "schemaVersion": 1
    }
    "#);
    assert_snapshot!(environment.done(&["plan", PLAN]).stdout, @r"
    3 tasks in 3 waves, at most 1 at once; 2 could run at once
    1. wave 1  1 Write part 1 (2)
    2. wave 2  2 Write part 2 (2): after 1
    3. wave 3  3 Write part 3 (2)

    Critical path, 4 of 6 complexity: 1 → 2
    Ideal speed-up: 1.0x with 1, 1.5x with 2, 1.5x with 4, 1.5x with 8 builders

    critique: FAIL in round 1, 1 finding (critique.md); the tree has changed since
    - FAIL 3 (Write part 3), scope: nobody asked for it
    ");
    let line = |command: &str| {
        environment
            .done(&[command, PLAN, "--format", "json"])
            .json()["critique"]
            .clone()
    };
    assert_eq!(
        line("show").to_string(),
        r#"{"changed":true,"findings":1,"round":1,"verdict":"FAIL"}"#
    );
    assert_eq!(line("plan"), line("show"));
    assert_snapshot!(environment.done(&["log", PLAN]).stdout, @r"
    2026-11-21 (UTC)
    09:00:00      1    critique, round 1: FAIL, 1 finding
                         FAIL 3 scope: nobody asked for it
    ");
}

#[test]
fn the_next_round_judges_what_has_changed() {
    let environment = planned();
    environment.record(&["--pass", "1,2", "--fail", "3 scope: nobody asked for it"]);
    let revised = [
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "bb.txt"),
        leaf("3", "none", "c.txt"),
    ];
    environment.plan(&tree(
        &[&revised[..], &[leaf("4", "none", "d.txt")]].concat(),
    ));
    let shown = environment.done(&["critique", "show", PLAN]).stdout;
    assert!(
        shown.ends_with(
            "To judge next:\n\n- 2: changed\n- 3: has not passed yet\n\
             - 4: has not passed yet\n"
        ),
        "{shown}"
    );
    let refused = environment.record(&["--pass", "2,4"]);
    assert!(
        refused.stderr.starts_with("error: not judged: 3\n"),
        "{refused}"
    );
    let warned = environment.record(&["--pass", "2,4", "--warn", "3 scope: wide"]);
    assert!(
        warned
            .stdout
            .starts_with("WARN in round 2 of 3: 1 finding, 3 of 4 leaves pass"),
        "{warned}"
    );
    environment.plan(&tree(&revised));
    let left = environment.record(&["--pass", "3"]);
    assert!(
        left.stdout
            .starts_with("PASS in round 3 of 3: 0 findings, 3 of 3 leaves pass"),
        "{left}"
    );
    environment.done(&["approve", PLAN, "--yes"]);
    let anew = environment.record(&["--pass", "3"]);
    assert!(
        anew.stderr.starts_with("error: not judged: 1, 2\n"),
        "{anew}"
    );
}

#[test]
fn texts_stay_as_they_were_given() {
    let environment = planned();
    let said = "`say \"it's\"` prints # and **not** <b>, \\\\, 10**20";
    environment.record(&[
        "--pass",
        "1,2",
        "--warn",
        &format!("3 hints: # one\n## {said}"),
    ]);
    let expect = format!("- WARN 3 (Write part 3), hints: # one ## {said}\n");
    assert!(
        environment.page().contains(&expect),
        "{}",
        environment.page()
    );
    environment.done(&[
        "interview",
        PLAN,
        "--by",
        "user",
        "--decision",
        &format!("# {said}?|## {said}\n- no"),
    ]);
    let handoff = environment.done(&["handoff", PLAN]).stdout;
    let expect = format!("- # {said}? ## {said} - no (by the user)\n");
    assert!(handoff.contains(&expect), "{handoff}");
    assert_eq!(
        environment.read(&format!(".fractal-planner/plans/{PLAN}/handoff.md")),
        handoff
    );
}

#[test]
fn a_warning_is_shown_at_the_review() {
    let environment = planned();
    environment.record(&["--pass", "1,2", "--warn", "3 scope: wide"]);
    let planned = environment.done(&["plan", PLAN]).stdout;
    let told = "critique: WARN in round 1, 1 finding (critique.md)\n- WARN 3 (Write part 3), scope: wide\n";
    assert!(planned.ends_with(told), "{planned}");
}

#[test]
fn json_has_all_of_it() {
    let environment = planned();
    assert_snapshot!(environment.record(&["--pass", "1,2", "--warn", "3 scope: wide", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "critique": {
        "findings": [
          {
            "item": "scope",
            "task": "3",
            "text": "wide",
            "title": "Write part 3",
            "verdict": "WARN"
          }
        ],
        "leaves": 3,
        "round": 1,
        "treeHash": "e0fb4686c4535d08a8952b5dfb15029a19d742e1fc4e2321647fc70dd40c6f95",
        "verdict": "WARN"
      },
      "next": "review",
      "planId": "sample-20261121",
      "rounds": 3,
      "schemaVersion": 1
    }
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    "#);
}

#[test]
fn every_leaf_has_to_be_judged() {
    let environment = planned();
    assert_snapshot!(environment.refused_critique(&[], 1), @"
    error: not judged: 1, 2, 3
    hint: read every leaf, and name it with --pass or in a finding, `LEAF ITEM: TEXT`: LEAF is an id that `fp show sample-20261121` shows, or `tree`, ITEM is one of criteria, hints, scope, dependencies, coverage, circularity, guardrails, and TEXT has at most 4000 characters
    ");
    assert_snapshot!(environment.refused_critique(&["--pass", "2", "--fail", "tree scope: wide"], 1), @"
    error: not judged: 1, 3
    hint: read every leaf, and name it with --pass or in a finding, `LEAF ITEM: TEXT`: LEAF is an id that `fp show sample-20261121` shows, or `tree`, ITEM is one of criteria, hints, scope, dependencies, coverage, circularity, guardrails, and TEXT has at most 4000 characters
    ");
    assert_snapshot!(environment.refused_critique(&["--pass", "1,2,3", "--fail", "3 scope: wide"], 1), @"
    error: leaf 3 passes and has a finding
    hint: read every leaf, and name it with --pass or in a finding, `LEAF ITEM: TEXT`: LEAF is an id that `fp show sample-20261121` shows, or `tree`, ITEM is one of criteria, hints, scope, dependencies, coverage, circularity, guardrails, and TEXT has at most 4000 characters
    ");
}

#[test]
fn what_is_not_there_is_refused() {
    let environment = planned();
    assert_snapshot!(environment.refused_critique(&["--pass", "1,2,3,4"], 1), @r#"
    error: the tree has no leaf "4"
    hint: read every leaf, and name it with --pass or in a finding, `LEAF ITEM: TEXT`: LEAF is an id that `fp show sample-20261121` shows, or `tree`, ITEM is one of criteria, hints, scope, dependencies, coverage, circularity, guardrails, and TEXT has at most 4000 characters
    "#);
    assert_snapshot!(environment.refused_critique(&["--pass", "root"], 1), @r#"
    error: the tree has no leaf "root"
    hint: read every leaf, and name it with --pass or in a finding, `LEAF ITEM: TEXT`: LEAF is an id that `fp show sample-20261121` shows, or `tree`, ITEM is one of criteria, hints, scope, dependencies, coverage, circularity, guardrails, and TEXT has at most 4000 characters
    "#);
    assert_snapshot!(environment.refused_critique(&["--pass", "../../x"], 1), @r#"
    error: the tree has no leaf "../../x"
    hint: read every leaf, and name it with --pass or in a finding, `LEAF ITEM: TEXT`: LEAF is an id that `fp show sample-20261121` shows, or `tree`, ITEM is one of criteria, hints, scope, dependencies, coverage, circularity, guardrails, and TEXT has at most 4000 characters
    "#);
    assert_snapshot!(environment.refused_critique(&["--fail", "1 criterion: no"], 1), @r#"
    error: "1 criterion: no" is no finding
    hint: read every leaf, and name it with --pass or in a finding, `LEAF ITEM: TEXT`: LEAF is an id that `fp show sample-20261121` shows, or `tree`, ITEM is one of criteria, hints, scope, dependencies, coverage, circularity, guardrails, and TEXT has at most 4000 characters
    "#);
    assert_snapshot!(environment.fp(&["critique", "record", "another", "--pass", "1"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "another"; there are:
      1  sample-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    assert_snapshot!(environment.fp(&["critique", "record", "tasks.md", "--pass", "1"]), @r"
    exit status: 2
    --- stderr
    error: tasks.md is a file, and a plan is needed
    hint: name the plan: `fp plans` lists them
    ");
}

#[test]
fn only_a_valid_tree_is_criticised_and_none_whose_run_is_on() {
    let environment = planned();
    environment.plan(&three().replace("(Complexity: 2)", "(Complexity: 9)"));
    assert_snapshot!(environment.refused_critique(&["--pass", "1,2,3"], 1), @r"
    error: .fractal-planner/plans/sample-20261121/tasks.md is not valid: it has 3 errors
    hint: `fp validate sample-20261121` shows them
    ");
    environment.plan(&three());
    environment.start(&[]);
    assert_snapshot!(environment.record(&["--pass", "1,2,3"]), @r"
    exit status: 1
    --- stderr
    error: the run of sample-20261121 is on: its tree is not changed
    hint: `fp task` edits one task; `fp cancel` ends the run
    ");
}

#[test]
fn a_text_of_several_lines_is_one_line() {
    let environment = planned();
    let finding = "3 Guardrails: first\n\n# second \u{1b}[31m";
    assert_snapshot!(environment.record(&["--pass", "1,2", "--fail", finding]), @r"
    exit status: 1
    --- stdout
    FAIL in round 1 of 3: 1 finding, 2 of 3 leaves pass
    next: revise by critique.md, warnings too, then criticise again (round 2 of 3)
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    assert_snapshot!(environment.page(), @"
    FAIL

    Round 1 of 3

    - FAIL 3 (Write part 3), guardrails: first # second [31m

    2 of 3 leaves pass
    ");
}
