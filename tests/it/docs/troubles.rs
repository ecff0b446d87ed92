//! The messages in the troubleshooting table, each provoked.

use std::fs::OpenOptions;
use std::path::Path;

use crate::common::plan::PLAN;
use crate::common::{Environment, Output};
use crate::docs::page::Page;
use crate::docs::place::{Place, sample_tree};

type Trouble = fn() -> Output;

/// A part of each message, in the order of the table, and the function that provokes it.
const TROUBLES: &[(&str, Trouble)] = &[
    ("Claude Code is not installed here", no_client),
    ("the repository has no commit yet", no_commit),
    (
        "files that the plan changes have uncommitted changes",
        dirty,
    ),
    ("the plan is not approved yet", unapproved),
    ("no plan was named and 2 are active", two_plans),
    ("there is no setting", unknown_setting),
    ("was edited after the plan was approved", edited),
    ("can't be changed or removed any more", frozen),
    ("not an entry of this log", damaged_log),
    ("is held by process", held_lock),
];

fn no_client() -> Output {
    let place = Place::bare();
    let only_fp = Path::new(env!("CARGO_BIN_EXE_fp"))
        .parent()
        .unwrap()
        .to_owned();
    place.0.env("PATH", only_fp).fp(&["install"])
}

fn no_commit() -> Output {
    let environment = Environment::new();
    environment.git(&["init", "--quiet"]);
    environment.plan(&sample_tree());
    environment.write("src/main.rs", "fn main() {}\n");
    environment.done(&["approve", PLAN, "--yes"]);
    environment.fp(&["run", "start", PLAN])
}

fn dirty() -> Output {
    let place = Place::planned();
    place.0.done(&["approve", PLAN, "--yes"]);
    place.0.write("src/greeting.rs", "// begun\n");
    place.0.fp(&["run", "start", PLAN])
}

fn unapproved() -> Output {
    Place::planned().0.fp(&["run", "start", PLAN])
}

fn two_plans() -> Output {
    let place = Place::planned();
    place.0.done(&["new", "Add a farewell"]);
    place.0.fp(&["status"])
}

fn unknown_setting() -> Output {
    let place = Place::bare();
    place
        .0
        .write(".fractal-planner/config.json", r#"{ "maxComplexty": 3 }"#);
    place.0.fp(&["config"])
}

fn edited() -> Output {
    let place = Place::started();
    place.edit_tree("Build the greeting", "Build a greeting");
    place.0.fp(&["claim", PLAN, "--as", "builder-1", "1"])
}

fn frozen() -> Output {
    let place = Place::started();
    place.0.claim("builder-1").unwrap();
    place.edit_tree("Build the greeting", "Build a greeting");
    place.0.fp(&["approve", PLAN, "--yes"])
}

fn damaged_log() -> Output {
    let place = Place::started();
    let log = format!(".fractal-planner/plans/{PLAN}/events.jsonl");
    let text = place.0.read(&log);
    place.0.write(&log, text + "nonsense\n");
    place.0.fp(&["status"])
}

fn held_lock() -> Output {
    let place = Place::started();
    let path = place.0.path(&format!(".fractal-planner/plans/{PLAN}/lock"));
    let lock = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    lock.lock().unwrap();
    place.0.fp(&["next"])
}

#[test]
fn every_message_is_one_that_the_program_says() {
    let page = Page::read("docs/troubleshooting.md");
    let rows: Vec<_> = page
        .tables_of(&["message", "what to do"])
        .flatten()
        .collect();
    assert_eq!(rows.len(), TROUBLES.len());
    for (row, (message, trouble)) in rows.iter().zip(TROUBLES) {
        assert!(
            row[0].contains(message),
            "{:?} is not brought about here",
            row[0]
        );
        let output = trouble();
        assert!(matches!(output.code, 1 | 2), "{output}");
        assert!(
            output.stderr.starts_with("error: ") && output.stderr.contains("\nhint: "),
            "{output}"
        );
        assert!(
            output.stderr.contains(&row[0]),
            "{:?} is not in\n{output}",
            row[0]
        );
    }
}
