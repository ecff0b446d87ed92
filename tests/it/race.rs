//! Processes that claim at the same moment.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Instant;

use crate::common::Environment;
use crate::common::plan::{PLAN, leaf, tree};

const PROCESSES: usize = 16;

/// Sixteen processes claim two hundred tasks: each task is claimed once, and none is lost. More tasks wouldn't add new
/// interleavings, since all sixteen compete for the lock all the time.
#[test]
fn two_hundred_tasks_are_claimed_once_each() {
    let tasks = 200;
    let ids: Vec<String> = (1..=tasks).map(|n| n.to_string()).collect();
    let files: Vec<String> = ids.iter().map(|id| format!("part-{id}.txt")).collect();
    let leaves: Vec<_> = ids
        .iter()
        .zip(&files)
        .map(|(id, file)| leaf(id, "none", file))
        .collect();
    let environment = Environment::new().repo();
    environment.plan(&tree(&leaves));
    environment.start(&[]);
    let start = Instant::now();
    let claimed: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..PROCESSES)
            .map(|worker| {
                let environment = &environment;
                scope.spawn(move || claim_all(environment, worker))
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} claims by {PROCESSES} processes: {:.0} a second",
        claimed.len(),
        tasks as f64 / seconds
    );
    let unique: BTreeSet<&String> = claimed.iter().collect();
    assert_eq!(unique.len(), claimed.len(), "a task was claimed twice");
    assert_eq!(unique, ids.iter().collect(), "a task was lost");
}

/// Claims until nothing is left, each time under a new name, since a builder holds one task at a time.
fn claim_all(environment: &Environment, worker: usize) -> Vec<String> {
    let mut claimed = Vec::new();
    for turn in 0.. {
        let owner = format!("builder-{worker}-{turn}");
        let mut claim = environment.command(env!("CARGO_BIN_EXE_fp"));
        claim.args(["claim", PLAN, "--as", &owner, "--format", "json"]);
        let output = claim.stderr(Stdio::piped()).output().unwrap();
        match output.status.code() {
            Some(0) => {
                let claim: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                claimed.push(claim["task"].as_str().unwrap().to_owned());
            }
            Some(3) => break,
            other => panic!("{other:?}: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }
    claimed
}

/// Two agents with the same name hold one task between them.
#[test]
fn two_agents_of_one_name_get_the_same_task() {
    let environment = Environment::new().repo();
    environment.plan(&tree(&[
        leaf("1", "none", "a.txt"),
        leaf("2", "none", "b.txt"),
    ]));
    environment.start(&["--builders", "2"]);
    let claims: BTreeSet<Option<(String, String)>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| environment.claim("builder-1")))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    assert_eq!(claims.len(), 1, "{claims:?}");
    assert!(claims.iter().all(Option::is_some));
}
