//! Machines that work on one plan at the same time.

use std::time::Duration;

use super::host::{Host, WAYS, Way};
use super::machine::{Machine, Step, chain, expect_all_done_once, parts};
use crate::common::plan::PLAN;

/// One machine that shares a plan of `tasks` tasks, and others that have joined; `machines` in total.
pub(super) fn fleet(host: &Host, machines: usize, tasks: usize) -> Vec<Machine> {
    let first = Machine::new(host, "m1");
    let hash = first.share(&parts(tasks));
    let others = (2..=machines).map(|number| Machine::new(host, &format!("m{number}")));
    let others: Vec<Machine> = others.collect();
    std::thread::scope(|scope| {
        for machine in &others {
            scope.spawn(|| machine.join(&hash));
        }
    });
    std::iter::once(first).chain(others).collect()
}

#[test]
fn two_machines_do_all_tasks_once_however_they_reach_the_remote() {
    for way in WAYS {
        let host = Host::new(way);
        let machines = fleet(&host, 2, 2);
        for (turn, machine) in machines.iter().cycle().take(2).enumerate() {
            assert!(
                matches!(machine.step(1), Step::Done(_)),
                "{way:?}, turn {turn}"
            );
        }
        assert_eq!(machines[0].step(1), Step::Nothing, "{way:?}");
        expect_all_done_once(&host, 2);
        machines[1].done(&["next", PLAN]);
        machines[0].done(&["next", PLAN]);
        machines[1].done(&["next", PLAN]);
        for machine in &machines {
            assert!(
                machine.entries() == chain(&host),
                "{way:?}: {} has another log",
                machine.name
            );
        }
    }
}

/// No two machines claim the same task, nothing is lost, and the branch gets one commit per task.
fn all_at_once(machines: usize, tasks: usize, time: Duration) {
    let host = Host::new(Way::Path);
    let machines = fleet(&host, machines, tasks);
    let mut done: Vec<String> = std::thread::scope(|scope| {
        let builders = machines
            .iter()
            .flat_map(|machine| [(machine, 1), (machine, 2)]);
        let working: Vec<_> = builders
            .map(|(machine, builder)| scope.spawn(move || machine.work(builder, time)))
            .collect();
        working
            .into_iter()
            .flat_map(|working| working.join().unwrap())
            .collect()
    });
    done.sort();
    let mut expect: Vec<String> = (1..=tasks).map(|n| n.to_string()).collect();
    expect.sort();
    assert_eq!(done, expect);
    expect_all_done_once(&host, tasks);
}

#[test]
fn three_machines_with_two_builders_each_do_all_tasks_once() {
    all_at_once(3, 9, Duration::ZERO);
}

#[test]
#[ignore = "it takes twenty minutes: run it when the ledger of shared plans changes"]
fn eight_machines_with_two_builders_each_do_all_tasks_once() {
    all_at_once(8, 500, Duration::from_secs(15));
}
