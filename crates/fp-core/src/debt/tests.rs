use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::run::State;
use crate::run::event::Leaf;
use crate::run::state::{Status, TaskState};
use crate::verification::{Check, CheckVerdict};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn id(text: &str) -> DebtId {
    text.parse().unwrap()
}

fn noted(name: &str, text: &str, second: i64) -> Entry {
    Event::Noted { id: id(name), text: text.into(), files: Vec::new(), from: None }.at(at(second))
}

fn closed(name: &str, plan: Option<&str>, second: i64) -> Entry {
    Event::Closed { id: id(name), plan: plan.map(|plan| PlanId::new(plan).unwrap()) }.at(at(second))
}

fn state(plan: &str, run: Option<&str>, tasks: &[Status]) -> State {
    let mut state = State::new(PlanId::new(plan).unwrap());
    state.run = run.map(|status| {
        let run = json!({
            "builders": 1, "maxIterations": 3, "noCommit": false, "status": status, "startedAt": at(1),
        });
        serde_json::from_value(run).unwrap()
    });
    state.tasks = tasks
        .iter()
        .enumerate()
        .map(|(i, status)| {
            let leaf: Leaf = serde_json::from_value(json!({
                "id": (i + 1).to_string(), "title": format!("Part {}", i + 1), "hash": "", "complexity": 1,
                "files": [format!("part_{}.rs", i + 1)],
            }))
            .unwrap();
            let reason = (*status == Status::Failed).then(|| "it was\nnot seen".into());
            TaskState { status: *status, ended_at: Some(at(10)), reason, ..TaskState::new(leaf) }
        })
        .collect();
    state
}

fn listed(log: &[Entry], plans: &[(&State, bool)]) -> Vec<String> {
    let plans: Vec<_> =
        plans.iter().map(|(state, archived)| PlanState { state, archived: *archived }).collect();
    let line = |debt: &Debt| format!("{}: {} {:?}", debt.id, debt.text, debt.standing);
    debts(log, &plans).iter().map(line).collect()
}

#[test]
fn ids() {
    let check = |text: &str, expect: Option<&str>| {
        assert_eq!(text.parse::<DebtId>().ok().map(|id| id.to_string()).as_deref(), expect, "{text:?}");
    };
    check("D1", Some("D1"));
    check("d12", Some("D12"));
    check("sample-20261121:1.2", Some("sample-20261121:1.2"));
    check("D0", None);
    check("D", None);
    check("D+1", None);
    check("D99999999999", None);
    check("3", None);
    check("", None);
    check("../x:1", None);
    check("x:1/2", None);
    check("x:", None);
    assert_eq!("x".parse::<DebtId>().unwrap_err().to_string(), "a debt is called `D3`, or `PLAN:TASK`");
}

#[test]
fn what_a_run_left_over() {
    use Status::{Completed, Failed, Implementing, Pending, Skipped};
    let mut over = state("p", Some("finished"), &[Completed, Failed, Skipped, Pending]);
    over.tasks[2].because = Some(TaskId::new("2").unwrap());
    assert_eq!(
        listed(&[], &[(&over, true)]),
        ["p:2: Part 2 (failed: it was not seen) Open", "p:3: Part 3 (skipped, since 2 failed) Open"]
    );
    let note = |name: &str, verdict| Check { name: name.into(), verdict, detail: "a.md:1: TODO".into() };
    over.tasks[0].verification = serde_json::from_value(json!({ "tree": "", "files": [] })).ok();
    let checks = [note("boundary", CheckVerdict::Note), note("leftovers", CheckVerdict::Note)];
    over.tasks[0].verification.as_mut().unwrap().checks = checks.into();
    over.tasks.truncate(1);
    assert_eq!(listed(&[], &[(&over, false)]), ["p:1: Unfinished after \"Part 1\": a.md:1: TODO Open"]);
    assert_eq!(listed(&[], &[(&state("q", Some("running"), &[Failed, Implementing]), false)]), [""; 0]);
    assert_eq!(listed(&[], &[(&state("q", None, &[Failed]), false)]), [""; 0]);
}

#[test]
fn what_becomes_of_debts() {
    use Status::{Completed, Failed, Pending};
    let log = [noted("D1", "one", 1), noted("D2", "two", 2), noted("D1", "again", 3)];
    let check = |more: &[Entry], plans: &[(&State, bool)], expect: [&str; 2]| {
        assert_eq!(listed(&[&log[..], more].concat(), plans)[..2], expect.map(str::to_owned), "{more:?}");
    };
    check(&[], &[], ["D1: one Open", "D2: two Open"]);
    check(&[closed("D1", None, 4)], &[], ["D1: one Done { by: None }", "D2: two Open"]);
    let dropped = Event::Dropped { id: id("D2") }.at(at(5));
    check(&[closed("D2", None, 4), dropped], &[], ["D1: one Open", "D2: two Dropped"]);
    let taken = [closed("D1", Some("p"), 4)];
    let by = "by: PlanId(\"p\")";
    let open = "D1: one Open";
    check(&taken, &[], [open, "D2: two Open"]);
    let phases: [(Option<&str>, &[Status], bool, &str); 7] = [
        (None, &[], false, "Taken"),
        (Some("running"), &[Completed, Pending], false, "Taken"),
        (Some("finished"), &[Completed], false, "Done"),
        (Some("finished"), &[Completed], true, "Done"),
        (Some("finished"), &[Completed, Failed], false, open),
        (Some("cancelled"), &[Pending], false, open),
        (None, &[], true, open),
    ];
    for (run, tasks, archived, expect) in phases {
        let by = match expect {
            "Taken" => format!("D1: one Taken {{ {by} }}"),
            "Done" => "D1: one Done { by: Some(PlanId(\"p\")) }".to_owned(),
            open => open.to_owned(),
        };
        check(&taken, &[(&state("p", run, tasks), archived)], [&by, "D2: two Open"]);
    }
}

#[test]
fn what_is_left_over_again_is_open_again() {
    let over = state("p", Some("finished"), &[Status::Failed]);
    let check = |second: i64, expect: &str| {
        let line = format!("p:1: Part 1 (failed: it was not seen) {expect}");
        assert_eq!(listed(&[closed("p:1", None, second)], &[(&over, false)]), [line]);
    };
    check(10, "Done { by: None }");
    check(9, "Open");
}

#[test]
fn noting() {
    let known = debts(&[noted("D4", "four", 1), noted("D7", "seven", 1), closed("D7", None, 2)], &[]);
    let note = |text: &str, files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        note(&known, text, &files, None)
    };
    let Ok(Noting::New(event)) = note(" a\n b ", &["./src//a.rs"]) else { panic!("it is new") };
    let line = json!({ "event": "noted", "id": "D8", "text": "a b", "files": ["src/a.rs"] });
    assert_eq!(serde_json::to_value(&event).unwrap(), line);
    assert!(matches!(note("four", &[]), Ok(Noting::Known(debt)) if debt.id == DebtId::Noted(4)));
    assert!(matches!(note("seven", &[]), Ok(Noting::New(_))), "the one that says so is done");
    let Ok(Noting::New(Event::Noted { text, .. })) = note(&"한".repeat(600), &[]) else {
        panic!("it is new")
    };
    assert_eq!((text.chars().count(), text.ends_with("한…")), (MAX_CHARS, true));
    assert_eq!(note(" \n", &[]).unwrap_err().to_string(), "the debt says nothing");
    let outside = note("a", &["../a"]).unwrap_err();
    assert_eq!(outside.to_string(), "\"../a\" is no file of the repository: it has `..` in it");
}

#[test]
fn a_line_is_read_whatever_else_it_has() {
    let line = r#"{"schemaVersion":1,"at":"2026-11-21T09:00:00Z","event":"noted","id":"D1","text":"a","owner":"me"}"#;
    let entry: Entry = serde_json::from_str(line).unwrap();
    let written = serde_json::to_string(&entry).unwrap();
    assert_eq!(written, line.replace(r#","owner":"me""#, ""));
}

#[test]
fn what_touches_the_goal_is_offered_first() {
    let mut log: Vec<Entry> = (1..=12).map(|n| noted(&format!("D{n}"), &format!("thing {n}"), n)).collect();
    log.push(noted("D13", "Tokens are never refreshed", 0));
    log.push(noted("D14", "로그인 화면이 비어 있다", 0));
    log.push(noted("D15", "parseDate gives up on leap years", 0));
    let about =
        Event::Noted { id: id("D16"), text: "x".into(), files: vec!["src/auth.rs".into()], from: None };
    log.push(about.at(at(0)));
    log.push(closed("D12", None, 20));
    let known = debts(&log, &[]);
    let check = |goal: &str, first: &[&str]| {
        let offer = offer(&known, goal);
        let ids: Vec<String> = offer.debts.iter().map(|debt| debt.id.to_string()).collect();
        assert_eq!(
            (&ids[..first.len()], ids.len(), offer.more),
            (&first.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()[..], 10, 5),
            "{goal}"
        );
    };
    check("", &["D11", "D10", "D9"]);
    check("refresh the token", &["D13", "D11"]);
    check("화면을 고쳐 줘", &["D14", "D11"]);
    check("Dates are parsed wrongly", &["D15", "D11"]);
    check("refresh tokens in src/auth.rs", &["D16", "D13", "D11"]);
    check(&"token ".repeat(100_000), &["D13", "D11"]);
}

proptest! {
    #[test]
    fn numbers_are_given_once_and_the_last_word_counts(steps in prop::collection::vec((0..3u8, 0..6usize), 0..40)) {
        let mut log: Vec<Entry> = Vec::new();
        let mut expect: Vec<(String, Standing)> = Vec::new();
        for (second, (kind, number)) in (1..).zip(steps) {
            let known = debts(&log, &[]);
            let (event, standing) = match (kind, known.get(number)) {
                (0, _) => match note(&known, &format!("thing {number}"), &[], None).unwrap() {
                    Noting::Known(debt) => {
                        prop_assert_eq!(debt.standing, Standing::Open);
                        continue;
                    }
                    Noting::New(event) => (event, Standing::Open),
                },
                (_, None) => continue,
                (1, Some(debt)) => (Event::Closed { id: debt.id.clone(), plan: None }, Standing::Done { by: None }),
                (_, Some(debt)) => (Event::Dropped { id: debt.id.clone() }, Standing::Dropped),
            };
            let id = event.id().to_string();
            match expect.iter_mut().find(|(known, _)| *known == id) {
                Some(known) => known.1 = standing,
                None => {
                    prop_assert_eq!(&id, &format!("D{}", expect.len() + 1));
                    expect.push((id, standing));
                }
            }
            log.push(event.at(at(second)));
        }
        let written: Vec<String> = log.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
        let read: Vec<Entry> = written.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(&read, &log);
        let found: Vec<_> = debts(&read, &[]).into_iter().map(|debt| (debt.id.to_string(), debt.standing)).collect();
        prop_assert_eq!(found, expect);
    }

    #[test]
    fn an_offer_is_of_open_debts_each_once(words in prop::collection::vec("[a-z한글 ]{0,12}", 0..30), goal in "[a-z한글 /.]{0,60}") {
        let log: Vec<Entry> = (1..).zip(&words).map(|(n, text)| noted(&format!("D{n}"), text, n)).collect();
        let known = debts(&log, &[]);
        let offer = offer(&known, &goal);
        prop_assert_eq!(offer.debts.len() + offer.more, known.len());
        prop_assert!(offer.debts.len() <= MOST_OFFERED && (offer.more == 0 || offer.debts.len() == MOST_OFFERED));
        let ids: std::collections::BTreeSet<_> = offer.debts.iter().map(|debt| &debt.id).collect();
        prop_assert_eq!(ids.len(), offer.debts.len());
    }
}
