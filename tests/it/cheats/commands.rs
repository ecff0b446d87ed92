//! Test commands that misbehave, and files changed around their runs.

use std::time::{Duration, Instant};

use crate::cheats::{DONE, Place, Scene};

/// The output of `fp verify`, from the line about the test command on.
fn told(scene: &Scene) -> String {
    scene.work();
    scene.submit();
    let verified = scene.verify().stdout;
    let from = verified
        .find("command: ")
        .unwrap_or_else(|| panic!("{verified}"));
    verified[from..].to_owned()
}

#[test]
fn a_command_without_an_end_is_ended() {
    let scene = Scene::tested_by(Place::Checkout, "src/a.rs", "sleep 600", 1);
    let began = Instant::now();
    let told = told(&scene);
    assert!(
        told.starts_with("command: sleep 600: ended at its time limit of 1 s after "),
        "{told}"
    );
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
    let verdict = scene.environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 did not pass"),
        "{verdict}"
    );
}

#[test]
fn nothing_that_a_command_starts_outlives_it() {
    for (name, line) in [
        ("a job in the background", "sleep 617 & echo $! > dist-pid"),
        ("a session of its own", "setsid sleep 617 & echo started"),
        (
            "a grandchild whose parent has ended",
            "(sleep 617 & echo $! > dist-pid) & wait",
        ),
    ] {
        let scene = Scene::tested_by(Place::Checkout, "src/a.rs", line, 600);
        let began = Instant::now();
        told(&scene);
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{name}: {:?}",
            began.elapsed()
        );
        let left = scene.environment.run("pgrep", &["-f", "-x", "sleep 617"]);
        assert_eq!(left.stdout, "", "{name}: left over");
    }
}

#[test]
fn an_enormous_output_is_cut_to_its_head_and_tail() {
    let line = "echo first; seq 1000000; echo last";
    let scene = Scene::tested_by(Place::Checkout, "src/a.rs", line, 600);
    let told = told(&scene);
    assert!(
        told.contains("first\n") && told.contains("last\n"),
        "{told}"
    );
    assert!(told.len() < 16 * 1024, "{} bytes", told.len());
    let log = scene
        .environment
        .read(".fractal-planner/plans/sample-20261121/events.jsonl");
    assert!(log.len() < 64 * 1024, "{} bytes", log.len());
}

/// A commit has exactly the contents that were verified.
#[test]
fn a_file_changed_after_the_verification_is_verified_again() {
    for place in [Place::Checkout, Place::Worktree] {
        let scene = Scene::new(place, "src/a.rs");
        scene.work();
        scene.submit();
        assert_eq!(scene.failing(), Vec::<String>::new(), "{place:?}");
        scene.write("src/a.rs", &DONE.replace('2', "3"));
        let refused = scene.environment.pass("1");
        assert!(
            refused.code == 1 && refused.stderr.contains("another tree"),
            "{place:?}: {refused}"
        );
        let verdict = scene.environment.pass("1");
        assert!(
            verdict.stdout.starts_with("Task 1 did not pass"),
            "{place:?}: {verdict}"
        );
        let reasons = scene.environment.reasons();
        assert!(
            reasons.contains("`sh check.sh` failed: exit status 1"),
            "{place:?}: {reasons}"
        );
        assert_eq!(scene.subjects(), "Add a program\nStart\n", "{place:?}");
    }
}
