//! A direct plan of one task: its lead judges, and no verifier is started.

use insta::assert_snapshot;

use super::*;

fn direct(tree: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.plan(tree);
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/plan.json"),
        r#"{"mode": "direct"}"#,
    );
    environment.start(&[]);
    environment
}

#[test]
fn the_lead_is_told_to_judge() {
    let environment = direct(&tree(&[leaf("1", "none", "a.txt")]));
    environment.done(&["next", PLAN]);
    environment.build("builder-1", "a.txt", "about 1\n");
    let told = environment.fp(&["next", PLAN, "--ended", "builder-1"]);
    assert_snapshot!(told, @"
    exit status: 0
    --- stdout
    1. judge 1
         Judge task 1, iteration 1, yourself. Run `fp verify sample-20261121 1`, which may take as long as the tests do, and read the changed files that it names. A criterion passes when you have seen what shows that it holds: the code, and a test or a command's output; the builder's word is none. Else it fails, with what you saw and what was wanted. Change nothing. Record it with the line that it prints.
    ");
    assert_eq!(
        environment.fp(&["next", PLAN]).stdout,
        told.stdout,
        "until there is a verdict"
    );
    let action = &environment.fp(&["next", PLAN, "--format", "json"]).json()["actions"][0];
    assert_eq!(
        (&action["action"], &action["task"], &action["iteration"]),
        (&"judge".into(), &"1".into(), &1.into())
    );
    environment.pass("1");
    assert!(
        environment
            .fp(&["next", PLAN])
            .stdout
            .starts_with("1. finish\n")
    );
}

#[test]
fn more_than_one_task_has_verifiers() {
    let environment = direct(&chain());
    environment.done(&["next", PLAN]);
    environment.build("builder-1", "a.txt", "about 1\n");
    let told = environment
        .fp(&["next", PLAN, "--ended", "builder-1"])
        .stdout;
    assert!(told.contains("verify verifier-1-i1"), "{told}");
}
