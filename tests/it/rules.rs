//! Every rule against whole trees like a decomposer's: in `tests/fixtures/rules/RULE`, `good.md` has no
//! finding, `bad.md` has findings of this rule only, `bad.snap` has their output, and `fixed.md` the result
//! of the rule's fix, if it has one.

use std::collections::BTreeSet;

use crate::common::fixture::Fixture;
use crate::common::{Environment, Output};
use fp_plan::rules::{RULES, rule};
use insta::{assert_snapshot, with_settings};

/// The path of a fixture's tree during the check.
const TREE: &str = "tasks.md";

/// The fixture's repository with `text` as its tree.
fn place(fixture: &Fixture, text: &str) -> Environment {
    let environment = Environment::new().repo();
    fixture.lay_out(&environment.path(""));
    environment.write(TREE, text);
    environment
}

/// The rules of all findings.
fn found(output: &Output) -> Vec<String> {
    let report = output.json();
    let violations = report["violations"].as_array().unwrap();
    violations
        .iter()
        .map(|violation| violation["type"].as_str().unwrap().to_owned())
        .collect()
}

fn checked(environment: &Environment) -> Output {
    environment.fp(&["validate", TREE, "--format", "json"])
}

#[test]
fn every_rule_has_its_fixtures_and_every_fixture_its_rule() {
    let rules: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    let fixtures = Fixture::all();
    let folders: BTreeSet<&str> = fixtures
        .iter()
        .map(|fixture| fixture.rule.as_str())
        .collect();
    assert_eq!(
        folders, rules,
        "the folders of tests/fixtures/rules and the rules"
    );
    for fixture in &fixtures {
        let mut expect = BTreeSet::from(["bad.md", "bad.snap", "good.md"]);
        expect.extend(rule(&fixture.rule).unwrap().fix.map(|_| "fixed.md"));
        let files = std::fs::read_dir(&fixture.folder).unwrap();
        let names: BTreeSet<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        let facts = ["interview.json", "repo.txt"];
        let there = names
            .iter()
            .map(String::as_str)
            .filter(|name| !facts.contains(name));
        assert_eq!(
            there.collect::<BTreeSet<&str>>(),
            expect,
            "{}",
            fixture.rule
        );
    }
}

#[test]
fn nothing_is_found_in_good_trees() {
    for fixture in Fixture::all() {
        let environment = place(&fixture, &fixture.text("good.md").unwrap());
        let output = environment.fp(&["validate", TREE, "--strict"]);
        assert_eq!(output.code, 0, "{}: {output}", fixture.rule);
        assert_eq!(
            found(&checked(&environment)),
            Vec::<String>::new(),
            "{}",
            fixture.rule
        );
    }
}

#[test]
fn what_a_rule_is_for_is_found_in_bad_trees_and_nothing_else() {
    for fixture in Fixture::all() {
        let environment = place(&fixture, &fixture.text("bad.md").unwrap());
        let rules: BTreeSet<String> = found(&checked(&environment)).into_iter().collect();
        assert_eq!(
            rules,
            BTreeSet::from([fixture.rule.clone()]),
            "{}",
            fixture.rule
        );
        let shown = environment.fp(&["validate", TREE]);
        with_settings!({
            snapshot_path => &fixture.folder,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, { assert_snapshot!("bad", shown) });
    }
}

#[test]
fn fixes_give_the_expected_text() {
    let fixable = Fixture::all()
        .into_iter()
        .filter(|fixture| rule(&fixture.rule).unwrap().fix.is_some());
    for fixture in fixable {
        let environment = place(&fixture, &fixture.text("bad.md").unwrap());
        let output = environment.fp(&["validate", TREE, "--fix"]);
        assert_eq!(output.code, 0, "{}: {output}", fixture.rule);
        let text = environment.read(TREE);
        assert_eq!(text, fixture.text("fixed.md").unwrap(), "{}", fixture.rule);
        assert_eq!(
            found(&checked(&environment)),
            Vec::<String>::new(),
            "{}",
            fixture.rule
        );
    }
}
