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
        "3 scope: met by anything",
    ];
    assert_snapshot!(environment.record(&args), @"
    exit status: 1
    --- stdout
    FAIL in round 1 of 2: 2 findings, 1 of 3 leaves pass
    next: revise by critique.md, warnings too, then criticise again (round 2 of 2)
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    assert_snapshot!(environment.page(), @"
    FAIL

    Round 1 of 2

    - FAIL 3 (Write part 3), scope: met by anything
    - WARN 2 (Write part 2), hints: `b.txt` is *not* there

    1 of 3 leaves pass
    ");
    environment.revise(1);
    assert_snapshot!(environment.record(&["--pass", "1,3", "--warn", "2 hints: still vague"]), @"
    exit status: 0
    --- stdout
    WARN in round 2 of 2: 1 finding, 2 of 3 leaves pass
    next: review
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    environment.revise(2);
    assert_snapshot!(environment.record(&["--pass", "1,2", "--pass", "3"]), @"
    exit status: 1
    --- stderr
    error: the 2 rounds of critique are over: what is still found goes to the review
    hint: `fp critique show sample-20261121` prints the last one: show the user what it still finds
    ");
    assert_snapshot!(environment.page(), @"
    WARN

    Round 2 of 2

    - WARN 2 (Write part 2), hints: still vague

    2 of 3 leaves pass

    ---

    FAIL

    Round 1 of 2

    - FAIL 3 (Write part 3), scope: met by anything
    - WARN 2 (Write part 2), hints: `b.txt` is *not* there

    1 of 3 leaves pass
    ");
}

#[test]
fn two_rounds_end_with_the_user() {
    let environment = planned();
    let fail = [
        "--pass",
        "1,2",
        "--fail",
        "3 scope: nobody asked for it",
        "--fail",
        "tree coverage: R2 is missing",
    ];
    for round in 1..=2 {
        environment.revise(round);
        let output = environment.record(&fail);
        assert_eq!(output.code, 1, "{output}");
        assert!(
            output
                .stdout
                .starts_with(&format!("FAIL in round {round} of 2: ")),
            "{output}"
        );
        let again = environment.record(&fail);
        assert_eq!(again, output, "a critic that repeats itself costs no round");
    }
    assert_snapshot!(environment.record(&fail), @r"
    exit status: 1
    --- stdout
    FAIL in round 2 of 2: 2 findings, 2 of 3 leaves pass
    next: review; the user decides about what is left
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    environment.revise(4);
    let page = environment.page();
    assert_snapshot!(environment.record(&["--pass", "1,2,3"]), @r"
    exit status: 1
    --- stderr
    error: the 2 rounds of critique are over: what is still found goes to the review
    hint: `fp critique show sample-20261121` prints the last one: show the user what it still finds
    ");
    assert_eq!(environment.page(), page);
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(environment.record(&["--pass", "1,2,3"]), @r"
    exit status: 0
    --- stdout
    PASS in round 1 of 2: 0 findings, 3 of 3 leaves pass
    next: review
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
}

#[test]
fn it_is_shown_and_said_when_the_tree_has_changed() {
    let environment = planned();
    assert_snapshot!(environment.fp(&["critique", "show", PLAN]), @"
    exit status: 0
    --- stdout
    No critique yet
    ");
    assert_snapshot!(environment.fp(&["critique", "show", PLAN, "--format", "json"]).stdout, @r#"
    {
      "changed": false,
      "critique": null,
      "planId": "sample-20261121",
      "rounds": 2,
      "schemaVersion": 1
    }
    "#);
    environment.record(&["--pass", "1,2", "--fail", "3 scope: nobody asked for it"]);
    assert_snapshot!(environment.fp(&["critique", "show", PLAN]), @"
    exit status: 0
    --- stdout
    FAIL

    Round 1 of 2

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

    Round 1 of 2

    - FAIL 3 (Write part 3), scope: nobody asked for it

    2 of 3 leaves pass

    The tree has changed since
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
        "treeHash": "46132255a6aabd6c9485bbfdef545e21171ee9d487ddc905e145b536193c2909",
        "verdict": "FAIL"
      },
      "planId": "sample-20261121",
      "rounds": 2,
      "schemaVersion": 1
    }
    "#);
    assert_snapshot!(environment.done(&["plan", PLAN]).stdout, @"
    3 tasks, at most 1 at once
    1. at 0 min   1 Write part 1 (2)
    2. at 16 min  2 Write part 2 (2)
    3. at 8 min   3 Write part 3 (2)

    Critical path, 20 min: 1 → 2
    About 26 min with 1 builder (critical path 20), about 12 min in one session; 6
      agents
    By builders: 26 min with 1, 20 min with 2
    The split gains less than a fifth of one session: make it one leaf, or say why
      it is split: `Split: gate | context | asked`

    critique: FAIL in round 1, 1 finding (critique.md); the tree has changed since
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
fn each_round_judges_every_leaf_and_keeps_what_was_found_before() {
    let environment = planned();
    environment.record(&["--pass", "1,2", "--fail", "3 scope: nobody asked for it"]);
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "bb.txt"),
        leaf("3", "none", "c.txt"),
    ]));
    let refused = environment.record(&["--pass", "3"]);
    assert!(
        refused.stderr.starts_with("error: not judged: 1, 2\n"),
        "{refused}"
    );
    let warned = environment.record(&["--pass", "1,2", "--warn", "3 scope: wide"]);
    assert!(
        warned
            .stdout
            .starts_with("WARN in round 2 of 2: 1 finding, 2 of 3 leaves pass"),
        "{warned}"
    );
    let page = environment.page();
    assert!(
        page.contains("FAIL 3 (Write part 3), scope: nobody asked for it"),
        "what was found before stays: {page}"
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
    let handoff = environment.done(&["report", "--handoff", PLAN]).stdout;
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
fn what_is_approved_in_spite_of_a_doubt_is_built_and_judged_with_it() {
    let doubts_of_builder_and_verifier = |environment: &Environment| {
        environment.start(&[]);
        let claim = ["claim", PLAN, "1", "--as", "builder-1"];
        let payload = environment.done(&claim).stdout;
        environment.build_task("builder-1", "1", "a.txt", "about 1\n");
        let sheet = environment.done(&["verify", PLAN, "1"]).stdout;
        let doubts = |text: &str| -> String {
            let lines = text.lines();
            let doubts = lines.filter(|line| line.contains("critic"));
            doubts.map(|line| format!("{line}\n")).collect()
        };
        doubts(&payload) + &doubts(&sheet)
    };
    let findings = |environment: &Environment| {
        let finding = "1 criteria: any line passes, `a.txt`\n## MUST DO\u{1b}[31m";
        environment.record(&["--pass", "3", "--warn", finding, "--warn", "2 hints: x"]);
    };
    let environment = planned();
    findings(&environment);
    assert_snapshot!(doubts_of_builder_and_verifier(&environment), @"
    - Not a criterion, but heed it where it is right: a critic's doubt, criteria: any line passes, `a.txt` ## MUST DO [31m
    - doubted by the critic, criteria: any line passes, `a.txt` ## MUST DO [31m
    ");
    // A revised tree answers its critique.
    let environment = planned();
    findings(&environment);
    environment.revise(2);
    assert_eq!(doubts_of_builder_and_verifier(&environment), "");
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
        "treeHash": "46132255a6aabd6c9485bbfdef545e21171ee9d487ddc905e145b536193c2909",
        "verdict": "WARN"
      },
      "next": "review",
      "planId": "sample-20261121",
      "rounds": 2,
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
fn what_fails_in_words_alone_is_not_criticised_again() {
    let environment = planned();
    let words = ["--pass", "1", "--warn", "2 scope: x", "--fail"];
    for (item, next) in [
        ("criteria", "then review\n"),
        ("hints", "then review\n"),
        ("coverage", "then review\n"),
        ("circularity", "then review\n"),
        ("scope", "then criticise again (round 2 of 2)\n"),
        ("dependencies", "then criticise again (round 2 of 2)\n"),
        ("guardrails", "then criticise again (round 2 of 2)\n"),
    ] {
        let finding = format!("3 {item}: x");
        let output = environment.record(&[&words[..], &[&finding]].concat());
        assert!(output.stdout.ends_with(next), "{item}: {output}");
    }
}

#[test]
fn a_text_of_several_lines_is_one_line() {
    let environment = planned();
    let finding = "3 Guardrails: first\n\n# second \u{1b}[31m";
    assert_snapshot!(environment.record(&["--pass", "1,2", "--fail", finding]), @"
    exit status: 1
    --- stdout
    FAIL in round 1 of 2: 1 finding, 2 of 3 leaves pass
    next: revise by critique.md, warnings too, then criticise again (round 2 of 2)
    --- stderr
    note: written to .fractal-planner/plans/sample-20261121/critique.md
    ");
    assert_snapshot!(environment.page(), @"
    FAIL

    Round 1 of 2

    - FAIL 3 (Write part 3), guardrails: first # second [31m

    2 of 3 leaves pass
    ");
}
