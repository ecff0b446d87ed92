//! `--format sarif`: a log that satisfies the published schema, and that code scanning can follow from commit to
//! commit.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::fixture::Fixture;
use crate::common::plan::PLAN;
use crate::common::{Environment, Output};
use crate::validate::{FILE, clean, large_leaf, unbounded, validate, waits_for_itself, with};

const SARIF: [&str; 2] = ["--format", "sarif"];

/// Everything that is wrong with a log by the schema of SARIF 2.1.0.
struct Schema(jsonschema::Validator);

impl Schema {
    fn published() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sarif/sarif-schema-2.1.0.json");
        let mut schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        // One pattern, of a property that is not in our logs, has a bracket too many and is no pattern.
        for holder in ["run", "toolComponent"] {
            let pattern = &mut schema["definitions"][holder]["properties"]["language"]["pattern"];
            assert_eq!(pattern, "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
            *pattern = json!("^[a-zA-Z]{2}(-[a-zA-Z]{2})?$");
        }
        Self(jsonschema::options().should_validate_formats(true).build(&schema).unwrap())
    }

    fn faults(&self, log: &Value) -> Vec<String> {
        self.0.iter_errors(log).map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
    }
}

fn log(output: &Output) -> Value {
    output.json()
}

fn results(log: &Value) -> &Vec<Value> {
    log["runs"][0]["results"].as_array().unwrap()
}

#[test]
fn it_satisfies_the_schema() {
    let schema = Schema::published();
    let mut rules = BTreeSet::new();
    for fixture in Fixture::all() {
        let environment = Environment::new().repo();
        fixture.lay_out(&environment.path(""));
        environment.write(FILE, fixture.text("bad.md").unwrap());
        let log = log(&environment.fp(&["validate", FILE, "--format", "sarif"]));
        assert_eq!(schema.faults(&log), Vec::<String>::new(), "{}", fixture.rule);
        rules.extend(results(&log).iter().map(|result| result["ruleId"].as_str().unwrap().to_owned()));
    }
    let all: BTreeSet<String> = fp_core::rules::RULES.iter().map(|rule| rule.id.to_owned()).collect();
    assert_eq!(rules, all);
    for tree in ["", "\u{feff}x", &clean(), &clean().replace('\n', "\r\n")] {
        assert_eq!(schema.faults(&log(&validate(tree, &SARIF))), Vec::<String>::new(), "{tree}");
    }
}

#[test]
fn the_schema_is_not_satisfied_by_anything() {
    let schema = Schema::published();
    let good = log(&validate(&waits_for_itself(), &SARIF));
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut log = good.clone();
        change(&mut log);
        schema.faults(&log).len()
    };
    assert_eq!(broken(&|_| ()), 0);
    assert!(broken(&|log| log["version"] = json!("2.0.0")) > 0);
    assert!(broken(&|log| log["runs"][0]["columnKind"] = json!("bytes")) > 0);
    assert!(broken(&|log| log["runs"][0]["results"][0]["level"] = json!("fatal")) > 0);
    assert!(broken(&|log| log["runs"][0]["results"][0]["more"] = json!(1)) > 0);
}

#[test]
fn a_result() {
    let output = validate(&waits_for_itself(), &SARIF);
    assert_eq!((output.code, output.stderr.as_str()), (1, ""));
    assert!(output.stdout.starts_with("{\n  \"$schema\": "), "{output}");
    let log = log(&output);
    assert_snapshot!(serde_json::to_string_pretty(&log["runs"][0]["results"]).unwrap(), @r#"
    [
      {
        "fixes": [
          {
            "artifactChanges": [
              {
                "artifactLocation": {
                  "index": 0,
                  "uri": "tasks.md",
                  "uriBaseId": "%SRCROOT%"
                },
                "replacements": [
                  {
                    "deletedRegion": {
                      "endColumn": 23,
                      "endLine": 21,
                      "startColumn": 5,
                      "startLine": 21
                    },
                    "insertedContent": {
                      "text": "Dependencies: 1"
                    }
                  }
                ]
              }
            ],
            "description": {
              "text": "remove the dependency"
            }
          }
        ],
        "level": "error",
        "locations": [
          {
            "logicalLocations": [
              {
                "kind": "task",
                "name": "2"
              }
            ],
            "physicalLocation": {
              "artifactLocation": {
                "index": 0,
                "uri": "tasks.md",
                "uriBaseId": "%SRCROOT%"
              },
              "region": {
                "endColumn": 23,
                "endLine": 21,
                "startColumn": 22,
                "startLine": 21
              }
            }
          }
        ],
        "message": {
          "text": "task 2 waits for itself\nhint: remove the dependency"
        },
        "partialFingerprints": {
          "taskFinding/v1": "70616110c0706de5:1"
        },
        "ruleId": "self-dependency",
        "ruleIndex": 12
      }
    ]
    "#);
    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["version"], env!("CARGO_PKG_VERSION"));
    let rule = &driver["rules"][results(&log)[0]["ruleIndex"].as_u64().unwrap() as usize];
    assert_snapshot!(serde_json::to_string_pretty(rule).unwrap(), @r#"
    {
      "defaultConfiguration": {
        "level": "error"
      },
      "fullDescription": {
        "text": "It could never start."
      },
      "help": {
        "markdown": "A task that waits for itself.\n\nIt could never start.\n\nBad:\n\n```markdown\n- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 1, 2\n```\n\nGood:\n\n```markdown\n- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n- [ID: 2] Printer (Complexity: 2)\n  - Dependencies: 1\n```\n\n`fp validate --fix`: Removes the dependency.\n",
        "text": "self-dependency (error)\n\nA task that waits for itself.\n\nIt could never start.\n\nBad:\n\n    - [ID: root] Calculator\n    - [ID: 1] Parser (Complexity: 2)\n    - [ID: 2] Printer (Complexity: 2)\n      - Dependencies: 1, 2\n\nGood:\n\n    - [ID: root] Calculator\n    - [ID: 1] Parser (Complexity: 2)\n    - [ID: 2] Printer (Complexity: 2)\n      - Dependencies: 1\n\n`fp validate --fix`: Removes the dependency.\n"
      },
      "id": "self-dependency",
      "shortDescription": {
        "text": "A task that waits for itself"
      }
    }
    "#);
}

#[test]
fn it_is_deterministic_and_fingerprints_stay_when_lines_move() {
    let prints = |tree: &str| {
        let log = log(&validate(tree, &SARIF));
        let print =
            |result: &Value| result["partialFingerprints"]["taskFinding/v1"].as_str().unwrap().to_owned();
        results(&log).iter().map(print).collect::<Vec<_>>()
    };
    let twice = "- [ID: 1] A (Complexity: 99)\n- [ID: 1] A (Complexity: 99)\n- [ID 1] B\n- [ID 1] B\n";
    for tree in [waits_for_itself(), unbounded(), large_leaf(), twice.to_owned()] {
        assert_eq!(validate(&tree, &SARIF), validate(&tree, &SARIF));
        let moved = format!("# A heading\n\nA few words.\n\n{tree}");
        assert_eq!(prints(&tree), prints(&moved), "{tree}");
        let unique: BTreeSet<String> = prints(&tree).into_iter().collect();
        assert_eq!(unique.len(), prints(&tree).len(), "{tree}");
    }
}

/// The regions are meant in characters, and their fixes give what `--fix` gives.
#[test]
fn fixes_can_be_applied_by_others() {
    let wide = waits_for_itself().replace("Dependencies: 1, 2", "Dependencies: 1 (자료 구조), 2");
    for tree in [waits_for_itself(), unbounded(), wide] {
        let log = log(&validate(&tree, &SARIF));
        let change = &results(&log)[0]["fixes"][0]["artifactChanges"][0];
        let mut lines: Vec<Vec<char>> =
            tree.split_inclusive('\n').map(|line| line.chars().collect()).collect();
        let replacements = change["replacements"].as_array().unwrap();
        assert_eq!(replacements.len(), 1, "{change}");
        let number = |key: &str| replacements[0]["deletedRegion"][key].as_u64().unwrap() as usize;
        let text: Vec<char> = replacements[0]["insertedContent"]["text"].as_str().unwrap().chars().collect();
        assert_eq!(number("startLine"), number("endLine"));
        lines[number("startLine") - 1].splice(number("startColumn") - 1..number("endColumn") - 1, text);
        let environment = with(&tree);
        environment.fp(&["validate", FILE, "--fix"]);
        assert_eq!(lines.concat().into_iter().collect::<String>(), environment.read(FILE));
    }
}

#[test]
fn where_the_file_is() {
    let environment = Environment::new().repo();
    let uri = |folder: &str, argument: &str| {
        let log = log(&environment.fp_in(folder, &["--format", "sarif", "validate", argument]));
        let artifact = &log["runs"][0]["artifacts"][0]["location"];
        format!("{} {}", artifact["uri"].as_str().unwrap(), artifact["uriBaseId"].as_str().unwrap_or("-"))
    };
    environment.write("my plans/größe 한글 #1.md", large_leaf());
    environment.plan(&large_leaf());
    fs::write(environment.beside("out.md"), large_leaf()).unwrap();
    let encoded = "my%20plans/gr%C3%B6%C3%9Fe%20%ED%95%9C%EA%B8%80%20%231.md %SRCROOT%";
    assert_eq!(uri("", "my plans/größe 한글 #1.md"), encoded);
    assert_eq!(uri("my plans", "größe 한글 #1.md"), encoded);
    assert_eq!(uri("my plans", "../my plans/./größe 한글 #1.md"), encoded);
    assert_eq!(uri("", PLAN), format!(".fractal-planner/plans/{PLAN}/tasks.md %SRCROOT%"));
    let outside = uri("", "../out.md");
    assert!(outside.starts_with("file://[ROOT]/") && outside.ends_with("out.md -"), "{outside}");
}

#[test]
fn a_diff_and_a_verdict_have_no_sarif() {
    assert_snapshot!(validate(&clean(), &["--format", "sarif", "--diff"]), @r"
    exit status: 2
    --- stderr
    error: SARIF has findings, and neither a diff nor a verdict
    hint: use --format text or json, or leave the other flag out
    ");
    assert_eq!(validate(&clean(), &["--format", "sarif", "--gate"]).code, 2);
}
