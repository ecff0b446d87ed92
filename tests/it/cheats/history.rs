//! Git tricks that make it look as if work was done.

use crate::cheats::{Cheat, Place, Scene, all_caught, all_caught_in};

const NOTHING: &str = "changes: nothing differs from what was there when the task was claimed, but the task lists files";
const LOST: &str = "history: HEAD no longer contains the commit that the task began on: \
                    a branch was switched, or history rewritten";
const UNDONE: &str = "command: sh check.sh: exit status 1";

#[test]
fn nothing_done() {
    all_caught(&[
        Cheat {
            name: "nothing at all",
            files: "src/a.rs",
            does: |_| {},
            caught: &[NOTHING, UNDONE],
        },
        Cheat {
            name: "an empty commit",
            files: "src/a.rs",
            does: |scene| {
                scene.git(&[
                    "commit",
                    "--quiet",
                    "--allow-empty",
                    "--message",
                    "Write part one",
                ]);
            },
            caught: &[NOTHING, UNDONE],
        },
        Cheat {
            name: "a change made and reverted",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.git(&["commit", "--quiet", "--all", "--message", "Write part one"]);
                scene.git(&["revert", "--no-edit", "HEAD"]);
            },
            caught: &[NOTHING, UNDONE],
        },
        Cheat {
            name: "a change made and put on the stash",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.git(&["stash", "push", "--quiet"]);
            },
            caught: &[NOTHING, UNDONE],
        },
        Cheat {
            name: "a change that is staged and not in the file",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.git(&["add", "src/a.rs"]);
                scene.write("src/a.rs", "pub fn a() -> u8 {\n    1\n}\n");
            },
            caught: &[NOTHING, UNDONE],
        },
    ]);
}

#[test]
fn the_wrong_base() {
    all_caught(&[
        Cheat {
            name: "HEAD set back",
            files: "src/a.rs",
            does: |scene| {
                scene.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
                scene.work();
            },
            caught: &[LOST],
        },
        Cheat {
            name: "the last commit amended",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.git(&[
                    "commit",
                    "--quiet",
                    "--amend",
                    "--all",
                    "--message",
                    "Write part one",
                ]);
            },
            caught: &[LOST],
        },
        Cheat {
            name: "a branch without the commit that the task began on",
            files: "src/a.rs",
            does: |scene| {
                scene.git(&["checkout", "--quiet", "--orphan", "other"]);
                scene.work();
                scene.git(&["commit", "--quiet", "--all", "--message", "Write part one"]);
            },
            caught: &[LOST],
        },
    ]);
}

#[test]
fn what_the_builder_commits_itself_is_its_change() {
    all_caught(&[Cheat {
        name: "another file behind a commit of its own",
        files: "src/a.rs",
        does: |scene| {
            scene.work();
            scene.write("README.md", "# Changed\n");
            scene.git(&["commit", "--quiet", "--all", "--message", "Write part one"]);
        },
        caught: &["boundary: README.md was changed, is not in the task's files"],
    }]);
    for place in [Place::Checkout, Place::Worktree] {
        let scene = Scene::new(place, "src/a.rs");
        scene.work();
        scene.git(&["commit", "--quiet", "--all", "--message", "By itself"]);
        scene.submit();
        let verified = scene.verify();
        let told = "note  history: committed since the task began, not by fp: ";
        assert!(verified.stdout.contains(told), "{place:?}: {verified}");
    }
}

#[test]
fn another_branch_that_begins_at_the_same_commit() {
    all_caught_in(
        &[Place::Checkout],
        &[Cheat {
            name: "a branch of the builder's own",
            files: "src/a.rs",
            does: |scene| {
                scene.git(&["switch", "--quiet", "--create", "side"]);
                scene.work();
            },
            caught: &["history: branch side is checked out, the task began on main: switch back"],
        }],
    );
}
