//! `fp debt`, and the debts that `fp new` offers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};
use insta::assert_snapshot;

const LOG: &str = ".fractal-planner/debt.jsonl";

/// A finished run: the first task passed with a TODO in a page, the second failed, the third was skipped.
fn finished() -> Environment {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.md"),
        leaf("2", "none", "src/login.rs"),
        leaf("3", "2", "c.txt"),
    ]));
    environment.start(&["--max-iterations", "1"]);
    environment.build("builder-1", "a.md", "about 1\nTODO: say more about 1\n");
    environment.pass("1");
    environment.build("builder-1", "src/login.rs", "nothing\n");
    environment.fail("2");
    environment.done(&["cancel", PLAN]);
    environment
}

fn archived(environment: &Environment) {
    environment.done(&["plans", "archive", PLAN]);
}

#[test]
fn what_is_noted_stays_until_it_is_closed() {
    let environment = Environment::new().repo();
    assert_snapshot!(environment.fp(&["debt", "list"]), @"
    exit status: 0
    --- stdout
    No open debts
    ");
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.done(&["approve", PLAN, "--yes"]);
    assert_snapshot!(environment.fp(&["debt", "add", "Refresh expired tokens"]), @"
    exit status: 0
    --- stdout
    Added D1
    ");
    let noted = [
        "debt",
        "add",
        "Log who\n  logged in",
        "--plan",
        "sample",
        "--task",
        "1",
        "--file",
        "./src//a.rs",
        "--file",
        "b",
    ];
    assert_snapshot!(environment.fp(&noted), @"
    exit status: 0
    --- stdout
    Added D2
    ");
    assert_snapshot!(environment.fp(&["debt", "add", "Refresh  expired tokens", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "id": "D1",
      "new": false,
      "schemaVersion": 1
    }
    "#);
    assert_snapshot!(environment.fp(&["debt", "add", "Refresh expired tokens"]), @"
    exit status: 0
    --- stdout
    D1 is the same and still open
    ");
    environment.done(&["debt", "add", "Tell the tests apart from the program"]);
    environment.done(&["debt", "add", "Four"]);
    assert_snapshot!(environment.fp(&["debt", "list"]), @"
    exit status: 0
    --- stdout
    D1
      Refresh expired tokens
    D2
      Log who logged in
      src/a.rs, b
    D3
      Tell the tests apart from the program
    D4
      Four
    ");
    assert_snapshot!(environment.fp(&["debt", "close", "D1", "D2"]), @"
    exit status: 0
    --- stdout
    D1 is done
    D2 is done
    ");
    assert_snapshot!(environment.fp(&["debt", "close", "d3", "--drop"]), @"
    exit status: 0
    --- stdout
    D3 is dropped
    ");
    assert_snapshot!(environment.fp(&["debt", "close", "D4", "--plan", "sample", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "debts": [
        {
          "by": "sample-20261121",
          "id": "D4",
          "state": "taken"
        }
      ],
      "schemaVersion": 1
    }
    "#);
    assert_snapshot!(environment.fp(&["debt", "close", "D1"]), @"
    exit status: 0
    --- stdout
    D1 is done
    ");
    assert_snapshot!(environment.fp(&["debt", "list"]), @"
    exit status: 0
    --- stdout
    D4  (taken up by sample-20261121)
      Four
    (3 done or dropped: fp debt list --all)
    ");
    assert_snapshot!(environment.fp(&["debt", "list", "--all", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "closed": 0,
      "debts": [
        {
          "at": "2026-11-21T09:00:00Z",
          "files": [],
          "from": null,
          "id": "D1",
          "state": "done",
          "text": "Refresh expired tokens"
        },
        {
          "at": "2026-11-21T09:00:00Z",
          "files": [
            "src/a.rs",
            "b"
          ],
          "from": {
            "plan": "sample-20261121",
            "task": "1"
          },
          "id": "D2",
          "state": "done",
          "text": "Log who logged in"
        },
        {
          "at": "2026-11-21T09:00:00Z",
          "files": [],
          "from": null,
          "id": "D3",
          "state": "dropped",
          "text": "Tell the tests apart from the program"
        },
        {
          "at": "2026-11-21T09:00:00Z",
          "by": "sample-20261121",
          "files": [],
          "from": null,
          "id": "D4",
          "state": "taken",
          "text": "Four"
        }
      ],
      "schemaVersion": 1
    }
    "#);
    assert_snapshot!(environment.read(LOG), @r#"
    {"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"noted","id":"D1","text":"Refresh expired tokens"}
    {"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"noted","id":"D2","text":"Log who logged in","files":["src/a.rs","b"],"from":{"plan":"sample-20261121","task":"1"}}
    {"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"noted","id":"D3","text":"Tell the tests apart from the program"}
    {"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"noted","id":"D4","text":"Four"}
    {"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"closed","id":"D1"}
    {"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"closed","id":"D2"}
    {"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"dropped","id":"D3"}
    {"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"closed","id":"D4","plan":"sample-20261121"}
    "#);
    assert_eq!(
        environment.git(&["status", "--short", "--untracked-files=all"]),
        format!("?? {LOG}\n")
    );
}

#[test]
fn what_a_run_left_over_is_found_in_its_log() {
    let environment = finished();
    let listed = environment.fp(&["debt", "list"]);
    assert_snapshot!(listed, @r#"
    exit status: 0
    --- stdout
    sample-20261121:1
      Unfinished after "Write part 1": a.md:2: TODO: say more about 1
      a.md
    sample-20261121:2
      Write part 2 (failed: Criterion 1 (`src/login.rs` has a line about 2): not
      seen)
      src/login.rs
    sample-20261121:3
      Write part 3 (skipped, since 2 failed)
      c.txt
    "#);
    fs::remove_file(environment.path(&format!(
        ".fractal-planner/plans/{PLAN}/execution-state.json"
    )))
    .unwrap();
    assert_eq!(
        environment.fp(&["debt", "list"]),
        listed,
        "with the snapshot and without"
    );
    archived(&environment);
    assert_eq!(
        environment.fp(&["debt", "list"]),
        listed,
        "an archived plan counts as well"
    );
    assert!(
        !environment.path(LOG).exists(),
        "nothing of it is written down twice"
    );
    environment.done(&["debt", "close", "sample-20261121:2", "--drop"]);
    assert_snapshot!(environment.fp(&["debt", "list"]), @r#"
    exit status: 0
    --- stdout
    sample-20261121:1
      Unfinished after "Write part 1": a.md:2: TODO: say more about 1
      a.md
    sample-20261121:3
      Write part 3 (skipped, since 2 failed)
      c.txt
    (1 done or dropped: fp debt list --all)
    "#);
}

#[test]
fn a_run_that_goes_on_has_nothing_left_over() {
    let environment = finished();
    environment.done(&["debt", "close", "sample-20261121:2"]);
    environment.done(&["run", "start", PLAN, "--session", "s2"]);
    assert_snapshot!(environment.fp(&["debt", "list"]), @"
    exit status: 0
    --- stdout
    No open debts
    ");
}

#[test]
fn a_plan_takes_up_a_debt_and_may_drop_it_again() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.done(&["debt", "add", "Refresh expired tokens"]);
    environment.done(&["debt", "close", "D1", "--plan", PLAN]);
    let state = || {
        environment
            .fp(&["debt", "list", "--all", "--format", "json"])
            .json()["debts"][0]["state"]
            .clone()
    };
    assert_eq!(state(), "taken");
    environment.start(&["--max-iterations", "1"]);
    environment.build("builder-1", "a.txt", "about 1\n");
    environment.pass("1");
    assert_eq!(state(), "taken");
    environment.done(&["cancel", PLAN]);
    assert_eq!(state(), "open");
    assert_snapshot!(environment.fp(&["debt", "close", "D1", "--plan", PLAN]), @"
    exit status: 1
    --- stderr
    error: sample-20261121 is over, and not all of it is done
    hint: leave out --plan to mark the debt as done
    ");
    environment.done(&["run", "start", PLAN, "--session", "s2"]);
    assert_eq!(state(), "taken");
    environment.build("builder-1", "b.txt", "about 2\n");
    environment.pass("2");
    environment.done(&["next", PLAN]);
    assert_eq!(state(), "done");
    archived(&environment);
    assert_eq!(state(), "done");
    fs::remove_dir_all(environment.path(".fractal-planner/archive")).unwrap();
    assert_eq!(state(), "open");
}

#[test]
fn a_new_plan_is_offered_what_is_left() {
    let environment = finished();
    for number in 1..=9 {
        environment.done(&["debt", "add", &format!("Thing {number}")]);
    }
    environment.done(&[
        "debt",
        "add",
        "Refresh expired tokens of a session that was never closed, whoever it belongs to",
        "--file",
        "src/token.rs",
    ]);
    let output = environment.fp(&["new", "refresh src/token.rs"]);
    let (_, offered) = output.stdout.split_once("\nOpen debts").unwrap();
    assert_snapshot!(format!("Open debts{offered}"), @"
    Open debts (ask which of them belong to this goal):
      D10: Refresh expired tokens of a session that was never closed, whoever it
      belongs to
      D1: Thing 1
      D2: Thing 2
      D3: Thing 3
      D4: Thing 4
      D5: Thing 5
      D6: Thing 6
      D7: Thing 7
      D8: Thing 8
      D9: Thing 9
      (3 more: fp debt list)
      to take one up: fp debt close ID --plan refresh-src-token-rs-20261121
    ");
    let report = environment
        .fp(&[
            "new",
            "--format",
            "json",
            "make the login robust: src/login.rs",
        ])
        .json();
    assert_snapshot!(serde_json::to_string_pretty(&report["debts"].as_array().unwrap()[..2]).unwrap(), @r#"
    [
      {
        "files": [
          "src/login.rs"
        ],
        "from": {
          "plan": "sample-20261121",
          "task": "2"
        },
        "id": "sample-20261121:2",
        "text": "Write part 2 (failed: Criterion 1 (`src/login.rs` has a line about 2): not seen)"
      },
      {
        "files": [],
        "from": null,
        "id": "D1",
        "text": "Thing 1"
      }
    ]
    "#);
    assert_eq!(
        (
            report["debts"].as_array().unwrap().len(),
            &report["moreDebts"]
        ),
        (10, &serde_json::json!(3))
    );
}

/// The debt is noted while a builder works, in its checkout or in a worktree of its own.
#[test]
fn a_debt_is_no_change_of_the_task_it_is_noticed_in() {
    for shared in [true, false] {
        let environment = Environment::new().repo();
        let environment = if shared {
            environment.shared()
        } else {
            environment
        };
        environment.write(LOG, "");
        environment.git(&["add", "--all", "--force"]);
        environment.git(&["commit", "--quiet", "--message", "Debts"]);
        environment.plan(&tree(&[
            leaf("1", "none", "a.txt"),
            leaf("2", "none", "b.txt"),
        ]));
        environment.start(&["--builders", if shared { "1" } else { "2" }]);
        let (task, token) = environment.claim("builder-1").unwrap();
        let place = if shared {
            String::new()
        } else {
            format!(".fractal-planner/plans/{PLAN}/worktrees/builder-1")
        };
        environment.write(
            format!("{place}/a.txt").trim_start_matches('/'),
            "about 1\n",
        );
        let noted = environment.fp_in(
            &place,
            &[
                "debt",
                "add",
                "Refresh tokens",
                "--plan",
                PLAN,
                "--task",
                "1",
            ],
        );
        assert_eq!(noted.code, 0, "{noted}");
        environment.done(&["submit", PLAN, &task, "--claim", &token]);
        let verdict = environment.pass(&task);
        assert_eq!(verdict.code, 0, "{verdict}");
        assert_eq!(environment.statuses()[0].1, "COMPLETED", "{verdict}");
        assert_eq!(
            environment.git(&["show", "--name-only", "--format=", "HEAD"]),
            "a.txt\n"
        );
        assert!(environment.read(LOG).contains("Refresh tokens"));
    }
}

#[test]
fn of_sixteen_processes_each_gets_its_own_number() {
    let environment = Environment::new().repo();
    let ids: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..16)
            .map(|worker| {
                let environment = &environment;
                scope.spawn(move || -> Vec<String> {
                    let add = |n: usize| {
                        let mut command = environment.command(env!("CARGO_BIN_EXE_fp"));
                        command.args([
                            "debt",
                            "add",
                            &format!("Thing {worker} {n}"),
                            "--format",
                            "json",
                        ]);
                        let output = command.stderr(Stdio::piped()).output().unwrap();
                        assert!(
                            output.status.success(),
                            "{}",
                            String::from_utf8_lossy(&output.stderr)
                        );
                        let added: serde_json::Value =
                            serde_json::from_slice(&output.stdout).unwrap();
                        added["id"].as_str().unwrap().to_owned()
                    };
                    (0..5).map(add).collect()
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    let expected: BTreeSet<String> = (1..=80).map(|number| format!("D{number}")).collect();
    assert_eq!(
        (ids.len(), ids.into_iter().collect::<BTreeSet<_>>()),
        (80, expected)
    );
    assert_eq!(environment.read(LOG).lines().count(), 80);
}

#[test]
fn a_damaged_log_says_where_and_loses_nothing() {
    let environment = Environment::new().repo();
    let line = r#"{"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"noted","id":"D1","text":"one","owner":"me"}"#;
    let list = |text: &str| {
        environment.write(LOG, text);
        environment.fp(&["debt", "list"])
    };
    environment.write(LOG, line);
    environment.done(&["debt", "add", "two"]);
    assert_eq!(
        environment.read(LOG).lines().next(),
        Some(line),
        "a line that lacks its end, and a field of a stranger's"
    );
    let newer = line.replace("\"schemaVersion\":1", "\"schemaVersion\":2");
    assert_snapshot!(list(&format!("{newer}\n")), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/debt.jsonl:1: written by a newer fp (version 2 of debts, this fp reads 1)
    hint: update fp: `fp --version` prints the version of this one
    ");
    assert_snapshot!(list(&format!("{line}\nnothing\n")), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/debt.jsonl:2: not a debt: expected ident at line 1 column 2
    hint: fix or remove that line: each one is a JSON object, in the form that `fp help roadmap` shows
    ");
    let before = environment.read(LOG);
    assert_snapshot!(environment.fp(&["debt", "add", "two"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/debt.jsonl:2: not a debt: expected ident at line 1 column 2
    hint: fix or remove that line: each one is a JSON object, in the form that `fp help roadmap` shows
    ");
    assert_eq!(environment.read(LOG), before);
    let output = environment.fp(&["new", "--format", "json", "add tokens"]);
    assert_eq!(
        (
            output.code,
            output.json()["debts"].as_array().unwrap().len()
        ),
        (0, 0)
    );
    assert_snapshot!(output.json()["warnings"], @r#"["[ROOT]/work/.fractal-planner/debt.jsonl:2: not a debt: expected ident at line 1 column 2"]"#);
}

#[test]
fn links_are_not_followed() {
    let environment = Environment::new().repo();
    fs::create_dir(environment.path(".fractal-planner")).unwrap();
    fs::write(environment.beside("outside"), "").unwrap();
    symlink(environment.beside("outside"), environment.path(LOG)).unwrap();
    assert_snapshot!(environment.fp(&["debt", "add", "one"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/debt.jsonl is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place
    ");
    fs::remove_dir_all(environment.path(".fractal-planner")).unwrap();
    fs::create_dir(environment.beside("home/elsewhere")).unwrap();
    symlink(
        environment.beside("home/elsewhere"),
        environment.path(".fractal-planner"),
    )
    .unwrap();
    assert_snapshot!(environment.fp(&["debt", "add", "one"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place
    ");
    assert_eq!(
        fs::read_dir(environment.beside("home/elsewhere"))
            .unwrap()
            .count(),
        0
    );
    assert_eq!(
        fs::read_to_string(environment.beside("outside")).unwrap(),
        ""
    );
}

#[test]
fn what_is_no_debt() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.done(&["approve", PLAN, "--yes"]);
    let told = [
        &["debt", "add", " "][..],
        &["debt", "add", "one", "--file", "../a"],
        &["debt", "add", "one", "--task", "1"],
        &["debt", "add", "one", "--plan", PLAN, "--task", "7"],
        &["debt", "add", "one", "--plan", "none"],
        &["debt", "close", "D9"],
        &["debt", "close", "D0"],
        &["debt", "close", "sample-20261121:1"],
        &["debt", "close"],
        &["debt", "close", "D1", "--drop", "--plan", PLAN],
    ]
    .map(|args| format!("$ fp {}\n{}", args.join(" "), environment.fp(args)));
    assert_snapshot!(told.join("\n"), @r#"
    $ fp debt add  
    exit status: 2
    --- stderr
    error: the debt has no text
    hint: say what to do: `fp debt add 'Refresh expired tokens'`

    $ fp debt add one --file ../a
    exit status: 2
    --- stderr
    error: "../a" is no file of the repository: it has `..` in it
    hint: name a file by its path from the root of the repository

    $ fp debt add one --task 1
    exit status: 2
    --- stderr
    error: the following required arguments were not provided:
      --plan <PLAN>

    Usage: fp debt add --plan <PLAN> --task <ID> <TEXT>

    For more information, try '--help'.

    $ fp debt add one --plan sample-20261121 --task 7
    exit status: 1
    --- stderr
    error: the approved plan has no leaf 7
    hint: `fp status sample-20261121` lists the leaves

    $ fp debt add one --plan none
    exit status: 2
    --- stderr
    error: no plan matches "none"; there are:
      1  sample-20261121
    hint: name a plan by its number, its id or a part of its id; `fp plans` lists them

    $ fp debt close D9
    exit status: 2
    --- stderr
    error: there is no debt D9
    hint: `fp debt list --all` lists all of them

    $ fp debt close D0
    exit status: 2
    --- stderr
    error: there is no debt D0
    hint: `fp debt list --all` lists all of them

    $ fp debt close sample-20261121:1
    exit status: 2
    --- stderr
    error: there is no debt sample-20261121:1
    hint: `fp debt list --all` lists all of them

    $ fp debt close
    exit status: 2
    --- stderr
    error: the following required arguments were not provided:
      <ID>...

    Usage: fp debt close <ID>...

    For more information, try '--help'.

    $ fp debt close D1 --drop --plan sample-20261121
    exit status: 2
    --- stderr
    error: the argument '--drop' cannot be used with '--plan <PLAN>'

    Usage: fp debt close --drop <ID>...

    For more information, try '--help'.
    "#);
    assert!(!environment.path(LOG).exists());
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let environment = Environment::new().repo();
    let long = "wide 한글 ".repeat(60);
    let file = format!("{}/{}.rs", "folder".repeat(10), "name".repeat(10));
    environment.done(&["debt", "add", &long, "--file", &file, "--file", "b.rs"]);
    for args in [&["debt", "list"][..], &["new", "add something"]] {
        let output = environment.fp(args);
        let debts = output
            .stdout
            .lines()
            .skip_while(|line| !line.contains("D1"));
        let wide = debts
            .clone()
            .find(|line| unicode_width::UnicodeWidthStr::width(*line) > 80);
        assert_eq!((wide, debts.count() > 1), (None, true), "{output}");
    }
}
