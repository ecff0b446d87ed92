use super::*;
use crate::plan::id::{PlanId, TaskId};
use crate::plan::parse;
use crate::run::state::Status;
use crate::settings::{Linear, LinearStatusMap};

mod properties;

const TREE: &str = "- [ID: root] Greet people (Complexity: 5)\n- [ID: 1] Texts (Complexity: 3)\n  - [ID: 1.1] Write the \
                    greeting (Complexity: 2)\n    - Acceptance:\n      - `a.txt` has it\n    - Files: a.txt, b/*.rs\n  \
                    - [ID: 1.2] Write the farewell (Complexity: 1)\n    - Dependencies: 1.1\n- [ID: 2] Command \
                    (Complexity: 2)\n";

fn plan_id() -> PlanId {
    PlanId::new("sample-20261121").unwrap()
}

fn task(id: &str) -> TaskId {
    TaskId::new(id).unwrap()
}

fn created(id: &str) -> Answer {
    Answer::Created { id: id.parse().unwrap(), identifier: None, url: None }
}

fn next_batch(mapping: &Mapping, limit: usize) -> Batch {
    let (tree, _) = parse(TREE);
    let settings = Linear { enabled: true, team: Some("ENG".into()), ..Linear::default() };
    // The order says that 2 runs first.
    let order = ["2", "1.1", "1.2"];
    batch(&Request { tree: &tree, order: &order, mapping, settings: &settings, limit }).unwrap()
}

fn keys(batch: &Batch) -> Vec<String> {
    batch.issues.iter().map(|issue| issue.key.to_string()).collect()
}

#[test]
fn parents_level_by_level_then_leaves_as_they_run() {
    let mut mapping = Mapping::new(plan_id());
    let mut seen = Vec::new();
    loop {
        let batch = next_batch(&mapping, 20);
        if batch.issues.is_empty() {
            assert_eq!(batch.remaining, 0);
            break;
        }
        seen.push((keys(&batch).join(" "), batch.remaining));
        for issue in &batch.issues {
            mapping.answer(&issue.key, created(&format!("i-{}", seen.len()))).unwrap();
        }
    }
    let expect = [("create/root", 4), ("create/1", 3), ("create/2 create/1.1 create/1.2", 0)];
    assert_eq!(seen.iter().map(|(keys, left)| (keys.as_str(), *left)).collect::<Vec<_>>(), expect);
}

#[test]
fn an_issue_says_what_its_task_does() {
    let mut mapping = Mapping::new(plan_id());
    for (id, issue) in [("root", "i0"), ("1", "i1")] {
        mapping.answer(&Key::Create(task(id)), created(issue)).unwrap();
    }
    let batch = next_batch(&mapping, 2);
    let issue = &batch.issues[1];
    assert_eq!((batch.issues.len(), batch.remaining), (2, 1));
    assert_eq!(issue.parent_id.as_ref().map(LinearId::as_str), Some("i1"));
    assert_eq!((issue.title.as_str(), issue.team.as_deref()), ("Write the greeting", Some("ENG")));
    insta::assert_snapshot!(issue.description, @"
    ## Acceptance

    - `a.txt` has it

    ## Files

    - `a.txt`
    - `b/*.rs`

    Complexity: 2

    fp: sample-20261121/1.1
    ");
}

#[test]
fn what_fails_three_times_is_given_up_and_its_children_move_up() {
    let mut mapping = Mapping::new(plan_id());
    mapping.answer(&Key::Create(task("root")), created("i0")).unwrap();
    let key = Key::Create(task("1"));
    for attempt in 1..=MAX_ATTEMPTS {
        assert_eq!(keys(&next_batch(&mapping, 20)), ["create/1"], "attempt {attempt}");
        mapping.answer(&key, Answer::Failed("no\nright".into())).unwrap();
    }
    let batch = next_batch(&mapping, 20);
    assert_eq!(keys(&batch), ["create/2", "create/1.1", "create/1.2"]);
    assert_eq!(batch.given_up, [GivenUp { key, reason: "no right".into() }]);
    assert!(batch.issues.iter().all(|i| i.parent_id.as_ref().is_some_and(|id| id.as_str() == "i0")));
    mapping.retry();
    assert_eq!(keys(&next_batch(&mapping, 20)), ["create/1"]);
}

#[test]
fn statuses_are_found_by_name_else_by_type() {
    let list = |text: &str| serde_json::from_str::<TeamStatuses>(text).unwrap().in_order();
    let check = |text: &str, names: &LinearStatusMap, expect: &str, warnings: usize| {
        let found = resolve(&list(text), names);
        let shown: Vec<String> =
            found.statuses.iter().map(|(stage, id)| format!("{} {id}", stage.word())).collect();
        assert_eq!(shown.join(", "), expect, "{text}");
        assert_eq!(found.warnings.len(), warnings, "{:?}", found.warnings);
    };
    let usual = r#"[{"id":"s5","name":"In Review","type":"started","position":1},
        {"id":"s1","name":"Backlog","type":"backlog"},{"id":"s2","name":"Todo","type":"unstarted"},
        {"id":"s7","name":"Later","type":"started","position":9},
        {"id":"s3","name":"In Progress","type":"started","position":2},
        {"id":"s4","name":"Done","type":"completed"},{"id":"s6","name":"Canceled","type":"canceled"}]"#;
    let none = LinearStatusMap::default();
    check(usual, &none, "pending s2, in-progress s3, review s5, completed s4, failed s6", 0);
    let named = LinearStatusMap {
        pending: Some("backlog".into()),
        in_progress: Some(" later ".into()),
        completed: Some("Nowhere".into()),
        ..LinearStatusMap::default()
    };
    check(usual, &named, "pending s1, in-progress s7, review s5, completed s4, failed s6", 1);
    let small = r#"{"statuses":[{"id":"b","name":"Backlog","type":"backlog"},{"id":"d","name":"Done","type":"completed"}]}"#;
    check(small, &none, "pending b, review d, completed d", 2);
    check(r#"{"nodes":[{"id":"d","name":"Done","type":"completed"}]}"#, &none, "review d, completed d", 3);
    check("[]", &none, "", 5);
}

#[test]
fn a_parent_is_where_its_leaves_are() {
    use Status::{AwaitingVerification, Completed, Failed, Implementing, Pending, Skipped};
    let check = |leaves: &[Status], expect: Stage| assert_eq!(Stage::of_parent(leaves), expect, "{leaves:?}");
    check(&[], Stage::Pending);
    check(&[Pending, Pending], Stage::Pending);
    check(&[Skipped, Pending], Stage::Pending);
    check(&[Skipped], Stage::Pending);
    check(&[Implementing, Pending], Stage::InProgress);
    check(&[AwaitingVerification], Stage::InProgress);
    check(&[Completed, Pending], Stage::InProgress);
    check(&[Completed, Failed], Stage::InProgress);
    check(&[Failed, Pending], Stage::InProgress);
    check(&[Completed, Completed], Stage::Completed);
    check(&[Completed, Skipped], Stage::InProgress);
    check(&[Failed, Skipped], Stage::Failed);
    check(&[Failed, Failed], Stage::Failed);
}

#[test]
fn keys_read_back_and_others_are_refused() {
    for text in ["create/1.1", "status/root/in-progress/3", "comment/2/0a1b2c3d"] {
        assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "create",
        "create/",
        "create/../x",
        "create/1/2",
        "status/1/open/1",
        "status/1/failed/0",
        "status/1/failed",
        "comment/1/xyz",
        "comment/1/",
        "delete/1",
    ] {
        assert!(text.parse::<Key>().is_err(), "{text:?}");
    }
}

#[test]
fn an_answer_is_taken_in_once() {
    let mut mapping = Mapping::new(plan_id());
    let create = Key::Create(task("1"));
    let status = |stage, number| Key::Status { task: task("1"), stage, number };
    assert_eq!(mapping.answer(&status(Stage::Failed, 1), Answer::Done), Err(AnswerError::NoIssue(task("1"))));
    assert_eq!(mapping.answer(&create, Answer::Done), Err(AnswerError::NeedsId(create.clone())));
    mapping.answer(&create, created("a")).unwrap();
    mapping.answer(&create, created("a")).unwrap();
    let other = AnswerError::OtherIssue { task: task("1"), known: "a".parse().unwrap() };
    assert_eq!(mapping.answer(&create, created("b")), Err(other));
    let sent = |mapping: &Mapping| mapping.tasks["1"].sent.clone();
    for _ in 0..2 {
        mapping.answer(&status(Stage::InProgress, 1), Answer::Done).unwrap();
        assert_eq!(sent(&mapping), [Stage::InProgress]);
    }
    let ahead = status(Stage::Failed, 3);
    assert_eq!(mapping.answer(&ahead, Answer::Done), Err(AnswerError::NeverGiven(ahead.clone())));
    assert_eq!(mapping.answer(&ahead, created("a")), Err(AnswerError::TakesNoId(ahead.clone())));
    // Given out before the first was acknowledged, and set after it.
    for _ in 0..2 {
        mapping.answer(&status(Stage::Failed, 1), Answer::Done).unwrap();
        assert_eq!(sent(&mapping), [Stage::InProgress, Stage::Failed]);
    }
    // What is done can't fail any more.
    mapping.answer(&status(Stage::Failed, 2), Answer::Failed("late".into())).unwrap();
    mapping.answer(&create, Answer::Failed("late".into())).unwrap();
    assert!(mapping.failures.is_empty());
}

#[test]
fn a_mapping_of_another_version_or_plan() {
    let first = r#"{"planId":"sample-20261121","teamId":"t","projectId":null,"labels":["x"],
        "resolvedStatuses":{"pending":"s1","in-progress":"s2"},
        "tasks":{"root":{"linearIssueId":"i1","linearIdentifier":"ENG-1","priority":2}}}"#;
    let mapping = Mapping::parse(first, &plan_id()).unwrap();
    assert_eq!(mapping.tasks["root"].stage(), Stage::Pending);
    let again = Mapping::parse(&mapping.to_json(), &plan_id()).unwrap();
    assert_eq!(again, mapping);
    assert!(mapping.to_json().contains("\"labels\"") && mapping.to_json().contains("\"priority\": 2"));
    let check = |text: &str, expect: &str| {
        assert_eq!(Mapping::parse(text, &plan_id()).unwrap_err().to_string(), expect);
    };
    check(r#"{"schemaVersion":2}"#, "written by a newer fp (version 2, this fp reads 1)");
    check(r#"{"planId":"other-20261121"}"#, "it is about another plan, other-20261121");
    check("{", "1:1: EOF while parsing an object");
    check(
        r#"{"planId":"../x"}"#,
        "1:17: \"../x\" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit",
    );
    let outside = r#"{"planId":"sample-20261121","tasks":{"../1":{"linearIssueId":"a"}}}"#;
    assert!(Mapping::parse(outside, &plan_id()).is_err());
}
