use proptest::prelude::*;
use serde_json::{Value, json};
use strum::VariantArray as _;

use super::super::answers::Answers;
use super::*;

const GROUNDS: Grounds = Grounds {
    intent: Intent::MidSized,
    mode: Mode::Pipeline,
    by: Decider::User,
    rounds: InterviewRounds { user: 2, auto: 0 },
};

/// A record to which nothing is lacking.
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

fn with(changes: Value) -> Value {
    let mut record = whole();
    for (field, value) in changes.as_object().unwrap() {
        record[field] = value.clone();
    }
    record
}

fn judge(record: &Value, grounds: &Grounds) -> Clearance {
    Clearance::new(&Interview::parse(&record.to_string()).unwrap(), grounds)
}

/// Expects `what` of the item `name`, its state and what is missing, and of all others that they are clear.
fn check(changes: Value, name: &str, what: &str) {
    let clearance = judge(&with(changes.clone()), &GROUNDS);
    for item in &clearance.items {
        let told = match &item.missing {
            Some(missing) => format!("{}; {missing}", item.state.into_str()),
            None => item.state.into_str().to_owned(),
        };
        assert_eq!(
            told,
            if item.name == name { what } else { "clear" },
            "{} of {changes}",
            item.name
        );
    }
    assert_eq!(clearance.clear, !what.contains(';'), "{changes}");
}

#[test]
fn each_item_says_what_it_lacks() {
    check(json!({}), "", "");
    check(
        json!({ "objective": " " }),
        "objective",
        "missing; nobody has said what the goal is: --objective TEXT",
    );
    let said_by = |field: &str, by: Value| {
        let mut said_by = whole()["saidBy"].clone();
        said_by[field] = by;
        json!({ "saidBy": said_by })
    };
    let unconfirmed = |flag: &str| format!("assumed; the user has not confirmed it: {flag}");
    for by in [json!("auto"), json!(null), json!(3), json!("somebody")] {
        check(
            said_by("objective", by.clone()),
            "objective",
            &unconfirmed("--objective TEXT"),
        );
        check(said_by("approach", by.clone()), "approach", "automatic");
        check(
            said_by("testStrategy", by),
            "tests",
            &unconfirmed("--tests TEXT"),
        );
    }
    check(
        json!({ "requirements": ["It greets"] }),
        "objective",
        "clear",
    );
    check(json!({ "approach": null }), "approach", "automatic");
    check(
        json!({ "testStrategy": 3 }),
        "tests",
        "missing; nobody has said how it is tested: --tests TEXT",
    );
    check(
        json!({ "openQuestions": ["Which \"language\"?", { "question": "언어는?" }, "c", "d", "e"] }),
        "questions",
        "missing; nobody has answered \"Which \"language\"?\", \"언어는?\", \"c\" and 2 more: --decision 'QUESTION|ANSWER'",
    );
}

#[test]
fn the_scope_has_two_sides() {
    check(
        json!({ "scopeInclusions": [] }),
        "scope",
        "missing; nothing is said to be in scope: --include TEXT",
    );
    let nothing_out =
        "missing; nothing is said to be out of scope: --exclude TEXT, or --exclude none";
    check(json!({ "scopeExclusions": [] }), "scope", nothing_out);
    check(json!({ "scopeExclusions": null }), "scope", nothing_out);
    let none = |by: &str| {
        let mut said_by = whole()["saidBy"].clone();
        said_by["scopeExclusions"] = by.into();
        json!({ "scopeExclusions": [], "saidBy": said_by })
    };
    check(none("user"), "scope", "clear");
    let unconfirmed = "assumed; the user has not confirmed it: --exclude TEXT, or --exclude none";
    check(none("auto"), "scope", unconfirmed);
    check(
        json!({ "scopeExclusions": ["plain"] }),
        "scope",
        unconfirmed,
    );
    check(
        json!({ "scopeInclusions": ["plain"] }),
        "scope",
        "assumed; the user has not confirmed it: --include TEXT",
    );
    check(
        json!({ "scopeInclusions": ["plain", { "text": "a", "by": "user" }] }),
        "scope",
        "clear",
    );
}

#[test]
fn what_nobody_can_observe_is_ambiguous() {
    let user = |text: &str| json!({ "text": text, "by": "user" });
    check(
        json!({
            "requirements": [user("It greets properly"), user("`properly` is printed"), user("로그인이 정상적으로 된다")],
            "scopeInclusions": [user("user-friendly errors")],
        }),
        "ambiguities",
        "missing; \"R1\" says \"properly\", \"R3\" says \"정상적으로\", \"user-friendly errors\", in scope, says \
         \"user-friendly\", which nobody can observe: --withdraw ID-OR-TEXT, and say it anew",
    );
    check(
        json!({ "scopeInclusions": [user("번역"), user("the  Command")], "scopeExclusions": [user("the command")] }),
        "ambiguities",
        "missing; \"the Command\", in and out of scope at once: --withdraw ID-OR-TEXT, and say it anew",
    );
    check(
        json!({ "scopeExclusions": [user("errors that are user-friendly")] }),
        "ambiguities",
        "clear",
    );
    let nothing = judge(&json!({}), &GROUNDS);
    let open: Vec<&str> = nothing.open().map(|item| item.name).collect();
    assert_eq!(open, ["objective", "scope", "ambiguities", "tests"]);
}

#[test]
fn small_work_needs_little() {
    let small = json!({
        "objective": "Fix the typo",
        "saidBy": { "objective": "user", "testStrategy": "auto" },
        "requirements": [{ "text": "It works", "by": "user" }],
        "testStrategy": "look at it",
    });
    let one = InterviewRounds { user: 1, auto: 0 };
    let states = |record: &Value, grounds: &Grounds| {
        let clearance = judge(record, grounds);
        let words: Vec<_> = clearance
            .items
            .iter()
            .map(|item| item.state.into_str())
            .collect();
        (words.join(" "), clearance.clear)
    };
    let relieved = "clear automatic automatic automatic clear automatic";
    let direct = Grounds {
        mode: Mode::Direct,
        intent: Intent::Architecture,
        rounds: one,
        ..GROUNDS
    };
    let trivial = Grounds {
        mode: Mode::Full,
        intent: Intent::Trivial,
        rounds: one,
        ..GROUNDS
    };
    for grounds in [direct, trivial] {
        assert_eq!(states(&small, &grounds), (relieved.into(), true));
        assert_eq!(
            states(
                &small,
                &Grounds {
                    rounds: InterviewRounds::default(),
                    ..grounds
                }
            ),
            (relieved.into(), false)
        );
        assert_eq!(
            states(&whole(), &grounds),
            ("clear clear clear clear clear clear".into(), true)
        );
        let mut untested = small.clone();
        untested["testStrategy"] = Value::Null;
        let (words, clear) = states(&untested, &grounds);
        assert_eq!(
            (words.as_str(), clear),
            ("clear automatic automatic automatic clear missing", false)
        );
        let (words, clear) = states(&json!({ "openQuestions": "a" }), &grounds);
        assert_eq!(
            (words.as_str(), clear),
            (
                "missing automatic automatic automatic missing missing",
                false
            )
        );
    }
}

#[test]
fn rounds_have_a_least_and_a_most() {
    let check =
        |intent, mode, by, (user, auto): (u32, u32), expect: &str, clear: bool, goes_on: bool| {
            let clearance = judge(
                &whole(),
                &Grounds {
                    intent,
                    mode,
                    by,
                    rounds: InterviewRounds { user, auto },
                },
            );
            assert_eq!(clearance.rounds_in_words(), expect);
            assert_eq!(
                (clearance.clear, clearance.may_go_on()),
                (clear, goes_on),
                "{expect}"
            );
        };
    use Decider::{Auto, User};
    use Intent::{Architecture, MidSized, Trivial};
    use Mode::{Direct, Full, Pipeline, Specified};
    check(
        MidSized,
        Pipeline,
        User,
        (0, 9),
        "0 (at least 1, at most 30)",
        false,
        false,
    );
    check(
        MidSized,
        Pipeline,
        User,
        (1, 0),
        "1 (at least 1, at most 30)",
        true,
        true,
    );
    check(
        Architecture,
        Full,
        User,
        (1, 0),
        "1 (at least 1, at most 30)",
        true,
        true,
    );
    check(
        MidSized,
        Specified,
        User,
        (0, 1),
        "1 (at most 30)",
        true,
        true,
    );
    check(
        Architecture,
        Direct,
        User,
        (1, 0),
        "1 (at least 1, at most 30)",
        true,
        true,
    );
    check(
        Trivial,
        Full,
        User,
        (0, 0),
        "0 (at least 1, at most 30)",
        false,
        false,
    );
    check(
        Architecture,
        Full,
        Auto,
        (0, 0),
        "0 (at most 30)",
        true,
        true,
    );
    let limit = |user| Grounds {
        rounds: InterviewRounds { user, auto: 0 },
        ..GROUNDS
    };
    assert!(!judge(&json!({}), &limit(29)).may_go_on());
    let ended = judge(&json!({}), &limit(30));
    assert_eq!(
        (ended.clear, ended.limit_reached, ended.may_go_on()),
        (false, true, true)
    );
    assert_eq!(ended.open().count(), 4);
    let unasked = Grounds {
        by: Auto,
        rounds: InterviewRounds { user: 0, auto: 30 },
        ..GROUNDS
    };
    assert!(judge(&json!({}), &unasked).limit_reached);
}

#[test]
fn what_the_interview_settled_is_not_looked_up_again() {
    use PlanningStep::{Approach, Decompose, Interview, Research};
    let steps = [Interview, Research, Approach, Decompose];
    let check = |record: &Value, steps: &[PlanningStep], expect: PlanningStep| {
        assert_eq!(
            judge(record, &GROUNDS).next_step(steps),
            Some(expect),
            "{record}"
        );
    };
    check(&whole(), &steps, Decompose);
    check(&with(json!({ "approach": null })), &steps, Research);
    check(
        &with(json!({ "saidBy": { "objective": "user", "approach": "auto" } })),
        &steps,
        Research,
    );
    check(&whole(), &[Interview, Research], Research);
}

#[test]
fn where_nobody_is_asked_assumptions_are_enough() {
    let mut assumed = Interview::default();
    assumed.merge(&said("a"), Decider::Auto).unwrap();
    let grounds = Grounds {
        by: Decider::Auto,
        rounds: InterviewRounds { user: 0, auto: 1 },
        ..GROUNDS
    };
    let clearance = Clearance::new(&assumed, &grounds);
    let words: Vec<_> = clearance
        .items
        .iter()
        .map(|item| item.state.into_str())
        .collect();
    assert_eq!(
        words.join(" "),
        "assumed assumed clear assumed clear assumed"
    );
    assert!(clearance.clear, "{clearance:?}");
    assert!(!Clearance::new(&assumed, &GROUNDS).clear);
    assert!(!judge(&json!({}), &grounds).clear);
    assumed.merge(&said("a"), Decider::User).unwrap();
    assert!(
        Clearance::new(&assumed, &GROUNDS).clear,
        "what the user repeats is confirmed"
    );
    assumed.merge(&said("a"), Decider::Auto).unwrap();
    assert!(Clearance::new(&assumed, &GROUNDS).clear, "and stays so");
}

#[test]
fn texts_of_strangers_stay_on_their_line() {
    let record =
        with(json!({ "openQuestions": [format!("a\n# b \u{1b}[31m {}", "x".repeat(1_000))] }));
    let missing = judge(&record, &GROUNDS).items[4].missing.clone().unwrap();
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
    (
        prop::sample::select(Intent::VARIANTS),
        prop::sample::select(Mode::VARIANTS),
        by,
        rounds,
    )
        .prop_map(|(intent, mode, by, rounds)| Grounds {
            intent,
            mode,
            by,
            rounds,
        })
}

/// A few answers; nothing vague, nothing that is open, and nothing both in and out of scope.
fn definite() -> impl Strategy<Value = Answers> {
    let text = || prop::option::of("[a-c]{1,2}|한글");
    let texts = |prefix: &'static str| {
        prop::collection::vec("[a-c]{1,2}", 0..3).prop_map(move |texts| {
            texts
                .into_iter()
                .map(|text| format!("{prefix} {text}"))
                .collect::<Vec<_>>()
        })
    };
    (
        text(),
        text(),
        text(),
        texts("in"),
        texts("out"),
        texts("R"),
        any::<bool>(),
    )
        .prop_map(
            |(objective, approach, tests, include, exclude, requirements, exclude_nothing)| {
                Answers {
                    objective,
                    approach,
                    tests,
                    include,
                    exclude_nothing: exclude_nothing && exclude.is_empty(),
                    exclude,
                    requirements,
                    ..Answers::default()
                }
            },
        )
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<u8>().prop_map(Value::from),
        "user|auto|works|[a-c\\\"\n한 ]{0,4}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("id|text|by|question|objective|[a-c]", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
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
        for (before, after) in before.items.iter().zip(&after.items) {
            prop_assert!(before.missing.is_some() || after.missing.is_none(), "{:?} became {:?}", before, after);
            let was_clear = before.state == ItemState::Clear;
            prop_assert!(!was_clear || after.state == ItemState::Clear, "{:?} became {:?}", before, after);
        }
        prop_assert!(!before.may_go_on() || after.may_go_on());
    }

    #[test]
    fn any_record_is_judged(
        record in prop::collection::btree_map(
            "objective|requirements|scopeInclusions|scopeExclusions|openQuestions|saidBy|approach|testStrategy",
            any_json(),
            0..9,
        ),
        grounds in grounds(),
    ) {
        let record: Value = Value::Object(record.into_iter().collect());
        let clearance = judge(&record, &grounds);
        prop_assert_eq!(clearance.items.len(), 6);
        let open = clearance.open().count();
        prop_assert_eq!(clearance.clear, open == 0 && clearance.rounds >= clearance.min_rounds);
        for item in &clearance.items {
            let passes = match item.state {
                ItemState::Clear | ItemState::Automatic => true,
                ItemState::Assumed => grounds.by == Decider::Auto || grounds.mode == Mode::Specified,
                ItemState::Missing => false,
            };
            prop_assert_eq!(passes, item.missing.is_none(), "{:?}", item);
        }
    }
}
