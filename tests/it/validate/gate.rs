//! `--gate`: a one-word verdict on whether planning may continue, and the next command.

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::PLAN;
use crate::validate::{
    FILE, clean, large_leaf, unbounded, vague, validate, waits_for_itself, with,
};

fn verdict(tree: &str, flags: &[&str]) -> (String, i32) {
    let output = validate(tree, &[&["--gate"], flags].concat());
    assert_eq!(output.stderr, "", "{output}");
    (
        output
            .stdout
            .split(':')
            .next()
            .unwrap_or_default()
            .to_owned(),
        output.code,
    )
}

#[test]
fn the_text() {
    assert_snapshot!(validate(&clean(), &["--gate"]), @r"
    exit status: 0
    --- stdout
    PASS: 0 errors, 0 warnings
    next: fp show tasks.md
    ");
    assert_snapshot!(validate(&vague(), &["--gate"]), @r"
    exit status: 0
    --- stdout
    CAUTION: 0 errors, 1 warning
    next: fp show tasks.md
    ");
    assert_snapshot!(validate(&waits_for_itself(), &["--gate"]), @r"
    exit status: 1
    --- stdout
    FIX: 1 error, 0 warnings; --fix resolves every error
    next: fp validate tasks.md --fix
    ");
    assert_snapshot!(validate(&large_leaf(), &["--gate"]), @r"
    exit status: 1
    --- stdout
    BLOCK: 1 error, 0 warnings; 1 error left after --fix
    next: fp validate tasks.md
    ");
    let both = waits_for_itself().replacen("(Complexity: 2)", "(Complexity: 6)", 1);
    assert_snapshot!(validate(&both, &["--gate", "--strict", "--max-complexity", "5"]), @r"
    exit status: 1
    --- stdout
    BLOCK: 2 errors, 0 warnings; 1 error left after --fix
    next: fp validate tasks.md --fix --strict --max-complexity 5
    ");
}

#[test]
fn verdicts_and_exit_statuses() {
    let check = |tree: &str, lax: (&str, i32), strict: (&str, i32)| {
        let owned = |(word, code): (&str, i32)| (word.to_owned(), code);
        assert_eq!(verdict(tree, &[]), owned(lax), "{tree}");
        assert_eq!(verdict(tree, &["--strict"]), owned(strict), "{tree}");
    };
    check(&clean(), ("PASS", 0), ("PASS", 0));
    check(&vague(), ("CAUTION", 0), ("BLOCK", 1));
    check(&unbounded(), ("CAUTION", 0), ("FIX", 1));
    check(&waits_for_itself(), ("FIX", 1), ("FIX", 1));
    check(&large_leaf(), ("BLOCK", 1), ("BLOCK", 1));
    check("", ("BLOCK", 1), ("BLOCK", 1));
    assert_eq!(
        verdict(&large_leaf(), &["--max-complexity", "6"]),
        ("PASS".to_owned(), 0)
    );
}

#[test]
fn it_is_a_part_of_the_json() {
    let gate = |tree: &str| {
        let output = validate(tree, &["--gate", "--format", "json"]);
        serde_json::to_string(&output.json()["gate"]).unwrap()
    };
    assert_snapshot!(gate(&clean()), @r#"{"errors":0,"errorsAfterFix":0,"next":"fp show tasks.md","verdict":"PASS","warnings":0}"#);
    assert_snapshot!(gate(&large_leaf()), @r#"{"errors":1,"errorsAfterFix":1,"next":"fp validate tasks.md","verdict":"BLOCK","warnings":0}"#);
    let plain = validate(&clean(), &["--format", "json"]).json();
    assert!(plain.get("gate").is_none(), "{plain}");
}

/// The next command given with each verdict works.
#[test]
fn the_next_command_runs() {
    let environment = Environment::new().repo();
    let next = |tree: &str| {
        environment.plan(tree);
        let gate = environment
            .fp(&["validate", PLAN, "--gate", "--format", "json"])
            .json();
        let command = gate["gate"]["next"].as_str().unwrap().to_owned();
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        (command.clone(), environment.fp(&words).code)
    };
    assert_eq!(next(&clean()), (format!("fp schedule {PLAN}"), 0));
    assert_eq!(next(&vague()), (format!("fp schedule {PLAN}"), 0));
    assert_eq!(
        next(&waits_for_itself()),
        (format!("fp validate {PLAN} --fix"), 0)
    );
    assert_eq!(next(&large_leaf()), (format!("fp validate {PLAN}"), 1));
    let place = with(&large_leaf());
    place.write("it's a plan.md", large_leaf());
    let output = place.fp(&["validate", "it's a plan.md", "--gate"]);
    assert_eq!(
        output.stdout.lines().last(),
        Some(r"next: fp validate 'it'\''s a plan.md'")
    );
}

#[test]
fn a_verdict_changes_nothing() {
    let environment = with(&waits_for_itself());
    environment.fp(&["validate", FILE, "--gate"]);
    assert_eq!(environment.read(FILE), waits_for_itself());
    assert_snapshot!(environment.fp(&["validate", FILE, "--gate", "--fix"]), @r"
    exit status: 0
    --- stdout
    PASS: 0 errors, 0 warnings
    next: fp show tasks.md
    --- stderr
    note: 1 finding fixed in tasks.md
      2: remove the dependency
    ");
}
