//! Git's own settings, changed so that it shows less or does more.

use std::fs;

use crate::cheats::{Cheat, Place, Scene, all_caught};
use crate::common::plan::PLAN;

impl Scene {
    /// Appends to a file in the git directory, which all worktrees share.
    fn add_to_git(&self, file: &str, text: &str) {
        let path = format!(".git/{file}");
        let before = fs::read_to_string(self.environment.path(&path)).unwrap_or_default();
        self.environment.write(&path, before + text);
    }
}

#[test]
fn changes_that_git_is_told_to_overlook() {
    all_caught(&[
        Cheat {
            name: "a check, assumed to be unchanged",
            files: "src/a.rs",
            does: |scene| {
                scene.write("src/a.rs", "nothing\n");
                scene.git(&["update-index", "--assume-unchanged", "check.sh"]);
                scene.write("check.sh", "exit 0\n");
            },
            caught: &["boundary: check.sh was changed, is not in the task's files"],
        },
        Cheat {
            name: "a check, said not to be in the working tree",
            files: "src/a.rs",
            does: |scene| {
                scene.write("src/a.rs", "nothing\n");
                scene.git(&["update-index", "--skip-worktree", "check.sh"]);
                scene.write("check.sh", "exit 0\n");
            },
            caught: &["boundary: check.sh was changed, is not in the task's files"],
        },
    ]);
}

/// A file that the user hides and chooses to keep doesn't count as any task's change.
#[test]
fn what_the_user_hides_is_nobodys_change() {
    let scene = Scene::new(Place::Checkout, "src/a.rs");
    scene.environment.done(&["retry", PLAN, "1"]);
    scene.git(&["update-index", "--skip-worktree", "README.md"]);
    scene.write("README.md", "# The user's own\n");
    assert_eq!(
        scene
            .environment
            .fp(&["claim", PLAN, "2", "--as", "builder-1"])
            .code,
        1
    );
    scene
        .environment
        .done(&["answer", PLAN, "q1", "--option", "Keep"]);
    scene.environment.claim_task("builder-1", "2");
    scene.write("src/b.rs", "pub fn b() {}\n");
    let token = scene
        .environment
        .claim("builder-1")
        .map(|(_, token)| token)
        .unwrap();
    scene
        .environment
        .done(&["submit", PLAN, "2", "--claim", &token]);
    let verdict = scene.environment.pass("2");
    assert!(
        verdict.stdout.starts_with("Task 2 passed: commit "),
        "{verdict}"
    );
    assert_eq!(
        scene
            .environment
            .git(&["show", "--format=", "--name-only", "HEAD"]),
        "src/b.rs\n"
    );
    assert_eq!(scene.environment.read("README.md"), "# The user's own\n");
}

/// Edits to git's own files are reported to the judge but don't fail the task: the user may have made them.
#[test]
fn files_of_git_that_were_edited() {
    let check = |name: &str, does: &dyn Fn(&Scene), words: &str| {
        for place in [Place::Checkout, Place::Worktree] {
            let scene = Scene::new(place, "src/a.rs");
            scene.work();
            does(&scene);
            assert_eq!(scene.submit().code, 0);
            let verified = scene.verify();
            let told = format!("note  git: since the claim, in git's own folder: {words}\n");
            assert!(
                verified.stdout.contains(&told),
                "{name} ({place:?}): {verified}"
            );
        }
    };
    check(
        "a hook that runs at the commit",
        &|scene| scene.add_to_git("hooks/pre-commit", "#!/bin/sh\necho more >> src/a.rs\n"),
        "hooks/pre-commit is new",
    );
    check(
        "another folder of hooks",
        &|scene| drop(scene.git(&["config", "core.hooksPath", "/tmp/nowhere"])),
        "hooks folder is new",
    );
    check(
        "a file hidden by a rule of this clone alone",
        &|scene| {
            scene.add_to_git("info/exclude", "src/hidden.rs\n");
            scene.write("src/hidden.rs", "pub fn hidden() {}\n");
        },
        "info/exclude was changed",
    );
    check(
        "modes that git is told not to look at",
        &|scene| drop(scene.git(&["config", "core.fileMode", "false"])),
        "config was changed",
    );
    check(
        "another place to fetch what git lacks from",
        &|scene| {
            let url = "remote.origin.url";
            drop(scene.git(&["config", url, "https://evil.example/x"]));
        },
        "config was changed",
    );
    check(
        "a program that sends",
        &|scene| drop(scene.git(&["config", "remote.origin.receivepack", "evil"])),
        "config was changed",
    );
}

/// The user may have made the change, and may want to know about it if not.
#[test]
fn changes_in_the_users_checkout_from_a_worktree_are_told() {
    let scene = Scene::new(Place::Worktree, "src/a.rs");
    scene.work();
    scene
        .environment
        .write("README.md", "# Changed from elsewhere\n");
    scene.submit();
    let verified = scene.verify();
    assert!(
        verified.stdout.contains(
            "note  checkout: since the claim, in the user's checkout: README.md was changed\n"
        ),
        "{verified}"
    );
}

/// No tree of the enclosing repository contains the index and HEAD of a submodule.
#[test]
fn changes_inside_the_git_folder_of_a_submodule_are_told() {
    let scene = Scene::new(Place::Checkout, "src/a.rs");
    scene.environment.done(&["retry", PLAN, "1"]);
    scene
        .environment
        .git(&["init", "--quiet", ".git/modules/lib"]);
    let inside = scene.environment.path(".git/modules/lib/.git");
    fs::rename(
        inside.join("HEAD"),
        scene.environment.path(".git/modules/lib/HEAD"),
    )
    .unwrap();
    scene.environment.done(&["cancel", PLAN]);
    scene.environment.done(&["start", PLAN, "--here"]);
    let token = scene.environment.claim_task("builder-1", "1");
    scene.work();
    scene.add_to_git("modules/lib/HEAD", "moved\n");
    scene.add_to_git("modules/lib/hooks/post-checkout", "#!/bin/sh\n");
    scene
        .environment
        .done(&["submit", PLAN, "1", "--claim", &token]);
    let verified = scene.verify();
    assert!(
        verified.stdout.contains("in git's own folder: modules/lib/HEAD was changed; modules/lib/hooks/post-checkout is new"),
        "{verified}"
    );
}

#[test]
fn what_changes_as_people_work_is_no_cheat() {
    for place in [Place::Checkout, Place::Worktree] {
        let scene = Scene::new(place, "src/a.rs");
        scene.work();
        scene.git(&["config", "branch.main.remote", "origin"]);
        scene.add_to_git("hooks/pre-push.sample", "#!/bin/sh\n");
        scene.submit();
        let verified = scene.verify();
        assert!(!verified.stdout.contains(" git: "), "{place:?}: {verified}");
    }
}

/// The verifier saw the checks before the hook was created; the user sees the hook in the evidence.
#[test]
fn a_hook_that_is_made_between_the_checks_and_the_verdict_is_told() {
    for place in [Place::Checkout, Place::Worktree] {
        let scene = Scene::new(place, "src/a.rs");
        scene.work();
        scene.submit();
        assert!(!scene.verify().stdout.contains(" git: "), "{place:?}");
        scene.add_to_git("hooks/pre-commit", "#!/bin/sh\nexit 0\n");
        let verdict = scene.environment.pass("1");
        assert!(
            verdict.stdout.starts_with("Task 1 passed: commit "),
            "{place:?}: {verdict}"
        );
        let evidence = scene
            .environment
            .done(&["why", "--evidence", PLAN, "1"])
            .stdout;
        assert!(
            evidence.contains("hooks/pre-commit is new"),
            "{place:?}: {evidence}"
        );
    }
}
