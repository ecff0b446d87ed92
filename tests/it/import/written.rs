//! Files that an import leaves on disk.

use std::fs;

use insta::assert_snapshot;

use super::{lay_out, only_plan};
use crate::common::Environment;

#[test]
fn a_person_is_told_what_was_made_and_what_comes_next() {
    let environment = Environment::new().repo();
    lay_out(&environment, "task-master/tags", "old");
    assert_snapshot!(environment.fp(&["import", "old"]), @r#"
    exit status: 0
    --- stdout
    old: task-master (by tasks.json)
      title  The first release
      tasks  5, 4 of them leaves
      work   2 done (0 proven by a commit), 2 to do

    Worth knowing:
      3 waits for "9", which is not there; that is left out
      these are deferred or blocked in the source: 3
      2: a tree can't hold this, so import.json keeps it: priority

    The tree has 9 errors

    Plan first-release-20261121
      folder  .fractal-planner/plans/first-release-20261121

    Next:
      fp validate first-release-20261121 --fix
      in Claude Code, `/fp:plan --import old` imports it anew and completes it
      fp approve first-release-20261121
    "#);
    let plan = only_plan(&environment);
    assert_snapshot!(environment.read(&format!(".fractal-planner/plans/{plan}/plan.json")), @r#"
    {
      "schemaVersion": 1,
      "planId": "first-release-20261121",
      "goal": "The first release",
      "mode": "pipeline",
      "modeReason": "imported with 4 tasks",
      "createdAt": "2026-11-21T09:00:00Z",
      "by": "user",
      "settings": {}
    }
    "#);
    assert_eq!(
        environment.git(&["status", "--short", "--", ".fractal-planner"]),
        "",
        "plans are ignored by git"
    );
}

#[test]
fn the_same_again_is_another_plan() {
    let environment = Environment::new().repo();
    lay_out(&environment, "task-master/tags", "old");
    environment.done(&["import", "old"]);
    environment.done(&["import", "old/"]);
    let plans = environment.done(&["plans"]);
    assert!(plans.stdout.contains("first-release-20261121-2"), "{plans}");
}

#[test]
fn a_plan_outside_the_repository_becomes_one_of_it() {
    let environment = Environment::new().repo();
    fs::create_dir(environment.beside("elsewhere")).unwrap();
    fs::write(
        environment.beside("elsewhere/tasks.md"),
        "# Tasks: Far\n\n- [ ] T001 Go in src/a.rs\n",
    )
    .unwrap();
    let output = environment.done(&["import", "../elsewhere/tasks.md"]);
    assert!(
        output
            .stdout
            .starts_with("[ROOT]/elsewhere/tasks.md: boxes (by tasks.md)"),
        "{output}"
    );
    assert_eq!(only_plan(&environment), "far-20261121");
    assert_eq!(
        fs::read_dir(environment.beside("elsewhere"))
            .unwrap()
            .count(),
        1,
        "nothing is written there"
    );
}

#[test]
fn pages_of_a_plan_of_fractal_planner_come_along() {
    let environment = Environment::new().repo();
    lay_out(&environment, "fractal-planner/run", "old");
    environment.done(&["import", "old"]);
    let plan = only_plan(&environment);
    let folder = format!(".fractal-planner/plans/{plan}");
    assert_eq!(
        environment.read(&format!("{folder}/research.md")),
        environment.read("old/research.md")
    );
    assert!(!environment.path(&format!("{folder}/evidence")).exists());
    environment.done(&["status", &plan]);
}

#[test]
fn a_failing_disk_leaves_no_half_plan() {
    let environment = Environment::new().repo();
    lay_out(&environment, "task-master/tags", "old");
    fs::create_dir_all(environment.path(".fractal-planner/plans")).unwrap();
    // The tree, which is written last, exceeds the file size limit.
    let program = env!("CARGO_BIN_EXE_fp");
    let huge = "word ".repeat(700_000);
    environment.write(
        "old/tasks.json",
        format!(r#"{{"tasks":[{{"id":1,"title":"T","details":"{huge}"}}]}}"#),
    );
    let output = environment.run(
        "sh",
        &[
            "-c",
            &format!("trap '' XFSZ; ulimit -f 3000; exec '{program}' import old"),
        ],
    );
    assert_eq!(output.code, 2, "{output}");
    assert!(output.stderr.contains("can't be written"), "{output}");
    let left: Vec<_> = fs::read_dir(environment.path(".fractal-planner/plans"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, [".gitignore"], "nothing is left of it");
}

/// An import killed at any of its writes leaves a complete plan or none.
#[test]
fn an_interrupted_import_leaves_nothing_that_looks_like_a_plan() {
    let environment = Environment::new().repo();
    if !environment.can_trace() {
        return;
    }
    lay_out(&environment, "fractal-planner/run", "old");
    let (mut killed, mut whole) = (0, 0);
    for call in [
        "fsync",
        "rename",
        "renameat",
        "renameat2",
        "linkat",
        "mkdir",
        "fdatasync",
    ] {
        for number in 1..100 {
            let inject = format!("inject={call}:signal=KILL:when={number}");
            let args = [
                "-o",
                "/dev/null",
                "-e",
                &inject,
                env!("CARGO_BIN_EXE_fp"),
                "import",
                "old",
            ];
            let output = environment.run("strace", &args);
            whole += environment.check_plans();
            if output.code == 0 {
                break;
            }
            killed += 1;
        }
    }
    assert!(killed > 10, "only {killed} were killed");
    assert!(whole > 0, "some came to their end");
    environment.done(&["import", "old"]);
}

impl Environment {
    /// Asserts that every plan with a tree is complete, and removes all plans. Returns how many were complete.
    fn check_plans(&self) -> usize {
        let plans = self.path(".fractal-planner/plans");
        let mut whole = 0;
        let folders =
            fs::read_dir(&plans).map(|found| found.map(|entry| entry.unwrap().path()).collect());
        let folders: Vec<std::path::PathBuf> = folders.unwrap_or_default();
        for folder in folders.into_iter().filter(|path| path.is_dir()) {
            if folder.join("tasks.md").exists() {
                let name = folder.file_name().unwrap().to_str().unwrap();
                for file in ["plan.json", "import.json", "events.jsonl", "research.md"] {
                    assert!(
                        folder.join(file).exists(),
                        "{name} has a tree and no {file}"
                    );
                }
                self.done(&["status", name]);
                whole += 1;
            }
            fs::remove_dir_all(folder).unwrap();
        }
        whole
    }
}
