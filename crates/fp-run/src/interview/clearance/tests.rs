use proptest::prelude::*;
use serde_json::{Value, json};
use strum::VariantArray as _;

use super::super::answers::Answers;
use super::*;

const GROUNDS: Grounds = Grounds {
    mode: Mode::Pipeline,
    by: Decider::User,
    rounds: InterviewRounds { user: 2, auto: 0 },
};

/// A complete record.
fn whole() -> Value {
    json!({
        "objective": "`fp hello` greets",
        "approach": "a subcommand",
        "testStrategy": "unit tests",
        "saidBy": { "objective": "user", "approach": "user", "testStrategy": "user" },
        "requirements": [{ "id": "R1", "text": "It greets by name", "by": "user" }],
        "scopeInclusions": [{ "text": "the command", "by": "user" }],
        "scopeExclusions": [{ "text": "translations", "by": "user" }],
    })
}

fn with(changes: &Value) -> Interview {
    let mut record = whole();
    for (field, value) in changes.as_object().unwrap() {
        record[field] = value.clone();
    }
    Interview::parse(&record.to_string()).unwrap()
}

fn open_names(interview: &Interview, grounds: &Grounds) -> String {
    let clearance = Clearance::new(interview, grounds);
    let names: Vec<&str> = clearance.open.iter().map(|item| item.name).collect();
    names.join(" ")
}

/// Expects `name` to be the only open item, with `missing` as its text.
fn check(changes: &Value, name: &'static str, missing: &str) {
    let clearance = Clearance::new(&with(changes), &GROUNDS);
    let missing = missing.to_owned();
    assert_eq!(clearance.open, [OpenItem { name, missing }], "{changes}");
    assert!(!clearance.clear);
}

#[test]
fn each_item_says_what_it_lacks() {
    assert!(Clearance::new(&with(&json!({})), &GROUNDS).clear);
    check(
        &json!({ "objective": null }),
        "objective",
        "not said yet: --objective TEXT",
    );
    let said_by = |field: &str| {
        let mut said_by = whole()["saidBy"].clone();
        said_by[field] = json!("auto");
        json!({ "saidBy": said_by })
    };
    check(
        &said_by("objective"),
        "objective",
        "the user has not confirmed it: --objective TEXT",
    );
    check(
        &said_by("testStrategy"),
        "tests",
        "the user has not confirmed it: --tests TEXT",
    );
    check(
        &json!({ "testStrategy": null }),
        "tests",
        "not said yet: --tests TEXT",
    );
    check(
        &json!({ "openQuestions": ["Which \"language\"?", "언어는?", "c", "d", "e"] }),
        "questions",
        "nobody has answered \"Which \"language\"?\", \"언어는?\", \"c\" and 2 more: --decision 'QUESTION|ANSWER'",
    );
    let nothing = Interview::default();
    assert_eq!(open_names(&nothing, &GROUNDS), "objective scope tests");
}

#[test]
fn the_scope_has_two_sides() {
    let nothing_out = "not said yet: --exclude TEXT, or --exclude none";
    let unconfirmed = "the user has not confirmed it: --exclude TEXT, or --exclude none";
    check(
        &json!({ "scopeInclusions": [] }),
        "scope",
        "not said yet: --include TEXT",
    );
    check(&json!({ "scopeExclusions": [] }), "scope", nothing_out);
    let none = |by: &str| {
        let mut said_by = whole()["saidBy"].clone();
        said_by["scopeExclusions"] = by.into();
        json!({ "scopeExclusions": [], "saidBy": said_by })
    };
    assert_eq!(open_names(&with(&none("user")), &GROUNDS), "");
    check(&none("auto"), "scope", unconfirmed);
    check(
        &json!({ "scopeExclusions": ["plain"] }),
        "scope",
        unconfirmed,
    );
    check(
        &json!({ "scopeInclusions": ["plain"] }),
        "scope",
        "the user has not confirmed it: --include TEXT",
    );
}

#[test]
fn what_nobody_can_observe_is_ambiguous() {
    let user = |text: &str| json!({ "text": text, "by": "user" });
    check(
        &json!({
            "requirements": [user("It greets properly"), user("`properly` is printed"), user("로그인이 정상적으로 된다")],
            "scopeInclusions": [user("user-friendly errors")],
        }),
        "ambiguities",
        "\"R1\" says \"properly\", \"R3\" says \"정상적으로\", \"user-friendly errors\" says \"user-friendly\", which \
         nobody can observe: --withdraw ID-OR-TEXT, and say it anew",
    );
    check(
        &json!({ "scopeInclusions": [user("번역"), user("the  Command")], "scopeExclusions": [user("the command")] }),
        "ambiguities",
        "\"the Command\", in and out of scope at once: --withdraw ID-OR-TEXT, and say it anew",
    );
}

#[test]
fn nobody_is_asked_for_ever() {
    let limit = |user, auto, by| Grounds {
        rounds: InterviewRounds { user, auto },
        by,
        ..GROUNDS
    };
    let goes_on = |grounds| Clearance::new(&Interview::default(), &grounds).may_go_on();
    assert!(!goes_on(limit(29, 99, Decider::User)));
    assert!(goes_on(limit(30, 0, Decider::User)));
    assert!(goes_on(limit(0, 30, Decider::Auto)));
}

#[test]
fn what_the_interview_settled_is_not_looked_up_again() {
    use PlanningStep::{Approach, Decompose, Interview, Research};
    let steps = [Interview, Research, Approach, Decompose];
    let check = |changes: Value, steps: &[PlanningStep], expect: PlanningStep| {
        let step = step_after(&with(&changes), &GROUNDS, steps);
        assert_eq!(step, Some(expect), "{changes}");
    };
    check(json!({}), &steps, Decompose);
    check(json!({ "approach": null }), &steps, Research);
    check(
        json!({ "saidBy": { "objective": "user", "approach": "auto" } }),
        &steps,
        Research,
    );
    check(json!({}), &[Interview, Research], Research);
}

#[test]
fn where_nobody_is_asked_assumptions_are_enough() {
    let mut assumed = Interview::default();
    assumed.merge(&said("a"), Decider::Auto).unwrap();
    let auto = Grounds {
        by: Decider::Auto,
        ..GROUNDS
    };
    let in_mode = |mode| Grounds { mode, ..GROUNDS };
    for grounds in [auto, in_mode(Mode::Specified), in_mode(Mode::Direct)] {
        assert_eq!(open_names(&assumed, &grounds), "", "{grounds:?}");
        assert!(!Clearance::new(&Interview::default(), &grounds).clear);
    }
    assert_eq!(open_names(&assumed, &GROUNDS), "objective scope tests");
    assumed.merge(&said("a"), Decider::User).unwrap();
    assert_eq!(
        open_names(&assumed, &GROUNDS),
        "",
        "what the user repeats is confirmed"
    );
    assumed.merge(&said("a"), Decider::Auto).unwrap();
    assert_eq!(open_names(&assumed, &GROUNDS), "", "and stays so");
}

#[test]
fn texts_of_strangers_stay_on_their_line() {
    let asked = format!("a\n# b \u{1b}[31m {}", "x".repeat(1_000));
    let clearance = Clearance::new(&with(&json!({ "openQuestions": [asked] })), &GROUNDS);
    let missing = &clearance.open[0].missing;
    assert!(
        missing.len() < 200 && !missing.contains(char::is_control),
        "{missing:?}"
    );
}

fn said(text: &str) -> Answers {
    Answers {
        objective: Some(text.into()),
        include: vec![text.into()],
        exclude: vec![format!("not {text}")],
        requirements: vec![text.into()],
        approach: Some(text.into()),
        tests: Some(text.into()),
        ..Answers::default()
    }
}

fn grounds() -> impl Strategy<Value = Grounds> {
    let rounds = (0..40_u32, 0..40_u32).prop_map(|(user, auto)| InterviewRounds { user, auto });
    let by = prop_oneof![Just(Decider::User), Just(Decider::Auto)];
    (prop::sample::select(Mode::VARIANTS), by, rounds).prop_map(|(mode, by, rounds)| Grounds {
        mode,
        by,
        rounds,
    })
}

/// A few answers: none of them vague or open, and none both in and out of scope.
fn definite() -> impl Strategy<Value = Answers> {
    let text = || prop::option::of("[a-c]{1,2}|한글");
    let texts = |prefix: &'static str| {
        prop::collection::vec("[a-c]{1,2}", 0..3).prop_map(move |texts| {
            let texts = texts.into_iter().map(|text| format!("{prefix} {text}"));
            texts.collect::<Vec<_>>()
        })
    };
    let single = (text(), text(), text());
    let lists = (texts("in"), texts("out"), texts("R"));
    (single, lists, any::<bool>()).prop_map(
        |((objective, approach, tests), (include, exclude, requirements), nothing)| Answers {
            objective,
            approach,
            tests,
            include,
            exclude_nothing: nothing && exclude.is_empty(),
            exclude,
            requirements,
            ..Answers::default()
        },
    )
}

proptest! {
    #[test]
    fn what_the_user_adds_makes_nothing_worse(
        rounds in prop::collection::vec((definite(), any::<bool>()), 0..4),
        more in definite(),
        grounds in grounds(),
    ) {
        let mut interview = Interview::default();
        for (answers, by_user) in &rounds {
            interview.merge(answers, if *by_user { Decider::User } else { Decider::Auto }).unwrap();
        }
        let before = Clearance::new(&interview, &grounds);
        interview.merge(&more, Decider::User).unwrap();
        let later = InterviewRounds { user: grounds.rounds.user + 1, ..grounds.rounds };
        let after = Clearance::new(&interview, &Grounds { rounds: later, ..grounds });
        for item in &after.open {
            prop_assert!(before.open.iter().any(|open| open.name == item.name), "{:?}", item);
        }
        prop_assert!(!before.may_go_on() || after.may_go_on());
    }
}

#[test]
fn a_goal_that_says_what_to_build_is_its_own_scope() {
    let unscoped = with(&json!({ "scopeInclusions": [], "scopeExclusions": [] }));
    let specified = Grounds {
        mode: Mode::Specified,
        ..GROUNDS
    };
    assert_eq!(open_names(&unscoped, &GROUNDS), "scope");
    assert_eq!(open_names(&unscoped, &specified), "");
    let assumed = json!({ "scopeInclusions": [],
        "requirements": [{ "id": "R1", "text": "It greets", "by": "auto" }] });
    assert_eq!(open_names(&with(&assumed), &specified), "scope");
}
