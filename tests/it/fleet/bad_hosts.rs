//! Remotes, clones and plans that make sharing impossible: each case says what is wrong and what to do, and loses
//! nothing.

use std::fs;
use std::os::unix::fs::symlink;

use super::host::{Host, Way};
use super::http::Refusal;
use super::machine::{BRANCH, LOG, Machine, expect_a_commit_each, parts};
use super::together::fleet;
use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};

/// A clone with an approved plan that isn't shared yet.
fn approved(host: &Host) -> Machine {
    let machine = Machine::new(host, "m1");
    machine.plan(&tree(&parts(2)));
    machine.done(&["approve", PLAN, "--yes"]);
    machine
}

fn share(machine: &Machine) -> Output {
    machine.fp(&["share", PLAN, "--as", &machine.name])
}

/// Asserts that sharing is refused with this message and this hint, that nothing is on the remote, and that the local
/// plan is unchanged.
fn expect_unshared(host: &Host, machine: &Machine, said: &str, hint: &str) {
    let refused = share(machine);
    assert!(refused.code == 1 || refused.code == 2, "{refused}");
    for words in [said, hint, "hint: "] {
        assert!(
            refused.stderr.contains(words),
            "{words:?} is not in {refused}"
        );
    }
    assert_eq!((host.tip(LOG), host.tip(BRANCH)), (None, None), "{refused}");
    assert_eq!(machine.open_tasks(), 2);
    assert!(
        !machine
            .path(&format!(".fractal-planner/plans/{PLAN}/fleet.json"))
            .exists()
    );
}

#[test]
fn a_repository_without_a_remote() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.done(&["approve", PLAN, "--yes"]);
    insta::assert_snapshot!(environment.fp(&["share", PLAN]), @"
    exit status: 1
    --- stderr
    error: the repository has no remote to push to
    hint: git remote add origin URL
    ");
}

#[test]
fn hosts_that_refuse_a_push() {
    let host = Host::new(Way::Path);
    let machine = approved(&host);
    host.hook("pre-receive", "echo 'read only' >&2; exit 1");
    expect_unshared(
        &host,
        &machine,
        "the remote origin refuses",
        "pre-receive hook declined",
    );
    std::fs::remove_file(host.path("hooks/pre-receive")).unwrap();
    host.hook(
        "update",
        "case $1 in refs/fp/*) echo 'no such refs' >&2; exit 1 ;; esac",
    );
    expect_unshared(
        &host,
        &machine,
        "the remote origin refuses refs/fp/",
        "ask for the right to push",
    );
    host.hook(
        "update",
        "case $1 in refs/heads/fp/*) echo 'protected' >&2; exit 1 ;; esac",
    );
    expect_unshared(
        &host,
        &machine,
        "the remote origin refuses refs/heads/fp/",
        "ask for the right to push",
    );
}

#[test]
fn hosts_that_forbid_or_forget_who_you_are() {
    let host = Host::new(Way::Http);
    let machine = approved(&host);
    host.refuse(Refusal::Pushes);
    expect_unshared(&host, &machine, "can't be used", "credentials");
    host.refuse(Refusal::After(0));
    expect_unshared(&host, &machine, "can't be used", "credentials");
}

/// The credentials expire in the middle of a run. Finished work is pushed once they are renewed.
#[test]
fn credentials_that_expire_lose_no_work() {
    let host = Host::new(Way::Http);
    let machines = fleet(&host, 1, 4);
    for allowed in [0, 1, 3, 5] {
        let (task, token) = machines[0].take(1).unwrap();
        machines[0].hand_in(1, &task, &token);
        host.refuse(Refusal::After(allowed));
        let verdict = machines[0].pass(&task);
        if verdict.code != 0 {
            assert!(
                verdict.stderr.contains("to your credentials"),
                "after {allowed}: {verdict}"
            );
        }
        host.refuse(Refusal::None);
        for _ in 0..3 {
            machines[0].fp(&["next", PLAN]);
        }
    }
    assert_eq!(machines[0].open_tasks(), 0);
    expect_a_commit_each(&host, 4);
}

#[test]
fn a_branch_that_is_protected_later_loses_no_work() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 1);
    let (task, token) = machines[0].take(1).unwrap();
    machines[0].hand_in(1, &task, &token);
    host.hook("update", "case $1 in refs/heads/fp/*) exit 1 ;; esac");
    let verdict = machines[0].pass(&task);
    let said = format!("{verdict}{}", machines[0].fp(&["next", PLAN]));
    assert!(said.contains("refs/heads/fp/"), "{said}");
    std::fs::remove_file(host.path("hooks/update")).unwrap();
    for _ in 0..3 {
        machines[0].fp(&["next", PLAN]);
    }
    expect_a_commit_each(&host, 1);
}

#[test]
fn a_plan_is_shared_once_and_joined_once() {
    let host = Host::new(Way::Path);
    let first = Machine::new(&host, "m1");
    let hash = first.share(&parts(1));
    let again = share(&first);
    assert_eq!(again.code, 1, "{again}");
    assert!(
        again.stderr.contains("is shared already, on origin"),
        "{again}"
    );
    assert!(
        again
            .stderr
            .contains(&format!("fp join {PLAN} --remote origin --yes {hash}")),
        "{again}"
    );
    let second = Machine::new(&host, "m2");
    second.join(&hash);
    let again = second.try_join(&hash);
    assert_eq!(again.code, 1, "{again}");
    assert!(
        again.stderr.contains("takes part in") && again.stderr.contains("hint: "),
        "{again}"
    );
    // A plan of the same name, made on a machine that knows nothing of the other.
    let third = Machine::new(&host, "m3");
    third.plan(&tree(&parts(2)));
    third.done(&["approve", PLAN, "--yes"]);
    let (before, refused) = (host.tip(LOG), share(&third));
    assert_eq!(refused.code, 1, "{refused}");
    for words in [
        format!("error: origin has a plan {PLAN} already"),
        format!("git push origin :refs/fp/{PLAN}"),
    ] {
        assert!(refused.stderr.contains(&words), "{words}: {refused}");
    }
    assert_eq!(host.tip(LOG), before);
}

#[test]
fn the_plan_that_is_meant_needs_no_name() {
    let host = Host::new(Way::Path);
    let first = Machine::new(&host, "m1");
    let hash = first.share(&parts(1));
    let second = Machine::new(&host, "m2");
    second.join(&hash);
    let left = second.done(&["fleet", "--leave", PLAN]);
    assert!(left.stdout.starts_with(&format!("Left: {PLAN}")), "{left}");
    assert_eq!(second.fp(&["fleet", "--leave", PLAN]).code, 1);
}

#[test]
fn another_plan_of_the_same_id() {
    let host = Host::new(Way::Path);
    let first = Machine::new(&host, "m1");
    let hash = first.share(&parts(1));
    let other = approved(&host);
    let refused = share(&other);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains("hint: "), "{refused}");
    let refused = other.try_join(&hash);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused.stderr.contains("there is another plan"),
        "{refused}"
    );
    assert_eq!(other.open_tasks(), 2);
}

#[test]
fn another_hash_or_no_plan_at_all() {
    let host = Host::new(Way::Path);
    let first = Machine::new(&host, "m1");
    let second = Machine::new(&host, "m2");
    let nothing = second.try_join("00");
    assert!(
        nothing.code != 0 && nothing.stderr.contains("is not on origin"),
        "{nothing}"
    );
    first.share(&parts(1));
    let other = second.try_join("00");
    assert!(
        other.code == 1 && other.stderr.contains("is not the plan with that hash"),
        "{other}"
    );
    assert!(
        !second
            .path(&format!(".fractal-planner/plans/{PLAN}"))
            .exists()
    );
}

/// The log may name the hash of one tree and yet list the tasks of another.
#[test]
fn tasks_that_are_not_those_of_the_tree() {
    let host = Host::new(Way::Path);
    let first = Machine::new(&host, "m1");
    let hash = first.share(&parts(1));
    let mut before = None;
    for commit in host.git(&["rev-list", "--reverse", LOG]).lines() {
        let message = host
            .git(&["log", "-1", "--format=%B", commit])
            .replace("Write part 1", "Write part 9");
        let (tree, parent) = (
            format!("{commit}^{{tree}}"),
            before.iter().flat_map(|id: &String| ["-p", id]),
        );
        let who = [
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@y",
            "commit-tree",
            "-m",
            &message,
        ];
        let made = host.git(
            &who.into_iter()
                .chain(parent)
                .chain([&*tree])
                .collect::<Vec<_>>(),
        );
        before = Some(made.trim().to_owned());
    }
    host.git(&["update-ref", LOG, &before.unwrap()]);
    let refused = Machine::new(&host, "m2").try_join(&hash);
    assert!(
        refused.stderr.contains("on origin is not the approved one"),
        "{refused}"
    );
}

#[test]
fn links_in_a_plan_lead_nowhere() {
    let host = Host::new(Way::Path);
    let [first, second] = ["m1", "m2"].map(|name| Machine::new(&host, name));
    let hash = first.share(&parts(2));
    second.join(&hash);
    let plan = second.path(&format!(".fractal-planner/plans/{PLAN}"));
    let outside = second.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("task-1-verification.md"), "mine\n").unwrap();
    symlink(&outside, plan.join("evidence")).unwrap();
    first.step(1);
    let refused = second.fp(&["next", PLAN]);
    assert!(refused.stderr.contains("evidence"), "{refused}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(
        fs::read_to_string(outside.join("task-1-verification.md")).unwrap(),
        "mine\n"
    );
    fs::remove_file(plan.join("evidence")).unwrap();

    // Commits of other machines must not end up in the user's checkout.
    second.git(&[
        "worktree",
        "remove",
        "--force",
        &plan.join("integration").display().to_string(),
    ]);
    symlink("../../..", plan.join("integration")).unwrap();
    second.write("notes.txt", "hours of work\n");
    second.fp(&["start", PLAN, "--here", "--allow-dirty", "--session", "m2"]);
    assert_eq!(second.read("notes.txt"), "hours of work\n");
    assert_eq!(second.git(&["branch", "--show-current"]).trim(), "main");
}

#[test]
fn a_shallow_clone_takes_part() {
    let host = Host::new(Way::Daemon);
    let first = Machine::new(&host, "m1");
    for text in ["one", "two"] {
        first.write("README.md", text);
        first.git(&["commit", "--quiet", "--all", "-m", text]);
    }
    first.git(&["push", "--quiet", "origin", "main"]);
    let hash = first.share(&parts(1));
    let shallow = Machine::shallow(&host, "m2");
    shallow.join(&hash);
    assert!(shallow.step(1) != super::machine::Step::Nothing);
    expect_a_commit_each(&host, 1);
}

#[test]
fn submodules_are_an_obstacle_that_is_named() {
    let host = Host::new(Way::Path);
    let machine = approved(&host);
    machine.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &host.url(),
        "sub",
    ]);
    machine.git(&["commit", "--quiet", "-m", "Add a submodule"]);
    expect_unshared(
        &host,
        &machine,
        "a shared plan needs worktrees",
        "submodule",
    );
}

/// Where the LFS filter isn't installed, pointers are files like any other.
#[test]
fn pointers_of_large_files_stay_as_they_are() {
    let host = Host::new(Way::Path);
    let machine = Machine::new(&host, "m1");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    machine.write(
        ".gitattributes",
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    );
    machine.write("large.bin", pointer);
    machine.git(&["add", "--all"]);
    machine.git(&["commit", "--quiet", "-m", "Add a pointer"]);
    machine.git(&["push", "--quiet", "origin", "main"]);
    let hash = machine.share(&parts(1));
    let second = Machine::new(&host, "m2");
    second.join(&hash);
    second.step(1);
    assert_eq!(host.git(&["show", &format!("{BRANCH}:large.bin")]), pointer);
    expect_a_commit_each(&host, 1);
}

/// With files limited to a few blocks, the claim fails with a reason; it works once there is room.
#[test]
fn a_full_disk_in_a_fetch_is_named_and_nothing_is_half_done() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 2, 3);
    machines[0].step(1);
    let fp = env!("CARGO_BIN_EXE_fp");
    let script = format!(
        "ulimit -f 1; exec {fp} claim {PLAN} --as {}",
        machines[1].owner(1)
    );
    let full = machines[1].run("sh", &["-c", &script]);
    assert_ne!(full.code, 0, "{full}");
    assert!(full.stderr.contains("error: "), "{full}");
    assert!(machines[1].take(1).is_some());
    machines[0].done(&["next", PLAN]);
}
