//! Laws that hold for every run, whoever does what, in whatever order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::run::Policy;
use fp_plan::settings::JudgePolicy;

/// One step of a run; the numbers choose who takes it, and how.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Next,
    KilledNext,
    ForgetfulNext,
    Ended(u8),
    Claim(u8),
    Submit(u8),
    Judge(u8, bool),
    FailByCommand(u8),
    Conflict,
    Fail(u8),
    Retry(u8),
    Release(u8),
    RollBack(u8, u8),
    Answer(u8),
    Clarify(u8),
    Extend(u8, u8),
    Commit(u8),
    Interview(bool),
    Validate(u8, bool),
    Criticise(u8),
    LeadStops,
    Takeover,
    Later,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Next),
        1 => Just(Step::KilledNext),
        1 => Just(Step::ForgetfulNext),
        2 => (0..3u8).prop_map(Step::Ended),
        5 => (0..3u8).prop_map(Step::Claim),
        5 => (0..3u8).prop_map(Step::Submit),
        5 => (0..3u8, any::<bool>()).prop_map(|(nth, pass)| Step::Judge(nth, pass)),
        1 => (0..2u8).prop_map(Step::FailByCommand),
        1 => Just(Step::Conflict),
        1 => (0..6u8).prop_map(Step::Fail),
        1 => (0..6u8).prop_map(Step::Retry),
        1 => (0..6u8).prop_map(Step::Release),
        1 => (0..6u8, 0..3u8).prop_map(|(task, meanwhile)| Step::RollBack(task, meanwhile)),
        2 => (0..3u8).prop_map(Step::Answer),
        1 => (0..3u8).prop_map(Step::Clarify),
        1 => (0..3u8).prop_map(Step::Commit),
        1 => (0..3u8, 0..4u8).prop_map(|(builder, file)| Step::Extend(builder, file)),
        1 => (0..9u8, any::<bool>()).prop_map(|(tree, valid)| Step::Validate(tree, valid)),
        1 => (0..9u8).prop_map(Step::Criticise),
        1 => Just(Step::LeadStops),
        1 => any::<bool>().prop_map(Step::Interview),
        1 => Just(Step::Takeover),
        1 => Just(Step::Later),
    ]
}

pub(super) fn play(machine: &mut Machine, step: Step, sessions: &mut u32) {
    let names: Vec<AgentName> = (1..=4)
        .filter_map(|number| machine.state.builder(number))
        .collect();
    let builder = |number: u8| names[usize::from(number)].clone();
    match step {
        Step::Next => {
            let told = machine.next(&[]);
            machine.lose(&told);
            machine.start_agents();
            let again = machine.next(&[]);
            let starts = again.iter().any(|a| {
                matches!(
                    a,
                    LeadAction::Spawn { .. }
                        | LeadAction::Resume { .. }
                        | LeadAction::Verify { .. }
                )
            });
            assert!(!again.is_empty(), "next is never silent");
            assert!(
                !starts,
                "asked again, next hands nothing out twice: {again:?}"
            );
            assert_ne!(
                machine.lead_stops().0,
                LeadDue::Work,
                "who has done it all may stop: {again:?}"
            );
        }
        Step::ForgetfulNext => machine.forgetful_next(),
        Step::KilledNext => {
            machine.killed_next(&[]);
        }
        Step::Ended(n) => {
            machine.next(&[builder(n)]);
        }
        Step::Claim(n) => {
            let none = BTreeSet::new();
            let (held, first) = (
                machine.state.held_by(&builder(n)),
                machine.state.ready(&none),
            );
            let is_back = held.is_none() && first.first().is_some_and(|task| task.is_sent_back());
            let back: Vec<TaskId> = machine
                .state
                .tasks
                .iter()
                .filter(|task| task.is_sent_back())
                .map(|task| task.leaf.id.clone())
                .collect();
            if machine.claim(&builder(n)) && is_back {
                let held = machine.state.held_by(&builder(n)).unwrap();
                assert!(
                    back.contains(&held.leaf.id) && held.feedback.is_some(),
                    "what was sent back comes first"
                );
            }
        }
        Step::Submit(n) => machine.submit(&builder(n)),
        Step::Conflict => {
            if let Some(task) = machine.awaiting() {
                machine.judge_and_commit(&task, true, true);
            }
        }
        Step::FailByCommand(tree) => {
            if let Some(task) = machine.awaiting() {
                machine.fail_by_command(&task, &format!("t{tree}"));
            }
        }
        Step::Judge(nth, pass) => {
            if let Some(task) = machine.awaiting_nth(nth.into()) {
                machine.judge(&task, pass);
            }
        }
        Step::Fail(n) => {
            let events = machine
                .state
                .fail(&id(&(n + 1).to_string()), "no")
                .unwrap_or_default();
            machine.take(events);
        }
        Step::Retry(n) => {
            let events = machine
                .state
                .retry(&id(&(n + 1).to_string()))
                .unwrap_or_default();
            machine.take(events);
        }
        Step::Release(n) => {
            let events = machine
                .state
                .release(&id(&(n + 1).to_string()), "no")
                .unwrap_or_default();
            machine.take(events);
        }
        Step::RollBack(n, meanwhile) => {
            rollback::roll_back(machine, &id(&(n + 1).to_string()), &builder(meanwhile));
        }
        Step::Answer(n) => {
            let Some(question) = machine.state.open_questions().next().cloned() else {
                return;
            };
            let option = &question.options[usize::from(n) % question.options.len()];
            if option.label == AnswerChoice::Stop.into_str() {
                return;
            }
            let choice = [option.label.clone()];
            let events = machine
                .state
                .answer(&question.id, &choice, Decider::User)
                .unwrap();
            machine.take(events);
        }
        Step::Clarify(n) => machine.clarify(&builder(n)),
        Step::Extend(n, file) => machine.extend(&builder(n), &format!("f{file}")),
        Step::Commit(file) => machine.commit(&format!("f{file}")),
        Step::Validate(tree, valid) => {
            let failing: BTreeSet<String> =
                (!valid).then(|| "a-rule".to_owned()).into_iter().collect();
            let seen = serde_json::json!({ "treeHash": tree.to_string(), "failing": failing });
            machine.take(vec![Event::Validated(seen)]);
        }
        Step::Criticise(tree) => {
            let judged = Critique::of_findings(tree.to_string(), 6, Vec::new());
            let critique = machine.state.criticise(judged);
            machine.take(critique.ok().map(Event::Critiqued).into_iter().collect());
        }
        Step::LeadStops => {
            let told: Vec<bool> = (0..=NUDGES).map(|_| machine.lead_stops().1).collect();
            assert!(
                !told[2],
                "it is told {NUDGES} times, as long as nothing else happens"
            );
            let is_due = machine.lead_stops().0 == LeadDue::Work;
            let asked = machine.state.lead_nudges;
            assert!(!is_due || asked == NUDGES, "what is due is said: {asked}");
        }
        Step::Interview(by_user) => {
            let before = machine.state.clone();
            let by = if by_user {
                Decider::User
            } else {
                Decider::Auto
            };
            machine.take(vec![Event::Interviewed { by }]);
            let (rounds, told) = (machine.state.interview_rounds, before.interview_rounds);
            assert_eq!(rounds.user + rounds.auto, told.user + told.auto + 1);
            let mut expected = State {
                seq: machine.state.seq,
                last_at: machine.state.last_at,
                ..before
            };
            expected.interview_rounds = machine.state.interview_rounds;
            expected.machines.clone_from(&machine.state.machines);
            expected.behind = machine.state.behind;
            if by_user {
                expected.planning.begin_anew();
            }
            assert_eq!(machine.state, expected, "it is no business of the run");
        }
        Step::Takeover => {
            *sessions += 1;
            machine.start(&format!("s{sessions}"));
        }
        Step::Later => machine.now += SignedDuration::from_mins(31),
    }
}

/// Six tasks on three files; each depends on earlier ones only.
pub(super) fn leaves() -> impl Strategy<Value = Vec<Leaf>> {
    let one = |number: usize| {
        (
            proptest::collection::btree_set(1..number.max(2), 0..number.min(3)),
            0..3usize,
        )
            .prop_map(move |(dependencies, file)| {
                let dependencies: Vec<usize> =
                    dependencies.into_iter().filter(|d| *d < number).collect();
                leaf(number, &dependencies, file)
            })
    };
    (1..=6usize).map(one).collect::<Vec<_>>()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_commands_keep_the_invariants(
        leaves in leaves(),
        done in proptest::sample::subsequence((1..=6).collect::<Vec<usize>>(), 0..=4),
        imported in any::<bool>(),
        steps in proptest::collection::vec(step(), 1..80),
    ) {
        let mut machine = Machine::imported(leaves, true, if imported { &done } else { &[] });
        let mut sessions = 0;
        for step in steps {
            if !machine.state.is_running() {
                break;
            }
            play(&mut machine, step, &mut sessions);
            machine.check();
        }
    }

    /// In an unattended run whose agents die at random moments, some later `next` always makes progress, until the run
    /// ends.
    #[test]
    fn every_run_ends(
        leaves in leaves(),
        done in proptest::sample::subsequence((1..=6).collect::<Vec<usize>>(), 0..=2),
        fates in proptest::collection::vec(0..6u8, 40),
        judge in proptest::sample::select(vec![JudgePolicy::Each, JudgePolicy::Risk, JudgePolicy::End]),
        processes in proptest::bool::ANY,
    ) {
        let mut machine = Machine::imported(leaves, false, &done);
        let terms = |session: &str| RunTerms {
            policy: Policy { judge, ..Policy::default() },
            processes,
            ..start(session)
        };
        let events = machine.state.start(terms("s0")).unwrap();
        machine.take(events);
        let mut fates = fates.into_iter().cycle();
        let mut ended = Vec::new();
        for turn in 0..400 {
            if fates.next() == Some(5) {
                machine.commit("f1");
            }
            if processes && turn < 100 && fates.next() == Some(1) {
                // The lead is killed along with its agents, and another one takes over.
                let tries = |machine: &Machine| machine.state.tasks.iter().map(|task| task.iteration).collect::<Vec<_>>();
                let before = tries(&machine);
                let events = machine.state.start(terms(&format!("s{turn}"))).unwrap();
                machine.take(events);
                prop_assert_eq!(tries(&machine), before, "a kill used a try");
                ended.clear();
            }
            if fates.next() == Some(0) {
                machine.killed_next(&std::mem::take(&mut ended));
            }
            let actions = machine.next(&std::mem::take(&mut ended));
            machine.check();
            for action in actions {
                let is_agents = matches!(
                    action,
                    LeadAction::Spawn { .. } | LeadAction::Resume { .. } | LeadAction::Verify { .. }
                );
                if is_agents && fates.next() == Some(4) {
                    continue; // The lead loses it.
                }
                match action {
                    LeadAction::Finish { .. } => return Ok(()),
                    LeadAction::Spawn { name, .. } | LeadAction::Resume { name, .. } => {
                        work(&mut machine, &name, fates.next().unwrap());
                        ended.push(name);
                    }
                    LeadAction::Verify { name, task: None, .. } => {
                        let opinion = VerifierOpinion {
                            judgements: vec![Judgement { criterion: 1, pass: fates.next() != Some(1), evidence: "seen".into() }],
                            ..VerifierOpinion::default()
                        };
                        if fates.next() != Some(0) {
                            let events = machine.state.judge_whole(opinion, &["c".into()]).unwrap();
                            machine.take(events);
                        }
                        ended.push(name);
                    }
                    LeadAction::Verify { name, task: Some(task), .. } => {
                        match fates.next().unwrap() {
                            0 => {}
                            1 => machine.fail_by_command(&task, "t"),
                            fate => machine.judge(&task, fate > 2),
                        }
                        ended.push(name);
                    }
                    LeadAction::Check { task, .. } => match fates.next().unwrap() {
                        0 => {}
                        fate => machine.check_only(&task, fate > 2),
                    },
                    LeadAction::Wait { .. } if machine.state.wants_repairs() => {
                        let mut leaves: Vec<Leaf> = machine.state.tasks.iter().map(|task| task.leaf.clone()).collect();
                        leaves.push(Leaf { id: id("repair1"), ..leaf(9, &[], 9) });
                        machine.approve("repaired", leaves);
                    }
                    LeadAction::Wait { on } => prop_assert!(!on.is_empty()),
                    LeadAction::Ask { .. } => prop_assert!(false, "nobody can be asked"),
                    LeadAction::Deadlock { chain } | LeadAction::Revise { due: chain } => {
                        prop_assert!(false, "deadlock: {chain:?}");
                    }
                }
            }
        }
        prop_assert!(false, "the run goes on for ever: {:?}", counts(&machine.state));
    }
}

/// A builder's turn, cut short at a random place.
fn work(machine: &mut Machine, name: &AgentName, fate: u8) {
    if fate == 0 {
        return;
    }
    machine.claim(name);
    match fate {
        1 => {}
        2 => machine.clarify(name),
        _ => machine.submit(name),
    }
}

fn counts(state: &State) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for task in &state.tasks {
        *counts.entry(task.status.into_str()).or_default() += 1;
    }
    counts
}
