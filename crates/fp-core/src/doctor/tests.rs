use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::plan::task::Task;
use crate::plan::{canonical, parse};
use crate::run::State;
use crate::run::approval::hash;
use crate::run::event::{Base, Decider, Entry, Event, LOG_VERSION};

const TREE: &str =
    "- [ID: root] Goal (Complexity: 5)\n- [ID: 1] A (Complexity: 2)\n- [ID: 2] B (Complexity: 2)\n";

fn plan() -> PlanId {
    PlanId::new("sample-20261121").unwrap()
}

fn task(id: &str) -> TaskId {
    TaskId::new(id).unwrap()
}

fn entry(seq: u64, at: i64, event: Event) -> Entry {
    let at = Timestamp::from_second(1_800_000_000 + at).unwrap();
    Entry { schema_version: LOG_VERSION, seq, at, events: vec![event] }
}

fn entries() -> Vec<Entry> {
    let (tree, _) = parse(TREE);
    let leaf = |task: &Task<'_>| {
        let text = canonical::leaf_text(task);
        json!({ "id": task.id, "title": task.description, "hash": hash(text.as_bytes()), "complexity": 2 })
    };
    let leaves: Vec<Value> = tree.leaves().map(leaf).collect();
    let approved =
        json!({ "approved": { "treeHash": hash(TREE.as_bytes()), "leaves": leaves, "by": "user" } });
    let started =
        json!({ "runStarted": { "client": 7, "builders": 1, "maxIterations": 3, "noCommit": false } });
    let [approved, started] = [approved, started].map(|event| serde_json::from_value(event).unwrap());
    let claimed = Event::Claimed {
        task: task("1"),
        owner: "builder-1".parse().unwrap(),
        token: "t".into(),
        iteration: 1,
        base: Base { tree: String::new(), head: String::new(), worktree: None, around: None },
    };
    vec![entry(1, 0, approved), entry(2, 1, started), entry(3, 2, claimed)]
}

fn state() -> State {
    State::replay(plan(), &entries())
}

fn check(found: &Finding, level: Level, detail: &str, command: Option<&str>) {
    assert_eq!((found.level, found.detail.as_str(), found.command.as_deref()), (level, detail, command));
}

#[test]
fn what_is_wrong_with_a_log() {
    let facts = |entries: Vec<Entry>| LogFacts { entries, ..LogFacts::default() };
    check(&log(&plan(), &facts(entries()))[0], Level::Ok, "3 entries", None);
    let mut backwards = entries();
    backwards[2].at = backwards[0].at - jiff::SignedDuration::from_secs(9);
    let detail = "entry 3 is older than the one in front of it: it was edited by hand";
    check(&log(&plan(), &facts(backwards))[0], Level::Warning, detail, None);
    let torn = LogFacts { torn: 9, ..facts(entries()) };
    let fix = Some("fp doctor sample-20261121 --fix");
    let detail = "its last line was torn off while it was written (9 bytes)";
    check(&log(&plan(), &torn)[0], Level::Warning, detail, fix);
}

#[test]
fn what_is_wrong_with_a_snapshot() {
    let of = |entries: &[Entry], current| SnapshotFacts::Read {
        state: Box::new(State::replay(plan(), entries)),
        current,
    };
    let all = entries();
    let found = |facts: &SnapshotFacts| snapshot(&plan(), &all, facts);
    check(&found(&of(&all, true)), Level::Ok, "what the log adds up to", None);
    check(&found(&of(&all[..2], false)), Level::Ok, "older than the log, and right", None);
    assert_eq!(found(&SnapshotFacts::Missing).level, Level::Ok);
    assert_eq!(found(&SnapshotFacts::Unreadable).fix, Some(Fix::RebuildSnapshot));
    let mut other = all.clone();
    other[0].at -= jiff::SignedDuration::from_secs(1);
    for current in [true, false] {
        assert_eq!(found(&of(&other, current)).fix, Some(Fix::RebuildSnapshot));
        assert_eq!(found(&of(&other[..2], current)).level, Level::Warning);
    }
    let longer = snapshot(&plan(), &all[..1], &of(&all, false));
    assert_eq!((longer.level, longer.fix), (Level::Error, None));
}

#[test]
fn what_differs_from_the_approval() {
    let of = |text: &str| approval(&state(), &parse(text).0, &hash(text.as_bytes()));
    check(&of(TREE), Level::Ok, "the tree is the one that was approved", None);
    let prose = format!("Some words\n\n{TREE}");
    check(&of(&prose), Level::Ok, "the text of the tree was edited, and no task of it", None);
    let approve = Some("fp approve sample-20261121");
    let edited = TREE.replace("] B", "] C");
    check(&of(&edited), Level::Warning, "task 2 was edited or removed since the approval", approve);
    let other = TREE.replace("ID: 2", "ID: 3");
    let detail = "task 2 was edited or removed, and task 3 is new since the approval";
    check(&of(&other), Level::Warning, detail, approve);
    let none = approval(&State::new(plan()), &parse(TREE).0, "x");
    check(&none, Level::Ok, "the plan is not approved yet", None);
}

#[test]
fn who_holds_what() {
    let start = Some("fp run start sample-20261121");
    check(&claims(&State::new(plan()), Lead::Gone), Level::Ok, "no task is held", None);
    let state = state();
    check(&claims(&state, Lead::There), Level::Ok, "task 1 is held, and the session is there", None);
    let gone = "task 1 is held by a session that is gone";
    check(&claims(&state, Lead::Gone), Level::Warning, gone, start);
    assert_eq!(claims(&state, Lead::Unknown).level, Level::Ok);
    let mut log = entries();
    log.push(entry(4, 3, Event::Cancelled { by: Decider::User }));
    let over = State::replay(plan(), &log);
    check(&claims(&over, Lead::There), Level::Warning, "task 1 is held, and the run is over", start);
}

#[test]
fn commits_that_are_gone() {
    let commit = "a".repeat(40);
    let mut log = entries();
    log.push(entry(4, 3, Event::Completed { task: task("1"), commit: Some(commit.clone()), note: None }));
    let state = State::replay(plan(), &log);
    let detail = "1 task has its commit in the history of HEAD";
    check(&commits(&state, &BTreeSet::new()), Level::Ok, detail, None);
    let found = commits(&state, &BTreeSet::from([commit.clone()]));
    assert_eq!(found.level, Level::Warning);
    assert_eq!(found.command, Some(format!("git branch --contains {commit}")));
}
