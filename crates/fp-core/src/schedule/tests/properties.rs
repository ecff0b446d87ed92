//! What holds for the schedule of any tree.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::{Cause, Options, Schedule, markdown, schedule};
use crate::plan::graph::Graph;
use crate::plan::index::Index;
use crate::plan::task::Plan;
use crate::plan::{parse, path};
use crate::settings::{ExecutionModel, ExecutionOrder};

/// What a leaf is drawn from: complexity, what it waits for (as a part of all before it), files, group.
type Drawn = (u32, Vec<prop::sample::Index>, Vec<&'static str>, Option<&'static str>);

fn leaf() -> impl Strategy<Value = Drawn> {
    let files = prop::collection::vec(
        prop::sample::select(vec!["a", "b", "src/a.rs", "src/b.rs", "src", "src/**/*.rs", "./b", "."]),
        0..3,
    );
    let group = prop::option::of(prop::sample::select(vec!["x", "y", "z"]));
    (1_u32..=10, prop::collection::vec(any::<prop::sample::Index>(), 0..4), files, group)
}

/// A tree of three leaves a parent, whose leaves wait for leaves and parents before them.
fn text(leaves: &[Drawn]) -> String {
    let mut text = "- [ID: root] Goal\n".to_owned();
    let mut before: Vec<String> = Vec::new();
    for (number, (complexity, after, files, group)) in leaves.iter().enumerate() {
        let parent = number / 3 + 1;
        if number % 3 == 0 {
            text.push_str(&format!("- [ID: {parent}] Parent {parent}\n"));
        }
        let id = format!("{parent}.{}", number % 3 + 1);
        text.push_str(&format!("  - [ID: {id}] Task {id} (Complexity: {complexity})\n"));
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

fn options() -> impl Strategy<Value = Options> {
    let order = prop::sample::select(vec![
        ExecutionOrder::DocumentOrder,
        ExecutionOrder::RiskFirst,
        ExecutionOrder::EasyFirst,
    ]);
    let model = prop::sample::select(vec![
        ExecutionModel::Parallel,
        ExecutionModel::Sequential,
        ExecutionModel::Phased,
        ExecutionModel::Tdd,
    ]);
    (order, model, 1_u32..6).prop_map(|(order, model, max_parallel_tasks)| Options {
        order,
        model,
        max_parallel_tasks,
        exclusive: Vec::new(),
        composite: HashMap::from([("1.2".to_owned(), 5), ("2.1".to_owned(), 3)]),
    })
}

/// For each leaf the leaves that it waits for, itself never among them.
fn waits<'p>(plan: &'p Plan<'_>) -> HashMap<&'p str, Vec<&'p str>> {
    let index = Index::new(plan);
    plan.leaves().map(|leaf| (&*leaf.id, index.leaf_dependencies(leaf))).collect()
}

fn share_a_file(one: &[&str], other: &[&str]) -> bool {
    let normal = |file: &&str| path::normal(path::literal_prefix(file)).unwrap().into_owned();
    one.iter()
        .map(normal)
        .any(|a| other.iter().map(normal).any(|b| a == b || path::is_above(&a, &b) || path::is_above(&b, &a)))
}

fn wave_of<'p>(found: &Schedule<'p>) -> HashMap<&'p str, usize> {
    found.order.iter().map(|step| (step.id, step.wave)).collect()
}

/// The longest chain by complexity that ends with each leaf, the slow way.
fn longest(plan: &Plan, waits: &HashMap<&str, Vec<&str>>) -> u64 {
    let mut length: HashMap<&str, u64> = HashMap::new();
    // Leaves wait for earlier ones only, in these trees.
    for leaf in plan.leaves() {
        let before = waits[&*leaf.id].iter().map(|id| length[id]).max().unwrap_or(0);
        length.insert(&leaf.id, before + u64::from(leaf.complexity.unwrap_or(1)));
    }
    length.into_values().max().unwrap_or(0)
}

proptest! {
    #[test]
    fn every_schedule_is_one(leaves in prop::collection::vec(leaf(), 1..24), options in options()) {
        let text = text(&leaves);
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

        let limit = if options.model == ExecutionModel::Sequential { 1 } else { options.max_parallel_tasks };
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

    /// Each task is in the first wave, or what it is said to wait for is in the wave before and does hold it up.
    #[test]
    fn every_delay_has_its_cause(leaves in prop::collection::vec(leaf(), 1..24), options in options()) {
        let text = text(&leaves);
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
                    Cause::Dependency => prop_assert!(waits[step.id].contains(on)),
                    Cause::File => prop_assert!(share_a_file(&step.files, files[on])),
                    Cause::Group => prop_assert_eq!(options.model, ExecutionModel::Phased),
                    Cause::Limit => prop_assert!(false, "nothing is waited for"),
                }
            }
            prop_assert_eq!(delay.on.is_empty(), delay.cause == Cause::Limit);
        }
    }

    #[test]
    fn the_critical_path_is_a_chain_and_a_lower_bound(
        leaves in prop::collection::vec(leaf(), 1..24),
        options in options(),
    ) {
        let text = text(&leaves);
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
        leaves in prop::collection::vec(leaf(), 0..24),
        options in options(),
    ) {
        let text = text(&leaves);
        let bytes = || {
            let (plan, _) = parse(&text);
            let found = schedule(&plan, &options).unwrap();
            (serde_json::to_string(&found).unwrap(), markdown(&found))
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
        let order = Graph::new(&plan, &Index::new(&plan)).order(|_| 0);
        prop_assert_eq!(schedule(&plan, &Options::default()).is_ok(), order.len() == plan.tasks.len());
    }
}
