//! `fp interview`: what was found is recorded, and nothing that was there is lost.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod common;

use common::Environment;
use insta::assert_snapshot;

const JSON: &str = ".fractal-planner/plans/add-greeting-20261121/interview.json";
const MARKDOWN: &str = ".fractal-planner/plans/add-greeting-20261121/interview.md";

fn planned() -> Environment {
    let environment = Environment::new().repo();
    assert_eq!(environment.fp(&["new", "Add a greeting"]).code, 0);
    environment
}

#[test]
fn rounds_add_up() {
    let environment = planned();
    assert_snapshot!(environment.fp(&["interview", "greeting"]), @r"
    exit status: 0
    --- stdout
    # Interview

    ## Goal

    > Add a greeting
    --- stderr
    Nothing is recorded yet; `fp interview --help` shows what can be
    ");
    assert!(!environment.path(JSON).exists(), "showing writes nothing");

    #[rustfmt::skip]
    let first = [
        "interview", "greeting", "--objective", "`fp hello` greets", "--requirement", "It greets by name",
        "--requirement", "It says \"hello\"", "--include", "the command", "--exclude", "translations",
        "--open", "Which language?", "--tests", "unit tests",
    ];
    assert_eq!(environment.fp(&first).code, 0);
    #[rustfmt::skip]
    let second = [
        "interview", "greeting", "--by", "auto", "--decision", "Which language?|Rust | or so",
        "--assume", "it runs in a terminal", "--approach", "a subcommand", "--requirement", "It exits with 0",
    ];
    assert_snapshot!(environment.fp(&second), @r#"
    exit status: 0
    --- stdout
    # Interview

    ## Goal

    > Add a greeting

    ## Objective

    `fp hello` greets

    ## Requirements

    - **R1** It greets by name
    - **R2** It says "hello"
    - **R3** It exits with 0 (assumed)

    ## In scope

    - the command

    ## Out of scope

    - translations

    ## Decisions

    - Which language? Rust | or so (assumed)

    ## Assumptions

    - it runs in a terminal

    ## Approach

    a subcommand (assumed)

    ## Tests

    unit tests
    "#);
    assert_snapshot!(environment.read(JSON), @r#"
    {
      "approach": "a subcommand",
      "assumptions": [
        "it runs in a terminal"
      ],
      "decisions": [
        {
          "answer": "Rust | or so",
          "by": "auto",
          "question": "Which language?"
        }
      ],
      "objective": "`fp hello` greets",
      "openQuestions": [],
      "requirements": [
        {
          "by": "user",
          "id": "R1",
          "text": "It greets by name"
        },
        {
          "by": "user",
          "id": "R2",
          "text": "It says \"hello\""
        },
        {
          "by": "auto",
          "id": "R3",
          "text": "It exits with 0"
        }
      ],
      "saidBy": {
        "approach": "auto",
        "objective": "user",
        "testStrategy": "user"
      },
      "schemaVersion": 1,
      "scopeExclusions": [
        "translations"
      ],
      "scopeInclusions": [
        "the command"
      ],
      "testStrategy": "unit tests"
    }
    "#);
    assert_eq!(environment.read(MARKDOWN), environment.fp(&["interview"]).stdout);
}

#[test]
fn a_record_that_a_model_wrote_is_kept() {
    let environment = planned();
    environment.write(JSON, r#"{"requirements": ["It greets"], "mood": {"good": true}}"#);
    let output = environment.fp(&["--format", "json", "interview", "--requirement", "It ends"]);
    assert_snapshot!(output, @r#"
    exit status: 0
    --- stdout
    {
      "approach": null,
      "assumptions": [],
      "decisions": [],
      "objective": null,
      "openQuestions": [],
      "planId": "add-greeting-20261121",
      "requirements": [
        {
          "id": "R1",
          "text": "It greets"
        },
        {
          "by": "user",
          "id": "R2",
          "text": "It ends"
        }
      ],
      "schemaVersion": 1,
      "scopeExclusions": [],
      "scopeInclusions": [],
      "testStrategy": null
    }
    "#);
    assert_snapshot!(environment.read(JSON), @r#"
    {
      "mood": {
        "good": true
      },
      "requirements": [
        {
          "id": "R1",
          "text": "It greets"
        },
        {
          "by": "user",
          "id": "R2",
          "text": "It ends"
        }
      ],
      "schemaVersion": 1
    }
    "#);
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_written() {
    let environment = planned();
    let check = |content: &str, args: &[&str]| {
        environment.write(JSON, content);
        let args: Vec<&str> = ["interview", "greeting"].into_iter().chain(args.iter().copied()).collect();
        let output = environment.fp(&args);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""));
        assert_eq!(environment.read(JSON), content);
        assert!(!environment.path(MARKDOWN).exists());
        output.stderr
    };
    assert_snapshot!(check("{\n  \"objective\": \"x\",\n}", &["--open", "a"]), @r"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:3:1: not JSON: trailing comma
    hint: correct that place, or delete the file to begin anew
    ");
    assert_snapshot!(check("", &["--open", "a"]), @r"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:1:1: it is empty, which is not JSON
    hint: correct that place, or delete the file to begin anew
    ");
    assert_snapshot!(check("[]", &[]), @r"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:1:1: an interview is a JSON object, and this is none
    hint: correct that place, or delete the file to begin anew
    ");
    assert_snapshot!(check("{\"schemaVersion\": 2}", &["--open", "a"]), @r"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:1:1: written by a newer fp (schemaVersion 2, this fp writes 1)
    hint: update fp: `fp --version` says what this one is
    ");
    assert_snapshot!(check("{\"requirements\": 3}", &["--requirement", "a"]), @r"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json: `requirements` is a number, where a list is expected
    hint: make a list of it, and run the command again
    ");
    assert_snapshot!(check("{}", &["--objective", " "]), @r"
    error: invalid value ' ' for '--objective <TEXT>': it says nothing

    For more information, try '--help'.
    ");
    assert_snapshot!(check("{}", &["--decision", "no answer"]), @r"
    error: invalid value 'no answer' for '--decision <QUESTION|ANSWER>': question and answer are separated by `|`

    For more information, try '--help'.
    ");
}
