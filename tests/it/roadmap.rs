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
- Done when:
  - `app account add Ada` prints `1`
  - `app account list` lists Ada

## [2] Login
- Goal: Somebody can log in
- Done when: `app login Ada` prints a token

## [3] Log
- Goal: Everybody can see who did what
- Done when: `app log` lists what Ada did

## [4] Report
- Goal: A page of who did what since the last login of each account, whatever they did
- Done when: the page lists Ada
- Owner: me
";

fn page(layers: &str) -> Environment {
    let environment = Environment::new().repo();
    environment.done(&["roadmap", "new", "Accounts for everybody"]);
    environment.write(FILE, environment.read(FILE) + layers);
    environment
}

impl Environment {
    /// Creates the plan of a layer and builds `done` of its two tasks; if only one, the run is ended.
    fn build_layer(&self, layer: &str, done: usize) -> String {
        let made = self
            .done(&["new", "--roadmap", ID, "--format", "json"])
            .json();
        let plan = made["planId"].as_str().unwrap().to_owned();
        self.judge_each();
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
            let after = format!("\nIt makes layer {layer} of {ID}; next: fp roadmap show {ID}\n");
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

    Write its layers there; each becomes a plan when the one before it is done:

    ## [1] What people can use when it is done
    - Goal: one sentence in the user's words
    - Done when:
      - what anybody can see then, with the input that shows it

    ## [2] The next one
    - Goal: …
    - Done when: …

    Next: fp roadmap show accounts-for-everybody-with-log-20261121
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
    assert_snapshot!(environment.roadmap(&["show", "log-20261121-2"]), @"
    exit status: 1
    --- stdout
    Roadmap accounts-for-everybody-with-log-20261121-2
      .fractal-planner/roadmaps/accounts-for-everybody-with-log-20261121-2.md
      Accounts for everybody, with a log


    0 of 0 layers done
    error: there is no layer: write one as `## [1] Title`, with its `- Goal:`
    ");
    assert_snapshot!(environment.fp(&["new", "--roadmap", "log-20261121-2"]), @"
    exit status: 1
    --- stderr
    error: no layer is due
    hint: `fp roadmap show accounts-for-everybody-with-log-20261121-2` says why
    ");
}

#[test]
fn layers_become_plans_one_after_the_other() {
    let environment = page(LAYERS);
    let before = environment.read(FILE);
    assert_snapshot!(environment.roadmap(&["show"]), @"
    exit status: 0
    --- stdout
    Roadmap accounts-for-everybody-20261121
      .fractal-planner/roadmaps/accounts-for-everybody-20261121.md
      Accounts for everybody

      [1] Accounts
          no plan
          next: fp new --roadmap accounts-for-everybody-20261121
      [2] Login
          no plan
      [3] Log
          no plan
      [4] Report
          no plan

    0 of 4 layers done
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
    - Goal: Somebody can have an account
    - Done when:
      - `app account add Ada` prints `1`
      - `app account list` lists Ada
    ");
    assert_eq!(
        record["roadmap"],
        serde_json::json!({ "id": ID, "layer": "1" })
    );
    assert_snapshot!(environment.roadmap(&["show"]), @"
    exit status: 0
    --- stdout
    Roadmap accounts-for-everybody-20261121
      .fractal-planner/roadmaps/accounts-for-everybody-20261121.md
      Accounts for everybody

      [1] Accounts
          planning: accounts-20261121
      [2] Login
          no plan
      [3] Log
          no plan
      [4] Report
          no plan

    0 of 4 layers done
    ");
    assert_snapshot!(environment.fp(&["new", "--roadmap", "accounts"]), @"
    exit status: 1
    --- stderr
    error: no layer is due
    hint: `fp roadmap show accounts-for-everybody-20261121` says why
    ");
    environment.done(&["plans", "archive", "accounts-20261121"]);
    let again = environment
        .fp(&["new", "--roadmap", ID, "--format", "json", "My own words"])
        .json();
    assert!(
        again["goal"]
            .as_str()
            .unwrap()
            .starts_with("My own words\n\nLayer 1 of the roadmap"),
        "{again}"
    );
    environment.done(&["plans", "archive", "accounts-20261121-2"]);
    environment.build_layer("1", 2);
    environment.build_layer("2", 1);
    assert_snapshot!(environment.roadmap(&["show"]), @"
    exit status: 0
    --- stdout
    Roadmap accounts-for-everybody-20261121
      .fractal-planner/roadmaps/accounts-for-everybody-20261121.md
      Accounts for everybody

      [1] Accounts
          done: accounts-20261121-3
      [2] Login
          running: login-20261121
      [3] Log
          no plan
      [4] Report
          no plan

    1 of 4 layers done
    ");
    environment.done(&["cancel", "login-20261121"]);
    assert_snapshot!(environment.roadmap(&["show"]), @"
    exit status: 0
    --- stdout
    Roadmap accounts-for-everybody-20261121
      .fractal-planner/roadmaps/accounts-for-everybody-20261121.md
      Accounts for everybody

      [1] Accounts
          done: accounts-20261121-3
      [2] Login
          stopped: login-20261121
          next: fp new --roadmap accounts-for-everybody-20261121
      [3] Log
          no plan
      [4] Report
          no plan

    1 of 4 layers done
    ");
    environment.build_layer("2", 2);
    let log = environment.build_layer("3", 2);
    environment.done(&["plans", "archive", &log]);
    environment.build_layer("4", 2);
    let shown = environment.roadmap(&["show"]);
    assert!(shown.stdout.ends_with("4 of 4 layers done\n"), "{shown}");
    assert_eq!(shown.code, 0, "{shown}");
    let shown = environment.roadmap(&["show", "--format", "json"]).json();
    assert_snapshot!(serde_json::to_string_pretty(&shown["layers"][1]).unwrap(), @r#"
    {
      "command": null,
      "goal": "Somebody can log in",
      "id": "2",
      "plan": "login-20261121-2",
      "state": "done",
      "title": "Login"
    }
    "#);
    assert_eq!(environment.read(FILE), before, "nothing is written into it");
}

/// The roadmap's page is edited while a task is built in the same checkout.
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
    environment.done(&["cancel", PLAN, "1", "--reason", "no"]);
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
    let none = environment.roadmap(&["show"]);
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
        &["roadmap", "show", "bytes"],
        &["roadmap", "show", "large"],
        &["roadmap", "show", "link"],
        &["new", "--roadmap", "../x"],
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

    $ fp roadmap show bytes
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/roadmaps/bytes.md:2:1: not UTF-8 text
    hint: save the file as UTF-8

    $ fp roadmap show large
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/roadmaps/large.md is too large: at most 1048576 bytes are read
    hint: check that it is the file you mean, or split it

    $ fp roadmap show link
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/roadmaps/link.md is a symbolic link, which is not followed
    hint: remove the link, or put the real folder in its place

    $ fp new --roadmap ../x
    exit status: 2
    --- stderr
    error: 0 roadmaps match; there are:
      accounts-for-everybody-20261121
      bills-20261121
      bytes
      large
      link
    hint: name a roadmap by its id or a part of it

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
    {
        let output = environment.roadmap(&["show"]);
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
