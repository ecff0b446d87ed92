//! Tables and figures of the documentation, checked against the program.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

use crate::docs::page::{Page, Row};
use crate::docs::place::Place;
use crate::docs::root;

fn source(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The rows of the only table with this heading.
fn rows(page: &Page, heading: &[&str]) -> Vec<Row> {
    let found: Vec<_> = page.tables_of(heading).collect();
    assert_eq!(
        found.len(),
        1,
        "{}: tables with the heading {heading:?}",
        page.path
    );
    found[0].to_vec()
}

/// The wire names of an enum's variants in a source file.
fn variant_names(path: &str, name: &str) -> Vec<String> {
    let text = source(path);
    let (_, body) = text.split_once(&format!("pub enum {name} {{")).unwrap();
    let body = body.split("\n}\n").next().unwrap();
    let variant = Regex::new(r"(?m)^    ([A-Z])(\w*)(?: \{|\(|,)").unwrap();
    variant
        .captures_iter(body)
        .map(|found| found[1].to_lowercase() + &found[2])
        .collect()
}

#[test]
fn every_hook_is_told() {
    let wiring: Value = serde_json::from_str(&source("hooks/hooks.json")).unwrap();
    let wired: BTreeSet<&String> = wiring["hooks"].as_object().unwrap().keys().collect();
    let page = Page::read("docs/hooks.md");
    let told = rows(&page, &["event", "when you notice it"]);
    assert_eq!(
        told.iter().map(|row| &row[0]).collect::<BTreeSet<_>>(),
        wired
    );
}

#[test]
fn every_field_of_a_task_is_told() {
    let page = Page::read("docs/task-tree.md");
    let told: BTreeSet<String> = rows(&page, &["field", "value"])
        .iter()
        .flat_map(|row| row[0].split(", ").map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let fields = fp_plan::plan::field::FieldKind::ALL.map(|field| field.label().to_owned());
    assert_eq!(told, fields.into());
}

#[test]
fn every_action_and_every_state_is_told() {
    let page = Page::read("docs/run-protocol.md");
    let told: Vec<String> = rows(&page, &["action", "what the lead does"])
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    assert_eq!(
        told,
        variant_names("crates/fp-run/src/run/next.rs", "LeadAction")
    );
    let states = rows(&page, &["status", "shown as", "meaning"]);
    for row in &states {
        let state: fp_run::run::state::Status =
            serde_json::from_value(row[0].as_str().into()).expect("it is a state");
        assert_eq!(row[1], state.into_str());
    }
    assert_eq!(
        states.len(),
        variant_names("crates/fp-run/src/run/task_state.rs", "Status").len()
    );
}

#[test]
fn every_exit_status_is_told() {
    let told: Vec<String> = rows(&Page::read("docs/exit-codes.md"), &["status", "meaning"])
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    let status = Regex::new(r"(?m)^            Self::\w+(?: \| Self::\w+)* => (\d),$").unwrap();
    let text = source("crates/fp-plan/src/hint.rs");
    let real: Vec<String> = status
        .captures_iter(&text)
        .map(|found| found[1].to_owned())
        .collect();
    assert_eq!(told, real);
}

#[test]
fn every_variable_that_sets_something_is_told() {
    let told: BTreeSet<String> = rows(
        &Page::read("docs/configuration.md"),
        &["variable", "the same as"],
    )
    .into_iter()
    .map(|row| row[0].split('=').next().unwrap().to_owned())
    .collect();
    let text = source("crates/fp-host/src/config.rs");
    let variable = Regex::new(r#"\(\s*"([A-Z_]+)"[,)]"#).unwrap();
    let read: BTreeSet<String> = variable
        .captures_iter(&text)
        .map(|found| found[1].to_owned())
        .filter(|name| {
            !["HOME", "APPDATA", "USERPROFILE", "XDG_CONFIG_HOME"].contains(&name.as_str())
        })
        .collect();
    assert_eq!(told, read);
}

#[test]
fn every_file_that_a_run_makes_is_told() {
    let page = Page::read("docs/plan-folder.md");
    let told: BTreeSet<String> = rows(&page, &["file", "what it is"])
        .iter()
        .flat_map(|row| row[0].split(", ").map(str::to_owned).collect::<Vec<_>>())
        .map(|path| path.split('/').next().unwrap().to_owned())
        .collect();
    let place = Place::started();
    for command in [
        &["plan"][..],
        &["signals"],
        &["report", "--handoff"],
        &["next"],
    ] {
        place.0.done(command);
    }
    let plans = std::fs::read_dir(place.0.path(".fractal-planner/plans")).unwrap();
    let folder = plans
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.is_dir())
        .unwrap();
    let made: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(made.len() > 6, "only {made:?} were made");
    let untold: Vec<_> = made.difference(&told).collect();
    assert!(untold.is_empty(), "{untold:?}");
}

#[test]
fn the_table_of_settings_is_complete() {
    let page = Page::read("docs/configuration.md");
    let told: BTreeSet<(String, String)> = page
        .tables_of(&["key", "default", "meaning"])
        .flatten()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let output = Place::bare().0.fp(&["config"]);
    let settings = output.stdout.lines().map(|line| {
        let (key, value) = line.split_once(" default ").unwrap();
        (key.trim().to_owned(), value.trim().to_owned())
    });
    assert_eq!(told, settings.collect::<BTreeSet<_>>());
}

/// The figures shown to readers are the measured ones.
#[test]
fn the_figures_of_costs_are_the_measured_ones() {
    let told = Page::read("docs/cost.md");
    let measured = Page::read("docs/internals/prompts.md");
    let plans = [
        "goal",
        "mode",
        "agents",
        "rounds",
        "calls of fp",
        "pages and output",
        "files of the plan",
    ];
    let plans: Vec<Row> = rows(&measured, &plans)
        .into_iter()
        .map(|row| row[..4].to_vec())
        .collect();
    for row in rows(&told, &["goal", "mode", "agents", "rounds of questions"]) {
        assert!(plans.contains(&row), "{row:?} was not measured");
    }
    let engines = ["engine", "builders", "requests", "tokens sent"];
    let lead = ["builders", "turns", "requests", "new tokens", "tokens sent"];
    let sessions: Vec<Row> = rows(&measured, &lead)
        .into_iter()
        .map(|row| {
            let a_task = |figure: &str| format!("{figure} a task");
            vec![
                "session".to_owned(),
                row[0].clone(),
                a_task(&row[2]),
                a_task(&row[4]),
            ]
        })
        .collect();
    let told = rows(&told, &engines);
    assert_eq!(told[..sessions.len()], sessions);
    assert_eq!(told[sessions.len()][0], "processes");
}
