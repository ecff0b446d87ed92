//! Tests a run led by `fp run`. Its agents are processes that end when it does, but their conversations can be resumed.

use super::*;
use crate::run::crew::{AgentCost, AgentProcess, TokenUse, session_spent};
use crate::run::question::Topic;
use crate::run::state::{Activity, Role};
use fp_plan::settings::{Budget, SpendingLimit};

fn processes(session: &str) -> RunTerms {
    RunTerms {
        processes: true,
        ..start(session)
    }
}

fn process(session: &str) -> Event {
    let process = AgentProcess {
        program: "claude".into(),
        model: None,
        session: Some(session.into()),
        mark: "m".into(),
        turns: 0,
        tokens: TokenUse::default(),
        micro_usd: 0,
    };
    Event::AgentStarted {
        name: name("builder-1"),
        process,
    }
}

fn spent(task: &str, iteration: u32, input: u64) -> Event {
    let cost = AgentCost {
        task: Some(id(task)),
        iteration,
        role: Role::Builder,
        program: "claude".into(),
        model: None,
        turns: 1,
        tokens: TokenUse {
            input,
            ..TokenUse::default()
        },
        micro_usd: Some(input),
        seconds: 1,
        denied: BTreeSet::new(),
    };
    Event::AgentSpent {
        name: name("builder-1"),
        cost,
    }
}

/// Task 1 is being built by a process.
fn building() -> Machine {
    let mut machine = two_in_a_row();
    let events = machine.state.start(processes("p1")).unwrap();
    machine.take(events);
    machine.next(&[]);
    machine.take(vec![process("s1")]);
    machine.claim(&name("builder-1"));
    machine
}

#[test]
fn it_goes_on_after_itself_with_the_conversations() {
    let mut machine = building();
    let events = machine.state.start(processes("p2")).unwrap();
    assert!(matches!(events[..], [Event::RunStarted(_)]), "{events:?}");
    machine.take(events);
    let held = machine.state.held_by(&name("builder-1")).unwrap();
    assert_eq!((held.iteration, held.nudges), (1, 0));
    assert_eq!(
        machine.state.agents[&name("builder-1")].activity,
        Activity::Idle
    );
    assert_eq!(machine.state.agent_ids["s1"], name("builder-1"));
    assert_eq!(
        machine.state.processes[&name("builder-1")]
            .session
            .as_deref(),
        Some("s1")
    );
    let actions = machine.next(&[]);
    let [
        LeadAction::Resume {
            name: owner,
            message,
            ..
        },
        LeadAction::Wait { .. },
    ] = &actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!(*owner, name("builder-1"));
    assert!(message.contains("you hold task 1"), "{message}");
    // This doesn't count as a nudge, so it never uses up an attempt.
    assert_eq!(machine.state.task(&id("1")).unwrap().nudges, 0);
    machine.check();
}

#[test]
fn a_session_takes_it_over_without_them() {
    let mut machine = building();
    let events = machine.state.start(start("s2")).unwrap();
    assert!(
        matches!(events[..], [Event::Released { .. }, Event::RunStarted(_)]),
        "{events:?}"
    );
    machine.take(events);
    assert!(machine.state.agent_ids.is_empty() && machine.state.processes.is_empty());
    // `fp run` can also take over from a session.
    let events = machine.state.start(processes("p2")).unwrap();
    machine.take(events);
    assert!(machine.state.agents.is_empty());
}

#[test]
fn an_agent_of_a_process_is_never_silent_for_too_long() {
    let mut machine = building();
    machine.now += SignedDuration::from_hours(20);
    let actions = machine.next(&[]);
    assert!(
        matches!(actions[..], [LeadAction::Wait { .. }]),
        "{actions:?}"
    );
}

#[test]
fn costs_add_up_by_task_and_try() {
    let mut machine = building();
    machine.take(vec![
        spent("1", 1, 100),
        spent("1", 1, 50),
        spent("1", 2, 7),
    ]);
    let costs: Vec<(u32, u64, Option<u64>, u64)> = machine
        .state
        .costs
        .iter()
        .map(|cost| {
            (
                cost.iteration,
                cost.tokens.input,
                cost.micro_usd,
                cost.turns,
            )
        })
        .collect();
    assert_eq!(costs, [(1, 150, Some(150), 2), (2, 7, Some(7), 1)]);
    // The cost of a resumed conversation is added to its previous cost.
    assert_eq!(machine.state.processes[&name("builder-1")].micro_usd, 157);
    machine.take(vec![process("s1")]);
    assert_eq!(machine.state.processes[&name("builder-1")].micro_usd, 157);
    machine.take(vec![process("s2")]);
    assert_eq!(machine.state.processes[&name("builder-1")].micro_usd, 0);
}

#[test]
fn what_an_agent_of_a_session_uses_counts_once() {
    let mut machine = two_in_a_row();
    machine.claim(&name("builder-1"));
    let use_of = |input| TokenUse {
        input,
        ..TokenUse::default()
    };
    let spent = |machine: &Machine, turns, input| {
        session_spent(
            &machine.state,
            &name("builder-1"),
            "a1",
            turns,
            use_of(input),
            Some("m".into()),
        )
    };
    for (turns, input) in [(2, 10), (2, 10), (5, 30)] {
        let events = spent(&machine, turns, input);
        machine.take(events);
    }
    let cost = &machine.state.costs[..];
    assert_eq!(cost.len(), 1, "{cost:?}");
    assert_eq!(
        (cost[0].turns, cost[0].tokens.input, cost[0].task.as_ref()),
        (5, 30, Some(&id("1")))
    );
    assert_eq!(spent(&machine, 5, 30), []);
    // Another conversation under the same name starts at zero.
    let events = session_spent(&machine.state, &name("builder-1"), "a2", 1, use_of(4), None);
    assert!(
        matches!(
            events[..],
            [Event::AgentStarted { .. }, Event::AgentSpent { .. }]
        ),
        "{events:?}"
    );
    let led = building();
    assert_eq!(
        session_spent(&led.state, &name("builder-1"), "s1", 1, use_of(4), None),
        []
    );
}

fn turn_within(machine: &mut Machine, budget: Budget) -> Vec<LeadAction> {
    let around = RunSurroundings {
        budget,
        ..machine.around(None)
    };
    let turn = machine.state.next(&[name("builder-1")], &around).unwrap();
    machine.take(turn.events);
    turn.actions
}

#[test]
fn a_budget_keeps_new_work_from_starting_until_the_user_grants_more() {
    let mut machine = building();
    let run = Some(SpendingLimit::Tokens(100));
    machine.take(vec![spent("1", 1, 99)]);
    let actions = turn_within(&mut machine, Budget { run, task: None });
    assert!(
        matches!(
            actions[..],
            [LeadAction::Resume { .. }, LeadAction::Wait { .. }]
        ),
        "{actions:?}"
    );
    machine.take(vec![spent("1", 1, 1)]);
    machine.submit(&name("builder-1"));
    let actions = turn_within(&mut machine, Budget { run, task: None });
    let [LeadAction::Ask { question, text, .. }] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!(
        text,
        "The budget of the run is 100 tokens, and 100 tokens is spent. How should it continue?"
    );
    let events = machine
        .state
        .answer(question, &["Continue".into()], Decider::User)
        .unwrap();
    machine.take(events);
    let actions = turn_within(&mut machine, Budget { run, task: None });
    assert!(
        matches!(actions[0], LeadAction::Verify { .. }),
        "{actions:?}"
    );
    // Once twice the limit is spent, the user is asked again.
    machine.take(vec![spent("1", 1, 100)]);
    machine.judge(&id("1"), true);
    let actions = turn_within(&mut machine, Budget { run, task: None });
    assert!(
        matches!(actions[..], [LeadAction::Ask { .. }]),
        "{actions:?}"
    );
}

#[test]
fn a_task_over_its_budget_is_the_only_one_that_waits() {
    let mut machine = Machine::new(vec![leaf(1, &[], 0), leaf(2, &[], 1)], true);
    let events = machine.state.start(processes("p1")).unwrap();
    machine.take(events);
    machine.next(&[]);
    machine.claim(&name("builder-1"));
    machine.claim(&name("builder-2"));
    machine.submit(&name("builder-1"));
    machine.submit(&name("builder-2"));
    machine.take(vec![spent("1", 1, 100), spent("2", 1, 5)]);
    let task = Some(SpendingLimit::MicroUsd(100));
    let actions = turn_within(&mut machine, Budget { run: None, task });
    let [
        LeadAction::Verify { task: verified, .. },
        LeadAction::Ask {
            question, options, ..
        },
    ] = &actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!(*verified, Some(id("2")));
    assert_eq!(
        options
            .iter()
            .map(|option| option.label.as_str())
            .collect::<Vec<_>>(),
        ["Continue", "Give up", "Stop"]
    );
    let asked = machine.state.questions.last().unwrap();
    assert_eq!(
        asked.question.topic,
        Topic::Budget {
            limit: SpendingLimit::MicroUsd(100),
            spent: Some(SpendingLimit::MicroUsd(100)),
            task: Some(id("1"))
        }
    );
    let events = machine
        .state
        .answer(question, &["Give up".into()], Decider::User)
        .unwrap();
    machine.take(events);
    assert_eq!(machine.state.task(&id("1")).unwrap().status, Status::Failed);
}

/// Ends the process of the agent `of`, whose last words were `said`.
fn ends(machine: &mut Machine, of: &str, said: &str, silent: Option<u32>) {
    let ended = machine.state.ended_empty(&name(of), said, silent).unwrap();
    machine.take(vec![ended]);
}

#[test]
fn a_builder_that_falls_silent_is_tried_once_more() {
    for attended in [true, false] {
        let mut machine = building();
        machine.attended = attended;
        ends(&mut machine, "builder-1", "", Some(20));
        let actions = machine.next(&[]);
        assert!(
            matches!(actions[0], LeadAction::Resume { .. }),
            "{actions:?}"
        );
        machine.claim(&name("builder-1"));
        ends(&mut machine, "builder-1", "still thinking", Some(20));
        machine.next(&[]);
        let task = machine.state.task(&id("1")).unwrap();
        assert_eq!(
            (task.status, task.iteration, task.reason.as_deref()),
            (
                Status::Failed,
                1,
                Some(
                    "builder-1 fell silent twice, and was ended; its last words: \"still thinking\""
                )
            )
        );
        assert_eq!(
            machine.state.open_questions().count(),
            usize::from(attended)
        );
        machine.check();
    }
    // The same holds for a builder that never claims a task.
    let mut machine = two_in_a_row();
    let events = machine.state.start(processes("p1")).unwrap();
    machine.take(events);
    for _ in 0..2 {
        machine.next(&[]);
        ends(&mut machine, "builder-1", "", Some(20));
    }
    let actions = machine.next(&[]);
    let starts = |action: &LeadAction| matches!(action, LeadAction::Spawn { name: of, .. } if *of == name("builder-1"));
    assert!(!actions.iter().any(starts), "{actions:?}");
}

#[test]
fn a_submission_after_a_silence_begins_anew() {
    let mut machine = building();
    ends(&mut machine, "builder-1", "", Some(20));
    machine.next(&[]);
    machine.claim(&name("builder-1"));
    machine.submit(&name("builder-1"));
    assert_eq!(machine.state.task(&id("1")).unwrap().silences, 0);
    assert_eq!(
        machine.state.ended_empty(&name("builder-1"), "done", None),
        None,
        "it has a result"
    );
}

#[test]
fn what_was_refused_is_said_once_and_again_where_the_claim_is_taken_back() {
    let mut machine = building();
    let claim = machine.state.task(&id("1")).unwrap().claim.clone();
    let token = claim.unwrap().token;
    for reason in ["a.txt is not its", "a.txt is not its", "nothing differs"] {
        let events = machine.state.refuse_submission(&id("1"), &token, reason);
        machine.take(events.unwrap());
    }
    let refused = |entry: &Entry| matches!(entry.events[..], [Event::SubmitRefused { .. }]);
    assert_eq!(machine.log.iter().filter(|entry| refused(entry)).count(), 2);
    for _ in 0..3 {
        ends(&mut machine, "builder-1", "I\u{202e} stop\nhere", None);
        machine.next(&[]);
    }
    let reason = machine
        .log
        .iter()
        .flat_map(|entry| &entry.events)
        .find_map(|event| match event {
            Event::Released { reason, .. } => Some(reason.as_str()),
            _ => None,
        });
    assert_eq!(
        reason,
        Some(
            "builder-1 handed nothing in, 3 times; refused: nothing differs; its last words: \"I\\u{202e} stop\\nhere\""
        )
    );
    assert_eq!(machine.state.task(&id("1")).unwrap().refused, None);
}
