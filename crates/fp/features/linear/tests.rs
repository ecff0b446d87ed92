use std::collections::{BTreeMap, BTreeSet};

use fp_plan::plan::id::{LinearId, PlanId, TaskId};
use fp_plan::plan::{Plan, parse};
use fp_plan::settings::{Linear, LinearStatusMap};
use fp_run::run::State;
use fp_run::run::event::{Approve, Base, Entry, Event, LOG_VERSION};
use fp_run::run::state::Status;
use jiff::Timestamp;
use proptest::prelude::*;

use super::mapping::{
    FailedCall, LinearKey, LinearMapping, LinearStage, MAX_ATTEMPTS, MappedIssue, TeamStatus,
};
use super::outbox::LinearOutbox;
use crate::printer::word_of;

const TREE: &str = "- [ID: root] Greet people (Complexity: 5)\n- [ID: 1] Texts (Complexity: 3)\n  - [ID: 1.1] Write the \
                    greeting (Complexity: 2)\n    - Acceptance:\n      - `a.txt` has it\n    - Files: a.txt, b/*.rs\n  \
                    - [ID: 1.2] Write the farewell (Complexity: 1)\n    - Dependencies: 1.1\n- [ID: 2] Command \
                    (Complexity: 2)\n";

fn plan_id() -> PlanId {
    PlanId::new("sample-20261121").unwrap()
}

fn task(id: &str) -> TaskId {
    TaskId::new(id).unwrap()
}

fn created(id: &str) -> Option<LinearId> {
    Some(id.parse().unwrap())
}

fn next_batch(mapping: &LinearMapping) -> LinearOutbox {
    let (tree, _) = parse(TREE);
    let settings = Linear {
        enabled: true,
        team: Some("ENG".into()),
        ..Linear::default()
    };
    LinearOutbox::of_issues(&tree, mapping, &settings)
}

fn keys(batch: &LinearOutbox) -> Vec<String> {
    batch
        .calls
        .iter()
        .map(|call| call.key.to_string())
        .collect()
}

#[test]
fn parents_level_by_level_then_leaves() {
    let mut mapping = LinearMapping::new(&plan_id());
    let mut seen = Vec::new();
    loop {
        let batch = next_batch(&mapping);
        if batch.calls.is_empty() {
            break;
        }
        seen.push(keys(&batch).join(" "));
        for issue in &batch.calls {
            mapping
                .acknowledge(&issue.key, created(&format!("i-{}", seen.len())))
                .unwrap();
        }
    }
    assert_eq!(
        seen,
        ["create/root", "create/1", "create/1.1 create/1.2 create/2"]
    );
}

#[test]
fn an_issue_says_what_its_task_does() {
    let mut mapping = LinearMapping::new(&plan_id());
    for (id, issue) in [("root", "i0"), ("1", "i1")] {
        mapping
            .acknowledge(&LinearKey::Create(task(id)), created(issue))
            .unwrap();
    }
    let issue = &next_batch(&mapping).calls[0].fields;
    assert_eq!(
        (&*issue["parent"], &*issue["title"], &*issue["team"]),
        ("i1", "Write the greeting", "ENG")
    );
    insta::assert_snapshot!(issue["description"], @"
    ## Acceptance

    - `a.txt` has it

    ## Files

    - `a.txt`
    - `b/*.rs`

    Complexity: 2

    fp: sample-20261121/1.1
    ");
}

#[test]
fn what_fails_three_times_is_given_up_and_its_children_move_up() {
    let mut mapping = LinearMapping::new(&plan_id());
    mapping
        .acknowledge(&LinearKey::Create(task("root")), created("i0"))
        .unwrap();
    let key = LinearKey::Create(task("1"));
    for attempt in 1..=MAX_ATTEMPTS {
        assert_eq!(
            keys(&next_batch(&mapping)),
            ["create/1"],
            "attempt {attempt}"
        );
        mapping.fail(&key, "no\nright").unwrap();
    }
    let batch = next_batch(&mapping);
    assert_eq!(keys(&batch), ["create/1.1", "create/1.2", "create/2"]);
    let failure = FailedCall {
        attempts: 3,
        reason: "no right".into(),
    };
    assert_eq!(batch.given_up, BTreeMap::from([(key, failure)]));
    assert!(batch.calls.iter().all(|call| call.fields["parent"] == "i0"));
    mapping.retry();
    assert_eq!(keys(&next_batch(&mapping)), ["create/1"]);
}

#[test]
fn statuses_are_found_by_name_else_by_type() {
    let check = |text: &str, names: &LinearStatusMap, expect: &str, unknown: usize| {
        let list: Vec<TeamStatus> = serde_json::from_str(text).unwrap();
        let found = LinearStage::ALL.iter().filter_map(|stage| {
            Some(format!(
                "{} {}",
                word_of(stage),
                stage.status_among(&list, names)?.id
            ))
        });
        assert_eq!(found.collect::<Vec<_>>().join(", "), expect, "{text}");
        let is_unknown = |name: &&str| !list.iter().any(|status| status.is_called(name));
        let configured = LinearStage::ALL
            .iter()
            .filter_map(|stage| stage.wanted_status(names).0);
        let missing = configured.filter(is_unknown);
        assert_eq!(missing.count(), unknown, "{text}");
    };
    let usual = r#"[{"id":"s1","name":"Backlog","type":"backlog"},{"id":"s2","name":"Todo","type":"unstarted"},
        {"id":"s5","name":"In Review","type":"started"},{"id":"s3","name":"In Progress","type":"started"},
        {"id":"s7","name":"Later","type":"started"},
        {"id":"s4","name":"Done","type":"completed"},{"id":"s6","name":"Canceled","type":"canceled"}]"#;
    let none = LinearStatusMap::default();
    check(
        usual,
        &none,
        "pending s2, in-progress s3, review s5, completed s4, failed s6",
        0,
    );
    let named = LinearStatusMap {
        pending: Some("backlog".into()),
        in_progress: Some(" later ".into()),
        completed: Some("Nowhere".into()),
        ..LinearStatusMap::default()
    };
    check(
        usual,
        &named,
        "pending s1, in-progress s7, review s5, completed s4, failed s6",
        1,
    );
    let small = r#"[{"id":"b","name":"Backlog","type":"backlog"},{"id":"d","name":"Done","type":"completed"}]"#;
    check(small, &none, "pending b, review d, completed d", 0);
    check("[]", &none, "", 0);
}

#[test]
fn a_parent_is_where_its_leaves_are() {
    use Status::{AwaitingVerification, Completed, Failed, Implementing, Pending, Skipped};
    let check = |leaves: &[Status], expect: LinearStage| {
        assert_eq!(LinearStage::of_parent(leaves), expect, "{leaves:?}")
    };
    check(&[], LinearStage::Pending);
    check(&[Pending, Pending], LinearStage::Pending);
    check(&[Skipped, Pending], LinearStage::Pending);
    check(&[Skipped], LinearStage::Pending);
    check(&[Implementing, Pending], LinearStage::InProgress);
    check(&[AwaitingVerification], LinearStage::InProgress);
    check(&[Completed, Pending], LinearStage::InProgress);
    check(&[Completed, Failed], LinearStage::InProgress);
    check(&[Failed, Pending], LinearStage::InProgress);
    check(&[Completed, Completed], LinearStage::Completed);
    check(&[Completed, Skipped], LinearStage::InProgress);
    check(&[Failed, Skipped], LinearStage::Failed);
    check(&[Failed, Failed], LinearStage::Failed);
}

#[test]
fn keys_read_back_and_others_are_refused() {
    for text in [
        "create/1.1",
        "status/root/in-progress",
        "comment/2/0a1b2c3d",
    ] {
        assert_eq!(
            LinearKey::try_from(text.to_owned()).unwrap().to_string(),
            text
        );
    }
    for text in [
        "",
        "create",
        "create/",
        "create/../x",
        "create/1/2",
        "status/1/open",
        "status/1/failed/1",
        "status/1",
        "comment/1/xyz",
        "comment/1/",
        "delete/1",
    ] {
        assert!(LinearKey::try_from(text.to_owned()).is_err(), "{text:?}");
    }
}

#[test]
fn an_answer_is_taken_in_once() {
    let mut mapping = LinearMapping::new(&plan_id());
    let create = LinearKey::Create(task("1"));
    let status = |stage| LinearKey::Status {
        task: task("1"),
        stage,
    };
    let refused = |mapping: &mut LinearMapping, key: &LinearKey, id: Option<LinearId>| {
        mapping.acknowledge(key, id).unwrap_err().message
    };
    let failed = status(LinearStage::Failed);
    assert_eq!(
        refused(&mut mapping, &failed, None),
        "status/1/failed was never offered"
    );
    assert_eq!(
        mapping.fail(&failed, "no").unwrap_err().message,
        "status/1/failed was never offered"
    );
    assert_eq!(
        refused(&mut mapping, &create, None),
        "create/1 needs the id of the issue"
    );
    for _ in 0..2 {
        mapping.acknowledge(&create, created("a")).unwrap();
    }
    assert_eq!(
        refused(&mut mapping, &create, created("b")),
        "task 1 already has the issue a"
    );
    let in_progress = status(LinearStage::InProgress);
    mapping.fail(&in_progress, "no").unwrap();
    for (key, sent) in [
        (&in_progress, 1),
        (&in_progress, 1),
        (&failed, 2),
        (&failed, 2),
        (&in_progress, 3),
    ] {
        mapping.acknowledge(key, None).unwrap();
        assert_eq!(mapping.tasks["1"].sent.len(), sent, "{key}");
        let LinearKey::Status { stage, .. } = key else {
            unreachable!()
        };
        assert_eq!(mapping.tasks["1"].stage(), *stage);
    }
    assert!(mapping.failures.is_empty());
}

#[test]
fn a_mapping_of_another_version_or_plan() {
    let first = r#"{"planId":"sample-20261121","teamId":"t","projectId":null,"labels":["x"],
        "resolvedStatuses":{"pending":"s1","in-progress":"s2"},
        "tasks":{"root":{"linearIssueId":"i1","linearIdentifier":"ENG-1","priority":2}}}"#;
    let mapping = LinearMapping::parse(first, &plan_id()).unwrap();
    assert_eq!(mapping.tasks["root"].stage(), LinearStage::Pending);
    let again = LinearMapping::parse(&mapping.to_json(), &plan_id()).unwrap();
    assert_eq!(again, mapping);
    assert!(
        mapping.to_json().contains("\"labels\"") && mapping.to_json().contains("\"priority\": 2")
    );
    let check = |text: &str, expect: &str| {
        assert_eq!(LinearMapping::parse(text, &plan_id()).unwrap_err(), expect);
    };
    check(
        r#"{"schemaVersion":2}"#,
        "written by a newer fp (version 2, this fp reads 1)",
    );
    check(
        r#"{"planId":"other-20261121"}"#,
        "it is about another plan, other-20261121",
    );
    check("{", "EOF while parsing an object at line 1 column 1");
    check(
        r#"{"planId":"../x"}"#,
        "\"../x\" is not an id: ids are letters, digits, `-`, `_`, and begin with a letter or digit at line 1 column 17",
    );
    let outside = r#"{"planId":"sample-20261121","tasks":{"../1":{"linearIssueId":"a"}}}"#;
    assert!(LinearMapping::parse(outside, &plan_id()).is_err());
}

// An agent that dies at any moment, against a Linear in memory: every issue and every comment is there exactly once,
// parents are there before their children, and in the end every issue is where its task is.

/// Three levels.
const DEEP_TREE: &str = "- [ID: root] Goal (Complexity: 5)\n- [ID: 1] A (Complexity: 3)\n  - [ID: 1.1] B (Complexity: 2)\n    \
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
    /// Something happens to a leaf.
    Run(usize, u8),
}

#[derive(Default)]
struct Server {
    /// Id, parent and marker of each issue.
    issues: Vec<(LinearId, Option<LinearId>, String)>,
    status: BTreeMap<LinearId, LinearId>,
    comments: Vec<(LinearId, String)>,
}

struct World<'t> {
    tree: &'t Plan<'t>,
    state: State,
    mapping: LinearMapping,
    server: Server,
    ends: Vec<End>,
}

impl World<'_> {
    fn happened(&mut self, event: Event) {
        let seq = self.state.seq + 1;
        let at = Timestamp::from_second(1_800_000_000 + i64::try_from(seq).unwrap()).unwrap();
        self.state.apply(&Entry {
            schema_version: LOG_VERSION,
            seq,
            at,
            clock: None,
            by: None,
            events: vec![event],
        });
    }

    fn run(&mut self, leaf: usize, choice: u8) {
        let task = task(LEAVES[leaf % LEAVES.len()]);
        let name = "builder-1".parse().unwrap();
        let base = Base {
            tree: String::new(),
            head: String::new(),
            worktree: None,
            around: None,
        };
        let event = match (self.state.task(&task).unwrap().status, choice % 3) {
            (Status::Pending, 0) => Event::Skipped {
                because: task.clone(),
                task,
            },
            (Status::Pending, _) => Event::Claimed {
                task,
                owner: name,
                token: "t".into(),
                iteration: 1,
                base,
            },
            (Status::Implementing, 0) => Event::Failed {
                task,
                reason: "no".into(),
            },
            (Status::Implementing, 1) => Event::Released {
                task,
                reason: String::new(),
                iteration: 1,
            },
            (Status::Implementing, _) => Event::Submitted {
                task,
                owner: name,
                tree: String::new(),
                files: Vec::new(),
            },
            (Status::AwaitingVerification, _) => Event::Completed {
                task,
                commit: Some("a".repeat(40)),
                note: None,
            },
            (Status::Failed | Status::Skipped, _) => Event::Retried {
                task,
                restored: Vec::new(),
            },
            (Status::Completed, _) => return,
        };
        self.happened(event);
    }

    fn end(&mut self) -> End {
        self.ends.pop().unwrap_or(End::Acknowledged)
    }

    /// The next command knows only the file.
    fn save(&mut self) {
        self.mapping = LinearMapping::parse(&self.mapping.to_json(), &plan_id()).unwrap();
    }

    /// One call as the agent makes it. Says whether the agent is still alive.
    fn call(
        &mut self,
        key: &LinearKey,
        make: impl FnOnce(&mut Server) -> Option<LinearId>,
    ) -> bool {
        match self.end() {
            End::DiedBefore => return false,
            End::DiedAfter => {
                make(&mut self.server);
                return false;
            }
            End::Failed => self.mapping.fail(key, "no").unwrap(),
            end @ (End::Acknowledged | End::AcknowledgedTwice) => {
                let id = make(&mut self.server);
                for _ in 0..if matches!(end, End::Acknowledged) {
                    1
                } else {
                    2
                } {
                    self.mapping.acknowledge(key, id.clone()).unwrap();
                }
            }
        }
        self.save();
        true
    }

    fn create(&mut self, limit: usize) -> usize {
        let settings = Linear::default();
        let mut batch = LinearOutbox::of_issues(self.tree, &self.mapping, &settings);
        batch.calls.truncate(limit);
        for call in &batch.calls {
            assert!(
                !self.mapping.tasks.contains_key(call.key.task()),
                "an acknowledged issue was given out"
            );
            let marker = &call.fields["marker"];
            let parent: Option<LinearId> = call.fields.get("parent").map(|id| id.parse().unwrap());
            let alive = self.call(&call.key, |server| {
                let known = server.issues.iter().find(|(_, _, of)| of == marker);
                let id = known.map(|(id, ..)| id.clone()).unwrap_or_else(|| {
                    let id: LinearId = format!("i-{}", server.issues.len()).parse().unwrap();
                    if let Some(parent) = &parent {
                        assert!(
                            server.issues.iter().any(|(id, ..)| id == parent),
                            "a child before its parent"
                        );
                    }
                    server.issues.push((id.clone(), parent, marker.clone()));
                    id
                });
                Some(id)
            });
            if !alive {
                break;
            }
        }
        batch.calls.len()
    }

    fn send(&mut self, outbox: &LinearOutbox) -> usize {
        assert!(outbox.unresolved.is_empty());
        let confirmed =
            |(task, issue): (&TaskId, &MappedIssue)| (!issue.unconfirmed).then(|| task.clone());
        let confirmed: BTreeSet<TaskId> = self.mapping.tasks.iter().filter_map(confirmed).collect();
        if outbox.note_offers(&mut self.mapping) {
            self.save();
        }
        for call in &outbox.calls {
            let alive = self.call(&call.key, |server| {
                let issue: LinearId = call.fields["issue"].parse().unwrap();
                match &call.key {
                    LinearKey::Create(task) => panic!("{task}"),
                    LinearKey::Status { .. } => {
                        let status: LinearId = call.fields["status"].parse().unwrap();
                        let before = server.status.insert(issue, status.clone());
                        let again = before == Some(status) && confirmed.contains(call.key.task());
                        assert!(
                            !again,
                            "{} was set again though it was acknowledged",
                            call.key
                        );
                    }
                    LinearKey::Comment { .. } => {
                        let marker = &call.fields["marker"];
                        assert!(call.fields["body"].ends_with(marker.as_str()));
                        let comment = (issue, marker.clone());
                        if !server.comments.contains(&comment) {
                            server.comments.push(comment);
                        }
                    }
                }
                None
            });
            if !alive {
                break;
            }
        }
        outbox.calls.len()
    }

    fn step(&mut self, step: Step) -> usize {
        match step {
            Step::Create(limit) => self.create(limit),
            Step::Outbox(limit) => {
                let due = LinearOutbox::of_leaves(&self.state, &self.mapping);
                let mut due = due.and_parents(self.tree, &self.state, &self.mapping);
                due.calls.truncate(limit);
                self.send(&due)
            }
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
            let due: usize = [Step::Create(3), Step::Outbox(3)]
                .into_iter()
                .map(|s| self.step(s))
                .sum();
            if due == 0 {
                return;
            }
        }
        panic!("it never ends");
    }

    fn check(&self) {
        let markers: BTreeSet<&str> = self
            .server
            .issues
            .iter()
            .map(|(.., marker)| marker.as_str())
            .collect();
        assert_eq!(
            markers.len(),
            self.server.issues.len(),
            "an issue was created twice"
        );
        assert_eq!(markers.len(), self.tree.tasks.len(), "an issue is missing");
        let comments: BTreeSet<_> = self.server.comments.iter().collect();
        assert_eq!(comments.len(), self.server.comments.len());
        for task in &self.state.tasks {
            let issue = &self.mapping.tasks[&task.leaf.id];
            let is = self.server.status.get(&issue.linear_issue_id);
            let stage = LinearStage::of_leaf(task.status).unwrap_or(issue.stage());
            let never_moved = is.is_none() && stage == LinearStage::Pending;
            let moved = is.is_some() && is == self.mapping.resolved_statuses.get(&stage);
            assert!(
                never_moved || moved,
                "{} is {is:?}, not {stage:?}",
                task.leaf.id
            );
            let ended = matches!(task.status, Status::Completed | Status::Failed);
            let said = self
                .server
                .comments
                .iter()
                .filter(|(id, _)| *id == issue.linear_issue_id)
                .count();
            assert!(
                !ended || said > 0,
                "nothing was said about {}",
                task.leaf.id
            );
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1..5usize).prop_map(Step::Create),
        3 => (1..5usize).prop_map(Step::Outbox),
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
        let (tree, _) = parse(DEEP_TREE);
        let mut mapping = LinearMapping::new(&plan_id());
        mapping.resolved_statuses =
            LinearStage::ALL.iter().map(|stage| (*stage, format!("s-{}", word_of(stage)).parse().unwrap())).collect();
        let state = State::new(plan_id());
        let server = Server::default();
        let mut world = World { tree: &tree, state, mapping, server, ends };
        let leaf = |id| serde_json::json!({ "id": id, "title": "a", "hash": "h", "complexity": 1 });
        let leaves = LEAVES.iter().map(|id| serde_json::from_value(leaf(id)).unwrap()).collect();
        world.happened(Event::Approved(Approve { leaves, ..Approve::default() }));
        for one in steps {
            world.step(one);
        }
        world.settle();
        world.check();
    }
}
