//! Concurrent processes that are killed while they work.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use crate::common::Environment;
use crate::common::plan::{Leaf, PLAN, leaf, tree};

const BUILDERS: usize = 8;

fn side_by_side(tasks: usize) -> Environment {
    let ids: Vec<String> = (1..=tasks).map(|n| n.to_string()).collect();
    let files: Vec<String> = ids.iter().map(|id| format!("part-{id}.txt")).collect();
    let leaves: Vec<Leaf<'_>> = ids
        .iter()
        .zip(&files)
        .map(|(id, file)| leaf(id, "none", file))
        .collect();
    let environment = Environment::new().repo();
    environment.plan(&tree(&leaves));
    environment.start(&["--builders", "8"]);
    environment
}

/// Half of all claims are killed midway: each task is still claimed once, by a builder that is told about its claim.
#[test]
fn killed_claims_are_never_double() {
    let environment = side_by_side(64);
    let known: BTreeMap<String, String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..BUILDERS)
            .map(|worker| {
                scope.spawn({
                    let environment = &environment;
                    move || claim_all(environment, worker)
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    assert_eq!(known.len(), 64, "each task has one owner");
    let logged: Vec<(String, String)> = environment
        .logged("claimed")
        .iter()
        .map(|claim| {
            (
                claim["task"].as_str().unwrap().to_owned(),
                claim["owner"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(logged.len(), 64, "and was claimed once: {logged:?}");
    assert_eq!(logged.into_iter().collect::<BTreeMap<_, _>>(), known);
    environment.assert_snapshot_is_the_log();
}

/// Claims under a series of names: for each, a first process is killed, and a second one may finish. Returns the tasks
/// with their owners.
fn claim_all(environment: &Environment, worker: usize) -> Vec<(String, String)> {
    let mut claimed = Vec::new();
    for turn in 0.. {
        let owner = format!("builder-{worker}-{turn}");
        let mut claim = environment.command(env!("CARGO_BIN_EXE_fp"));
        claim
            .args(["claim", PLAN, "--as", &owner])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = claim.spawn().unwrap();
        std::thread::sleep(Duration::from_millis((worker * 7 + turn * 13) as u64 % 40));
        drop(child.kill());
        child.wait().unwrap();
        match environment.claim(&owner) {
            Some((task, _)) => claimed.push((task, owner)),
            None => break,
        }
    }
    claimed
}

/// Eight verifiers give their verdicts at the same moment: each task gets one commit with one file, whichever process
/// makes it.
#[test]
fn verdicts_at_the_same_moment_are_one_commit_each() {
    let environment = side_by_side(BUILDERS);
    let tokens: Vec<_> = (1..=BUILDERS)
        .map(|n| environment.claim(&format!("builder-{n}")).unwrap())
        .collect();
    for (number, (task, _)) in tokens.iter().enumerate() {
        let own = format!(
            ".fractal-planner/plans/{PLAN}/worktrees/builder-{}",
            number + 1
        );
        environment.write(&format!("{own}/part-{task}.txt"), format!("about {task}\n"));
    }
    for (task, token) in &tokens {
        environment.done(&["submit", PLAN, task, "--claim", token]);
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = tokens
            .iter()
            .map(|(task, _)| scope.spawn(|| environment.pass(task)))
            .collect();
        for (worker, (task, _)) in workers.into_iter().zip(&tokens) {
            let verdict = worker.join().unwrap();
            assert!(
                verdict
                    .stdout
                    .starts_with(&format!("Task {task} passed: commit ")),
                "{verdict}"
            );
        }
    });
    let log = environment.git(&["log", "--name-only", "--format=%x00"]);
    let mut files: Vec<Vec<&str>> = log
        .split('\0')
        .skip(1)
        .map(|commit| commit.split_whitespace().collect())
        .collect();
    files.sort_unstable();
    let mut expected: Vec<Vec<String>> = (1..=BUILDERS)
        .map(|n| vec![format!("part-{n}.txt")])
        .collect();
    expected.insert(0, vec!["README.md".to_owned()]);
    assert_eq!(files, expected);
    assert_eq!(environment.git(&["status", "--short"]), "");
}
