//! Plans that are wrong in one way each, what is said, and what is left.

use super::*;

/// A plan of tasks as `id[<parent] dependency dependency`, where `<n` is the position of the parent.
fn plan(tasks: &[&str]) -> PortablePlan {
    let task = |line: &&str| {
        let mut words = line.split(' ');
        let head = words.next().unwrap();
        let (id, parent) = head.split_once('<').map_or((head, None), |(id, at)| (id, at.parse().ok()));
        let dependencies: Vec<String> = words.map(str::to_owned).collect();
        PortableTask {
            id: id.into(),
            parent,
            title: id.into(),
            dependencies: Some(dependencies),
            ..PortableTask::default()
        }
    };
    PortablePlan { tasks: tasks.iter().map(task).collect(), ..PortablePlan::default() }
}

fn shown(plan: &PortablePlan) -> Vec<String> {
    let one = |task: &PortableTask| {
        let dependencies = task
            .dependencies
            .as_ref()
            .map_or_else(|| " -".into(), |d| d.iter().map(|d| format!(" {d}")).collect::<String>());
        format!("{}{dependencies}", task.id)
    };
    plan.tasks.iter().map(one).collect()
}

#[track_caller]
fn check(tasks: &[&str], left: &[&str], said: &[&str]) {
    let mut plan = plan(tasks);
    let notices: Vec<String> = settle(&mut plan).into_iter().map(|notice| notice.text).collect();
    assert_eq!(shown(&plan), left, "{tasks:?}");
    assert_eq!(notices, said, "{tasks:?}");
    let again: Vec<Notice> = settle(&mut plan)
        .into_iter()
        .filter(|n| n.kind.is_problem() && n.kind != Kind::DuplicateId)
        .collect();
    assert_eq!(again, [], "{tasks:?}: once is enough");
}

#[test]
fn what_is_right_stays() {
    check(&[], &[], &[]);
    check(&["a", "b a", "c a b"], &["a", "b a", "c a b"], &[]);
    check(&["p", "a<0", "b<0 a", "c p"], &["p -", "a", "b a", "c p"], &[]);
}

#[test]
fn dependencies_that_lead_nowhere() {
    check(
        &["a x", "b x y"],
        &["a", "b"],
        &[
            "a, b wait for \"x\", which is not there; that is left out",
            "b waits for \"y\", which is not there; that is left out",
        ],
    );
    check(&["a a", "b a"], &["a", "b a"], &["a waits for itself; that is left out"]);
    check(
        &["p", "a<0 p"],
        &["p -", "a"],
        &["a waits for p, and one is a part of the other; that is left out"],
    );
    check(
        &["p a", "a<0"],
        &["p -", "a"],
        &["p waits for a, and one is a part of the other; that is left out"],
    );
    let mut plan = plan(&["a x x a"]);
    let _ = settle(&mut plan);
    assert_eq!(plan.tasks[0].ext[LEFT_OUT], serde_json::json!(["x", "a"]), "nothing is lost");
}

#[test]
fn circles_are_opened_at_what_comes_later() {
    check(
        &["a c", "b a", "c b"],
        &["a", "b a", "c b"],
        &["these wait for each other: a → c → b → a; that a waits for c is left out"],
    );
    check(
        &["p q", "a<0", "q p", "b<2"],
        &["p -", "a", "q -", "b p"],
        &[
            "these wait for each other: p → q → p; that p waits for q is left out",
            "what these wait for, their subtasks do now: q",
        ],
    );
    check(
        &["p", "a<0 q", "q", "b<2 a"],
        &["p -", "a", "q -", "b a"],
        &["these wait for each other: a → q → b → a; that a waits for q is left out"],
    );
}

#[test]
fn many_circles_come_to_an_end() {
    let ids: Vec<String> = (0..60).map(|n| format!("t{n}")).collect();
    let tasks: Vec<String> = ids
        .iter()
        .map(|id| {
            format!("{id} {}", ids.iter().filter(|other| *other != id).cloned().collect::<Vec<_>>().join(" "))
        })
        .collect();
    let mut plan = plan(&tasks.iter().map(String::as_str).collect::<Vec<_>>());
    let notices = settle(&mut plan);
    assert!(
        notices[MAX_CYCLES].text.starts_with("there are more than 100 circles: "),
        "{:?}",
        notices[MAX_CYCLES]
    );
    assert!(settle(&mut plan).iter().all(|notice| notice.kind == Kind::Disconnected), "none is left");
}

#[test]
fn two_of_one_id() {
    check(
        &["a", "a a", "b a"],
        &["a", "a a", "b a"],
        &["2 tasks have the id a: all of them stay, and what waits for a waits for the first"],
    );
}

#[test]
fn parts_that_have_nothing_to_do_with_each_other() {
    check(
        &["a", "b a", "c", "d c"],
        &["a", "b a", "c", "d c"],
        &["the plan has 2 parts that have nothing to do with each other; they begin with a, c"],
    );
    check(&["a", "b"], &["a", "b"], &[]);
}

#[test]
fn work_begins_anew() {
    let mut plan = plan(&["a", "b", "c", "d"]);
    plan.tasks[0].work = Work::Running;
    plan.tasks[1].work = Work::Failed { reason: Some("tired".into()) };
    plan.tasks[2].work = Work::Skipped;
    plan.tasks[3].work = Work::Done { commit: None };
    let said: Vec<String> = settle(&mut plan).into_iter().map(|notice| notice.text).collect();
    assert_eq!(
        said,
        [
            "these were under way and begin anew: a",
            "these had failed and begin anew: b",
            "these were skipped and begin anew: c"
        ]
    );
    assert_eq!(plan.tasks[1].ext[WORK], serde_json::json!({ "status": "failed", "reason": "tired" }));
    assert_eq!(plan.tasks[3].work, Work::Done { commit: None });
}

#[test]
fn a_thousand_tasks_in_a_row_and_ten_thousand_levels() {
    let row: Vec<String> =
        (0..1_000).map(|n| if n == 0 { "t0".into() } else { format!("t{n} t{}", n - 1) }).collect();
    let mut long = plan(&row.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(settle(&mut long), []);
    let deep: Vec<String> =
        (0..10_000_usize).map(|n| if n == 0 { "t0".into() } else { format!("t{n}<{}", n - 1) }).collect();
    assert_eq!(settle(&mut plan(&deep.iter().map(String::as_str).collect::<Vec<_>>())), []);
}
