//! Content that others push, or that comes with a clone: none of it runs, is passed on, or blocks a plan permanently.

use super::host::{Host, Way};
use super::machine::{BRANCH, LOG, Machine, Step, chain, expect_a_commit_each, parts};
use super::together::fleet;
use crate::common::plan::PLAN;

fn in_plan(file: &str) -> String {
    format!(".fractal-planner/plans/{PLAN}/{file}")
}

/// Commits these files in the plan's folder of `machine`, as a stranger would, and clones the result at `name`.
fn cloned_with(host: &Host, machine: &Machine, name: &str, files: &[(&str, &str)]) -> Machine {
    for file in [
        ".fractal-planner/plans/.gitignore",
        &in_plan("lock"),
        &in_plan("execution-state.json"),
    ] {
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
    let mut part = serde_json::from_str(
        &std::fs::read_to_string(machine.path(&in_plan("fleet.json"))).unwrap(),
    )
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
        &["fleet", "--leave", PLAN],
        &["retry", PLAN, "1"],
        &["approve", PLAN, "--yes"],
        &["next", PLAN],
        &["status", PLAN],
        &["log", PLAN],
    ] {
        let output = victim.fp(args);
        assert!(!ran.exists(), "{args:?} ran the command: {output}");
        assert!(
            !output.stderr.contains("--upload-pack"),
            "{args:?}: {output}"
        );
    }
    let refused = victim.fp(&["fleet", PLAN]);
    assert!(
        refused
            .stderr
            .contains("takes no part in it\nhint: run `fp join"),
        "{refused}"
    );
    victim.join(&hash);
    assert_eq!(victim.step(1), Step::Done("1".to_owned()));
}

#[test]
fn a_part_counts_only_as_it_was_taken_on() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 1);
    let own = edited(&machines[0], |_| {});
    for (name, value) in [
        ("remote", "elsewhere"),
        ("logRef", "refs/heads/main"),
        ("machine", "m7"),
    ] {
        machines[0].write(
            &in_plan("fleet.json"),
            edited(&machines[0], |part| part[name] = value.into()),
        );
        let refused = machines[0].fp(&["next", PLAN]);
        assert!(
            refused
                .stderr
                .contains("takes no part in it\nhint: run `fp join"),
            "{name}: {refused}"
        );
        machines[0].write(&in_plan("fleet.json"), &own);
    }
    assert!(matches!(machines[0].step(1), Step::Done(_)));
}

/// If the remote doesn't exist, git would take its name for a folder's path, and a commit can contain such a folder.
#[test]
fn a_folder_with_the_name_of_the_remote_is_none() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 1);
    machines[0].git(&["clone", "--quiet", "--mirror", &host.url(), "origin"]);
    machines[0].git(&["remote", "remove", "origin"]);
    let refused = machines[0].fp(&["claim", PLAN, "--as", &machines[0].owner(1)]);
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
    victim.write(
        &in_plan("waiting.jsonl"),
        waiting.lines().next().unwrap().to_owned() + "\n",
    );
    victim.done(&["claim", PLAN, "--as", &victim.owner(1)]);
    // An entry of a kind that may wait isn't sent either if it came with the clone.
    victim.write(
        &in_plan("waiting.jsonl"),
        waiting.lines().last().unwrap().to_owned() + "\n",
    );
    victim.done(&["claim", PLAN, "--as", &victim.owner(2)]);
    let sent = host.git(&["log", "--format=%B", LOG]);
    assert!(
        !sent.contains("completed") && !sent.contains("told"),
        "{sent}"
    );
}

/// Pushes a commit with this message onto the log, as anyone with push access could.
fn push_to_log(host: &Host, message: &str) {
    let file = host.path("message");
    std::fs::write(&file, message).unwrap();
    let made = host.git(&[
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@y",
        "commit-tree",
        "-p",
        LOG,
        "-F",
        "message",
        &format!("{LOG}^{{tree}}"),
    ]);
    host.git(&["update-ref", LOG, made.trim()]);
}

/// A log entry by another machine, which adds this note.
fn note_of_another(host: &Host, kind: &str, text: &str) -> String {
    let seq = chain(host).len() + 1;
    format!(
        "fp: m9, entry 1\n\n{{\"schemaVersion\":2,\"seq\":{seq},\"at\":\"2026-11-23T08:00:00Z\",\
         \"by\":{{\"machine\":\"m9\",\"number\":1}},\"events\":[{{\"noted\":{{\"note\":{{\"kind\":\"{kind}\",\
         \"text\":\"{text}\"}}}}}}]}}\n"
    )
}

/// Asserts that nothing is accepted from the remote after `harm`, that the run continues once the remote is repaired,
/// and that a machine can leave regardless.
fn survive(said: &str, harm: impl Fn(&Host)) {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 2);
    machines[0].step(1);
    let before = host.tip(LOG).unwrap();
    harm(&host);
    let refused = machines[0].fp(&["claim", PLAN, "--as", &machines[0].owner(1)]);
    assert!(
        refused.code != 0 && refused.stderr.contains(said),
        "{said}: {refused}"
    );
    machines[0].done(&["status", PLAN]);
    host.git(&["update-ref", LOG, &before]);
    machines[0].done(&["next", PLAN]);
    assert!(machines[0].take(1).is_some(), "{said}");
    harm(&host);
    machines[0].write(&machines[0].in_worktree(1, "part-2.txt"), "half\n");
    let left = machines[0].done(&["fleet", "--leave", PLAN]);
    assert!(left.stderr.contains("by its silence"), "{said}: {left}");
    let statuses = machines[0].statuses();
    assert!(
        statuses.iter().any(|(_, status)| status == "PENDING"),
        "{said}: {statuses:?}"
    );
    assert_eq!(
        std::fs::read_dir(machines[0].path(&in_plan("unfinished")))
            .unwrap()
            .count(),
        1,
        "{said}"
    );
    assert!(!machines[0].path(&in_plan("fleet.json")).exists());
    machines[0].done(&["plans", "archive", PLAN]);
}

#[test]
fn an_entry_that_is_none_stops_nothing_for_good() {
    survive("unknown variant `nonsense`", |host| {
        push_to_log(host, &note_of_another(host, "nonsense", "x"))
    });
}

#[test]
fn a_rewound_log_stops_nothing_for_good() {
    survive("was rewound or rewritten", |host| {
        let before = host.git(&["rev-parse", &format!("{LOG}~1")]);
        host.git(&["update-ref", LOG, before.trim()]);
    });
}

#[test]
fn a_deleted_log_stops_nothing_for_good() {
    survive("is not on origin", |host| {
        drop(host.git(&["update-ref", "-d", LOG]))
    });
}

#[test]
fn entries_of_any_size_stop_nothing_for_good() {
    let large = "a".repeat(70 * 1024 * 1024);
    survive("and the log of a shared plan may have", |host| {
        push_to_log(host, &note_of_another(host, "GOTCHA", &large));
    });
}

/// A machine accepts no commit of the branch and no log entry unless it is signed by somebody whom the machine's git
/// trusts.
#[test]
fn a_signed_plan_is_built_on_nothing_that_nobody_signed() {
    let host = Host::new(Way::Path);
    let machine = Machine::new(&host, "m1");
    let key = machine.beside("key");
    let made = machine.run(
        "ssh-keygen",
        &["-q", "-t", "ed25519", "-N", "", "-f", key.to_str().unwrap()],
    );
    assert_eq!(made.code, 0, "{made}");
    let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
    let allowed = machine.beside("allowed");
    std::fs::write(&allowed, format!("x@y {public}")).unwrap();
    for (name, value) in [
        ("gpg.format", "ssh"),
        ("user.email", "x@y"),
        ("user.signingKey", key.to_str().unwrap()),
        ("gpg.ssh.allowedSignersFile", allowed.to_str().unwrap()),
    ] {
        machine.git(&["config", name, value]);
    }
    machine.done(&["config", "set", "--user", "fleet.signed", "true"]);
    machine.share(&parts(2));
    assert!(matches!(machine.step(1), Step::Done(_)));
    let before = host.tip(BRANCH).unwrap();
    let commit = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@y",
        "commit-tree",
        "-m",
        "Unsigned",
        "-p",
        BRANCH,
    ];
    let unsigned = host.git(&[&commit[..], &[&format!("{BRANCH}^{{tree}}")]].concat());
    host.git(&["update-ref", BRANCH, unsigned.trim()]);
    let refused = machine.fp(&["claim", PLAN, "--as", &machine.owner(1)]);
    let said = format!(
        "commit {} of {BRANCH}: it is not signed by somebody that git trusts",
        unsigned.trim()
    );
    assert!(
        refused.code == 2 && refused.stderr.contains(&said),
        "{refused}"
    );
    host.git(&["update-ref", BRANCH, &before]);
    // A commit of the branch is accepted if a signed entry names it or if it is signed itself.
    assert!(matches!(machine.step(1), Step::Done(_)));
    expect_a_commit_each(&host, 2);
}
