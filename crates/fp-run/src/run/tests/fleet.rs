//! Laws of a shared plan. Several machines, each with its own view, use one register with compare-and-swap, whose
//! responses may get lost and whose requests may arrive late.

use std::collections::BTreeMap;

use fp_plan::plan::id::MachineId;
use fp_plan::repo_path::RepoPath;
use proptest::prelude::*;

use super::laws::{Step, leaves, play, step};
use super::*;
use crate::run::fleet::still_waiting;
use crate::run::question::{Question, Topic};
use crate::run::state::{CommitIntent, Granted, MeasuredWork, TaskVerdict};

const MACHINES: usize = 3;

/// The fate of a push.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Arrives,
    /// The register accepts the push, but the machine never receives the response.
    AnswerLost,
    /// The push stays in flight until something else has been done.
    Late,
    /// The push never arrives.
    Lost,
    /// The machine dies right after the push is delivered, and restarts.
    Dies,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        12 => Just(Fate::Arrives),
        1 => Just(Fate::AnswerLost),
        1 => Just(Fate::Late),
        1 => Just(Fate::Lost),
        1 => Just(Fate::Dies),
    ]
}

/// A push: the expected length of the register, and the entries.
type Push = (usize, Vec<Entry>);

/// One machine: the part of the register that it has seen, and its waiting entries.
#[derive(Clone)]
struct Replica {
    machine: Machine,
    base: State,
    seen: usize,
    waiting: Vec<Entry>,
    /// Pushes based on `seen` whose outcome is unknown, each with the number of waiting entries that it contains.
    in_flight: Vec<(Vec<Entry>, usize)>,
    sessions: u32,
}

struct Fleet {
    register: Vec<Entry>,
    replicas: Vec<Replica>,
    late: Vec<Push>,
    /// The register as seen by an observer that doesn't take part in the run.
    observer: Machine,
    /// Number of entries in the register that the stranger wrote.
    forged: u64,
}

const STRANGER: &str = "stranger";

/// An event about `task` from the stranger, which never held that task.
fn forged(kind: u8, task: TaskId) -> Event {
    let (tree, files, checks) = (String::from("theirs"), Vec::new(), Vec::new());
    let (reason, path) = (String::from("no"), String::from("ci.yml"));
    match kind {
        0 => Event::Submitted {
            checks: Vec::new(),
            task,
            owner: AgentName::new("m0-builder-1").unwrap(),
            tree,
            files,
        },
        1 => Event::Verified {
            task,
            iteration: 1,
            work: MeasuredWork {
                onto: None,
                tree,
                files,
                checks,
            },
        },
        2 => {
            let (judgements, reasons) = (Vec::new(), Vec::new());
            let summary = "fine".into();
            Event::Judged {
                task,
                verdict: TaskVerdict {
                    iteration: 1,
                    pass: true,
                    judgements,
                    summary,
                    reasons,
                },
            }
        }
        3 => Event::SentBack {
            task,
            iteration: 1,
            token: None,
            feedback: reason,
            base: None,
        },
        4 => Event::CommitStarted {
            task,
            intent: CommitIntent {
                files: vec![path],
                message: reason,
                head: tree,
            },
        },
        5 => Event::CommitBlocked { task, reason },
        6 => Event::Completed {
            task,
            commit: Some("c0ffee".into()),
            note: None,
        },
        7 => Event::ScopeExtended {
            task,
            granted: Granted {
                path,
                reason,
                by: Decider::User,
            },
        },
        8 => Event::ChecksDropped {
            task,
            commands: ["make".to_owned()].into(),
            by: Decider::User,
        },
        _ => Event::Edited {
            task,
            path: RepoPath::from_text(&path),
        },
    }
}

fn joined(number: usize, head: &str) -> Vec<Event> {
    let _ = number;
    vec![Event::Joined { head: head.into() }]
}

impl Fleet {
    fn new(leaves: Vec<Leaf>) -> Self {
        let first = Machine::new(leaves, false);
        let mut fleet = Self {
            register: first.log.clone(),
            replicas: Vec::new(),
            late: Vec::new(),
            observer: first,
            forged: 0,
        };
        fleet.observer.state.machine = None;
        for number in 0..MACHINES {
            let name = MachineId::new(format!("m{number}")).unwrap();
            let mut base = State::new(PlanId::new("p").unwrap());
            base.machine = Some(name.clone());
            fleet.register.iter().for_each(|entry| base.apply(entry));
            let by = Some(crate::run::event::EntryOrigin {
                machine: name,
                number: 1,
            });
            let entry = Entry {
                schema_version: LOG_VERSION,
                seq: base.seq + 1,
                at: fleet.observer.now,
                clock: None,
                by,
                events: joined(number, "h"),
            };
            base.apply(&entry);
            fleet.register.push(entry);
            let machine = Machine {
                state: base.clone(),
                log: Vec::new(),
                ..fleet.observer.clone()
            };
            let seen = fleet.register.len();
            let (waiting, in_flight) = (Vec::new(), Vec::new());
            fleet.replicas.push(Replica {
                machine,
                base,
                seen,
                waiting,
                in_flight,
                sessions: 0,
            });
        }
        for number in 0..MACHINES {
            fleet.sync(number);
            let start = Step::Takeover;
            fleet.act(number, start, Fate::Arrives);
        }
        fleet
    }

    /// Brings a machine up to date with the register.
    fn sync(&mut self, number: usize) {
        let register = &self.register;
        let replica = &mut self.replicas[number];
        let news = register[replica.seen..].to_vec();
        let same = |entries: &[Entry]| {
            let ids = |entries: &[Entry]| {
                entries
                    .iter()
                    .map(|e| (e.by.clone(), e.events.clone()))
                    .collect::<Vec<_>>()
            };
            news.len() >= entries.len() && ids(&news[..entries.len()]) == ids(entries)
        };
        let landed = replica
            .in_flight
            .iter()
            .find(|(entries, _)| same(entries))
            .cloned();
        for entry in &news {
            let own = entry
                .by
                .as_ref()
                .is_some_and(|by| Some(&by.machine) == replica.base.machine.as_ref());
            assert!(
                !own || landed.is_some(),
                "a machine meets entries of its own that it never wrote"
            );
            replica.base.apply(entry);
        }
        let lost = replica.machine.state.lost_since(&replica.base);
        let completed = |id: &TaskId| {
            let task = replica.base.task(id).unwrap();
            task.status == Status::Completed && replica.base.is_own(task)
        };
        assert!(
            !lost.iter().any(completed),
            "what a machine has completed itself is not lost to it: {lost:?}"
        );
        let dropped = landed.map_or(0, |(_, waited)| waited);
        let waiting = replica
            .waiting
            .split_off(dropped.min(replica.waiting.len()));
        let waiting = still_waiting(waiting, &lost);
        if !news.is_empty() {
            replica.in_flight.clear();
        }
        replica.seen = register.len();
        replica.show(waiting);
    }

    fn deliver(&mut self, (seen, entries): Push) -> bool {
        let is_taken = seen == self.register.len();
        if is_taken {
            self.register.extend(entries);
        }
        is_taken
    }

    /// Lets a machine take a step. Events whose order matters to other machines happen only if the register accepts
    /// them.
    fn act(&mut self, number: usize, step: Step, fate: Fate) {
        let replica = &mut self.replicas[number];
        if !replica.machine.state.is_running() && !matches!(step, Step::Takeover) {
            return;
        }
        // A turn of the lead begins with the commits that are due.
        let passed = replica
            .machine
            .state
            .own_running()
            .find(|task| task.awaits_commit());
        if let Some(id) = passed.map(|task| task.leaf.id.clone()) {
            let mut tried = replica.machine.clone();
            let events = tried
                .state
                .complete(&id, Some("c0ffee".into()), None)
                .unwrap();
            tried.log.clear();
            tried.take(events);
            return self.bring(number, tried, fate);
        }
        let mut tried = replica.machine.clone();
        tried.log.clear();
        play(&mut tried, step, &mut replica.sessions);
        self.bring(number, tried, fate);
    }

    /// Keeps the entries of `tried` that may wait, and pushes the others.
    fn bring(&mut self, number: usize, mut tried: Machine, fate: Fate) {
        for entry in std::mem::take(&mut tried.log) {
            let replica = &mut self.replicas[number];
            if entry.events.iter().all(Event::may_wait) {
                let mut waiting = std::mem::take(&mut replica.waiting);
                waiting.push(entry);
                replica.show(waiting);
                continue;
            }
            let waited = replica.waiting.len();
            let mut entries = replica.waiting.clone();
            // The entry was decided on this state, including all waiting entries.
            assert_eq!(entry.seq, replica.machine.state.seq + 1);
            entries.push(entry);
            replica.in_flight.push((entries.clone(), waited));
            let push = (replica.seen, entries.clone());
            match fate {
                Fate::Lost => return,
                Fate::Late => {
                    self.late.push(push);
                    return;
                }
                Fate::AnswerLost => {
                    self.deliver(push);
                    return;
                }
                Fate::Dies => {
                    self.deliver(push);
                    self.replicas[number].die();
                    return;
                }
                Fate::Arrives => {}
            }
            if !self.deliver(push) {
                self.replicas[number].in_flight.pop();
                self.sync(number);
                return;
            }
            let replica = &mut self.replicas[number];
            entries.iter().for_each(|entry| replica.base.apply(entry));
            replica.seen += entries.len();
            replica.in_flight.clear();
            replica.show(Vec::new());
        }
        let replica = &mut self.replicas[number];
        (
            replica.machine.now,
            replica.machine.tokens,
            replica.machine.moved,
        ) = (tried.now, tried.tokens, tried.moved);
    }

    /// A machine gives up on another that has been silent for too long.
    fn give_up(&mut self, number: usize, silent: usize) {
        let silent = self.replicas[silent].base.machine.clone().unwrap();
        let replica = &mut self.replicas[number];
        if !replica.machine.state.is_running() || replica.base.machine.as_ref() == Some(&silent) {
            return;
        }
        let around = RunSurroundings {
            silent: [silent].into(),
            ..replica.machine.around(None)
        };
        let turn = replica.machine.state.next(&[], &around).unwrap();
        let mut tried = replica.machine.clone();
        tried.log.clear();
        tried.take(turn.events);
        let Some(entry) = tried.log.pop() else { return };
        if entry.events.iter().all(Event::may_wait) {
            return;
        }
        let waited = replica.waiting.clone();
        let push = (
            replica.seen,
            waited.into_iter().chain([entry]).collect::<Vec<_>>(),
        );
        let entries = push.1.clone();
        if !self.deliver(push) {
            self.sync(number);
            return;
        }
        let replica = &mut self.replicas[number];
        entries.iter().for_each(|entry| replica.base.apply(entry));
        replica.seen += entries.len();
        replica.in_flight.clear();
        replica.show(Vec::new());
    }

    /// Pushes arbitrary events from someone who has push access but takes no part in the work.
    fn forge(&mut self, events: Vec<Event>) {
        self.forged += 1;
        let machine = MachineId::new(STRANGER).unwrap();
        let by = Some(crate::run::event::EntryOrigin {
            machine,
            number: self.forged,
        });
        let last = self.register.last().unwrap();
        self.register.push(Entry {
            seq: last.seq + 1,
            clock: None,
            by,
            events,
            ..last.clone()
        });
    }

    fn check(&mut self) {
        let seen = self.observer.log.len();
        let news: Vec<Entry> = self.register[seen.min(self.register.len())..].to_vec();
        for entry in news {
            if entry
                .by
                .as_ref()
                .is_some_and(|by| by.machine.as_str() == STRANGER)
            {
                let before = self.observer.state.tasks.clone();
                self.observer.state.apply(&entry);
                assert_eq!(
                    self.observer.state.tasks, before,
                    "a stranger's {:?} counts",
                    entry.events
                );
                self.observer.log.push(Entry {
                    events: Vec::new(),
                    ..entry
                });
                continue;
            }
            for event in &entry.events {
                if let Event::Completed { task, .. } = event {
                    let task = self.observer.state.task(task).unwrap();
                    let by = entry.by.as_ref().map(|by| by.machine.clone());
                    assert!(
                        task.status == Status::AwaitingVerification,
                        "{} is completed twice",
                        task.leaf.id
                    );
                    assert_eq!(
                        task.machine, by,
                        "{} is completed by a machine that lost it",
                        task.leaf.id
                    );
                }
            }
            self.observer.state.apply(&entry);
            self.observer.log.push(entry);
        }
        self.observer.check();
        let mut numbers: BTreeMap<MachineId, u64> = BTreeMap::new();
        for (seq, entry) in (1..).zip(&self.register) {
            assert_eq!(entry.seq, seq, "entries are in order, without gaps");
            if let Some(by) = &entry.by {
                let last = numbers.entry(by.machine.clone()).or_default();
                assert_eq!(
                    by.number,
                    *last + 1,
                    "no entry of {} is lost or there twice",
                    by.machine
                );
                *last = by.number;
            }
        }
        for replica in &self.replicas {
            if replica.seen == self.register.len() {
                assert_eq!(
                    shared(&replica.base),
                    shared(&self.observer.state),
                    "all see the same"
                );
            }
        }
    }
}

/// The part of the state that must be the same on every machine.
fn shared(state: &State) -> impl PartialEq + std::fmt::Debug {
    let tasks = state.tasks.iter().map(|task| {
        let TaskState {
            leaf,
            status,
            iteration,
            claim,
            machine,
            verdict,
            reason,
            commit,
            ..
        } = task.clone();
        (
            leaf.id, status, iteration, claim, machine, verdict, reason, commit,
        )
    });
    let status = state.run.as_ref().map(|run| run.status);
    (
        tasks.collect::<Vec<_>>(),
        state.questions.clone(),
        state.notes.clone(),
        state.machines.clone(),
        status,
    )
}

impl Replica {
    /// Applies `waiting` on top of the seen entries, as a command does on loading.
    fn show(&mut self, waiting: Vec<Entry>) {
        (self.machine.state, self.waiting) = self.base.with_waiting(waiting);
    }

    /// Loses everything in memory, and the agents with it.
    fn die(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.show(waiting);
    }
}

#[derive(Debug, Clone, Copy)]
enum FleetStep {
    Act(usize, Step, Fate),
    Sync(usize),
    GiveUp(usize, usize),
    Deliver,
    Forge(u8, u8),
}

fn fleet_step() -> impl Strategy<Value = FleetStep> {
    let one = 0..MACHINES;
    prop_oneof![
        20 => (one.clone(), step(), fate()).prop_map(|(number, step, fate)| FleetStep::Act(number, step, fate)),
        5 => one.clone().prop_map(FleetStep::Sync),
        1 => (one.clone(), one).prop_map(|(number, silent)| FleetStep::GiveUp(number, silent)),
        1 => Just(FleetStep::Deliver),
        1 => (0..10u8, 1..5u8).prop_map(|(kind, task)| FleetStep::Forge(kind, task)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn machines_never_do_a_task_twice_and_lose_nothing(
        leaves in leaves(),
        steps in proptest::collection::vec(fleet_step(), 1..120),
    ) {
        let mut fleet = Fleet::new(leaves);
        fleet.forge(joined(0, "theirs"));
        for step in steps {
            match step {
                FleetStep::Act(number, step, fate) => fleet.act(number, step, fate),
                FleetStep::Sync(number) => fleet.sync(number),
                FleetStep::GiveUp(number, silent) => fleet.give_up(number, silent),
                FleetStep::Forge(kind, task) => fleet.forge(vec![forged(kind, id(&task.to_string()))]),
                FleetStep::Deliver => {
                    if let Some(push) = fleet.late.pop() {
                        fleet.deliver(push);
                    }
                }
            }
            fleet.check();
        }
    }
}

/// The user may answer on any machine, but an answer takes effect only through events that the task's own machine
/// offered in its question.
#[test]
fn an_answer_from_another_machine_has_its_consequence_and_no_other() {
    let mut fleet = Fleet::new(vec![leaf(1, &[], 0)]);
    fleet.forge(joined(0, "theirs"));
    fleet.sync(0);
    fleet.act(0, Step::Claim(0), Fate::Arrives);
    let task = id("1");
    let ask = |fleet: &Fleet, path: &str| {
        let topic = Topic::Scope {
            task: id("1"),
            path: path.into(),
        };
        Event::Asked {
            question: Question::new(topic, fleet.observer.state.questions.len() as u64 + 1, ""),
        }
    };
    let answered = |question: &str, path: &str| {
        let (question, options, path) = (question.into(), vec!["Allow".into()], path.into());
        let grant = Event::ScopeExtended {
            task: id("1"),
            granted: Granted {
                path,
                reason: String::new(),
                by: Decider::User,
            },
        };
        vec![
            Event::Answered {
                question,
                options,
                by: Decider::User,
            },
            grant,
        ]
    };
    let granted = |fleet: &Fleet| -> Vec<String> {
        let paths = fleet.observer.state.task(&task).unwrap().granted.iter();
        paths.map(|granted| granted.path.clone()).collect()
    };
    let asked = ask(&fleet, "a.txt");
    let mut tried = fleet.replicas[0].machine.clone();
    tried.log.clear();
    tried.take(vec![asked]);
    fleet.bring(0, tried, Fate::Arrives);
    let push = |fleet: &mut Fleet, events: Vec<Event>| {
        fleet.forge(events);
        fleet.observer.state.apply(fleet.register.last().unwrap());
        fleet
            .observer
            .log
            .push(fleet.register.last().unwrap().clone());
        granted(fleet)
    };
    fleet.check();
    let of_stranger = ask(&fleet, "b.txt");
    assert!(push(&mut fleet, vec![of_stranger]).is_empty());
    assert!(
        push(&mut fleet, answered("q2", "b.txt")).is_empty(),
        "the task's machine did not ask"
    );
    assert!(
        push(&mut fleet, answered("q1", "c.txt")).is_empty(),
        "the question is about another file"
    );
    assert!(
        push(&mut fleet, answered("q1", "a.txt")).is_empty(),
        "it is answered already"
    );
    let asked = ask(&fleet, "d.txt");
    fleet.sync(0);
    let mut tried = fleet.replicas[0].machine.clone();
    tried.log.clear();
    tried.take(vec![asked]);
    fleet.bring(0, tried, Fate::Arrives);
    fleet.check();
    assert_eq!(push(&mut fleet, answered("q3", "d.txt")), ["d.txt"]);
}

/// If the user accepts a task as done on another machine, the work of its builder is kept.
#[test]
fn a_task_that_another_machine_completes_is_lost_to_its_holder() {
    let mut fleet = Fleet::new(vec![leaf(1, &[], 0)]);
    fleet.forge(joined(0, "theirs"));
    fleet.sync(0);
    fleet.act(0, Step::Claim(0), Fate::Arrives);
    let blocked = Event::Asked {
        question: Question::new(Topic::CommitBlocked(id("1")), 1, ""),
    };
    let mut tried = fleet.replicas[0].machine.clone();
    tried.log.clear();
    tried.take(vec![blocked]);
    fleet.bring(0, tried, Fate::Arrives);
    let before = fleet.replicas[0].machine.state.clone();
    fleet.forge(vec![
        Event::Answered {
            question: "q1".into(),
            options: vec!["Leave uncommitted".into()],
            by: Decider::User,
        },
        Event::Completed {
            task: id("1"),
            commit: None,
            note: Some("left".into()),
        },
    ]);
    fleet.sync(0);
    let after = &fleet.replicas[0].base;
    assert_eq!(after.task(&id("1")).unwrap().status, Status::Completed);
    assert_eq!(before.lost_since(after), [id("1")].into());
}

/// A machine's check results don't exempt other machines from running the checks themselves.
#[test]
fn checks_of_another_machine_count_for_its_own_tasks() {
    let mut fleet = Fleet::new(vec![leaf(1, &[], 0), leaf(2, &[], 0)]);
    fleet.forge(joined(0, "theirs"));
    let before = |task: &str, passed| Event::CheckedBefore {
        task: id(task),
        checks: Vec::new(),
        passed,
    };
    fleet.forge(vec![
        Event::CommandsTried {
            checks: Vec::new(),
            notes: Vec::new(),
        },
        before("1", false),
        Event::CheckedAtEnd { checks: Vec::new() },
    ]);
    let base = Base {
        tree: "t".into(),
        head: "h".into(),
        worktree: None,
        around: None,
    };
    let claimed = Event::Claimed {
        task: id("2"),
        owner: AgentName::new("theirs-builder-1").unwrap(),
        token: "t".into(),
        iteration: 1,
        base,
    };
    fleet.forge(vec![before("2", false), claimed]);
    fleet.sync(0);
    let state = &mut fleet.replicas[0].machine.state;
    let is_checked = |state: &State, task: &str| state.task(&id(task)).unwrap().before.is_some();
    assert!(!state.tried && state.end_checks.is_none());
    assert!(!is_checked(state, "1") && is_checked(state, "2"));
    // Each machine decides for itself whether it must run the end commands.
    for (commands, is_running) in [(vec!["make".to_owned()], true), (Vec::new(), false)] {
        let mut state = state.clone();
        state.approval.as_mut().unwrap().end_commands = commands;
        let last = fleet.register.last().unwrap().clone();
        state.apply(&Entry {
            events: vec![Event::Finished],
            ..last
        });
        assert_eq!(state.is_running(), is_running);
    }
}
