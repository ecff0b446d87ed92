use serde_json::Value;

use super::*;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.into()).collect()
}

/// Merges `answers` into `before`, then expects the fields of `after` to match.
fn check(before: Value, answers: &Answers, by: Decider, after: Value) {
    let mut interview = Interview::parse(&before.to_string()).unwrap();
    interview.merge(answers, by).unwrap();
    let record = json!(interview);
    for (field, value) in after.as_object().unwrap() {
        assert_eq!(record[field], *value, "{field}");
    }
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
        "alternatives": [{ "name": "a plugin", "whyNot": "more to install" }],
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
        "requirements": ["plain", { "id": "R9", "text": "numbered" }],
        "scopeExclusions": "one text",
        "openQuestions": ["colours?", "Else?"],
    });
    let answers = Answers {
        objective: Some("New".into()),
        exclude: texts(&["another"]),
        requirements: texts(&["added", "Plain"]),
        decisions: vec![("Colours?".into(), "No".into())],
        ..Answers::default()
    };
    let after = json!({
        "schemaVersion": 1,
        "mine": { "kept": [1, 2] },
        "objective": "New",
        "superseded": [{ "field": "objective", "was": "Old" }],
        "saidBy": { "objective": "auto" },
        "requirements": [
            { "id": "R1", "text": "plain" },
            { "id": "R9", "text": "numbered" },
            { "id": "R10", "text": "added", "by": "auto" },
        ],
        "scopeExclusions": [{ "text": "one text" }, { "text": "another", "by": "auto" }],
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
        "scopeInclusions": [{ "text": "b" }, { "text": "translations", "by": "user" }],
        "scopeExclusions": [],
        "superseded": [
            { "field": "requirements", "was": { "id": "R2", "text": "It greets" } },
            { "field": "scopeInclusions", "was": { "text": "Translations" } },
            { "field": "scopeExclusions", "was": { "text": "translations", "by": "auto" } },
        ],
    });
    let record = json!(interview);
    for (field, value) in after.as_object().unwrap() {
        assert_eq!(record[field], *value, "{field}");
    }
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
    assert_eq!(json!(interview), record);
}

#[test]
fn an_alternative_has_one_reason() {
    let answers = |why: &str| Answers {
        alternatives: vec![("a plugin".into(), why.into())],
        ..Answers::default()
    };
    let told = |why: &str| json!({ "name": "a plugin", "whyNot": why });
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
    });
    check(first, &answers("too large"), Decider::User, second);
}

#[test]
fn whole_sentences_of_the_goal_are_stated() {
    let goal = "Change `greet`. It takes a NAME,\nand prints it!\n\n1. Exit with 2 without a NAME;\n- Do not\n  add a \
                flag, e.g. print it twice\n(3) `--loud` prints capitals. See README. Never print\n2 lines of text. Limits: a line has 80 letters; two \
                pages are enough";
    let check = |text: &str, expect: bool| {
        let document = json!({ "requirements": [{ "id": "R1", "text": text, "by": "auto" }] });
        let mut interview = Interview::parse(&document.to_string()).unwrap();
        interview.confirm_stated(goal);
        let by = interview.requirements[0].by;
        assert_eq!(by == Some(Decider::User), expect, "{text}");
    };
    check("It takes a NAME, and prints it", true);
    check("exit with 2  without a NAME", true);
    check("`--loud` prints capitals.", true);
    check("Change `greet`. See README", true);
    check("Do not add a flag, e.g. print it twice", true);
    check("add a flag, e.g. print it twice", false);
    check("print it twice", false);
    check("It takes a NAME", false);
    check("It takes a NAME, and prints it in colour", false);
    check("add a flag", false);
    check("...", false);
    check("lines of text", false);
    check("A line has 80 letters", true);
    check("two pages are enough.", true);
    check("a line has 80", false);
    check(
        "- Do not\n add a  flag, e.g. print it twice\n(3) `--loud` prints capitals. See README. Never print",
        true,
    );
    check(
        "- Do not\n(3) `--loud` prints capitals. See README. Never print",
        false,
    );
}

#[test]
fn lines_of_the_goal_are_requirements_as_they_stand() {
    let goal = "Build a reader.\n\n## Forms\n\n- It reads TOML, by\n  its document\n- It reads `a|b`\n\n| name | does |\n|---|:--|\n| one | 1 |\nLast words.\nAnd more.";
    let cases: [(RangeInclusive<usize>, &[&str]); 6] = [
        (1..=1, &["Build a reader."]),
        (
            3..=7,
            &["It reads TOML, by\nits document", "It reads `a|b`"],
        ),
        (9..=11, &["| name | does |", "| one | 1 |"]),
        (13..=13, &["And more."]),
        (2..=4, &[]),
        (14..=99, &[]),
    ];
    for (lines, expected) in cases {
        let found = requirements_in(goal, &lines);
        assert_eq!(found, expected, "{lines:?}");
        let mut interview = Interview::default();
        let answers = Answers {
            requirements: found,
            ..Answers::default()
        };
        interview.merge(&answers, Decider::Auto).unwrap();
        interview.confirm_stated(goal);
        for requirement in interview.requirements {
            assert_eq!(requirement.by, Some(Decider::User), "{}", requirement.text);
        }
    }
}
