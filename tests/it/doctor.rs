//! `fp doctor`: what is wrong with a plan or with the setup, what mends it, and that nothing else is touched.

mod setup;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

/// A run with a task that passed and one that is being built, led by a client's process that is there or gone.
fn running(client: u32) -> Environment {
    let environment = Environment::new()
        .env("CLAUDE_PID", client.to_string())
        .repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&[]);
    environment.done(&["note", PLAN, "add", "WARN: mind the step"]);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass("1");
    environment.claim("builder-1");
    environment
}

fn led() -> Environment {
    running(std::process::id())
}

/// Id of a process that is gone.
fn gone() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

impl Environment {
    fn plan_text(&self, name: &str) -> String {
        format!(".fractal-planner/plans/{PLAN}/{name}")
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let path = self.plan_text(name);
        let text = fs::read_to_string(self.path(&path)).unwrap();
        assert!(text.contains(from), "{from:?} is not in {name}");
        self.write(&path, text.replacen(from, to, 1));
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(&self.plan_text(name))).unwrap();
    }

    /// The plan's files.
    fn files(&self) -> BTreeMap<String, String> {
        let folder = self.path(&self.plan_text(""));
        let mut found = BTreeMap::new();
        let mut open = vec![folder.clone()];
        while let Some(below) = open.pop() {
            for entry in fs::read_dir(below).unwrap() {
                let path = entry.unwrap().path();
                let name = path
                    .strip_prefix(&folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
        found
    }
}

#[test]
fn a_healthy_plan() {
    let environment = led();
    let before = environment.files();
    assert_snapshot!(environment.fp(&["doctor", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121
      ok       files        all can be read
      ok       log          10 entries
      ok       snapshot     matches the log
      ok       claims       held: task 2
      ok       evidence     complete
      ok       commits      1 commit in the history of HEAD
      ok       git          ready to commit
      ok       leftovers    none

    Everything looks good
    ");
    assert_snapshot!(environment.fp(&["doctor", PLAN, "--fix"]).stdout.lines().next().unwrap(), @"
    Plan sample-20261121
    ");
    assert_eq!(before, environment.files(), "nothing was to be mended");
    let fresh = Environment::new().repo();
    fresh.plan(&tree(&[leaf("1", "none", "a.txt")]));
    assert_snapshot!(fresh.fp(&["doctor", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121
      ok       files        all can be read
      ok       log          0 entries
      ok       snapshot     none; the next change writes it
      ok       claims       no task is held
      ok       evidence     complete
      ok       commits      0 commits in the history of HEAD
      ok       git          ready to commit
      ok       leftovers    none

    Everything looks good
    ");
}

#[test]
fn everything_at_once_and_what_is_mended() {
    let environment = running(gone());
    let before = environment.files();
    environment.edit(
        "execution-state.json",
        "\"status\":\"COMPLETED\"",
        "\"status\":\"FAILED\"",
    );
    environment.remove("evidence/task-1-verification.md");
    environment.edit("tasks.md", "Write part 2", "Write another part");
    environment.git(&["commit", "--quiet", "--amend", "--message", "Another"]);
    environment.write(".git/index.lock", "");
    environment.write(".git/MERGE_HEAD", "");
    assert_snapshot!(environment.fp(&["doctor", PLAN]).masked(), @r"
    exit status: 1
    --- stdout
    Plan sample-20261121
      ok       files        all can be read
      ok       log          10 entries
      warning  snapshot     damaged, edited by hand, or from another plan or version
                            → fp doctor sample-20261121 --fix
      warning  claims       held: task 2; interrupted: nobody leads the run
                            → /fp:implement sample-20261121
      warning  evidence     no file for task 1; the log has its contents
                            → fp doctor sample-20261121 --fix
      warning  commits      not in the history of HEAD: task 1; another branch is
                            checked out, or the history was rewritten
                            → git branch --contains [COMMIT]
      error    git          .git/index.lock keeps git from committing; if no git is
                            running, a killed one has left it: remove it
                            → rm [ROOT]/work/.git/index.lock
      ok       leftovers    none

    1 error, 4 warnings
    ");
    assert_snapshot!(environment.fp(&["doctor", PLAN, "--fix"]).masked(), @r"
    exit status: 1
    --- stdout
    Plan sample-20261121
      fixed    rebuilt the snapshot from the log
      fixed    wrote 1 evidence file from the log
      ok       files        all can be read
      ok       log          10 entries
      ok       snapshot     matches the log
      warning  claims       held: task 2; interrupted: nobody leads the run
                            → /fp:implement sample-20261121
      ok       evidence     complete
      warning  commits      not in the history of HEAD: task 1; another branch is
                            checked out, or the history was rewritten
                            → git branch --contains [COMMIT]
      error    git          .git/index.lock keeps git from committing; if no git is
                            running, a killed one has left it: remove it
                            → rm [ROOT]/work/.git/index.lock
      ok       leftovers    none

    1 error, 2 warnings
    ");
    let after = environment.files();
    assert_eq!(
        after.keys().collect::<Vec<_>>(),
        before.keys().collect::<Vec<_>>()
    );
    for name in ["events.jsonl", "evidence/task-1-verification.md"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    fs::remove_file(environment.path(".git/index.lock")).unwrap();
    assert_snapshot!(environment.fp(&["doctor", PLAN, "--format", "json"]).masked(), @r#"
    exit status: 0
    --- stdout
    {
      "errors": 0,
      "findings": [
        {
          "check": "files",
          "command": null,
          "detail": "all can be read",
          "level": "ok"
        },
        {
          "check": "log",
          "command": null,
          "detail": "10 entries",
          "level": "ok"
        },
        {
          "check": "snapshot",
          "command": null,
          "detail": "matches the log",
          "level": "ok"
        },
        {
          "check": "claims",
          "command": "/fp:implement sample-20261121",
          "detail": "held: task 2; interrupted: nobody leads the run",
          "level": "warning"
        },
        {
          "check": "evidence",
          "command": null,
          "detail": "complete",
          "level": "ok"
        },
        {
          "check": "commits",
          "command": "git branch --contains [COMMIT]",
          "detail": "not in the history of HEAD: task 1; another branch is checked out, or the history was rewritten",
          "level": "warning"
        },
        {
          "check": "git",
          "command": null,
          "detail": "a merge is in progress; finish it with `git merge --continue`, or drop it with `git merge --abort`",
          "level": "warning"
        },
        {
          "check": "leftovers",
          "command": null,
          "detail": "none",
          "level": "ok"
        }
      ],
      "mended": [],
      "planId": "sample-20261121",
      "schemaVersion": 1,
      "warnings": 3
    }
    "#);
}

#[test]
fn a_torn_line_is_dropped() {
    let environment = led();
    let log = environment.plan_text("events.jsonl");
    let whole = environment.read(&log);
    environment.write(&log, format!("{whole}{{\"schemaVer"));
    let found = environment.fp(&["doctor", PLAN]);
    assert!(
        found.stdout.contains("its last line was cut off"),
        "{found}"
    );
    assert_eq!(
        environment.read(&log).len(),
        whole.len() + 11,
        "looking changes nothing"
    );
    let mended = environment.fp(&["doctor", PLAN, "--fix"]);
    assert!(
        mended
            .stdout
            .contains("fixed    dropped the torn line of the log"),
        "{mended}"
    );
    assert_eq!(environment.read(&log), whole);
}

#[test]
fn a_log_that_is_none_is_left_alone() {
    let environment = led();
    let log = environment.plan_text("events.jsonl");
    let whole = environment.read(&log);
    environment.write(&log, whole.replacen("\"seq\":3", "\"seq\":4", 1));
    assert_snapshot!(environment.fp(&["doctor", PLAN, "--fix"]), @"
    exit status: 1
    --- stdout
    Plan sample-20261121
      ok       files        all can be read
      error    log          events.jsonl:3: not an entry of this log: seq 4 where 3
                            is due; mend or remove line 3 of events.jsonl: every
                            line is one JSON object, numbered by `seq`
      ok       leftovers    none

    1 error
    ");
    environment.write(
        &log,
        whole.replacen("\"schemaVersion\":1", "\"schemaVersion\":99", 1),
    );
    let newer = environment.fp(&["doctor", PLAN, "--fix"]);
    assert!(
        newer.code == 1 && newer.stdout.contains("written by a newer fp"),
        "{newer}"
    );
    let other = whole.replacen("builder-1", "builder-2", 1);
    environment.write(&log, &other);
    assert_snapshot!(environment.fp(&["doctor", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121
      ok       files        all can be read
      warning  log          entry 4 was not written by fp on this machine: nothing
                            goes on from here until `fp approve sample-20261121`
      warning  snapshot     does not match the log: one of them was edited by hand
                            → fp doctor sample-20261121 --fix
      ok       claims       held: task 2
      ok       evidence     complete
      ok       commits      1 commit in the history of HEAD
      ok       git          ready to commit
      ok       leftovers    none

    2 warnings
    ");
    // The last line is gone, and a snapshot says so.
    let shorter: Vec<&str> = whole.lines().collect();
    let shorter = shorter[..shorter.len() - 1].join("\n") + "\n";
    environment.write(&log, &shorter);
    let cut = environment.fp(&["doctor", PLAN, "--fix"]);
    assert!(
        cut.code == 1 && cut.stdout.contains("the log ends at entry 9"),
        "{cut}"
    );
    assert_eq!(environment.read(&log), shorter);
}

#[test]
fn files_that_can_not_be_read() {
    let environment = led();
    environment.write(
        &environment.plan_text("plan.json"),
        "{\"goal\": 7,\n \"settings\": {\"maxComplexity\": 99}}",
    );
    environment.remove("tasks.md");
    std::os::unix::fs::symlink(
        "/etc",
        environment.path(&environment.plan_text("worktrees")),
    )
    .unwrap();
    assert_snapshot!(environment.fp(&["doctor", PLAN]), @"
    exit status: 1
    --- stdout
    Plan sample-20261121
      error    files        there is no tasks.md; plan again, or put it back
      error    files        plan.json:2:35: maxComplexity: expected a whole number
                            from 1 to 10, found integer `99`; correct that place, or
                            delete the file: the plan loses its goal and flags
      warning  files        worktrees is a symbolic link, which fp does not follow;
                            put the real one in its place
      ok       log          10 entries
      ok       snapshot     matches the log
      ok       claims       held: task 2
      ok       evidence     complete
      ok       commits      1 commit in the history of HEAD
      ok       git          ready to commit
      ok       leftovers    none

    2 errors, 1 warning
    ");
}

#[test]
fn a_run_that_is_over_leaves_nothing() {
    let environment = led();
    let left = environment.plan_text("worktrees/builder-1/a.txt");
    environment.write(&left, "work\n");
    let leftovers = |environment: &Environment| {
        let found = environment.fp(&["doctor", PLAN, "--format", "json"]).json();
        let findings = found["findings"].as_array().unwrap().clone();
        findings
            .into_iter()
            .find(|f| f["check"] == "leftovers")
            .unwrap()["detail"]
            .clone()
    };
    assert_eq!(leftovers(&environment), "none");
    environment.done(&["cancel", PLAN]);
    assert_eq!(
        leftovers(&environment),
        "none",
        "the end of a run takes its worktrees away"
    );
    environment.write(&left, "work\n");
    assert_eq!(
        leftovers(&environment),
        "worktrees of a run that is over, in worktrees/: builder-1"
    );
}

#[test]
fn nothing_is_written_behind_a_link() {
    let environment = led();
    let evidence = environment.path(&environment.plan_text("evidence"));
    fs::rename(&evidence, environment.beside("outside")).unwrap();
    fs::remove_file(environment.beside("outside/task-1-verification.md")).unwrap();
    std::os::unix::fs::symlink(environment.beside("outside"), &evidence).unwrap();
    assert_snapshot!(environment.fp(&["doctor", PLAN, "--fix"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/evidence is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place
    ");
    assert_eq!(
        fs::read_dir(environment.beside("outside")).unwrap().count(),
        0
    );
}
