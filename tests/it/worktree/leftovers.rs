//! Worktrees in unexpected states, and the removal of all of them at the end of the run.

use std::fs;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::PLAN;
use crate::worktree::{sample, started, worktree};

/// The folder of the patches with unfinished work.
const UNFINISHED: &str = ".fractal-planner/plans/sample-20261121/unfinished";

/// Both builders are at work; returns the first one's token.
fn at_work() -> (Environment, String) {
    let environment = started();
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.claim("builder-2").unwrap();
    environment.write_in("builder-1", "a.txt", "half done\n");
    (environment, token)
}

#[test]
fn a_cancelled_run_leaves_nothing() {
    let (environment, _) = at_work();
    environment.write_in("builder-1", "cache/new.txt", "not committed\n");
    environment.write_in("builder-2", ".gitignore", "*\n");
    environment.write_in("builder-2", "hidden.txt", "ignored\n");
    environment.git(&["worktree", "lock", &worktree("builder-2")]);
    let mut inside = environment.command("sleep");
    inside
        .arg("60")
        .current_dir(environment.path(&worktree("builder-1")))
        .stdout(Stdio::null());
    let mut inside = inside.spawn().unwrap();
    let cancelled = environment.done(&["cancel", PLAN]);
    assert_eq!(
        cancelled.stderr,
        format!(
            "note: what was not finished is kept: `git apply {UNFINISHED}/task-1.patch` takes it up\n"
        )
    );
    environment.assert_swept();
    inside.kill().unwrap();
    inside.wait().unwrap();
    assert_eq!(environment.git(&["status", "--short"]), "");
}

/// A patch can't contain the contents of a nested repository.
#[test]
fn a_repository_that_a_builder_made_is_kept() {
    let nested = |environment: &Environment| {
        let folder = format!("{}/fixture", worktree("builder-1"));
        environment.git(&["init", "--quiet", &folder]);
        environment.write(&format!("{folder}/work"), "a day's work\n");
    };
    let kept = format!("{UNFINISHED}/builder-1/fixture");
    let (environment, _) = at_work();
    nested(&environment);
    environment.done(&["retry", PLAN, "1"]);
    environment.done(&["retry", PLAN, "2"]);
    let claimed = environment.done(&["claim", PLAN, "--as", "builder-1", "2"]);
    let said = format!("note: a repository that a builder had in its worktree is kept: {kept}\n");
    assert!(claimed.stderr.contains(&said), "{claimed}");
    assert_eq!(environment.read(&format!("{kept}/work")), "a day's work\n");
    nested(&environment);
    let cancelled = environment.done(&["cancel", PLAN]);
    assert!(
        cancelled.stderr.contains(&format!("is kept: {kept}-2\n")),
        "{cancelled}"
    );
    assert_eq!(
        environment.read(&format!("{kept}-2/work")),
        "a day's work\n"
    );
    environment.assert_swept();
}

/// When a builder moves on to another task, or a run ends, unfinished work is kept for later.
#[test]
fn what_is_not_done_is_kept_as_a_patch() {
    let (environment, _) = at_work();
    environment.write_in("builder-1", "new.bin", "\0\x01");
    environment.done(&["cancel", PLAN, "1", "--reason", "too hard"]);
    let patch = format!("{UNFINISHED}/task-1.patch");
    assert!(
        !environment.path(&patch).exists(),
        "its worktree is as it was"
    );
    environment.done(&["cancel", PLAN]);
    environment.assert_swept();
    assert_eq!(environment.git(&["status", "--short"]), "");
    environment.git(&["apply", &patch]);
    assert_eq!(environment.read("a.txt"), "half done\n");
    assert_eq!(
        std::fs::read(environment.path("new.bin")).unwrap(),
        b"\0\x01"
    );
    assert!(
        !environment
            .path(&format!("{UNFINISHED}/task-2.patch"))
            .exists(),
        "nothing was changed there"
    );
}

#[test]
fn a_builder_that_goes_on_with_another_task_leaves_a_patch_of_the_first() {
    let (environment, _) = at_work();
    environment.done(&["cancel", PLAN, "1", "--reason", "too hard"]);
    environment.done(&["retry", PLAN, "2"]);
    environment.done(&["claim", PLAN, "--as", "builder-1", "2"]);
    let patch = environment.read(&format!("{UNFINISHED}/task-1.patch"));
    assert!(patch.contains("+half done\n"), "{patch}");
    assert_eq!(
        environment.read(&format!("{}/a.txt", worktree("builder-1"))),
        "first\nsecond\nthird\n"
    );
}

#[test]
fn a_patch_that_can_not_be_kept_keeps_the_worktree() {
    let (environment, _) = at_work();
    environment.write(UNFINISHED, "no folder\n");
    let cancelled = environment.done(&["cancel", PLAN]);
    assert!(
        cancelled
            .stderr
            .starts_with("note: worktrees are left over: "),
        "{cancelled}"
    );
    assert_eq!(
        environment.read(&format!("{}/a.txt", worktree("builder-1"))),
        "half done\n"
    );
    std::fs::remove_file(environment.path(UNFINISHED)).unwrap();
    environment.fp(&["next", PLAN]);
    environment.assert_swept();
    assert!(
        environment
            .path(&format!("{UNFINISHED}/task-1.patch"))
            .exists()
    );
}

#[test]
fn a_run_that_is_stopped_by_an_answer_leaves_nothing() {
    let (environment, token) = at_work();
    environment.write_in("builder-1", "a.txt", "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    environment.write("a.txt", "by hand\n");
    environment.pass("1");
    environment.done(&["answer", PLAN, "q1", "--option", "Stop"]);
    environment.assert_swept();
    assert!(
        !environment.path(UNFINISHED).exists(),
        "what has passed is finished"
    );
    // A passed task can be committed without its worktree.
    environment.git(&["checkout", "--quiet", "a.txt"]);
    environment.done(&["run", "start", PLAN, "--session", "s1", "--builders", "2"]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
    assert_eq!(environment.read("a.txt"), "about 1\n");
}

#[test]
fn folders_deleted_by_hand_are_forgotten() {
    let (environment, _) = at_work();
    fs::remove_dir_all(environment.path(&format!(".fractal-planner/plans/{PLAN}/worktrees")))
        .unwrap();
    environment.done(&["cancel", PLAN]);
    environment.assert_swept();
}

#[test]
fn what_is_handed_in_survives_its_folder() {
    let (environment, token) = at_work();
    environment.write_in("builder-1", "a.txt", "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    fs::remove_dir_all(environment.path(&worktree("builder-1"))).unwrap();
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    assert_eq!(environment.read("a.txt"), "about 1\n");
}

#[test]
fn a_worktree_that_is_gone_is_said_so_and_made_again() {
    let (environment, token) = at_work();
    fs::remove_dir_all(environment.path(&worktree("builder-1"))).unwrap();
    assert_snapshot!(environment.fp(&["submit", PLAN, "1", "--claim", &token]), @r"
    exit status: 1
    --- stderr
    error: the worktree of builder-1 is gone: [ROOT]/work/.fractal-planner/plans/sample-20261121/worktrees/builder-1
    hint: `fp claim sample-20261121 --as builder-1` makes it again, at the commit that the task began on
    ");
    let again = environment.done(&["claim", PLAN, "--as", "builder-1"]);
    assert_eq!(
        again.stderr,
        "note: the worktree was gone, and what was in it; it was made again\n"
    );
    let file = format!("{}/a.txt", worktree("builder-1"));
    assert_eq!(environment.read(&file), "first\nsecond\nthird\n");
}

#[test]
fn a_worktree_that_the_user_has_locked_is_used_all_the_same() {
    let (environment, token) = at_work();
    environment.git(&[
        "worktree",
        "lock",
        "--reason",
        "mine",
        &worktree("builder-1"),
    ]);
    environment.done(&["claim", PLAN, "--as", "builder-1"]);
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    assert!(
        environment
            .pass("1")
            .stdout
            .starts_with("Task 1 passed: commit ")
    );
    assert_eq!(environment.read("a.txt"), "half done\n");
}

#[test]
fn work_in_another_checkout_is_not_there() {
    let (environment, token) = at_work();
    environment.write_in("builder-1", "a.txt", "first\nsecond\nthird\n");
    environment.write("a.txt", "about 1\n");
    assert_snapshot!(environment.fp(&["submit", PLAN, "1", "--claim", &token]), @r"
    exit status: 1
    --- stderr
    error: task 1 can't be handed in: changes: nothing differs from what was there when the task was claimed, but the task lists files
    hint: nothing was handed in, and no attempt is used: correct this and run `fp submit` again
    hint: change its files in [ROOT]/work/.fractal-planner/plans/sample-20261121/worktrees/builder-1; if nothing is left to change, end your turn and say so
    ");
}

#[test]
fn half_done_work_is_the_builders_own() {
    let (environment, _) = at_work();
    let start = environment.done(&["run", "start", PLAN, "--session", "s2", "--builders", "2"]);
    assert!(
        start
            .stdout
            .contains("2 taken back, since the run was interrupted"),
        "{start}"
    );
    let file = format!("{}/a.txt", worktree("builder-1"));
    // Builder-1 can continue in its own worktree, and builder-2 from the patch.
    let other = worktree("builder-2");
    environment.done(&["claim", PLAN, "--as", "builder-1", "1"]);
    assert_eq!(environment.read(&file), "half done\n");
    environment.done(&["retry", PLAN, "1"]);
    environment.done(&["claim", PLAN, "--as", "builder-2", "1"]);
    assert_eq!(environment.read(&format!("{other}/a.txt")), "half done\n");
    environment.done(&["claim", PLAN, "--as", "builder-1", "2"]);
    assert_eq!(
        environment.read(&file),
        "first\nsecond\nthird\n",
        "its next task has nothing of the one before"
    );
}

#[test]
fn a_worktree_is_used_again_with_what_git_ignores() {
    let (environment, token) = at_work();
    environment.write(".git/info/exclude", "target/\n");
    environment.write_in("builder-1", "target/built", "takes long\n");
    environment.write_in("builder-1", "a.txt", "about 1\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    environment.write_in("builder-1", "stray.txt", "of task 1\n");
    environment.done(&["cancel", PLAN, "1", "--reason", "enough"]);
    environment.done(&["retry", PLAN, "2"]);
    environment.done(&["claim", PLAN, "--as", "builder-1", "2"]);
    let own = worktree("builder-1");
    assert!(environment.path(&format!("{own}/target/built")).exists());
    assert!(!environment.path(&format!("{own}/stray.txt")).exists());
}

#[test]
fn a_branch_that_was_switched_to_in_a_worktree_stays_where_it_is() {
    let (environment, token) = at_work();
    let own = environment.path(&worktree("builder-1"));
    let own = own.to_str().unwrap();
    environment.git(&["-C", own, "switch", "--quiet", "--create", "side"]);
    environment.git(&[
        "-C",
        own,
        "commit",
        "--quiet",
        "--all",
        "--message",
        "On the side",
    ]);
    let side = environment.git(&["rev-parse", "side"]);
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed: commit "),
        "{verdict}"
    );
    environment.done(&["retry", PLAN, "2"]);
    environment.done(&["claim", PLAN, "--as", "builder-1", "2"]);
    assert_eq!(environment.git(&["rev-parse", "side"]), side);
    assert_eq!(
        environment.git(&["log", "--format=%s", "main", "-2"]),
        "Write part 1\nAdd two texts\n"
    );
}

/// Damage to the `.git` of a builder's worktree affects only that worktree.
#[test]
fn a_worktree_that_is_none_any_more_is_made_anew() {
    let breakages: [&dyn Fn(&Environment); 5] = [
        // A killed git may leave an empty file here, and then git can't list any worktree of the repository.
        &|environment| environment.write(".git/worktrees/builder-1/commondir", ""),
        &|environment| {
            fs::remove_file(environment.path(&worktree("builder-1")).join(".git")).unwrap()
        },
        &|environment| {
            let own = environment.path(&worktree("builder-1"));
            fs::remove_file(own.join(".git")).unwrap();
            environment.git(&["init", "--quiet", own.to_str().unwrap()]);
        },
        &|environment| environment.write(".git/worktrees/builder-1/index.lock", ""),
        &|environment| {
            let own = environment.path(&worktree("builder-1"));
            fs::remove_dir_all(&own).unwrap();
            fs::create_dir(environment.beside("outside")).unwrap();
            fs::write(environment.beside("outside/a.txt"), "the user's\n").unwrap();
            std::os::unix::fs::symlink(environment.beside("outside"), &own).unwrap();
        },
    ];
    for (number, break_it) in breakages.into_iter().enumerate() {
        let (environment, _) = at_work();
        break_it(&environment);
        environment.done(&["retry", PLAN, "1"]);
        environment.done(&["retry", PLAN, "2"]);
        environment.done(&["claim", PLAN, "--as", "builder-1", "2"]);
        let file = format!("{}/a.txt", worktree("builder-1"));
        assert_eq!(
            environment.read(&file),
            "first\nsecond\nthird\n",
            "breakage {number}"
        );
        if let Ok(text) = fs::read_to_string(environment.beside("outside/a.txt")) {
            assert_eq!(text, "the user's\n");
        }
        environment.done(&["cancel", PLAN]);
        environment.assert_swept();
        assert_eq!(
            environment.git(&["log", "--format=%s"]),
            "Add two texts\nStart\n"
        );
    }
}

#[test]
fn a_link_in_the_place_of_the_folder_is_refused() {
    let environment = started();
    fs::create_dir(environment.beside("outside")).unwrap();
    let folder = environment.path(&format!(".fractal-planner/plans/{PLAN}/worktrees"));
    std::os::unix::fs::symlink(environment.beside("outside"), folder).unwrap();
    let claim = environment.fp(&["claim", PLAN, "--as", "builder-1"]);
    assert_snapshot!(claim, @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/worktrees is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place
    ");
    assert_eq!(
        fs::read_dir(environment.beside("outside")).unwrap().count(),
        0
    );
}

#[test]
fn where_there_can_be_none_builders_share_the_checkout() {
    let start = |environment: &Environment, flags: &[&str]| {
        environment.done(&["approve", PLAN, "--yes"]);
        environment.fp(&[
            &["run", "start", PLAN, "--session", "s1", "--builders", "2"],
            flags,
        ]
        .concat())
    };
    let note = |environment: &Environment, flags: &[&str]| {
        let output = start(environment, flags);
        assert_eq!(output.code, 0, "{output}");
        assert!(output.stdout.contains("Builders: 2, attempts"), "{output}");
        output.stderr
    };
    assert_snapshot!(note(&sample(), &["--no-commit"]), @r"
    note: builders share the checkout: commits are off, and without them no task sees what another did
    ");
    let dirty = sample();
    dirty.write("a.txt", "by hand\n");
    assert_snapshot!(note(&dirty, &["--allow-dirty"]), @r"
    note: builders share the checkout: a worktree has no uncommitted changes, such as those of a.txt
    ");
    let submodules = sample();
    submodules.write(".gitmodules", "");
    assert_snapshot!(note(&submodules, &[]), @r"
    note: builders share the checkout: the repository has submodules, which a new worktree has not
    ");
    let sparse = sample();
    sparse.git(&["config", "core.sparseCheckout", "true"]);
    assert_snapshot!(note(&sparse, &[]), @r"
    note: builders share the checkout: the checkout is sparse
    ");

    let insists = sample();
    let folder = insists.beside("home/.config/fractal-planner");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("config.json"),
        r#"{ "isolation": "worktree", "verify": { "judge": "each" } }"#,
    )
    .unwrap();
    assert_snapshot!(start(&insists, &["--no-commit"]), @r"
    exit status: 1
    --- stderr
    error: builders can't have worktrees of their own: commits are off, and without them no task sees what another did
    hint: set `isolation` to `auto` or `shared` to have them work in the checkout
    ");
    let one = insists.done(&["run", "start", PLAN, "--session", "s1", "--builders", "1"]);
    assert!(
        one.stdout.contains("Builders: 1 in worktrees of their own"),
        "{one}"
    );
}

/// Task 1, half built by builder-1 and then given up, is ready to be claimed again; builder-2 is free.
fn given_up_and_retried() -> Environment {
    let (environment, _) = at_work();
    environment.done(&["cancel", PLAN, "1", "--reason", "too hard"]);
    environment.done(&["retry", PLAN, "2"]);
    environment.done(&["retry", PLAN, "1"]);
    environment
}

#[test]
fn another_builder_goes_on_with_the_work_of_the_first() {
    let environment = given_up_and_retried();
    let claim = environment
        .done(&["claim", PLAN, "--as", "builder-2", "1"])
        .stdout;
    assert!(
        claim.contains("- Your checkout has the earlier attempt's work: go on from there\n"),
        "{claim}"
    );
    assert_eq!(
        environment.read(&format!("{}/a.txt", worktree("builder-2"))),
        "half done\n"
    );
    let log = environment.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
    assert!(!log.contains("half done"));
    environment.done(&["cancel", PLAN]);
    let patch = environment.read(&format!("{UNFINISHED}/task-1.patch"));
    assert!(patch.contains("+half done\n"), "{patch}");
}

#[test]
fn the_same_builder_is_told_of_its_earlier_work() {
    let environment = given_up_and_retried();
    let claim = environment
        .done(&["claim", PLAN, "--as", "builder-1", "1"])
        .stdout;
    assert!(
        claim.contains("- Your checkout has the earlier attempt's work"),
        "{claim}"
    );
    assert_eq!(
        environment.read(&format!("{}/a.txt", worktree("builder-1"))),
        "half done\n"
    );
}

#[test]
fn work_that_does_not_fit_any_more_is_named() {
    let environment = given_up_and_retried();
    environment.write("a.txt", "by hand\n");
    environment.git(&["commit", "--quiet", "--all", "--message", "By hand"]);
    let claim = environment
        .done(&["claim", PLAN, "--as", "builder-2", "1"])
        .stdout;
    let patch = environment.path(&format!("{UNFINISHED}/task-1.patch"));
    let told = "- The earlier attempt's work doesn't fit the newest commit: take what helps from ";
    assert!(
        claim.contains(told) && claim.contains("/unfinished/task-1.patch\n"),
        "{claim}"
    );
    assert!(
        std::fs::read_to_string(patch)
            .unwrap()
            .contains("+half done\n")
    );
    assert_eq!(
        environment.read(&format!("{}/a.txt", worktree("builder-2"))),
        "by hand\n"
    );
}

#[test]
fn a_claim_says_where_the_work_that_makes_room_is_kept() {
    let environment = started();
    environment.claim("builder-1").unwrap();
    environment.write_in("builder-1", "a.txt", "half done\n");
    environment.done(&["retry", PLAN, "1"]);
    let again = environment.done(&["claim", PLAN, "--as", "builder-1", "1"]);
    assert_eq!(again.stderr, "", "its own work is taken up");
    environment.done(&["cancel", PLAN, "1", "--reason", "too hard"]);
    let other = environment.done(&["claim", PLAN, "--as", "builder-1", "2"]);
    assert_eq!(
        other.stderr,
        format!(
            "note: what was not finished is kept: `git apply {UNFINISHED}/task-1.patch` takes it up\n"
        )
    );
}
