//! `fp explain`: all rules, one rule, and an unknown name.

use crate::common::{Environment, Output};
use fp_plan::rules::RULES;
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr as _;

fn explain(args: &[&str]) -> Output {
    Environment::new().fp(&[&["validate", "--explain"], args].concat())
}

#[test]
fn all_rules() {
    let output = explain(&[]);
    assert_snapshot!(output);
    for rule in RULES {
        assert!(
            output.stdout.contains(&format!("{} (", rule.id)),
            "{}",
            rule.id
        );
    }
}

#[test]
fn every_page_fits_eighty_columns() {
    let pages = RULES.iter().map(|rule| explain(&[rule.id]));
    for page in pages.chain([explain(&[])]) {
        assert_eq!(page.code, 0, "{page}");
        // Examples are shown as written, however long their lines are.
        let text = page
            .stdout
            .lines()
            .filter(|line| !line.starts_with("    - "));
        assert!(text.into_iter().all(|line| line.width() <= 80), "{page}");
    }
}

#[test]
fn one_rule() {
    assert_snapshot!(explain(&["missing-guardrails"]), @r#"
    exit status: 2
    --- stderr
    error: there is no rule "missing-guardrails"
    hint: did you mean `missing-files`?
    "#);
    assert_snapshot!(explain(&["over-complexity", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "bad": "- [ID: 1] Rewrite the whole parser (Complexity: 10)",
      "finds": "A leaf whose complexity is above `maxComplexity`, or above 9 if it is the only one",
      "fix": null,
      "good": "- [ID: 1] Rewrite the number parser (Complexity: 3)",
      "id": "over-complexity",
      "schemaVersion": 1,
      "severity": "error",
      "why": "A builder works on a leaf alone, in one context and with a few attempts. What is too large for that comes back half done, or done differently than planned."
    }
    "#);
}

#[test]
fn a_name_that_is_none() {
    assert_snapshot!(explain(&["missing-hint"]), @r#"
    exit status: 2
    --- stderr
    error: there is no rule "missing-hint"
    hint: did you mean `missing-hints`?
    "#);
    for (name, meant) in [
        ("Missing_Files", "missing-files"),
        ("dependancy-cycle", "dependency-cycle"),
    ] {
        assert!(
            explain(&[name])
                .stderr
                .contains(&format!("did you mean `{meant}`?")),
            "{name}"
        );
    }
    assert_snapshot!(explain(&["zzz"]), @r#"
    exit status: 2
    --- stderr
    error: there is no rule "zzz"
    hint: `fp validate --explain` lists them all
    "#);
    assert_snapshot!(explain(&[""]), @r#"
    exit status: 2
    --- stderr
    error: there is no rule ""
    hint: `fp validate --explain` lists them all
    "#);
}

#[test]
fn the_json_has_every_rule() {
    let report = explain(&["--format", "json"]).json();
    let rules = report["rules"].as_array().unwrap();
    assert_eq!(rules.len(), RULES.len());
    let keys: Vec<&str> = rules[0]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        ["bad", "finds", "fix", "good", "id", "severity", "why"]
    );
}
