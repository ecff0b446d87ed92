//! A lead that judges: no verifier is started, and the run waits for its verdict all the same.

use super::*;

fn judging() -> Machine {
    let mut machine = Machine::new(vec![leaf(1, &[], 0)], true);
    let events = machine.state.start(RunTerms { lead_judges: true, ..start("s0") }).unwrap();
    machine.take(events);
    machine.next(&[]);
    machine.start_agents();
    machine.claim(&name("builder-1"));
    machine.submit(&name("builder-1"));
    machine
}

#[test]
fn it_is_told_until_there_is_a_verdict() {
    let mut machine = judging();
    for _ in 0..3 {
        let actions = machine.next(&[name("builder-1")]);
        let [LeadAction::Judge { task, iteration: 1, prompt }] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!(*task, id("1"));
        assert!(prompt.contains("Run `fp verify p 1`"), "{prompt}");
        assert_eq!(machine.lead_stops().0, LeadDue::Work);
    }
    machine.judge(&id("1"), true);
    let actions = machine.next(&[]);
    assert!(matches!(actions[..], [LeadAction::Finish { .. }]), "{actions:?}");
    machine.check();
}

#[test]
fn what_it_fails_goes_back_to_the_builder() {
    let mut machine = judging();
    machine.next(&[name("builder-1")]);
    machine.judge(&id("1"), false);
    let actions = machine.next(&[]);
    let [LeadAction::Resume { name: owner, message, .. }, LeadAction::Wait { .. }] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!(*owner, name("builder-1"));
    assert!(message.starts_with("Task 1 did not pass:"), "{message}");
}

#[test]
fn a_lead_that_never_judges_is_left_alone() {
    let mut machine = judging();
    machine.next(&[name("builder-1")]);
    let told = (0..10).filter(|_| machine.lead_stops().1).count();
    assert_eq!(told, NUDGES as usize);
}
