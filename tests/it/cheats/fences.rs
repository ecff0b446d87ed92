//! Commands from the wrong agent, or at the wrong time: refused, and not recorded.

use crate::cheats::{DONE, Place, Scene};
use crate::common::Output;
use crate::common::plan::PLAN;

/// Runs `fp` with `args`; it must exit with `code`, say `words`, and add no event.
#[track_caller]
fn refused(scene: &Scene, args: &[&str], code: i32, words: &str) {
    let before = events(scene);
    let output: Output = scene.environment.fp(args);
    assert_eq!(output.code, code, "fp {args:?}: {output}");
    assert!(
        output.stderr.contains(words),
        "fp {args:?} is to say {words:?}: {output}"
    );
    assert!(events(scene) == before, "fp {args:?} is in the log");
}

fn events(scene: &Scene) -> String {
    scene
        .environment
        .read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"))
}

fn submitted() -> Scene {
    let scene = Scene::new(Place::Worktree, "src/a.rs");
    scene.work();
    assert_eq!(scene.submit().code, 0);
    scene
}

#[test]
fn a_submit_with_an_old_token() {
    for place in [Place::Checkout, Place::Worktree] {
        let scene = Scene::new(place, "src/a.rs");
        scene.work();
        scene.environment.done(&["retry", PLAN, "1"]);
        let submit = ["submit", PLAN, "1", "--claim", &scene.token];
        refused(&scene, &submit, 1, "task 1 is waiting: claim it first");
        let token = scene.environment.claim_task("builder-2", "1");
        assert_ne!(token, scene.token);
        refused(
            &scene,
            &submit,
            1,
            "the claim on task 1 is not yours any more: its token has changed",
        );
        let extend = [
            "scope",
            "extend",
            PLAN,
            "1",
            "README.md",
            "--reason",
            "why not",
            "--claim",
        ];
        refused(
            &scene,
            &[&extend[..], &[&scene.token]].concat(),
            1,
            "its token has changed",
        );
        // The valid token still works.
        scene.environment.write(
            &format!("{}/src/a.rs", scene.folder("builder-2")),
            format!("{DONE}// Again\n"),
        );
        scene
            .environment
            .done(&["submit", PLAN, "1", "--claim", &token]);
        refused(&scene, &submit, 1, "task 1 is verifying");
    }
}

#[test]
fn a_token_of_the_iteration_before() {
    let scene = submitted();
    scene.environment.fail("1");
    assert_eq!(scene.status(), "IMPLEMENTING");
    refused(
        &scene,
        &["submit", PLAN, "1", "--claim", &scene.token],
        1,
        "its token has changed",
    );
}

#[test]
fn a_verdict_out_of_place() {
    let scene = Scene::new(Place::Worktree, "src/a.rs");
    let pass = ["verdict", PLAN, "1", "--pass", "1: seen"];
    refused(
        &scene,
        &pass,
        1,
        "task 1 is building: only a submitted task can be verified",
    );
    refused(
        &scene,
        &["verify", PLAN, "1"],
        1,
        "task 1 is building: only a submitted task can be verified",
    );
    refused(
        &scene,
        &["verdict", PLAN, "2", "--pass", "1: seen"],
        1,
        "task 2 is waiting",
    );
    scene.work();
    scene.submit();
    let of_another = [&pass[..], &["--iteration", "2"]].concat();
    refused(
        &scene,
        &of_another,
        1,
        "task 1 is at attempt 1, this verdict is about attempt 2",
    );
    scene.environment.fail("1");
    let token = scene.environment.claim_task("builder-1", "1");
    scene
        .environment
        .done(&["submit", PLAN, "1", "--claim", &token]);
    let late = [&pass[..], &["--iteration", "1"]].concat();
    refused(
        &scene,
        &late,
        1,
        "task 1 is at attempt 2, this verdict is about attempt 1",
    );
    let in_time = [&pass[..], &["--iteration", "2"]].concat();
    scene.environment.done(&in_time);
    refused(
        &scene,
        &in_time,
        1,
        "task 1 is done: its commit is made, and only a submitted task can be verified",
    );
}

#[test]
fn a_verdict_that_leaves_a_criterion_out() {
    let scene = submitted();
    scene.verify();
    refused(
        &scene,
        &["verdict", PLAN, "1", "--summary", "fine"],
        2,
        "no judgement on criteria 1",
    );
    refused(
        &scene,
        &["verdict", PLAN, "1", "--pass", "2: seen"],
        2,
        "there is no criterion 2",
    );
    let both = [
        "verdict",
        PLAN,
        "1",
        "--pass",
        "1: seen",
        "--fail",
        "1: not seen",
    ];
    refused(&scene, &both, 2, "criterion 1 is judged twice");
}

#[test]
fn two_agents_under_one_name() {
    for place in [Place::Checkout, Place::Worktree] {
        let scene = Scene::new(place, "src/a.rs");
        // The second agent gets the same task with the same claim, and can't claim another task as well.
        assert_eq!(
            scene.environment.claim("builder-1"),
            Some(("1".to_owned(), scene.token.clone()))
        );
        let other = ["claim", PLAN, "--as", "builder-1", "2"];
        refused(
            &scene,
            &other,
            1,
            "builder-1 holds task 1, which is building: one task at a time",
        );
        scene.work();
        scene.submit();
        // Only one of the two can submit it.
        let again = ["submit", PLAN, "1", "--claim", &scene.token];
        refused(&scene, &again, 1, "task 1 is verifying");
    }
}

#[test]
fn a_task_that_another_holds() {
    let scene = Scene::new(Place::Worktree, "src/a.rs");
    refused(
        &scene,
        &["claim", PLAN, "--as", "builder-2", "1"],
        1,
        "task 1 is not ready",
    );
    refused(
        &scene,
        &["submit", PLAN, "1", "--claim", "0123456789abcdef"],
        1,
        "its token has changed",
    );
    refused(
        &scene,
        &["submit", PLAN, "2", "--claim", &scene.token],
        1,
        "task 2 is waiting: claim it first",
    );
}
