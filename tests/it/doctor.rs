//! `fp doctor`: reports what is wrong with a plan or the setup and how to fix it, and touches nothing else.

mod setup;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

/// A run with one task that passed and one being built, led by the client process with this id, alive or gone.
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

/// Id of a process that has exited.
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
      ok       run          running
      ok       commits      1 commit in the history of HEAD
      ok       git          ready to commit

    Everything looks good
    ");
    assert_eq!(before, environment.files(), "nothing was to be changed");
    let fresh = Environment::new().repo();
    fresh.plan(&tree(&[leaf("1", "none", "a.txt")]));
    assert_snapshot!(fresh.fp(&["doctor", PLAN]), @"
    exit status: 0
    --- stdout
    Plan sample-20261121
      ok       files        all can be read
      ok       log          0 entries
      ok       run          planning
      ok       commits      0 commits in the history of HEAD
      ok       git          ready to commit

    Everything looks good
    ");
}

#[test]
fn everything_at_once() {
    let environment = running(gone());
    environment.edit(
        "execution-state.json",
        "\"status\":\"COMPLETED\"",
        "\"status\":\"FAILED\"",
    );
    environment.git(&["commit", "--quiet", "--amend", "--message", "Another"]);
    environment.write(".git/index.lock", "");
    environment.write(".git/MERGE_HEAD", "");
    let before = environment.files();
    assert_snapshot!(environment.fp(&["doctor", PLAN]).masked(), @"
    exit status: 1
    --- stdout
    Plan sample-20261121
      ok       files        all can be read
      ok       log          10 entries
      warning  run          interrupted
                            → /fp:implement sample-20261121
      warning  commits      the commits of 1 task are not in the history of HEAD
                            (1): another branch is checked out, or the history was
                            rewritten
                            → git branch --contains [COMMIT]
      error    git          .git/index.lock keeps git from committing; if no git is
                            running, a killed one has left it: remove it
                            → rm [ROOT]/work/.git/index.lock

    1 error, 2 warnings
    ");
    assert_eq!(before, environment.files(), "nothing was to be changed");
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
          "check": "run",
          "command": "/fp:implement sample-20261121",
          "detail": "interrupted",
          "level": "warning"
        },
        {
          "check": "commits",
          "command": "git branch --contains [COMMIT]",
          "detail": "the commits of 1 task are not in the history of HEAD (1): another branch is checked out, or the history was rewritten",
          "level": "warning"
        },
        {
          "check": "git",
          "command": null,
          "detail": "a merge is in progress; finish it with `git merge --continue`, or drop it with `git merge --abort`",
          "level": "warning"
        }
      ],
      "planId": "sample-20261121",
      "schemaVersion": 1,
      "warnings": 3
    }
    "#);
}

#[test]
fn a_torn_line_is_told() {
    let environment = led();
    let log = environment.plan_text("events.jsonl");
    let torn = environment.read(&log) + "{\"schemaVer";
    environment.write(&log, &torn);
    let found = environment.fp(&["doctor", PLAN]);
    assert!(
        found.stdout.contains("its last line was cut off"),
        "{found}"
    );
    assert_eq!(environment.read(&log), torn);
}

#[test]
fn a_log_that_is_none_is_left_alone() {
    let environment = led();
    let log = environment.plan_text("events.jsonl");
    let whole = environment.read(&log);
    environment.write(&log, whole.replacen("\"seq\":3", "\"seq\":4", 1));
    assert_snapshot!(environment.fp(&["doctor", PLAN]), @"
    exit status: 1
    --- stdout
    Plan sample-20261121
      ok       files        all can be read
      error    log          events.jsonl:3: not an entry of this log: seq 4 where 3
                            is due; mend or remove line 3 of events.jsonl: every
                            line is one JSON object, numbered by `seq`

    1 error
    ");
    environment.write(
        &log,
        whole.replacen("\"schemaVersion\":1", "\"schemaVersion\":99", 1),
    );
    let newer = environment.fp(&["doctor", PLAN]);
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
      ok       run          running
      ok       commits      1 commit in the history of HEAD
      ok       git          ready to commit

    1 warning
    ");
    // The log has lost its last line, which the snapshot still includes.
    let shorter: Vec<&str> = whole.lines().collect();
    let shorter = shorter[..shorter.len() - 1].join("\n") + "\n";
    environment.write(&log, &shorter);
    let cut = environment.fp(&["doctor", PLAN]);
    assert!(
        cut.code == 1
            && cut
                .stdout
                .contains("it ends at entry 9, and 10 were written"),
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
    assert_snapshot!(environment.fp(&["doctor", PLAN]), @"
    exit status: 1
    --- stdout
    Plan sample-20261121
      error    files        there is no tasks.md; plan again, or put it back
      error    files        plan.json:1:10: invalid type: integer `7`, expected a
                            string; correct that place, or delete the file: the plan
                            loses its goal and flags
      ok       log          10 entries
      ok       run          running
      ok       commits      1 commit in the history of HEAD
      ok       git          ready to commit

    2 errors
    ");
}
