//! Anyone who can push may write anything into the log. Nothing runs that this machine's user hasn't approved.

use serde_json::{Value, json};

use super::host::{Host, Way};
use super::machine::{BRANCH, LOG, Machine, chain, parts};
use super::proxy::{Fault, Of};
use super::together::fleet;
use crate::common::plan::{Leaf, PLAN};

/// Adds entries with these events to the log on the host, in one commit, as the machine `name`.
fn push_as(name: &str, host: &Host, entries: &[Value]) {
    let log = chain(host);
    let last = log.last().unwrap();
    let known = log
        .iter()
        .filter(|entry| entry["by"]["machine"] == name)
        .count();
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
    let mut events = entries
        .iter()
        .flat_map(|entry| entry["events"].as_array().unwrap());
    events
        .rfind(|event| event.get(kind).is_some())
        .unwrap()
        .clone()
}

/// Another machine's approval runs nothing here, whichever command fetches it.
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
        let (ran, file) = (
            first.beside("ran"),
            format!(".fractal-planner/plans/{PLAN}/tasks.md"),
        );
        // The last task, which nobody has claimed.
        let tree = second.read(&file);
        let (tasks, rest) = tree.rsplit_once("Test Commands: none").unwrap();
        second.write(
            &file,
            format!("{tasks}Test Commands: touch {}{rest}", ran.display()),
        );
        second.done(&["approve", PLAN, "--yes"]);
        let branch = host.tip(BRANCH);
        let refused = first.fp(words);
        assert_eq!(refused.code, 1, "{words:?}: {refused}");
        let said = format!("{PLAN} was approved elsewhere");
        assert!(
            refused.stderr.contains(&said) && refused.stderr.contains("hint: "),
            "{words:?}: {refused}"
        );
        assert!(
            !ran.exists(),
            "{words:?} ran a command that was approved elsewhere"
        );
        let claimed = first
            .statuses()
            .iter()
            .filter(|(_, status)| status == "IMPLEMENTING")
            .count();
        assert_eq!(
            (claimed, host.tip(BRANCH)),
            (0, branch),
            "{words:?} went on: {refused}"
        );
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
    assert!(
        refused.stderr.contains("was approved elsewhere"),
        "{refused}"
    );
    assert!(!ran.exists(), "{refused}");
}

/// A task belongs to the machine that claimed it: no other machine may submit it, judge it, complete it or extend its
/// scope.
#[test]
fn what_others_say_of_a_task_that_this_machine_has_counts_for_nothing() {
    let host = Host::new(Way::Path);
    let machine = Machine::new(&host, "m1");
    machine.share(&[Leaf {
        test: "grep -q right part-1.txt",
        ..parts(1)[0]
    }]);
    let (task, token) = machine.take(1).unwrap();
    let file = machine.in_worktree(1, "part-1.txt");
    machine.write(&file, "half done\n");
    let branch = host.tip(BRANCH);
    let tree = host.git(&["rev-parse", "main^{tree}"]);
    let tree = tree.trim();
    let files = json!([{ "path": "part-1.txt", "status": "added", "kind": "file" }]);
    let (submitted, verified, judged) = (
        json!({ "submitted": { "task": task, "owner": machine.owner(1), "tree": tree, "files": files } }),
        json!({ "verified": { "task": task, "iteration": 1, "tree": tree, "files": files, "checks": [] } }),
        json!({ "judged": { "task": task, "iteration": 1, "pass": true, "judgements": [], "summary": "ok" } }),
    );
    let dropped = json!({ "checksDropped": { "task": task, "commands": ["grep -q right part-1.txt"], "by": "user" } });
    let widened = json!({ "scopeExtended": { "task": task, "path": "ci.yml", "reason": "so", "by": "user" } });
    push_as(
        "stranger",
        &host,
        &[joined(), json!([submitted, verified, judged])],
    );
    machine.done(&["next", PLAN]);
    assert_eq!(
        (machine.statuses()[0].1.as_str(), host.tip(BRANCH)),
        ("IMPLEMENTING", branch)
    );
    push_as(
        "stranger",
        &host,
        &[
            json!([{ "completed": { "task": task } }]),
            json!([dropped, widened]),
        ],
    );
    machine.done(&["next", PLAN]);
    assert_eq!(
        (machine.statuses()[0].1.as_str(), &*machine.read(&file)),
        ("IMPLEMENTING", "half done\n")
    );
    machine.write(&machine.in_worktree(1, "ci.yml"), "on: push\n");
    let outside = machine.fp(&["submit", PLAN, &task, "--claim", &token]);
    assert!(
        outside
            .stderr
            .contains("ci.yml is new, is not in the task's files"),
        "{outside}"
    );
    std::fs::remove_file(machine.path(&machine.in_worktree(1, "ci.yml"))).unwrap();
    machine.hand_in(1, &task, &token);
    let checks = machine.fp(&["verify", PLAN, &task]).stdout;
    assert!(
        checks
            .lines()
            .any(|line| line.starts_with("FAIL") && line.contains("grep -q right")),
        "{checks}"
    );
}

/// If the response to a push was lost, the host may already have this machine's entries. Entries that others have added
/// under this machine's name don't count as its own.
#[test]
fn the_name_of_this_machine_counts_in_its_own_commits_only() {
    let host = Host::behind_proxy(Way::Daemon);
    let machine = Machine::new(&host, "m1");
    machine.share(&parts(2));
    host.next(Of::Pushes, Fault::Deafen);
    let unheard = machine.fp(&["claim", PLAN, "--as", &machine.owner(1)]);
    assert_ne!(unheard.code, 0, "{unheard}");
    assert!(last_event(&host, "claimed")["claimed"].is_object());
    push_as("m1", &host, &[json!([{ "completed": { "task": "2" } }])]);
    let refused = machine.fp(&["next", PLAN]);
    assert_ne!(refused.code, 0, "{refused}");
    assert!(
        refused.stderr.contains("another clone writes as m1"),
        "{refused}"
    );
    assert_eq!(machine.statuses()[1].1, "PENDING");
}
