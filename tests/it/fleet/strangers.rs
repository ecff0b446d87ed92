//! What others push, and what comes with a clone: none of it runs, or is sent on.

use super::host::{Host, Way};
use super::machine::{LOG, Machine, Step, chain, parts};
use super::together::fleet;
use crate::common::plan::PLAN;

fn in_plan(file: &str) -> String {
    format!(".fractal-planner/plans/{PLAN}/{file}")
}

/// Commits the plan's folder of `machine` with these files, as a stranger would, and clones that at `name`.
fn cloned_with(host: &Host, machine: &Machine, name: &str, files: &[(&str, &str)]) -> Machine {
    for file in [".fractal-planner/plans/.gitignore", &in_plan("lock"), &in_plan("execution-state.json")] {
        drop(std::fs::remove_file(machine.path(file)));
    }
    for (file, text) in files {
        machine.write(&in_plan(file), text);
    }
    machine.git(&["add", "--force", ".fractal-planner/plans"]);
    machine.git(&["commit", "--quiet", "--message", "Add the plan"]);
    machine.git(&["push", "--quiet", "origin", "main"]);
    Machine::new(host, name)
}

fn edited(machine: &Machine, edit: impl Fn(&mut serde_json::Value)) -> String {
    let mut part =
        serde_json::from_str(&std::fs::read_to_string(machine.path(&in_plan("fleet.json"))).unwrap())
            .unwrap();
    edit(&mut part);
    part.to_string()
}

#[test]
fn a_part_that_came_with_a_clone_is_none_and_runs_nothing() {
    let host = Host::new(Way::Path);
    let machine = Machine::new(&host, "m1");
    let hash = machine.share(&parts(1));
    let ran = machine.beside("ran");
    let command = format!("--upload-pack=touch {};", ran.display());
    let part = edited(&machine, |part| part["remote"] = command.clone().into());
    let victim = cloned_with(&host, &machine, "m2", &[("fleet.json", &part)]);
    for args in [
        &["fleet", PLAN][..],
        &["cancel", PLAN],
        &["leave", PLAN],
        &["retry", PLAN, "1"],
        &["approve", PLAN, "--yes"],
        &["next", PLAN],
        &["status", PLAN],
        &["log", PLAN],
    ] {
        let output = victim.fp(args);
        assert!(!ran.exists(), "{args:?} ran the command: {output}");
        assert!(!output.stderr.contains("--upload-pack"), "{args:?}: {output}");
    }
    let refused = victim.fp(&["fleet", PLAN]);
    assert!(refused.stderr.contains("takes no part in it\nhint: run `fp join"), "{refused}");
    victim.join(&hash);
    assert_eq!(victim.step(1), Step::Done("1".to_owned()));
}

#[test]
fn a_part_counts_only_as_it_was_taken_on() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 1);
    let own = edited(&machines[0], |_| {});
    for (name, value) in
        [("branch", "main"), ("remote", "elsewhere"), ("logRef", "refs/heads/main"), ("machine", "m7")]
    {
        machines[0].write(&in_plan("fleet.json"), edited(&machines[0], |part| part[name] = value.into()));
        let refused = machines[0].fp(&["next", PLAN]);
        assert!(refused.stderr.contains("takes no part in it\nhint: run `fp join"), "{name}: {refused}");
        machines[0].write(&in_plan("fleet.json"), &own);
    }
    assert!(matches!(machines[0].step(1), Step::Done(_)));
}

/// Without the remote, git would take its name as that of a folder, which a commit can have.
#[test]
fn a_folder_with_the_name_of_the_remote_is_none() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 1);
    machines[0].git(&["clone", "--quiet", "--mirror", &host.url(), "origin"]);
    machines[0].git(&["remote", "remove", "origin"]);
    let refused = machines[0].fp(&["next", PLAN]);
    let said = "the remote origin can't be used: there is no remote \"origin\"\nhint: `git remote`";
    assert!(refused.stderr.contains(said), "{refused}");
}

#[test]
fn what_waits_in_a_clone_is_not_sent() {
    let host = Host::new(Way::Path);
    let machine = Machine::new(&host, "m1");
    let hash = machine.share(&parts(2));
    let seq = chain(&host).len() + 1;
    let waiting = format!(
        r#"{{"schemaVersion":2,"seq":{seq},"at":"2026-11-23T08:00:00Z","by":{{"machine":"m2","number":1}},"events":[{{"completed":{{"task":"1"}}}}]}}
{{"schemaVersion":2,"seq":{},"at":"2026-11-23T08:00:00Z","by":{{"machine":"m2","number":2}},"events":["told"]}}
"#,
        seq + 1
    );
    let victim = cloned_with(&host, &machine, "m2", &[("waiting.jsonl", &waiting)]);
    std::fs::remove_file(victim.path(&in_plan("fleet.json"))).unwrap();
    victim.join(&hash);
    victim.write(&in_plan("waiting.jsonl"), waiting.lines().next().unwrap().to_owned() + "\n");
    victim.done(&["claim", PLAN, "--as", &victim.owner(1)]);
    let sent = host.git(&["log", "--format=%B", LOG]);
    assert!(!sent.contains("completed") && !sent.contains("told"), "{sent}");
}
