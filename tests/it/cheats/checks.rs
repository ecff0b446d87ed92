//! Cheats that make the checks easier to pass: tests, test commands, dependencies and unfinished work.

use crate::cheats::{Cheat, DONE, LOCK, MANIFEST, Place, Scene, TEST, all_caught};

#[test]
fn tests_deleted_or_weakened() {
    all_caught(&[
        Cheat {
            name: "a test file deleted",
            files: "src/a.rs, tests/a.rs",
            does: |scene| {
                scene.work();
                scene.remove("tests/a.rs");
            },
            caught: &["tests: tests/a.rs was deleted; tests/a.rs: test `works` was taken out"],
        },
        Cheat {
            name: "a test taken out",
            files: "src/a.rs, tests/a.rs",
            does: |scene| {
                scene.work();
                scene.write("tests/a.rs", "// none\n");
            },
            caught: &["tests: tests/a.rs: test `works` was taken out"],
        },
        Cheat {
            name: "a test switched off",
            files: "src/a.rs, tests/a.rs",
            does: |scene| {
                scene.work();
                scene.write("tests/a.rs", &TEST.replace("#[test]", "#[test]\n#[ignore]"));
            },
            caught: &["tests: tests/a.rs:2: switches tests off: #[ignore]"],
        },
        Cheat {
            name: "a test file renamed to what no test runner looks at",
            files: "src/a.rs, tests/",
            does: |scene| {
                scene.work();
                scene.git(&["mv", "tests/a.rs", "tests/a.rs.off"]);
            },
            caught: &["tests: tests/a.rs became tests/a.rs.off, which no test runner looks at"],
        },
    ]);
}

#[test]
fn checks_edited() {
    all_caught(&[
        Cheat {
            name: "the script of a test command, so that it always passes",
            files: "src/a.rs",
            does: |scene| {
                scene.write("src/a.rs", "nothing\n");
                scene.write("check.sh", "exit 0\n");
            },
            caught: &["boundary: check.sh was changed, is not in the task's files"],
        },
        Cheat {
            name: "the work left undone",
            files: "src/a.rs",
            does: |scene| scene.write("src/a.rs", "nothing\n"),
            caught: &["command: sh check.sh: exit status 1"],
        },
    ]);
}

#[test]
fn dependencies_that_nobody_asked_for() {
    all_caught(&[
        Cheat {
            name: "in the manifest",
            files: "src/a.rs, Cargo.toml",
            does: |scene| {
                scene.work();
                scene.write("Cargo.toml", &format!("{MANIFEST}rand = \"1\"\n"));
                scene.write(
                    "Cargo.lock",
                    &format!("{LOCK}\n[[package]]\nname = \"rand\"\n"),
                );
            },
            caught: &["dependencies: Cargo.toml gains `rand`; a task gets a dependency if"],
        },
        Cheat {
            name: "hidden in the lock file",
            files: "src/a.rs, Cargo.lock",
            does: |scene| {
                scene.work();
                scene.write(
                    "Cargo.lock",
                    &format!("{LOCK}\n[[package]]\nname = \"rand\"\n"),
                );
            },
            caught: &["dependencies: Cargo.lock gains `rand`, though no manifest changed"],
        },
        Cheat {
            name: "the same package from elsewhere",
            files: "src/a.rs, Cargo.toml",
            does: |scene| {
                scene.work();
                scene.write("Cargo.toml", &format!("# Changed\n{MANIFEST}"));
                scene.write("Cargo.lock", &LOCK.replace("https://r/", "https://evil/"));
            },
            caught: &["dependencies: Cargo.lock: serde 1.0.0 comes from registry+https://evil/"],
        },
        Cheat {
            name: "the same package with another content",
            files: "src/a.rs, Cargo.toml",
            does: |scene| {
                scene.work();
                scene.write("Cargo.toml", &format!("# Changed\n{MANIFEST}"));
                scene.write("Cargo.lock", &LOCK.replace("good", "evil"));
            },
            caught: &[
                "dependencies: Cargo.lock: serde 1.0.0 has another address or checksum: evil",
            ],
        },
        Cheat {
            name: "hidden in the lock file, which is not listed",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.write(
                    "Cargo.lock",
                    &format!("{LOCK}\n[[package]]\nname = \"rand\"\n"),
                );
            },
            caught: &[
                "boundary: Cargo.lock was changed, is not in the task's files",
                "dependencies: Cargo.lock gains `rand`, though no manifest changed",
            ],
        },
    ]);
}

#[test]
fn tests_that_do_not_run_any_more() {
    all_caught(&[
        Cheat {
            name: "by a setting of the manifest",
            files: "src/a.rs, Cargo.toml",
            does: |scene| {
                scene.work();
                let off = MANIFEST.replace("[dep", "autotests = false\n\n[dep");
                scene.write("Cargo.toml", &off);
            },
            caught: &["tests: Cargo.toml: package.autotests is new: false"],
        },
        Cheat {
            name: "by a file that its runner loads",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.write("tests/conftest.py", "pass_everything()\n");
            },
            caught: &["boundary: tests/conftest.py is new, is not in the task's files"],
        },
    ]);
    // The plan's commands ran once before any work began, and the log records how many tests they ran.
    for place in [Place::Checkout, Place::Worktree] {
        let test =
            "sed -n -e 's/^    1$/Ran 3 tests in 1s/p' -e 's/^    2$/Ran 0 tests in 1s/p' src/a.rs";
        let scene = Scene::tested_by(place, "src/a.rs", test, 600);
        scene.work();
        assert_eq!(scene.submit().code, 0);
        assert_eq!(
            scene.failing(),
            [format!("tests run: `{test}` ran none, and 3 before")]
        );
    }
}

#[test]
fn work_left_open() {
    all_caught(&[
        Cheat {
            name: "a note to come back",
            files: "src/a.rs",
            does: |scene| scene.write("src/a.rs", &format!("{DONE}// TODO the rest\n")),
            caught: &["leftovers: src/a.rs:4: // TODO the rest"],
        },
        Cheat {
            name: "a function that only fails",
            files: "src/a.rs",
            does: |scene| {
                scene.write(
                    "src/a.rs",
                    "pub fn a() -> u8 {\n    unimplemented!(\"2\")\n}\n",
                )
            },
            caught: &["leftovers: src/a.rs:2: unimplemented!(\"2\")"],
        },
        Cheat {
            name: "a conflict not resolved",
            files: "src/a.rs",
            does: |scene| scene.write("src/a.rs", "<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n"),
            caught: &["leftovers: src/a.rs:1: <<<<<<< HEAD; src/a.rs:5: >>>>>>> other"],
        },
    ]);
}
