//! `fp plans archive`, which survives being killed at any moment, and `fp report --markdown`, which shows a plan's
//! results.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

const PLANS: &str = ".fractal-planner/plans";
const ARCHIVE: &str = ".fractal-planner/archive";

/// A finished run: the first task passed, the second was given up, the third was skipped.
fn finished() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
        leaf("3", "2", "c <b>.txt"),
        leaf("4", "none", "d.txt"),
    ]));
    environment.write(
        &format!("{PLANS}/{PLAN}/plan.json"),
        r##"{"goal": "Write the parts\n# and *nothing* else", "settings": {}}"##,
    );
    environment.start(&["--max-iterations", "1"]);
    environment.done(&[
        "note",
        PLAN,
        "add",
        "WARN: <script> and | are text",
        "--task",
        "1",
    ]);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass("1");
    environment.build("builder-1", "b.txt", "nothing\n");
    environment.fail("2");
    environment.done(&["next", PLAN, "--ended", "builder-1"]);
    environment.done(&["cancel", PLAN]);
    environment
}

/// The files below `folder` with their contents, except the snapshot, which can be made again.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(below).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            if path.is_dir() {
                open.push(path);
            } else if !name.ends_with("lock") && !name.ends_with("execution-state.json") {
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Asserts that two folders have the same files with the same contents.
fn assert_same(left: &BTreeMap<String, String>, right: &BTreeMap<String, String>, place: &str) {
    assert_eq!(
        left.keys().collect::<Vec<_>>(),
        right.keys().collect::<Vec<_>>(),
        "{place}"
    );
    let other: Vec<&String> = left
        .keys()
        .filter(|name| left.get(*name) != right.get(*name))
        .collect();
    assert!(
        other.is_empty(),
        "{place}: {other:?} are not what they were"
    );
}

#[test]
fn an_archived_plan_is_put_away_whole() {
    let environment = finished();
    let before = files(&environment.path(&format!("{PLANS}/{PLAN}")));
    assert_snapshot!(environment.fp(&["plans", "archive", PLAN]), @r"
    exit status: 0
    --- stdout
    Archived sample-20261121 in .fractal-planner/archive/sample-20261121
    To restore it: fp plans restore sample-20261121
    ");
    let mut after = files(&environment.path(&format!("{ARCHIVE}/{PLAN}")));
    assert!(after.remove("archived.json").is_some());
    assert_same(&before, &after, "moved");
    assert!(!environment.path(&format!("{PLANS}/{PLAN}")).exists());
    assert_eq!(environment.git(&["status", "--short"]), "?? b.txt\n");
    assert_snapshot!(environment.fp(&["plans", "--all"]), @"
    exit status: 0
    --- stdout
    No active plan; `fp new GOAL` makes one
    ");
    assert_snapshot!(environment.fp(&["plans", "--archived"]), @r"
    exit status: 0
    --- stdout
    sample-20261121                               cancelled      1 of 4 done  since 2026-11-21
    ");
    assert_snapshot!(environment.fp(&["plans", "--archived", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "plans": [
        {
          "archivedAt": "2026-11-21T09:00:00Z",
          "counts": {
            "awaitingVerification": 0,
            "completed": 1,
            "failed": 1,
            "implementing": 0,
            "pending": 1,
            "ready": 0,
            "skipped": 1,
            "total": 4
          },
          "number": null,
          "phase": "cancelled",
          "planId": "sample-20261121",
          "standing": "cancelled"
        }
      ],
      "schemaVersion": 1
    }
    "#);
    assert_snapshot!(environment.fp(&["status", PLAN]), @r#"
    exit status: 0
    --- stdout
    Plan sample-20261121 (cancelled)
    ▰▰▱▱▱▱▱▱▱▱ 1 of 4 tasks done, 1 failed, 1 waiting, 1 skipped

    Needs you:
      ? Task 2 failed for good: Criterion 1 (`b.txt` has a line about 2): not seen. The verifier says: "not yet". How should it continue?
        fp answer sample-20261121 q1 --option Continue

      ✕ 2  failed     Write part 2  (1/1, 1 question)
                      Criterion 1 (`b.txt` has a line about 2): not seen
      ○ 4  waiting    Write part 4
      ✓ 1  done       Write part 1  (1/1, bcf16c3)
      – 3  skipped    Write part 3
                      Blocked by 2
    "#);
    assert_snapshot!(environment.fp(&["status", "1"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "1": there is no plan yet
    hint: plan a goal with `/fp:plan GOAL` in Claude Code, or by hand with `fp new GOAL`
    "#);
    // No new plan gets the archived plan's name.
    let new = environment
        .done(&["new", "sample", "--format", "json"])
        .json();
    assert_eq!(new["planId"], "sample-20261121-2");
    // An archived plan that is moved back by hand works again.
    fs::rename(
        environment.path(&format!("{ARCHIVE}/{PLAN}")),
        environment.path(&format!("{PLANS}/{PLAN}")),
    )
    .unwrap();
    environment.done(&["status", PLAN]);
    environment.done(&["plans", "archive", PLAN]);
}

#[test]
fn what_is_not_archived() {
    let environment = finished();
    environment.done(&["run", "start", PLAN, "--here"]);
    assert_snapshot!(environment.fp(&["plans", "archive", PLAN]), @"
    exit status: 1
    --- stderr
    error: the run of sample-20261121 is on: it is not archived
    hint: `fp cancel sample-20261121` ends the run first
    ");
    environment.done(&["cancel", PLAN]);
    environment.write(
        &format!("{PLANS}/{PLAN}/worktrees/builder-1/a.txt"),
        "work\n",
    );
    assert_snapshot!(environment.fp(&["plans", "archive", PLAN]), @"
    exit status: 1
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/worktrees has working trees in it, which would be lost to git
    hint: `git worktree list` shows them, `git worktree remove` takes one away
    ");
    fs::remove_dir_all(environment.path(&format!("{PLANS}/{PLAN}/worktrees"))).unwrap();
    environment.write(&format!("{ARCHIVE}/{PLAN}/tasks.md"), "another\n");
    assert_snapshot!(environment.fp(&["plans", "archive", PLAN]), @r"
    exit status: 1
    --- stderr
    error: there is a plan in [ROOT]/work/.fractal-planner/archive/sample-20261121 already
    hint: give the folder of that plan another name
    ");
    assert_eq!(
        environment.read(&format!("{ARCHIVE}/{PLAN}/tasks.md")),
        "another\n"
    );
    assert!(
        environment
            .path(&format!("{PLANS}/{PLAN}/events.jsonl"))
            .exists()
    );
}

#[cfg(unix)]
#[test]
fn an_archive_that_is_a_link_is_refused() {
    let environment = finished();
    fs::create_dir(environment.beside("outside")).unwrap();
    std::os::unix::fs::symlink(environment.beside("outside"), environment.path(ARCHIVE)).unwrap();
    assert_snapshot!(environment.fp(&["plans", "archive", PLAN]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/archive leads out of the repository, to [ROOT]/outside
    hint: put a real folder in the link's place, or set `plansDir` to one inside the repository
    ");
    assert_eq!(
        fs::read_dir(environment.beside("outside")).unwrap().count(),
        0
    );
}

/// The system calls that change something on a disk.
const CALLS: [&str; 9] = [
    "write",
    "fsync",
    "rename",
    "renameat",
    "renameat2",
    "openat",
    "unlink",
    "unlinkat",
    "mkdir",
];

#[test]
fn killed_at_any_write_the_plan_is_whole_in_one_place() {
    let environment = finished();
    if !environment.can_trace() {
        return;
    }
    let copy = |from: &str, to: &str| {
        drop(fs::remove_dir_all(environment.beside(to)));
        let mut command = environment.command("cp");
        command.current_dir(environment.beside("home")).arg("-a");
        assert!(
            command
                .args([environment.beside(from), environment.beside(to)])
                .status()
                .unwrap()
                .success()
        );
    };
    let whole = files(&environment.path(&format!("{PLANS}/{PLAN}")));
    copy("work", "saved");
    environment.done(&["plans", "archive", PLAN]);
    let expected = files(&environment.path(".fractal-planner"));
    let mut killed = 0;
    for call in CALLS {
        for n in 1.. {
            copy("saved", "work");
            let mut command = environment.command("strace");
            command
                .args(["-o", "/dev/null", "-e"])
                .arg(format!("inject={call}:signal=KILL:when={n}"));
            let output = command
                .arg(env!("CARGO_BIN_EXE_fp"))
                .args(["plans", "archive", PLAN])
                .output()
                .unwrap();
            if output.status.success() {
                break;
            }
            killed += 1;
            let place = format!("{call} {n}");
            let (here, there) = (
                environment.path(&format!("{PLANS}/{PLAN}")),
                environment.path(&format!("{ARCHIVE}/{PLAN}")),
            );
            assert!(here.exists() != there.exists(), "{place}");
            let mut left = files(if here.exists() { &here } else { &there });
            left.remove("archived.json");
            left.remove("archived.json.tmp");
            assert_same(&left, &whole, &place);
            environment.done(&["plans"]);
            if here.exists() {
                environment.done(&["plans", "archive", PLAN]);
            }
            assert_same(
                &files(&environment.path(".fractal-planner")),
                &expected,
                &place,
            );
        }
    }
    println!("killed at {killed} calls");
    assert!(killed > 10, "hardly anything was killed");
}

#[test]
fn the_page_tells_what_came_of_it() {
    let environment = finished();
    let page = environment
        .fp(&["report", "--markdown", PLAN])
        .masked()
        .to_string();
    let short = regex::Regex::new("`[0-9a-f]{7}`").unwrap();
    assert_snapshot!(short.replace_all(&page, "`[COMMIT]`"), @r"
    exit status: 0
    --- stdout
    # sample-20261121

    - State: cancelled
    - Started: 2026-11-21T09:00:00Z
    - Ended: 2026-11-21T09:00:00Z

    > Write the parts
    > \# and \*nothing\* else

    **1 of 4 tasks done, 1 failed, 1 waiting, 1 skipped**.

    ## Look at first

    - \[Task 1\] WARN: \<script> and \| are text

    ## Not done

    - 2 Write part 2: failed: Criterion 1 (`b.txt` has a line about 2): not seen
    - 3 Write part 3: skipped: Blocked by 2
    - 4 Write part 4: waiting

    ## Tasks

    | Task | | Commit | Attempts | Verified |
    | --- | --- | --- | --- | --- |
    | 1 | Write part 1 | bcf16c3 | 1 | 1 criterion |
    | 2 | Write part 2 | - | 1 | 1 criterion |
    | 3 | Write part 3 | - | 0 |  |
    | 4 | Write part 4 | - | 0 |  |
    ");
    environment.done(&["plans", "archive", PLAN]);
    let archived = environment
        .fp(&["report", "--markdown", "sample"])
        .masked()
        .to_string();
    assert_eq!(page, archived);
}

#[test]
fn a_page_replaces_nothing_unasked() {
    let environment = finished();
    assert_snapshot!(environment.fp(&["report", "--markdown", PLAN, "--out", "result.md"]), @"
    exit status: 0
    --- stderr
    note: written to result.md
    ");
    assert_snapshot!(environment.fp(&["report", "--markdown", PLAN, "--out", "README.md"]), @"
    exit status: 1
    --- stderr
    error: README.md is there already, and no page of fp report
    hint: name another file, or add --force to replace it
    ");
    assert_eq!(environment.read("README.md"), "# Sample\n");
    environment.done(&[
        "report",
        "--markdown",
        PLAN,
        "--out",
        "README.md",
        "--force",
    ]);
    assert_eq!(environment.read("README.md"), environment.read("result.md"));
    assert_snapshot!(environment.fp(&["report", "--markdown", PLAN, "--out", "nowhere/result.md"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/nowhere/result.md can't be written: no such file or directory
    hint: check the path
    ");
}

#[test]
fn a_plan_is_restored() {
    let environment = Environment::new().repo();
    environment.fp(&["new", "add auth"]);
    let before = environment.fp(&["status", "add-auth"]);
    environment.fp(&["plans", "archive", "add-auth"]);
    assert_eq!(
        environment.fp(&["status", "add-auth"]).stdout,
        before.stdout
    );
    assert_snapshot!(environment.fp(&["cancel", "add-auth"]), @r"
    exit status: 2
    --- stderr
    error: add-auth-20261121 is archived, in .fractal-planner/archive/add-auth-20261121
    hint: `fp plans restore add-auth-20261121` brings it back
    ");
    assert_snapshot!(environment.fp(&["plans", "restore", "add-auth"]), @r"
    exit status: 0
    --- stdout
    Restored add-auth-20261121 to .fractal-planner/plans/add-auth-20261121
    ");
    assert_eq!(environment.fp(&["status"]), before);
    assert!(
        !environment
            .path(".fractal-planner/plans/add-auth-20261121/archived.json")
            .exists()
    );
    assert_snapshot!(environment.fp(&["plans", "restore", "add-auth"]), @r#"
    exit status: 2
    --- stderr
    error: no plan matches "add-auth": there is no plan yet
    hint: plan a goal with `/fp:plan GOAL` in Claude Code, or by hand with `fp new GOAL`
    "#);
    environment.fp(&["plans", "archive", "add-auth"]);
    environment.write(".fractal-planner/plans/add-auth-20261121/tasks.md", "");
    assert_snapshot!(environment.fp(&["plans", "restore", "add-auth"]), @r"
    exit status: 1
    --- stderr
    error: there is a plan in [ROOT]/work/.fractal-planner/plans/add-auth-20261121 already
    hint: give the folder of that plan another name
    ");
}
