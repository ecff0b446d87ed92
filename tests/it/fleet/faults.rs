//! Failures between machines and the remote, and between machines: nothing is lost and nothing happens twice.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::host::{Host, Way};
use super::machine::{
    BRANCH, LOG, Machine, chain, expect_a_commit_each, expect_all_done_once, parts,
};
use super::proxy::{Fault, Of};
use super::together::fleet;
use crate::common::Output;
use crate::common::plan::PLAN;
use crate::common::program::write_program;

impl Machine {
    /// Runs a command again until it succeeds. Each failure must come with a hint.
    fn insist(&self, args: &[&str]) -> Output {
        for _ in 0..6 {
            let output = self.fp(args);
            if output.code == 0 {
                return output;
            }
            assert!(output.stderr.contains("hint: "), "{args:?}: {output}");
        }
        panic!("{args:?} never succeeds");
    }

    fn insist_on_a_claim(&self) -> (String, String) {
        let claim = self
            .insist(&["claim", PLAN, "--as", &self.owner(1), "--format", "json"])
            .json();
        let text = |name: &str| claim[name].as_str().unwrap().to_owned();
        (text("task"), text("claim"))
    }

    /// Passes a task, then runs `fp next` until the task is done: the verdict command may fail although the task
    /// passed.
    fn insist_on_passing(&self, task: &str) {
        self.pass(task);
        for _ in 0..6 {
            let statuses = self.statuses();
            let (_, status) = statuses.iter().find(|(id, _)| id == task).unwrap();
            match &**status {
                "COMPLETED" => return,
                "AWAITING_VERIFICATION" => drop(self.fp(&["next", PLAN])),
                other => panic!("task {task} is {other}"),
            }
        }
        panic!(
            "task {task} is never done: {}",
            self.done(&["status", PLAN])
        );
    }

    /// Does one task, calling `before` right before its claim and again right before its completion.
    fn insist_on_a_task(&self, before: impl Fn()) {
        before();
        let (task, token) = self.insist_on_a_claim();
        self.hand_in(1, &task, &token);
        before();
        self.insist_on_passing(&task);
    }
}

/// Applies each fault to the push of a claim and then to the push of a completion.
fn through_faults(way: Way, faults: &[Fault]) {
    let host = Host::behind_proxy(way);
    let machines = fleet(&host, 1, faults.len());
    for fault in faults {
        machines[0].insist_on_a_task(|| {
            assert_eq!(host.proxy().left(), 0, "{way:?}: {fault:?} met no push");
            host.next(Of::Pushes, *fault);
        });
    }
    assert_eq!(host.proxy().left(), 0, "{way:?}: a fault met no push");
    expect_all_done_once(&host, faults.len());
}

#[test]
fn pushes_by_git_daemon_survive_the_faults_of_a_network() {
    let delay = Fault::Delay(std::time::Duration::from_millis(50));
    let cuts = [
        Fault::Refuse,
        Fault::CutRequest(100),
        Fault::CutRequest(500),
        Fault::CutAnswer(20),
    ];
    through_faults(
        Way::Daemon,
        &[&cuts[..], &[Fault::Deafen, Fault::Replay, delay]].concat(),
    );
}

#[test]
fn pushes_by_http_survive_an_answer_that_never_comes() {
    through_faults(Way::Http, &[Fault::Deafen, Fault::CutAnswer(400)]);
}

/// If a command is killed just before or after one of the git calls of an exchange, running the same command again
/// picks up where it stopped.
#[test]
fn a_machine_killed_around_its_exchanges_goes_on() {
    let host = Host::new(Way::Path);
    let first = Machine::new(&host, "m1");
    let bin = first.beside("bin");
    let count = first.beside("count");
    let real = std::env::var_os("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\nPATH={path}\ncase \" $* \" in\n*' push '*|*' fetch '*|*' commit-tree '*)\n  \
         n=$(($(cat {count}) - 1)); echo $n >{count}\n  [ $n = 0 ] && kill -9 $PPID && exit\n  \
         git \"$@\"; s=$?\n  n=$(($(cat {count}) - 1)); echo $n >{count}\n  \
         [ $n = 0 ] && kill -9 $PPID\n  exit $s ;;\nesac\nexec git \"$@\"\n",
        path = shell(&real.to_string_lossy()),
        count = count.display(),
    );
    std::fs::write(&count, "-1").unwrap();
    write_program(&bin.join("git"), script);
    let path =
        std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&real))).unwrap();
    let first = first.with("PATH", path.to_str().unwrap());
    let tasks = 8;
    first.share(&parts(tasks));
    let kill_in = |calls: u32| std::fs::write(&count, calls.to_string()).unwrap();
    let killed = std::cell::Cell::new(0);
    let survive = || {
        let left = std::fs::read_to_string(&count).unwrap();
        killed.set(killed.get() + u32::from(left.trim() == "0"));
        kill_in(0);
    };
    for calls in 1..=u32::try_from(tasks).unwrap() {
        kill_in(calls);
        first.fp(&["claim", PLAN, "--as", &first.owner(1)]);
        survive();
        let (task, token) = first.insist_on_a_claim();
        first.hand_in(1, &task, &token);
        kill_in(calls);
        first.pass(&task);
        survive();
        first.insist_on_passing(&task);
    }
    assert!(
        killed.get() > 8,
        "only {} commands were killed",
        killed.get()
    );
    expect_all_done_once(&host, tasks);
}

fn shell(text: &str) -> String {
    format!("'{text}'")
}

/// The server dies before or after the refs have moved; either way the task is completed exactly once.
#[test]
fn a_server_killed_in_a_push_costs_a_retry() {
    let host = Host::new(Way::Daemon);
    let machines = fleet(&host, 1, 3);
    for hook in ["pre-receive", "update", "post-receive"] {
        // Kills only once per removal of the marker file: in the claim, then in the completion.
        host.hook(hook, "test -e killed || { touch killed; kill -9 0; }");
        std::fs::write(host.path("killed"), "").unwrap();
        machines[0].insist_on_a_task(|| {
            assert!(host.path("killed").exists(), "{hook} met no push");
            std::fs::remove_file(host.path("killed")).unwrap();
        });
        assert!(host.path("killed").exists(), "{hook} met no push");
        std::fs::remove_file(host.path("hooks").join(hook)).unwrap();
    }
    expect_all_done_once(&host, 3);
}

/// Two builders of one machine, and another machine: the branch never loses a commit that was on it.
#[test]
fn the_branch_only_ever_grows() {
    let host = Host::new(Way::Path);
    host.git(&["config", "receive.denyNonFastForwards", "true"]);
    let machines = fleet(&host, 2, 6);
    std::thread::scope(|scope| {
        for (machine, builder) in [(0, 1), (0, 2), (1, 1)] {
            let machine = &machines[machine];
            scope.spawn(move || machine.work(builder, Duration::ZERO));
        }
    });
    expect_a_commit_each(&host, 6);
}

/// A commit whose hooks run while another machine writes to the log is pushed as it is, not remade.
#[test]
fn a_claim_during_a_commit_costs_no_second_commit() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 2, 2);
    let (task, token) = machines[0].take(1).unwrap();
    machines[0].hand_in(1, &task, &token);
    let [runs, go] = ["runs", "go"].map(|name| machines[0].beside(name));
    let wait = format!(
        "echo x >>'{}'; until [ -e '{}' ]; do sleep 0.02; done",
        runs.display(),
        go.display()
    );
    machines[0].git_hook("pre-commit", &wait);
    std::thread::scope(|scope| {
        let verdict = scope.spawn(|| machines[0].pass(&task));
        while !runs.exists() {
            assert!(!verdict.is_finished(), "the commit never began");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(machines[1].take(1).is_some());
        std::fs::write(&go, "").unwrap();
        let verdict = verdict.join().unwrap();
        assert!(verdict.stdout.contains("passed: commit"), "{verdict}");
    });
    assert_eq!(
        std::fs::read_to_string(&runs).unwrap(),
        "x\n",
        "the commit was made anew"
    );
}

#[test]
fn what_one_machine_asks_is_answered_on_another() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 2, 2);
    let (task, _) = machines[0].take(1).unwrap();
    let options = ["--option", "Yes", "--option", "No"];
    let owner = machines[0].owner(1);
    let asks = [
        "clarify",
        PLAN,
        &task,
        "--as",
        &owner,
        "--question",
        "May it?",
    ];
    machines[0].done(&[&asks[..], &options].concat());
    let answer = machines[1].done(&["answer", PLAN, "q1", "--option", "Yes"]);
    assert!(answer.stdout.starts_with("Recorded\n"), "{answer}");
}

#[test]
fn a_rewound_log_stops_everything() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 3);
    machines[0].step(1);
    let before = host
        .git(&["rev-parse", &format!("{LOG}~1")])
        .trim()
        .to_owned();
    host.git(&["update-ref", LOG, &before]);
    let refused = machines[0].fp(&["claim", PLAN, "--as", &machines[0].owner(1)]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused
            .stderr
            .contains(&format!("{LOG} on origin does not go on from")),
        "{refused}"
    );
    assert_eq!(host.tip(LOG).unwrap(), before);
}

#[test]
fn a_rewritten_branch_stops_everything() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 3);
    machines[0].step(1);
    host.git(&["update-ref", BRANCH, "main"]);
    let refused = machines[0].fp(&["claim", PLAN, "--as", &machines[0].owner(1)]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(
        refused
            .stderr
            .contains(&format!("{BRANCH} on origin does not go on from")),
        "{refused}"
    );
    assert_eq!(host.tip(BRANCH), host.tip("refs/heads/main"));
}

#[test]
fn an_older_fp_says_that_a_newer_one_has_written() {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, 1, 2);
    let last = chain(&host).pop().unwrap();
    let mut newer = last.clone();
    newer["schemaVersion"] = 99.into();
    newer["seq"] = (last["seq"].as_u64().unwrap() + 1).into();
    let message = format!("fp: m9, entry 9\n\n{newer}\n");
    let commit = host.git(&[
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@y",
        "commit-tree",
        "-p",
        LOG,
        "-m",
        &message,
        &format!("{LOG}^{{tree}}"),
    ]);
    host.git(&["update-ref", LOG, commit.trim()]);
    let refused = machines[0].fp(&["claim", PLAN, "--as", &machines[0].owner(1)]);
    assert_ne!(refused.code, 0);
    assert!(
        refused
            .stderr
            .contains("was written by a newer fp (log version 99"),
        "{refused}"
    );
    assert!(refused.stderr.contains("hint: update fp"), "{refused}");
}

fn in_minutes(minutes: i64) -> String {
    (Timestamp::now() + SignedDuration::from_mins(minutes)).to_string()
}

/// Machine `m2` has heard nothing of `m1` for longer than the lease, by its own clock.
#[test]
fn the_task_of_a_dead_machine_is_taken_back_and_its_token_fences() {
    let host = Host::new(Way::Path);
    let mut machines = fleet(&host, 2, 1);
    let (task, token) = machines[0].take(1).unwrap();
    machines[1].done(&["next", PLAN]);
    assert!(machines[1].take(1).is_none());
    let later = machines.pop().unwrap().with("FP_NOW", &in_minutes(20));
    later.done(&["next", PLAN]);
    let (again, its) = later.take(1).expect("the task is free");
    assert_eq!(again, task);
    // The dead machine comes back: its work is kept, but its submission is refused.
    let file = machines[0].in_worktree(1, "part-1.txt");
    machines[0].write(&file, "about 1, by the dead\n");
    machines[0].fp(&["next", PLAN]);
    let late = machines[0].fp(&["submit", PLAN, &task, "--claim", &token]);
    assert_eq!(late.code, 1, "{late}");
    let kept = machines[0].path(&format!(".fractal-planner/plans/{PLAN}/unfinished"));
    let kept = std::fs::read_dir(kept)
        .map(|found| found.count())
        .unwrap_or_default();
    assert_eq!(kept, 1, "what the dead machine had built is not kept");
    later.hand_in(1, &task, &its);
    later.pass(&task);
    expect_a_commit_each(&host, 1);
}

#[test]
fn clocks_a_day_apart_take_no_task_away() {
    let host = Host::new(Way::Path);
    let first = Machine::new(&host, "m1");
    let hash = first.share(&parts(2));
    let ahead = Machine::new(&host, "m2").with("FP_NOW", &in_minutes(24 * 60));
    ahead.join(&hash);
    let behind = Machine::new(&host, "m3").with("FP_NOW", &in_minutes(-24 * 60));
    behind.join(&hash);
    let held = first.take(1).unwrap();
    for other in [&ahead, &behind] {
        other.done(&["next", PLAN]);
    }
    assert_eq!(first.open_tasks(), 2);
    first.hand_in(1, &held.0, &held.1);
    first.pass(&held.0);
    assert!(ahead.take(1).is_some(), "one is free");
    assert!(behind.take(1).is_none(), "both are held");
}

/// A machine that is cut off finishes the tasks it holds and starts nothing new; its work is pushed later.
#[test]
fn a_machine_that_is_cut_off_keeps_its_work() {
    let host = Host::behind_proxy(Way::Daemon);
    let machines = fleet(&host, 1, 2);
    let (task, token) = machines[0].take(1).unwrap();
    for _ in 0..12 {
        host.next(Of::Any, Fault::Refuse);
    }
    machines[0].hand_in(1, &task, &token);
    let verdict = machines[0].pass(&task);
    assert!(
        verdict.stderr.contains("hint: ") || verdict.code == 0,
        "{verdict}"
    );
    let next = machines[0].fp(&["next", PLAN]);
    assert!(!next.stdout.contains("spawn"), "{next}");
    assert!(next.stderr.contains("origin can't be used"), "{next}");
    while host.proxy().left() > 0 {
        machines[0].fp(&["fleet", PLAN]);
    }
    for _ in 0..3 {
        machines[0].fp(&["next", PLAN]);
    }
    assert_eq!(machines[0].open_tasks(), 1);
}
