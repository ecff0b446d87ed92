use super::*;

#[test]
fn requirements_are_read_in_every_form() {
    let check = |json: &str, expect: &[(&str, &str)]| {
        let found = Interview::parse(json).unwrap().requirements;
        let found: Vec<_> = found.iter().map(|r| (&*r.id, &*r.text)).collect();
        assert_eq!(found, expect, "{json}");
    };
    check("{}", &[]);
    check(
        r#"{"requirements": [{"id": "R7", "text": "a"}, {"text": "b"}]}"#,
        &[("R7", "a"), ("R2", "b")],
    );
    check(
        r#"{"requirements": ["a", 3, null, {"odd": true}, "b"]}"#,
        &[("R1", "a"), ("R2", "b")],
    );
    check(r#"{"requirements": "a"}"#, &[("R1", "a")]);
    check(r#"{"requirements": 3}"#, &[]);
}

#[test]
fn what_is_not_known_is_kept() {
    let text = r#"{"schemaVersion": 1, "mood": {"good": true}, "requirements": []}"#;
    let written: Value = serde_json::from_str(&Interview::parse(text).unwrap().to_json()).unwrap();
    assert_eq!(written["mood"]["good"], true);
}

#[test]
fn a_text_that_is_no_interview_says_where() {
    let check = |text: &str, expect: &str| {
        let error = Interview::parse(text).unwrap_err();
        assert_eq!(error.to_string(), expect, "{text:?}");
    };
    check("{\n  \"objective\": \"x\",\n}", "3:1: trailing comma");
    check(
        "{\"schemaVersion\": 2}",
        "1:1: written by a newer fp (schemaVersion 2, this fp writes 1)",
    );
    for bad in ["", "[]", "{\"objective\": 3}"] {
        assert!(Interview::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_record_reads_well() {
    let interview = Interview::parse(
        r#"{
            "objective": "Greet people",
            "saidBy": {"objective": "auto"},
            "requirements": ["It greets", {"id": "R5", "text": "It greets\nby name", "by": "auto"}],
            "scopeInclusions": [{"text": "the command", "by": "auto"}],
            "scopeExclusions": ["translations"],
            "approach": "a subcommand",
            "alternatives": [{"name": "a plugin", "whyNot": "more to install"}, {"name": "x"}, 3],
            "decisions": [{"question": "Which language?", "answer": "Rust", "by": "auto"}, {"answer": "no colours"}],
            "testStrategy": "unit tests",
            "openQuestions": ["Else?"]
        }"#,
    )
    .unwrap();
    insta::assert_snapshot!(interview_page("Add a greeting\n\n# now", &interview), @"
    # Interview

    ## Goal

    > Add a greeting
    >
    > # now

    ## Objective

    Greet people (assumed)

    ## Requirements

    - **R1** It greets
    - **R5** It greets
      by name (assumed)

    ## In scope

    - the command (assumed)

    ## Out of scope

    - translations

    ## Decisions

    - Which language? Rust (assumed)
    - no colours

    ## Approach

    a subcommand

    ## Not chosen

    - a plugin: more to install

    ## Tests

    unit tests

    ## Open questions

    - Else?
    ");
    insta::assert_snapshot!(interview_page("x", &Interview::default()), @"
    # Interview

    ## Goal

    > x
    ");
}
