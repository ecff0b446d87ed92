//! What a builder prepares in its folder, above it or in git's objects, so that a command sees something else than what
//! is committed: the bench has none of it.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::measuring::PLACES;
use super::{PLAN, Place, Scene};

/// A builder that has done nothing, but made the check pass in its folder with `trick`, fails.
#[track_caller]
fn comes_to_nothing(test: &str, prepare: fn(&Scene), trick: fn(&Scene)) {
    fails_in(&PLACES, test, prepare, trick);
}

#[track_caller]
fn fails_in(places: &[Place], test: &str, prepare: fn(&Scene), trick: fn(&Scene)) {
    for &place in places {
        let scene = Scene::prepared(place, test, prepare);
        trick(&scene);
        let there = Command::new("sh")
            .args(["-c", test])
            .current_dir(scene.path(""))
            .status();
        assert!(
            there.unwrap().success(),
            "{place:?}: it works where the builder is"
        );
        let submit = scene.submit();
        assert_eq!(submit.code, 0, "{place:?}: {submit}");
        let verdict = scene.environment.pass("1");
        assert!(
            verdict.stdout.starts_with("Task 1 did not pass"),
            "{place:?}: {verdict}"
        );
        assert!(!scene.subjects().contains("Write part 1"), "{place:?}");
    }
}

fn nothing(scene: &Scene) {
    scene.write("src/a.rs", "// no work done\n");
}

#[test]
fn an_ignored_file_that_ignores_itself() {
    comes_to_nothing(
        "sh check.sh",
        |scene| {
            let check = "[ -e tests/conftest.sh ] && . tests/conftest.sh\ngrep -q 2 src/a.rs\n";
            scene.environment.write("check.sh", check);
        },
        |scene| {
            nothing(scene);
            scene.write("tests/.gitignore", "*\n");
            scene.write("tests/conftest.sh", "exit 0\n");
        },
    );
}

#[test]
fn a_pipe_that_git_does_not_list() {
    comes_to_nothing(
        "make test",
        |scene| {
            scene
                .environment
                .write("Makefile", "test:\n\tgrep -q 2 src/a.rs\n")
        },
        |scene| {
            nothing(scene);
            let pipe = scene.path("GNUmakefile");
            assert!(
                Command::new("mkfifo")
                    .arg(&pipe)
                    .status()
                    .unwrap()
                    .success()
            );
            std::thread::spawn(move || {
                while pipe.exists() {
                    let made = fs::OpenOptions::new().write(true).open(&pipe);
                    drop(made.map(|mut pipe| pipe.write_all(b"test:\n\ttrue\n")));
                    // A reader that has not seen the end when the next text comes reads on.
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
        },
    );
}

#[test]
fn a_module_above_the_folder() {
    fails_in(
        &[Place::Worktree],
        "sh above.sh",
        |scene| {
            // As tools look for their files.
            let look = "d=$PWD; while [ \"$d\" != / ]; do [ -e \"$d/modules/m.sh\" ] && exec sh \"$d/modules/m.sh\"; \
                        d=$(dirname \"$d\"); done; grep -q 2 src/a.rs\n";
            scene.environment.write("above.sh", look);
        },
        |scene| {
            nothing(scene);
            let above = format!("{}/..", scene.folder("builder-1"));
            let benches = "../home/.cache/fractal-planner/benches";
            let of_plan = scene.environment.path(benches).read_dir().unwrap().next();
            let of_plan = of_plan.unwrap().unwrap().path();
            for folder in [
                scene.environment.path(&above),
                scene.environment.path(benches),
                of_plan,
            ] {
                fs::create_dir_all(folder.join("modules")).unwrap();
                fs::write(folder.join("modules/m.sh"), "exit 0\n").unwrap();
            }
        },
    );
}

#[test]
fn a_build_that_is_newer_than_the_source() {
    comes_to_nothing(
        "make test",
        |scene| {
            let make = "dist/app: src/a.rs\n\tmkdir -p dist && cp src/a.rs dist/app\ntest: dist/app\n\tgrep -q 2 dist/app\n";
            scene.environment.write("Makefile", make);
        },
        |scene| {
            scene.work();
            let folder = scene.path("");
            let built = Command::new("make")
                .args(["-s", "dist/app"])
                .current_dir(folder)
                .status();
            assert!(built.unwrap().success());
            nothing(scene);
            let mut old = Command::new("touch");
            old.args(["-d", "2020-01-01"]).arg(scene.path("src/a.rs"));
            assert!(old.status().unwrap().success());
        },
    );
}

#[test]
fn what_attributes_take_out() {
    comes_to_nothing(
        "sh check.sh",
        |scene| {
            scene.environment.write(".gitattributes", "*.sh ident\n");
            let check = "VERSION='$Id$'\ngrep -q 2 src/a.rs\n";
            scene.environment.write("check.sh", check);
        },
        |scene| {
            nothing(scene);
            let check = "VERSION='$Id: '; exit 0; echo ' $'\ngrep -q 2 src/a.rs\n";
            scene.write("check.sh", check);
        },
    );
}

#[test]
fn a_process_that_swaps_a_script_while_it_runs() {
    comes_to_nothing(
        "sh slow.sh",
        |scene| {
            scene
                .environment
                .write("slow.sh", "sleep 1.5; sh check.sh\n")
        },
        |scene| {
            nothing(scene);
            let (check, slow) = (scene.path("check.sh"), scene.path(""));
            // The script puts the one that it stands for back.
            let swapped = "git checkout -q check.sh; exit 0";
            let swap = format!(
                "cd '{}'; for i in $(seq 600); do for p in /proc/[0-9]*; do [ \"$(readlink $p/cwd)\" = \"$PWD\" ] && \
                 grep -qa slow.sh $p/cmdline && {{ echo '{swapped}' >'{}'; sleep 5; }}; done; sleep 0.01; done",
                slow.display(),
                check.display()
            );
            let command = ["-i", "PATH=/usr/bin:/bin", "sh", "-c", &swap];
            let left = Command::new("env")
                .args(command)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            scene.leave_behind(left);
        },
    );
}

/// Puts other bytes into git's objects under the name `id`.
fn forge(scene: &Scene, id: &str, bytes: &[u8]) {
    let made = scene.environment.beside("forged");
    fs::write(&made, bytes).unwrap();
    let other = scene.git(&["hash-object", "-w", made.to_str().unwrap()]);
    let object = |id: &str| {
        scene
            .environment
            .path(".git/objects")
            .join(&id[..2])
            .join(&id[2..])
    };
    let place = object(id);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    drop(fs::remove_file(&place));
    fs::rename(object(other.trim()), place).unwrap();
}

#[test]
fn other_bytes_under_the_name_of_the_work() {
    for place in PLACES {
        let scene = Scene::new(place, "src/a.rs");
        scene.work();
        let id = scene.git(&["hash-object", "src/a.rs"]);
        forge(&scene, id.trim(), b"never seen, never tested\n");
        scene.submit();
        let verified = scene.verify();
        assert!(
            verified.stderr.contains("isn't what its name says"),
            "{place:?}: {verified}"
        );
        assert_eq!(scene.subjects(), "Add a program\nStart\n", "{place:?}");
    }
}

/// The judged work is refused, since the repository has other bytes.
#[track_caller]
fn is_not_committed(scene: &Scene) {
    let verdict = scene.environment.pass("1").to_string();
    let place = scene.place;
    assert!(
        verdict.contains("isn't what its name says"),
        "{place:?}: {verdict}"
    );
    assert!(!scene.subjects().contains("Write part 1"), "{place:?}");
}

#[test]
fn other_bytes_under_the_name_of_judged_work() {
    for place in PLACES {
        let scene = Scene::new(place, "src/a.rs");
        scene.work();
        scene.submit();
        scene.verify();
        let id = scene.git(&["hash-object", "src/a.rs"]);
        forge(&scene, id.trim(), b"never seen, never tested\n");
        is_not_committed(&scene);
    }
}

/// The work is what another file already has, so that the commit adds no object.
#[test]
fn other_bytes_under_the_name_of_a_known_file() {
    let scene = Scene::prepared(Place::Worktree, "sh check.sh", |scene| {
        scene.environment.write("src/good.rs", super::DONE);
    });
    scene.work();
    scene.submit();
    scene.verify();
    let id = scene.git(&["hash-object", "src/a.rs"]);
    forge(&scene, id.trim(), b"never seen, never tested\n");
    is_not_committed(&scene);
}

#[test]
fn other_bytes_under_the_name_of_a_check() {
    let scene = Scene::new(Place::Worktree, "src/a.rs");
    let id = scene.git(&["rev-parse", "HEAD:check.sh"]);
    forge(&scene, id.trim(), b"exit 0\n");
    let environment = &scene.environment;
    environment.done(&["retry", PLAN, "1"]);
    let token = environment.claim_task("builder-2", "1");
    let folder = scene.folder("builder-2");
    assert_eq!(environment.read(&format!("{folder}/check.sh")), "exit 0\n");
    environment.write(&format!("{folder}/src/a.rs"), "// no work done\n");
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    environment.pass("1");
    assert_eq!(scene.subjects(), "Add a program\nStart\n");
}

/// Once the repository is whole again, so is the store.
#[test]
fn a_damaged_object_blocks_nothing_for_good() {
    let scene = Scene::new(Place::Worktree, "src/a.rs");
    scene.work();
    let id = scene.git(&["hash-object", "src/a.rs"]);
    forge(&scene, id.trim(), b"never seen, never tested\n");
    scene.submit();
    assert_eq!(scene.verify().code, 2);
    let object = scene
        .environment
        .path(".git/objects")
        .join(&id[..2])
        .join(id[2..].trim());
    fs::remove_file(object).unwrap();
    scene.git(&["hash-object", "-w", "src/a.rs"]);
    let verdict = scene.environment.pass("1");
    assert!(verdict.stdout.starts_with("Task 1 passed"), "{verdict}");
}

/// Links that code under test leaves on the bench lead nowhere: what they name stays as it is.
#[test]
fn links_that_a_test_leaves_on_the_bench() {
    let scene = Scene::prepared(Place::Checkout, "sh src/a.rs; sh check.sh", |_| {});
    let git = scene.environment.path(".git").display().to_string();
    let leave = format!(
        "mkdir -p dist; mv src dist/src; ln -s dist/src src; mv .git dist/git; ln -s '{git}' .git"
    );
    scene.write("src/a.rs", &format!("{leave} # two\n"));
    scene.submit();
    scene.environment.fail("1");
    passes_next(&scene, "test ! -h src && test ! -h .git # 2\n");
    assert_eq!(
        scene.git(&["fsck", "--connectivity-only", "--no-dangling"]),
        ""
    );
}

/// What code under test leaves on the bench is gone before the next attempt, unless the repository ignores it.
#[test]
fn what_a_test_leaves_on_the_bench() {
    let leave = "mkdir -p dist tests/x; echo '*' >tests/.gitignore; echo exit >tests/hook.sh; echo x >dist/kept; \
                 mkfifo pipe; [ ! -e pipe.seen ]; echo >pipe.seen; ls >dist/list";
    let scene = Scene::prepared(Place::Checkout, "sh src/a.rs; sh check.sh", |_| {});
    scene.write("src/a.rs", &format!("{leave} # two\n"));
    scene.submit();
    scene.environment.fail("1");
    passes_next(
        &scene,
        "test -e dist/kept && ! test -e pipe && ! test -e tests/hook.sh # 2\n",
    );
}

/// The next attempt passes with `work` in `src/a.rs`.
#[track_caller]
fn passes_next(scene: &Scene, work: &str) {
    let environment = &scene.environment;
    let token = environment.claim("builder-1").unwrap().1;
    scene.write("src/a.rs", work);
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    let verdict = environment.pass("1");
    assert!(
        verdict.stdout.starts_with("Task 1 passed"),
        "{verdict}{}",
        environment.reasons()
    );
}

/// A command doesn't see the new files of an earlier one, which no commit would have.
#[test]
fn what_one_command_leaves_for_the_next() {
    let (test, leave) = ("sh src/a.rs", "echo >tests/needed; echo >dist; true # 2\n");
    let verify = "test -e tests/needed";
    for place in PLACES {
        let scene = Scene::prepared(place, &format!("{test}\n  - Verify: {verify}"), |_| {});
        scene.write("src/a.rs", leave);
        scene.submit();
        let failing = scene.failing();
        assert!(
            failing.len() == 1 && failing[0].starts_with("command: test -e tests/needed"),
            "{place:?}: {failing:?}"
        );
    }
}

/// Code under test makes a submodule's folder a repository, whose settings would run programs.
#[test]
fn a_repository_that_a_test_makes_in_a_submodule() {
    let scene = Scene::prepared(Place::Checkout, "sh src/a.rs; sh check.sh", |scene| {
        let library = scene.environment.beside("library").display().to_string();
        scene.git(&["init", "--quiet", &library]);
        let empty = ["commit", "--quiet", "--allow-empty", "--message", "Empty"];
        scene.git(&[&["-C", &library], &empty[..]].concat());
        let allow = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
        scene.git(&[&allow[..], &["add", &library, "lib"]].concat());
    });
    scene.write("src/a.rs", "git init --quiet lib && test -e lib/.git # 2\n");
    scene.submit();
    scene.environment.fail("1");
    passes_next(&scene, "test -d lib && test ! -e lib/.git # 2\n");
}

/// What is damaged among the files of `fp` itself is made anew.
#[test]
fn a_damaged_store_and_a_lock_that_a_killed_git_left() {
    let scene = Scene::new(Place::Worktree, "src/a.rs");
    scene.work();
    scene.submit();
    scene.verify();
    let home = scene.environment.path("../home");
    let only = |folder: &str| {
        let mut entries = fs::read_dir(home.join(folder)).unwrap();
        entries.next().unwrap().unwrap().path()
    };
    let store = only(".local/state/fractal-planner/objects");
    let bench = only(".cache/fractal-planner/benches");
    let name = scene.environment.path("").canonicalize().unwrap();
    let checkout = bench.join("1").join(name.file_name().unwrap());
    let each_pack = |damage: &dyn Fn(&std::path::Path)| {
        for pack in fs::read_dir(store.join("objects/pack")).unwrap() {
            let path = pack.unwrap().path();
            let mut writable = Command::new("chmod");
            assert!(writable.arg("u+w").arg(&path).status().unwrap().success());
            damage(&path);
        }
    };
    let other_bytes = |path: &std::path::Path| {
        let mut bytes = fs::read(path).unwrap();
        let end = bytes.len().saturating_sub(20).max(14);
        bytes[14..end].iter_mut().for_each(|byte| *byte ^= 0x55);
        fs::write(path, bytes).unwrap();
    };
    let damages: [(&str, &dyn Fn()); 7] = [
        ("bytes", &|| each_pack(&other_bytes)),
        ("cut", &|| each_pack(&|path| fs::write(path, "").unwrap())),
        ("objects", &|| {
            fs::remove_dir_all(store.join("objects")).unwrap()
        }),
        ("head", &|| fs::remove_file(store.join("HEAD")).unwrap()),
        ("settings", &|| fs::write(store.join("config"), "").unwrap()),
        ("index", &|| {
            fs::write(bench.join("1.index"), "junk").unwrap()
        }),
        ("lock", &|| {
            fs::write(bench.join("1.index.lock"), "").unwrap()
        }),
    ];
    for (what, damage) in damages {
        fs::remove_dir_all(checkout.join("src")).unwrap();
        damage();
        let verified = scene.verify();
        assert_eq!(verified.code, 0, "{what}: {verified}");
        assert!(checkout.join("src/a.rs").exists(), "{what}");
    }
    each_pack(&other_bytes);
    let verdict = scene.environment.pass("1");
    assert!(verdict.stdout.starts_with("Task 1 passed"), "{verdict}");
}
