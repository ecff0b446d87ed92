//! Files that a task must not touch: `boundary` reports any change to them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::cheats::{Cheat, Place, Scene, all_caught, all_caught_in};
use crate::common::plan::PLAN;

#[test]
fn files_that_are_not_the_tasks() {
    all_caught(&[
        Cheat {
            name: "a new file that is not listed",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.write("src/c.rs", "pub fn c() {}\n");
            },
            caught: &["boundary: src/c.rs is new, is not in the task's files"],
        },
        Cheat {
            name: "a file that is not listed, changed",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.write("README.md", "# Changed\n");
            },
            caught: &["boundary: README.md was changed, is not in the task's files"],
        },
        Cheat {
            name: "a file that is not listed, deleted",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.remove("README.md");
            },
            caught: &["boundary: README.md was taken away, is not in the task's files"],
        },
        Cheat {
            name: "a listed file, deleted where it was to be changed",
            files: "src/a.rs",
            does: |scene| scene.remove("src/a.rs"),
            caught: &["command: sh check.sh: exit status 2"],
        },
        Cheat {
            name: "the mode of a file that is not listed",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                fs::set_permissions(scene.path("check.sh"), fs::Permissions::from_mode(0o755))
                    .unwrap();
            },
            caught: &["boundary: check.sh was changed, is not in the task's files"],
        },
        Cheat {
            name: "a listed file, moved away by a rename",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.git(&["mv", "src/a.rs", "src/z.rs"]);
            },
            caught: &[
                "boundary: src/z.rs was put there by a rename, is not in the task's files",
                "command: sh check.sh: exit status 2",
            ],
        },
        Cheat {
            name: "a file that is not listed, moved onto a listed one",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.remove("src/a.rs");
                fs::rename(scene.path("README.md"), scene.path("src/a.rs")).unwrap();
                scene.write("src/a.rs", "# Sample 2\n");
            },
            caught: &["boundary: README.md was taken away, is not in the task's files"],
        },
        Cheat {
            name: "a file that is not listed, renamed in case alone",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.git(&["mv", "README.md", "Readme.md"]);
            },
            caught: &["boundary: Readme.md was put there by a rename, is not in the task's files"],
        },
    ]);
}

#[test]
fn links_and_repositories() {
    all_caught(&[
        Cheat {
            name: "a listed file made a link to a file outside the repository",
            files: "src/a.rs",
            does: |scene| {
                let outside = scene.environment.beside("home/outside.rs");
                fs::write(&outside, "2\n").unwrap();
                scene.remove("src/a.rs");
                scene.link(outside.to_str().unwrap(), "src/a.rs");
            },
            caught: &["boundary: src/a.rs is a symbolic link, which the task doesn't ask for"],
        },
        Cheat {
            name: "a folder made a link, and written through",
            files: "src/a.rs",
            does: |scene| {
                let outside = scene.environment.beside("home/outside");
                fs::create_dir(&outside).unwrap();
                scene.work();
                scene.link(outside.to_str().unwrap(), "src/out");
                scene.write("src/out/written", "outside\n");
            },
            caught: &["boundary: src/out is new, is not in the task's files"],
        },
        Cheat {
            name: "the folder of a listed file moved out of the repository, and a link in its place",
            files: "src/",
            does: |scene| {
                scene.work();
                let outside = scene.environment.beside("home/outside");
                fs::rename(scene.path("src"), &outside).unwrap();
                scene.link(outside.to_str().unwrap(), "src");
            },
            caught: &["boundary: src is a symbolic link, which the task doesn't ask for"],
        },
        Cheat {
            name: "a repository within the repository",
            files: "src/a.rs, vendor/",
            does: |scene| {
                scene.work();
                scene.git(&["init", "--quiet", "vendor"]);
                scene.write("vendor/hidden.rs", "pub fn hidden() {}\n");
            },
            caught: &[
                "boundary: vendor is a repository of its own, which the task doesn't ask for",
            ],
        },
        Cheat {
            name: "a submodule",
            files: "src/a.rs, vendor/, .gitmodules",
            does: |scene| {
                scene.work();
                let outside = scene.environment.beside("home/outside");
                let outside = outside.to_str().unwrap();
                scene.environment.git(&["clone", "--quiet", ".", outside]);
                let add = ["submodule", "--quiet", "add", outside, "vendor"];
                scene.git(&[&["-c", "protocol.file.allow=always"], &add[..]].concat());
            },
            caught: &[
                "boundary: vendor is a repository of its own, which the task doesn't ask for",
            ],
        },
    ]);
}

#[test]
fn files_that_git_does_not_show() {
    all_caught(&[
        Cheat {
            name: "a listed file that git ignores",
            files: "src/a.rs, dist/a.js",
            does: |scene| {
                scene.work();
                scene.write("dist/a.js", "1\n");
            },
            caught: &["boundary: dist/a.js is ignored by git and can't be committed"],
        },
        Cheat {
            name: "a rule added that hides another file",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.write(".gitignore", "dist/\nsrc/hidden.rs\n");
                scene.write("src/hidden.rs", "pub fn hidden() {}\n");
            },
            caught: &["boundary: .gitignore was changed, is not in the task's files"],
        },
    ]);
}

#[test]
fn a_file_of_another_running_task() {
    // A worktree belongs to its builder alone, so any change in it counts as the task's.
    let other = Cheat {
        name: "a file of another running task",
        files: "src/a.rs",
        does: |scene| {
            scene.environment.claim_task("builder-2", "2");
            scene.work();
            scene.write("src/b.rs", "pub fn b() {}\n");
        },
        caught: &["boundary: src/b.rs was changed, is not in the task's files"],
    };
    all_caught_in(&[Place::Worktree], &[other]);

    // In a shared checkout nobody can tell who made a change, so it counts as the other task's.
    let scene = Scene::new(Place::Checkout, "src/a.rs");
    scene.environment.claim_task("builder-2", "2");
    scene.work();
    scene.write("src/b.rs", "pub fn b() {}\n");
    scene.submit();
    let verified = scene.verify();
    let told = "note  boundary: every change is within it; neither counted nor committed: src/b.rs is task 2's";
    assert!(verified.stdout.contains(told), "{verified}");
    scene.environment.pass("1");
    assert_eq!(
        scene
            .environment
            .git(&["show", "--format=", "--name-only", "HEAD"]),
        "src/a.rs\n"
    );
    assert_eq!(
        scene.environment.git(&["status", "--short"]),
        " M src/b.rs\n"
    );
}

/// The plan's folder is never part of a change; other checks report changes in it.
#[test]
fn the_plan_itself() {
    for place in [Place::Checkout, Place::Worktree] {
        let scene = Scene::new(place, "src/a.rs");
        let tasks = format!(".fractal-planner/plans/{PLAN}/tasks.md");
        let text = scene.environment.read(&tasks);
        scene
            .environment
            .write(&tasks, text.replace("sh check.sh", "true"));
        scene.write("src/a.rs", "nothing\n");
        scene.submit();
        for said in [scene.verify(), scene.environment.pass("1")] {
            assert_ne!(said.code, 0, "{place:?}: {said}");
            assert!(
                said.stderr
                    .contains("task 1 was edited after the plan was approved"),
                "{place:?}: {said}"
            );
        }
        assert_eq!(scene.status(), "AWAITING_VERIFICATION", "{place:?}");
        assert_eq!(scene.subjects(), "Add a program\nStart\n", "{place:?}");
    }
}
