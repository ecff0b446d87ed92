//! Tests the order, starts and critical path of small trees, and properties that hold for any tree.

use std::collections::{BTreeSet, HashMap, HashSet};

use proptest::prelude::*;

use super::prediction::PredictionTerms;
use super::simulation::Simulation;
use super::{Delay, Schedule, ScheduleCycle, ScheduleOptions, schedule};
use crate::plan::field::FieldKind;
use crate::plan::graph::{Graph, PlanIndex};
use crate::plan::task::{Plan, Task};
use crate::plan::{parse, path};
use crate::settings::ExecutionOrder;

/// A flat tree with one task per item, written as `id complexity; fields; …`.
fn tree(tasks: &[&str]) -> String {
    let mut text = "- [ID: root] Goal\n".to_owned();
    for task in tasks {
        let mut parts = task.split("; ");
        let (id, complexity) = parts
            .next()
            .and_then(|head| head.split_once(' '))
            .unwrap_or((task, "1"));
        text.push_str(&format!(
            "- [ID: {id}] Task {id} (Complexity: {complexity})\n"
        ));
        parts.for_each(|field| text.push_str(&format!("  - {field}\n")));
    }
    text
}

/// The schedule of a tree. Leaks the memory of the tree.
fn run(text: &str, options: &ScheduleOptions) -> Schedule<'static> {
    let plan = Box::leak(Box::new(parse(text.to_owned().leak()).0));
    schedule(plan, options, &PredictionTerms::default()).unwrap()
}

fn parallel(limit: u32) -> ScheduleOptions {
    ScheduleOptions {
        max_parallel_tasks: limit,
        ..ScheduleOptions::default()
    }
}

/// The start of each leaf with its delay, by time and then in order.
fn starts(schedule: &Schedule) -> Vec<String> {
    let mut steps: Vec<_> = schedule.order.iter().collect();
    steps.sort_by_key(|step| step.start);
    let shown = steps.iter().map(|step| match &step.delay {
        None => format!("{} {}", step.start, step.id),
        Some(delay) => format!("{} {}: {delay}", step.start, step.id),
    });
    shown.collect()
}

#[test]
fn order_of_ties() {
    let tasks = ["1 2", "2 5", "3 5", "4 1; Dependencies: 3", "5 3"];
    let check = |order: ExecutionOrder, composite: &[(&str, u8)], expect: &[&str]| {
        let composite = composite
            .iter()
            .map(|(id, value)| ((*id).to_owned(), *value))
            .collect();
        let found = run(
            &tree(&tasks),
            &ScheduleOptions {
                order,
                composite,
                ..ScheduleOptions::default()
            },
        );
        let ids: Vec<&str> = found.order.iter().map(|step| step.id).collect();
        assert_eq!(ids, expect, "{order:?}");
    };
    check(
        ExecutionOrder::DocumentOrder,
        &[],
        &["1", "2", "3", "4", "5"],
    );
    check(ExecutionOrder::RiskFirst, &[], &["2", "3", "5", "1", "4"]);
    check(
        ExecutionOrder::RiskFirst,
        &[("5", 4), ("1", 3)],
        &["5", "1", "2", "3", "4"],
    );
    check(ExecutionOrder::EasyFirst, &[], &["1", "5", "2", "3", "4"]);
}

#[test]
fn starts_and_what_delays_them() {
    // A leaf of complexity 1 is submitted after five and a half minutes, and committed two minutes later.
    let check = |tasks: &[&str], limit: u32, expect: &[&str]| {
        assert_eq!(
            starts(&run(&tree(tasks), &parallel(limit))),
            expect,
            "{tasks:?}"
        )
    };
    check(&["1 1", "2 1"], 2, &["0 1", "0 2"]);
    check(&["1 1", "2 1"], 1, &["0 1", "5 2: no builder is free"]);
    check(
        &["1 1", "2 1; Dependencies: 1", "3 1"],
        2,
        &["0 1", "0 3", "7 2: after 1"],
    );
    check(
        &["1 1; After: 2", "2 1", "3 1; Dependencies: 1"],
        2,
        &["0 2", "7 1: after 2", "15 3: after 1"],
    );
    check(
        &["1 1; Files: a", "2 1; Files: a", "3 1; Files: a"],
        4,
        &["0 1", "7 2: a is with 1", "15 3: a is with 2"],
    );
    check(
        &[
            "1 1; Files: src/",
            "2 1; Files: src/a.rs",
            "3 1; Files: src/b.rs",
        ],
        4,
        &["0 1", "7 2: src/a.rs is with 1", "7 3: src/b.rs is with 1"],
    );
    check(
        &["1 1; Files: src/a.rs", "2 1; Files: src", "3 1; Files: b"],
        4,
        &["0 1", "0 3", "7 2: src is with 1"],
    );
    check(
        &["1 1; Files: .", "2 1; Files: x"],
        4,
        &["0 1", "7 2: x is with 1"],
    );
    // While the first is judged, its builder is free and its file isn't.
    check(
        &["1 1; Files: a", "2 1; Files: ./a", "3 1"],
        1,
        &["0 1", "5 3: no builder is free", "11 2: no builder is free"],
    );
    check(
        &["1 1", "2 1", "3 1; Dependencies: 1, 2", "4 1"],
        2,
        &["0 1", "0 2", "5 4: no builder is free", "7 3: after 1, 2"],
    );
    // The most work behind it first.
    check(
        &["1 1", "2 1", "3 1; Dependencies: 2"],
        1,
        &["0 2", "5 1: no builder is free", "11 3: no builder is free"],
    );
    check(&[], 2, &["0 root"]);
    check(
        &["1 1; Files: a/Cargo.toml", "2 1; Files: b/Cargo.toml"],
        2,
        &["0 1", "7 2: Cargo.lock is with 1"],
    );
}

#[test]
fn a_dependency_on_a_parent_waits_for_all_of_it() {
    let text = "- [ID: root] R\n- [ID: 1] A (Complexity: 1)\n  - Dependencies: 2\n- [ID: 2] B\n  - [ID: 2.1] C (Complexity: 2)\n  - [ID: 2.2] D (Complexity: 3)\n    - Dependencies: 2.1\n";
    let found = run(text, &parallel(4));
    assert_eq!(
        starts(&found),
        ["0 2.1", "10 2.2: after 2.1", "23 1: after 2.2"]
    );
    // 10, 13.75 and 7.5 minutes.
    let path = found.prediction.critical_path;
    assert_eq!((path.tasks, path.minutes), (vec!["2.1", "2.2", "1"], 32));
    assert_eq!(found.prediction.minutes, 32);
}

#[test]
fn a_cycle_is_refused() {
    let text = tree(&[
        "1 1",
        "2 1; Dependencies: 3",
        "3 1; Dependencies: 2",
        "4 1; Dependencies: 2",
    ]);
    let (plan, _) = parse(&text);
    assert_eq!(
        schedule(
            &plan,
            &ScheduleOptions::default(),
            &PredictionTerms::default()
        ),
        Err(ScheduleCycle {
            count: 3,
            first: "2".to_owned()
        })
    );
}

#[test]
fn an_empty_tree_has_an_empty_schedule() {
    let (plan, _) = parse("");
    let found = schedule(
        &plan,
        &ScheduleOptions::default(),
        &PredictionTerms::default(),
    );
    let found = found.unwrap();
    assert_eq!(
        (
            found.order.len(),
            found.prediction.critical_path.tasks.len()
        ),
        (0, 0)
    );
}

/// Chains, shared files and neither: anything worse than quadratic would take minutes here.
#[test]
fn thousands_of_tasks_are_scheduled() {
    // The number of minutes in which a leaf starts.
    let minutes = |tasks: &[String], builders: u32| {
        let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
        let found = run(&tree(&tasks), &parallel(builders));
        let starts: BTreeSet<u64> = found.order.iter().map(|step| step.start).collect();
        starts.len()
    };
    let of_ids = |count: usize, task: &dyn Fn(usize) -> String| -> Vec<String> {
        (1..=count).map(task).collect()
    };
    let chain = |id: usize| match id {
        1 => "1 1; Files: CHANGELOG.md".to_owned(),
        _ => format!("{id} 1; Dependencies: {}; Files: CHANGELOG.md", id - 1),
    };
    assert_eq!(minutes(&of_ids(1_000, &chain), 4), 1_000);
    // Two files that become free in turn, so that one is always taken from the tasks that need both.
    let turns = |id: usize| match id {
        1 => "1 1; Files: a".to_owned(),
        ..=1_000 => {
            let file = if id.is_multiple_of(2) { "a" } else { "b" };
            format!("{id} 1; Dependencies: {}; Files: {file}", id - 1)
        }
        _ => format!("{id} 1; Files: a, b"),
    };
    assert_eq!(minutes(&of_ids(2_000, &turns), 4), 2_000);
    let shared = |id: usize| format!("{id} 1; Files: CHANGELOG.md, src/{id}.rs");
    assert_eq!(minutes(&of_ids(1_000, &shared), 16), 1_000);
    let free = |id: usize| format!("{id} 1");
    assert_eq!(minutes(&of_ids(1_000, &free), 1), 1_000);
    assert_eq!(minutes(&of_ids(1_000, &free), 8), 125);
}

/// A generated leaf: complexity, dependencies (as indices into all tasks before it), files, group.
type Drawn = (
    u32,
    Vec<prop::sample::Index>,
    Vec<&'static str>,
    Option<&'static str>,
);

fn any_leaf() -> impl Strategy<Value = Drawn> {
    let files = prop::collection::vec(
        prop::sample::select(vec![
            "a",
            "b",
            "src/a.rs",
            "src/b.rs",
            "src",
            "src/**/*.rs",
            "./b",
            ".",
        ]),
        0..3,
    );
    let group = prop::option::of(prop::sample::select(vec!["x", "y", "z"]));
    (
        1_u32..=10,
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        files,
        group,
    )
}

/// A tree with three leaves per parent, in which leaves wait for earlier leaves and parents.
fn drawn_tree(leaves: &[Drawn]) -> String {
    let mut text = "- [ID: root] Goal\n".to_owned();
    let mut before: Vec<String> = Vec::new();
    for (number, (complexity, after, files, group)) in leaves.iter().enumerate() {
        let parent = number / 3 + 1;
        if number % 3 == 0 {
            text.push_str(&format!("- [ID: {parent}] Parent {parent}\n"));
        }
        let id = format!("{parent}.{}", number % 3 + 1);
        text.push_str(&format!(
            "  - [ID: {id}] Task {id} (Complexity: {complexity})\n"
        ));
        if !before.is_empty() && !after.is_empty() {
            let after: Vec<&str> = after.iter().map(|at| at.get(&before).as_str()).collect();
            text.push_str(&format!("    - Dependencies: {}\n", after.join(", ")));
        }
        if !files.is_empty() {
            text.push_str(&format!("    - Files: {}\n", files.join(", ")));
        }
        if let Some(group) = group {
            text.push_str(&format!("    - Group: {group}\n"));
        }
        before.push(id);
        if number % 3 == 2 {
            before.push(parent.to_string());
        }
    }
    text
}

fn any_options() -> impl Strategy<Value = ScheduleOptions> {
    let order = prop::sample::select(vec![
        ExecutionOrder::DocumentOrder,
        ExecutionOrder::RiskFirst,
        ExecutionOrder::EasyFirst,
    ]);
    (order, 1_u32..6).prop_map(|(order, max_parallel_tasks)| ScheduleOptions {
        order,
        max_parallel_tasks,
        exclusive: Vec::new(),
        composite: HashMap::from([("1.2".to_owned(), 5), ("2.1".to_owned(), 3)]),
    })
}

/// For each leaf, the leaves that it waits for, never itself.
fn waits<'p>(plan: &'p Plan<'_>) -> HashMap<&'p str, Vec<&'p str>> {
    let index = PlanIndex::new(plan);
    plan.leaves()
        .map(|leaf| (&*leaf.id, index.leaves_named(leaf, FieldKind::Dependencies)))
        .collect()
}

fn share_a_file(one: &[&str], other: &[&str]) -> bool {
    let normal = |file: &&str| {
        path::normal(path::literal_prefix(file))
            .unwrap()
            .into_owned()
    };
    one.iter().map(normal).any(|a| {
        other
            .iter()
            .map(normal)
            .any(|b| a == b || path::is_above(&a, &b) || path::is_above(&b, &a))
    })
}

/// The seconds at which a leaf starts, is submitted, and is committed.
#[derive(Debug, Clone, Copy)]
struct LeafTimes {
    start: u64,
    submitted: u64,
    committed: u64,
}

/// The times of each leaf, to the second.
fn times<'p>(plan: &'p Plan<'p>, options: &ScheduleOptions) -> HashMap<&'p str, LeafTimes> {
    let seconds = PredictionTerms::default().task_seconds(plan);
    let graph = Graph::new(plan, &PlanIndex::new(plan));
    let rank = |task: usize| {
        let task = &plan.tasks[task];
        task.is_leaf().then(|| super::rank_of(task, options))
    };
    let order = graph.order(rank);
    let simulation = Simulation::new(plan, graph, order, seconds.clone(), &options.exclusive);
    let (starts, end) = simulation.play(options.max_parallel_tasks);
    let leaves = plan
        .tasks
        .iter()
        .enumerate()
        .filter(|(_, task)| task.is_leaf());
    let of_leaf = |(number, leaf): (usize, &'p Task<'p>)| {
        let start = starts[number].0;
        let submitted = start + seconds[number].0;
        let committed = submitted + seconds[number].1;
        let times = LeafTimes {
            start,
            submitted,
            committed,
        };
        (&*leaf.id, times)
    };
    let found: HashMap<&str, LeafTimes> = leaves.map(of_leaf).collect();
    assert_eq!(found.values().map(|it| it.committed).max(), Some(end));
    found
}

/// The seconds of the longest chain of leaves, computed the slow way.
fn longest(plan: &Plan, waits: &HashMap<&str, Vec<&str>>, times: &HashMap<&str, LeafTimes>) -> u64 {
    let mut length: HashMap<&str, u64> = HashMap::new();
    // In these trees, leaves only wait for earlier ones.
    for leaf in plan.leaves() {
        let before = waits[&*leaf.id].iter().map(|id| length[id]).max();
        let own = times[&*leaf.id];
        length.insert(&leaf.id, before.unwrap_or(0) + own.committed - own.start);
    }
    length.into_values().max().unwrap_or(0)
}

proptest! {
    #[test]
    fn every_schedule_is_one(leaves in prop::collection::vec(any_leaf(), 1..24), options in any_options()) {
        let text = drawn_tree(&leaves);
        let (plan, _) = parse(&text);
        let found = schedule(&plan, &options, &PredictionTerms::default()).unwrap();
        let waits = waits(&plan);
        let times = times(&plan, &options);

        let mut ids: Vec<&str> = found.order.iter().map(|step| step.id).collect();
        let position: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        for (id, after) in &waits {
            for before in after {
                prop_assert!(position[before] < position[id], "{before} is not before {id}");
                prop_assert!(times[before].committed <= times[id].start, "{id} starts before {before} ends");
                let starts = [before, id].map(|id| found.order[position[id]].start);
                prop_assert!(starts[0] < starts[1], "{before} and {id} start in one minute");
            }
        }
        ids.sort_unstable();
        let mut leaves: Vec<&str> = plan.leaves().map(|leaf| &*leaf.id).collect();
        leaves.sort_unstable();
        prop_assert_eq!(&ids, &leaves, "every leaf exactly once");

        for (at, one) in found.order.iter().enumerate() {
            let own = times[one.id];
            prop_assert_eq!(one.start, own.start / 60);
            let at_work = times.values().filter(|it| it.start <= own.start && own.start < it.submitted);
            prop_assert!(at_work.count() <= options.max_parallel_tasks as usize, "too many when {} starts", one.id);
            for other in &found.order[at + 1..] {
                let (first, second) = (own.start.min(times[other.id].start), own.start.max(times[other.id].start));
                let end = if first == own.start { own.committed } else { times[other.id].committed };
                let is_apart = second >= end;
                prop_assert!(is_apart || !share_a_file(&one.files, &other.files), "{} and {}", one.id, other.id);
            }
        }
        let end = times.values().map(|it| it.committed).max().unwrap();
        prop_assert_eq!(u64::from(found.prediction.minutes), end.div_ceil(60));
    }

    /// Each leaf starts at once, or what is given as the cause of its delay ends when it starts.
    #[test]
    fn every_delay_has_its_cause(leaves in prop::collection::vec(any_leaf(), 1..24), options in any_options()) {
        let text = drawn_tree(&leaves);
        let (plan, _) = parse(&text);
        let found = schedule(&plan, &options, &PredictionTerms::default()).unwrap();
        let waits = waits(&plan);
        let times = times(&plan, &options);
        let files: HashMap<&str, &Vec<&str>> =
            found.order.iter().map(|step| (step.id, &step.files)).collect();
        for step in &found.order {
            let start = times[step.id].start;
            let ends_now = |id: &&str| times[id].committed == start;
            let awaited: HashSet<&str> = waits[step.id].iter().copied().filter(|id| ends_now(id)).collect();
            let holds = |id: &str| ends_now(&id) && share_a_file(&step.files, files[id]);
            match &step.delay {
                None => prop_assert_eq!(start, 0, "{} is late for no reason", step.id),
                Some(Delay::Dependency { on }) => {
                    prop_assert!(!on.is_empty());
                    prop_assert_eq!(on.iter().copied().collect::<HashSet<_>>(), awaited);
                }
                Some(Delay::File { on: [on], file }) => {
                    prop_assert!(awaited.is_empty() && holds(on), "{} waits for {on}", step.id);
                    prop_assert!(share_a_file(&[file], &step.files) && share_a_file(&[file], files[on]));
                }
                Some(Delay::Limit { .. }) => {
                    let holder = files.keys().find(|id| holds(id));
                    prop_assert!(awaited.is_empty() && holder.is_none(), "{} waits for more", step.id);
                    let at_work = times.values().filter(|it| it.start < start && start <= it.submitted);
                    prop_assert_eq!(at_work.count(), options.max_parallel_tasks as usize);
                }
            }
        }
    }

    #[test]
    fn the_critical_path_is_a_chain_and_a_lower_bound(
        leaves in prop::collection::vec(any_leaf(), 1..24),
        options in any_options(),
    ) {
        let text = drawn_tree(&leaves);
        let (plan, _) = parse(&text);
        let found = schedule(&plan, &options, &PredictionTerms::default()).unwrap();
        let waits = waits(&plan);
        let times = times(&plan, &options);
        let path = &found.prediction.critical_path;
        for pair in path.tasks.windows(2) {
            prop_assert!(waits[pair[1]].contains(&pair[0]), "{pair:?} is no link");
        }
        let seconds: u64 = path.tasks.iter().map(|id| times[id].committed - times[id].start).sum();
        prop_assert_eq!(seconds, longest(&plan, &waits, &times));
        prop_assert_eq!(u64::from(path.minutes), seconds.div_ceil(60));
        prop_assert!(path.minutes <= found.prediction.minutes);
        for with in &found.prediction.by_builders {
            prop_assert!(path.minutes <= with.minutes, "{with:?}");
        }
    }

    #[test]
    fn the_same_input_gives_the_same_bytes(
        leaves in prop::collection::vec(any_leaf(), 0..24),
        options in any_options(),
    ) {
        let text = drawn_tree(&leaves);
        let bytes = || {
            let (plan, _) = parse(&text);
            let found = schedule(&plan, &options, &PredictionTerms::default()).unwrap();
            serde_json::to_string(&found).unwrap()
        };
        prop_assert_eq!(bytes(), bytes());
    }

    /// Any tree, cyclic ones included, is either scheduled whole or refused.
    #[test]
    fn a_cycle_is_refused_and_nothing_else(edges in prop::collection::vec((0_usize..8, 0_usize..8), 0..12)) {
        let mut text = "- [ID: root] Goal\n".to_owned();
        for task in 0..8 {
            text.push_str(&format!("- [ID: {task}] T\n"));
            let after: Vec<String> =
                edges.iter().filter(|(from, _)| *from == task).map(|(_, to)| to.to_string()).collect();
            if !after.is_empty() {
                text.push_str(&format!("  - Dependencies: {}\n", after.join(", ")));
            }
        }
        let (plan, _) = parse(&text);
        let order = Graph::new(&plan, &PlanIndex::new(&plan)).order(|_| 0);
        let found = schedule(&plan, &ScheduleOptions::default(), &PredictionTerms::default());
        prop_assert_eq!(found.is_ok(), order.len() == plan.tasks.len());
    }
}
