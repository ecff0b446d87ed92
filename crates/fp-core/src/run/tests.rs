//! The run as one machine: random commands in random order, and what must hold after each of them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::decide::{Approve, Start};
use super::drift::{Moved, SeenCommit};
use super::event::{Base, Decider, Entry, Event, ImportedTask, Judgement, LOG_VERSION, Leaf};
use super::inquiry::Extension;
use super::next::{Action, Surroundings, Turn};
use super::planning::{PASSES, Planning, ROUNDS, Seen};
use super::question::{Choice, label};
use super::ready::Obstacle;
use super::state::{State, Status};
use super::verdict::Opinion;
use crate::critique::Judged;
use crate::hook::Reply;
use crate::hook::lead::{Due, due, lead_stops};
use crate::plan::id::{AgentName, PlanId, TaskId};
use crate::plan::path::overlap;
use crate::settings::ExtensionPolicy;

mod excerpt;
mod judging;
mod messages;
mod payload;
mod rollback;
mod stale;

const MAX_ITERATIONS: u32 = 2;
const BUILDERS: u32 = 3;
const NUDGES: u32 = 2;

fn id(text: &str) -> TaskId {
    TaskId::new(text).unwrap()
}

fn name(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

/// The iterations of `task`: the second one is harder than the others.
fn iterations(task: &TaskId) -> u32 {
    if task.as_str() == "2" { MAX_ITERATIONS + 2 } else { MAX_ITERATIONS }
}

fn start(session: &str) -> Start {
    Start {
        session: Some(session.into()),
        builders: BUILDERS,
        max_iterations: MAX_ITERATIONS,
        scaled_iterations: [(id("2"), iterations(&id("2")))].into(),
        ..Start::default()
    }
}

fn leaf(number: usize, dependencies: &[usize], file: usize) -> Leaf {
    Leaf {
        id: id(&format!("{number}")),
        title: format!("task {number}"),
        hash: format!("h{number}"),
        dependencies: dependencies.iter().map(|d| id(&d.to_string())).collect(),
        files: vec![format!("f{file}")],
        references: Vec::new(),
        exclusive: Vec::new(),
        complexity: 1,
        phase: 0,
    }
}

/// A run in memory, with its log.
struct Machine {
    state: State,
    log: Vec<Entry>,
    tokens: u64,
    now: Timestamp,
    attended: bool,
    /// The tasks that were done before the plan was imported.
    done: BTreeSet<TaskId>,
    /// What a person has committed since `next` last looked.
    moved: Option<Moved>,
}

impl Machine {
    fn new(leaves: Vec<Leaf>, attended: bool) -> Self {
        Self::imported(leaves, attended, &[])
    }

    /// A run of a plan of which the tasks `done` were done before it was imported.
    fn imported(leaves: Vec<Leaf>, attended: bool, done: &[usize]) -> Self {
        let plan = PlanId::new("p").unwrap();
        let mut machine = Self {
            state: State::new(plan),
            log: Vec::new(),
            tokens: 0,
            now: "2026-11-21T00:00:00Z".parse().unwrap(),
            attended,
            done: done.iter().map(|number| id(&number.to_string())).collect(),
            moved: None,
        };
        let tasks: Vec<ImportedTask> = leaves
            .iter()
            .filter(|leaf| machine.done.contains(&leaf.id))
            .map(|leaf| ImportedTask { task: leaf.id.clone(), title: leaf.title.clone(), commit: None })
            .collect();
        machine.take(vec![Event::Imported { from: "json".into(), tasks }]);
        let approve = Approve { tree_hash: "t".into(), leaves, base: None, by: Decider::User };
        let events = machine.state.approve(approve).unwrap();
        machine.take(events);
        machine.start("s0");
        machine
    }

    fn take(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let entry = Entry { schema_version: LOG_VERSION, seq: self.state.seq + 1, at: self.now, events };
        self.state.apply(&entry);
        self.log.push(entry);
    }

    fn start(&mut self, session: &str) {
        let events = self.state.start(start(session)).unwrap();
        self.take(events);
    }

    fn token(&mut self) -> String {
        self.tokens += 1;
        format!("t{}", self.tokens)
    }

    fn next(&mut self, ended: &[AgentName]) -> Vec<Action> {
        let turn = self.killed_next(ended);
        self.take(turn.told());
        turn.actions
    }

    /// A `next` that is killed before it shows anything.
    fn killed_next(&mut self, ended: &[AgentName]) -> Turn {
        let moved = self.moved.take();
        let around = self.around(moved);
        let turn = self.state.next(ended, &around).unwrap();
        self.take(turn.events.clone());
        turn
    }

    /// Whatever the lead was told to start shows that it was started.
    fn start_agents(&mut self) {
        let started = self.state.unstarted.iter().map(|unstarted| unstarted.name.clone());
        let known = started.map(|name| Event::AgentKnown { id: format!("id of {name}"), name });
        self.take(known.collect());
    }

    /// A lead that starts nothing of what it is told and stops: it is told all of it again, unless it was so often
    /// enough.
    fn forgetful_next(&mut self) {
        let starts = |action: &Action| matches!(action, Action::Spawn { .. } | Action::Verify { .. });
        let due: Vec<Action> = self.next(&[]).into_iter().filter(starts).collect();
        if self.lead_stops().1 {
            let again = self.next(&[]);
            assert!(due.iter().all(|action| again.contains(action)), "{due:?} is due, and told is {again:?}");
        } else {
            assert!(due.is_empty() || self.state.lead_nudges == NUDGES, "{due:?} is forgotten");
        }
    }

    fn around(&mut self, moved: Option<Moved>) -> Surroundings {
        Surroundings {
            now: self.now,
            attended: self.attended,
            nudges: NUDGES,
            timeout: SignedDuration::from_mins(30),
            edited: BTreeSet::new(),
            moved,
            token: self.token(),
        }
    }

    /// The lead ends its turn: what was due, and whether it was told so.
    fn lead_stops(&mut self) -> (Due, bool) {
        let around = self.around(None);
        let due = due(&self.state, &around);
        let decision = lead_stops(&self.state, due, NUDGES, true);
        self.take(decision.events);
        (due, decision.reply != Reply::Silent)
    }

    fn claim(&mut self, owner: &AgentName) -> bool {
        let token = self.token();
        let base = Base { tree: "b".into(), head: "h".into(), worktree: None, around: None };
        match self.state.claim(owner, None, &BTreeSet::new(), token, base) {
            Ok((_, events)) => {
                self.take(events);
                true
            }
            Err(_) => false,
        }
    }

    fn submit(&mut self, owner: &AgentName) {
        let Some(task) = self.state.held_by(owner).filter(|t| t.status == Status::Implementing) else {
            return;
        };
        let (id, token) = (task.leaf.id.clone(), task.claim.clone().unwrap().token);
        let events = self.state.submit(&id, &token, "tree".into(), Vec::new()).unwrap();
        self.take(events);
    }

    /// A person commits a change of `file`.
    fn commit(&mut self, file: &str) {
        self.tokens += 1;
        let hash = format!("c{}", self.tokens);
        let commit = SeenCommit { told: hash.clone(), hash: hash.clone(), files: vec![file.into()] };
        let moved = self.moved.get_or_insert(Moved { head: String::new(), commits: Vec::new() });
        moved.head = hash;
        moved.commits.push(commit);
    }

    fn clarify(&mut self, owner: &AgentName) {
        let Some(id) = self.state.held_by(owner).map(|t| t.leaf.id.clone()) else { return };
        let option = |label: &str| Choice { label: label.into(), description: String::new() };
        let events = self.state.clarify(&id, owner, "Which?", vec![option("a"), option("b")]);
        self.take(events.unwrap_or_default());
    }

    fn extend(&mut self, owner: &AgentName, path: &str) {
        let Some(task) = self.state.held_by(owner) else { return };
        let (id, token) = (task.leaf.id.clone(), task.claim.clone().unwrap().token);
        match self.state.extend(&id, &token, path, "because", (ExtensionPolicy::Allow, ".plans")) {
            Ok(Extension::Allowed(events) | Extension::Asked(_, events)) => self.take(events),
            Ok(Extension::Listed) | Err(_) => {}
        }
    }

    fn judge(&mut self, task: &TaskId, pass: bool) {
        self.judge_and_commit(task, pass, false);
    }

    /// A pass is followed by its commit, or by the task going back since it `conflicts` with newer commits.
    fn judge_and_commit(&mut self, task: &TaskId, pass: bool, conflicts: bool) {
        let token = self.token();
        let opinion = Opinion {
            judgements: vec![Judgement { criterion: 1, pass, evidence: "seen".into() }],
            summary: String::new(),
        };
        if let Ok(events) = self.state.judge(task, None, opinion, &["c".into()], token) {
            self.take(events);
            if pass && conflicts {
                let token = self.token();
                let base = Base {
                    tree: "c".into(),
                    head: "d".into(),
                    worktree: Some(name("builder-1")),
                    around: None,
                };
                let events = self.state.conflict(task, "it does not fit", base, token).unwrap();
                self.take(events);
            } else if pass {
                let events = self.state.complete(task, Some("c0ffee".into()), None).unwrap();
                self.take(events);
            }
        }
    }

    fn awaiting(&self) -> Option<TaskId> {
        let mut due = self.state.tasks.iter().filter(|t| t.status == Status::AwaitingVerification);
        due.next().map(|t| t.leaf.id.clone())
    }

    /// What must hold at any time.
    fn check(&self) {
        let running: Vec<_> = self.state.running().collect();
        let mut owners = BTreeSet::new();
        for (i, task) in running.iter().enumerate() {
            let claim = task.claim.as_ref().expect("a running task has an owner");
            assert!(owners.insert(claim.owner.clone()), "{} owns two tasks", claim.owner);
            for other in &running[i + 1..] {
                let (one, two): (Vec<&str>, Vec<&str>) = (task.held().collect(), other.held().collect());
                assert!(!overlap(&one, &two), "two running tasks share a file");
            }
        }
        for task in self.state.tasks.iter().filter(|t| t.status.is_running() || t.status == Status::Completed)
        {
            // What was done before need not have waited for anything, and can be done again after what waited for it.
            let built = task.leaf.dependencies.iter().filter(|dependency| {
                task.status.is_running() || !(task.imported || self.done.contains(*dependency))
            });
            for dependency in built {
                let status = self.state.task(dependency).unwrap().status;
                assert_eq!(status, Status::Completed, "{} runs before {dependency}", task.leaf.id);
            }
        }
        for task in &self.state.tasks {
            assert!(
                task.iteration <= iterations(&task.leaf.id),
                "{} has iteration {}",
                task.leaf.id,
                task.iteration
            );
            assert_eq!(task.claim.is_some(), task.status.is_running(), "{} {:?}", task.leaf.id, task.status);
        }
        let mut blocked: BTreeSet<TaskId> = BTreeSet::new();
        for task in self.state.tasks.iter().filter(|t| t.status == Status::Failed) {
            blocked.extend(self.state.blocked_by(&task.leaf.id));
        }
        let of = |status| {
            let tasks = self.state.tasks.iter().filter(move |t| t.status == status);
            tasks.map(|t| t.leaf.id.clone()).collect::<BTreeSet<_>>()
        };
        let failed = of(Status::Failed);
        let expected: BTreeSet<TaskId> = blocked.difference(&failed).cloned().collect();
        assert_eq!(of(Status::Skipped), expected, "skipped is exactly what waits for a failed task");
        let Planning { passes, rounds, .. } = &self.state.planning;
        assert!(*passes <= PASSES && *rounds <= ROUNDS, "{passes} passes, {rounds} rounds");
        let replayed = State::replay(self.state.plan_id.clone(), &self.log);
        assert_eq!(replayed, self.state, "replaying the log gives the state");
    }
}

/// A step of somebody: the numbers choose who and how.
#[derive(Debug, Clone, Copy)]
enum Step {
    Next,
    KilledNext,
    ForgetfulNext,
    Ended(u8),
    Claim(u8),
    Submit(u8),
    Judge(bool),
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
    Tell(u8, u8),
    LeadStops,
    Takeover,
    Later,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Next),
        1 => Just(Step::KilledNext),
        1 => Just(Step::ForgetfulNext),
        2 => (0..3u8).prop_map(Step::Ended),
        5 => (0..3u8).prop_map(Step::Claim),
        5 => (0..3u8).prop_map(Step::Submit),
        5 => any::<bool>().prop_map(Step::Judge),
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
        3 => (0..3u8, 0..4u8).prop_map(|(from, to)| Step::Tell(from, to)),
        1 => Just(Step::LeadStops),
        1 => any::<bool>().prop_map(Step::Interview),
        1 => Just(Step::Takeover),
        1 => Just(Step::Later),
    ]
}

fn builder(number: u8) -> AgentName {
    name(&format!("builder-{}", number + 1))
}

fn play(machine: &mut Machine, step: Step, sessions: &mut u32) {
    match step {
        Step::Next => {
            machine.next(&[]);
            machine.start_agents();
            let again = machine.next(&[]);
            let starts = again
                .iter()
                .any(|a| matches!(a, Action::Spawn { .. } | Action::Resume { .. } | Action::Verify { .. }));
            assert!(!again.is_empty(), "next is never silent");
            assert!(!starts, "asked again, next hands nothing out twice: {again:?}");
            assert_ne!(machine.lead_stops().0, Due::Work, "who has done it all may stop: {again:?}");
        }
        Step::ForgetfulNext => machine.forgetful_next(),
        Step::KilledNext => {
            machine.killed_next(&[]);
        }
        Step::Ended(n) => {
            machine.next(&[builder(n)]);
        }
        Step::Claim(n) => {
            machine.claim(&builder(n));
        }
        Step::Submit(n) => machine.submit(&builder(n)),
        Step::Conflict => {
            if let Some(task) = machine.awaiting() {
                machine.judge_and_commit(&task, true, true);
            }
        }
        Step::Judge(pass) => {
            if let Some(task) = machine.awaiting() {
                machine.judge(&task, pass);
            }
        }
        Step::Fail(n) => {
            let events = machine.state.fail(&id(&(n + 1).to_string()), "no").unwrap_or_default();
            machine.take(events);
        }
        Step::Retry(n) => {
            let events = machine.state.retry(&id(&(n + 1).to_string())).unwrap_or_default();
            machine.take(events);
        }
        Step::Release(n) => {
            let events = machine.state.release(&id(&(n + 1).to_string()), "no").unwrap_or_default();
            machine.take(events);
        }
        Step::RollBack(n, meanwhile) => {
            rollback::roll_back(machine, &id(&(n + 1).to_string()), &builder(meanwhile));
        }
        Step::Answer(n) => {
            let Some(question) = machine.state.open_questions().next().cloned() else { return };
            let option = &question.options[usize::from(n) % question.options.len()];
            if option.label == label::STOP {
                return;
            }
            let token = machine.token();
            let choice = [option.label.clone()];
            let events = machine.state.answer(&question.id, &choice, Decider::User, token).unwrap();
            machine.take(events);
        }
        Step::Clarify(n) => machine.clarify(&builder(n)),
        Step::Extend(n, file) => machine.extend(&builder(n), &format!("f{file}")),
        Step::Commit(file) => machine.commit(&format!("f{file}")),
        Step::Validate(tree, valid) => {
            let failing: BTreeSet<String> = (!valid).then(|| "a-rule".to_owned()).into_iter().collect();
            let seen = Seen { tree_hash: tree.to_string(), errors: failing.len(), warnings: 0, failing };
            machine.take(machine.state.planning.count(&seen).into_iter().collect());
        }
        Step::Criticise(tree) => {
            let judged = Judged { leaves: 6, findings: Vec::new() };
            let critique = machine.state.criticise(tree.to_string(), judged);
            machine.take(critique.ok().map(Event::from).into_iter().collect());
        }
        Step::Tell(from, to) => messages::tell(machine, &builder(from), to),
        Step::LeadStops => {
            let told: Vec<bool> = (0..=NUDGES).map(|_| machine.lead_stops().1).collect();
            assert!(!told[2], "it is told {NUDGES} times, as long as nothing else happens");
            let is_due = machine.lead_stops().0 == Due::Work;
            let asked = machine.state.lead_nudges;
            assert!(!is_due || asked == NUDGES, "what is due is said: {asked}");
        }
        Step::Interview(by_user) => {
            let before = machine.state.clone();
            let by = if by_user { Decider::User } else { Decider::Auto };
            machine.take(vec![Event::Interviewed { by }]);
            let (rounds, told) = (machine.state.interview_rounds, before.interview_rounds);
            assert_eq!(rounds.user + rounds.auto, told.user + told.auto + 1);
            let mut expected = State { seq: machine.state.seq, last_at: machine.state.last_at, ..before };
            expected.interview_rounds = machine.state.interview_rounds;
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

/// Six tasks, whose dependencies point backwards, on three files.
fn leaves() -> impl Strategy<Value = Vec<Leaf>> {
    let one = |number: usize| {
        (proptest::collection::btree_set(1..number.max(2), 0..number.min(3)), 0..3usize).prop_map(
            move |(dependencies, file)| {
                let dependencies: Vec<usize> = dependencies.into_iter().filter(|d| *d < number).collect();
                leaf(number, &dependencies, file)
            },
        )
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
        messages::check(&machine);
    }

    /// Agents that die at random moments, unattended: some later `next` always brings the run on, to its end.
    #[test]
    fn every_run_ends(
        leaves in leaves(),
        done in proptest::sample::subsequence((1..=6).collect::<Vec<usize>>(), 0..=2),
        fates in proptest::collection::vec(0..6u8, 40),
        lead_judges in proptest::bool::ANY,
    ) {
        let mut machine = Machine::imported(leaves, false, &done);
        let events = machine.state.start(Start { lead_judges, ..start("s0") }).unwrap();
        machine.take(events);
        let mut fates = fates.into_iter().cycle();
        let mut ended = Vec::new();
        for _ in 0..400 {
            if fates.next() == Some(5) {
                machine.commit("f1");
            }
            if fates.next() == Some(0) {
                machine.killed_next(&std::mem::take(&mut ended));
            }
            let actions = machine.next(&std::mem::take(&mut ended));
            machine.check();
            for action in actions {
                match action {
                    Action::Finish { .. } => return Ok(()),
                    Action::Spawn { name, .. } | Action::Resume { name, .. } => {
                        work(&mut machine, &name, fates.next().unwrap());
                        ended.push(name);
                    }
                    Action::Verify { name, task, .. } => {
                        match fates.next().unwrap() {
                            0 => {}
                            fate => machine.judge(&task, fate > 2),
                        }
                        ended.push(name);
                    }
                    Action::Judge { task, .. } => match fates.next().unwrap() {
                        0 => {}
                        fate => machine.judge(&task, fate > 2),
                    },
                    Action::Wait { on } => prop_assert!(!on.is_empty()),
                    Action::Ask { .. } => prop_assert!(false, "nobody can be asked"),
                    Action::Deadlock { chain } => prop_assert!(false, "deadlock: {chain:?}"),
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
        *counts.entry(task.status.word()).or_default() += 1;
    }
    counts
}

fn two_in_a_row() -> Machine {
    Machine::new(vec![leaf(1, &[], 0), leaf(2, &[1], 1)], true)
}

#[test]
fn an_old_token_changes_nothing() {
    let mut machine = two_in_a_row();
    let owner = name("builder-1");
    machine.claim(&owner);
    let old = machine.state.held_by(&owner).unwrap().claim.clone().unwrap().token;
    machine.submit(&owner);
    machine.judge(&id("1"), false);
    let refusal = machine.state.submit(&id("1"), &old, "t".into(), Vec::new()).unwrap_err();
    assert_eq!(refusal.to_string(), "the claim on task 1 is not yours any more: its token has changed");
}

#[test]
fn a_verdict_needs_every_check() {
    use crate::verification::{Check, CheckVerdict};
    let mut machine = two_in_a_row();
    let owner = name("builder-1");
    machine.claim(&owner);
    machine.submit(&owner);
    let checks = vec![Check { name: "boundary".into(), verdict: CheckVerdict::Fail, detail: "x.rs".into() }];
    let verified =
        Event::Verified { task: id("1"), iteration: 1, tree: "t".into(), files: Vec::new(), checks };
    machine.take(vec![verified]);
    let opinion = Opinion {
        judgements: vec![Judgement { criterion: 1, pass: true, evidence: "fine".into() }],
        summary: String::new(),
    };
    let events = machine.state.judge(&id("1"), None, opinion, &["c".into()], "t9".into()).unwrap();
    assert!(
        matches!(&events[0], Event::Judged { pass: false, reasons, .. } if reasons == &["Check boundary: x.rs"])
    );
    machine.take(events);
    assert_eq!(machine.state.task(&id("1")).unwrap().status, Status::Implementing);
}

#[test]
fn a_retry_brings_back_exactly_what_was_skipped() {
    let tree =
        vec![leaf(1, &[], 0), leaf(2, &[], 1), leaf(3, &[1], 2), leaf(4, &[1, 2], 3), leaf(5, &[3], 4)];
    let mut machine = Machine::new(tree, true);
    for failed in ["1", "2"] {
        let events = machine.state.fail(&id(failed), "no").unwrap();
        machine.take(events);
    }
    let statuses = |m: &Machine| m.state.tasks.iter().map(|t| t.status.word()).collect::<Vec<_>>();
    assert_eq!(statuses(&machine), ["FAILED", "FAILED", "SKIPPED", "SKIPPED", "SKIPPED"]);
    let events = machine.state.retry(&id("1")).unwrap();
    machine.take(events);
    assert_eq!(statuses(&machine), ["PENDING", "FAILED", "PENDING", "SKIPPED", "PENDING"]);
    machine.check();
    let refusal = machine.state.retry(&id("4")).unwrap_err();
    assert_eq!(refusal.to_string(), "task 4 is SKIPPED: it waits for a failed task, retry 2");
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
    assert_eq!(refused, "task 1 is COMPLETED: task 3, which builds on it, is under way: release that first");
    let events = machine.state.release(&id("3"), "later").unwrap();
    machine.take(events);
    let events = machine.state.retry(&id("1")).unwrap();
    machine.take(events);
    assert_eq!((status(&machine, "1"), status(&machine, "2")), (Status::Pending, Status::Completed));
    let events = machine.state.fail(&id("1"), "no").unwrap();
    machine.take(events);
    let refused = machine.state.retry(&id("2")).unwrap_err().to_string();
    assert_eq!(refused, "task 2 is COMPLETED: it waits for 1, which is not done: retry that first");
    machine.check();
}

#[test]
fn an_opinion_judges_each_criterion_once() {
    let check = |judged: &[usize], expect: Result<(), &str>| {
        let judgement = |n: &usize| Judgement { criterion: *n, pass: true, evidence: String::new() };
        let opinion = Opinion { judgements: judged.iter().map(judgement).collect(), summary: String::new() };
        let found = opinion.complete(2).map(|_| ()).map_err(|e| e.to_string());
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
        assert_eq!(machine.state.iterations_of(&id(task)), iterations(&id(task)));
        let mut judged = 0;
        while !machine.state.task(&id(task)).unwrap().status.is_final() {
            machine.claim(&name("builder-1"));
            machine.submit(&name("builder-1"));
            machine.judge(&id(task), false);
            judged += 1;
            assert!(judged < 10, "it never ends");
        }
        let ended = machine.state.task(&id(task)).unwrap();
        assert_eq!((ended.status, ended.iteration), (Status::Failed, iterations(&id(task))));
    }
    let replayed = State::replay(machine.state.plan_id.clone(), &machine.log);
    assert_eq!(replayed.iterations_of(&id("2")), MAX_ITERATIONS + 2);
    let events = machine.state.start(start("s0")).unwrap();
    assert!(events.is_empty(), "the same again is nothing new");
    let other = Start { scaled_iterations: BTreeMap::new(), ..start("s0") };
    assert_eq!(machine.state.start(other).unwrap().len(), 1, "other iterations are");
}

#[test]
fn an_obstacle_says_why() {
    let tree = vec![leaf(1, &[], 0), leaf(2, &[1], 1), leaf(3, &[], 0), leaf(4, &[2], 2), leaf(5, &[], 3)];
    let mut machine = Machine::new(tree, true);
    let base = Base { tree: "b".into(), head: "h".into(), worktree: None, around: None };
    let events =
        machine.state.claim(&name("b"), Some(&id("1")), &BTreeSet::new(), "t".into(), base).unwrap().1;
    machine.take(events);
    let edited: BTreeSet<TaskId> = [id("5"), id("1")].into();
    let check = |machine: &Machine, task: &str, expect: Option<Obstacle>| {
        let found = machine.state.obstacles(&edited).of(machine.state.task(&id(task)).unwrap());
        assert_eq!(found, expect, "{task}");
    };
    check(&machine, "1", Some(Obstacle::Held { by: Some(name("b")), status: Status::Implementing }));
    check(&machine, "2", Some(Obstacle::Waits { on: vec![id("1")] }));
    let file = machine.state.task(&id("3")).unwrap().leaf.files[0].clone();
    check(&machine, "3", Some(Obstacle::File { task: id("1"), file }));
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
        let (_, events) =
            machine.state.claim(&name(owner), None, &BTreeSet::new(), "t".into(), given).unwrap();
        machine.take(events);
        assert_eq!(machine.state.task(&id("1")).unwrap().base, Some(expect));
        let events = machine.state.release(&id("1"), "no").unwrap();
        machine.take(events);
        machine.state.worktrees.clone()
    };
    claim("builder-1", base("a", None), base("a", None));
    let none = claim("builder-1", base("b", None), base("a", None));
    assert!(none.is_empty());
    claim("builder-1", base("c", Some("builder-1")), base("c", Some("builder-1")));
    let both = claim("builder-2", base("d", Some("builder-2")), base("d", Some("builder-2")));
    assert_eq!(both, [(name("builder-1"), id("1")), (name("builder-2"), id("1"))].into());
    claim("builder-1", base("e", None), base("e", None));
    let events = machine.state.cancel(Decider::User).unwrap();
    machine.take(events);
    assert_eq!(machine.state.worktrees.len(), 2, "what is in them is known until it is kept");
}
