//! Test-driven work: a task's check must fail before the work and pass after it.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

fn started(verify: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.write(".fractal-planner/config.json", r#"{"testFirst": true}"#);
    let verify = format!("  - Test Commands: none\n  - Verify: {verify}\n");
    let two = tree(&[leaf("1", "none", "a.txt"), leaf("2", "1", "b.txt")]);
    environment.plan(&two.replacen("  - Test Commands: none\n", &verify, 1));
    environment.start(&["--max-iterations", "2"]);
    environment
}

fn checked(environment: &Environment) -> String {
    let verified = environment.fp(&["verify", PLAN, "1"]).stdout;
    verified
        .lines()
        .find(|line| line.contains("test first"))
        .unwrap()
        .to_owned()
}

#[test]
fn a_check_that_fails_before_and_passes_after() {
    let environment = started("grep -q about a.txt");
    environment.build("builder-1", "a.txt", "about 1\n");
    let line = checked(&environment);
    assert!(
        line.starts_with("pass  test first: before the work: exit status 2"),
        "{line}"
    );
    assert_eq!(environment.pass("1").code, 0);
    let log = environment.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
    assert!(
        log.contains(r#""checkedBefore":{"task":"1""#),
        "both are recorded: {log}"
    );
    environment.build("builder-1", "b.txt", "about 2\n");
    let without = environment.fp(&["verify", PLAN, "2"]).stdout;
    assert!(
        without.contains("n/a   test first: the task has no Verify command"),
        "{without}"
    );
}

#[test]
fn a_check_that_passes_before_proves_nothing() {
    let environment = started("true");
    assert_snapshot!(environment.fp(&["claim", PLAN, "--as", "builder-1"]), @r"
    exit status: 1
    --- stderr
    error: the Verify command of task 1 passes before its work
    hint: end your turn: the user is asked, and you are told
    ");
    let next = environment.done(&["next", PLAN, "--format", "json"]).json();
    assert_snapshot!(next["actions"][0]["text"].as_str().unwrap(), @"The Verify command of task 1 passes before its work, so that it proves nothing. How should it continue?");
    assert_eq!(
        environment.fp(&["claim", PLAN, "--as", "builder-1"]).code,
        3
    );
    environment.done(&["answer", PLAN, "q1", "--option", "Build it"]);
    environment.build("builder-1", "a.txt", "about 1\n");
    assert_snapshot!(checked(&environment), @"note  test first: Verify passed before the work already; the user let it be built");
}

#[test]
fn there_may_be_nothing_to_do() {
    let environment = started("true");
    environment.fp(&["claim", PLAN, "--as", "builder-1"]);
    environment.done(&["answer", PLAN, "q1", "--option", "Take as done"]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
    assert_eq!(environment.claim("builder-1").unwrap().0, "2");
}

#[test]
fn unattended_it_is_built_and_said_so() {
    let environment = started("true").env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    environment.fp(&["claim", PLAN, "--as", "builder-1"]);
    environment.done(&["next", PLAN]);
    environment.build("builder-1", "a.txt", "about 1\n");
    assert!(checked(&environment).contains("a rule let it be built"));
}

/// A log may give the hash of another text for what was approved. Only the hash computed from the task itself counts.
#[test]
fn a_check_that_was_not_approved_does_not_run_before_the_work() {
    let environment = started("false");
    let [tasks, log] =
        ["tasks.md", "events.jsonl"].map(|name| format!(".fractal-planner/plans/{PLAN}/{name}"));
    let before = environment.read(&tasks);
    let after = before.replace("Verify: false", "Verify: touch ran");
    let hash = |text: &str| fp_run::run::approval::hash(text.as_bytes());
    environment.write(&tasks, &after);
    environment.write(
        &log,
        environment
            .read(&log)
            .replace(&hash(&before), &hash(&after)),
    );
    environment.own_log(PLAN);
    let refused = environment.fp(&["claim", PLAN, "--as", "builder-1"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains("task 1 was edited"), "{refused}");
    assert!(!environment.path("ran").exists());
}
