//! Tests the order, waves and critical path of small trees, and properties that hold for any tree.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{DelayCause, Schedule, ScheduleCycle, ScheduleOptions, schedule};
use crate::plan::field::FieldKind;
use crate::plan::graph::{Graph, PlanIndex};
use crate::plan::task::Plan;
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
    schedule(plan, options).unwrap()
}

fn parallel(limit: u32) -> ScheduleOptions {
    ScheduleOptions {
        max_parallel_tasks: limit,
        ..ScheduleOptions::default()
    }
}

/// Each wave's ids, with the cause of each delay.
fn waves(schedule: &Schedule) -> Vec<String> {
    let shown = |id: &&str| {
        let step = schedule.order.iter().find(|step| step.id == *id).unwrap();
        match &step.delay {
            None => (*id).to_owned(),
            Some(delay) => format!("{id}:{:?}({})", delay.cause, delay.on.join(",")),
        }
    };
    schedule
        .waves
        .iter()
        .map(|wave| wave.tasks.iter().map(shown).collect::<Vec<_>>().join(" "))
        .collect()
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
fn waves_and_what_delays_them() {
    let check = |tasks: &[&str], limit: u32, expect: &[&str]| {
        assert_eq!(
            waves(&run(&tree(tasks), &parallel(limit))),
            expect,
            "{tasks:?}"
        )
    };
    check(&["1 1", "2 1"], 2, &["1 2"]);
    check(&["1 1", "2 1"], 1, &["1", "2:Limit()"]);
    check(
        &["1 1", "2 1; Dependencies: 1", "3 1"],
        2,
        &["1 3", "2:Dependency(1)"],
    );
    check(
        &["1 1; After: 2", "2 1", "3 1; Dependencies: 1"],
        2,
        &["2", "1:Dependency(2)", "3:Dependency(1)"],
    );
    check(
        &["1 1; Files: a", "2 1; Files: a", "3 1; Files: a"],
        4,
        &["1", "2:File(1)", "3:File(2)"],
    );
    check(
        &[
            "1 1; Files: src/",
            "2 1; Files: src/a.rs",
            "3 1; Files: src/b.rs",
        ],
        4,
        &["1", "2:File(1) 3:File(1)"],
    );
    check(
        &["1 1; Files: src/a.rs", "2 1; Files: src", "3 1; Files: b"],
        4,
        &["1 3", "2:File(1)"],
    );
    check(&["1 1; Files: .", "2 1; Files: x"], 4, &["1", "2:File(1)"]);
    check(
        &["1 1; Files: a", "2 1; Files: ./a", "3 1"],
        1,
        &["1", "2:Limit()", "3:Limit()"],
    );
    check(
        &["1 1", "2 1", "3 1; Dependencies: 1, 2", "4 1"],
        2,
        &["1 2", "3:Dependency(1,2) 4:Limit()"],
    );
    check(&[], 2, &["root"]);
    check(
        &["1 1; Files: a/Cargo.toml", "2 1; Files: b/Cargo.toml"],
        2,
        &["1", "2:File(1)"],
    );
}

#[test]
fn a_dependency_on_a_parent_waits_for_all_of_it() {
    let text = "- [ID: root] R\n- [ID: 1] A (Complexity: 1)\n  - Dependencies: 2\n- [ID: 2] B\n  - [ID: 2.1] C (Complexity: 2)\n  - [ID: 2.2] D (Complexity: 3)\n    - Dependencies: 2.1\n";
    let found = run(text, &parallel(4));
    assert_eq!(
        waves(&found),
        ["2.1", "2.2:Dependency(2.1)", "1:Dependency(2.2)"]
    );
    assert_eq!(
        (found.critical_path.tasks, found.critical_path.complexity),
        (vec!["2.1", "2.2", "1"], 6)
    );
}

#[test]
fn speed_up() {
    let found = run(
        &tree(&["1 4", "2 4", "3 4", "4 4; Dependencies: 3"]),
        &parallel(2),
    );
    let gains: Vec<(u32, f64)> = found
        .speed_up
        .iter()
        .map(|gain| (gain.builders, gain.factor))
        .collect();
    assert_eq!(
        (found.total_complexity, gains),
        (16, vec![(1, 1.0), (2, 2.0), (4, 2.0), (8, 2.0)])
    );
    let critical: Vec<(&str, u32)> = found
        .waves
        .iter()
        .map(|wave| (wave.critical, wave.complexity))
        .collect();
    assert_eq!(critical, [("1", 4), ("3", 4), ("4", 4)]);
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
        schedule(&plan, &ScheduleOptions::default()),
        Err(ScheduleCycle {
            count: 3,
            first: "2".to_owned()
        })
    );
}

#[test]
fn an_empty_tree_has_an_empty_schedule() {
    let (plan, _) = parse("");
    let found = schedule(&plan, &ScheduleOptions::default()).unwrap();
    assert_eq!(
        (
            found.order.len(),
            found.waves.len(),
            found.critical_path.complexity
        ),
        (0, 0, 0)
    );
}

#[test]
fn thousands_of_tasks_are_scheduled() {
    let chain: Vec<String> = (1..=1_000)
        .map(|id| {
            format!(
                "{id} 1; Dependencies: {}; Files: CHANGELOG.md",
                if id == 1 {
                    "none".to_owned()
                } else {
                    (id - 1).to_string()
                }
            )
        })
        .collect();
    assert_eq!(
        run(
            &tree(&chain.iter().map(String::as_str).collect::<Vec<_>>()),
            &parallel(4)
        )
        .waves
        .len(),
        1_000
    );
    // Two files that become free in turn, so that in every wave one is taken from the tasks that need both.
    let turns: Vec<String> = (1..=2_000)
        .map(|id| match id {
            1 => "1 1; Files: a".to_owned(),
            ..=1_000 => {
                format!(
                    "{id} 1; Dependencies: {}; Files: {}",
                    id - 1,
                    if id % 2 == 0 { "a" } else { "b" }
                )
            }
            _ => format!("{id} 1; Files: a, b"),
        })
        .collect();
    assert_eq!(
        run(
            &tree(&turns.iter().map(String::as_str).collect::<Vec<_>>()),
            &parallel(4)
        )
        .waves
        .len(),
        2_000
    );
    let shared: Vec<String> = (1..=1_000)
        .map(|id| format!("{id} 1; Files: CHANGELOG.md, src/{id}.rs"))
        .collect();
    assert_eq!(
        run(
            &tree(&shared.iter().map(String::as_str).collect::<Vec<_>>()),
            &parallel(16)
        )
        .waves
        .len(),
        1_000
    );
    let free: Vec<String> = (1..=1_000).map(|id| format!("{id} 1")).collect();
    assert_eq!(
        run(
            &tree(&free.iter().map(String::as_str).collect::<Vec<_>>()),
            &parallel(1)
        )
        .waves
        .len(),
        1_000
    );
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

fn wave_of<'p>(found: &Schedule<'p>) -> HashMap<&'p str, usize> {
    found
        .order
        .iter()
        .map(|step| (step.id, step.wave))
        .collect()
}

/// The complexity of the longest chain of leaves, computed the slow way.
fn longest(plan: &Plan, waits: &HashMap<&str, Vec<&str>>) -> u64 {
    let mut length: HashMap<&str, u64> = HashMap::new();
    // In these trees, leaves only wait for earlier ones.
    for leaf in plan.leaves() {
        let before = waits[&*leaf.id]
            .iter()
            .map(|id| length[id])
            .max()
            .unwrap_or(0);
        length.insert(&leaf.id, before + u64::from(leaf.complexity.unwrap_or(1)));
    }
    length.into_values().max().unwrap_or(0)
}

proptest! {
    #[test]
    fn every_schedule_is_one(leaves in prop::collection::vec(any_leaf(), 1..24), options in any_options()) {
        let text = drawn_tree(&leaves);
        let (plan, _) = parse(&text);
        let found = schedule(&plan, &options).unwrap();
        let waits = waits(&plan);
        let wave = wave_of(&found);

        let mut ids: Vec<&str> = found.order.iter().map(|step| step.id).collect();
        let position: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        for (id, after) in &waits {
            for before in after {
                prop_assert!(position[before] < position[id], "{before} is not before {id}");
                prop_assert!(wave[before] < wave[id], "{before} and {id} in waves");
            }
        }
        ids.sort_unstable();
        let mut leaves: Vec<&str> = plan.leaves().map(|leaf| &*leaf.id).collect();
        leaves.sort_unstable();
        prop_assert_eq!(&ids, &leaves, "every leaf exactly once");
        let mut in_waves: Vec<&str> =
            found.waves.iter().flat_map(|wave| wave.tasks.iter().copied()).collect();
        in_waves.sort_unstable();
        prop_assert_eq!(&in_waves, &leaves, "every leaf in exactly one wave");

        let limit = options.max_parallel_tasks;
        for wave in &found.waves {
            prop_assert!(!wave.tasks.is_empty() && wave.tasks.len() <= limit as usize, "{wave:?}");
            let tasks: Vec<_> = found.order.iter().filter(|step| step.wave == wave.number).collect();
            for (at, one) in tasks.iter().enumerate() {
                for other in &tasks[at + 1..] {
                    prop_assert!(!share_a_file(&one.files, &other.files), "{} and {}", one.id, other.id);
                }
            }
            prop_assert_eq!(wave.complexity, tasks.iter().map(|step| step.complexity).max().unwrap());
        }
    }

    /// Each task is in the first wave, or the tasks given as the cause of its delay are in the wave before it and do
    /// hold it up.
    #[test]
    fn every_delay_has_its_cause(leaves in prop::collection::vec(any_leaf(), 1..24), options in any_options()) {
        let text = drawn_tree(&leaves);
        let (plan, _) = parse(&text);
        let found = schedule(&plan, &options).unwrap();
        let waits = waits(&plan);
        let wave = wave_of(&found);
        let files: HashMap<&str, &Vec<&str>> =
            found.order.iter().map(|step| (step.id, &step.files)).collect();
        for step in &found.order {
            let Some(delay) = &step.delay else {
                prop_assert_eq!(step.wave, 1, "{} is late for no reason", step.id);
                continue;
            };
            for on in &delay.on {
                prop_assert_eq!(wave[on], step.wave - 1, "{} waits for {}", step.id, on);
                match delay.cause {
                    DelayCause::Dependency => prop_assert!(waits[step.id].contains(on)),
                    DelayCause::File => prop_assert!(share_a_file(&step.files, files[on])),
                    DelayCause::Limit => prop_assert!(false, "nothing is waited for"),
                }
            }
            prop_assert_eq!(delay.on.is_empty(), delay.cause == DelayCause::Limit);
        }
    }

    #[test]
    fn the_critical_path_is_a_chain_and_a_lower_bound(
        leaves in prop::collection::vec(any_leaf(), 1..24),
        options in any_options(),
    ) {
        let text = drawn_tree(&leaves);
        let (plan, _) = parse(&text);
        let found = schedule(&plan, &options).unwrap();
        let waits = waits(&plan);
        let path = &found.critical_path;
        for pair in path.tasks.windows(2) {
            prop_assert!(waits[pair[1]].contains(&pair[0]), "{pair:?} is no link");
        }
        let of = |id: &&str| u64::from(found.order.iter().find(|step| step.id == *id).unwrap().complexity);
        prop_assert_eq!(path.tasks.iter().map(of).sum::<u64>(), path.complexity);
        prop_assert_eq!(path.complexity, longest(&plan, &waits));
        let waves: u64 = found.waves.iter().map(|wave| u64::from(wave.complexity)).sum();
        prop_assert!(path.complexity <= waves && waves <= found.total_complexity);
        let factors: Vec<f64> = found.speed_up.iter().map(|gain| gain.factor).collect();
        prop_assert!(factors[0] == 1.0 && factors.is_sorted(), "{factors:?}");
        for gain in &found.speed_up {
            prop_assert!(gain.factor <= f64::from(gain.builders), "{gain:?}");
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
            let found = schedule(&plan, &options).unwrap();
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
        prop_assert_eq!(schedule(&plan, &ScheduleOptions::default()).is_ok(), order.len() == plan.tasks.len());
    }
}
