//! Somebody who may push writes into the log what they like. Nothing runs that this machine's user has not approved.

use serde_json::{Value, json};

use super::host::{Host, Way};
use super::machine::{BRANCH, LOG, Machine, chain, parts};
use super::together::fleet;
use crate::common::plan::PLAN;

/// Adds entries with these events to the log on the host, in one commit, as the machine `name`.
fn push_as(name: &str, host: &Host, entries: &[Value]) {
    let log = chain(host);
    let last = log.last().unwrap();
    let known = log.iter().filter(|entry| entry["by"]["machine"] == name).count();
    let mut message = String::from("fp: an entry\n\n");
    for (number, events) in (1..).zip(entries) {
        let entry = json!({
            "schemaVersion": 2, "seq": last["seq"].as_u64().unwrap() + number, "at": last["at"],
            "by": { "machine": name, "number": known as u64 + number }, "events": events,
        });
        message += &format!("{entry}\n");
    }
    let tree = format!("{LOG}^{{tree}}");
    let commit = host.git(&["commit-tree", &tree, "-p", LOG, "-m", &message]);
    host.git(&["update-ref", LOG, commit.trim()]);
}

fn joined() -> Value {
    json!([{ "joined": { "head": "h" } }])
}

/// The last event of this kind in the log.
fn last_event(host: &Host, kind: &str) -> Value {
    let entries = chain(host);
    let mut events = entries.iter().flat_map(|entry| entry["events"].as_array().unwrap());
    events.rfind(|event| event.get(kind).is_some()).unwrap().clone()
}

/// What another machine approves runs nowhere else, whichever command brings it here.
#[test]
fn another_machines_approval_runs_no_command_here() {
    let claim = ["claim", PLAN, "--as", "m1-builder-2"];
    let start = ["start", PLAN, "--here", "--session", "m1"];
    let verdict = ["verdict", PLAN, "1", "--pass", "1: seen"];
    for words in [&["next", PLAN][..], &claim, &start, &verdict] {
        let host = Host::new(Way::Path);
        let machines = fleet(&host, 2, 3);
        let (first, second) = (&machines[0], &machines[1]);
        let (task, token) = first.take(1).unwrap();
        first.hand_in(1, &task, &token);
        let (ran, file) = (first.beside("ran"), format!(".fractal-planner/plans/{PLAN}/tasks.md"));
        // The last task, which nobody has.
        let tree = second.read(&file);
        let (tasks, rest) = tree.rsplit_once("Test Commands: none").unwrap();
        second.write(&file, format!("{tasks}Test Commands: touch {}{rest}", ran.display()));
        second.done(&["approve", PLAN, "--yes"]);
        let branch = host.tip(BRANCH);
        let refused = first.fp(words);
        assert_eq!(refused.code, 1, "{words:?}: {refused}");
        let said = format!("{PLAN} was approved elsewhere");
        assert!(refused.stderr.contains(&said) && refused.stderr.contains("hint: "), "{words:?}: {refused}");
        assert!(!ran.exists(), "{words:?} ran a command that was approved elsewhere");
        let claimed = first.statuses().iter().filter(|(_, status)| status == "IMPLEMENTING").count();
        assert_eq!((claimed, host.tip(BRANCH)), (0, branch), "{words:?} went on: {refused}");
        assert_eq!(refused.stdout, "", "{words:?}");
    }
}

#[test]
fn commands_for_the_end_that_came_with_the_log_do_not_run() {
    let host = Host::new(Way::Path);
    let machine = Machine::new(&host, "m1");
    machine.share(&parts(1));
    machine.step(1);
    let ran = machine.beside("ran");
    let mut approved = last_event(&host, "approved");
    approved["approved"]["endCommands"] = json!([format!("touch {}", ran.display())]);
    push_as("stranger", &host, &[joined(), json!([approved])]);
    let refused = machine.next(&[]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains("was approved elsewhere"), "{refused}");
    assert!(!ran.exists(), "{refused}");
}
