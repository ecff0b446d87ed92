use serde_json::{Value, json};

use super::*;
use fp_plan::plan::parse;

const START: &str = "2026-11-21T09:00:00Z";

/// Builds a log of `entries`, each with its time in seconds since the start.
fn log(entries: &[(u64, Value)]) -> Vec<Entry> {
    let start: Timestamp = START.parse().unwrap();
    let entry = |(number, (seconds, events)): (usize, &(u64, Value))| {
        let at = start + std::time::Duration::from_secs(*seconds);
        serde_json::from_value(
            json!({ "schemaVersion": 1, "seq": number + 1, "at": at, "events": events }),
        )
        .unwrap()
    };
    entries.iter().enumerate().map(entry).collect()
}

fn page(entries: &[(u64, Value)], tree: &'static str) -> RunPage<'static> {
    let entries = log(entries);
    let state = State::replay(PlanId::new("sample-20261121").unwrap(), &entries);
    let lead = LeadPresence::Unknown;
    let tree = TreeReport::new(&parse(tree).0, None).with_run(&parse(tree).0, &state, lead);
    RunPage::new(&state, &entries, lead, "Goal".into(), tree)
}

fn leaf(id: &str, after: &[&str]) -> Value {
    json!({ "id": id, "title": format!("Part {id}"), "hash": id, "dependencies": after, "complexity": 1 })
}

fn start(leaves: &[Value]) -> Value {
    json!([
        { "approved": { "treeHash": "h", "leaves": leaves, "by": "user" } },
        { "runStarted": { "session": "s", "builders": 2, "maxIterations": 3, "noCommit": false } },
    ])
}

fn claimed(task: &str, owner: &str, iteration: u32) -> Value {
    json!({ "claimed": { "task": task, "owner": owner, "token": "t", "iteration": iteration,
        "base": { "tree": "a", "head": "b" } } })
}

fn submitted(task: &str, owner: &str) -> Value {
    let files = json!([{ "path": "a.rs", "status": "added", "kind": "file" }]);
    json!({ "submitted": { "task": task, "owner": owner, "tree": "a", "files": files } })
}

fn verify(task: &str) -> Value {
    json!({ "dispatched": { "dispatch": "verify", "name": format!("verifier-{task}"), "task": task } })
}

fn judged(task: &str, iteration: u32, pass: bool) -> Value {
    let reasons = if pass {
        vec![]
    } else {
        vec!["Criterion 1 (it works): no"]
    };
    json!({ "judged": { "task": task, "iteration": iteration, "pass": pass, "summary": "seen", "reasons": reasons,
        "judgements": [{ "criterion": 1, "pass": pass, "evidence": "cargo test" }] } })
}

fn completed(task: &str) -> [Value; 2] {
    [
        json!({ "commitStarted": { "task": task, "files": ["a.rs"], "message": format!("Add {task}\n\nBody"), "head": "h" } }),
        json!({ "completed": { "task": task, "commit": format!("c0ffee{task}") } }),
    ]
}

/// The bars of a lane: kind, task, attempt, start and end in seconds.
fn bars(page: &RunPage<'_>, lane: usize) -> Vec<(BarKind, String, usize, i64, i64)> {
    let start: Timestamp = START.parse().unwrap();
    let seconds = |at: Timestamp| at.duration_since(start).as_secs();
    let told = page.lanes[lane].bars.iter().map(|bar| {
        let task = bar
            .task
            .as_ref()
            .map_or_else(String::new, ToString::to_string);
        (bar.kind, task, bar.nth, seconds(bar.from), seconds(bar.to))
    });
    told.collect()
}

const TREE: &str = "- [ID: root] Goal\n- [ID: 1] A (Complexity: 1)\n  - Acceptance:\n    - It works\n- [ID: 2] B\n  - Dependencies: 1\n- [ID: 3] C\n";

/// Task 1 passes on its second attempt; meanwhile task 3 is built, and its builder asks a question; task 2 comes last.
fn whole() -> RunPage<'static> {
    let leaves = [leaf("1", &[]), leaf("2", &["1"]), leaf("3", &[])];
    let question = json!({ "asked": { "question": { "id": "q1", "topic": { "about": "clarify", "task": "3" },
        "text": "Which?", "header": "Task 3", "options": [] } } });
    let answer = json!({ "answered": { "question": "q1", "options": ["This"], "by": "user" } });
    let resumed = |task: &str, owner: &str| json!({ "resumed": { "task": task, "owner": owner } });
    let back = json!({ "sentBack": { "task": "1", "iteration": 2, "token": "u", "feedback": "Criterion 1 (it works): no" } });
    let [first, second] = completed("1");
    let [third, fourth] = completed("2");
    page(
        &[
            (0, start(&leaves)),
            (10, json!([claimed("1", "builder-1", 1)])),
            (15, json!([claimed("3", "builder-2", 1)])),
            (20, json!([question])),
            (
                30,
                json!([{ "nudged": { "task": "1", "owner": "builder-1" } }]),
            ),
            (40, json!([submitted("1", "builder-1")])),
            (45, json!([verify("1")])),
            (60, json!([judged("1", 1, false), back])),
            (65, json!([resumed("1", "builder-1")])),
            (70, json!([answer])),
            (72, json!([resumed("3", "builder-2")])),
            (80, json!([submitted("1", "builder-1")])),
            (80, json!([verify("1")])),
            (90, json!([judged("1", 2, true), first])),
            (92, json!([second])),
            (95, json!([submitted("3", "builder-2"),])),
            (100, json!([claimed("2", "builder-1", 1)])),
            (130, json!([submitted("2", "builder-1")])),
            (131, json!([verify("2")])),
            (140, json!([judged("2", 1, true), third, fourth])),
            (150, json!([{ "cancelled": { "by": "user" } }])),
        ],
        TREE,
    )
}

#[test]
fn each_builder_is_at_one_thing_after_the_other() {
    use BarKind::*;
    let page = whole();
    let bar = |kind, task: &str, nth, from, to| (kind, task.to_owned(), nth, from, to);
    assert_eq!(
        bars(&page, 0),
        [
            bar(Building, "1", 1, 10, 40),
            bar(Waiting, "1", 1, 40, 45),
            bar(Verifying, "1", 1, 45, 60),
            bar(Waiting, "1", 2, 60, 65),
            bar(Building, "1", 2, 65, 80),
            bar(Verifying, "1", 2, 80, 90),
            bar(Committing, "1", 2, 90, 92),
            bar(Building, "2", 1, 100, 130),
            bar(Waiting, "2", 1, 130, 131),
            bar(Verifying, "2", 1, 131, 140),
        ]
    );
    assert_eq!(
        bars(&page, 1),
        [
            bar(Building, "3", 1, 15, 20),
            bar(Asking, "3", 1, 20, 70),
            bar(Waiting, "3", 1, 70, 72),
            bar(Building, "3", 1, 72, 95),
            bar(Waiting, "3", 1, 95, 150),
        ]
    );
    assert_eq!(bars(&page, 2), [bar(Asking, "3", 0, 20, 70)]);
    let names: Vec<&str> = page.lanes.iter().map(|lane| lane.name.as_str()).collect();
    assert_eq!(names, ["builder-1", "builder-2", "user"]);
    let outcomes: Vec<Option<TryOutcome>> = page.lanes[0]
        .bars
        .iter()
        .filter(|bar| bar.kind == Building)
        .map(|bar| bar.outcome)
        .collect();
    assert_eq!(
        outcomes,
        [
            Some(TryOutcome::Failed),
            Some(TryOutcome::Passed),
            Some(TryOutcome::Passed)
        ]
    );
}

#[test]
fn all_time_is_accounted_for() {
    let page = whole();
    assert_eq!(page.wall(), 150_000);
    for lane in page.lanes.iter().filter(|lane| !lane.user) {
        assert_eq!(
            lane.millis.total() + lane.idle,
            page.wall(),
            "{}",
            lane.name
        );
    }
    let expect = RunTimes {
        building: 103_000,
        asking: 50_000,
        waiting: 68_000,
        verifying: 34_000,
        committing: 2_000,
    };
    assert_eq!((page.millis, page.idle()), (expect, 43_000));
    let first = RunTimes {
        building: 45_000,
        asking: 0,
        waiting: 10_000,
        verifying: 25_000,
        committing: 2_000,
    };
    assert_eq!(page.tasks[0].millis, first);
}

#[test]
fn tries_say_what_was_judged() {
    let page = whole();
    let task = &page.tasks[0];
    assert_eq!((page.tries, task.tries.len()), (4, 2));
    let first = &task.tries[0];
    assert_eq!(
        first.attempt.end,
        Some(AttemptEnd::Failed("Criterion 1 (it works): no".into()))
    );
    assert_eq!(
        (first.nudges, first.files.as_slice()),
        (1, &["a.rs".to_owned()][..])
    );
    assert_eq!(
        first.verifier.as_ref().map(ToString::to_string),
        Some("verifier-1".into())
    );
    let criterion = &first.criteria[0];
    assert_eq!(
        (
            criterion.text.as_str(),
            criterion.pass,
            criterion.evidence.as_str()
        ),
        ("It works", false, "cargo test")
    );
    assert_eq!(task.tries[1].attempt.end, Some(AttemptEnd::Passed));
    let commits: Vec<(&str, &str)> = page
        .commits
        .iter()
        .map(|c| (c.hash.as_str(), c.subject.as_str()))
        .collect();
    assert_eq!(commits, [("c0ffee1", "Add 1"), ("c0ffee2", "Add 2")]);
    let decision = &page.decisions[0];
    assert_eq!(
        (decision.question.as_str(), decision.answer.as_slice()),
        ("Which?", &["This".to_owned()][..])
    );
}

#[test]
fn each_try_has_the_trees_of_its_work() {
    let back = |iteration: u32, base: Value| json!([{ "sentBack": { "task": "1", "iteration": iteration, "token": "u", "feedback": "no", "base": base } }]);
    let page = page(
        &[
            (0, start(&[leaf("1", &[])])),
            (1, json!([claimed("1", "builder-1", 1)])),
            (2, json!([submitted("1", "builder-1")])),
            (3, back(2, Value::Null)),
            (4, back(3, json!({ "tree": "c", "head": "d" }))),
        ],
        TREE,
    );
    let works = page.tasks[0].tries.iter().map(|one| &one.work);
    let told: Vec<(&str, &str, usize)> = works
        .map(|work| (&*work.base, &*work.tree, work.changes.len()))
        .collect();
    assert_eq!(told, [("a", "a", 1), ("a", "", 0), ("c", "", 0)]);
}

#[test]
fn pauses_count_nowhere() {
    let leaves = [leaf("1", &[]), leaf("2", &[])];
    let [begun, done] = completed("1");
    let page = page(
        &[
            (0, start(&leaves)),
            (10, json!([claimed("1", "builder-1", 1)])),
            (70, json!([submitted("1", "builder-1")])),
            // Nobody works from the submission to the next claim.
            (30_070, json!([judged("1", 1, true), begun, done])),
            (30_130, json!([claimed("2", "builder-1", 1)])),
            (30_190, json!(["told"])),
        ],
        TREE,
    );
    assert_eq!((page.wall(), page.work()), (30_190_000, 130_000));
    let lane = &page.lanes[0];
    assert_eq!((lane.millis.building, lane.millis.waiting), (120_000, 0));
    assert_eq!(lane.millis.total() + lane.idle, page.work());
    assert_eq!(page.tasks[0].millis.total(), 60_000);
    assert_eq!(page.pauses.len(), 1);
}

#[test]
fn what_goes_on_ends_with_the_last_event() {
    let leaves = [leaf("1", &[])];
    let page = page(
        &[
            (0, start(&leaves)),
            (5, json!([claimed("1", "builder-1", 1)])),
            (9, json!(["told"])),
        ],
        TREE,
    );
    assert_eq!(bars(&page, 0), [(BarKind::Building, "1".into(), 1, 5, 9)]);
    assert!(page.lanes[0].bars[0].open);
    assert_eq!(
        (page.wall(), page.phase, page.lanes[0].idle),
        (9_000, Phase::Running, 5_000)
    );
}

#[test]
fn before_the_run_there_is_nothing_to_draw() {
    let empty = page(&[], TREE);
    assert_eq!(
        (empty.wall(), empty.lanes.len(), empty.tasks.len()),
        (0, 0, 0)
    );
    let approved = page(
        &[(
            0,
            json!([{ "approved": { "treeHash": "h", "leaves": [leaf("1", &[])], "by": "user" } }]),
        )],
        TREE,
    );
    assert_eq!(
        (
            approved.started_at,
            approved.lanes.len(),
            approved.tasks.len()
        ),
        (None, 0, 1)
    );
}

#[test]
fn a_question_of_no_more_use_ends_with_the_claim() {
    let leaves = [leaf("1", &[])];
    let question = json!({ "asked": { "question": { "id": "q1", "topic": { "about": "clarify", "task": "1" },
        "text": "Which?", "header": "Task 1", "options": [] } } });
    let page = page(
        &[
            (0, start(&leaves)),
            (1, json!([claimed("1", "builder-1", 1)])),
            (2, json!([question])),
            (
                5,
                json!([{ "released": { "task": "1", "reason": "gone", "iteration": 1 } }]),
            ),
            (9, json!([claimed("1", "builder-2", 1)])),
        ],
        TREE,
    );
    assert_eq!(bars(&page, 2), [(BarKind::Asking, "1".into(), 0, 2, 5)]);
    assert_eq!(page.decisions[0].answer, ["Withdrawn"]);
    assert_eq!(page.lanes[0].bars[1].outcome, Some(TryOutcome::Released));
    assert_eq!(bars(&page, 1), [(BarKind::Building, "1".into(), 2, 9, 9)]);
}

#[test]
fn a_commit_that_was_rolled_back_is_undone() {
    let leaves = [leaf("1", &[])];
    let [begun, done] = completed("1");
    let page = page(
        &[
            (0, start(&leaves)),
            (1, json!([claimed("1", "builder-1", 1)])),
            (2, json!([submitted("1", "builder-1")])),
            (3, json!([judged("1", 1, true), begun, done])),
            (4, json!(["finished"])),
            (
                9,
                json!([{ "rolledBack": { "task": "1", "commit": "c0ffee1", "revert": "beef" } }]),
            ),
        ],
        TREE,
    );
    assert!(page.commits[0].undone);
    assert_eq!(page.wall(), 4_000, "the run had ended");
}

#[test]
fn each_try_has_its_builder_and_its_end() {
    let retried = json!({ "retried": { "task": "1", "restored": [] } });
    let released = json!({ "released": { "task": "1", "reason": "gone", "iteration": 2 } });
    let back = |iteration: u32| json!({ "sentBack": { "task": "1", "iteration": iteration, "token": "t", "feedback": "hook" } });
    let failed = json!({ "failed": { "task": "1", "reason": "given up" } });
    let page = page(
        &[
            (0, start(&[leaf("1", &[])])),
            (
                1,
                json!([
                    claimed("1", "builder-1", 1),
                    judged("1", 1, false),
                    back(2),
                    released
                ]),
            ),
            (
                2,
                json!([
                    claimed("1", "builder-2", 2),
                    judged("1", 2, true),
                    back(3),
                    failed
                ]),
            ),
            (3, json!([retried, claimed("1", "builder-1", 1)])),
        ],
        TREE,
    );
    let told: Vec<(u32, &str, Option<AttemptEnd>)> = page.tasks[0]
        .tries
        .iter()
        .map(|one| {
            (
                one.attempt.iteration,
                one.attempt.builder.as_str(),
                one.attempt.end.clone(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                1,
                "builder-1",
                Some(AttemptEnd::Failed("Criterion 1 (it works): no".into()))
            ),
            (2, "builder-1", Some(AttemptEnd::Released("gone".into()))),
            (2, "builder-2", Some(AttemptEnd::Failed("hook".into()))),
            (3, "builder-2", Some(AttemptEnd::Failed("given up".into()))),
            (1, "builder-1", None),
        ]
    );
}
