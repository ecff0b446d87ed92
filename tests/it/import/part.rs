//! A part of a plan of another system, and its way to a plan that agents complete.

use insta::assert_snapshot;
use serde_json::Value;

use super::{lay_out, only_plan};
use crate::common::{Environment, Output};

/// Two tags of Task Master: one has a done, an open, a cancelled and a nested task, and waits for the other.
const TAGS: &str = r#"{
  "master": { "tasks": [ { "id": 1, "title": "Base", "status": "done", "dependencies": [], "details": "d" } ] },
  "dark": { "tasks": [
    { "id": 1, "title": "Colours", "status": "done", "dependencies": [], "details": "d" },
    { "id": 2, "title": "Switch", "status": "pending", "dependencies": [1, "master:1"], "details": "d", "subtasks": [
      { "id": 1, "title": "Draw it", "status": "pending", "dependencies": [] },
      { "id": 2, "title": "Wire it", "status": "pending", "dependencies": [1] } ] },
    { "id": 3, "title": "Legacy", "status": "cancelled", "dependencies": [], "details": "d" },
    { "id": 4, "title": "Ship it", "status": "pending", "dependencies": [2, 3], "details": "d" } ] }
}"#;

/// An epic of beads with a done and an open issue, and an issue beside it that waits for the epic.
const ISSUES: &str = r#"{"id":"bd-1","title":"Search","issue_type":"epic","status":"open"}
{"id":"bd-2","title":"Index","issue_type":"task","status":"closed","labels":["core"],"dependencies":[{"depends_on_id":"bd-1","type":"parent-child"}]}
{"id":"bd-3","title":"Query","issue_type":"task","status":"open","labels":["core"],"dependencies":[{"depends_on_id":"bd-1","type":"parent-child"},{"depends_on_id":"bd-2","type":"waits-for"}]}
{"id":"bd-4","title":"Page","issue_type":"task","status":"open","dependencies":[{"depends_on_id":"bd-1","type":"blocks"}]}
"#;

fn place() -> Environment {
    let environment = Environment::new().repo();
    environment.write("tm/tasks.json", TAGS);
    environment.write("bd/issues.jsonl", ISSUES);
    environment
}

/// What an import with these arguments would make: its tasks with what they wait for, what stays out, what it says.
fn imported(environment: &Environment, args: &[&str]) -> String {
    let output = environment.done(&[&["import", "--dry-run", "--format", "json"], args].concat());
    let json: Value = serde_json::from_str(&output.stdout).unwrap();
    let tree = json["tree"].as_str().unwrap();
    let says = |line: &&str| line.contains("[ID:") || line.contains("Dependencies:");
    let mut text: String = tree
        .lines()
        .filter(says)
        .map(|line| format!("{line}\n"))
        .collect();
    text += &format!("out: {}\n", json["leftOut"]);
    for notice in json["problems"]
        .as_array()
        .unwrap()
        .iter()
        .chain(json["notes"].as_array().unwrap())
    {
        text += &format!("! {}\n", notice["text"].as_str().unwrap());
    }
    text
}

#[test]
fn a_tag() {
    let environment = place();
    assert_snapshot!(imported(&environment, &["tm", "--tag", "dark"]), @r#"
    - [ID: root] Plan from tm
    - [ID: 1] Colours
      - Dependencies: none
    - [ID: 2] Switch
      - [ID: 2.1] Draw it
        - Dependencies: 1
      - [ID: 2.2] Wire it
        - Dependencies: 2.1, 1
    - [ID: 4] Ship it
      - Dependencies: 2
    out: ["master","master:1"]
    ! these are not asked for and stay out: master, master:1
    ! these are cancelled or deleted and stay out: 3
    ! 4 waits for "3", which stays out; that is left out
    ! 2 waits for "master:1", which stays out; that is left out
    ! the subtasks of these wait in their place: 2
    "#);
    assert_snapshot!(imported(&environment, &["tm", "--tag", "dark", "--open"]), @r#"
    - [ID: root] Plan from tm
    - [ID: 2] Switch
      - [ID: 2.1] Draw it
        - Dependencies: none
      - [ID: 2.2] Wire it
        - Dependencies: 2.1
    - [ID: 4] Ship it
      - Dependencies: 2
    out: ["1","master","master:1"]
    ! these are not asked for and stay out: 1, master, master:1
    ! these are cancelled or deleted and stay out: 3
    ! 2 waits for "1", which stays out; that is left out
    ! 4 waits for "3", which stays out; that is left out
    ! 2 waits for "master:1", which stays out; that is left out
    "#);
    assert_snapshot!(imported(&environment, &["bd", "--tag", "core"]), @r#"
    - [ID: root] Plan from bd
    - [ID: 1] Search
      - [ID: 1.1] Index
        - Dependencies: none
      - [ID: 1.2] Query
        - Dependencies: 1.1
    out: ["bd-4"]
    ! these are not asked for and stay out: bd-4
    ! the source's ids can't be ids of a tree: the tasks are numbered, and import.json has both
    "#);
}

#[test]
fn the_description_of_a_tag_names_the_plan() {
    let environment = place();
    let title = |about: &str| {
        environment.write(
            "tm/tasks.json",
            TAGS.replace(
                "\"dark\": {",
                &format!("\"dark\": {{ \"metadata\": {about},"),
            ),
        );
        let args = [
            "import",
            "tm",
            "--tag",
            "dark",
            "--dry-run",
            "--format",
            "json",
        ];
        environment.done(&args).json()["title"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        title(r#"{ "description": "A dark mode\nfor all pages" }"#),
        "A dark mode"
    );
    assert_eq!(
        title(r#"{ "description": "A dark mode", "projectName": "Pages" }"#),
        "Pages"
    );
    assert_eq!(
        title(r#"{ "description": "Tasks for dark context" }"#),
        "Plan from tm",
        "each tag is described so"
    );
}

#[test]
fn an_epic_and_a_list_of_ids() {
    let environment = place();
    assert_snapshot!(imported(&environment, &["bd", "--only", "bd-1"]), @r#"
    - [ID: root] Plan from bd
    - [ID: 1] Search
      - [ID: 1.1] Index
        - Dependencies: none
      - [ID: 1.2] Query
        - Dependencies: 1.1
    out: ["bd-4"]
    ! these are not asked for and stay out: bd-4
    ! the source's ids can't be ids of a tree: the tasks are numbered, and import.json has both
    "#);
    assert_snapshot!(imported(&environment, &["bd", "--only", "bd-3,bd-4"]), @r#"
    - [ID: root] Plan from bd
    - [ID: 1] Search
      - [ID: 1.1] Query
        - Dependencies: none
    - [ID: 2] Page
      - Dependencies: 1
    out: ["bd-2"]
    ! these are not asked for and stay out: bd-2
    ! bd-3 waits for "bd-2", which stays out; that is left out
    ! the source's ids can't be ids of a tree: the tasks are numbered, and import.json has both
    "#);
    assert_snapshot!(imported(&environment, &["tm", "--tag", "dark", "--only", "2.2", "--only", "4"]), @r#"
    - [ID: root] Plan from tm
    - [ID: 2] Switch
      - [ID: 2.2] Wire it
        - Dependencies: none
    - [ID: 4] Ship it
      - Dependencies: 2
    out: ["1","2.1","3","master","master:1"]
    ! these are not asked for and stay out: 1, 2.1, 3, master, master:1
    ! 2 waits for "1", which stays out; that is left out
    ! 2.2 waits for "2.1", which stays out; that is left out
    ! 4 waits for "3", which stays out; that is left out
    ! 2 waits for "master:1", which stays out; that is left out
    "#);
}

#[test]
fn open_work() {
    let environment = place();
    assert_snapshot!(imported(&environment, &["bd", "--open"]), @r#"
    - [ID: root] Plan from bd
    - [ID: 1] Search
      - [ID: 1.1] Query
        - Dependencies: none
    - [ID: 2] Page
      - Dependencies: 1
    out: ["bd-2"]
    ! these are not asked for and stay out: bd-2
    ! bd-3 waits for "bd-2", which stays out; that is left out
    ! the source's ids can't be ids of a tree: the tasks are numbered, and import.json has both
    "#);
}

#[test]
fn what_is_not_there() {
    let environment = place();
    let refused = |args: &[&str]| -> Output {
        let output = environment.fp(&[&["import"], args].concat());
        assert!(!environment.path(".fractal-planner/plans").exists());
        output
    };
    assert_snapshot!(refused(&["bd", "--only", "bd-1,bd-22"]), @r#"
    exit status: 2
    --- stderr
    error: bd: the source has no task "bd-22"
    hint: did you mean "bd-2"?
    "#);
    assert_snapshot!(refused(&["tm", "--tag", "drak"]), @r#"
    exit status: 2
    --- stderr
    error: tm: the source has no tag "drak"
    hint: did you mean "dark"?
    "#);
    assert_snapshot!(refused(&["tm", "--tag", "master", "--open"]), @r"
    exit status: 2
    --- stderr
    error: tm: no task is left of what is asked for
    hint: `fp import PATH --dry-run` shows all that is there
    ");
    assert_snapshot!(refused(&["bd", "--only", "\u{1b}[31m"]), @r#"
    exit status: 2
    --- stderr
    error: bd: the source has no task "\u{1b}[31m"
    hint: `fp import PATH --dry-run` shows all that is there
    "#);
}

#[test]
fn what_was_left_out_is_kept_as_material() {
    let environment = place();
    environment.done(&["import", "bd", "--only", "bd-3,bd-4"]);
    let plan = only_plan(&environment);
    let origin = environment.read(&format!(".fractal-planner/plans/{plan}/import.json"));
    let origin: Value = serde_json::from_str(&origin).unwrap();
    assert_eq!(
        origin["tasks"]["1.1"]["ext"]["waitsForLeftOut"],
        serde_json::json!(["bd-2"])
    );
    assert_eq!(
        origin["tasks"]["2"]["ext"]["waitsForLeftOut"],
        Value::Null,
        "bd-1 came along with bd-3"
    );
}

#[test]
fn done_tasks_need_no_completion() {
    let environment = place();
    environment.done(&["import", "bd"]);
    let plan = only_plan(&environment);
    let found = environment.fp(&["validate", &plan, "--format", "json"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let about = |id: &str| {
        found["violations"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| finding["id"] == id)
    };
    assert!(!about("1.1") && about("1.2"), "{found}");

    // Under another title it is another task, which has to be built.
    let tasks = format!(".fractal-planner/plans/{plan}/tasks.md");
    environment.write(
        &tasks,
        environment.read(&tasks).replace("Index", "Another index"),
    );
    let found = environment.fp(&["validate", &plan, "--format", "json"]);
    assert!(found.stdout.contains(r#""id": "1.1""#), "{found}");
}

/// The samples with the number of tasks in their files: parents and cancelled tasks count, as do the tags of Task Master.
const SAMPLES: [(&str, u64); 11] = [
    ("beads/epic", 4),
    ("boxes/kiro", 6),
    ("boxes/open-spec", 6),
    ("ccw/v5", 4),
    ("ccw/v7", 2),
    ("maestro/list", 3),
    ("maestro/table", 3),
    ("spec-kit/feature", 8),
    ("task-master/two-tags", 5),
    ("task-master/tags", 5),
    ("uctm/full", 4),
];

#[test]
fn every_sample_comes_in_whole_and_its_open_part_names_the_rest() {
    for (sample, tasks) in SAMPLES {
        let environment = Environment::new().repo();
        lay_out(&environment, sample, "old");
        let imported = |flags: &[&str]| -> Value {
            let args = [&["import", "old", "--dry-run", "--format", "json"], flags].concat();
            serde_json::from_str(&environment.done(&args).stdout).unwrap()
        };
        let (all, open) = (imported(&[]), imported(&["--open"]));
        let out = open["leftOut"].as_array().unwrap().len() as u64;
        assert_eq!(all["tasks"]["total"], tasks, "{sample}");
        assert_eq!(
            open["tasks"]["total"].as_u64().unwrap() + out,
            tasks,
            "{sample}"
        );
        assert_eq!(open["tasks"]["done"], 0, "{sample}");

        // Each dependency is in the tree, or the report says that it is not.
        let waits = |json: &Value| {
            let tree = json["tree"].as_str().unwrap();
            let lines = tree
                .lines()
                .filter_map(|line| line.trim().strip_prefix("- Dependencies: "));
            lines
                .filter(|ids| *ids != "none")
                .map(|ids| ids.split(',').count())
                .sum::<usize>()
        };
        let told = open["notes"].to_string().matches("stays out").count();
        assert!(waits(&open) == waits(&all) || told > 0, "{sample}: {open}");
        let missing = |json: &Value| json["problems"].to_string().matches("is not there").count();
        assert_eq!(
            missing(&open),
            missing(&all),
            "{sample}: what stays out is not missing"
        );
    }
}

#[test]
fn agents_complete_an_imported_plan() {
    let environment = place();
    let output = environment.done(&["new", "--import", "bd", "--open", "--format", "json"]);
    let json: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        json["steps"],
        serde_json::json!(["decompose", "critique", "review", "approve"])
    );
    assert_eq!(json["import"]["leftOut"], serde_json::json!(["bd-2"]));
    assert_eq!(json["planId"], only_plan(&environment));
    let told = environment
        .done(&["new", "--import", "bd", "--open"])
        .stdout;
    assert!(told.contains("\n  out     bd-2\n"), "{told}");
    assert_snapshot!(environment.fp(&["new", "--import", "bd", "Also", "this"]), @r"
    exit status: 2
    --- stderr
    error: an imported plan has its goal already
    hint: give the path and the flags alone
    ");
    assert_snapshot!(environment.fp(&["new", "--import", "gone"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/gone can't be read: no such file or directory
    hint: check the path
    ");
    assert_snapshot!(environment.fp(&["new", "--open", "a", "goal"]), @r"
    exit status: 2
    --- stderr
    error: the following required arguments were not provided:
      --import <PATH>

    Usage: fp new --import <PATH> --open <GOAL>...

    For more information, try '--help'.
    ");
}

#[test]
fn a_valid_plan_needs_no_decomposer() {
    let environment = Environment::new().repo();
    environment.write(
        "old/tasks.md",
        crate::common::plan::tree(&[
            crate::common::plan::leaf("1", "none", "a.txt"),
            crate::common::plan::leaf("2", "1", "b.txt"),
        ]),
    );
    let output = environment.done(&["new", "--import", "old", "--format", "json"]);
    let json: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        json["steps"],
        serde_json::json!(["critique", "review", "approve"])
    );
}
