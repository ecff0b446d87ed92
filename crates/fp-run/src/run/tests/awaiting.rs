//! Builders go on while their work awaits its verdict, and take up again what did not pass.

use super::*;
use fp_plan::settings::{Budget, SpendingLimit};

/// Five tasks on files of their own.
fn apart() -> Machine {
    Machine::new(
        (1..=5).map(|number| leaf(number, &[], number)).collect(),
        true,
    )
}

/// Claims for builder `number` and submits. Returns the task.
fn build(machine: &mut Machine, number: u8) -> TaskId {
    assert!(machine.claim(&builder(number)));
    let task = machine.state.held_by(&builder(number)).unwrap();
    let task = task.leaf.id.clone();
    machine.submit(&builder(number));
    task
}

fn started(actions: &[LeadAction]) -> Vec<&str> {
    let name = |action: &'_ LeadAction| match action {
        LeadAction::Spawn { name, .. }
        | LeadAction::Resume { name, .. }
        | LeadAction::Verify { name, .. } => Some(name.to_string()),
        _ => None,
    };
    let names = actions.iter().filter_map(name);
    names.map(|name| &*name.leak()).collect()
}

#[test]
fn a_builder_goes_on_when_its_turn_has_ended() {
    let mut machine = apart();
    machine.next(&[]);
    assert_eq!(build(&mut machine, 0), id("1"));
    machine.claim(&builder(1));
    machine.claim(&builder(2));
    assert_eq!(machine.state.held_by(&builder(0)), None);
    assert_eq!(
        started(&machine.next(&[])),
        ["verifier-1-i1"],
        "its turn goes on"
    );
    let actions = machine.next(&[builder(0)]);
    assert_eq!(started(&actions), ["verifier-1-i1", "builder-1"]);
    assert_eq!(build(&mut machine, 0), id("4"));
    machine.next(&[]);
    // Nobody reports the end of this turn.
    machine.now += SignedDuration::from_mins(3);
    assert!(started(&machine.next(&[])).contains(&"builder-1"));
    machine.check();
}

#[test]
fn what_fails_comes_first_and_to_the_same_builder_if_it_is_free() {
    let mut machine = apart();
    let first = build(&mut machine, 0);
    let second = build(&mut machine, 1);
    machine.claim(&builder(2));
    machine.judge(&first, false);
    machine.judge(&second, false);
    for (task, by) in [(&first, 0), (&second, 1)] {
        let back = machine.state.task(task).unwrap();
        assert!(back.is_sent_back() && back.iteration == 2, "{back:?}");
        assert_eq!(back.handed_in.as_ref().unwrap().by, builder(by));
    }
    let actions = machine.next(&[]);
    let messages = actions.iter().filter_map(|action| match action {
        LeadAction::Resume { message, .. } => Some(message.as_str()),
        _ => None,
    });
    let messages: Vec<&str> = messages.collect();
    assert_eq!(
        messages,
        [
            "Task 1 did not pass: run `fp claim p --as builder-1` for what to mend, then submit again.",
            "Task 2 did not pass: run `fp claim p --as builder-2` for what to mend, then submit again.",
        ]
    );
    assert!(machine.claim(&builder(1)));
    assert_eq!(machine.state.held_by(&builder(1)).unwrap().leaf.id, second);
    // The builder of the first one is busy, so another takes it up.
    let base = machine.state.task(&first).unwrap().base.clone().unwrap();
    let none = BTreeSet::new();
    let taken = machine
        .state
        .claim(&builder(0), Some(&id("4")), &none, "t".into(), base);
    machine.take(taken.unwrap().1);
    machine.submit(&builder(2));
    assert!(machine.claim(&builder(2)));
    let taken = machine.state.held_by(&builder(2)).unwrap();
    assert_eq!((&taken.leaf.id, taken.iteration), (&first, 2));
    assert!(taken.feedback.is_some() && taken.handed_in.is_none());
    machine.check();
}

#[test]
fn what_awaits_a_verdict_or_was_sent_back_keeps_its_files() {
    let mut machine = Machine::new(vec![leaf(1, &[], 0), leaf(2, &[], 0)], true);
    let first = build(&mut machine, 0);
    assert!(!machine.claim(&builder(0)), "a file is held");
    machine.judge(&first, false);
    let none = BTreeSet::new();
    let second = machine.state.task(&id("2")).unwrap();
    let obstacle = machine.state.obstacles(&none).obstacle_to(second);
    assert!(
        matches!(obstacle, Some(Obstacle::File { .. })),
        "{obstacle:?}"
    );
    let ready = machine.state.ready(&none);
    assert_eq!(
        ready.iter().map(|task| &task.leaf.id).collect::<Vec<_>>(),
        [&first]
    );
}

#[test]
fn as_many_verifiers_as_builders_work_at_once() {
    let mut machine = apart();
    (0..4).for_each(|number| drop(build(&mut machine, number)));
    let around = machine.around(None);
    let turn = machine.state.next(&[], &around).unwrap();
    assert_eq!(
        started(&turn.actions),
        ["verifier-1-i1", "verifier-2-i1", "verifier-3-i1"]
    );
    machine.take(turn.events);
    machine.judge(&id("1"), true);
    let turn = machine.state.next(&[], &around).unwrap();
    assert!(started(&turn.actions).contains(&"verifier-4-i1"));
}

#[test]
fn a_late_verdict_is_told_what_has_happened() {
    let told = |change: fn(&mut Machine), expect: &str| {
        let mut machine = apart();
        build(&mut machine, 0);
        change(&mut machine);
        let refused = machine.state.expect_submitted(&id("1"), None).unwrap_err();
        assert_eq!(refused.to_string(), expect);
    };
    told(
        |machine| machine.judge(&id("1"), false),
        "task 1 is building: its submission was sent back, and only a submitted task can be verified",
    );
    told(
        |machine| {
            machine.judge(&id("1"), false);
            machine.claim(&builder(1));
        },
        "task 1 is building: builder-2 works on it again, and only a submitted task can be verified",
    );
    told(
        |machine| {
            machine.judge(&id("1"), false);
            let events = machine.state.release(&id("1"), "to change it").unwrap();
            machine.take(events);
        },
        "task 1 is waiting: its submission was taken back, and only a submitted task can be verified",
    );
    told(
        |machine| {
            let events = machine.state.fail(&id("1"), "no").unwrap();
            machine.take(events);
        },
        "task 1 is failed: it was given up meanwhile, and only a submitted task can be verified",
    );
    told(
        |machine| machine.judge(&id("1"), true),
        "task 1 is done: its commit is made, and only a submitted task can be verified",
    );
    let mut machine = apart();
    build(&mut machine, 0);
    machine.judge(&id("1"), false);
    build(&mut machine, 0);
    let refused = machine
        .state
        .expect_submitted(&id("1"), Some(1))
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "task 1 is at attempt 2, this verdict is about attempt 1"
    );
}

/// A session that ends takes back only the claims: nobody holds what was sent back.
#[test]
fn what_was_sent_back_outlives_its_session() {
    let mut machine = apart();
    let first = build(&mut machine, 0);
    machine.judge(&first, false);
    machine.claim(&builder(1));
    let before = machine.state.task(&first).unwrap().clone();
    assert!(
        machine
            .state
            .held_by(&builder(1))
            .is_some_and(|held| held.leaf.id == first)
    );
    machine.start("s1");
    let taken_back = machine.state.task(&first).unwrap();
    assert_eq!(
        (taken_back.status, taken_back.iteration),
        (Status::Pending, 2)
    );
    let mut machine = apart();
    build(&mut machine, 0);
    machine.judge(&first, false);
    machine.start("s1");
    let after = machine.state.task(&first).unwrap();
    assert!(after.is_sent_back() && after.feedback == before.feedback);
    machine.check();
}

#[test]
fn a_spent_budget_keeps_a_task_from_being_taken_up_again() {
    let mut machine = apart();
    let first = build(&mut machine, 0);
    let cost = super::super::crew::AgentCost {
        task: Some(first.clone()),
        tokens: super::super::crew::TokenUse {
            output: 100,
            ..Default::default()
        },
        ..Default::default()
    };
    let name = builder(0);
    machine.take(vec![Event::AgentSpent { name, cost }]);
    machine.judge(&first, false);
    let mut around = machine.around(None);
    around.budget = Budget {
        run: None,
        task: Some(SpendingLimit::Tokens(100)),
    };
    let turn = machine.state.next(&[], &around).unwrap();
    machine.take(turn.events);
    let none = BTreeSet::new();
    let obstacle = |machine: &Machine| {
        let task = machine.state.task(&first).unwrap();
        machine.state.obstacles(&none).obstacle_to(task)
    };
    assert_eq!(obstacle(&machine), Some(Obstacle::Budget));
    let question = machine.state.open_questions().next().unwrap().id.clone();
    let answer = [AnswerChoice::Continue.into_str().to_owned()];
    let events = machine
        .state
        .answer(&question, &answer, Decider::User)
        .unwrap();
    machine.take(events);
    assert_eq!(obstacle(&machine), None);
}

/// The seconds that 200 tasks take eight builders, in simulated time; a verification takes `part` percent of its build.
fn simulated_wall(part: i64) -> i64 {
    let leaves = (1..=200).map(|number| leaf(number, &[], number)).collect();
    let mut machine = Machine::new(leaves, true);
    let terms = RunTerms {
        builders: 8,
        ..start("s1")
    };
    let events = machine.state.start(terms).unwrap();
    machine.take(events);
    let seconds = |task: &TaskId| 25 * (1 + task.as_str().parse::<i64>().unwrap() % 4);
    let (mut now, mut ended) = (0, Vec::new());
    // Ends to come: the time, the agent, and the task of a verifier.
    let mut ends: BTreeSet<(i64, AgentName, Option<TaskId>)> = BTreeSet::new();
    loop {
        for action in machine.next(&std::mem::take(&mut ended)) {
            match action {
                LeadAction::Spawn { name, .. } | LeadAction::Resume { name, .. } => {
                    assert!(machine.claim(&name));
                    let task = &machine.state.held_by(&name).unwrap().leaf.id;
                    ends.insert((now + seconds(task), name, None));
                }
                LeadAction::Verify {
                    name,
                    task: Some(task),
                    ..
                } => {
                    let end = now + seconds(&task) * part / 100;
                    ends.insert((end, name, Some(task)));
                }
                LeadAction::Finish { .. } => return now,
                _ => {}
            }
        }
        let (at, name, task) = ends.pop_first().unwrap();
        machine.now += SignedDuration::from_secs(at - now);
        now = at;
        match task {
            Some(task) => machine.judge(&task, true),
            None => machine.submit(&name),
        }
        ended.push(name);
    }
}

#[test]
fn verification_costs_builders_no_time() {
    let (ideal, wall) = (simulated_wall(0), simulated_wall(33));
    assert!(20 * wall <= 21 * ideal, "{wall} s, ideal {ideal} s");
}
