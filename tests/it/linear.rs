//! `fp linear`: what an agent is told to send to Linear, and what it says became of it.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;
use serde_json::Value;

const STATUSES: &str = r#"[
  {"id": "st-todo", "name": "Todo", "type": "unstarted"},
  {"id": "st-doing", "name": "In Progress", "type": "started"},
  {"id": "st-review", "name": "In Review", "type": "started"},
  {"id": "st-done", "name": "Done", "type": "completed"},
  {"id": "st-no", "name": "Canceled", "type": "canceled"}
]"#;

fn mirrored(config: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.write(".fractal-planner/config.json", config);
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
    ]));
    environment
}

fn on() -> Environment {
    mirrored(r#"{"linear": {"enabled": true, "team": "ENG", "project": "Greetings"}}"#)
}

impl Environment {
    fn linear(&self, words: &str) -> Output {
        let words: Vec<&str> = words
            .split(' ')
            .map(|word| if word == "PLAN" { PLAN } else { word })
            .collect();
        self.fp(&[&["linear"], &words[..]].concat())
    }

    /// Says what the team's statuses are, on standard input.
    fn tell_statuses(&self, text: &str) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_fp"));
        command
            .args(["linear", "statuses", PLAN, "--file", "-"])
            .stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let (stdout, stderr) = (self.shown(&output.stdout), self.shown(&output.stderr));
        Output {
            stdout,
            stderr,
            code: output.status.code().unwrap(),
        }
    }

    fn mapping(&self) -> String {
        self.read(&format!(
            ".fractal-planner/plans/{PLAN}/linear-mapping.json"
        ))
    }

    /// Creates all issues, the one of task ID as `i-ID`.
    fn create_all(&self) {
        loop {
            let batch = self.linear("create PLAN --format json").json();
            let issues = batch["calls"].as_array().unwrap();
            if issues.is_empty() {
                break;
            }
            for issue in issues {
                let key = issue["key"].as_str().unwrap();
                let task = key.strip_prefix("create/").unwrap();
                self.done(&["linear", "ack", PLAN, key, "--id", &format!("i-{task}")]);
            }
        }
    }

    /// The keys of what is due.
    fn due(&self, command: &str) -> Vec<String> {
        let found = self.linear(&format!("{command} PLAN --format json")).json();
        let keys = found["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| change["key"].as_str().unwrap());
        keys.map(str::to_owned).collect()
    }

    /// Acknowledges all that is due; how much it was.
    fn send(&self, command: &str) -> usize {
        let due = self.due(command);
        for key in &due {
            self.done(&["linear", "ack", PLAN, key]);
        }
        due.len()
    }
}

/// What was printed, with commits and digests replaced.
fn without_digits(output: &Output) -> String {
    let digits = regex::Regex::new(r"(comment/\w+/|/\w+ |Commit )[0-9a-f]{7,8}\b").unwrap();
    digits
        .replace_all(&output.to_string(), "$1[DIGITS]")
        .into_owned()
}

#[test]
fn off_means_silent() {
    let environment = mirrored("{}");
    for words in [
        "create PLAN",
        "outbox PLAN",
        "ack PLAN create/1 --id x",
        "statuses PLAN --file -",
        "absent PLAN",
        "retry PLAN",
    ] {
        let output = environment.linear(words);
        let silent = Output {
            stdout: String::new(),
            stderr: String::new(),
            code: 0,
        };
        assert_eq!(output, silent, "{words}");
    }
    assert!(
        !environment
            .path(&format!(
                ".fractal-planner/plans/{PLAN}/linear-mapping.json"
            ))
            .exists()
    );
}

#[test]
fn issues_are_created_in_two_passes() {
    let environment = on();
    assert_snapshot!(environment.tell_statuses(STATUSES), @"
    exit status: 0
    --- stdout
    pending      Todo  (st-todo)
    in-progress  In Progress  (st-doing)
    review       In Review  (st-review)
    completed    Done  (st-done)
    failed       Canceled  (st-no)
    ");
    assert_snapshot!(environment.linear("create PLAN"), @"
    exit status: 0
    --- stdout
    create/root
      marker:  fp: sample-20261121/root
      project: Greetings
      status:  st-todo
      team:    ENG
      title:   Sample goal
      description:
        Complexity: 5

        fp: sample-20261121/root

    Before a call with a marker: search Linear for the marker. If you find it, don't make the call: acknowledge it
    After each call: fp linear ack sample-20261121 KEY --id ISSUE
      or: fp linear ack sample-20261121 KEY --failed REASON
    ");
    assert_snapshot!(environment.linear("ack PLAN create/root --id i-root"), @"
    exit status: 0
    --- stdout
    create/root is done
    ");
    assert_snapshot!(environment.linear("create PLAN"), @"
    exit status: 0
    --- stdout
    create/1
      marker:  fp: sample-20261121/1
      parent:  i-root
      project: Greetings
      status:  st-todo
      team:    ENG
      title:   Write part 1
      description:
        ## Acceptance

        - `a.txt` has a line about 1

        ## Files

        - `a.txt`

        Complexity: 2

        fp: sample-20261121/1
    create/2
      marker:  fp: sample-20261121/2
      parent:  i-root
      project: Greetings
      status:  st-todo
      team:    ENG
      title:   Write part 2
      description:
        ## Acceptance

        - `b.txt` has a line about 2

        ## Files

        - `b.txt`

        ## Waits for

        - 1

        Complexity: 2

        fp: sample-20261121/2

    Before a call with a marker: search Linear for the marker. If you find it, don't make the call: acknowledge it
    After each call: fp linear ack sample-20261121 KEY --id ISSUE
      or: fp linear ack sample-20261121 KEY --failed REASON
    ");
    assert_snapshot!(environment.linear("create PLAN --format json"), @r###"
    exit status: 0
    --- stdout
    {
      "calls": [
        {
          "description": "## Acceptance\n\n- `a.txt` has a line about 1\n\n## Files\n\n- `a.txt`\n\nComplexity: 2\n\nfp: sample-20261121/1",
          "key": "create/1",
          "marker": "fp: sample-20261121/1",
          "parent": "i-root",
          "project": "Greetings",
          "status": "st-todo",
          "team": "ENG",
          "title": "Write part 1"
        },
        {
          "description": "## Acceptance\n\n- `b.txt` has a line about 2\n\n## Files\n\n- `b.txt`\n\n## Waits for\n\n- 1\n\nComplexity: 2\n\nfp: sample-20261121/2",
          "key": "create/2",
          "marker": "fp: sample-20261121/2",
          "parent": "i-root",
          "project": "Greetings",
          "status": "st-todo",
          "team": "ENG",
          "title": "Write part 2"
        }
      ],
      "givenUp": {},
      "schemaVersion": 1,
      "unresolved": []
    }
    "###);
    environment.create_all();
    assert_snapshot!(environment.linear("create PLAN"), @"
    exit status: 0
    --- stdout
    Nothing is due
    ");
    assert_snapshot!(environment.mapping(), @r#"
    {
      "planId": "sample-20261121",
      "teamId": null,
      "resolvedStatuses": {
        "pending": "st-todo",
        "in-progress": "st-doing",
        "review": "st-review",
        "completed": "st-done",
        "failed": "st-no"
      },
      "tasks": {
        "1": {
          "linearIssueId": "i-1"
        },
        "2": {
          "linearIssueId": "i-2"
        },
        "root": {
          "linearIssueId": "i-root"
        }
      },
      "schemaVersion": 1
    }
    "#);
}

#[test]
fn what_the_log_implies_is_sent_once() {
    let environment = on();
    environment.create_all();
    environment.start(&[]);
    assert_snapshot!(environment.linear("outbox PLAN"), @"
    exit status: 0
    --- stdout
    Nothing is due
    --- stderr
    note: nothing is due in Linear
    ");
    environment.claim("builder-1");
    assert_snapshot!(environment.linear("outbox PLAN"), @"
    exit status: 1
    --- stderr
    error: the statuses of the team are not known
    hint: list them and pipe them to `fp linear statuses sample-20261121 --file -`
    ");
    environment.tell_statuses(STATUSES);
    assert_snapshot!(environment.linear("outbox PLAN"), @"
    exit status: 0
    --- stdout
    status/1/in-progress
      issue:   i-1
      status:  st-doing
    status/root/in-progress
      issue:   i-root
      status:  st-doing

    After each call: fp linear ack sample-20261121 KEY
      or: fp linear ack sample-20261121 KEY --failed REASON
    ");
    // Whoever was to make that call died; meanwhile the task has passed.
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass("1");
    assert_snapshot!(without_digits(&environment.linear("outbox PLAN")), @"
    exit status: 0
    --- stdout
    status/1/review
      issue:   i-1
      status:  st-review
    comment/1/[DIGITS]
      issue:   i-1
      marker:  fp: sample-20261121/1 [DIGITS]
      body:
        Passed in iteration 1 of 3. Commit [DIGITS].

        fine

        - Criterion 1, met: seen

        fp: sample-20261121/1 [DIGITS]
    status/root/in-progress
      issue:   i-root
      status:  st-doing

    Before a call with a marker: search Linear for the marker. If you find it, don't make the call: acknowledge it
    After each call: fp linear ack sample-20261121 KEY
      or: fp linear ack sample-20261121 KEY --failed REASON
    ");
    let parent = environment.linear("outbox PLAN --format json").json()["calls"][2].clone();
    assert_snapshot!(serde_json::to_string_pretty(&parent).unwrap(), @r#"
    {
      "issue": "i-root",
      "key": "status/root/in-progress",
      "status": "st-doing"
    }
    "#);
    assert_eq!(
        (environment.send("outbox"), environment.send("outbox")),
        (3, 0)
    );
    environment.build("builder-1", "b.txt", "about 2\n");
    environment.pass("2");
    assert_eq!(
        environment.due("outbox").last().unwrap(),
        "status/root/completed"
    );
    assert_eq!(environment.send("outbox"), 3);
}

#[test]
fn a_failed_task_says_why() {
    let environment = on();
    environment.tell_statuses(STATUSES);
    environment.create_all();
    environment.start(&["--max-iterations", "1"]);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.fail("1");
    assert_snapshot!(without_digits(&environment.linear("outbox PLAN")), @"
    exit status: 0
    --- stdout
    status/1/failed
      issue:   i-1
      status:  st-no
    comment/1/[DIGITS]
      issue:   i-1
      marker:  fp: sample-20261121/1 [DIGITS]
      body:
        Given up in iteration 1 of 1: Criterion 1 (`a.txt` has a line about 1): not seen

        not yet

        - Criterion 1, not met: not seen

        fp: sample-20261121/1 [DIGITS]
    status/root/failed
      issue:   i-root
      status:  st-no

    Before a call with a marker: search Linear for the marker. If you find it, don't make the call: acknowledge it
    After each call: fp linear ack sample-20261121 KEY
      or: fp linear ack sample-20261121 KEY --failed REASON
    ");
    // The skipped one stays where it is.
    assert_eq!(environment.due("outbox").len(), 3);
    assert_eq!(environment.send("outbox"), 3);
    environment.done(&["retry", PLAN, "1"]);
    assert_eq!(
        environment.due("outbox"),
        ["status/1/pending", "status/root/pending"]
    );
}

#[test]
fn what_fails_is_tried_three_times() {
    let environment = on();
    for _ in 0..3 {
        assert_eq!(
            environment.linear("create PLAN --format json").json()["calls"][0]["key"],
            "create/root"
        );
        environment.linear("ack PLAN create/root --failed down");
    }
    assert_snapshot!(environment.linear("create PLAN"), @"
    exit status: 0
    --- stdout
    create/1
      marker:  fp: sample-20261121/1
      project: Greetings
      team:    ENG
      title:   Write part 1
      description:
        ## Acceptance

        - `a.txt` has a line about 1

        ## Files

        - `a.txt`

        Complexity: 2

        fp: sample-20261121/1
    create/2
      marker:  fp: sample-20261121/2
      project: Greetings
      team:    ENG
      title:   Write part 2
      description:
        ## Acceptance

        - `b.txt` has a line about 2

        ## Files

        - `b.txt`

        ## Waits for

        - 1

        Complexity: 2

        fp: sample-20261121/2

    Before a call with a marker: search Linear for the marker. If you find it, don't make the call: acknowledge it
    After each call: fp linear ack sample-20261121 KEY --id ISSUE
      or: fp linear ack sample-20261121 KEY --failed REASON
    Given up: create/root: down
      `fp linear retry sample-20261121` offers these again
    ");
    environment.linear("retry PLAN");
    assert_eq!(
        environment.linear("create PLAN --format json").json()["calls"][0]["key"],
        "create/root"
    );
}

#[test]
fn an_absent_server_is_said_once() {
    let environment = on();
    assert_snapshot!(environment.linear("absent PLAN"), @"
    exit status: 0
    --- stderr
    warning: Linear can't be reached: the plan goes on without it
    hint: once it can be reached, run `fp linear retry sample-20261121`
    ");
    for words in ["absent PLAN", "create PLAN", "outbox PLAN"] {
        let output = environment.linear(words);
        assert_eq!(
            (output.code, output.stdout + &output.stderr),
            (0, String::new()),
            "{words}"
        );
    }
    assert_snapshot!(environment.linear("retry PLAN"), @"
    exit status: 0
    --- stdout
    Failed calls are offered again, and Linear counts as reachable
    ");
    assert_eq!(
        environment.linear("create PLAN --format json").json()["calls"][0]["key"],
        "create/root"
    );
}

#[test]
fn what_can_not_be_is_refused() {
    let environment = on();
    assert_snapshot!(environment.linear("ack PLAN create/9 --id x"), @"
    exit status: 1
    --- stderr
    error: the plan has no task 9
    hint: `fp linear create sample-20261121` prints the keys of the issues to create
    ");
    assert_snapshot!(environment.linear("ack PLAN create/root"), @"
    exit status: 1
    --- stderr
    error: create/root needs the id of the issue
    hint: add `--id ISSUE`
    ");
    environment.linear("ack PLAN create/root --id a");
    assert_snapshot!(environment.linear("ack PLAN create/root --id b"), @"
    exit status: 1
    --- stderr
    error: task root already has the issue a
    hint: the task keeps its issue: close the other one in Linear, and say there why
    ");
    assert_snapshot!(environment.linear("ack PLAN status/1/failed"), @"
    exit status: 1
    --- stderr
    error: status/1/failed was never offered
    hint: `fp linear create sample-20261121` and `fp linear outbox sample-20261121` print the keys of what is due
    ");
    assert_snapshot!(environment.linear("ack PLAN create/../../x --id b"), @r#"
    exit status: 2
    --- stderr
    error: invalid value 'create/../../x' for '<KEY>': "create/../../x" is not a key: keys are `create/TASK`, `status/TASK/STAGE` and `comment/TASK/DIGEST`

    For more information, try '--help'.
    "#);
    assert_snapshot!(environment.linear("ack PLAN create/1 --id ../../x"), @r#"
    exit status: 2
    --- stderr
    error: invalid value '../../x' for '--id <ISSUE>': "../../x" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit

    For more information, try '--help'.
    "#);
    assert_snapshot!(environment.tell_statuses(&" ".repeat(1024 * 1024 + 1)), @"
    exit status: 2
    --- stderr
    error: standard input is too large: at most 1048576 bytes are read
    hint: check that it is the text you mean, or split it
    ");
    assert_snapshot!(environment.tell_statuses("{}"), @r#"
    exit status: 2
    --- stderr
    error: standard input is not a list of statuses
    hint: pass a JSON array: [{"id": "…", "name": "Todo", "type": "unstarted"}, …]
    "#);
}

#[test]
fn a_mapping_that_is_none_is_left_alone() {
    let environment = on();
    let path = format!(".fractal-planner/plans/{PLAN}/linear-mapping.json");
    environment.write(&path, "{\"planId\": \"sample-20261121\",\n \"tasks\": 7}");
    assert_snapshot!(environment.linear("create PLAN"), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/linear-mapping.json: invalid type: integer `7`, expected a map at line 2 column 11
    hint: update fp if a newer one wrote it; otherwise correct that place, or move the file away: each issue is found again by the marker in its description
    ");
    assert_snapshot!(environment.linear("ack PLAN create/1 --id b"), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/linear-mapping.json: invalid type: integer `7`, expected a map at line 2 column 11
    hint: update fp if a newer one wrote it; otherwise correct that place, or move the file away: each issue is found again by the marker in its description
    ");
    assert_eq!(
        environment.read(&path),
        "{\"planId\": \"sample-20261121\",\n \"tasks\": 7}"
    );
    environment.write(
        &path,
        r#"{"planId": "sample-20261121", "schemaVersion": 9}"#,
    );
    assert_snapshot!(environment.linear("outbox PLAN"), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/linear-mapping.json: written by a newer fp (version 9, this fp reads 1)
    hint: update fp if a newer one wrote it; otherwise correct that place, or move the file away: each issue is found again by the marker in its description
    ");
}

#[test]
fn a_mapping_that_is_none_holds_up_no_run() {
    let environment = on();
    environment.start(&[]);
    let path = format!(".fractal-planner/plans/{PLAN}/linear-mapping.json");
    environment.write(&path, "{\"planId\": \"sample-20261121\",\n \"tasks\": 7}");
    assert_snapshot!(environment.fp(&["next", PLAN]), @"
    exit status: 0
    --- stdout
    1. spawn builder-1
       agent: fp:builder
       name and description: builder-1
       prompt:
         You are builder-1 of plan sample-20261121. Run `fp claim sample-20261121 --as builder-1` and go by what it prints.
    2. wait for builder-1
       End your turn. When one of them ends or goes idle: fp next sample-20261121 --ended NAME
       The same for one that is not running at all.
    --- stderr
    warning: Linear is not brought up to date: [ROOT]/work/.fractal-planner/plans/sample-20261121/linear-mapping.json: invalid type: integer `7`, expected a map at line 2 column 11
    hint: update fp if a newer one wrote it; otherwise correct that place, or move the file away: each issue is found again by the marker in its description
    ");
    environment.claim("builder-1");
    assert_eq!(
        environment.read(&path),
        "{\"planId\": \"sample-20261121\",\n \"tasks\": 7}"
    );
}

/// The mapping of fractal-planner 0.1, with a field that nobody here knows.
#[test]
fn a_mapping_of_the_first_version_is_read_and_kept() {
    let environment = on();
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/linear-mapping.json"),
        r#"{"planId": "sample-20261121", "teamId": "t-1", "projectId": null, "labels": ["plan"],
            "resolvedStatuses": {"pending": "a", "in-progress": "b", "completed": "c", "failed": "d", "review": "c"},
            "tasks": {"root": {"linearIssueId": "i-root", "linearIdentifier": "ENG-1"},
                      "1": {"linearIssueId": "i-1", "linearIdentifier": "ENG-2"}}}"#,
    );
    environment.start(&[]);
    environment.claim("builder-1");
    assert_eq!(
        environment.due("outbox"),
        ["status/1/in-progress", "status/root/in-progress"]
    );
    assert_eq!(environment.send("outbox"), 2);
    let mapping: Value = serde_json::from_str(&environment.mapping()).unwrap();
    assert_eq!(mapping["labels"][0], "plan");
    assert_eq!(mapping["tasks"]["1"]["sent"][0], "in-progress");
}

/// Many that acknowledge at once: nothing is lost.
#[test]
fn acknowledgements_at_once_are_all_kept() {
    let ids: Vec<String> = (1..=12).map(|n| n.to_string()).collect();
    let leaves: Vec<_> = ids.iter().map(|id| leaf(id, "none", "a.txt")).collect();
    let environment = on();
    environment.plan(&tree(&leaves));
    environment.done(&["linear", "ack", PLAN, "create/root", "--id", "i-root"]);
    std::thread::scope(|scope| {
        for id in &ids {
            let environment = &environment;
            scope.spawn(move || {
                environment.done(&[
                    "linear",
                    "ack",
                    PLAN,
                    &format!("create/{id}"),
                    "--id",
                    &format!("i-{id}"),
                ])
            });
        }
    });
    assert_snapshot!(environment.linear("create PLAN"), @"
    exit status: 0
    --- stdout
    Nothing is due
    ");
    let folder = environment.path(&format!(".fractal-planner/plans/{PLAN}"));
    let left = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.ends_with(".tmp")));
}

/// What `fp next` has the lead start for Linear, among the rest.
fn tracker(environment: &Environment, ended: &[&str]) -> Vec<Value> {
    let ended: Vec<&str> = ended.iter().flat_map(|name| ["--ended", name]).collect();
    let words = [&["next", PLAN, "--format", "json"], &ended[..]].concat();
    let actions = environment.fp(&words).json()["actions"]
        .as_array()
        .unwrap()
        .clone();
    assert_ne!(
        actions.last().unwrap()["name"],
        "tracker",
        "what ends the turn comes last: {actions:?}"
    );
    actions
        .into_iter()
        .filter(|action| action["name"] == "tracker")
        .collect()
}

#[test]
fn a_run_starts_one_agent_at_a_time_for_what_is_due() {
    let environment = on();
    environment.tell_statuses(STATUSES);
    environment.create_all();
    environment.start(&[]);
    assert!(
        tracker(&environment, &[]).is_empty(),
        "nothing has changed yet"
    );
    environment.claim("builder-1");
    let started = tracker(&environment, &[]);
    assert_eq!(started.len(), 1);
    assert_eq!(started[0]["agent"], "fp:task-tracker");
    let prompt = format!(
        "You are tracker. Bring Linear up to date with plan {PLAN}: run `fp linear outbox {PLAN}` and go by what it prints."
    );
    assert_eq!(started[0]["prompt"], prompt);
    assert!(started[0].get("again").is_none());
    let again = tracker(&environment, &[]);
    assert_eq!(
        (again.len(), &again[0]["again"]),
        (1, &Value::Bool(true)),
        "it has not been heard of"
    );
    environment.linear("outbox PLAN");
    assert!(tracker(&environment, &[]).is_empty(), "it is under way");
    assert_eq!(
        tracker(&environment, &["tracker"]).len(),
        1,
        "it has left something undone"
    );
    environment.send("outbox");
    assert!(
        tracker(&environment, &["tracker"]).is_empty(),
        "nothing is due"
    );
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass("1");
    environment.build("builder-1", "b.txt", "about 2\n");
    environment.pass("2");
    assert_eq!(
        tracker(&environment, &["builder-1"]).len(),
        1,
        "at the end as well"
    );
    environment.linear("absent PLAN");
    assert!(
        tracker(&environment, &["tracker"]).is_empty(),
        "Linear is left alone"
    );
}

#[test]
fn an_agent_that_is_not_heard_of_is_started_again() {
    let environment = on();
    environment.tell_statuses(STATUSES);
    environment.create_all();
    environment.start(&[]);
    environment.claim("builder-1");
    assert_eq!(tracker(&environment, &[]).len(), 1);
    environment.linear("outbox PLAN");
    let later = environment.env("FP_NOW", "2026-11-21T13:00:00Z");
    assert_eq!(tracker(&later, &[]).len(), 1);
}
