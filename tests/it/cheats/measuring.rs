//! Attempts to falsify the measurements: through git's objects and index, by the code under test, or while no task is
//! claimed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::cheats::{CHECK, Cheat, DONE, Place, Scene, all_caught, repository};
use crate::common::plan::{Leaf, PLAN, leaf, tree};

pub(super) const PLACES: [Place; 2] = [Place::Checkout, Place::Worktree];

impl Scene {
    /// Changes `check.sh`, and makes the index claim that it still has the old contents.
    fn forge_index(&self) {
        let id = |name: &str| self.git(&["rev-parse", name]).trim().to_owned();
        let bytes = |id: &str| -> Vec<u8> {
            (0..20)
                .map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).unwrap())
                .collect()
        };
        let old = bytes(&id("HEAD:check.sh"));
        self.write("check.sh", "exit 0\n");
        std::thread::sleep(std::time::Duration::from_millis(1100));
        self.git(&["update-index", "check.sh"]);
        let new = bytes(&id(":check.sh"));
        let index = match self.place {
            Place::Checkout => ".git/index",
            Place::Worktree => ".git/worktrees/builder-1/index",
        };
        let index = self.environment.path(index);
        let mut content = fs::read(&index).unwrap();
        let at = content.windows(20).position(|part| part == new).unwrap();
        content[at..at + 20].copy_from_slice(&old);
        fs::write(index, content).unwrap();
    }
}

#[test]
fn what_git_is_made_to_believe() {
    all_caught(&[
        Cheat {
            name: "a commit replaced by one with another tree",
            files: "src/a.rs",
            does: |scene| {
                scene.write("src/a.rs", "nothing\n");
                scene.write("check.sh", "exit 0\n");
                scene.git(&["add", "check.sh"]);
                let tree = scene.git(&["write-tree"]);
                let other = scene.git(&["commit-tree", tree.trim(), "-m", "Other"]);
                scene.git(&["replace", "HEAD", other.trim()]);
            },
            caught: &["boundary: check.sh was changed, is not in the task's files"],
        },
        Cheat {
            name: "a test deleted behind skip-worktree",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.git(&["update-index", "--skip-worktree", "tests/a.rs"]);
                scene.remove("tests/a.rs");
            },
            caught: &[
                "boundary: tests/a.rs was taken away, is not in the task's files",
                "tests: tests/a.rs was deleted",
            ],
        },
        Cheat {
            name: "a file deleted behind a sparse checkout",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.git(&["update-index", "--assume-unchanged", "Cargo.lock"]);
                scene.git(&["config", "core.sparseCheckout", "true"]);
                scene.remove("Cargo.lock");
            },
            caught: &["boundary: Cargo.lock was taken away, is not in the task's files"],
        },
        Cheat {
            name: "an index with forged times",
            files: "src/a.rs",
            does: |scene| {
                scene.write("src/a.rs", "nothing\n");
                scene.forge_index();
            },
            caught: &["boundary: check.sh was changed, is not in the task's files"],
        },
        Cheat {
            name: "names that differ in case, blanks and backslashes alone",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                for name in [
                    "SRC/A.RS",
                    "src/a.rs ",
                    "src\\a.rs",
                    "src/tests/A.rs",
                    "SRC/tests/a.rs",
                ] {
                    scene.write(name, "x\n");
                }
            },
            caught: &[
                "boundary: SRC/A.RS is new, is not in the task's files; SRC/tests/a.rs is new, is not in the task's \
                 files; src/a.rs  is new, is not in the task's files; src\\a.rs is new, is not in the task's files",
            ],
        },
        Cheat {
            name: "files beside a cache's mark without a manifest, and loose byte code",
            files: "src/a.rs",
            does: |scene| {
                scene.work();
                scene.write("src/target/CACHEDIR.TAG", "");
                scene.write("pytest.pyc", "x");
            },
            caught: &[
                "boundary: pytest.pyc is new, is not in the task's files; src/target/CACHEDIR.TAG is new",
            ],
        },
    ]);
}

#[test]
fn an_index_forged_for_a_later_task_is_mended() {
    let scene = Scene::new(Place::Worktree, "src/a.rs");
    scene.forge_index();
    scene.environment.done(&["retry", PLAN, "1"]);
    scene.environment.claim_task("builder-1", "2");
    assert_eq!(
        fs::read_to_string(scene.path("check.sh")).unwrap(),
        "grep -q 2 src/a.rs\n"
    );
}

#[test]
fn commands_that_disturb_each_other() {
    let check = |test: &str, code: &str, told: &str| {
        for place in PLACES {
            let scene = Scene::tested_by(place, "src/a.rs", test, 600);
            scene.write("src/a.rs", code);
            scene.submit();
            let verified = scene.verify();
            assert!(
                verified.stdout.contains(&format!("FAIL  commands: {told}")),
                "{place:?}: {verified}"
            );
            assert!(
                scene
                    .environment
                    .pass("1")
                    .stdout
                    .starts_with("Task 1 did not pass"),
                "{place:?}"
            );
        }
    };
    check(
        "sh src/a.rs; sh check.sh",
        "printf 'git checkout -q check.sh\\n' >check.sh\n",
        "`sh src/a.rs` changed check.sh",
    );
    check(
        "sh src/a.rs; true; sh check.sh",
        "git mv README.md R.md\n",
        "`sh src/a.rs` changed README.md",
    );
    check(
        "sh src/a.rs",
        "echo '# more' >>src/a.rs\n",
        "the commands change the task's files each time they run",
    );
}

/// Package managers set up hooks when they install a project's dependencies.
#[test]
fn a_command_that_sets_up_hooks_is_no_cheat() {
    let code = "mkdir -p .own/_; echo '*' >.own/_/.gitignore; echo exit 0 >.own/_/pre-commit
git config core.hooksPath .own/_\n";
    for place in PLACES {
        let scene = Scene::tested_by(place, "src/a.rs", "sh src/a.rs; sh src/a.rs", 600);
        scene.write("src/a.rs", code);
        scene.submit();
        let verified = scene.verify();
        assert!(
            !verified.stdout.contains("git's own folder"),
            "{place:?}: {verified}"
        );
        let verdict = scene.environment.pass("1");
        assert!(
            verdict.stdout.starts_with("Task 1 passed"),
            "{place:?}: {verdict}"
        );
    }
}

#[test]
fn a_formatter_is_no_cheat() {
    for place in PLACES {
        let scene = Scene::tested_by(
            place,
            "src/a.rs",
            "sed -i s/^2$/22/ src/a.rs; sh check.sh",
            600,
        );
        scene.write("src/a.rs", "2\n");
        let verdict = scene.submit_and_pass();
        assert!(
            verdict.stdout.starts_with("Task 1 passed: commit "),
            "{place:?}: {verdict}"
        );
        assert_eq!(
            scene.environment.git(&["show", "HEAD:src/a.rs"]),
            "22\n",
            "{place:?}"
        );
    }
}

#[test]
fn the_commit_has_what_was_verified() {
    for place in PLACES {
        let scene = Scene::new(place, "src/a.rs");
        scene
            .environment
            .git_hook("pre-commit", "echo never verified >>src/a.rs");
        scene.work();
        let verdict = scene.submit_and_pass();
        assert!(
            verdict.stdout.starts_with("Task 1 passed: commit "),
            "{place:?}: {verdict}"
        );
        assert_eq!(
            scene.environment.git(&["show", "HEAD:src/a.rs"]),
            DONE,
            "{place:?}"
        );
        assert!(
            !scene.environment.next(&[]).stdout.contains(" ask "),
            "{place:?}"
        );
    }
}

#[test]
fn a_hook_that_adds_to_the_commit_is_a_question() {
    for place in PLACES {
        let scene = Scene::new(place, "src/a.rs");
        scene
            .environment
            .git_hook("pre-commit", "echo 'exit 0' >check.sh; git add check.sh");
        scene.work();
        scene.submit_and_pass();
        let next = scene.environment.next(&[]).stdout;
        assert!(
            next.contains(
                "The commit of task 1 is not what was verified: a hook changed check.sh."
            ),
            "{place:?}: {next}"
        );
        assert_eq!(scene.status(), "COMPLETED", "{place:?}");
        scene
            .environment
            .done(&["answer", PLAN, "q1", "--option", "Keep"]);
    }
}

/// The user edits a file after a hook refused the commit.
#[test]
fn what_is_mended_by_hand_is_verified_again() {
    let scene = Scene::new(Place::Checkout, "src/a.rs");
    scene.environment.git_hook("pre-commit", "exit 1");
    scene.work();
    scene.submit_and_pass();
    scene.write("src/a.rs", "garbage\n");
    fs::remove_file(scene.environment.path(".git/hooks/pre-commit")).unwrap();
    scene
        .environment
        .done(&["answer", PLAN, "q1", "--option", "Retry"]);
    let next = scene.environment.next(&[]).stdout;
    assert!(
        next.contains("changed after it was verified, and has to be verified again: src/a.rs"),
        "{next}"
    );
    assert_eq!(scene.subjects(), "Add a program\nStart\n");
}

#[test]
fn settings_of_git_in_every_file_are_told() {
    let check = |does: &dyn Fn(&Scene), told: &str| {
        for place in PLACES {
            let mut scene = Scene::new(place, "src/a.rs");
            let global = scene.environment.beside("home/.gitconfig");
            scene.environment =
                std::mem::replace(&mut scene.environment, crate::common::Environment::new())
                    .env("GIT_CONFIG_GLOBAL", global);
            scene.work();
            does(&scene);
            scene.submit();
            let verified = scene.verify().stdout;
            let line = verified
                .lines()
                .find(|line| line.starts_with("note  git: "))
                .unwrap_or_default();
            assert!(line.contains(told), "{place:?} {told}: {verified}");
        }
    };
    let worktree_config = |scene: &Scene, name: &str, value: &str| {
        scene.git(&["config", "extensions.worktreeConfig", "true"]);
        scene.git(&["config", "--worktree", name, value]);
    };
    check(
        &|scene| worktree_config(scene, "core.excludesFile", "/dev/null"),
        "config.worktree is new",
    );
    check(
        &|scene| drop(scene.git(&["config", "--global", "core.fsmonitor", "x"])),
        ".gitconfig is new",
    );
    check(
        &|scene| drop(scene.git(&["config", "gpg.program", "x"])),
        "config was changed",
    );
    check(
        &|scene| {
            fs::create_dir_all(scene.environment.beside("home/.config/git")).unwrap();
            fs::write(
                scene.environment.beside("home/.config/git/ignore"),
                "conftest.py\n",
            )
            .unwrap();
        },
        "git/ignore is new",
    );
}

/// A repository with a started run of task 1 (`src/a.rs`) and task 2 (`src/b.rs`), which nobody has claimed.
fn started(test: &str, attended: bool) -> crate::common::Environment {
    let environment = repository(Place::Checkout, 600);
    let environment = if attended {
        environment
    } else {
        environment.env("CLAUDE_CODE_SESSION_ATTENDED", "0")
    };
    environment.plan(&tree(&[
        Leaf {
            test,
            ..leaf("1", "none", "src/a.rs")
        },
        leaf("2", "none", "src/b.rs"),
    ]));
    environment.start(&[]);
    environment
}

#[test]
fn a_checkout_that_changed_while_nobody_had_a_task_is_a_question() {
    let environment = started(CHECK, true);
    environment.write("notes.txt", "the user's own, and in no task\n");
    environment.write("dist/out", "ignored\n");
    environment.claim_task("builder-1", "1");
    environment.write("src/a.rs", "half done 2\n");
    environment.done(&["retry", PLAN, "1"]);
    let token = environment.claim_task("builder-1", "1");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    environment.write("check.sh", "exit 0\n");
    environment.write("src/b.rs", "edited too early\n");
    let refused = environment.fp(&["claim", PLAN, "2", "--as", "builder-2"]);
    assert_eq!(refused.code, 1, "{refused}");
    let next = environment.next(&[]).stdout;
    assert!(
        next.contains(
            "Changed in the checkout while no task had it: check.sh; src/b.rs. How should it continue?"
        ),
        "{next}"
    );
    environment.git(&["checkout", "--quiet", "check.sh", "src/b.rs"]);
    environment.done(&["answer", PLAN, "q1", "--option", "Retry"]);
    environment.claim_task("builder-2", "2");
}

#[test]
fn without_a_user_such_a_change_is_in_no_commit() {
    let environment = started("none", false);
    environment.write("README.md", "# Another\n");
    assert_eq!(
        environment
            .fp(&["claim", PLAN, "1", "--as", "builder-1"])
            .code,
        1
    );
    environment.next(&[]);
    environment.build_task("builder-1", "1", "src/a.rs", DONE);
    environment.pass("1");
    assert_eq!(
        environment.git(&["show", "--format=", "--name-only", "HEAD"]),
        "src/a.rs\n"
    );
    assert_eq!(environment.read("README.md"), "# Another\n");
    let log = environment.done(&["log", PLAN]).stdout;
    assert!(log.contains("while no task had it: README.md"), "{log}");
}

#[test]
fn without_a_user_a_changed_check_proves_nothing() {
    let environment = started(CHECK, false);
    environment.write("check.sh", "exit 0\n");
    assert_eq!(
        environment
            .fp(&["claim", PLAN, "1", "--as", "builder-1"])
            .code,
        1
    );
    environment.next(&[]);
    environment.build_task("builder-1", "1", "src/a.rs", "nothing\n");
    let verdict = environment.pass("1").stdout;
    let told = "`sh check.sh` failed: exit status 1";
    assert!(verdict.starts_with("Task 1 did not pass"), "{verdict}");
    assert!(
        environment.reasons().contains(told),
        "{}",
        environment.reasons()
    );
}

#[test]
fn an_installed_program_that_was_replaced() {
    for place in PLACES {
        let install = |scene: &Scene, folder: &str, text: &str| {
            let file = format!("{folder}/node_modules/.bin/jest");
            scene.environment.write(&file, text);
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(scene.environment.path(&file), mode).unwrap();
        };
        let environment = repository(place, 600);
        environment.write("node_modules/.bin/jest", "#!/bin/sh\ngrep -q 2 $1\n");
        environment.plan(&tree(&[
            leaf("1", "none", "src/a.rs"),
            leaf("2", "none", "src/b.rs"),
        ]));
        environment.start(&[]);
        let token = environment.claim_task("builder-1", "1");
        let scene = Scene {
            environment,
            place,
            token,
            left: Default::default(),
        };
        scene.work();
        install(&scene, &scene.folder("builder-1"), "#!/bin/sh\nexit 0\n");
        scene.submit();
        let failing = scene.failing();
        assert_eq!(
            failing,
            ["tools: since the claim: node_modules/.bin/jest was replaced"],
            "{place:?}"
        );
    }
}

#[test]
fn a_lock_on_the_index_never_costs_a_task() {
    let environment = started("none", false);
    environment.write(".git/index.lock", "");
    environment.build_task("builder-1", "1", "src/a.rs", DONE);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.contains("its commit is due: git is locked"),
        "{verdict}"
    );
    let next = environment.next(&[]).stdout;
    assert!(next.contains("finish"), "{next}");
    assert_eq!(environment.statuses()[0].1, "AWAITING_VERIFICATION");
    fs::remove_file(environment.path(".git/index.lock")).unwrap();
    environment.done(&["run", "start", PLAN, "--session", "s1"]);
    assert_eq!(environment.statuses()[0].1, "COMPLETED");
}
