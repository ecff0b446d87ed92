//! `fp specs`, and the parts of the project's specs that agents get.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

const ERRORS: &str = "---
title: Errors say what to do
category: general
readMode: required
---

Every error has a hint.
";

const TOKENS: &str = "---
title: How tokens are kept
category: execution
keywords: [jwt, 인증]
---

# How tokens are kept

Never in a log.

## Rotation

After an hour.
";

fn file(name: &str) -> String {
    format!(".fractal-planner/specs/{name}")
}

/// Three readable specs, one of them in a subfolder.
fn project() -> Environment {
    let environment = Environment::new().repo();
    environment.write(&file("errors.md"), ERRORS);
    environment.write(&file("api/tokens.md"), TOKENS);
    environment.write(&file("names.md"), "# Names of things\n\nPlain words.\n");
    environment
}

/// Two tasks, of which the first is about tokens.
fn planned(environment: Environment) -> Environment {
    environment.plan(&tree(&[
        leaf("1", "none", "src/jwt.rs"),
        leaf("2", "1", "b.txt"),
    ]));
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/plan.json"),
        r#"{"goal": "Write two parts"}"#,
    );
    environment
}

/// Files that fail to be specs, each in its own way, beside those that are.
fn broken() -> Environment {
    let environment = project();
    environment.write(&file("mode.md"), "---\ntitle: A\nreadMode: requird\n---\n");
    environment.write(&file("yaml.md"), "\u{feff}---\r\nkeywords: [a\r\n---\r\n");
    environment.write(&file("bytes.md"), b"one\n\xff");
    environment.write(&file("large.md"), vec![b'a'; 10 * 1024 * 1024]);
    environment.write(&file("a/b/deep.md"), "too deep");
    environment.write(&file("picture.png"), b"\xff");
    environment.write(&file(".hidden.md"), "hidden");
    environment.write(&file("line\nend.md"), "text");
    std::fs::write(environment.beside("outside.md"), "secret").unwrap();
    std::os::unix::fs::symlink(
        environment.beside("outside.md"),
        environment.path(&file("link.md")),
    )
    .unwrap();
    std::os::unix::fs::symlink(
        environment.path("README.md"),
        environment.path(&file("readme.md")),
    )
    .unwrap();
    environment
}

#[test]
fn the_list() {
    assert_snapshot!(project().fp(&["specs", "list"]), @r"
    exit status: 0
    --- stdout
    api/tokens            optional  execution    How tokens are kept
    errors                required  general      Errors say what to do
    names                 optional  general      Names of things
    ");
    assert_snapshot!(Environment::new().repo().fp(&["specs", "list"]), @r"
    exit status: 0
    --- stderr
    note: there are no specs; a spec is a Markdown file in .fractal-planner/specs
    ");
    let list = project().fp(&["specs", "list", "--format", "json"]).json();
    assert_eq!(list["faults"], serde_json::json!([]));
    assert_snapshot!(list["specs"][0].to_string(), @r#"{"category":"execution","keywords":["jwt","인증"],"name":"api/tokens","path":"[ROOT]/work/.fractal-planner/specs/api/tokens.md","readMode":"optional","title":"How tokens are kept"}"#);
}

#[test]
fn what_can_not_be_read_is_named_and_hides_nothing() {
    let environment = broken();
    assert_snapshot!(environment.fp(&["specs", "list"]), @"
    exit status: 0
    --- stdout
    api/tokens            optional  execution    How tokens are kept
    errors                required  general      Errors say what to do
    names                 optional  general      Names of things
    readme                optional  general      Sample
    --- stderr
    warning: [ROOT]/work/.fractal-planner/specs/bytes.md:2:1: not UTF-8 text
    warning: [ROOT]/work/.fractal-planner/specs/large.md is too large: at most 1048576 bytes are read
    warning: [ROOT]/work/.fractal-planner/specs/line end.md: a spec's name is visible text
    warning: [ROOT]/work/.fractal-planner/specs/link.md leads out of the repository, to [ROOT]/outside.md
    warning: [ROOT]/work/.fractal-planner/specs/mode.md: readMode: unknown variant `requird`, expected `required` or `optional` at line 3 column 11
    warning: [ROOT]/work/.fractal-planner/specs/yaml.md: did not find expected ',' or ']' at line 3 column 1, while parsing a flow sequence at line 2 column 11
    ");
    let faults = environment
        .fp(&["specs", "list", "--format", "json"])
        .json()["faults"]
        .clone();
    assert_eq!(faults.as_array().unwrap().len(), 6, "{faults}");
}

#[test]
fn a_folder_of_specs_outside_of_the_repository_is_refused() {
    let environment = Environment::new().repo();
    let outside = environment.beside("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("a.md"), "secret").unwrap();
    std::fs::create_dir(environment.path(".fractal-planner")).unwrap();
    std::os::unix::fs::symlink(&outside, environment.path(".fractal-planner/specs")).unwrap();
    assert_snapshot!(environment.fp(&["specs", "list"]), @"
    exit status: 0
    --- stderr
    warning: [ROOT]/work/.fractal-planner/specs leads out of the repository, to [ROOT]/elsewhere
    ");
}

#[test]
fn those_for_a_piece_of_work() {
    let environment = planned(project());
    assert_snapshot!(environment.fp(&["specs", "for", "--stage", "planning"]), @r"
    exit status: 0
    --- stdout
    # Spec errors: Errors say what to do (required)

    > Every error has a hint.

    # Spec names: Names of things (optional)

    > # Names of things
    >
    > Plain words.
    ");
    let names = |args: &[&str]| {
        let rows = environment
            .fp(&[&["specs", "for"], args, &["--format", "json"]].concat())
            .json();
        let names = rows["specs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&[PLAN, "1"]), "errors api/tokens names");
    assert_eq!(names(&[PLAN, "2"]), "errors names");
    assert_eq!(names(&[PLAN, "--stage", "planning"]), "errors names");
    assert_snapshot!(environment.fp(&["specs", "for", PLAN, "9"]), @r"
    exit status: 2
    --- stderr
    error: sample-20261121 has no leaf 9
    hint: `fp show sample-20261121` lists them
    ");
    assert_snapshot!(Environment::new().repo().fp(&["specs", "for"]), @r"
    exit status: 0
    --- stderr
    note: no spec applies
    ");
    environment.write(&file("names.md"), "word ".repeat(1_590));
    assert_snapshot!(environment.fp(&["specs", "for", PLAN, "1"]), @"
    exit status: 0
    --- stdout
    # Spec errors: Errors say what to do (required)

    > Every error has a hint.

    # Spec api/tokens: How tokens are kept (optional)

    > # How tokens are kept
    >
    > Never in a log.
    >
    > ## Rotation
    >
    > After an hour.

    # Beyond 8000 characters

    - Where it helps, read .fractal-planner/specs/names.md: names
    ");
    let json = environment.fp(&["specs", "for", "--stage", "planning", "--format", "json"]);
    assert_snapshot!(json, @r##"
    exit status: 0
    --- stdout
    {
      "faults": [],
      "schemaVersion": 1,
      "specs": [
        {
          "category": "general",
          "keywords": [],
          "name": "errors",
          "path": "[ROOT]/work/.fractal-planner/specs/errors.md",
          "readMode": "required",
          "text": "# Spec errors: Errors say what to do (required)\n\n> Every error has a hint.\n\n",
          "title": "Errors say what to do"
        },
        {
          "category": "general",
          "keywords": [],
          "name": "names",
          "path": "[ROOT]/work/.fractal-planner/specs/names.md",
          "readMode": "optional",
          "title": "names"
        }
      ],
      "stages": [
        "planning"
      ]
    }
    "##);
}

#[test]
fn a_new_plan_names_those_of_planning() {
    let environment = broken();
    let output = environment
        .fp(&["new", "Keep JWT tokens", "--format", "json"])
        .json();
    assert_eq!(output["specs"], serde_json::json!([]));
    assert_eq!(
        output["warnings"],
        serde_json::json!([
            "3 specs of the project left out: Claude Code has no record that you trust this folder"
        ])
    );
    environment.trust_place();
    let output = environment
        .fp(&["new", "Keep JWT tokens", "--format", "json"])
        .json();
    assert_snapshot!(environment.shown(output["specs"].to_string().as_bytes()), @r#"[{"category":"general","path":"[ROOT]/work/.fractal-planner/specs/errors.md","readMode":"required","title":"Errors say what to do"},{"category":"general","path":"[ROOT]/work/.fractal-planner/specs/names.md","readMode":"optional","title":"Names of things"},{"category":"general","path":"[ROOT]/work/.fractal-planner/specs/readme.md","readMode":"optional","title":"Sample"}]"#);
    let warnings = output["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 6, "{warnings:?}");
    let text = environment.fp(&["new", "Keep JWT tokens"]).stdout;
    let (_, section) = text.split_once("\n\nWhat the project wants").unwrap();
    assert_snapshot!(section.split("\n\n").next().unwrap(), @r"
    (`fp specs for keep-jwt-tokens-20261121-3` prints it):
     required  .fractal-planner/specs/errors.md: Errors say what to do
     optional  .fractal-planner/specs/names.md: Names of things
     optional  .fractal-planner/specs/readme.md: Sample
    ");
}

/// The section of the specs in a payload.
fn section(payload: &str) -> &str {
    let (_, rest) = payload.split_once("\n## PROJECT SPECS\n").unwrap();
    rest.split_once("\n## CONTEXT\n").unwrap().0
}

#[test]
fn a_builder_is_given_those_of_its_task() {
    let environment = planned(project());
    environment.start(&[]);
    let payload = environment.fp(&["claim", PLAN, "--as", "builder-1"]).stdout;
    assert_snapshot!(section(&payload), @r"
    Errors say what to do, which every task keeps to:
    > Every error has a hint.
    - Where it helps, read [ROOT]/work/.fractal-planner/specs/api/tokens.md: How tokens are kept
    - Where it helps, read [ROOT]/work/.fractal-planner/specs/names.md: Names of things
    ");

    environment.write(
        &file("long.md"),
        format!("---\nreadMode: required\n---\n{}", "word ".repeat(2000)),
    );
    environment.write(&file("mode.md"), "---\nreadMode: requird\n---\n");
    let output = environment.fp(&["claim", PLAN, "--as", "builder-1"]);
    assert!(output.stdout.len() <= 8 * 1024);
    assert_snapshot!(environment.shown(section(&output.stdout).as_bytes()), @r"
    Errors say what to do, which every task keeps to:
    > Every error has a hint.
    - Read [ROOT]/work/.fractal-planner/specs/long.md before you begin: long
    - Where it helps, read [ROOT]/work/.fractal-planner/specs/api/tokens.md: How tokens are kept
    - Where it helps, read [ROOT]/work/.fractal-planner/specs/names.md: Names of things
    ");
    assert_snapshot!(output.stderr, @"warning: [ROOT]/work/.fractal-planner/specs/mode.md: readMode: unknown variant `requird`, expected `required` or `optional` at line 2 column 11");

    (0..100).for_each(|number| {
        environment.write(
            &file(&format!("r{number}.md")),
            "---\nreadMode: required\n---\ntext\n",
        );
    });
    let payload = environment.fp(&["claim", PLAN, "--as", "builder-1"]).stdout;
    assert!(payload.len() <= 8 * 1024);
    assert_snapshot!(section(&payload), @r"- Run `fp specs for sample-20261121 1` before you begin, and keep to what it prints");
}

#[test]
fn without_specs_a_payload_has_no_section() {
    let environment = planned(Environment::new().repo());
    environment.start(&[]);
    let payload = environment.fp(&["claim", PLAN, "--as", "builder-1"]).stdout;
    assert!(
        payload.contains("\n## CONTEXT\n") && !payload.contains("SPECS"),
        "{payload}"
    );
}
