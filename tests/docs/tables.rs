//! Tables and figures of the documentation, held against the program.

use std::collections::BTreeSet;
use std::path::Path;

use regex::Regex;
use serde_json::Value;

use crate::page::{Page, Row};
use crate::place::Place;
use crate::root;

fn source(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The rows of the only table with this heading.
fn rows(page: &Page, heading: &[&str]) -> Vec<Row> {
    let found: Vec<_> = page.tables_of(heading).collect();
    assert_eq!(found.len(), 1, "{}: tables with the heading {heading:?}", page.path);
    found[0].to_vec()
}

#[test]
fn every_event_is_told() {
    let page = Page::read("ARCHITECTURE.md");
    let told: Vec<String> =
        rows(&page, &["event", "caused by", "what it does"]).into_iter().map(|r| r[0].clone()).collect();
    let text = source("crates/fp-core/src/run/event.rs");
    let (_, events) = text.split_once("pub enum Event {").unwrap();
    let variant = Regex::new(r"(?m)^    ([A-Z])(\w+)(?: \{|,)$").unwrap();
    let events: Vec<String> =
        variant.captures_iter(events).map(|found| found[1].to_lowercase() + &found[2]).collect();
    assert_eq!(told.iter().collect::<BTreeSet<_>>(), events.iter().collect::<BTreeSet<_>>());
    assert_eq!(told.len(), events.len(), "an event is told twice");
}

#[test]
fn every_hook_is_told() {
    let page = Page::read("ARCHITECTURE.md");
    let told = rows(&page, &["event", "what fp does"]);
    let wiring: Value = serde_json::from_str(&source("hooks/hooks.json")).unwrap();
    let wired: BTreeSet<&String> = wiring["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(told.iter().map(|row| &row[0]).collect::<BTreeSet<_>>(), wired);
}

#[test]
fn the_table_of_settings_is_complete() {
    let page = Page::read("README.md");
    let told: BTreeSet<(String, String)> = page
        .tables_of(&["key", "default", "meaning"])
        .flatten()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let output = Place::bare().0.fp(&["config"]);
    let settings = output.stdout.lines().map(|line| {
        let (key, value) = line.split_once(' ').unwrap();
        (key.to_owned(), value.trim().to_owned())
    });
    assert_eq!(told, settings.collect::<BTreeSet<_>>());
}

#[test]
fn every_dependency_is_used_and_has_its_reason() {
    let page = Page::read("ARCHITECTURE.md");
    let (_, section) = page.text.split_once("\n## Dependencies\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let line = Regex::new(r#"(?m)^([a-z][a-z0-9_-]*) = (?:"|\{(?:.*package = "([^"]+)")?)"#).unwrap();
    let mut checked = 0;
    for (package, folders) in [
        ("", &["crates/fp", "tests"][..]),
        ("crates/fp-core", &["crates/fp-core"]),
        ("crates/fp-host", &["crates/fp-host"]),
    ] {
        let manifest = std::fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let sources: String = folders.iter().map(|folder| files_below(&root().join(folder), "rs")).collect();
        for part in manifest.split("\n[") {
            let heading = part.lines().next().unwrap();
            let ships = heading != "dev-dependencies]";
            for found in line.captures_iter(part).filter(|_| heading.ends_with("dependencies]")) {
                let used = sources.contains(&format!("{}::", found[1].replace('-', "_")));
                assert!(used || !ships, "{package}: nothing uses {}", &found[1]);
                let name = found.get(2).unwrap_or_else(|| found.get(1).unwrap()).as_str();
                let told = name.starts_with("fp-") || section.contains(name);
                assert!(told, "{package}: {name} is not explained in ARCHITECTURE.md");
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "only {checked} dependencies were found");
}

/// The texts of all files with this extension below `folder`.
fn files_below(folder: &Path, extension: &str) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    text
}
