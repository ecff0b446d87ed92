use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.into()).collect()
}

/// Merges `answers` into `before`; expects the whole record.
fn check(before: Value, answers: &Answers, by: Decider, after: Value) {
    let mut interview = Interview::parse(&before.to_string()).unwrap();
    interview.merge(answers, by).unwrap();
    assert_eq!(Value::Object(interview.document.clone()), after);
    let mut again = interview.clone();
    again.merge(answers, by).unwrap();
    assert_eq!(again, interview, "the same answers add nothing");
}

#[test]
fn a_first_round_makes_the_record() {
    let answers = Answers {
        objective: Some("Greet people".into()),
        include: texts(&["the command"]),
        exclude: texts(&["translations"]),
        requirements: texts(&["It greets", "It greets  by name", "it GREETS"]),
        decisions: vec![("Which language?".into(), "Rust".into())],
        assumptions: texts(&["a terminal"]),
        approach: Some("a subcommand".into()),
        tests: Some("unit tests".into()),
        open: texts(&["Colours?"]),
    };
    let after = json!({
        "schemaVersion": 1,
        "objective": "Greet people",
        "approach": "a subcommand",
        "testStrategy": "unit tests",
        "saidBy": { "objective": "user", "approach": "user", "testStrategy": "user" },
        "scopeInclusions": ["the command"],
        "scopeExclusions": ["translations"],
        "requirements": [
            { "id": "R1", "text": "It greets", "by": "user" },
            { "id": "R2", "text": "It greets  by name", "by": "user" },
        ],
        "decisions": [{ "question": "Which language?", "answer": "Rust", "by": "user" }],
        "assumptions": ["a terminal"],
        "openQuestions": ["Colours?"],
    });
    check(json!({}), &answers, Decider::User, after);
}

#[test]
fn nothing_that_is_there_is_lost() {
    let before = json!({
        "schemaVersion": 0,
        "mine": { "kept": [1, 2] },
        "objective": "Old",
        "requirements": ["plain", { "id": "R9", "text": "numbered", "priority": "high" }, { "odd": true }, 3],
        "scopeExclusions": "one text",
        "openQuestions": [{ "question": "colours?", "why": "x" }, "Else?"],
    });
    let answers = Answers {
        objective: Some("New".into()),
        exclude: texts(&["another"]),
        requirements: texts(&["added", "Plain"]),
        decisions: vec![("Colours?".into(), "No".into())],
        ..Answers::default()
    };
    let after = json!({
        "schemaVersion": 0,
        "mine": { "kept": [1, 2] },
        "objective": "New",
        "superseded": [{ "field": "objective", "was": "Old" }],
        "saidBy": { "objective": "auto" },
        "requirements": [
            { "id": "R1", "text": "plain" },
            { "id": "R9", "text": "numbered", "priority": "high" },
            { "odd": true },
            3,
            { "id": "R10", "text": "added", "by": "auto" },
        ],
        "scopeExclusions": ["one text", "another"],
        "openQuestions": ["Else?"],
        "decisions": [{ "question": "Colours?", "answer": "No", "by": "auto" }],
    });
    check(before, &answers, Decider::Auto, after);
}

#[test]
fn requirements_by_id_become_a_list() {
    let before = json!({ "requirements": { "R1": "one", "R4": { "text": "four" } } });
    let answers = Answers { requirements: texts(&["five"]), ..Answers::default() };
    let after = json!({
        "schemaVersion": 1,
        "requirements": [
            { "id": "R1", "text": "one" },
            { "id": "R4", "text": "four" },
            { "id": "R5", "text": "five", "by": "user" },
        ],
    });
    check(before, &answers, Decider::User, after);
}

#[test]
fn what_can_not_be_added_to_is_left_alone() {
    let answers = Answers {
        objective: Some("New".into()),
        requirements: texts(&["a"]),
        open: texts(&["b"]),
        ..Answers::default()
    };
    for (before, message) in [
        (json!({ "requirements": 3 }), "`requirements` is a number, where a list is expected"),
        (json!({ "openQuestions": { "a": 1 } }), "`openQuestions` is an object, where a list is expected"),
        (json!({ "requirements": true }), "`requirements` is a boolean, where a list is expected"),
    ] {
        let mut interview = Interview::parse(&before.to_string()).unwrap();
        assert_eq!(interview.merge(&answers, Decider::User).unwrap_err().to_string(), message);
        assert_eq!(Value::Object(interview.document), before);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        "[a-cR1 ]{0,4}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("id|text|question|[a-c]", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// All texts in `value`, with how often each occurs.
fn contents(value: &Value, found: &mut BTreeMap<String, usize>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|field| contents(field, found)),
        Value::Array(entries) => entries.iter().for_each(|entry| contents(entry, found)),
        Value::String(text) => *found.entry(text.clone()).or_default() += 1,
        _ => {}
    }
}

proptest! {
    #[test]
    fn whatever_is_there_survives(
        before in prop::collection::btree_map(
            "objective|requirements|scopeExclusions|openQuestions|decisions|saidBy|superseded|mine",
            any_json(),
            0..6,
        ),
    ) {
        let document = before.into_iter().collect();
        let mut interview = Interview { document };
        let mut kept = BTreeMap::new();
        contents(&Value::Object(interview.document.clone()), &mut kept);
        let answers = Answers {
            objective: Some("new".into()),
            requirements: texts(&["new", "newer"]),
            exclude: texts(&["new"]),
            open: texts(&["new"]),
            ..Answers::default()
        };
        let untouched = interview.clone();
        match interview.merge(&answers, Decider::User) {
            Err(_) => prop_assert_eq!(interview, untouched),
            Ok(()) => {
                let mut now = BTreeMap::new();
                contents(&Value::Object(interview.document.clone()), &mut now);
                for (text, count) in kept {
                    prop_assert!(now.get(&text).is_some_and(|there| *there >= count), "{:?} was lost", text);
                }
                prop_assert!(interview.requirements().iter().any(|r| r.text == "newer"));
            }
        }
    }
}
