//! `fp export`: a plan with everything in it, in the format of each other system.

use std::fs;
use std::path::Path;

use crate::common::plan::PLAN;
use crate::common::{Environment, Output};
use fp_core::exchange::export::export;
use fp_core::exchange::{Folder, PortablePlan, Source, Target, read};
use insta::assert_snapshot;
use serde_json::Value;

const FOLDER: &str = ".fractal-planner/plans/sample-20261121";

/// Parents, groups, Korean, every field, and texts that would be something else elsewhere.
const TREE: &str = r#"# Task Decomposition

## Root Task
- [ID: root] Greet people, 그리고 인사 (Complexity: 7)

### Subtasks
- [ID: 1] Build the greeting (Complexity: 5)
  - [ID: 1.1] Write `greeting`, see #12 and @octocat (Complexity: 3)
    - Acceptance:
      - `greeting("")` returns `Hello, world!`
      - =1+1 is no formula, and <b> no markup
    - Dependencies: none
    - Files: a.txt (new)
    - Tests Required: yes
    - Hints:
      - Return a String
      - @octocat fixes #3 and GH-4, see https://github.com/a/b/issues/5
    - References:
      - README.md:1 - the title
    - Guardrails:
      - Do NOT modify files outside: a.txt
      - Do NOT add new dependencies
    - Test Commands: none
    - Covers: REQ-1, US2
    - Group: core
    - Risk: high
    - Priority: high
    - Owner: somebody
  - [ID: 1.2] 한국어 인사를 쓴다 (Complexity: 2)
    - Acceptance:
      - `b.txt` has a line
    - Dependencies: 1.1 (for its text)
    - Files: b.txt
    - Tests Required: no
    - Hints:
      - One line
      - Two lines
    - Guardrails:
      - Do NOT modify files outside: b.txt
      - Do NOT add new dependencies
    - Test Commands: none
    - Verify: test -f b.txt
    - Group: core

    Prose about *this* one.

    ```text
    T001 [P] a fence
    ```
- [ID: 2] Print it (Complexity: 2)
  - Acceptance:
    - `c.txt` has a line
  - Dependencies: 1
  - Files: c.txt
  - Tests Required: no
  - Hints:
    - One line
    - Two lines
  - Guardrails:
    - Do NOT modify files outside: c.txt
    - Do NOT add new dependencies
  - Test Commands: grep -q . c.txt; true
- [ID: 3] Explain it (Complexity: 1)
  - Acceptance:
    - `d.txt` has a line
  - Dependencies: none
  - Files: d.txt
  - Tests Required: no
  - Hints:
    - One line
    - Two lines
  - Guardrails:
    - Do NOT modify files outside: d.txt
    - Do NOT add new dependencies
  - Test Commands: none
"#;

/// The plan, with its goal.
fn planned() -> Environment {
    let environment = Environment::new().env("GIT_TEMPLATE_DIR", "").repo();
    environment.plan(TREE);
    environment.write(
        &format!("{FOLDER}/plan.json"),
        r##"{"goal": "Greet people\n# in *every* language", "settings": {}}"##,
    );
    environment.shared()
}

/// The plan in a run in which 1.1 is done, 1.2 was given up, 2 was skipped, and 3 is being built.
fn begun() -> Environment {
    let environment = planned();
    environment.start(&["--builders", "2"]);
    environment.build_task("builder-1", "1.1", "a.txt", "Hello\n");
    environment.done(&[
        "verdict",
        PLAN,
        "1.1",
        "--pass",
        "1: seen",
        "--pass",
        "2: seen",
        "--summary",
        "fine",
    ]);
    environment.done(&["fail", PLAN, "1.2", "--reason", "no `Korean`\nhere"]);
    environment.claim_task("builder-2", "3");
    environment
}

fn exported(to: &str) -> String {
    begun().fp(&["export", PLAN, "--to", to]).masked().to_string()
}

#[test]
fn ccw() {
    let environment = begun();
    let all = environment.fp(&["export", PLAN, "--to", "ccw", "--format", "json"]);
    let mut texts = String::new();
    for file in all.json()["files"].as_array().unwrap() {
        texts.push_str(&format!(
            "--- {}\n{}",
            file["path"].as_str().unwrap(),
            file["text"].as_str().unwrap()
        ));
    }
    let texts = Output { stdout: texts, ..all }.masked().stdout;
    assert_snapshot!(texts);
}

#[test]
fn json() {
    assert_snapshot!(exported("json"));
}

#[test]
fn task_master() {
    assert_snapshot!(exported("task-master"));
}

#[test]
fn spec_kit() {
    assert_snapshot!(exported("spec-kit"));
}

#[test]
fn beads() {
    assert_snapshot!(exported("beads"));
}

#[test]
fn csv() {
    assert_snapshot!(exported("csv"));
}

#[test]
fn mermaid() {
    assert_snapshot!(exported("mermaid"));
}

#[test]
fn github_issues() {
    assert_snapshot!(exported("github-issues"));
}

#[test]
fn a_file_is_written_where_it_should_be_and_replaces_nothing_unasked() {
    let environment = planned();
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "csv", "--out", "tasks.csv"]), @r"
    exit status: 0
    --- stderr
    note: written to tasks.csv
    ");
    assert_eq!(environment.read("tasks.csv"), environment.done(&["export", PLAN, "--to", "csv"]).stdout);
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "beads", "--out", "tasks.csv"]), @r"
    exit status: 1
    --- stderr
    error: tasks.csv is there already
    hint: name another place, or add --force to replace what is there
    ");
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "beads", "--out", "tasks.csv", "--force"]), @r"
    exit status: 0
    --- stderr
    note: written to tasks.csv
    note: tasks.csv was replaced
    ");
    assert!(environment.read("tasks.csv").starts_with(r#"{"id":"fp-1""#));
    environment.write("folder/a.txt", "a");
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "json", "--out", "folder"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/folder is not a file
    hint: name the file too, such as --out folder/plan.json
    ");
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "json", "--out", "none/plan.json"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/none/plan.json can't be written: no such file or directory
    hint: check the path
    ");
}

#[test]
fn a_folder_is_written_as_a_whole_and_replaces_nothing_unasked() {
    let environment = planned();
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "ccw"]), @r"
    exit status: 2
    --- stderr
    error: ccw is a folder of files, and can't be printed
    hint: name the folder with --out; with --format json all files are in one
    ");
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "ccw", "--out", "out"]), @r"
    exit status: 0
    --- stderr
    note: 6 files written to out
    ");
    let all = environment.done(&["export", PLAN, "--to", "ccw", "--format", "json"]).json();
    for file in all["files"].as_array().unwrap() {
        let path = format!("out/{}", file["path"].as_str().unwrap());
        assert_eq!(environment.read(&path), file["text"].as_str().unwrap(), "{path}");
    }
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "ccw", "--out", "out"]), @r"
    exit status: 1
    --- stderr
    error: out/.task/IMPL-1.1.json is there already, with 5 more of the files
    hint: name another place, or add --force to replace what is there
    ");
    environment.plan(&TREE.replace("[ID: 3]", "[ID: 4]"));
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "ccw", "--out", "out", "--force"]), @r"
    exit status: 0
    --- stderr
    note: 6 files written to out
    note: out/.task/IMPL-1.1.json was replaced
    note: out/.task/IMPL-1.2.json was replaced
    note: out/.task/IMPL-2.json was replaced
    note: out/TODO_LIST.md was replaced
    note: out/plan.json was replaced
    note: out/.task/IMPL-3.json is of another export, and was left alone
    ");
    let told =
        environment.done(&["export", PLAN, "--to", "ccw", "--out", "out", "--force", "--format", "json"]);
    let told = told.json();
    assert_eq!(told["written"].as_array().unwrap().len(), 6);
    assert_eq!(told["replaced"], told["written"]);
    assert_eq!(told["left"], serde_json::json!(["out/.task/IMPL-3.json"]));
}

#[test]
fn a_drawing_is_the_one_that_is_shown() {
    let environment = begun();
    let shown = environment.done(&["show", PLAN, "--format", "mermaid"]);
    assert_eq!(environment.done(&["export", PLAN, "--to", "mermaid"]), shown);
}

#[test]
fn an_archived_plan_is_exported_as_well() {
    let environment = begun();
    environment.done(&["cancel", PLAN]);
    let before = environment.done(&["export", PLAN, "--to", "json"]).stdout;
    environment.done(&["plans", "archive", PLAN]);
    assert_eq!(environment.done(&["export", PLAN, "--to", "json"]).stdout, before);
}

#[test]
fn a_tree_need_not_be_valid_but_its_ids_have_to_be_different() {
    let environment = planned();
    environment
        .plan("- [ID: 1] A\n  - Dependencies: 9, 2\n- [ID: 2] B (Complexity: many)\n  - Dependencies: 1\n");
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "json"]), @r#"
    exit status: 0
    --- stdout
    {
      "schemaVersion": 1,
      "title": "Greet people",
      "goal": "Greet people\n# in *every* language",
      "tasks": [
        {
          "id": "1",
          "title": "A",
          "dependencies": [
            "9",
            "2"
          ],
          "work": {
            "status": "todo"
          }
        },
        {
          "id": "2",
          "title": "B",
          "dependencies": [
            "1"
          ],
          "work": {
            "status": "todo"
          },
          "ext": {
            "Complexity": "many"
          }
        }
      ]
    }
    "#);
    environment.plan("- [ID: 1] A\n- [ID: 1] B\n");
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "json"]), @r"
    exit status: 1
    --- stderr
    error: two tasks of sample-20261121 have the id 1
    hint: `fp validate sample-20261121` shows what is wrong with it
    ");
    environment.plan("Nothing here.\n");
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "csv"]), @r"
    exit status: 1
    --- stderr
    error: sample-20261121 has no task to export
    hint: `fp validate sample-20261121` shows what is wrong with it
    ");
    fs::remove_file(environment.path(&format!("{FOLDER}/tasks.md"))).unwrap();
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "csv"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/tasks.md can't be read: no such file or directory
    hint: write the task tree there, or plan again: /fp:plan
    ");
}

/// What an import wrote down of where it came from.
const ORIGIN: &str = r#"{"schemaVersion": 1, "from": "beads", "path": "issues.jsonl",
  "importedAt": "2026-11-20T09:00:00Z", "ext": {},
  "tasks": {"1.1": {"id": "bd-7", "ext": {"assignee": "ann", "issue_type": "bug", "status": "open"}},
            "3": {"id": "bd-3", "ext": {"labels": ["x"], "unwritten": {"files": ["\u0000.txt"], "risk": "low"}}}}}"#;

#[test]
fn what_was_imported_has_its_ids_and_fields_again() {
    let environment = planned();
    environment.write(&format!("{FOLDER}/import.json"), ORIGIN);
    let lines = environment.done(&["export", PLAN, "--to", "beads"]).stdout;
    let issues: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(issues[1]["id"], "bd-7");
    assert_eq!((&issues[1]["assignee"], &issues[1]["issue_type"]), (&"ann".into(), &"bug".into()));
    assert_eq!(issues[2]["dependencies"][1]["depends_on_id"], "bd-7");
    assert_eq!(issues[4]["labels"], serde_json::json!(["x"]));
    // What no tree can say is said again.
    let whole = environment.done(&["export", PLAN, "--to", "json"]).json();
    let files = serde_json::json!([{ "path": "d.txt" }, { "path": "\0.txt" }]);
    assert_eq!((&whole["tasks"][4]["files"], &whole["tasks"][4]["risk"]), (&files, &"low".into()));
    // In another system's format it is kept for the way back.
    let elsewhere = environment.done(&["export", PLAN, "--to", "task-master"]).json();
    let task = &elsewhere["master"]["tasks"][0]["subtasks"][0];
    assert_eq!((&task["fp"]["id"], &task["fp"]["ext"]["assignee"]), (&"bd-7".into(), &"ann".into()));
    environment.write(&format!("{FOLDER}/import.json"), "{}");
    assert_snapshot!(environment.fp(&["export", PLAN, "--to", "json"]), @r"
    exit status: 2
    --- stderr
    error: [ROOT]/work/.fractal-planner/plans/sample-20261121/import.json is damaged: missing field `schemaVersion` at line 1 column 2
    hint: put it back as it was, or remove it: then only what the source said beside is lost
    ");
}

/// The files of an import's sample, by their paths.
fn sample(folder: &Path) -> Folder {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(below).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                files.push((name, text));
            }
        }
    }
    files.into_iter().collect()
}

/// The samples of formats that are written too, with their plans.
fn samples() -> Vec<(String, Target, Folder, PortablePlan)> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let mut found = Vec::new();
    for target in Target::ALL {
        let Ok(source) = target.name().parse::<Source>() else { continue };
        for entry in fs::read_dir(base.join(target.name())).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                let folder = sample(&path);
                let name = format!("{}/{}", target.name(), path.file_name().unwrap().to_str().unwrap());
                let (plan, _) = read(source, &folder).unwrap_or_else(|error| panic!("{name}: {error}"));
                found.push((name, target, folder, plan));
            }
        }
    }
    assert!(found.len() > 8, "{}", found.len());
    found
}

#[test]
fn what_was_imported_is_the_same_plan_when_it_has_been_exported() {
    for (name, target, _, plan) in samples() {
        let source = target.name().parse::<Source>().unwrap();
        for from in [None, Some(target.name())] {
            let (back, _) = read(source, &export(target, &plan, from)).unwrap();
            assert_eq!(back, plan, "{name} {from:?} {:#?}", export(target, &plan, from));
        }
    }
}

/// What `now` doesn't have of `before`, by its path.
fn missing(at: &str, before: &Value, now: Option<&Value>, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Some(Value::Object(now))) => {
            for (key, value) in before {
                missing(&format!("{at}.{key}"), value, now.get(key), found);
            }
        }
        (Value::Array(before), Some(Value::Array(now))) => {
            for (number, value) in before.iter().enumerate() {
                missing(&format!("{at}[{number}]"), value, now.get(number), found);
            }
        }
        (before, now) if Some(before) == now => {}
        (before, now) => found.push(format!("{at}: {before} is {now:?}")),
    }
}

/// All but what means the same in the places of the newer CCW, is no task, or says nothing; and of several tags there is
/// one.
#[test]
fn what_the_source_said_is_where_it_was() {
    let mut found = Vec::new();
    for (name, target, folder, plan) in samples() {
        if name.ends_with("/broken") {
            continue;
        }
        let now = export(target, &plan, Some(target.name()));
        for (path, text) in folder.iter() {
            let lines = |text: &str| -> Vec<Value> {
                text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
            };
            match path.rsplit_once('.').map(|(_, kind)| kind) {
                Some("json") => {
                    let Ok(before) = serde_json::from_str(text) else { continue };
                    let now: Option<Value> = now.text(path).map(|text| serde_json::from_str(text).unwrap());
                    missing(&format!("{name}/{path}"), &before, now.as_ref(), &mut found);
                }
                Some("jsonl") => {
                    let (before, now) =
                        (lines(text).into(), now.text(path).map(|text| Value::from(lines(text))));
                    missing(&format!("{name}/{path}"), &before, now.as_ref(), &mut found);
                }
                _ => {}
            }
        }
    }
    found.sort();
    assert_snapshot!(found.join("\n"), @r#"
    ccw/v5/.task/IMPL-1.1.json.context.acceptance: ["The form has a name and a password field","An empty name is refused with a message"] is None
    ccw/v5/.task/IMPL-1.1.json.context.depends_on: [] is None
    ccw/v5/.task/IMPL-1.1.json.context.requirements: ["A form with two fields","It remembers the name"] is None
    ccw/v5/.task/IMPL-1.1.json.meta.execution_group: "ui" is None
    ccw/v5/.task/IMPL-1.2.json.context: {"acceptance":["A wrong password is refused"],"depends_on":["IMPL-1.1"],"requirements":["Passwords are compared as hashes"]} is None
    ccw/v5/.task/IMPL-1.2.json.meta.execution_group: "api" is None
    ccw/v5/.task/IMPL-1.2.json.status: "pending" is Some(String("completed"))
    ccw/v5/.task/IMPL-1.json: {"context":{"depends_on":[],"requirements":["People log in with a password"]},"flow_control":{},"id":"IMPL-1","meta":{"agent":"@code-developer","type":"feature"},"status":"active","title":"Login"} is None
    ccw/v5/.task/IMPL-2.json.context: {"acceptance":["The test passes"],"depends_on":["IMPL-1"],"requirements":["Log in and out in a browser"]} is None
    ccw/v5/.task/IMPL-2.json.status: "blocked" is Some(String("pending"))
    ccw/v5/workflow-session.json: {"project":"Login with a password","session_id":"WFS-login","status":"active"} is None
    ccw/v7/.task/TASK-002.json.implementation: [] is None
    ccw/v7/plan.json.task_count: 3 is Some(Number(2))
    json/whole/plan.json.colour: "green" is None
    json/whole/plan.json.tasks[1].owner: {"name":"somebody"} is None
    json/whole/plan.json.tasks[3]: {"id":7} is None
    task-master/flat/tasks.json.tasks[2]: "not a task" is None
    task-master/tags/reports/task-complexity-report.json: {"complexityAnalysis":[{"complexityScore":6,"reasoning":"Two services","taskId":3,"taskTitle":"Mail"},{"complexityScore":9,"taskId":1}],"meta":{"tasksAnalyzed":2}} is None
    task-master/tags/tasks.json.master.tasks[1].details: "" is None
    task-master/tags/tasks.json.master.tasks[1].subtasks[1].dependencies[1]: "1" is Some(Number(1))
    task-master/tags/tasks.json.master.tasks[1].testStrategy: "" is None
    task-master/two-tags/tasks.json.dark-mode: {"tasks":[{"dependencies":[],"details":"d","id":1,"status":"pending","title":"Colours"},{"dependencies":[1],"details":"d","id":2,"status":"pending","title":"Switch"}]} is None
    task-master/two-tags/tasks.json.master.tasks[0].details: "d" is None
    task-master/two-tags/tasks.json.master.tasks[0].title: "Base" is Some(String("dark-mode"))
    "#);
}

/// The plan that `fp` makes of what it exported in this format: its tree, and what it is as JSON, but for how far its
/// tasks are.
fn there_and_back(environment: &Environment, to: &str, out: &str) -> (String, Value) {
    environment.done(&["export", PLAN, "--to", to, "--out", out]);
    let told = environment.done(&["import", out, "--format", "json"]).json();
    let id = told["planId"].as_str().unwrap_or_else(|| panic!("{told:#}"));
    (environment.read(&format!(".fractal-planner/plans/{id}/tasks.md")), tasks(environment, id))
}

fn tasks(environment: &Environment, plan: &str) -> Value {
    let mut whole = environment.done(&["export", plan, "--to", "json"]).json();
    for task in whole["tasks"].as_array_mut().unwrap() {
        let task = task.as_object_mut().unwrap();
        task.remove("work");
        // What an import keeps of a task that begins anew.
        let ext = task.get_mut("ext").and_then(Value::as_object_mut);
        if ext.is_some_and(|ext| ext.remove("work").is_some() && ext.is_empty()) {
            task.remove("ext");
        }
    }
    whole
}

#[test]
fn a_plan_that_went_to_another_system_is_the_same_when_it_comes_back() {
    let environment = begun();
    environment.done(&["cancel", PLAN]);
    let before = tasks(&environment, PLAN);
    let formats = [
        ("json", "plan.json"),
        ("ccw", "folder"),
        ("task-master", "tasks.json"),
        ("spec-kit", "tasks.md"),
        ("beads", "issues.jsonl"),
    ];
    let mut trees = Vec::new();
    for (to, out) in formats {
        let (tree, after) = there_and_back(&environment, to, out);
        assert_eq!(after, before, "{to}");
        trees.push(tree);
    }
    assert!(trees.iter().all(|tree| *tree == trees[0]));
    environment.done(&["fmt", PLAN]);
    let old = environment.read(&format!("{FOLDER}/tasks.md"));
    let gone: Vec<&str> = old.lines().filter(|line| !trees[0].lines().any(|new| new == *line)).collect();
    // What stands in import.json instead, and prose that became a description.
    assert_snapshot!(gone.join("\n"), @r"
    - Owner: somebody
    - Dependencies: 1.1 (for its text)
    Prose about *this* one.
    ```text
    T001 [P] a fence
    ```
    ");
}
