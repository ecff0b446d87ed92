//! Checks with git's own pushes that the hosts and the proxy behave the way the tests of `fp` expect.

use std::time::{Duration, Instant};

use super::host::{Host, WAYS, Way, wait_for};
use super::http::Refusal;
use super::proxy::{Fault, Of};
use crate::common::{Environment, Output};

/// The ref that is pushed to.
const REF: &str = "refs/fp/sample";

/// A new commit on top of `old`, without a checkout.
fn commit(machine: &Environment, old: &str, message: &str) -> String {
    let parent = if old.is_empty() {
        Vec::new()
    } else {
        vec!["-p", old]
    };
    let made = machine.git(&[&["commit-tree", "HEAD^{tree}", "-m", message], &parent[..]].concat());
    made.trim().to_owned()
}

/// Pushes `new` if the ref is still at `old`.
fn push(machine: &Environment, old: &str, new: &str) -> Output {
    let lease = format!("--force-with-lease={REF}:{old}");
    machine.run(
        "git",
        &[
            "push",
            "--quiet",
            "--atomic",
            &lease,
            "origin",
            &format!("{new}:{REF}"),
        ],
    )
}

/// Two machines push onto the same commit: the first wins; the second is refused, and succeeds after a fetch.
fn take_turns(host: &Host) {
    let (a, b) = (host.machine(), host.machine());
    let first = commit(&a, "", "from a");
    assert_eq!(push(&a, "", &first).code, 0);
    assert_eq!(host.tip(REF).as_ref(), Some(&first));
    let beaten = push(&b, "", &commit(&b, "", "from b"));
    assert_eq!(beaten.code, 1, "{beaten}");
    assert!(
        beaten.stderr.contains("stale info") || beaten.stderr.contains("rejected"),
        "{beaten}"
    );
    b.git(&["fetch", "--quiet", "origin", REF]);
    let second = commit(&b, &first, "from b, again");
    assert_eq!(push(&b, &first, &second).code, 0);
    assert_eq!(
        host.git(&["log", "--format=%s", REF]),
        "from b, again\nfrom a\n"
    );
}

#[test]
fn a_lease_admits_one_push_however_the_remote_is_reached() {
    for way in WAYS {
        take_turns(&Host::new(way));
    }
}

#[test]
fn a_proxy_without_faults_changes_nothing() {
    for way in [Way::Daemon, Way::Http] {
        take_turns(&Host::behind_proxy(way));
    }
}

#[test]
fn a_large_push_and_a_large_fetch_get_through() {
    for way in [Way::Daemon, Way::Http] {
        let host = Host::behind_proxy(way);
        let a = host.machine();
        a.git(&["config", "core.compression", "0"]);
        // Over 1 MB and incompressible, so that git sends it in chunks.
        let mut noise = Vec::new();
        let mut state: u32 = 1;
        for _ in 0..1_200_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise.push((state >> 24).to_le_bytes()[0]);
        }
        a.write("noise", noise);
        a.git(&["add", "noise"]);
        a.git(&["commit", "--quiet", "-m", "Add noise"]);
        a.git(&["push", "--quiet", "origin", "main"]);
        assert_eq!(
            std::fs::metadata(host.machine().path("noise"))
                .unwrap()
                .len(),
            1_200_000
        );
    }
}

#[test]
fn a_cut_request_changes_nothing_and_is_an_error() {
    for way in [Way::Daemon, Way::Http] {
        let host = Host::behind_proxy(way);
        let a = host.machine();
        let first = commit(&a, "", "first");
        for bytes in [1, 100] {
            host.next(Of::Pushes, Fault::CutRequest(bytes));
            let cut = push(&a, "", &first);
            assert_ne!(cut.code, 0, "{way:?}, after {bytes}: {cut}");
            assert_eq!(
                (host.tip(REF), host.proxy().left()),
                (None, 0),
                "{way:?}, after {bytes}"
            );
        }
        // Over HTTP, this cuts the second request of a connection, which curl may resend.
        host.next(Of::Pushes, Fault::CutRequest(250));
        let cut = push(&a, "", &first);
        assert_eq!(cut.code == 0, host.tip(REF).is_some(), "{way:?}: {cut}");
    }
}

#[test]
fn a_cut_answer_to_a_fetch_is_an_error() {
    for way in [Way::Daemon, Way::Http] {
        let host = Host::behind_proxy(way);
        let a = host.machine();
        // Over HTTP, the cut comes after the response header.
        host.next(
            Of::Any,
            Fault::CutAnswer(if way == Way::Http { 400 } else { 20 }),
        );
        assert_ne!(a.run("git", &["fetch", "origin"]).code, 0, "{way:?}");
        host.next(Of::Any, Fault::Refuse);
        assert_ne!(a.run("git", &["fetch", "origin"]).code, 0, "{way:?}");
        assert_eq!(a.run("git", &["fetch", "origin"]).code, 0, "{way:?}");
    }
}

/// The client sees an error although its push has gone through.
#[test]
fn the_server_can_have_done_what_the_client_never_hears_of() {
    for way in [Way::Daemon, Way::Http] {
        let host = Host::behind_proxy(way);
        let a = host.machine();
        let first = commit(&a, "", "first");
        host.next(Of::Pushes, Fault::Deafen);
        let unheard = push(&a, "", &first);
        assert_ne!(unheard.code, 0, "{way:?}: {unheard}");
        assert_eq!(host.tip(REF), Some(first), "{way:?}");
    }
}

#[test]
fn a_push_that_arrives_twice_counts_once() {
    for way in [Way::Daemon, Way::Http] {
        let host = Host::behind_proxy(way);
        let a = host.machine();
        let first = commit(&a, "", "first");
        let second = commit(&a, &first, "second");
        host.next(Of::Pushes, Fault::Replay);
        assert_eq!(push(&a, "", &first).code, 0);
        assert_eq!(push(&a, &first, &second).code, 0);
        wait_for(|| host.proxy().replayed() > 0);
        assert_eq!(host.tip(REF), Some(second), "{way:?}");
    }
}

#[test]
fn a_delay_takes_its_time() {
    let host = Host::behind_proxy(Way::Daemon);
    let a = host.machine();
    host.next(Of::Any, Fault::Delay(Duration::from_millis(150)));
    let start = Instant::now();
    a.git(&["fetch", "--quiet", "origin"]);
    assert!(
        start.elapsed() > Duration::from_millis(300),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn the_http_server_refuses_on_command() {
    let host = Host::new(Way::Http);
    let a = host.machine();
    let first = commit(&a, "", "first");
    host.refuse(Refusal::Pushes);
    let refused = push(&a, "", &first);
    assert!(refused.stderr.contains("403"), "{refused}");
    host.refuse(Refusal::After(1));
    let expired = push(&a, "", &first);
    assert!(expired.code != 0 && host.tip(REF).is_none(), "{expired}");
    host.refuse(Refusal::None);
    assert_eq!(push(&a, "", &first).code, 0);
}

/// If the server is killed before the ref moves, the push hasn't happened; if it is killed after that, it has, and the
/// client doesn't know.
#[test]
fn a_server_can_be_killed_at_each_step_of_a_push() {
    for way in [Way::Daemon, Way::Http] {
        for (hook, happened) in [
            ("pre-receive", false),
            ("update", false),
            ("post-receive", true),
        ] {
            let host = Host::new(way);
            let a = host.machine();
            let first = commit(&a, "", "first");
            host.hook(hook, "kill -9 0");
            let cut = push(&a, "", &first);
            assert_ne!(cut.code, 0, "{way:?} at {hook}: {cut}");
            assert_eq!(host.tip(REF).is_some(), happened, "{way:?} at {hook}");
        }
        let host = Host::new(way);
        let a = host.machine();
        let first = commit(&a, "", "first");
        host.hook("pre-receive", "touch here; exec sleep 30");
        std::thread::scope(|scope| {
            let pushing = scope.spawn(|| push(&a, "", &first));
            wait_for(|| host.path("here").exists());
            assert_eq!(host.processes().kill(), 1);
            assert_ne!(pushing.join().unwrap().code, 0, "{way:?}");
        });
    }
}
