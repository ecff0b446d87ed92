//! Any bytes are read without a panic, and what is one format is no other.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::exchange::check::settle;
use crate::exchange::portable::Work;

fn folder(files: &[(&str, &str)]) -> Folder {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn each_sign_is_that_of_one_format() {
    let check = |path: &str, text: &str, expect: Source| {
        assert_eq!(recognise(&folder(&[(path, text)])).map(|found| found.source), Ok(expect), "{text}");
    };
    check("PLAN.md", "# WORK-01: A\n", Source::Uctm);
    check("TASK-01.md", "anything", Source::Uctm);
    check("tasks.json", r#"[{"id": "A-1", "title": "A", "role": "x", "deps": []}]"#, Source::Maestro);
    check("tasks.json", r#"{"A-1": {"title": "A", "deps": []}}"#, Source::Maestro);
    check("tasks.json", r#"{"tasks": {"A-1": {"title": "A", "role": "r"}}}"#, Source::Maestro);
    check("tasks.csv", "id,title,role\nA,B,C\n", Source::Maestro);
    check("task.json", r#"{"id": "T", "read_first": [], "convergence": {}}"#, Source::Maestro);
    check("task-analysis.json", r#"{"dependency_graph": {"A": []}}"#, Source::Maestro);
    check(".task/IMPL-1.json", r#"{"id": "IMPL-1", "flow_control": {}}"#, Source::Ccw);
    check("IMPL-1.json", r#"{"id": "IMPL-1", "title": "A", "convergence": {}}"#, Source::Ccw);
    check("plan.json", r#"{"summary": "A", "task_ids": []}"#, Source::Ccw);
    check(
        "plan.json",
        r#"{"approach": "A", "tasks": [{"id": "T1", "title": "A", "depends_on": []}]}"#,
        Source::Ccw,
    );
    check("tasks.json", r#"{"tasks": [{"id": 1, "title": "A", "dependencies": []}]}"#, Source::TaskMaster);
    check("tasks.json", r#"{"main": {"tasks": [{"id": 1, "subtasks": []}]}}"#, Source::TaskMaster);
    check("tasks.md", "- [ ] T001 A\n", Source::SpecKit);
    check("issues.jsonl", r#"{"id": "a", "title": "A", "status": "open"}"#, Source::Beads);
    check("tasks.md", "- [ID: 1] A\n", Source::FractalPlanner);
    check("any.md", "## [1] A\n- Complexity: 2\n", Source::FractalPlanner);
    assert!(recognise(&folder(&[("CHANGELOG.md", "## [0.2.0] - 2026-01-01\n\n- More\n")])).is_err());
    check(
        "plan.json",
        r#"{"schemaVersion": 1, "title": "A", "tasks": [{"id": "1", "title": "B", "dependencies": []}]}"#,
        Source::Json,
    );
}

#[test]
fn files_of_a_plan_folder_are_no_plans_of_others() {
    let files = [
        ("tasks.md", "- [ID: root] R\n- [ID: 1] A\n"),
        ("plan.json", r#"{"schemaVersion": 1, "planId": "p", "goal": "g", "settings": {}}"#),
        (
            "import.json",
            r#"{"schemaVersion": 1, "from": "ccw", "path": "x", "tasks": {"1": {"id": "IMPL-1", "ext": {"depends_on": []}}}}"#,
        ),
        (
            "linear-mapping.json",
            r#"{"planId": "p", "tasks": {"1": {"linearIssueId": "i", "linearIdentifier": "T-1"}}}"#,
        ),
        (
            "execution-state.json",
            r#"{"planId": "p", "taskMap": {"1": "1"}, "state": {"tasks": [{"leaf": {"id": "1"}, "status": "COMPLETED", "commit": "abc"}]}}"#,
        ),
        ("events.jsonl", r#"{"schemaVersion":1,"seq":1,"at":"2026-01-01T00:00:00Z","events":["told"]}"#),
        ("evidence/task-1-verification.md", "# Verification Evidence: Task 1\n\nResult: PASS\n"),
    ];
    let folder = folder(&files);
    assert_eq!(recognise(&folder).map(|found| found.source), Ok(Source::FractalPlanner));
    let (plan, notices) = read(Source::FractalPlanner, &folder).unwrap();
    assert_eq!(notices, []);
    assert_eq!(plan.tasks[0].work, Work::Done { commit: Some("abc".into()) });
}

#[test]
fn reports_of_older_versions_say_what_is_done() {
    let files = [
        ("tasks.md", "- [ID: root] R\n- [ID: T1] A\n- [ID: T2] B\n- [ID: T3] C\n- [ID: T4] D\n"),
        (
            "progress.md",
            "| Task | State | Commit |\n|---|---|---|\n| T1 | COMPLETED | `ABCDEF0` |\n| 2 | FAILED | - |\n",
        ),
        (
            "execution-state.json",
            r#"{"iterationMap": {"T1": 1, "T3": 2}, "skippedTasks": {"T4": "Blocked by T2"}}"#,
        ),
    ];
    let (plan, _) = read(Source::FractalPlanner, &folder(&files)).unwrap();
    let work: Vec<Work> = plan.tasks.into_iter().map(|task| task.work).collect();
    let expected = [
        Work::Done { commit: Some("abcdef0".into()) },
        Work::Failed { reason: None },
        Work::Running,
        Work::Skipped,
    ];
    assert_eq!(work, expected);
}

#[test]
fn one_broken_file_is_not_the_end_and_all_are() {
    let fine = r#"{"id": "IMPL-1", "title": "A", "flow_control": {}}"#;
    let (plan, notices) =
        read(Source::Ccw, &folder(&[(".task/a.json", fine), (".task/b.json", "{\n  x")])).unwrap();
    assert_eq!(plan.tasks.len(), 1);
    let said: Vec<String> = notices.iter().map(ToString::to_string).collect();
    assert_eq!(said, [".task/b.json:2:3: not valid JSON: key must be a string; it is left out"]);
    let error = read(Source::Ccw, &folder(&[(".task/b.json", "{\n  x")])).unwrap_err();
    assert_eq!(error.to_string(), ".task/b.json:2:3: not valid JSON: key must be a string");
    assert_eq!(recognise(&folder(&[(".task/b.json", "{\n  x")])), Err(error));
}

/// Names that mean something to some format.
const NAMES: [&str; 14] = [
    "PLAN.md",
    "TASK-01.md",
    "TASK-01_result.md",
    "tasks.json",
    "tasks.csv",
    "task-analysis.json",
    ".task/IMPL-1.json",
    "plan.json",
    "TODO_LIST.md",
    "tasks.md",
    "issues.jsonl",
    "execution-state.json",
    "progress.md",
    "a/b.json",
];

/// Keys and words that mean something to some format.
const WORDS: [&str; 40] = [
    "id",
    "title",
    "tasks",
    "deps",
    "role",
    "status",
    "done",
    "description",
    "depends_on",
    "dependencies",
    "subtasks",
    "convergence",
    "criteria",
    "files",
    "path",
    "action",
    "flow_control",
    "target_files",
    "context",
    "requirements",
    "read_first",
    "task_ids",
    "task_count",
    "schemaVersion",
    "parent",
    "dependency_graph",
    "blockedBy",
    "capabilities",
    "meta",
    "test",
    "commands",
    "type",
    "parent-child",
    "depends_on_id",
    "1",
    "IMPL-1",
    "1.1",
    "T001",
    "work",
    "a:b:1",
];

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..5_i64).prop_map(Value::from),
        prop::sample::select(WORDS.to_vec()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let key = prop::sample::select(WORDS.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..6).prop_map(|map| map
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

fn file_text() -> impl Strategy<Value = String> {
    let lines = prop::sample::select(vec![
        "# WORK-01: A",
        "| TASK | Title | Depends on | Status |",
        "|---|---|---|---|",
        "| TASK-01 | A | TASK-02 | Done |",
        "### TASK-02: B",
        "- **Files**: `a`",
        "## Dependencies",
        "(none)",
        "없음",
        "```",
        "- [ ] T001 [P] A in a.rs",
        "- [x] T002",
        "- [ID: 1] A",
        "  - [ID: 1.1] B",
        "  - Dependencies: 1",
        "> Status: done",
        "Result: PASS",
        "- 1: A | Commit: abcdef0",
        "id,title,role,deps",
        "1,\"a",
        "a;b,c",
        "- [ ] IMPL-1: x",
        "",
        "\u{feff}",
        "## Files",
        "| a |",
        "|",
        "[](",
        "](",
        "\\|",
    ]);
    prop_oneof![
        json_value().prop_map(|value| value.to_string()),
        prop::collection::vec(json_value(), 0..4)
            .prop_map(|all| all.iter().map(|v| format!("{v}\n")).collect()),
        prop::collection::vec(lines, 0..20).prop_map(|lines| lines.join("\n")),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn nothing_panics(files in prop::collection::vec((prop::sample::select(NAMES.to_vec()), file_text()), 0..5)) {
        let folder: Folder = files.iter().map(|(path, text)| ((*path).to_owned(), text.clone())).collect();
        let _ = recognise(&folder);
        for source in Source::ALL {
            let Ok((mut plan, _)) = read(source, &folder) else { continue };
            prop_assert!(!plan.tasks.is_empty());
            let above = plan.tasks.iter().enumerate().all(|(at, task)| task.parent.is_none_or(|parent| parent < at));
            prop_assert!(above, "parents stand before their children");
            let _ = settle(&mut plan);
        }
    }
}

#[test]
fn every_format_has_its_name() {
    for source in Source::ALL {
        assert_eq!(source.name().parse(), Ok(source));
        assert_eq!(json!(source), json!(source.name()));
    }
    assert_eq!("jira".parse::<Source>(), Err("\"jira\" is no format that can be read".to_owned()));
}
