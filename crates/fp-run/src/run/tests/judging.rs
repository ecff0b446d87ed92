//! Tests what is judged by whom: a verifier for a task at risk, its checks for another, and a verifier for the whole. If
//! a verdict depends on a command alone, the user is asked.

use super::*;
use crate::run::Policy;
use crate::run::fleet::FleetMachine;
use crate::run::question::{Question, Topic};
use crate::run::state::Granted;
use crate::verification::change::{Change, ChangeStatus, FileKind};
use fp_plan::plan::id::MachineId;
use fp_plan::settings::JudgePolicy;

/// A run of `leaves` whose policy is `judge`.
fn judging(leaves: Vec<Leaf>, judge: JudgePolicy) -> Machine {
    let mut machine = Machine::new(leaves, true);
    let policy = Policy {
        judge,
        ..Policy::default()
    };
    let terms = RunTerms {
        policy,
        ..start("s0")
    };
    let events = machine.state.start(terms).unwrap();
    machine.take(events);
    machine.next(&[]);
    machine.start_agents();
    machine
}

/// True if a verifier judges the first of two tasks, changed by `change`, under `judge`.
fn is_judged(judge: JudgePolicy, change: impl Fn(&mut Leaf, &mut TaskState)) -> bool {
    let mut first = leaf(1, &[], 0);
    let mut state = TaskState::default();
    change(&mut first, &mut state);
    let mut machine = judging(vec![first, leaf(2, &[], 1)], judge);
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    let task = machine.state.task(&id("1")).unwrap().clone();
    let task = TaskState {
        iteration: state.iteration.max(1),
        granted: state.granted,
        submission: state.submission.or(task.submission.clone()),
        ..task
    };
    machine.state.is_judged(&task)
}

#[test]
fn who_judges_a_task() {
    let plain = |_: &mut Leaf, _: &mut TaskState| {};
    assert!(is_judged(JudgePolicy::Each, plain));
    assert!(!is_judged(JudgePolicy::Risk, plain));
    assert!(!is_judged(JudgePolicy::End, plain));
    let changed = |path: &'static str, status: ChangeStatus| {
        move |_: &mut Leaf, task: &mut TaskState| {
            let change = Change {
                path: fp_plan::repo_path::RepoPath::from_bytes(path.as_bytes()),
                status: status.clone(),
                kind: FileKind::File,
            };
            task.submission = Some(MeasuredWork {
                files: vec![change],
                ..MeasuredWork::default()
            });
        }
    };
    assert!(!is_judged(
        JudgePolicy::Risk,
        changed("tests/a.rs", ChangeStatus::Added)
    ));
    assert!(!is_judged(
        JudgePolicy::Risk,
        changed("src/a.rs", ChangeStatus::Modified)
    ));
    assert!(is_judged(
        JudgePolicy::Risk,
        changed("tests/a.rs", ChangeStatus::Modified)
    ));
    let risks: [fn(&mut Leaf, &mut TaskState); 4] = [
        |leaf, _| leaf.complexity = 5,
        |leaf, _| leaf.risky = true,
        |_, task| task.iteration = 2,
        |_, task| {
            task.granted.push(Granted {
                path: "x".into(),
                reason: String::new(),
                by: Decider::Auto,
            })
        },
    ];
    for (number, risk) in risks.into_iter().enumerate() {
        assert!(is_judged(JudgePolicy::Risk, risk), "risk {number}");
        assert!(!is_judged(JudgePolicy::End, risk), "risk {number}");
    }
}

#[test]
fn the_only_task_of_a_run_is_judged_and_no_whole_after_it() {
    let mut machine = judging(vec![leaf(1, &[], 0)], JudgePolicy::Risk);
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    assert_eq!(machine.state.checks_due().count(), 0);
    let actions = machine.next(&[builder(0)]);
    assert!(
        matches!(actions[0], LeadAction::Verify { .. }),
        "{actions:?}"
    );
    machine.judge(&id("1"), true);
    let actions = machine.next(&[]);
    assert!(
        matches!(actions[..], [LeadAction::Finish { .. }]),
        "{actions:?}"
    );
}

/// Two complex tasks, built, with a verifier at work on the first.
fn two_complex(judge: JudgePolicy, change: impl Fn(&mut Leaf)) -> Machine {
    let mut leaves = vec![leaf(1, &[], 0), leaf(2, &[], 1)];
    for leaf in &mut leaves {
        leaf.complexity = 8;
        change(leaf);
    }
    let mut machine = judging(leaves, judge);
    for number in [0, 1] {
        machine.claim(&builder(number));
    }
    machine.submit(&builder(0));
    let actions = machine.next(&[builder(0)]);
    assert!(is_verified(&actions, "1"), "{actions:?}");
    machine.start_agents();
    machine
}

fn is_verified(actions: &[LeadAction], number: &str) -> bool {
    let mut tasks = actions.iter().filter_map(|action| match action {
        LeadAction::Verify { task, .. } => task.as_ref(),
        _ => None,
    });
    tasks.any(|task| *task == id(number))
}

#[test]
fn the_last_complex_task_is_judged_with_the_whole() {
    let last = |judge, change: fn(&mut Leaf)| {
        let mut machine = two_complex(judge, change);
        machine.judge(&id("1"), true);
        machine.check();
        machine.submit(&builder(1));
        machine
    };
    let mut machine = last(JudgePolicy::Risk, |_| {});
    let actions = machine.next(&[builder(1)]);
    let check = LeadAction::Check {
        task: id("2"),
        iteration: 1,
    };
    assert_eq!(actions, [check]);
    machine.check_only(&id("2"), true);
    machine.check();
    let actions = machine.next(&[]);
    assert!(
        matches!(actions[0], LeadAction::Verify { task: None, .. }),
        "{actions:?}"
    );

    let risky: fn(&mut Leaf) = |leaf| leaf.risky = true;
    for (judge, change) in [(JudgePolicy::Risk, risky), (JudgePolicy::Each, |_| {})] {
        let actions = last(judge, change).next(&[builder(1)]);
        assert!(is_verified(&actions, "2"), "{judge:?}: {actions:?}");
    }
    // What a grant adds, the whole shows; what it changes, somebody relies on.
    for (status, is_judged) in [(ChangeStatus::Added, false), (ChangeStatus::Modified, true)] {
        let mut machine = last(JudgePolicy::Risk, |_| {});
        let task = machine
            .state
            .tasks
            .iter_mut()
            .find(|it| it.leaf.id == id("2"));
        let task = task.unwrap();
        task.granted.push(Granted {
            path: "src/x.rs".into(),
            reason: String::new(),
            by: Decider::Auto,
        });
        task.submission.as_mut().unwrap().files = vec![Change {
            path: "src/x.rs".into(),
            status,
            kind: FileKind::File,
        }];
        let actions = machine.next(&[builder(1)]);
        assert_eq!(is_verified(&actions, "2"), is_judged, "{actions:?}");
    }
    // No verdict on the whole follows where the plan is shared.
    let mut shared = last(JudgePolicy::Risk, |_| {});
    let other = FleetMachine {
        entries: 1,
        at: shared.now,
        has_left: false,
    };
    let named = MachineId::new("other").unwrap();
    shared.state.machines.insert(named, other);
    let actions = shared.next(&[builder(1)]);
    assert!(is_verified(&actions, "2"), "{actions:?}");
    let mut machine = last(JudgePolicy::Risk, |_| {});
    machine.check_only(&id("2"), false);
    machine.next(&[builder(1)]);
    machine.claim(&builder(1));
    machine.submit(&builder(1));
    let actions = machine.next(&[builder(1)]);
    assert!(is_verified(&actions, "2"), "{actions:?}");
}

#[test]
fn a_complex_task_is_judged_while_another_is_open_or_its_verifier_works() {
    let mut machine = two_complex(JudgePolicy::Risk, |_| {});
    machine.submit(&builder(1));
    let actions = machine.next(&[builder(1)]);
    assert!(is_verified(&actions, "2"), "{actions:?}");
    machine.start_agents();
    machine.judge(&id("1"), true);
    machine.check();
    assert_eq!(machine.state.checks_due().count(), 0);
    let verifier = |machine: &Machine| {
        let mut agents = machine.state.active_agents();
        let (name, _) = agents
            .find(|(_, agent)| agent.task == Some(id("2")) && agent.role == Role::Verifier)
            .unwrap();
        name.clone()
    };
    let name = verifier(&machine);
    let actions = machine.next(&[name]);
    assert!(!is_verified(&actions, "2"), "{actions:?}");
    assert_eq!(machine.state.checks_due().count(), 1);
}

/// Two tasks that passed by their checks.
fn only_checked() -> Machine {
    let mut machine = judging(vec![leaf(1, &[], 0), leaf(2, &[1], 1)], JudgePolicy::Risk);
    for number in ["1", "2"] {
        machine.claim(&builder(0));
        machine.submit(&builder(0));
        for _ in 0..2 {
            let actions = machine.next(&[builder(0)]);
            let check = LeadAction::Check {
                task: id(number),
                iteration: 1,
            };
            assert_eq!(actions, [check]);
            assert_eq!(machine.lead_stops().0, LeadDue::Work);
        }
        machine.check_only(&id(number), true);
        assert!(machine.state.task(&id(number)).unwrap().is_only_checked());
        machine.check();
    }
    machine
}

#[test]
fn a_task_whose_checks_fail_goes_back_and_is_judged_then() {
    let mut machine = judging(vec![leaf(1, &[], 0), leaf(2, &[1], 1)], JudgePolicy::Risk);
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    machine.check_only(&id("1"), false);
    let actions = machine.next(&[builder(0)]);
    assert!(
        matches!(actions[0], LeadAction::Resume { .. }),
        "{actions:?}"
    );
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    let refused = machine.state.judge_by_checks(&id("1"), 2).unwrap_err();
    assert_eq!(refused.to_string(), "a verifier judges task 1");
    let actions = machine.next(&[builder(0)]);
    assert!(
        matches!(actions[0], LeadAction::Verify { .. }),
        "{actions:?}"
    );
}

fn whole(pass: bool) -> VerifierOpinion {
    VerifierOpinion {
        judgements: vec![Judgement {
            criterion: 1,
            pass,
            evidence: "it prints 3".into(),
        }],
        ..VerifierOpinion::default()
    }
}

#[test]
fn the_whole_is_judged_once_no_task_is_left() {
    let mut machine = only_checked();
    let judged = |machine: &mut Machine| {
        let actions = machine.next(&[]);
        let [
            LeadAction::Verify {
                name,
                task: None,
                prompt,
                ..
            },
            LeadAction::Wait { .. },
        ] = &actions[..]
        else {
            panic!("{actions:?}")
        };
        assert!(prompt.contains("`fp verify p`"), "{prompt}");
        name.clone()
    };
    let first = judged(&mut machine);
    machine.start_agents();
    // One that ends without a verdict is followed by one more, and no third.
    assert!(matches!(machine.next(&[])[..], [LeadAction::Wait { .. }]));
    let silent = machine.next(std::slice::from_ref(&first));
    let [LeadAction::Verify { name: second, .. }, _] = &silent[..] else {
        panic!("{silent:?}")
    };
    assert_ne!(*second, first);
    let mut gone = Machine {
        state: machine.state.clone(),
        log: machine.log.clone(),
        ..only_checked()
    };
    gone.start_agents();
    let actions = gone.next(std::slice::from_ref(second));
    assert!(
        matches!(actions[..], [LeadAction::Finish { .. }]),
        "{actions:?}"
    );
    let events = machine
        .state
        .judge_whole(whole(true), &["R1".into()])
        .unwrap();
    machine.take(events);
    assert!(machine.state.whole_verdict.as_ref().unwrap().pass);
    let actions = machine.next(&[]);
    assert!(
        matches!(actions[..], [LeadAction::Finish { .. }]),
        "{actions:?}"
    );
    assert!(
        machine
            .state
            .judge_whole(whole(true), &["R1".into()])
            .is_err()
    );
}

#[test]
fn what_the_whole_fails_is_mended_once() {
    let mut machine = only_checked();
    machine.next(&[]);
    let events = machine
        .state
        .judge_whole(whole(false), &["R1".into()])
        .unwrap();
    machine.take(events);
    let question = machine.state.open_questions().next().unwrap().clone();
    assert_eq!(
        question.text,
        "No task is left, but the result does not hold as a whole: Criterion 1 (R1): it prints 3. How should it continue?"
    );
    assert!(!machine.state.wants_repairs());
    answer(&mut machine, &question, AnswerChoice::Repair);
    assert!(machine.state.wants_repairs());
    assert!(matches!(machine.next(&[])[..], [LeadAction::Wait { .. }]));
    let repair = Leaf {
        id: id("repair1"),
        ..leaf(3, &[], 0)
    };
    machine.approve("t2", vec![leaf(1, &[], 0), leaf(2, &[1], 1), repair]);
    assert!(!machine.state.wants_repairs());
    let owner = machine.next(&[]);
    assert!(
        matches!(
            owner[0],
            LeadAction::Spawn { .. } | LeadAction::Resume { .. }
        ),
        "{owner:?}"
    );
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    let mut complex = machine.clone();
    complex.state.tasks[2].leaf.complexity = 8;
    let actions = complex.next(&[builder(0)]);
    assert!(is_verified(&actions, "repair1"), "{actions:?}");
    machine.check_only(&id("repair1"), true);
    let actions = machine.next(&[builder(0)]);
    assert!(
        matches!(actions[..], [LeadAction::Finish { .. }]),
        "{actions:?}"
    );
}

/// Task 1, built but failed because of a command alone, and the open question about it.
fn failed_by_command() -> (Machine, Question) {
    let mut machine = two_in_a_row();
    machine.claim(&builder(0));
    machine.submit(&builder(0));
    machine.fail_by_command(&id("1"), "t");
    let question = machine.state.open_questions().next().unwrap().clone();
    (machine, question)
}

fn answer(machine: &mut Machine, question: &Question, choice: AnswerChoice) {
    let answer = [choice.into_str().to_owned()];
    let events = machine
        .state
        .answer(&question.id, &answer, Decider::User)
        .unwrap();
    machine.take(events);
}

#[test]
fn a_command_that_fails_alone_is_a_question_at_once() {
    let (mut machine, question) = failed_by_command();
    assert_eq!(
        question.text,
        "Task 1 did not pass by its commands. `make \"test\"` ended with exit status 2: \"first unexpected argument \
         'x'\". Each criterion was judged to hold. How should it continue?"
    );
    let offered: Vec<&str> = question
        .options
        .iter()
        .map(|option| option.label.as_str())
        .collect();
    assert_eq!(
        offered,
        [
            "Change the task",
            "Run without this check",
            "Send back",
            "Stop"
        ]
    );
    assert!(
        matches!(machine.next(&[])[..], [LeadAction::Ask { .. }]),
        "no verifier is started meanwhile"
    );
    let refused = machine
        .state
        .expect_submitted(&id("1"), None)
        .unwrap_err()
        .to_string();
    assert!(
        refused.ends_with("the user is asked about its commands; `fp next` prints the question"),
        "{refused}"
    );
    answer(&mut machine, &question, AnswerChoice::SendBack);
    let task = machine.state.task(&id("1")).unwrap();
    assert_eq!((task.status, task.iteration), (Status::Implementing, 2));
    assert!(
        task.feedback
            .as_ref()
            .unwrap()
            .starts_with("`make \"test\"` failed: exit status 2")
    );
}

#[test]
fn a_task_to_be_changed_waits_for_that_and_goes_on() {
    let (mut machine, question) = failed_by_command();
    answer(&mut machine, &question, AnswerChoice::Change);
    let LeadAction::Revise { due } = &machine.next(&[builder(0)])[0] else {
        panic!()
    };
    assert_eq!(
        due[..],
        ["1: it has to be changed: run `fp task revise p 1 --file -`, then `fp approve p`"]
    );
    let leaves = |hash: &str| {
        vec![
            Leaf {
                hash: hash.into(),
                ..leaf(1, &[], 0)
            },
            leaf(2, &[1], 1),
        ]
    };
    for (tree_hash, hash) in [("t", "h1"), ("t2", "other")] {
        let mut machine = Machine {
            state: machine.state.clone(),
            log: machine.log.clone(),
            ..two_in_a_row()
        };
        machine.approve(tree_hash, leaves(hash));
        assert!(
            matches!(machine.next(&[])[0], LeadAction::Resume { .. }),
            "approved as {hash}"
        );
        machine.claim(&builder(0));
        assert_eq!(
            machine.state.task(&id("1")).unwrap().iteration,
            1,
            "the attempt does not count"
        );
    }
}

#[test]
fn a_check_that_is_dropped_is_judged_without() {
    let (mut machine, question) = failed_by_command();
    answer(&mut machine, &question, AnswerChoice::Drop);
    let task = machine.state.task(&id("1")).unwrap();
    assert_eq!(task.dropped, ["make \"test\"".to_owned()].into());
    assert!(
        task.verification.is_none(),
        "what was recorded is no longer the result"
    );
    assert!(matches!(machine.next(&[])[0], LeadAction::Verify { .. }));
    machine.judge(&id("1"), true);
    assert_eq!(
        machine.state.task(&id("1")).unwrap().status,
        Status::Completed
    );
}

/// The builder has changed nothing, so the user is asked, whatever the criteria say.
#[test]
fn a_command_that_fails_twice_in_one_tree_is_a_question() {
    let mut machine = Machine::new(vec![leaf(2, &[], 1)], true);
    let task = id("2");
    let mut fail = |tree: &str| {
        machine.claim(&builder(0));
        machine.submit(&builder(0));
        let check = Check {
            name: "command: make".into(),
            verdict: CheckVerdict::Fail,
            detail: String::new(),
        };
        let iteration = machine.state.task(&task).unwrap().iteration;
        let work = MeasuredWork {
            onto: None,
            tree: tree.to_owned(),
            files: Vec::new(),
            checks: vec![check],
        };
        machine.take(vec![Event::Verified {
            task: task.clone(),
            iteration,
            work,
        }]);
        machine.judge(&task, false);
        machine
            .state
            .open_questions()
            .map(|question| question.text.clone())
            .collect::<Vec<_>>()
    };
    assert!(fail("t1").is_empty());
    assert!(fail("t2").is_empty(), "the builder has changed something");
    let asked = fail("t2");
    assert!(
        asked[0].contains("It failed on the same files before."),
        "{asked:?}"
    );
}

/// A builder may ask again when a check has failed, but only once per check.
#[test]
fn a_builder_asks_once_for_each_failed_check() {
    let mut machine = Machine::new(vec![leaf(2, &[], 1)], true);
    let ask = |machine: &mut Machine| {
        let before = machine.state.questions.len();
        machine.clarify(&builder(0));
        let asked = machine.state.questions.len() > before;
        machine.claim(&builder(0));
        asked
    };
    machine.claim(&builder(0));
    assert_eq!([ask(&mut machine), ask(&mut machine)], [true, false]);
    machine.submit(&builder(0));
    machine.judge(&id("2"), false);
    machine.claim(&builder(0));
    assert!(!ask(&mut machine), "a criterion is the builder's to meet");
    for tree in ["t1", "t2"] {
        machine.submit(&builder(0));
        machine.fail_by_command(&id("2"), tree);
        let question = machine.state.open_questions().last().unwrap().clone();
        answer(&mut machine, &question, AnswerChoice::SendBack);
        machine.claim(&builder(0));
        assert_eq!(
            [ask(&mut machine), ask(&mut machine)],
            [tree == "t1", false],
            "{tree}"
        );
    }
}

#[test]
fn what_the_verifier_says_is_asked_about_without_a_second_full_stop() {
    let mut machine = two_in_a_row();
    let opinion = |summary: &str| VerifierOpinion {
        judgements: vec![Judgement {
            criterion: 1,
            pass: false,
            evidence: "no.".into(),
        }],
        summary: summary.into(),
        tree: None,
    };
    for _ in 0..MAX_ITERATIONS {
        machine.claim(&builder(0));
        machine.submit(&builder(0));
        let events = machine
            .state
            .judge_task(&id("1"), None, opinion("It is `red`."), &["c".into()])
            .unwrap();
        machine.take(events);
    }
    let asked = machine.state.open_questions().next().unwrap();
    assert_eq!(
        asked.text,
        "Task 1 failed for good: Criterion 1 (c): no. The verifier says: \"It is `red`\". How should it continue?"
    );
    let question = asked.clone();
    answer(&mut machine, &question, AnswerChoice::Change);
    let task = machine.state.task(&id("1")).unwrap();
    assert_eq!((task.status, task.to_revise), (Status::Pending, true));
    let plain = Question::new(Topic::TaskFailed(id("1")), 1, "exit status 2.").text;
    assert_eq!(
        plain,
        "Task 1 failed for good: exit status 2. How should it continue?"
    );
}

#[test]
fn a_long_reason_is_cut_in_the_question_and_kept_in_the_task() {
    let asked_for = |output: &str| {
        let mut machine = two_in_a_row();
        machine.claim(&builder(0));
        let reason = format!("`x` failed: exit status 1\n{output}");
        machine.state.tasks[0].iteration = machine.state.iterations_of(&id("1"));
        let task = &machine.state.tasks[0];
        let events = machine.state.send_back(task, &reason, "");
        machine.take(events);
        assert_eq!(
            machine.state.task(&id("1")).unwrap().reason.as_deref(),
            Some(reason.as_str())
        );
        machine.state.open_questions().next().unwrap().text.clone()
    };
    let asked = asked_for(&("a word ".repeat(100) + "\n").repeat(100));
    assert!(asked.len() < 700 && !asked.contains('\n'), "{asked}");
    assert!(asked.ends_with("…. How should it continue?"), "{asked}");
    let asked = asked_for(&("a line\n".repeat(100) + "\nleft: 3\n2 failed\n"));
    assert_eq!(
        asked,
        "Task 1 failed for good: `x` failed: exit status 1; a line; a line; …; a line; left: 3; 2 failed. \
         How should it continue?"
    );
}
