//! Secrets stay on the machine that has them, and text that only looks like one isn't lost.

use super::host::{Host, Way};
use super::machine::{LOG, Machine, parts};
use super::together::fleet;
use crate::common::plan::{PLAN, leaf, tree};

const BEGIN: &str = "-----BEGIN RSA PRIVATE KEY-----";
const END: &str = "-----END RSA PRIVATE KEY-----";

#[test]
fn a_question_with_halves_of_a_key_stays_readable_everywhere() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 2, 2);
    let (task, _) = machines[0].take(1).unwrap();
    let (owner, question) = (machines[0].owner(1), format!("Is {BEGIN} a header?"));
    let option = format!("A {END}|yes");
    let options = [
        "--question",
        &question,
        "--option",
        &option,
        "--option",
        "B|no",
    ];
    machines[0].done(&[&["clarify", PLAN, &task, "--as", &owner][..], &options].concat());
    for machine in &machines {
        machine.done(&["fleet", PLAN]);
        let asked = machine.entries().pop().unwrap()["events"][0]["asked"]["question"].clone();
        assert_eq!(
            asked["text"],
            format!("Task {task}: {question}"),
            "{}",
            machine.name
        );
        assert_eq!(
            asked["options"][0]["label"],
            format!("A {END}"),
            "{}",
            machine.name
        );
    }
}

#[test]
fn a_verdict_that_looks_like_a_url_across_its_fields_is_kept() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 1);
    let (task, token) = machines[0].take(1).unwrap();
    machines[0].hand_in(1, &task, &token);
    machines[0].done(&["next", PLAN]);
    machines[0].done(&["verify", PLAN, &task]);
    let fails = [
        "--iteration",
        "1",
        "--fail",
        "1: see http://localhost:3000",
        "--summary",
        "root@db",
    ];
    machines[0].fp(&[&["verdict", PLAN, &task][..], &fails].concat());
    let payload = machines[0]
        .done(&["claim", PLAN, "--as", &machines[0].owner(1)])
        .stdout;
    assert!(
        payload.contains("see http://localhost:3000") && payload.contains("iteration 2"),
        "{payload}"
    );
}

#[test]
fn a_line_that_waits_and_can_not_be_read_is_an_error() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 2);
    machines[0].done(&["note", PLAN, "add", "GOTCHA: one"]);
    let waiting = format!(".fractal-planner/plans/{PLAN}/waiting.jsonl");
    let text = std::fs::read_to_string(machines[0].path(&waiting)).unwrap();
    machines[0].write(&waiting, format!("{text}{{\"schemaVersion\":2}}\n"));
    let refused = machines[0].fp(&["status", PLAN]);
    assert_eq!(refused.code, 2, "{refused}");
    let line = text.lines().count() + 1;
    assert!(
        refused
            .stderr
            .contains(&format!("waiting.jsonl:{line}: not an entry")),
        "{refused}"
    );
}

#[test]
fn a_tree_with_a_secret_is_not_shared() {
    let host = Host::new(Way::Path);
    let machine = Machine::new(&host, "m1");
    let text = tree(&[leaf("1", "none", "part-1.txt")]);
    let command = "Test Commands: curl -f http://dev:devpw@localhost:3000/";
    let text = text.replacen("Test Commands: ", &format!("{command} || "), 1);
    machine.plan(&text);
    machine.done(&["approve", PLAN, "--yes"]);
    let line = text
        .lines()
        .position(|line| line.contains(command))
        .unwrap()
        + 1;
    let refused = machine.fp(&["share", PLAN, "--as", "m1"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused
            .stderr
            .contains(&format!("tasks.md:{line} has what looks like a secret")),
        "{refused}"
    );
    assert!(
        refused
            .stderr
            .contains("hint: take it out: a command can read it from"),
        "{refused}"
    );
    assert_eq!(host.tip(LOG), None);
}

#[test]
fn notes_with_the_halves_of_a_key_are_all_shared() {
    let host = Host::new(Way::Path);
    let (first, second) = (Machine::new(&host, "m1"), Machine::new(&host, "m2"));
    first.plan(&tree(&parts(1)));
    first.done(&["approve", PLAN, "--yes"]);
    for note in [
        format!("GOTCHA: {BEGIN}"),
        "GOTCHA: between".to_owned(),
        format!("GOTCHA: {END}"),
    ] {
        first.done(&["note", PLAN, "add", &note]);
    }
    let shared = first
        .done(&["share", PLAN, "--as", "m1", "--format", "json"])
        .json();
    second.join(shared["hash"].as_str().unwrap());
    let notes = second.done(&["note", PLAN, "list"]).stdout;
    assert!(
        [BEGIN, "between", END]
            .iter()
            .all(|text| notes.contains(text)),
        "{notes}"
    );
}
