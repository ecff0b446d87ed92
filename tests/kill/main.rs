//! Processes killed at every moment: everything written stays, and running the same command again picks up where it
//! stopped.
#![allow(clippy::unwrap_used, reason = "a test ends at its first surprise")]
#![allow(clippy::print_stdout, reason = "figures, and what was skipped")]
#![cfg_attr(windows, allow(dead_code, reason = "some tests need Unix"))]

#[path = "../common/mod.rs"]
mod common;

mod concurrent;
#[cfg(unix)]
mod random;
mod systematic;

use std::collections::BTreeSet;

use common::Environment;
use common::plan::PLAN;
use serde_json::Value;

impl Environment {
    /// The entries of the log, each of which must be valid, with no gap in the numbers.
    fn log(&self) -> Vec<Value> {
        let log = self.read(&format!(".fractal-planner/plans/{PLAN}/events.jsonl"));
        let entries: Vec<Value> = log
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let numbers: Vec<u64> = entries
            .iter()
            .map(|entry| entry["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, (1..=entries.len() as u64).collect::<Vec<_>>());
        entries
    }

    /// The events of one kind in the log.
    fn logged(&self, kind: &str) -> Vec<Value> {
        let entries = self.log();
        let events = entries
            .iter()
            .flat_map(|entry| entry["events"].as_array().unwrap());
        events
            .filter_map(|event| event.get(kind).cloned())
            .collect()
    }

    /// The files of the plan's folder and beside it, sorted.
    fn plan_files(&self) -> BTreeSet<String> {
        let plans = self.path(".fractal-planner/plans");
        let mut files = BTreeSet::new();
        let mut open = vec![plans.clone()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(&plans).unwrap().to_str().unwrap();
                    files.insert(
                        name.strip_prefix(&format!("{PLAN}/"))
                            .unwrap_or(name)
                            .to_owned(),
                    );
                }
            }
        }
        files
    }

    /// Asserts that the snapshot agrees with the log, and returns the status that both give.
    fn assert_snapshot_is_the_log(&self) -> String {
        let report = || self.done(&["status", PLAN, "--format", "json"]).stdout;
        let by_snapshot = report();
        std::fs::remove_file(self.path(&format!(
            ".fractal-planner/plans/{PLAN}/execution-state.json"
        )))
        .unwrap();
        assert_eq!(by_snapshot, report());
        by_snapshot
    }
}
