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
        alternatives: vec![("a plugin".into(), "more to install".into())],
        ..Answers::default()
    };
    let after = json!({
        "schemaVersion": 1,
        "alternatives": [{ "name": "a plugin", "whyNot": "more to install", "by": "user" }],
        "objective": "Greet people",
        "approach": "a subcommand",
        "testStrategy": "unit tests",
        "saidBy": { "objective": "user", "approach": "user", "testStrategy": "user" },
        "scopeInclusions": [{ "text": "the command", "by": "user" }],
        "scopeExclusions": [{ "text": "translations", "by": "user" }],
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
        "scopeExclusions": ["one text", { "text": "another", "by": "auto" }],
        "openQuestions": ["Else?"],
        "decisions": [{ "question": "Colours?", "answer": "No", "by": "auto" }],
    });
    check(before, &answers, Decider::Auto, after);
}

#[test]
fn what_the_user_repeats_is_the_users() {
    let before = json!({
        "objective": "Greet",
        "saidBy": { "objective": "auto" },
        "requirements": [{ "id": "R1", "text": "a", "by": "auto" }],
        "scopeInclusions": ["b"],
        "scopeExclusions": [{ "text": "c", "by": "auto" }],
    });
    let answers = Answers {
        objective: Some("Greet".into()),
        requirements: texts(&["A"]),
        include: texts(&["b"]),
        exclude: texts(&["c"]),
        ..Answers::default()
    };
    let after = json!({
        "schemaVersion": 1,
        "objective": "Greet",
        "saidBy": { "objective": "user" },
        "requirements": [{ "id": "R1", "text": "a", "by": "user" }],
        "scopeInclusions": [{ "text": "b", "by": "user" }],
        "scopeExclusions": [{ "text": "c", "by": "user" }],
    });
    check(before, &answers, Decider::User, after.clone());
    check(after.clone(), &answers, Decider::Auto, after);
}

#[test]
fn that_nothing_is_excluded_is_a_decision() {
    let none = Answers {
        exclude_nothing: true,
        ..Answers::default()
    };
    let decided = json!({ "schemaVersion": 1, "scopeExclusions": [], "saidBy": { "scopeExclusions": "user" } });
    check(json!({}), &none, Decider::User, decided.clone());
    check(decided.clone(), &none, Decider::Auto, decided.clone());
    let more = Answers {
        exclude: texts(&["번역"]),
        ..Answers::default()
    };
    let excluded = json!({ "schemaVersion": 1, "scopeExclusions": [{ "text": "번역", "by": "user" }], "saidBy": {} });
    check(decided, &more, Decider::User, excluded.clone());
    let after = json!({
        "schemaVersion": 1,
        "scopeExclusions": [],
        "saidBy": { "scopeExclusions": "user" },
        "superseded": [{ "field": "scopeExclusions", "was": { "text": "번역", "by": "user" } }],
    });
    check(excluded, &none, Decider::User, after);
}

#[test]
fn what_is_withdrawn_is_kept_and_its_id_not_given_again() {
    let before = json!({
        "requirements": ["It works", "It greets"],
        "scopeInclusions": ["Translations", "b"],
        "scopeExclusions": [{ "text": "translations", "by": "auto" }],
    });
    let mut interview = Interview::parse(&before.to_string()).unwrap();
    let answers = Answers {
        withdraw: texts(&["R2", " translations "]),
        include: texts(&["translations"]),
        ..Answers::default()
    };
    interview.merge(&answers, Decider::User).unwrap();
    interview
        .merge(
            &Answers {
                requirements: texts(&["It says hello"]),
                ..Answers::default()
            },
            Decider::User,
        )
        .unwrap();
    let after = json!({
        "schemaVersion": 1,
        "requirements": [
            { "id": "R1", "text": "It works" },
            { "id": "R3", "text": "It says hello", "by": "user" },
        ],
        "scopeInclusions": ["b", { "text": "translations", "by": "user" }],
        "scopeExclusions": [],
        "superseded": [
            { "field": "requirements", "was": { "id": "R2", "text": "It greets" } },
            { "field": "scopeInclusions", "was": "Translations" },
            { "field": "scopeExclusions", "was": { "text": "translations", "by": "auto" } },
        ],
    });
    assert_eq!(Value::Object(interview.document.clone()), after);
    let never = Answers {
        withdraw: texts(&["R1", "R2"]),
        requirements: texts(&["more"]),
        ..Answers::default()
    };
    assert_eq!(
        interview
            .merge(&never, Decider::User)
            .unwrap_err()
            .to_string(),
        "\"R2\" can't be withdrawn: nothing required, in or out of scope has that id or these words"
    );
    assert_eq!(Value::Object(interview.document), after);
}

#[test]
fn an_alternative_has_one_reason() {
    let answers = |why: &str| Answers {
        alternatives: vec![("a plugin".into(), why.into())],
        ..Answers::default()
    };
    let told = |why: &str| json!({ "name": "a plugin", "whyNot": why, "by": "user" });
    let first = json!({ "schemaVersion": 1, "alternatives": [told("too slow")] });
    check(
        json!({}),
        &answers("too slow"),
        Decider::User,
        first.clone(),
    );
    let second = json!({
        "schemaVersion": 1,
        "alternatives": [told("too large")],
        "superseded": [{ "field": "alternatives", "was": told("too slow") }],
    });
    check(first, &answers("too large"), Decider::User, second);
}

#[test]
fn what_is_no_list_becomes_its_first_entry() {
    let answers = Answers {
        requirements: texts(&["a"]),
        open: texts(&["b"]),
        ..Answers::default()
    };
    let before = json!({ "requirements": 3, "openQuestions": { "a": 1 } });
    let after = json!({
        "schemaVersion": 1,
        "requirements": [3, { "id": "R2", "text": "a", "by": "user" }],
        "openQuestions": [{ "a": 1 }, "b"],
    });
    check(before, &answers, Decider::User, after);
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
