//! `fp roadmap`, and the plans that are made of its layers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use crate::common::plan::{PLAN, leaf, tree};
use crate::common::{Environment, Output};
use insta::assert_snapshot;

const ID: &str = "accounts-for-everybody-20261121";
const FILE: &str = ".fractal-planner/roadmaps/accounts-for-everybody-20261121.md";

const LAYERS: &str = "
## [1] Accounts
- Goal: Somebody can have an account
- Inputs: README.md
- Outputs: the account store
- Done when:
  - `app account add Ada` prints `1`
  - `app account list` lists Ada

## [2] Login
- Goal: Somebody can log in
- Inputs: the account store
- Outputs: the session
- Done when: `app login Ada` prints a token
- Depends on: 1

## [3] Log
- Goal: Everybody can see who did what
- Inputs: the account store
- Outputs: the log
- Done when: `app log` lists what Ada did
- Depends on: 1

## [4] Report
- Goal: A page of who did what since the last login of each account, whatever they did
- Inputs: the session, the log
- Done when: the page lists Ada
- Depends on: 2, 3
- Owner: me
";

fn page(layers: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.done(&["roadmap", "new", "Accounts for everybody"]);
    environment.write(FILE, environment.read(FILE) + layers);
    environment
}

impl Environment {
    /// Makes the plan of a layer and builds `done` of its two tasks; with one of them, the run is ended.
    fn build_layer(&self, layer: &str, done: usize) -> String {
        let made = self
            .done(&["new", "--roadmap", ID, "--layer", layer, "--format", "json"])
            .json();
        let plan = made["planId"].as_str().unwrap().to_owned();
        let files = [format!("{layer}-a.txt"), format!("{layer}-b.txt")];
        let leaves = [leaf("1", "none", &files[0]), leaf("2", "none", &files[1])];
        self.write(
            &format!(".fractal-planner/plans/{plan}/tasks.md"),
            tree(&leaves),
        );
        self.done(&["approve", &plan, "--yes"]);
        self.done(&["run", "start", &plan, "--session", "s1"]);
        for file in files.iter().take(done) {
            let claim = self
                .done(&["claim", &plan, "--as", "builder-1", "--format", "json"])
                .json();
            let (task, token) = (
                claim["task"].as_str().unwrap(),
                claim["claim"].as_str().unwrap(),
            );
            self.write(file, format!("a line of {plan}\n"));
            self.done(&["submit", &plan, task, "--claim", token]);
            self.done(&[
                "verdict",
                &plan,
                task,
                "--pass",
                "1: seen",
                "--summary",
                "fine",
            ]);
        }
        if done == 2 {
            let over = self.done(&["next", &plan]);
            let after = format!("\nIt makes layer {layer} of {ID}; next: fp roadmap next {ID}\n");
            assert!(over.stdout.ends_with(&after), "{over}");
        }
        plan
    }

    fn roadmap(&self, args: &[&str]) -> Output {
        self.fp(&[&["roadmap"], args].concat())
    }
}

#[test]
fn a_page_is_begun_and_says_how_to_go_on() {
    let environment = Environment::new().repo();
    assert_snapshot!(environment.roadmap(&["new", "Accounts for everybody,\nwith a log"]), @"
    exit status: 0
    --- stdout
    Roadmap accounts-for-everybody-with-log-20261121
      .fractal-planner/roadmaps/accounts-for-everybody-with-log-20261121.md

    Write its layers there; each becomes a plan:

      ## [1] What people can use when it is done
      - Goal: one sentence in the user's words
      - Inputs: none
      - Outputs: name of what later layers build on
      - Done when:
        - what anybody can see then, with the input that shows it

      ## [2] The next one
      - Goal: …
      - Inputs: name of what later layers build on
      - Outputs: …
      - Done when: …
      - Depends on: 1

    A layer without `Depends on` waits for the one before it.

    Next: fp roadmap check accounts-for-everybody-with-log-20261121
    ");
    assert_snapshot!(environment.read(".fractal-planner/roadmaps/accounts-for-everybody-with-log-20261121.md"), @"
    # Roadmap

    > Accounts for everybody,
    > with a log
    ");
    let second = environment
        .roadmap(&[
            "new",
            "--format",
            "json",
            "Accounts for everybody, with a log",
        ])
        .json();
    assert_eq!(
        second["roadmap"],
        "accounts-for-everybody-with-log-20261121-2"
    );
    assert_snapshot!(environment.roadmap(&["check", "log-20261121-2"]), @"
    exit status: 1
    --- stdout
    .fractal-planner/roadmaps/accounts-for-everybody-with-log-20261121-2.md:1:1: error[no-layer]: there is no layer
    1 | # Roadmap
      | ^
      hint: write one as `## [1] Title`; `fp help roadmap` has the form

    .fractal-planner/roadmaps/accounts-for-everybody-with-log-20261121-2.md: not valid, 0 layers, 1 error, 0 warnings
    ");
    assert_snapshot!(environment.roadmap(&["next", "log-20261121-2"]), @"
    exit status: 1
    --- stderr
    error: .fractal-planner/roadmaps/accounts-for-everybody-with-log-20261121-2.md is not valid: it has 1 error
    hint: `fp roadmap check accounts-for-everybody-with-log-20261121-2` shows them
    ");
}

#[test]
fn every_finding_has_its_place() {
    let environment = page(
        "
## [1] Accounts
- Inputs: src/nothing.rs
- Outputs: the account store
- Done when: accounts work correctly

## [2] Login
- Goal: Somebody can log in
- Inputs: the log
- Depends on: 3, 7

## [3] Log
- Goal: Everybody can see who did what
- Outputs: the log, the account store
- Done when: `app log` lists Ada
- Depends on: 2
",
    );
    assert_snapshot!(environment.roadmap(&["check"]), @r#"
    exit status: 1
    --- stdout
    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md:5:4: error[missing-goal]: the layer has no goal
    5 | ## [1] Accounts
      |    ^^^^^^^^^^^^
      hint: add `- Goal:` with one sentence, which becomes the goal of its plan

    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md:6:11: error[unmade-input]: no layer makes `src/nothing.rs`, and the repository has no such file
    6 | - Inputs: src/nothing.rs
      |           ^^^^^^^^^^^^^^
      hint: use the name that another layer has for it, or add it to a layer's outputs

    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md:8:14: warning[vague-done-when]: "work correctly" says nothing that can be observed
    8 | - Done when: accounts work correctly
      |              ^^^^^^^^^^^^^^^^^^^^^^^
      hint: say what is seen: a value, an error, a page, a file

    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md:10:4: error[missing-done-when]: the layer has no `Done when`
    10 | ## [2] Login
       |    ^^^^^^^^^
      hint: add `- Done when:` with something that anybody can see then

    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md:13:15: error[layer-cycle]: layers wait for each other: 2, 3
    13 | - Depends on: 3, 7
       |               ^
      hint: remove one of the dependencies, or join the layers

    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md:13:18: error[unknown-layer]: there is no layer `7`
    13 | - Depends on: 3, 7
       |                  ^
      hint: name layers by their ids, separated by commas, or write `none`

    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md:17:21: error[duplicate-output]: layer 1 already makes `the account store`
    17 | - Outputs: the log, the account store
       |                     ^^^^^^^^^^^^^^^^^
      hint: let one layer make it; a layer that changes it lists it as an input

    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md: not valid, 3 layers, 6 errors, 1 warning
    "#);
    let report = environment.roadmap(&["check", "--format", "json"]).json();
    assert_eq!(report["violations"].as_array().unwrap().len(), 7);
    assert_snapshot!(serde_json::to_string_pretty(&report["violations"][0]).unwrap(), @r#"
    {
      "depth": 0,
      "description": "Accounts",
      "detail": "the layer has no goal",
      "hint": "add `- Goal:` with one sentence, which becomes the goal of its plan",
      "id": "1",
      "parentId": null,
      "severity": "error",
      "span": {
        "column": 4,
        "endColumn": 16,
        "endLine": 5,
        "line": 5
      },
      "type": "missing-goal"
    }
    "#);
    let refused = environment.roadmap(&["show"]);
    assert_snapshot!(refused, @"
    exit status: 1
    --- stderr
    error: .fractal-planner/roadmaps/accounts-for-everybody-20261121.md is not valid: it has 6 errors
    hint: `fp roadmap check accounts-for-everybody-20261121` shows them
    ");
    assert_eq!(environment.roadmap(&["next"]), refused);
    assert_eq!(environment.fp(&["new", "--roadmap", ID]), refused);
}

#[test]
fn a_warning_leaves_a_page_valid() {
    let environment =
        page(&LAYERS.replace("`app login Ada` prints a token", "login works properly"));
    assert_snapshot!(environment.roadmap(&["check"]), @r#"
    exit status: 0
    --- stdout
    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md:17:14: warning[vague-done-when]: "works properly" says nothing that can be observed
    17 | - Done when: login works properly
       |              ^^^^^^^^^^^^^^^^^^^^
      hint: say what is seen: a value, an error, a page, a file

    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md: valid, 4 layers, 0 errors, 1 warning
    "#);
}

#[test]
fn layers_become_plans_one_after_the_other() {
    let environment = page(LAYERS);
    let before = environment.read(FILE);
    assert_snapshot!(environment.roadmap(&["check"]), @"
    exit status: 0
    --- stdout
    .fractal-planner/roadmaps/accounts-for-everybody-20261121.md: valid, 4 layers, 0 errors, 0 warnings
    ");
    assert_snapshot!(environment.roadmap(&["show"]), @"
    exit status: 0
    --- stdout
    Roadmap accounts-for-everybody-20261121
      .fractal-planner/roadmaps/accounts-for-everybody-20261121.md
      Accounts for everybody

      [1] Accounts                                  no plan
      [2] Login                                     no plan
      [3] Log                                       no plan
      [4] Report                                    no plan

    0 of 4 layers done
    ");
    assert_snapshot!(environment.roadmap(&["next"]), @"
    exit status: 0
    --- stdout
    [1] Accounts: Somebody can have an account
      fp new --roadmap accounts-for-everybody-20261121 --layer 1
    ");

    let made = environment.fp(&["new", "--roadmap", ID]);
    assert_eq!(made.code, 0, "{made}");
    let record: serde_json::Value = serde_json::from_str(
        &environment.read(".fractal-planner/plans/accounts-20261121/plan.json"),
    )
    .unwrap();
    assert_snapshot!(record["goal"].as_str().unwrap(), @"
    Somebody can have an account

    Layer 1 of the roadmap accounts-for-everybody-20261121: Accounts
    Builds on: README.md
    Makes: the account store
    Done when:
    - `app account add Ada` prints `1`
    - `app account list` lists Ada
    ");
    assert_eq!(
        record["roadmap"],
        serde_json::json!({ "id": ID, "layer": "1" })
    );
    assert_snapshot!(environment.roadmap(&["next"]), @"
    exit status: 3
    --- stdout
    Nothing else is due until this is done:
      [1] Accounts                                  planning
          accounts-20261121
    ");
    assert_snapshot!(environment.fp(&["new", "--roadmap", "accounts", "--layer", "1"]), @"
    exit status: 1
    --- stderr
    error: layer 1 already has a plan: accounts-20261121
    hint: `fp status accounts-20261121` shows its state; `fp plans archive` puts it away
    ");
    let early = environment
        .fp(&[
            "new",
            "--roadmap",
            ID,
            "--layer",
            "4",
            "--format",
            "json",
            "My own words",
        ])
        .json();
    assert_eq!(
        early["warnings"],
        serde_json::json!(["layer 4 builds on layers that are not done: 2, 3"])
    );
    assert!(
        early["goal"]
            .as_str()
            .unwrap()
            .starts_with("My own words\n\nLayer 4 of the roadmap"),
        "{early}"
    );
    for plan in ["accounts-20261121", "report-20261121"] {
        environment.done(&["plans", "archive", plan]);
    }

    environment.build_layer("1", 2);
    fs::remove_file(environment.path("README.md")).unwrap();
    assert_eq!(
        environment.roadmap(&["check"]).code,
        1,
        "what it was made of is gone"
    );
    assert_snapshot!(environment.roadmap(&["next"]), @"
    exit status: 0
    --- stdout
    [2] Login: Somebody can log in
      fp new --roadmap accounts-for-everybody-20261121 --layer 2
    [3] Log: Everybody can see who did what
      fp new --roadmap accounts-for-everybody-20261121 --layer 3
    ");
    assert_snapshot!(environment.fp(&["new", "--roadmap", ID]), @"
    exit status: 1
    --- stderr
    error: no single layer is due: name one
    hint: `fp roadmap next accounts-for-everybody-20261121` lists them; --layer names one
    ");
    environment.build_layer("2", 1);
    assert_snapshot!(environment.roadmap(&["show"]), @"
    exit status: 0
    --- stdout
    Roadmap accounts-for-everybody-20261121
      .fractal-planner/roadmaps/accounts-for-everybody-20261121.md
      Accounts for everybody

      [1] Accounts                                  done
          accounts-20261121-2 (2 of 2 done)
      [2] Login                                     running
          login-20261121 (1 of 2 done)
      [3] Log                                       no plan
      [4] Report                                    stopped
          report-20261121, archived

    1 of 4 layers done
    ");
    environment.done(&["cancel", "login-20261121"]);
    let log = environment.build_layer("3", 2);
    environment.done(&["plans", "archive", &log]);
    assert_snapshot!(environment.roadmap(&["next"]), @"
    exit status: 0
    --- stdout
    [2] Login: Somebody can log in
      fp new --roadmap accounts-for-everybody-20261121 --layer 2
      or continue login-20261121 (1 of 2 done): /fp:implement login-20261121
    ");
    assert_snapshot!(environment.roadmap(&["show"]), @"
    exit status: 0
    --- stdout
    Roadmap accounts-for-everybody-20261121
      .fractal-planner/roadmaps/accounts-for-everybody-20261121.md
      Accounts for everybody

      [1] Accounts                                  done
          accounts-20261121-2 (2 of 2 done)
      [2] Login                                     stopped
          login-20261121 (1 of 2 done)
      [3] Log                                       done
          log-20261121 (2 of 2 done, archived)
      [4] Report                                    stopped
          report-20261121, archived

    2 of 4 layers done
    ");
    environment.build_layer("2", 2);
    environment.build_layer("4", 2);
    assert_snapshot!(environment.roadmap(&["next"]), @"
    exit status: 0
    --- stdout
    4 of 4 layers done
    ");
    assert_snapshot!(environment.roadmap(&["next", "--format", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "done": 4,
      "due": [],
      "roadmap": "accounts-for-everybody-20261121",
      "schemaVersion": 1,
      "total": 4
    }
    "#);
    let shown = environment.roadmap(&["show", "--format", "json"]).json();
    assert_snapshot!(serde_json::to_string_pretty(&shown["layers"][1]).unwrap(), @r#"
    {
      "dependsOn": [
        "1"
      ],
      "doneWhen": [
        "`app login Ada` prints a token"
      ],
      "goal": "Somebody can log in",
      "id": "2",
      "inputs": [
        "the account store"
      ],
      "outputs": [
        "the session"
      ],
      "plans": [
        {
          "archived": false,
          "done": 1,
          "phase": "cancelled",
          "planId": "login-20261121",
          "total": 2
        },
        {
          "archived": false,
          "done": 2,
          "phase": "finished",
          "planId": "login-20261121-2",
          "total": 2
        }
      ],
      "state": "done",
      "title": "Login"
    }
    "#);
    assert_eq!(environment.read(FILE), before, "nothing is written into it");
}

/// The page is edited while a task is built in the same checkout.
#[test]
fn a_roadmap_is_no_change_of_a_task() {
    let environment = page(LAYERS).shared();
    let plan = environment.build_layer("1", 1);
    let claim = environment
        .done(&["claim", &plan, "--as", "builder-1", "--format", "json"])
        .json();
    environment.write(FILE, environment.read(FILE) + "\n");
    environment.done(&["roadmap", "new", "Another one"]);
    environment.write("1-b.txt", "a line\n");
    environment.done(&[
        "submit",
        &plan,
        "2",
        "--claim",
        claim["claim"].as_str().unwrap(),
    ]);
    let verdict = environment.fp(&[
        "verdict",
        &plan,
        "2",
        "--pass",
        "1: seen",
        "--summary",
        "fine",
    ]);
    assert_eq!(verdict.code, 0, "{verdict}");
    assert_eq!(
        environment.git(&["show", "--name-only", "--format=", "HEAD"]),
        "1-b.txt\n"
    );
}

#[test]
fn a_run_ends_although_its_layer_can_not_be_read() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.write(
        &format!(".fractal-planner/plans/{PLAN}/plan.json"),
        r#"{"roadmap": 5}"#,
    );
    environment.start(&[]);
    environment.done(&["fail", PLAN, "1", "--reason", "no"]);
    let ended = environment.done(&["next", PLAN]);
    assert!(ended.stdout.starts_with("1. finish\n"), "{ended}");
    assert!(
        ended
            .stderr
            .starts_with("warning: which roadmap it belongs to can't be read: "),
        "{ended}"
    );
}

#[test]
fn a_goal_in_steps_is_offered_a_roadmap() {
    let environment = Environment::new().repo();
    let output = environment.fp(&["new", "Rework billing, phase 1: invoices"]);
    assert_snapshot!(output.stdout.lines().take(6).collect::<Vec<_>>().join("\n"), @r#"
    Plan rework-billing-phase-1-invoices-20261121
      folder  [ROOT]/work/.fractal-planner/plans/rework-billing-phase-1-invoices-20261121
      intent  mid-sized
      mode    pipeline: a feature or a fix
      steps   interview, research, approach, decompose, critique, review, approve
      or      several plans, since it comes in steps ("phase 1"): fp roadmap new GOAL
    "#);
    let report = environment
        .fp(&[
            "new",
            "--format",
            "json",
            "Rework billing, phase 1: invoices",
        ])
        .json();
    assert_eq!(report["severalPlans"], "it comes in steps (\"phase 1\")");
    let environment = page(&LAYERS.replace("can have an account", "has phase 1 of accounts"));
    let report = environment
        .fp(&["new", "--format", "json", "--roadmap", ID])
        .json();
    assert_eq!(report["severalPlans"], serde_json::Value::Null);
}

#[test]
fn of_sixteen_processes_each_gets_its_own_roadmap() {
    let environment = Environment::new().repo();
    let ids: BTreeSet<String> = std::thread::scope(|scope| {
        let new = || {
            environment
                .done(&[
                    "roadmap",
                    "new",
                    "Accounts for everybody",
                    "--format",
                    "json",
                ])
                .json()
        };
        let workers: Vec<_> = (0..16).map(|_| scope.spawn(new)).collect();
        workers
            .into_iter()
            .map(|worker| {
                worker.join().unwrap()["roadmap"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect()
    });
    assert_eq!(ids.len(), 16, "{ids:?}");
}

#[test]
fn what_is_no_roadmap() {
    let environment = Environment::new().repo();
    let none = environment.roadmap(&["next"]);
    assert_snapshot!(none, @"
    exit status: 2
    --- stderr
    error: there is no roadmap
    hint: `fp roadmap new GOAL` begins one
    ");
    environment.done(&["roadmap", "new", "Accounts for everybody"]);
    environment.write(FILE, environment.read(FILE) + LAYERS);
    environment.done(&["roadmap", "new", "Bills"]);
    let folder = ".fractal-planner/roadmaps";
    environment.write(&format!("{folder}/a b.md"), "no id");
    environment.write(&format!("{folder}/bytes.md"), b"one\n\xff");
    environment.write(&format!("{folder}/large.md"), vec![b'a'; 2 * 1024 * 1024]);
    fs::write(environment.beside("outside.md"), LAYERS).unwrap();
    symlink(
        environment.beside("outside.md"),
        environment.path(&format!("{folder}/link.md")),
    )
    .unwrap();
    let told = [
        &["roadmap", "new", " "][..],
        &["roadmap", "show"],
        &["roadmap", "show", "nothing"],
        &["roadmap", "show", "../x"],
        &["roadmap", "check", "bytes"],
        &["roadmap", "check", "large"],
        &["roadmap", "check", "link"],
        &["new", "--roadmap", "everybody", "--layer", "9"],
        &["new", "--roadmap", "everybody", "--layer", "../x"],
        &["new", "--layer", "1", "Accounts"],
        &["new"],
    ]
    .map(|args| format!("$ fp {}\n{}", args.join(" "), environment.fp(args)));
    assert_snapshot!(told.join("\n"), @r#"
    $ fp roadmap new  
    exit status: 2
    --- stderr
    error: the roadmap has no goal
    hint: say what you want in the end: `fp roadmap new 'Accounts for everybody'`

    $ fp roadmap show
    exit status: 2
    --- stderr
    error: 5 roadmaps match; there are:
      accounts-for-everybody-20261121
      bills-20261121
      bytes
      large
      link
    hint: name a roadmap by its id or a part of it

    $ fp roadmap show nothing
    exit status: 2
    --- stderr
    error: 0 roadmaps match; there are:
      accounts-for-everybody-20261121
      bills-20261121
      bytes
      large
      link
    hint: name a roadmap by its id or a part of it

    $ fp roadmap show ../x
    exit status: 2
    --- stderr
    error: 0 roadmaps match; there are:
      accounts-for-everybody-20261121
      bills-20261121
      bytes
      large
      link
    hint: name a roadmap by its id or a part of it

    $ fp roadmap check bytes
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/roadmaps/bytes.md:2:1: not UTF-8 text
    hint: save the file as UTF-8

    $ fp roadmap check large
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/roadmaps/large.md is too large: at most 1048576 bytes are read
    hint: check that it is the file you mean, or split it

    $ fp roadmap check link
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/roadmaps/link.md is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place

    $ fp new --roadmap everybody --layer 9
    exit status: 2
    --- stderr
    error: accounts-for-everybody-20261121 has no layer 9
    hint: `fp roadmap show accounts-for-everybody-20261121` lists them

    $ fp new --roadmap everybody --layer ../x
    exit status: 2
    --- stderr
    error: invalid value '../x' for '--layer <LAYER>': "../x" is not an id: ids are letters, digits, `-`, `_`, in segments joined by `.`

    For more information, try '--help'.

    $ fp new --layer 1 Accounts
    exit status: 2
    --- stderr
    error: the following required arguments were not provided:
      --roadmap <ID>

    Usage: fp new --roadmap <ID> --layer <LAYER> <GOAL>...

    For more information, try '--help'.

    $ fp new
    exit status: 2
    --- stderr
    error: the following required arguments were not provided:
      <GOAL>...

    Usage: fp new <GOAL>...

    For more information, try '--help'.
    "#);
    fs::remove_dir_all(environment.path(folder)).unwrap();
    symlink(environment.beside("home"), environment.path(folder)).unwrap();
    assert_snapshot!(environment.roadmap(&["new", "Accounts"]), @"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/roadmaps is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place
    ");
    assert_eq!(fs::read_dir(environment.beside("home")).unwrap().count(), 0);
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let environment = page(
        &LAYERS
            .replace("Report", &"wide 한글 title ".repeat(20))
            .replace("A page of", &"한글 goal ".repeat(40)),
    );
    environment.build_layer("1", 2);
    environment.build_layer("2", 2);
    environment.build_layer("3", 2);
    for command in ["show", "next"] {
        let output = environment.roadmap(&[command]);
        let wide = output
            .stdout
            .lines()
            .find(|line| unicode_width::UnicodeWidthStr::width(*line) > 80);
        assert_eq!(
            (wide, output.stdout.contains("wide")),
            (None, true),
            "{output}"
        );
    }
}
