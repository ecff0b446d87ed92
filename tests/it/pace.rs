//! What a plan will take, and what predictions learn from runs on this machine. Notes and contracts keep builders from
//! doing work twice.

use std::fs;

use insta::assert_snapshot;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

/// The time is `minutes` past nine.
fn at(environment: Environment, minutes: u32) -> Environment {
    environment.env("FP_NOW", format!("2026-11-21T09:{minutes:02}:00Z"))
}

impl Environment {
    /// What `fp schedule` predicts.
    fn prediction(&self) -> String {
        let json = self.done(&["schedule", PLAN, "--format", "json"]).json();
        let known = &json["prediction"];
        format!(
            "{} min, {} in a session, by {} tasks",
            known["minutes"], known["session"], known["measured"]
        )
    }

    fn pace_file(&self) -> std::path::PathBuf {
        self.trust_store().with_file_name("pace.json")
    }
}

/// Two tasks of complexity 2, each built within `minutes`; the run is over.
fn built_in(minutes: u32) -> Environment {
    let mut environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "1", "b.txt"),
    ]));
    environment.start(&[]);
    let mut now = 0;
    for (task, file) in [("1", "a.txt"), ("2", "b.txt")] {
        environment = at(environment, now);
        let (claimed, token) = environment.claim("builder-1").unwrap();
        assert_eq!(claimed, task);
        environment.write(file, format!("about {task}\n"));
        now += minutes;
        environment = at(environment, now);
        environment.done(&["submit", PLAN, task, "--claim", &token]);
        environment.pass(task);
    }
    environment
}

#[test]
fn a_finished_run_corrects_the_next_prediction() {
    let environment = built_in(20);
    let before = environment.prediction();
    assert!(!environment.pace_file().exists());
    environment.done(&["next", PLAN]);
    let after = environment.prediction();
    assert_snapshot!(format!("{before}\n{after}"), @"
    20 min, 8 in a session, by 0 tasks
    40 min, 14 in a session, by 2 tasks
    ");
    let file = fs::read_to_string(environment.pace_file()).unwrap();
    assert_snapshot!(file, @r#"{"claude":{"2":{"tasks":2,"minutes":40.0}}}"#);
    environment.done(&["next", PLAN]);
    assert_eq!(environment.prediction(), after, "a run counts once");
}

#[test]
fn a_damaged_file_of_minutes_is_as_good_as_none() {
    let environment = built_in(4);
    let by_scale = environment.prediction();
    for text in [
        "",
        "{",
        "[]",
        "{\"claude\": 5}",
        "{\"claude\": {\"2\": {\"tasks\": -1, \"minutes\": 4}}}",
        "{\"claude\": {\"2\": {\"tasks\": 4000000000, \"minutes\": 0}}}",
        "{\"claude\": {\"2\": {\"tasks\": 1, \"minutes\": 1e300}}}",
    ] {
        fs::write(environment.pace_file(), text).unwrap();
        assert_eq!(environment.prediction(), by_scale, "{text}");
    }
    environment.done(&["next", PLAN]);
    let file = fs::read_to_string(environment.pace_file()).unwrap();
    assert!(file.contains("\"claude\":{\"2\":{"), "{file}");
}

#[test]
fn a_clock_that_was_set_back_teaches_nothing() {
    let mut environment = Environment::new().repo();
    environment.plan(&tree(&[leaf("1", "none", "a.txt")]));
    environment.start(&[]);
    environment = at(environment, 50);
    let (_, token) = environment.claim("builder-1").unwrap();
    environment.write("a.txt", "about 1\n");
    environment = at(environment, 5);
    environment.done(&["submit", PLAN, "1", "--claim", &token]);
    environment.pass("1");
    environment.done(&["next", PLAN]);
    let learnt = fs::read_to_string(environment.pace_file()).unwrap_or_default();
    assert!(!learnt.contains("minutes"), "{learnt}");
}

#[test]
fn a_split_that_needs_more_builders_says_how_many() {
    let environment = Environment::new().repo();
    let leaves = ["a.txt", "b.txt", "c.txt"].map(|file| leaf(&file[..1], "none", file));
    environment.plan(&tree(&leaves).replace("(Complexity: 2)", "(Complexity: 7)"));
    let advice = |builders: &str| {
        let text = environment
            .done(&["schedule", PLAN, "--parallel", builders])
            .stdout;
        let from = text.find("About ").expect("a prediction");
        text[from..].lines().take(4).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(advice("1"), @"
    About 126 min with 1 builder (critical path 45), about 90 min in one session;
      6 agents
    By builders: 126 min with 1, 86 min with 2, 45 min with 3
    The split gains less than a fifth of one session: make it one leaf, take 3
    ");
    assert_snapshot!(advice("3"), @"
    About 45 min with 3 builders (critical path 45), about 90 min in one session;
      6 agents
    By builders: 126 min with 1, 86 min with 2, 45 min with 3
    ");
}

#[test]
fn builders_that_the_user_asks_for_are_in_every_schedule() {
    let environment = Environment::new().repo();
    let made = environment
        .done(&["new", "--builders", "3", "--format", "json", "Add parts"])
        .json();
    let plan = made["planId"].as_str().unwrap();
    environment.judge_each();
    environment.write(
        &format!(".fractal-planner/plans/{plan}/tasks.md"),
        tree(&[leaf("1", "none", "a.txt"), leaf("2", "none", "b.txt")]),
    );
    let schedule = environment
        .done(&["schedule", plan, "--format", "json"])
        .json();
    assert_eq!(schedule["prediction"]["builders"], 3);
    let refused = environment.fp(&["new", "--builders", "17", "Add parts"]);
    assert_eq!(refused.code, 2, "{refused}");
}

#[test]
fn a_note_is_told_where_its_place_is_touched_until_it_ends() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&[]);
    environment.done(&["note", PLAN, "add", "WARN(a.txt): its last line is empty"]);
    environment.done(&["note", PLAN, "add", "WARN: the tests need a clean cache"]);
    let told = |task: &str| {
        let list = environment.done(&["note", PLAN, "list", "--for", task]);
        list.stdout
    };
    assert_snapshot!(format!("1:\n{}2:\n{}", told("1"), told("2")), @"
    1:
      1  [plan] WARN(a.txt): its last line is empty
      2  [plan] WARN: the tests need a clean cache
    2:
      2  [plan] WARN: the tests need a clean cache
    ");
    environment.done(&["note", PLAN, "end", "1"]);
    assert_snapshot!(told("1"), @"  2  [plan] WARN: the tests need a clean cache");
    assert_snapshot!(environment.fp(&["note", PLAN, "end", "1"]), @"
    exit status: 0
    --- stdout
    [plan] WARN(a.txt): its last line is empty (over)
    ");
    assert_snapshot!(environment.fp(&["note", PLAN, "end", "3"]), @"
    exit status: 1
    --- stderr
    error: there is no note 3
    hint: `fp note sample-20261121 list` has their numbers
    ");
}

#[test]
fn a_payload_names_the_contract_first() {
    let environment = Environment::new().repo();
    let contract = tree(&[
        leaf("1", "none", "types.rs"),
        leaf("2", "1", "b.txt"),
        leaf("3", "none", "c.txt"),
    ])
    .replacen(
        "  - Files: types.rs\n",
        "  - Files: types.rs\n  - Kind: contract\n",
        1,
    );
    environment.plan(&contract);
    environment.start(&[]);
    let stub = "fn about_1() { todo!() }\n";
    environment.build_task("builder-1", "1", "types.rs", stub);
    environment.pass("1");
    let payload = |task: &str| {
        let args = ["claim", PLAN, task, "--as", "builder-1"];
        let text = environment.done(&args).stdout;
        let rules = text.split("## MUST DO\n").nth(1).unwrap_or_default();
        let first = rules.lines().next().unwrap_or_default().to_owned();
        environment.done(&["retry", PLAN, task]);
        first
    };
    assert_snapshot!(format!("{}\n{}", payload("2"), payload("3")), @"
    - Build to the contract of task 1: the signatures and documentation that it put into your files and types.rs are fixed
    - One line
    ");
}
