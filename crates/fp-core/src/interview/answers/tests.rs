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
