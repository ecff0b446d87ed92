//! `fp interview check`: when an interview is complete, and the output until then.

use crate::common::plan::{leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

const FOLDER: &str = ".fractal-planner/plans/add-greeting-20261121";

fn new(args: &[&str]) -> Environment {
    let environment = Environment::new().repo();
    environment.done(&[&["new", "Add a greeting"], args].concat());
    environment
}

fn record(environment: &Environment, args: &[&str]) {
    environment.done(&[&["interview", "greeting"], args].concat());
}

fn check(environment: &Environment) -> Output {
    environment.fp(&["interview", "check", "greeting"])
}

const CORE: [&str; 4] = [
    "--objective",
    "`fp hello` greets",
    "--requirement",
    "It greets by name",
];

const REST: [&str; 8] = [
    "--include",
    "the command",
    "--exclude",
    "none",
    "--approach",
    "a subcommand",
    "--tests",
    "unit tests beside the command",
];

#[test]
fn a_round_brings_it_on() {
    let environment = new(&[]);
    assert_snapshot!(check(&environment), @"
    exit status: 1
    --- stdout
    Interview of add-greeting-20261121: not clear yet
    - objective: not said yet: --objective TEXT
    - scope: not said yet: --include TEXT
    - tests: not said yet: --tests TEXT
    next: ask, then fp interview add-greeting-20261121, with these flags
    ");
    record(&environment, &CORE);
    #[rustfmt::skip]
    let vague = [
        "--by", "auto", "--requirement", "Names are handled properly", "--include", "the command",
        "--exclude", "The Command", "--exclude", "번역", "--approach", "a subcommand",
        "--open", "Which \"language\"?", "--open", "이름이 없으면 무엇을 출력하나?",
    ];
    record(&environment, &vague);
    assert_snapshot!(check(&environment), @r#"
    exit status: 1
    --- stdout
    Interview of add-greeting-20261121: not clear yet
    - scope: the user has not confirmed it: --include TEXT
    - ambiguities: "R2" says "properly", which nobody can observe; "the command", in and out of scope at once: --withdraw ID-OR-TEXT, and say it anew
    - questions: nobody has answered "Which "language"?", "이름이 없으면 무엇을 출력하나?": --decision 'QUESTION|ANSWER'
    - tests: not said yet: --tests TEXT
    next: ask, then fp interview add-greeting-20261121, with these flags
    "#);
    assert_snapshot!(environment.read(&format!("{FOLDER}/interview.md")), @r#"
    # Interview

    ## Goal

    > Add a greeting

    ## Objective

    `fp hello` greets

    ## Requirements

    - **R1** It greets by name
    - **R2** Names are handled properly (assumed)

    ## In scope

    - the command (assumed)

    ## Out of scope

    - The Command (assumed)
    - 번역 (assumed)

    ## Approach

    a subcommand (assumed)

    ## Open questions

    - Which "language"?
    - 이름이 없으면 무엇을 출력하나?

    ## Still missing

    - scope: the user has not confirmed it: --include TEXT
    - ambiguities: "R2" says "properly", which nobody can observe; "the command", in and out of scope at once: --withdraw ID-OR-TEXT, and say it anew
    - questions: nobody has answered "Which "language"?", "이름이 없으면 무엇을 출력하나?": --decision 'QUESTION|ANSWER'
    - tests: not said yet: --tests TEXT
    "#);
    #[rustfmt::skip]
    let mended = [
        "--withdraw", "R2", "--withdraw", "the command", "--requirement", "`fp hello Ada` prints `Hello, Ada!`",
        "--decision", "Which \"language\"?|Rust", "--decision", "이름이 없으면 무엇을 출력하나?|도움말",
    ];
    record(&environment, &[&mended[..], &REST].concat());
    assert_snapshot!(check(&environment), @"
    exit status: 0
    --- stdout
    Interview of add-greeting-20261121: clear
    next: the step decompose
    ");
    assert_snapshot!(environment.fp(&["interview", "check", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "clear": true,
      "limitReached": false,
      "open": [],
      "planId": "add-greeting-20261121",
      "schemaVersion": 1
    }
    "#);
    let page = environment.read(&format!("{FOLDER}/interview.md"));
    assert!(!page.contains("## Still missing"), "{page}");
}

#[test]
fn a_specification_needs_no_round_and_no_research() {
    let environment = Environment::new().repo();
    let goal = "Add to src/words.py, with tests in tests/test_words.py: `count_words(text)`, which returns how many \
                words a text has, and `longest_word(text)`, which raises ValueError for an empty one. Nothing else.";
    let new = environment
        .fp(&["new", "--mode", "specified", "--format", "json", goal])
        .json();
    assert_eq!(
        new["steps"],
        serde_json::json!(["interview", "decompose", "critique", "review", "approve"])
    );
    let plan = new["planId"].as_str().unwrap();
    let told = environment.done(&[&["interview", plan, "--by", "auto"], &CORE[..], &REST].concat());
    assert_snapshot!(told, @"
    exit status: 0
    --- stdout
    Recorded; requirement R1. Interview: clear; next: the step decompose
    ");
    assert_eq!(environment.fp(&["interview", "check", plan]).code, 0);
    environment.done(&[
        "interview",
        plan,
        "--by",
        "auto",
        "--open",
        "Is `-` a word?",
    ]);
    assert_eq!(
        environment.fp(&["interview", "check", plan]).code,
        1,
        "an open question is still asked"
    );
}

#[test]
fn what_is_recorded_of_small_work_goes_on_to_its_task() {
    let environment = new(&["--mode", "direct"]);
    record(
        &environment,
        &[&["--by", "auto"], &CORE[..], &REST[..]].concat(),
    );
    assert_snapshot!(check(&environment), @"
    exit status: 0
    --- stdout
    Interview of add-greeting-20261121: clear
    next: the step decompose
    ");
}

#[test]
fn where_nobody_is_asked_assumptions_are_enough() {
    let environment = new(&["--auto", "--research-only"]);
    record(&environment, &CORE);
    assert_snapshot!(check(&environment), @"
    exit status: 1
    --- stdout
    Interview of add-greeting-20261121: not clear yet
    - scope: not said yet: --include TEXT
    - tests: not said yet: --tests TEXT
    next: fp interview add-greeting-20261121 --by auto, with these flags
    ");
    record(&environment, &[&["--by", "auto"], &REST[..]].concat());
    assert_snapshot!(check(&environment), @"
    exit status: 0
    --- stdout
    Interview of add-greeting-20261121: clear
    next: the step research
    ");
    let page = environment.read(&format!("{FOLDER}/interview.md"));
    assert_eq!(page.matches("(assumed)").count(), 6, "{page}");
}

#[test]
fn nobody_is_asked_for_ever() {
    let environment = new(&[]);
    for round in 1..=30 {
        record(&environment, &["--assume", &format!("assumption {round}")]);
        assert_eq!(
            check(&environment).code,
            i32::from(round < 30),
            "after {round} rounds"
        );
    }
    assert_snapshot!(check(&environment), @"
    exit status: 0
    --- stdout
    Interview of add-greeting-20261121: not clear after 30 rounds; nobody is asked any more
    - objective: not said yet: --objective TEXT
    - scope: not said yet: --include TEXT
    - tests: not said yet: --tests TEXT
    next: the step decompose
    ");
    let page = environment.read(&format!("{FOLDER}/interview.md"));
    assert_snapshot!(page.split_once("## Still missing").unwrap().1, @"


    - objective: not said yet: --objective TEXT
    - scope: not said yet: --include TEXT
    - tests: not said yet: --tests TEXT
    ");
    let report = environment
        .fp(&["interview", "check", "--format", "json"])
        .json();
    assert_eq!(
        (&report["clear"], &report["limitReached"]),
        (&false.into(), &true.into())
    );
}

#[test]
fn a_plan_that_is_called_check_can_be_named() {
    let environment = Environment::new().repo();
    assert_eq!(environment.fp(&["new", "check"]).code, 0);
    assert_snapshot!(environment.fp(&["interview", "--", "check"]).stdout, @r"
    # Interview

    ## Goal

    > check
    ");
    assert_eq!(
        environment
            .fp(&["interview", "--objective", "a", "check"])
            .code,
        0
    );
    let report = environment
        .fp(&["interview", "check", "check", "--format", "json"])
        .json();
    assert_eq!(report["planId"], "check-20261121");
    assert_snapshot!(environment.fp(&["interview", "check", "--objective", "a"]), @r"
    exit status: 2
    --- stderr
    error: unexpected argument '--objective' found

      tip: to pass '--objective' as a value, use '-- --objective'

    Usage: fp interview check [OPTIONS] [PLAN]

    For more information, try '--help'.
    ");
}

#[test]
fn what_can_not_be_judged_is_said() {
    let environment = new(&[]);
    assert_snapshot!(environment.fp(&["interview", "check", "other"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "other"; there are:
      1  add-greeting-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them
    "#);
    environment.write(
        &format!("{FOLDER}/interview.json"),
        "{\n  \"objective\": \"x\",\n}",
    );
    assert_snapshot!(check(&environment), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:3:1: trailing comma
    hint: correct that place, or delete the file to begin anew
    ");
    assert!(!environment.path(&format!("{FOLDER}/interview.md")).exists());
    environment.write(
        &format!("{FOLDER}/interview.json"),
        r#"{"requirements": 3, "saidBy": [], "scopeInclusions": true}"#,
    );
    assert_eq!(check(&environment).code, 2);
    environment.write(&format!("{FOLDER}/interview.json"), "{}");
    environment.write(&format!("{FOLDER}/plan.json"), r#"{"mode": "huge"}"#);
    assert_snapshot!(check(&environment), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/plan.json:1:15: unknown variant `huge`, expected one of `direct`, `specified`, `pipeline`, `full`
    hint: correct that place, or delete the file: the plan loses its goal and flags
    ");
}

#[test]
fn a_run_does_not_notice() {
    let environment = Environment::new().repo().shared();
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.start(&[]);
    let waits_for = || {
        let turn = environment
            .fp(&["next", "sample", "--format", "json"])
            .json();
        turn["actions"].as_array().unwrap().last().unwrap()["on"].clone()
    };
    waits_for();
    let (status, waits) = (environment.fp(&["status", "sample"]), waits_for());
    assert_eq!(waits, serde_json::json!(["builder-1"]));
    environment.done(&["interview", "sample", "--decision", "더 필요한 것은?|없음"]);
    assert_eq!(environment.fp(&["status", "sample"]).stdout, status.stdout);
    assert_eq!(waits_for(), waits);
    assert_eq!(environment.fp(&["interview", "check", "sample"]).code, 1);
}
