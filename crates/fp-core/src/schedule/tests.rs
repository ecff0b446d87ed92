//! Order, waves and critical path of small trees.

mod properties;

use super::{Options, Schedule, ScheduleError, markdown, schedule};
use crate::plan::parse;
use crate::settings::{ExecutionModel, ExecutionOrder};

/// A flat tree of `id complexity; fields; …` a line.
fn tree(tasks: &[&str]) -> String {
    let mut text = "- [ID: root] Goal\n".to_owned();
    for task in tasks {
        let mut parts = task.split("; ");
        let (id, complexity) = parts.next().and_then(|head| head.split_once(' ')).unwrap_or((task, "1"));
        text.push_str(&format!("- [ID: {id}] Task {id} (Complexity: {complexity})\n"));
        parts.for_each(|field| text.push_str(&format!("  - {field}\n")));
    }
    text
}

/// The schedule of a tree that is never given back.
fn run(text: &str, options: &Options) -> Schedule<'static> {
    let plan = Box::leak(Box::new(parse(text.to_owned().leak()).0));
    schedule(plan, options).unwrap()
}

fn parallel(limit: u32) -> Options {
    Options { max_parallel_tasks: limit, ..Options::default() }
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
    schedule.waves.iter().map(|wave| wave.tasks.iter().map(shown).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn order_of_ties() {
    let tasks = ["1 2", "2 5", "3 5", "4 1; Dependencies: 3", "5 3"];
    let check = |order: ExecutionOrder, composite: &[(&str, u8)], expect: &[&str]| {
        let composite = composite.iter().map(|(id, value)| ((*id).to_owned(), *value)).collect();
        let found = run(&tree(&tasks), &Options { order, composite, ..Options::default() });
        let ids: Vec<&str> = found.order.iter().map(|step| step.id).collect();
        assert_eq!(ids, expect, "{order:?}");
    };
    check(ExecutionOrder::DocumentOrder, &[], &["1", "2", "3", "4", "5"]);
    check(ExecutionOrder::RiskFirst, &[], &["2", "3", "5", "1", "4"]);
    check(ExecutionOrder::RiskFirst, &[("5", 4), ("1", 3)], &["5", "1", "2", "3", "4"]);
    check(ExecutionOrder::EasyFirst, &[], &["1", "5", "2", "3", "4"]);
}

#[test]
fn waves_and_what_delays_them() {
    let check = |tasks: &[&str], limit: u32, expect: &[&str]| {
        assert_eq!(waves(&run(&tree(tasks), &parallel(limit))), expect, "{tasks:?}")
    };
    check(&["1 1", "2 1"], 2, &["1 2"]);
    check(&["1 1", "2 1"], 1, &["1", "2:Limit()"]);
    check(&["1 1", "2 1; Dependencies: 1", "3 1"], 2, &["1 3", "2:Dependency(1)"]);
    check(&["1 1; Files: a", "2 1; Files: a", "3 1; Files: a"], 4, &["1", "2:File(1)", "3:File(2)"]);
    check(
        &["1 1; Files: src/", "2 1; Files: src/a.rs", "3 1; Files: src/b.rs"],
        4,
        &["1", "2:File(1) 3:File(1)"],
    );
    check(&["1 1; Files: src/a.rs", "2 1; Files: src", "3 1; Files: b"], 4, &["1 3", "2:File(1)"]);
    check(&["1 1; Files: .", "2 1; Files: x"], 4, &["1", "2:File(1)"]);
    check(&["1 1; Files: a", "2 1; Files: ./a", "3 1"], 1, &["1", "2:Limit()", "3:Limit()"]);
    check(&["1 1", "2 1", "3 1; Dependencies: 1, 2", "4 1"], 2, &["1 2", "3:Dependency(1,2) 4:Limit()"]);
    check(&[], 2, &["root"]);
    check(&["1 1; Files: a/Cargo.toml", "2 1; Files: b/Cargo.toml"], 2, &["1", "2:File(1)"]);
}

#[test]
fn a_dependency_on_a_parent_waits_for_all_of_it() {
    let text = "- [ID: root] R\n- [ID: 1] A (Complexity: 1)\n  - Dependencies: 2\n- [ID: 2] B\n  - [ID: 2.1] C (Complexity: 2)\n  - [ID: 2.2] D (Complexity: 3)\n    - Dependencies: 2.1\n";
    let found = run(text, &parallel(4));
    assert_eq!(waves(&found), ["2.1", "2.2:Dependency(2.1)", "1:Dependency(2.2)"]);
    assert_eq!((found.critical_path.tasks, found.critical_path.complexity), (vec!["2.1", "2.2", "1"], 6));
}

#[test]
fn models() {
    let tasks = ["1 1; Group: a", "2 1; Group: b", "3 1; Group: a", "4 1"];
    let check = |model: ExecutionModel, expect: &[&str]| {
        let found = run(&tree(&tasks), &Options { model, max_parallel_tasks: 4, ..Options::default() });
        assert_eq!(waves(&found), expect, "{model:?}");
    };
    check(ExecutionModel::Parallel, &["1 2 3 4"]);
    check(ExecutionModel::Sequential, &["1", "2:Limit()", "3:Limit()", "4:Limit()"]);
    check(ExecutionModel::Phased, &["1 3 4", "2:Group(4)"]);
}

#[test]
fn speed_up() {
    let found = run(&tree(&["1 4", "2 4", "3 4", "4 4; Dependencies: 3"]), &parallel(2));
    let gains: Vec<(u32, f64)> = found.speed_up.iter().map(|gain| (gain.builders, gain.factor)).collect();
    assert_eq!((found.total_complexity, gains), (16, vec![(1, 1.0), (2, 2.0), (4, 2.0), (8, 2.0)]));
    let critical: Vec<(&str, u32)> =
        found.waves.iter().map(|wave| (wave.critical, wave.complexity)).collect();
    assert_eq!(critical, [("1", 4), ("3", 4), ("4", 4)]);
}

#[test]
fn a_cycle_is_refused() {
    let text = tree(&["1 1", "2 1; Dependencies: 3", "3 1; Dependencies: 2", "4 1; Dependencies: 2"]);
    let (plan, _) = parse(&text);
    assert_eq!(
        schedule(&plan, &Options::default()),
        Err(ScheduleError::Cycle { count: 3, first: "2".to_owned() })
    );
}

#[test]
fn an_empty_tree_has_an_empty_schedule() {
    let (plan, _) = parse("");
    let found = schedule(&plan, &Options::default()).unwrap();
    assert_eq!((found.order.len(), found.waves.len(), found.critical_path.complexity), (0, 0, 0));
}

#[test]
fn large_plans_take_linear_time() {
    let chain: Vec<String> = (1..=5_000)
        .map(|id| {
            format!(
                "{id} 1; Dependencies: {}; Files: CHANGELOG.md",
                if id == 1 { "none".to_owned() } else { (id - 1).to_string() }
            )
        })
        .collect();
    assert_eq!(
        run(&tree(&chain.iter().map(String::as_str).collect::<Vec<_>>()), &parallel(4)).waves.len(),
        5_000
    );
    // Files that are free in turns, so that every wave has something in the way.
    let turns: Vec<String> = (1..=20_000)
        .map(|id| match id {
            1 => "1 1; Files: a".to_owned(),
            ..=10_000 => {
                format!("{id} 1; Dependencies: {}; Files: {}", id - 1, if id % 2 == 0 { "a" } else { "b" })
            }
            _ => format!("{id} 1; Files: a, b"),
        })
        .collect();
    assert_eq!(
        run(&tree(&turns.iter().map(String::as_str).collect::<Vec<_>>()), &parallel(4)).waves.len(),
        20_000
    );
    let shared: Vec<String> =
        (1..=5_000).map(|id| format!("{id} 1; Files: CHANGELOG.md, src/{id}.rs")).collect();
    assert_eq!(
        run(&tree(&shared.iter().map(String::as_str).collect::<Vec<_>>()), &parallel(16)).waves.len(),
        5_000
    );
    let free: Vec<String> = (1..=5_000).map(|id| format!("{id} 1")).collect();
    assert_eq!(
        run(&tree(&free.iter().map(String::as_str).collect::<Vec<_>>()), &parallel(1)).waves.len(),
        5_000
    );
}

#[test]
fn plan_md() {
    let text = tree(&[
        "1 3; Acceptance: Prints <a>; Files: a.rs",
        "2 2; Dependencies: 1; Files: b.rs",
        "3 1; Files: a.rs",
    ]);
    let found = run(&text, &parallel(2));
    assert_eq!(markdown(&found), markdown(&run(&text, &parallel(2))));
    insta::assert_snapshot!(markdown(&found), @r"
    # Implementation Plan

    3 tasks in 2 waves, at most 2 at once. A wave is the earliest step at which its tasks can run.

    ## Execution Order
    1. [Task 1]: Task 1
       - Dependencies: none
       - Complexity: 3
       - Files: `a.rs`
       - Acceptance:
         1. Prints \<a>
    2. [Task 2]: Task 2
       - Dependencies: 1
       - Complexity: 2
       - Files: `b.rs`
       - Acceptance: none
    3. [Task 3]: Task 3
       - Dependencies: none
       - Complexity: 1
       - Files: `a.rs`
       - Acceptance: none

    ## Waves

    ### Wave 1 (complexity 3)

    - 1 Task 1 (3)

    ### Wave 2 (complexity 2)

    - 2 Task 2 (2) — after 1
    - 3 Task 3 (1) — `a.rs` is with 1

    ## Critical Path

    1 → 2

    - Complexity of the path: 5 of 6 in all, 5 in waves
    - Ideal speed-up by builders: 1 × 1.00, 2 × 1.20, 4 × 1.20, 8 × 1.20
    ");
}
