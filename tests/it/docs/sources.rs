//! Claims that the pages make about the sources, and the length of the pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::docs::page::Page;
use crate::docs::root;

/// Budget for README.md, ARCHITECTURE.md, CONTRIBUTING.md and everything in docs/, in words.
const MOST_WORDS: usize = 24_000;

/// Each package with its folder of sources.
const PACKAGES: [(&str, &str); 6] = [
    ("fp", "crates/fp"),
    ("fp-plan", "crates/fp-plan"),
    ("fp-run", "crates/fp-run"),
    ("fp-comments", "crates/fp-comments"),
    ("fp-exchange", "crates/fp-exchange"),
    ("fp-host", "crates/fp-host"),
];

#[test]
fn the_pages_are_short() {
    let mut pages = files_below(&root().join("docs"), "md");
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        pages.push(root().join(page));
    }
    let words: usize = pages
        .iter()
        .map(|page| fs::read_to_string(page).unwrap().split_whitespace().count())
        .sum();
    assert!(words > 10_000, "only {words} words were found");
    assert!(words <= MOST_WORDS, "the pages have {words} words");
}

/// Compares the table of dependencies with the manifests, both ways.
#[test]
fn the_table_of_dependencies_is_what_the_manifests_say() {
    let page = Page::read("docs/internals/dependencies.md");
    let told: BTreeMap<String, String> = page
        .tables_of(&["crate", "in", "why"])
        .flatten()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let line =
        Regex::new(r#"(?m)^([a-z][a-z0-9_-]*) = (?:"|\{(?:.*package = "([^"]+)")?)"#).unwrap();
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (package, folder) in PACKAGES {
        let manifest = if package == "fp" { "" } else { folder };
        let manifest = fs::read_to_string(root().join(manifest).join("Cargo.toml")).unwrap();
        let sources: String = files_below(&root().join(folder), "rs")
            .iter()
            .map(|file| fs::read_to_string(file).unwrap())
            .collect();
        for section in manifest.split("\n[") {
            let heading = section.lines().next().unwrap();
            let user = match heading {
                "dependencies]" => package.to_owned(),
                "dev-dependencies]" => "tests".to_owned(),
                "target.'cfg(unix)'.dependencies]" => format!("{package} on Unix"),
                "target.'cfg(target_os = \"linux\")'.dependencies]" => {
                    format!("{package} on Linux")
                }
                "target.'cfg(windows)'.dependencies]" => format!("{package} on Windows"),
                other => {
                    assert!(!other.ends_with("dependencies]"), "{package}: {other}");
                    continue;
                }
            };
            for found in line.captures_iter(section) {
                let name = found.get(2).unwrap_or(found.get(1).unwrap()).as_str();
                let is_used = sources.contains(&format!("{}::", found[1].replace('-', "_")));
                assert!(is_used || user == "tests", "{package}: nothing uses {name}");
                if !name.starts_with("fp-") {
                    users.entry(name.to_owned()).or_default().push(user.clone());
                }
            }
        }
    }
    let real: BTreeMap<String, String> = users
        .into_iter()
        .map(|(name, mut users)| {
            users.dedup();
            if users.iter().any(|user| user != "tests") {
                users.retain(|user| user != "tests");
            } else {
                users.truncate(1);
            }
            (name, users.join(", "))
        })
        .collect();
    assert!(
        real.len() > 20,
        "only {} dependencies were found",
        real.len()
    );
    assert_eq!(told, real);
}

/// Code outside a feature reaches it only through the feature's `mod.rs`.
#[test]
fn features_are_reached_through_their_mod() {
    let features = root().join("crates/fp/features");
    let path = Regex::new(r"\bfeatures::(\w+)::(\w+)\b").unwrap();
    let mut checked = 0;
    for file in files_below(&root().join("crates/fp"), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        for found in path.captures_iter(&text) {
            let folder = features.join(&found[1]);
            let is_past = folder.join(format!("{}.rs", &found[2])).exists();
            assert!(
                !is_past || file.starts_with(&folder),
                "{}: {}",
                file.display(),
                &found[0]
            );
            checked += 1;
        }
    }
    assert!(checked > 5, "only {checked} paths were found");
}

/// All files with this extension below `folder`.
fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files
}
