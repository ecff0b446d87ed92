//! Commits that change the basis on which a waiting task was planned.

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

/// Task 2 depends on 1, and 3 refers to a file that no task lists.
fn started() -> Environment {
    let environment = Environment::new().repo();
    let tree = tree(&[leaf("1", "none", "a.txt"), leaf("2", "1", "a.txt"), leaf("3", "none", "c.txt")])
        .replace(
            "  - Files: c.txt",
            "  - References: docs/guide.md:3 - how parts are written\n  - Files: c.txt",
        );
    environment.write("docs/guide.md", "one\ntwo\nthree\n");
    environment.git(&["add", "docs"]);
    environment.git(&["commit", "-qm", "Add a guide"]);
    environment.plan(&tree);
    environment.start(&["--max-iterations", "2"]);
    environment
}

fn commit(environment: &Environment, file: &str, subject: &str) {
    environment.write(file, subject);
    environment.git(&["add", file]);
    environment.git(&["commit", "-qm", subject]);
}

fn next(environment: &Environment) -> Vec<serde_json::Value> {
    environment.done(&["next", PLAN, "--format", "json"]).json()["actions"].as_array().unwrap().clone()
}

fn asked(environment: &Environment) -> Option<String> {
    let actions = next(environment);
    let ask = actions.iter().find(|action| action["action"] == "ask")?;
    Some(ask["text"].as_str().unwrap().to_owned())
}

#[test]
fn exactly_the_tasks_concerned_are_asked_about() {
    let environment = started();
    assert_eq!(asked(&environment), None);
    commit(&environment, "docs/guide.md", "Rewrite the guide");
    commit(&environment, "docs/other.md", "Add another page");
    let text = asked(&environment).unwrap();
    let text = regex::Regex::new("[0-9a-f]{7,}").unwrap().replace_all(&text, "[hash]").into_owned();
    assert_snapshot!(text, @r#"What a task was planned on has changed since the approval: task 3: docs/guide.md changed by [hash] "Rewrite the guide". Do the tasks still fit?"#);
    assert_eq!(environment.fp(&["claim", PLAN, "3", "--as", "builder-2"]).code, 1, "it waits for the answer");
    assert_eq!(environment.claim("builder-1").unwrap().0, "1", "the others go on");
    environment.done(&["answer", PLAN, "q1", "--option", "Keep"]);
    assert_eq!(environment.claim("builder-2").unwrap().0, "3");
    assert_eq!(asked(&environment), None, "it is asked once");
}

#[test]
fn what_a_task_makes_for_those_that_wait_for_it_is_no_drift() {
    let environment = started();
    next(&environment);
    let task = environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass(&task);
    assert_eq!(asked(&environment), None);
    assert_eq!(environment.claim("builder-1").unwrap().0, "2");
}

#[test]
fn what_a_person_does_to_a_file_of_a_waiting_task_is_drift_once_the_task_is_due() {
    let environment = started();
    commit(&environment, "a.txt", "Write a part by hand");
    assert!(asked(&environment).unwrap().contains("task 1: a.txt changed by"));
    environment.done(&["answer", PLAN, "q1", "--option", "Keep"]);
    let task = environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass(&task);
    assert!(
        asked(&environment).unwrap().contains("task 2: a.txt changed by"),
        "asked when it is due, not before"
    );
}

#[test]
fn a_task_to_be_revised_waits_for_a_new_approval() {
    let environment = started();
    commit(&environment, "docs/guide.md", "Rewrite the guide");
    next(&environment);
    environment.done(&["answer", PLAN, "q1", "--option", "Revise"]);
    let why = environment.fp(&["claim", PLAN, "3", "--as", "builder-2"]).stderr;
    assert!(why.contains(&format!("or revise it and run `fp approve {PLAN}`")), "{why}");
    let path = format!(".fractal-planner/plans/{PLAN}/tasks.md");
    let revised = environment.read(&path).replace("has a line about 3", "has two lines about 3");
    environment.write(&path, revised);
    environment.done(&["approve", PLAN, "--yes"]);
    assert_eq!(asked(&environment), None);
    environment.done(&["claim", PLAN, "3", "--as", "builder-2"]);
}

#[test]
fn unattended_the_tasks_stay_as_they_are() {
    let environment = started().env("CLAUDE_CODE_SESSION_ATTENDED", "0");
    commit(&environment, "docs/guide.md", "Rewrite the guide");
    assert_eq!(asked(&environment), None);
    environment.done(&["claim", PLAN, "3", "--as", "builder-2"]);
}

#[test]
fn a_history_that_was_rewritten_stops_nobody() {
    let environment = started();
    environment.git(&["commit", "-q", "--amend", "-m", "Another guide"]);
    environment.git(&["reflog", "expire", "--expire=now", "--all"]);
    environment.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(asked(&environment), None);
    assert_eq!(environment.claim("builder-1").unwrap().0, "1");
}
