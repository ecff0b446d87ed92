//! `fp interview`: records answers without losing earlier ones.

use crate::common::Environment;
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
    assert_snapshot!(environment.fp(&["interview", "greeting"]), @"
    exit status: 0
    --- stdout
    # Interview

    ## Goal

    > Add a greeting
    ");
    assert!(!environment.path(JSON).exists(), "showing writes nothing");

    #[rustfmt::skip]
    let first = [
        "interview", "greeting", "--objective", "`fp hello` greets", "--requirement", "It greets by name",
        "--requirement", "It says \"hello\"", "--include", "the command", "--exclude", "translations",
        "--open", "Which language?", "--tests", "unit tests", "--tests", "`cargo test`",
    ];
    assert_eq!(environment.fp(&first).code, 0);
    #[rustfmt::skip]
    let second = [
        "interview", "greeting", "--by", "auto", "--decision", "Which language?|Rust | or so",
        "--assume", "it runs in a terminal", "--approach", "a subcommand", "--requirement", "It exits with 0",
    ];
    assert_snapshot!(environment.fp(&second), @"
    exit status: 0
    --- stdout
    Recorded; requirements R1 to R3. Interview: clear; next: the step decompose
    ");
    assert_snapshot!(environment.read(JSON), @r#"
    {
      "schemaVersion": 1,
      "objective": "`fp hello` greets",
      "requirements": [
        {
          "id": "R1",
          "text": "It greets by name",
          "by": "user"
        },
        {
          "id": "R2",
          "text": "It says \"hello\"",
          "by": "user"
        },
        {
          "id": "R3",
          "text": "It exits with 0",
          "by": "auto"
        }
      ],
      "scopeInclusions": [
        {
          "text": "the command",
          "by": "user"
        }
      ],
      "scopeExclusions": [
        {
          "text": "translations",
          "by": "user"
        }
      ],
      "decisions": [
        {
          "question": "Which language?",
          "answer": "Rust | or so",
          "by": "auto"
        }
      ],
      "assumptions": [
        "it runs in a terminal"
      ],
      "approach": "a subcommand",
      "alternatives": [],
      "testStrategy": "unit tests, `cargo test`",
      "openQuestions": [],
      "saidBy": {
        "approach": "auto",
        "objective": "user",
        "testStrategy": "user"
      },
      "superseded": []
    }
    "#);
    let page = environment.read(MARKDOWN);
    let shown = environment.fp(&["interview"]).stdout;
    assert_eq!(page, shown, "nothing is missing");
}

#[test]
fn what_was_not_chosen_is_kept_with_its_reason() {
    let environment = planned();
    #[rustfmt::skip]
    let args = [
        "interview", "greeting", "--approach", "a subcommand", "--alternative", "a plugin|more to install",
        "--alternative", "별도 바이너리 | 배포가 늘어난다 | 두 번", "--exclude", "None",
    ];
    assert_snapshot!(environment.fp(&args), @"
    exit status: 0
    --- stdout
    Recorded. Interview: objective, scope, tests missing; `fp interview check add-greeting-20261121` says more
    ");
    let output = environment.fp(&["interview", "--format", "json"]);
    assert_snapshot!(output.json()["alternatives"], @r#"[{"name":"a plugin","whyNot":"more to install"},{"name":"별도 바이너리","whyNot":"배포가 늘어난다 | 두 번"}]"#);
    assert_eq!(output.json()["scopeExclusions"], serde_json::json!([]));
}

#[test]
fn what_does_not_hold_is_withdrawn() {
    let environment = planned();
    let first = [
        "interview",
        "greeting",
        "--requirement",
        "It works",
        "--include",
        "the command",
    ];
    assert_eq!(environment.fp(&first).code, 0);
    #[rustfmt::skip]
    let second = ["interview", "--withdraw", "R1", "--withdraw", "The  command", "--requirement", "It prints `hello`"];
    assert_snapshot!(environment.fp(&second), @"
    exit status: 0
    --- stdout
    Recorded; requirement R2. Interview: objective, scope, tests missing; `fp interview check add-greeting-20261121` says more
    ");
    assert_snapshot!(environment.fp(&["interview", "--withdraw", "R1"]), @r#"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json: "R1" can't be withdrawn: nothing required, in or out of scope has that id or these words
    hint: `fp interview` shows what is recorded, with the ids
    "#);
}

#[test]
fn a_round_is_in_the_log_when_it_records_something() {
    let environment = planned();
    let record = ["interview", "greeting", "--objective", "`fp hello` greets"];
    for args in [
        &record[..],
        &record,
        &["interview", "greeting"],
        &["interview", "greeting", "--by", "auto", "--assume", "a"],
    ] {
        assert_eq!(environment.fp(args).code, 0, "{args:?}");
    }
    assert_snapshot!(environment.fp(&["log", "greeting"]), @r"
    exit status: 0
    --- stdout
    2026-11-21 (UTC)
    09:00:00      1    the interview records what the user said
    09:00:00      2    the interview records what is assumed
    ");
    assert_snapshot!(environment.fp(&["status", "greeting"]), @r"
    exit status: 0
    --- stdout
    Plan add-greeting-20261121 (planning)
    Written so far: interview.md
    Next: fp validate add-greeting-20261121, once tasks.md is written; in Claude Code, ask for the planning to go on
    ");
}

#[test]
fn a_record_that_a_model_wrote_is_kept() {
    let environment = planned();
    environment.write(
        JSON,
        r#"{"requirements": ["It greets"], "mood": {"good": true}}"#,
    );
    let output = environment.fp(&["--format", "json", "interview", "--requirement", "It ends"]);
    assert_snapshot!(output, @r#"
    exit status: 0
    --- stdout
    {
      "alternatives": [],
      "approach": null,
      "assumptions": [],
      "decisions": [],
      "mood": {
        "good": true
      },
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
      "saidBy": {},
      "schemaVersion": 1,
      "scopeExclusions": [],
      "scopeInclusions": [],
      "superseded": [],
      "testStrategy": null
    }
    "#);
    assert_snapshot!(environment.read(JSON), @r#"
    {
      "schemaVersion": 1,
      "objective": null,
      "requirements": [
        {
          "id": "R1",
          "text": "It greets"
        },
        {
          "id": "R2",
          "text": "It ends",
          "by": "user"
        }
      ],
      "scopeInclusions": [],
      "scopeExclusions": [],
      "decisions": [],
      "assumptions": [],
      "approach": null,
      "alternatives": [],
      "testStrategy": null,
      "openQuestions": [],
      "saidBy": {},
      "superseded": [],
      "mood": {
        "good": true
      }
    }
    "#);
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_written() {
    let environment = planned();
    let check = |content: &str, args: &[&str]| {
        environment.write(JSON, content);
        let args: Vec<&str> = ["interview", "greeting"]
            .into_iter()
            .chain(args.iter().copied())
            .collect();
        let output = environment.fp(&args);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""));
        assert_eq!(environment.read(JSON), content);
        assert!(!environment.path(MARKDOWN).exists());
        output.stderr
    };
    assert_snapshot!(check("{\n  \"objective\": \"x\",\n}", &["--open", "a"]), @"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:3:1: trailing comma
    hint: correct that place, or delete the file to begin anew
    ");
    assert_snapshot!(check("", &["--open", "a"]), @"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:1:1: EOF while parsing a value
    hint: correct that place, or delete the file to begin anew
    ");
    assert_snapshot!(check("[]", &[]), @"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:1:1: invalid type: sequence, expected struct Interview
    hint: correct that place, or delete the file to begin anew
    ");
    assert_snapshot!(check("{\"schemaVersion\": 2}", &["--open", "a"]), @r"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json:1:1: written by a newer fp (schemaVersion 2, this fp writes 1)
    hint: update fp: `fp --version` says what this one is
    ");
    assert_snapshot!(check("{}", &["--objective", " "]), @r"
    error: invalid value ' ' for '--objective <TEXT>': it says nothing

    For more information, try '--help'.
    ");
    assert_snapshot!(check("{}", &["--alternative", "a plugin"]), @r"
    error: invalid value 'a plugin' for '--alternative <NAME|WHY NOT>': name and reason are separated by `|`

    For more information, try '--help'.
    ");
    assert_snapshot!(check("{}", &["--alternative", "a plugin| "]), @r"
    error: invalid value 'a plugin| ' for '--alternative <NAME|WHY NOT>': it says nothing

    For more information, try '--help'.
    ");
    assert_snapshot!(check("{}", &["--include", "none"]), @r"
    error: invalid value 'none' for '--include <TEXT>': something belongs to every goal: say what

    For more information, try '--help'.
    ");
    assert_snapshot!(check("{}", &["--exclude", "none", "--exclude", "a"]), @r"
    error: --exclude none says that nothing is excluded, and something is
    hint: leave out one of them
    ");
    assert_snapshot!(check("{}", &["--withdraw", ""]), @r"
    error: invalid value '' for '--withdraw <ID-OR-TEXT>': it says nothing

    For more information, try '--help'.
    ");
    assert_snapshot!(check("{}", &["--withdraw", "R1"]), @r#"
    error: [ROOT]/work/.fractal-planner/plans/add-greeting-20261121/interview.json: "R1" can't be withdrawn: nothing required, in or out of scope has that id or these words
    hint: `fp interview` shows what is recorded, with the ids
    "#);
    assert_snapshot!(check("{}", &["--decision", "no answer"]), @r"
    error: invalid value 'no answer' for '--decision <QUESTION|ANSWER>': question and answer are separated by `|`

    For more information, try '--help'.
    ");
}

#[test]
fn lines_of_the_goal_become_requirements() {
    let environment = Environment::new().repo();
    let long = "x".repeat(100);
    let goal = format!("Read forms:\n\n- It reads TOML\n- It reads\n  JSON\n- It is fast\n{long}");
    environment.done(&["new", &goal]);
    let page = environment.done(&["interview"]).stdout;
    assert!(
        page.contains("\n>   4  - It reads\n>   5    JSON\n"),
        "{page}"
    );
    let cut = format!(">   7  {}…\n", &long[..79]);
    assert!(page.contains(&cut), "{page}");
    let more = [
        "--by",
        "auto",
        "--requirement",
        "It reads well",
        "--goal-lines",
        "3-5,6",
    ];
    assert_snapshot!(environment.fp(&[&["interview"][..], &more].concat()), @"
    exit status: 0
    --- stdout
    R1 It reads TOML
    R2 It reads JSON
    R3 It is fast
    R4 It reads well
    Recorded; requirements R1 to R4. Interview: objective, scope, tests missing; `fp interview check read-forms-it-reads-toml-it-20261121` says more
    ");
    let page = environment.done(&["interview"]).stdout;
    assert!(page.contains("**R2** It reads\n  JSON\n- **R3**"), "{page}");
    assert!(page.contains("**R4** It reads well (assumed)"), "{page}");
    let kept = environment
        .read(".fractal-planner/plans/read-forms-it-reads-toml-it-20261121/interview.md");
    let goal = format!(
        "> Read forms:\n>\n> - R1, below\n> - It reads\n>   JSON\n> - R3, below\n> {long}\n"
    );
    assert!(kept.contains(&goal), "{kept}");
    for (lines, why) in [
        ("7-9", "lines 7 to 9 of the goal say nothing"),
        ("2", "say nothing"),
        ("3-9", "say nothing"),
        ("5-3", "it takes lines such as 3 or 4-9"),
    ] {
        let refused = environment.fp(&["interview", "--goal-lines", lines]);
        assert!(
            refused.code == 2 && refused.stderr.contains(why),
            "{lines}: {refused}"
        );
    }
}
