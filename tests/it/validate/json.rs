//! `--format json`: one value, whatever the findings, with the fields that programs rely on.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::validate::{clean, large_leaf, sharing, vague, validate, with};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn the_whole_of_it() {
    assert_snapshot!(validate(&clean(), &["--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "maxComplexity": 8,
      "schemaVersion": 1,
      "stats": {
        "leafComplexityDistribution": {
          "2": 2
        },
        "maxDepth": 1
      },
      "totalLeafTasks": 2,
      "valid": true,
      "violations": []
    }
    "#);
    assert_snapshot!(validate(&sharing(), &["--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "maxComplexity": 8,
      "schemaVersion": 1,
      "stats": {
        "leafComplexityDistribution": {
          "5": 2
        },
        "maxDepth": 1
      },
      "totalLeafTasks": 2,
      "valid": true,
      "violations": [
        {
          "depth": 1,
          "description": "Write part 2",
          "detail": "`a.txt` is also changed by 1, and neither task waits for the other",
          "fix": [
            {
              "replacement": "\n  - After: 1",
              "span": {
                "end": 523,
                "start": 523
              },
              "title": "add `After: 1`, since both change a.txt"
            }
          ],
          "hint": "add `After: 1` to 2, or move the shared part to one of them",
          "id": "2",
          "parentId": "root",
          "severity": "warning",
          "span": {
            "column": 12,
            "endColumn": 17,
            "endLine": 19,
            "line": 19
          },
          "type": "file-conflict"
        }
      ]
    }
    "#);
}

#[test]
fn invalid_trees_are_one_json_value_too() {
    let long = "x".repeat(5000);
    let trees = [
        "",
        "- [1.1] Broken",
        "# Nothing\n",
        "\u{feff}- [ID: 1] A\r\n",
        &format!("- [ID: {long}] A"),
    ];
    for tree in trees {
        let output = validate(tree, &["--format", "json"]);
        assert_eq!(
            (output.code, output.stderr.as_str()),
            (1, ""),
            "{tree:?}: {output}"
        );
        let report = output.json();
        assert_eq!(
            (&report["schemaVersion"], &report["valid"]),
            (&json!(1), &json!(false))
        );
        assert_eq!(
            keys(&report),
            [
                "maxComplexity",
                "schemaVersion",
                "stats",
                "totalLeafTasks",
                "valid",
                "violations"
            ]
        );
        for violation in report["violations"].as_array().unwrap() {
            let all = [
                "depth",
                "description",
                "detail",
                "fix",
                "hint",
                "id",
                "parentId",
                "severity",
                "span",
                "type",
            ];
            let given = keys(violation);
            let needed = all.iter().filter(|key| !["fix", "hint"].contains(*key));
            assert!(given.iter().all(|key| all.contains(key)), "{violation}");
            assert!(
                needed.into_iter().all(|key| given.contains(key)),
                "{violation}"
            );
            assert_eq!(
                keys(&violation["span"]),
                ["column", "endColumn", "endLine", "line"]
            );
        }
    }
}

#[test]
fn strict_and_the_limit_are_in_it() {
    let report = |tree: &str, flags: &[&str]| {
        let output = validate(tree, &[flags, &["--format", "json"]].concat());
        let report = output.json();
        let count = report["violations"].as_array().unwrap().len();
        (
            output.code,
            report["valid"].as_bool().unwrap(),
            report["maxComplexity"].as_u64().unwrap(),
            count,
        )
    };
    assert_eq!(report(&vague(), &[]), (0, true, 8, 1));
    assert_eq!(report(&vague(), &["--strict"]), (1, false, 8, 1));
    assert_eq!(report(&large_leaf(), &[]), (1, false, 8, 1));
    assert_eq!(
        report(&large_leaf(), &["--max-complexity", "9"]),
        (0, true, 9, 0)
    );
}

#[test]
fn fixing_prints_json_alone_on_standard_output() {
    let environment = with(&sharing());
    let output = environment.fp(&[
        "validate",
        crate::validate::FILE,
        "--fix",
        "--format",
        "json",
    ]);
    assert_eq!(
        output.stderr,
        "note: 1 finding fixed in tasks.md\n  2: add `After: 1`, since both change a.txt\n"
    );
    assert_eq!(output.json()["violations"], Value::Array(Vec::new()));
}
