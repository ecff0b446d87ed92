//! Tests a run step by step; the tests of each part are in the files below.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::drift::{Moved, SeenCommit};
use super::event::{
    Approve, Base, Decider, Entry, Event, ImportedTask, Judgement, LOG_VERSION, Leaf, RunTerms,
};
use super::inquiry::Extension;
use super::next::{LeadAction, LeadTurn, RunSurroundings};
use super::planning::{Planning, ROUNDS};
use super::question::{AnswerChoice, AnswerOption};
use super::ready::Obstacle;
use super::state::{CommitIntent, MeasuredWork, Role, State, Status, TaskState};
use super::verdict::VerifierOpinion;
use crate::critique::Critique;
use crate::hook::{LeadDue, lead_due, lead_stops};
use crate::verification::{Check, CheckVerdict};
use fp_plan::plan::id::{AgentName, PlanId, TaskId};
use fp_plan::plan::path::overlap;
use fp_plan::settings::ExtensionPolicy;

mod awaiting;
mod fleet;
mod judging;
mod laws;
mod machine;
mod payload;
mod processes;
mod rollback;
mod stale;

use machine::Machine;

const MAX_ITERATIONS: u32 = 2;
const BUILDERS: u32 = 3;
const NUDGES: u32 = 2;

fn id(text: &str) -> TaskId {
    TaskId::new(text).unwrap()
}

fn name(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

/// Maximum number of iterations of `task`; task 2 gets more, as a harder task.
fn iterations(task: &TaskId) -> u32 {
    if task.as_str() == "2" {
        MAX_ITERATIONS + 2
    } else {
        MAX_ITERATIONS
    }
}

fn start(session: &str) -> RunTerms {
    RunTerms {
        session: Some(session.into()),
        builders: BUILDERS,
        max_iterations: MAX_ITERATIONS,
        scaled_iterations: [(id("2"), iterations(&id("2")))].into(),
        ..RunTerms::default()
    }
}

fn leaf(number: usize, dependencies: &[usize], file: usize) -> Leaf {
    Leaf {
        id: id(&format!("{number}")),
        title: format!("task {number}"),
        hash: format!("h{number}"),
        dependencies: dependencies.iter().map(|d| id(&d.to_string())).collect(),
        after: Vec::new(),
        files: vec![format!("f{file}")],
        references: Vec::new(),
        stamps: None,
        exclusive: Vec::new(),
        complexity: 1,
        risky: false,
        contract: false,
        phase: 0,
    }
}

fn builder(number: u8) -> AgentName {
    name(&format!("builder-{}", number + 1))
}

fn two_in_a_row() -> Machine {
    Machine::new(vec![leaf(1, &[], 0), leaf(2, &[1], 1)], true)
}

#[test]
fn an_old_token_changes_nothing() {
    let mut machine = two_in_a_row();
    let owner = name("builder-1");
    machine.claim(&owner);
    let old = machine
        .state
        .held_by(&owner)
        .unwrap()
        .claim
        .clone()
        .unwrap()
        .token;
    machine.submit(&owner);
    machine.judge(&id("1"), false);
    let refusal = machine
        .state
        .submit(&id("1"), &old, MeasuredWork::default())
        .unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the claim on task 1 is not yours any more: its token has changed"
    );
}

#[test]
fn a_verdict_needs_every_check() {
    let mut machine = two_in_a_row();
    let owner = name("builder-1");
    machine.claim(&owner);
    machine.submit(&owner);
    let checks = vec![Check {
        name: "boundary".into(),
        verdict: CheckVerdict::Fail,
        detail: "x.rs".into(),
    }];
    let work = MeasuredWork {
        onto: None,
        tree: "t".into(),
        files: Vec::new(),
        checks,
    };
    machine.take(vec![Event::Verified {
        task: id("1"),
        iteration: 1,
        work,
    }]);
    let opinion = VerifierOpinion {
        judgements: vec![Judgement {
            criterion: 1,
            pass: true,
            evidence: "fine".into(),
        }],
        summary: String::new(),
        tree: None,
    };
    let events = machine
        .state
        .judge_task(&id("1"), None, opinion, &["c".into()])
        .unwrap();
    let Event::Judged { verdict, .. } = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(
        (verdict.pass, verdict.reasons.as_slice()),
        (false, &["Check boundary: x.rs".to_owned()][..])
    );
    machine.take(events);
    assert_eq!(
        machine.state.task(&id("1")).unwrap().status,
        Status::Implementing
    );
}

#[test]
fn a_task_comes_after_another_however_that_one_ended() {
    let follows = |number, dependencies: &[usize], before: &str| Leaf {
        after: vec![id(before)],
        ..leaf(number, dependencies, number)
    };
    let tree = vec![
        leaf(1, &[], 1),
        follows(2, &[], "1"),
        leaf(3, &[1], 3),
        follows(4, &[], "3"),
    ];
    let mut machine = Machine::new(tree, true);
    let ready = |machine: &Machine| {
        let ready = machine.state.ready(&BTreeSet::new());
        ready
            .iter()
            .map(|task| task.leaf.id.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(ready(&machine), ["1"]);
    let waits = machine
        .state
        .obstacles(&BTreeSet::new())
        .obstacle_to(machine.state.task(&id("2")).unwrap());
    assert_eq!(waits, Some(Obstacle::Waits { on: vec![id("1")] }));
    let events = machine.state.fail(&id("1"), "no").unwrap();
    machine.take(events);
    assert_eq!(
        machine.state.task(&id("3")).unwrap().status,
        Status::Skipped
    );
    assert_eq!(
        ready(&machine),
        ["2", "4"],
        "neither needs what failed or was skipped"
    );
    machine.check();
}

#[test]
fn a_retry_brings_back_exactly_what_was_skipped() {
    let tree = vec![
        leaf(1, &[], 0),
        leaf(2, &[], 1),
        leaf(3, &[1], 2),
        leaf(4, &[1, 2], 3),
        leaf(5, &[3], 4),
    ];
    let mut machine = Machine::new(tree, true);
    for failed in ["1", "2"] {
        let events = machine.state.fail(&id(failed), "no").unwrap();
        machine.take(events);
    }
    let statuses = |m: &Machine| {
        m.state
            .tasks
            .iter()
            .map(|t| t.status.into_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        statuses(&machine),
        ["failed", "failed", "skipped", "skipped", "skipped"]
    );
    let events = machine.state.retry(&id("1")).unwrap();
    machine.take(events);
    assert_eq!(
        statuses(&machine),
        ["waiting", "failed", "waiting", "skipped", "waiting"]
    );
    machine.check();
    let refusal = machine.state.retry(&id("4")).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "task 4 is skipped: it waits for a failed task, retry 2"
    );
}

#[test]
fn what_was_done_before_is_done_again_only_where_nothing_is_in_the_way() {
    let leaves = vec![leaf(1, &[], 0), leaf(2, &[1], 1), leaf(3, &[2], 2)];
    let mut machine = Machine::imported(leaves, true, &[1, 2]);
    let status = |machine: &Machine, task: &str| machine.state.task(&id(task)).unwrap().status;
    assert!(machine.state.task(&id("1")).unwrap().is_unverified());
    machine.claim(&name("builder-1"));
    assert_eq!(status(&machine, "3"), Status::Implementing);
    let refused = machine.state.retry(&id("1")).unwrap_err().to_string();
    assert_eq!(
        refused,
        "task 1 is done: task 3, which builds on it, is under way: release that first"
    );
    let events = machine.state.release(&id("3"), "later").unwrap();
    machine.take(events);
    let events = machine.state.retry(&id("1")).unwrap();
    machine.take(events);
    assert_eq!(
        (status(&machine, "1"), status(&machine, "2")),
        (Status::Pending, Status::Completed)
    );
    let events = machine.state.fail(&id("1"), "no").unwrap();
    machine.take(events);
    let refused = machine.state.retry(&id("2")).unwrap_err().to_string();
    assert_eq!(
        refused,
        "task 2 is done: it waits for 1, which is not done: retry that first"
    );
    machine.check();
}

#[test]
fn an_opinion_judges_each_criterion_once() {
    let check = |judged: &[usize], expect: Result<(), &str>| {
        let judgement = |n: &usize| Judgement {
            criterion: *n,
            pass: true,
            evidence: String::new(),
        };
        let opinion = VerifierOpinion {
            judgements: judged.iter().map(judgement).collect(),
            summary: String::new(),
            tree: None,
        };
        let found = opinion
            .check_complete(2)
            .map(|_| ())
            .map_err(|e| e.to_string());
        assert_eq!(found, expect.map_err(str::to_owned), "{judged:?}");
    };
    check(&[2, 1], Ok(()));
    check(&[1], Err("no judgement on criteria 2"));
    check(&[1, 2, 2], Err("criterion 2 is judged twice"));
    check(&[1, 2, 3], Err("there is no criterion 3: the task has 2"));
    check(&[0], Err("there is no criterion 0: the task has 2"));
}

#[test]
fn a_harder_task_has_more_iterations() {
    let mut machine = Machine::new(vec![leaf(1, &[], 0), leaf(2, &[], 1)], true);
    for task in ["1", "2"] {
        assert_eq!(
            machine.state.iterations_of(&id(task)),
            iterations(&id(task))
        );
        let mut judged = 0;
        while !machine.state.task(&id(task)).unwrap().status.is_final() {
            machine.claim(&name("builder-1"));
            machine.submit(&name("builder-1"));
            machine.judge(&id(task), false);
            judged += 1;
            assert!(judged < 10, "it never ends");
        }
        let ended = machine.state.task(&id(task)).unwrap();
        assert_eq!(
            (ended.status, ended.iteration),
            (Status::Failed, iterations(&id(task)))
        );
    }
    let replayed = State::replay(machine.state.plan_id.clone(), &machine.log);
    assert_eq!(replayed.iterations_of(&id("2")), MAX_ITERATIONS + 2);
    let events = machine.state.start(start("s0")).unwrap();
    assert!(events.is_empty(), "the same again is nothing new");
    let other = RunTerms {
        scaled_iterations: BTreeMap::new(),
        ..start("s0")
    };
    assert_eq!(
        machine.state.start(other).unwrap().len(),
        1,
        "other iterations are"
    );
}

#[test]
fn an_obstacle_says_why() {
    let tree = vec![
        leaf(1, &[], 0),
        leaf(2, &[1], 1),
        leaf(3, &[], 0),
        leaf(4, &[2], 2),
        leaf(5, &[], 3),
    ];
    let mut machine = Machine::new(tree, true);
    let base = Base {
        tree: "b".into(),
        head: "h".into(),
        worktree: None,
        around: None,
    };
    let events = machine
        .state
        .claim(
            &name("b"),
            Some(&id("1")),
            &BTreeSet::new(),
            "t".into(),
            base,
        )
        .unwrap()
        .1;
    machine.take(events);
    let edited: BTreeSet<TaskId> = [id("5"), id("1")].into();
    let check = |machine: &Machine, task: &str, expect: Option<Obstacle>| {
        let found = machine
            .state
            .obstacles(&edited)
            .obstacle_to(machine.state.task(&id(task)).unwrap());
        assert_eq!(found, expect, "{task}");
    };
    check(
        &machine,
        "1",
        Some(Obstacle::Held {
            by: Some(name("b")),
            status: Status::Implementing,
        }),
    );
    check(&machine, "2", Some(Obstacle::Waits { on: vec![id("1")] }));
    let file = machine.state.task(&id("3")).unwrap().leaf.files[0].clone();
    check(
        &machine,
        "3",
        Some(Obstacle::File {
            task: id("1"),
            file,
        }),
    );
    check(&machine, "5", Some(Obstacle::Edited));
    let events = machine.state.fail(&id("2"), "no").unwrap();
    machine.take(events);
    check(&machine, "2", Some(Obstacle::Failed));
    check(&machine, "4", Some(Obstacle::Blocked { by: id("2") }));
    assert_eq!(machine.state.bar(), None);
    let events = machine.state.cancel(Decider::User).unwrap();
    machine.take(events);
    assert_eq!(machine.state.bar(), Some(Obstacle::Over));
}

#[test]
fn a_worktree_begins_with_the_newest_commit_and_a_checkout_with_the_first() {
    let base = |tree: &str, worktree: Option<&str>| Base {
        tree: tree.into(),
        head: "h".into(),
        worktree: worktree.map(name),
        around: None,
    };
    let mut machine = two_in_a_row();
    let mut claim = |owner: &str, given: Base, expect: Base| {
        let (_, events) = machine
            .state
            .claim(&name(owner), None, &BTreeSet::new(), "t".into(), given)
            .unwrap();
        machine.take(events);
        assert_eq!(machine.state.task(&id("1")).unwrap().base, Some(expect));
        let events = machine.state.release(&id("1"), "no").unwrap();
        machine.take(events);
        machine.state.worktrees.clone()
    };
    claim("builder-1", base("a", None), base("a", None));
    let none = claim("builder-1", base("b", None), base("a", None));
    assert!(none.is_empty());
    claim(
        "builder-1",
        base("c", Some("builder-1")),
        base("c", Some("builder-1")),
    );
    let both = claim(
        "builder-2",
        base("d", Some("builder-2")),
        base("d", Some("builder-2")),
    );
    assert_eq!(
        both,
        [(name("builder-1"), id("1")), (name("builder-2"), id("1"))].into()
    );
    claim("builder-1", base("e", None), base("e", None));
    let events = machine.state.cancel(Decider::User).unwrap();
    machine.take(events);
    assert_eq!(
        machine.state.worktrees.len(),
        2,
        "what is in them is known until it is kept"
    );
}
