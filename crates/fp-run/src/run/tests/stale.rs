//! Leftovers of earlier states (a verdict, a question, a claim, an agent) never decide anything later.

use super::*;
use crate::run::Refusal;
use crate::run::event::Note;
use crate::run::notepad::NoteKind;
use crate::run::question::{Question, Topic};

/// Two tasks in a row, the first of which passed in its first iteration but isn't committed yet.
fn passed() -> Machine {
    let mut machine = two_in_a_row();
    let owner = builder(0);
    machine.claim(&owner);
    machine.submit(&owner);
    let opinion = VerifierOpinion {
        judgements: vec![Judgement {
            criterion: 1,
            pass: true,
            evidence: "seen".into(),
        }],
        summary: String::new(),
        tree: None,
    };
    let events = machine
        .state
        .judge_task(&id("1"), None, opinion, &["c".into()])
        .unwrap();
    machine.take(events);
    machine
}

fn open(machine: &Machine) -> Vec<&Topic> {
    machine.state.open_questions().map(|q| &q.topic).collect()
}

#[test]
fn a_retried_task_is_judged_again() {
    let mut machine = passed();
    for command in [
        State::fail as fn(&State, &TaskId, &str) -> _,
        |state, id, _| state.retry(id),
    ] {
        let events = command(&machine.state, &id("1"), "no").unwrap();
        machine.take(events);
    }
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    let task = machine.state.task(&id("1")).unwrap();
    assert!(
        !task.awaits_commit(),
        "the verdict of the try before is not one on this try"
    );
}

#[test]
fn giving_a_task_up_closes_what_was_asked_about_it() {
    let mut machine = passed();
    let events = machine
        .state
        .block_commit(&id("1"), Topic::CommitBlocked(id("1")), "a hook said no")
        .unwrap();
    machine.take(events);
    assert_eq!(open(&machine), [&Topic::CommitBlocked(id("1"))]);
    let question = machine.state.open_questions().next().unwrap().id.clone();
    let events = machine.state.fail(&id("1"), "no").unwrap();
    machine.take(events);
    assert_eq!(open(&machine), Vec::<&Topic>::new());
    let leave = [AnswerChoice::Leave.into_str().to_owned()];
    let refusal = machine
        .state
        .answer(&question, &leave, Decider::User)
        .unwrap_err();
    let expect = format!("there is no open question {question:?}");
    assert_eq!(refusal.to_string(), expect);
}

#[test]
fn skipping_a_task_closes_what_was_asked_about_it() {
    let leaves = vec![leaf(1, &[], 0), leaf(2, &[1], 1)];
    let mut machine = Machine::new(leaves, true);
    let topic = Topic::VerifierSilent(id("2"));
    machine.take(vec![Event::Asked {
        question: Question::new(topic, 1, ""),
    }]);
    let events = machine.state.fail(&id("1"), "no").unwrap();
    machine.take(events);
    assert_eq!(open(&machine), Vec::<&Topic>::new());
}

/// The next builder may not need the answer, and can ask its own questions.
#[test]
fn releasing_a_task_withdraws_what_its_builder_asked() {
    let mut machine = two_in_a_row();
    machine.claim(&builder(0));
    machine.clarify(&builder(0));
    assert_eq!(open(&machine), [&Topic::Clarify(id("1"))]);
    let events = machine.state.release(&id("1"), "stuck").unwrap();
    machine.take(events);
    assert_eq!(open(&machine), Vec::<&Topic>::new());
}

#[test]
fn a_task_whose_commit_is_being_made_is_not_given_up() {
    let mut machine = passed();
    let intent = CommitIntent {
        files: vec!["f0".into()],
        message: "m".into(),
        head: "h".into(),
    };
    let events = machine.state.begin_commit(&id("1"), intent).unwrap();
    machine.take(events);
    let refusal = machine.state.fail(&id("1"), "no").unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "task 1 is verifying: it has passed and its commit is under way; `fp next` completes it"
    );
}

#[test]
fn verifiers_of_a_session_that_is_gone_do_not_count() {
    let mut machine = two_in_a_row();
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    for session in ["s1", "s2", "s3"] {
        let actions = machine.next(&[]);
        assert!(
            matches!(&actions[0], LeadAction::Verify { .. }),
            "{session}: {actions:?}"
        );
        machine.start(session);
    }
}

#[test]
fn a_leaf_edited_while_it_is_built_is_not_handed_out() {
    let mut machine = two_in_a_row();
    machine.claim(&builder(0));
    let edited = BTreeSet::from([id("1")]);
    assert_eq!(
        machine
            .state
            .choose(&builder(0), None, &edited)
            .unwrap_err(),
        Refusal::Edited(id("1"))
    );
}

#[test]
fn a_failed_leaf_can_be_mended_but_not_removed() {
    let mut machine = two_in_a_row();
    let events = machine.state.fail(&id("1"), "no").unwrap();
    machine.take(events);
    let approve = |leaves: Vec<Leaf>| {
        let tree_hash = "t2".to_owned();
        machine.state.approve(Approve {
            tree_hash,
            leaves,
            base: None,
            commits: None,
            end_commands: Vec::new(),
            setup: Vec::new(),
            by: Decider::User,
        })
    };
    let mended = Leaf {
        hash: "other".into(),
        ..leaf(1, &[], 0)
    };
    assert_eq!(approve(vec![mended, leaf(2, &[1], 1)]).unwrap().len(), 1);
    assert_eq!(
        approve(vec![leaf(2, &[], 1)]).unwrap_err().to_string(),
        "task 1 is failed and can't be changed or removed any more"
    );
}

#[test]
fn what_a_killed_next_has_not_told_is_told_again() {
    let check = |machine: &mut Machine, ended: &[AgentName], expect: &str| {
        let untold = machine.killed_next(ended).actions;
        assert_eq!(
            machine.killed_next(ended).actions,
            untold,
            "what was not told has not ended"
        );
        assert_eq!(machine.next(&[]), untold);
        let first = serde_json::to_value(&untold[0]).unwrap();
        assert_eq!(
            format!("{} {}", first["action"], first["name"]).replace('"', ""),
            expect
        );
        machine.lose(&untold);
        machine.start_agents();
        assert!(
            matches!(machine.next(&[])[..], [LeadAction::Wait { .. }]),
            "its agent was heard of"
        );
    };
    let mut machine = two_in_a_row();
    let owner = builder(0);
    check(&mut machine, &[], "spawn builder-1");
    machine.claim(&owner);
    check(
        &mut machine,
        std::slice::from_ref(&owner),
        "resume builder-1",
    );
    machine.submit(&owner);
    check(&mut machine, &[], "verify verifier-1-i1");
    machine.judge(&id("1"), false);
    check(
        &mut machine,
        std::slice::from_ref(&owner),
        "resume builder-1",
    );
    assert!(
        machine.state.task(&id("1")).unwrap().nudges == 0,
        "that was its feedback, and no nudge"
    );
    machine.claim(&owner);
    machine.submit(&owner);
    machine.judge(&id("1"), true);
    check(&mut machine, &[], "resume builder-1");
}

/// Each kind of action is repeated whenever the lead loses it, until its agent claims, submits or judges.
#[test]
fn what_the_lead_lost_is_said_again() {
    let mut machine = two_in_a_row();
    let owner = builder(0);
    let lose = |machine: &mut Machine, ended: &[AgentName]| {
        let told = machine.next(ended);
        machine.lose(&told);
        machine.lose(&told);
        let action = serde_json::to_value(&told[0]).unwrap();
        format!(
            "{} {}",
            action["action"].as_str().unwrap(),
            action["name"].as_str().unwrap()
        )
    };
    let quiet = |machine: &mut Machine| {
        let actions = machine.next(&[]);
        assert!(
            matches!(actions[..], [LeadAction::Wait { .. }]),
            "{actions:?}"
        );
    };
    assert_eq!(lose(&mut machine, &[]), "spawn builder-1");
    machine.claim(&owner);
    quiet(&mut machine);
    assert_eq!(
        lose(&mut machine, std::slice::from_ref(&owner)),
        "resume builder-1"
    );
    machine.submit(&owner);
    assert_eq!(lose(&mut machine, &[]), "verify verifier-1-i1");
    let work = MeasuredWork {
        onto: None,
        tree: "t".into(),
        files: Vec::new(),
        checks: Vec::new(),
    };
    machine.take(vec![Event::Verified {
        task: id("1"),
        iteration: 1,
        work,
    }]);
    quiet(&mut machine);
    machine.judge(&id("1"), false);
    assert_eq!(lose(&mut machine, &[]), "resume builder-1");
    machine.claim(&owner);
    quiet(&mut machine);
}

/// A builder that was told to end its turn isn't waited for, even if neither a hook nor the lead reports its end.
#[test]
fn a_builder_that_asked_counts_as_ended() {
    let ask: [fn(&mut Machine, &AgentName); 2] = [
        |machine, owner| machine.clarify(owner),
        |machine, owner| machine.extend(owner, "f1"),
    ];
    for ask in ask {
        let mut machine = two_in_a_row();
        machine.next(&[]);
        machine.claim(&builder(0));
        ask(&mut machine, &builder(0));
        let question = machine.state.open_questions().next().unwrap().clone();
        let answer = [question.options[0].label.clone()];
        let events = machine
            .state
            .answer(&question.id, &answer, Decider::User)
            .unwrap();
        machine.take(events);
        let actions = machine.next(&[]);
        assert!(
            matches!(
                &actions[..],
                [
                    LeadAction::Resume { again: false, .. },
                    LeadAction::Wait { .. }
                ]
            ),
            "{actions:?}"
        );
    }
}

#[test]
fn what_was_not_told_lapses_with_what_it_was_about() {
    let mut machine = two_in_a_row();
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    machine.killed_next(&[]);
    machine.judge(&id("1"), true);
    let names: Vec<_> = machine
        .next(&[])
        .into_iter()
        .map(|a| serde_json::to_value(a).unwrap()["name"].clone())
        .collect();
    assert_eq!(names, ["builder-1".into(), serde_json::Value::Null]);
}

/// The lead is reminded each time it stops, up to the limit, while nothing but `fp next` reports anything.
#[test]
fn a_lead_that_never_does_what_it_is_told_is_told_so_often_and_no_more() {
    let mut machine = two_in_a_row();
    machine.next(&[]);
    let mut told = 0;
    for _ in 0..NUDGES + 3 {
        told += u32::from(machine.lead_stops().1);
        machine.next(&[]);
    }
    assert_eq!(told, NUDGES);
}

#[test]
fn every_choice_that_is_offered_has_a_consequence_or_needs_none() {
    let state = two_in_a_row().state;
    let commands: BTreeSet<String> = ["make".to_owned()].into();
    let topics = [
        Topic::CheckFailed {
            task: id("1"),
            commands,
        },
        Topic::TaskFailed(id("1")),
        Topic::VerifierSilent(id("1")),
        Topic::CommitBlocked(id("1")),
        Topic::BuildersSilent,
        Topic::EndChecks,
        Topic::Drift(vec![id("1")]),
        Topic::PassesBefore(id("1")),
        Topic::Scope {
            task: id("1"),
            path: "x".into(),
        },
    ];
    for topic in topics {
        let question = Question::new(topic.clone(), 1, "why");
        let (_, offered, unattended) = topic.form();
        assert!(offered.contains(&unattended), "{topic:?}");
        assert_eq!(question.unattended_answer(), unattended.into_str());
        for choice in offered {
            let found = state.consequences(&topic, *choice, Decider::User);
            assert!(!matches!(found, Ok(None)), "{topic:?} {choice:?}");
        }
    }
}

/// The notes were about a task that has since changed.
#[test]
fn what_was_said_of_a_revised_task_is_dropped() {
    let mut machine = two_in_a_row();
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    machine.judge(&id("1"), false);
    let note = |task: &str| Note {
        kind: NoteKind::Warn,
        text: "it can't be run".into(),
        task: Some(id(task)),
        place: None,
        ended: false,
    };
    let failed = machine.state.fail(&id("1"), "no").unwrap();
    machine.take(failed);
    machine.take(
        ["1", "2"]
            .map(|task| Event::Noted { note: note(task) })
            .to_vec(),
    );
    let leaves = vec![
        Leaf {
            hash: "other".into(),
            ..leaf(1, &[], 0)
        },
        leaf(2, &[1], 1),
    ];
    machine.approve("t2", leaves);
    assert_eq!(machine.state.task(&id("1")).unwrap().feedback, None);
    assert_eq!(machine.state.notes, [note("2")]);
}

#[test]
fn a_verifier_of_a_retried_task_has_a_name_of_its_own() {
    let mut machine = two_in_a_row();
    let mut verifier = || {
        machine.claim(&builder(0));
        machine.submit(&builder(0));
        let actions = machine.next(&[]);
        let LeadAction::Verify { name, .. } = &actions[0] else {
            panic!("{actions:?}")
        };
        let failed = machine.state.fail(&id("1"), "no").unwrap();
        machine.take(failed);
        let retried = machine.state.retry(&id("1")).unwrap();
        machine.take(retried);
        name.to_string()
    };
    assert_eq!(
        [verifier(), verifier(), verifier()],
        ["verifier-1-i1", "verifier-1-i1-2", "verifier-1-i1-3"]
    );
}
