//! An agent that dies at any moment, against a Linear in memory: every issue and every comment is there exactly once,
//! parents are there before their children, and in the end every issue is where its task is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::plan::Plan;
use crate::run::State;
use crate::run::event::{Base, Decider, Entry, Event, LOG_VERSION};

const TREE: &str = "- [ID: root] Goal (Complexity: 5)\n- [ID: 1] A (Complexity: 3)\n  - [ID: 1.1] B (Complexity: 2)\n    \
                    - [ID: 1.1.1] C (Complexity: 2)\n    - [ID: 1.1.2] D (Complexity: 1)\n  - [ID: 1.2] E \
                    (Complexity: 1)\n- [ID: 2] F (Complexity: 2)\n";
const LEAVES: [&str; 4] = ["2", "1.1.1", "1.1.2", "1.2"];

/// How a call ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Acknowledged,
    AcknowledgedTwice,
    DiedBefore,
    DiedAfter,
    Failed,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Create(usize),
    Outbox(usize),
    Rollup(usize),
    /// Something happens to a leaf.
    Run(usize, u8),
}

#[derive(Default)]
struct Server {
    /// Id, parent and marker of each issue.
    issues: Vec<(LinearId, Option<LinearId>, String)>,
    status: BTreeMap<LinearId, LinearId>,
    comments: Vec<(LinearId, String)>,
    /// How often each status was set.
    moves: BTreeMap<Key, usize>,
}

struct World<'t> {
    tree: &'t Plan<'t>,
    state: State,
    mapping: Mapping,
    server: Server,
    ends: Vec<End>,
    died_after: usize,
}

impl World<'_> {
    fn happened(&mut self, event: Event) {
        let seq = self.state.seq + 1;
        let at = Timestamp::from_second(1_800_000_000 + i64::try_from(seq).unwrap()).unwrap();
        self.state.apply(&Entry { schema_version: LOG_VERSION, seq, at, events: vec![event] });
    }

    fn run(&mut self, leaf: usize, choice: u8) {
        let task = task(LEAVES[leaf % LEAVES.len()]);
        let name = "builder-1".parse().unwrap();
        let base = Base { tree: String::new(), head: String::new(), worktree: None, around: None };
        let event = match (self.state.task(&task).unwrap().status, choice % 3) {
            (Status::Pending, 0) => Event::Skipped { because: task.clone(), task },
            (Status::Pending, _) => {
                Event::Claimed { task, owner: name, token: "t".into(), iteration: 1, base }
            }
            (Status::Implementing, 0) => Event::Failed { task, reason: "no".into() },
            (Status::Implementing, 1) => Event::Released { task, reason: String::new(), iteration: 1 },
            (Status::Implementing, _) => {
                Event::Submitted { task, owner: name, tree: String::new(), files: Vec::new() }
            }
            (Status::AwaitingVerification, _) => {
                Event::Completed { task, commit: Some("a".repeat(40)), note: None }
            }
            (Status::Failed | Status::Skipped, _) => Event::Retried { task, restored: Vec::new() },
            (Status::Completed, _) => return,
        };
        self.happened(event);
    }

    fn end(&mut self) -> End {
        self.ends.pop().unwrap_or(End::Acknowledged)
    }

    /// Takes the answer in; what is not in the file is forgotten by the next command.
    fn answer(&mut self, key: &Key, answer: &Answer) {
        self.mapping.answer(key, answer.clone()).unwrap();
        self.mapping = Mapping::parse(&self.mapping.to_json(), &plan_id()).unwrap();
    }

    /// One call as the agent makes it. Says whether the agent is still alive.
    fn call(&mut self, key: &Key, make: impl FnOnce(&mut Server) -> Answer) -> bool {
        match self.end() {
            End::DiedBefore => return false,
            End::DiedAfter => {
                make(&mut self.server);
                self.died_after += 1;
                return false;
            }
            End::Failed => self.answer(key, &Answer::Failed("no".into())),
            End::Acknowledged => {
                let answer = make(&mut self.server);
                self.answer(key, &answer);
            }
            End::AcknowledgedTwice => {
                let answer = make(&mut self.server);
                self.answer(key, &answer);
                self.answer(key, &answer);
            }
        }
        true
    }

    fn create(&mut self, limit: usize) -> usize {
        let settings = Linear::default();
        let request =
            Request { tree: self.tree, order: &LEAVES, mapping: &self.mapping, settings: &settings, limit };
        let batch = batch(&request).unwrap();
        for issue in &batch.issues {
            assert!(!self.mapping.tasks.contains_key(&issue.task), "an acknowledged issue was given out");
            let alive = self.call(&issue.key, |server| {
                let known = server.issues.iter().find(|(_, _, marker)| *marker == issue.marker);
                let id = known.map(|(id, ..)| id.clone()).unwrap_or_else(|| {
                    let id: LinearId = format!("i-{}", server.issues.len()).parse().unwrap();
                    if let Some(parent) = &issue.parent_id {
                        assert!(
                            server.issues.iter().any(|(id, ..)| id == parent),
                            "a child before its parent"
                        );
                    }
                    server.issues.push((id.clone(), issue.parent_id.clone(), issue.marker.clone()));
                    id
                });
                Answer::Created { id, identifier: None, url: None }
            });
            if !alive {
                break;
            }
        }
        batch.issues.len()
    }

    fn send(&mut self, outbox: &Outbox) -> usize {
        assert!(outbox.unresolved.is_empty());
        if self.mapping.give_out(&outbox.changes) {
            self.mapping = Mapping::parse(&self.mapping.to_json(), &plan_id()).unwrap();
        }
        for change in &outbox.changes {
            let alive = self.call(&change.key, |server| {
                match &change.call {
                    Call::Status { status_id, .. } => {
                        server.status.insert(change.issue_id.clone(), status_id.clone());
                        *server.moves.entry(change.key.clone()).or_default() += 1;
                    }
                    Call::Comment { body, marker, .. } => {
                        assert!(body.ends_with(marker.as_str()));
                        let comment = (change.issue_id.clone(), marker.clone());
                        if !server.comments.contains(&comment) {
                            server.comments.push(comment);
                        }
                    }
                }
                Answer::Done
            });
            if !alive {
                break;
            }
        }
        outbox.changes.len()
    }

    fn step(&mut self, step: Step) -> usize {
        match step {
            Step::Create(limit) => self.create(limit),
            Step::Outbox(limit) => self.send(&outbox(&self.state, &self.mapping, limit)),
            Step::Rollup(limit) => self.send(&rollup(self.tree, &self.state, &self.mapping, limit)),
            Step::Run(leaf, choice) => {
                self.run(leaf, choice);
                0
            }
        }
    }

    /// Calls without a fault until nothing is due.
    fn settle(&mut self) {
        self.ends.clear();
        self.mapping.retry();
        for _ in 0..100 {
            let due: usize =
                [Step::Create(3), Step::Outbox(3), Step::Rollup(3)].into_iter().map(|s| self.step(s)).sum();
            if due == 0 {
                return;
            }
        }
        panic!("it never ends");
    }

    fn check(&self) {
        let markers: BTreeSet<&str> = self.server.issues.iter().map(|(.., marker)| marker.as_str()).collect();
        assert_eq!(markers.len(), self.server.issues.len(), "an issue was created twice");
        assert_eq!(markers.len(), self.tree.tasks.len(), "an issue is missing");
        let comments: BTreeSet<_> = self.server.comments.iter().collect();
        assert_eq!(comments.len(), self.server.comments.len());
        let again = self.server.moves.values().map(|times| times - 1).sum::<usize>();
        assert!(again <= self.died_after, "a status was set twice though it was acknowledged");
        for task in &self.state.tasks {
            let issue = &self.mapping.tasks[&task.leaf.id];
            let is = self.server.status.get(&issue.linear_issue_id);
            let stage = Stage::of_leaf(task.status).unwrap_or(issue.stage());
            let never_moved = is.is_none() && stage == Stage::Pending;
            let moved = is.is_some() && is == self.mapping.resolved_statuses.get(&stage);
            assert!(never_moved || moved, "{} is {is:?}, not {stage:?}", task.leaf.id);
            let ended = matches!(task.status, Status::Completed | Status::Failed);
            let said = self.server.comments.iter().filter(|(id, _)| *id == issue.linear_issue_id).count();
            assert!(!ended || said > 0, "nothing was said about {}", task.leaf.id);
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1..5usize).prop_map(Step::Create),
        2 => (1..5usize).prop_map(Step::Outbox),
        1 => (1..5usize).prop_map(Step::Rollup),
        6 => (any::<usize>(), any::<u8>()).prop_map(|(leaf, choice)| Step::Run(leaf, choice)),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        6 => Just(End::Acknowledged),
        1 => Just(End::AcknowledgedTwice),
        1 => Just(End::DiedBefore),
        2 => Just(End::DiedAfter),
        1 => Just(End::Failed),
    ]
}

proptest! {
    #[test]
    fn whatever_dies_everything_is_sent_once(
        steps in prop::collection::vec(step(), 0..60),
        ends in prop::collection::vec(end(), 0..60),
    ) {
        let (tree, _) = parse(TREE);
        let mut mapping = Mapping::new(plan_id());
        mapping.resolved_statuses =
            Stage::ALL.iter().map(|stage| (*stage, format!("s-{}", stage.word()).parse().unwrap())).collect();
        let state = State::new(plan_id());
        let server = Server::default();
        let mut world = World { tree: &tree, state, mapping, server, ends, died_after: 0 };
        let leaf = |id| serde_json::json!({ "id": id, "title": "a", "hash": "h", "complexity": 1 });
        let leaves = LEAVES.iter().map(|id| serde_json::from_value(leaf(id)).unwrap()).collect();
        world.happened(Event::Approved { tree_hash: String::new(), leaves, base: None, by: Decider::User });
        for one in steps {
            world.step(one);
        }
        world.settle();
        world.check();
    }
}
