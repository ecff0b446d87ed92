//! Keeps the documentation true: its commands run, its transcripts match the program's output, its tables agree with
//! the program, its links lead somewhere.

mod page;
mod place;
mod sources;
mod tables;
mod troubles;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::plan::PLAN;
use page::{Block, Page};
use place::Place;
use regex::Regex;
use serde_json::{Value, json};

/// The pages whose blocks are commands or settings for the reader.
const GUIDES: [&str; 26] = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/tutorial.md",
    "docs/install.md",
    "docs/builders.md",
    "docs/setup.md",
    "docs/cost.md",
    "docs/pages.md",
    "docs/commits.md",
    "docs/validation.md",
    "docs/trust.md",
    "docs/specs.md",
    "docs/import-export.md",
    "docs/roadmap.md",
    "docs/task-tree.md",
    "docs/plan-folder.md",
    "docs/run.md",
    "docs/review.md",
    "docs/machines.md",
    "docs/run-protocol.md",
    "docs/log.md",
    "docs/hooks.md",
    "docs/exit-codes.md",
    "docs/configuration.md",
    "docs/from-0.1.md",
    "plugin/README.md",
];
/// Pages without blocks, and those that are about the project itself.
const OTHERS: [&str; 15] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "docs/README.md",
    "docs/commands.md",
    "docs/glossary.md",
    "docs/linear.md",
    "docs/platforms.md",
    "docs/signals.md",
    "docs/troubleshooting.md",
    "docs/internals/README.md",
    "docs/internals/decisions.md",
    "docs/internals/dependencies.md",
    "docs/internals/ledger.md",
    "docs/internals/prompts.md",
    "docs/internals/run.md",
];

/// Shell blocks that are only inspected, each with the reason for not running it.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "cargo build\ncargo test --workspace\n",
        "it is what runs this test",
    ),
    ("cargo test --workspace\n", "it is what runs this test"),
    (
        "cargo test -p fp-plan rules\ncargo test -p fp-host store\ncargo test --test it config::\n",
        "they run as a part of all tests",
    ),
    (
        "cargo test --test it -- --nocapture mutation::\n",
        "they run as a part of all tests",
    ),
    (
        ".ci/fetch-client\n.ci/fetch-codex\ncargo test --test client\n",
        "it needs the network; .ci/run does both",
    ),
    (".ci/run\n", "it runs this test"),
    (
        "cargo test --bin fp plugin_lint -- --nocapture\n",
        "it runs as a part of all tests",
    ),
    (
        "cargo test --bin fp figures -- --nocapture\n",
        "it runs as a part of all tests",
    ),
    (
        "cargo test --test client figures -- --nocapture\n",
        "it needs Claude Code, and runs as a part of all tests",
    ),
    (
        "cargo +nightly fuzz run fmt -- -max_len=400\n",
        "it needs a nightly compiler, and ends when it is stopped",
    ),
    (
        "cargo install --path .\n",
        "it would take minutes, and builds what is built here",
    ),
    (
        "cargo run --release -- install\n",
        "it needs Claude Code; tests/install.rs and tests/client show it",
    ),
    (
        "cargo run --release -- install --remove\n",
        "it needs Claude Code; tests/install.rs and tests/client show it",
    ),
];

fn pages() -> Vec<Page> {
    GUIDES.into_iter().chain(OTHERS).map(Page::read).collect()
}

fn guides() -> Vec<Page> {
    GUIDES.map(Page::read).into()
}

/// The blocks of a kind in all guides; there must be at least one.
fn blocks(kind: &str) -> Vec<Block> {
    let found: Vec<Block> = guides()
        .iter()
        .flat_map(|page| page.blocks(kind))
        .cloned()
        .collect();
    assert!(!found.is_empty(), "no {kind} block was found");
    found
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_block_is_of_a_kind_that_is_tested() {
    for page in guides() {
        assert!(!page.blocks.is_empty(), "{}: no block was found", page.path);
        for block in &page.blocks {
            let tested = ["sh", "console", "json", "markdown", "mermaid", "text"]
                .contains(&block.kind.as_str());
            assert!(
                tested,
                "{}: nothing tests a block of kind {:?}",
                block.place, block.kind
            );
        }
    }
}

#[test]
fn commands_run() {
    let mut only_looked_at = BTreeSet::new();
    let mut run = 0;
    for block in blocks("sh").into_iter().chain(
        Page::read("docs/internals/prompts.md")
            .blocks("sh")
            .into_iter()
            .cloned(),
    ) {
        let syntax = Place::bare().understands(&block.text);
        assert_eq!(syntax.code, 0, "{}: {syntax}", block.place);
        if NOT_RUN.iter().any(|(text, _)| *text == block.text) {
            block
                .text
                .lines()
                .for_each(|line| look_at(line, &block.place));
            only_looked_at.insert(block.text);
        } else {
            let output = Place::started().shell(&block.text);
            assert_eq!(output.code, 0, "{}: {output}", block.place);
            run += 1;
        }
    }
    assert!(run > 0, "no block was run");
    let listed: BTreeSet<String> = NOT_RUN.iter().map(|(text, _)| (*text).to_owned()).collect();
    assert_eq!(
        listed, only_looked_at,
        "a block that is listed as not run is gone from the pages"
    );
}

#[test]
fn a_program_of_ones_own_needs_no_other() {
    let page = Page::read("docs/run.md");
    let blocks = page.blocks("sh");
    let block = blocks.iter().find(|block| block.text.contains("bin/mine"));
    let place = Place::started();
    std::fs::remove_file(place.0.beside("bin/claude")).unwrap();
    let output = place.shell(&block.unwrap().text);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("2 of 2 tasks done"), "{output}");
}

/// Checks a command without running it: the command, test or package that it names must exist.
fn look_at(line: &str, place: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let there = |path: String| assert!(root().join(&path).exists(), "{place}: there is no {path}");
    match words[..] {
        ["cargo", "run", "--release", "--", ..] => knows(&words[4..], place),
        ["cargo", "test", "-p", package, ..] => there(format!("crates/{package}/Cargo.toml")),
        ["cargo", "test", "--test", test, ..] => there(format!("tests/{test}/main.rs")),
        ["cargo", "test", "--bin", "fp", module, ..] => {
            let sources = std::fs::read_to_string(root().join("tests/plugin_lint/mod.rs")).unwrap();
            assert!(
                module == "plugin_lint" || sources.contains(&format!("fn {module}")),
                "{place}: {line}"
            );
        }
        ["cargo", "+nightly", "fuzz", "run", target, ..] => {
            there(format!("fuzz/fuzz_targets/{target}.rs"))
        }
        ["cargo", "build" | "test" | "install", ..] => {}
        [script] => there(script.to_owned()),
        _ => panic!("{place}: nothing looks at {line:?}"),
    }
}

/// Fails unless `fp` has this subcommand, with these flags.
fn knows(words: &[&str], place: &str) {
    let bare = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase());
    let mut command: Vec<&str> = words.iter().take_while(bare).copied().collect();
    // For other commands, a lower-case word may be an argument and not a subcommand.
    let has_inner = matches!(
        command[..],
        ["run", "start", ..]
            | [
                "ci" | "config" | "critique" | "roadmap" | "specs" | "task",
                _,
                ..
            ]
            | ["plans", "archive" | "export" | "restore", ..]
    );
    command.truncate(if has_inner { 2 } else { 1 });
    let help = Place::bare().0.fp(&[&command[..], &["--help"]].concat());
    assert_eq!(help.code, 0, "{place}: `fp {}`: {help}", words.join(" "));
    for flag in words.iter().filter(|word| word.starts_with("--")) {
        let known = Regex::new(&format!("{}\\b", regex::escape(flag)))
            .unwrap()
            .is_match(&help.stdout);
        // The old name of `--json`, which every command still accepts.
        let known = known || *flag == "--format";
        assert!(known, "{place}: `fp {}` has no {flag}", command.join(" "));
    }
}

#[test]
fn commands_that_are_mentioned_exist() {
    let mut checked = 0;
    // Skip the page of commands, which is generated from the command line.
    for page in pages()
        .into_iter()
        .filter(|page| page.path != "docs/commands.md")
    {
        for span in page
            .spans
            .iter()
            .filter_map(|span| span.strip_prefix("fp "))
        {
            let words: Vec<&str> = span.split_whitespace().collect();
            if words[0] != "…" {
                knows(&words, &format!("{}: `fp {span}`", page.path));
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "only {checked} commands were found");
}

#[test]
fn transcripts_are_what_the_program_prints() {
    for block in blocks("console").iter().filter(|block| {
        ![TUTORIAL, REVIEW]
            .iter()
            .any(|page| block.place.starts_with(page))
    }) {
        plays(block, &Place::started());
    }
}

/// The page whose transcripts follow each other in one repository.
const TUTORIAL: &str = "docs/tutorial.md";

/// The page whose transcripts follow each other in a repository with a remote on a host.
const REVIEW: &str = "docs/review.md";

#[test]
fn the_way_to_a_review_can_be_followed() {
    let place = Place::hosted();
    let page = Page::read(REVIEW);
    let transcripts = page.blocks("console");
    assert!(transcripts.len() > 3, "{} transcripts", transcripts.len());
    transcripts
        .into_iter()
        .for_each(|block| plays(block, &place));
}

#[test]
fn the_tutorial_can_be_followed() {
    let place = Place::planned();
    let page = Page::read(TUTORIAL);
    let transcripts = page.blocks("console");
    assert!(transcripts.len() > 4, "{} transcripts", transcripts.len());
    transcripts
        .into_iter()
        .for_each(|block| plays(block, &place));
    let report = place.0.read("report.html");
    assert!(report.contains("Greet people by name"), "{report}");
}

/// Runs a transcript and compares the output. In it, `…` stands for anything within its line, or on a line by itself
/// for any number of lines, and a short commit hash stands for any other.
fn plays(block: &Block, place: &Place) {
    let hash = Regex::new(r"\b[0-9a-f]{7}\b").unwrap();
    let mut parts = block.text.split("$ ");
    assert_eq!(
        parts.next(),
        Some(""),
        "{}: a transcript begins with a command",
        block.place
    );
    for part in parts {
        let (command, expect) = part.split_once('\n').unwrap();
        let output = place.shell(&format!("{command} 2>&1"));
        let lines = expect.lines().map(|line| match line {
            "…" => "(?:.*\n)*?".to_owned(),
            line => {
                let line = regex::escape(line).replace('…', ".*?");
                hash.replace_all(&line, "[0-9a-f]{7}").into_owned() + " *\n"
            }
        });
        let pattern = format!("^{}$", lines.collect::<String>());
        let same = Regex::new(&pattern).unwrap().is_match(&output.stdout);
        assert!(same, "{}: `{command}` prints\n{output}", block.place);
    }
}

#[test]
fn settings_that_are_shown_are_understood() {
    for block in blocks("json") {
        let value: Value =
            serde_json::from_str(&block.text).unwrap_or_else(|e| panic!("{}: {e}", block.place));
        let fields = value.as_object().unwrap();
        if fields
            .keys()
            .any(|key| key == "permissions" || key == "env")
        {
            client_settings(&value, &block.place);
        } else {
            let place = Place::bare();
            place.0.write(".fractal-planner/config.json", &block.text);
            let output = place.0.fp(&["config"]);
            assert_eq!(output.code, 0, "{}: {output}", block.place);
        }
    }
}

/// Checks that these client settings are among those that `fp doctor` offers.
fn client_settings(settings: &Value, place: &str) {
    let permissions = json!({ "permissions": { "allow": fp_host::claude::PERMISSIONS } });
    let teams = json!({ "env": { fp_host::claude::TEAMS: "1" } });
    assert!(
        [permissions, teams].contains(settings),
        "{place}: `fp doctor` offers other settings than {settings}"
    );
}

#[test]
fn the_sample_tree_is_valid() {
    let output = Place::planned().0.fp(&["validate", PLAN, "--strict"]);
    assert_eq!(output.code, 0, "{output}");
}

/// The tree on the page about task trees must be valid as well.
#[test]
fn the_tree_of_the_page_on_trees_is_valid() {
    let place = Place::bare();
    for block in Page::read("docs/task-tree.md").blocks("markdown") {
        place.0.write("tree.md", &block.text);
        let output = place.0.fp(&["validate", "tree.md", "--strict"]);
        assert_eq!(output.code, 0, "{}: {output}", block.place);
    }
}

#[test]
fn diagrams_have_something_in_them() {
    let state = Regex::new(r"\b[A-Z]{6,}(?:_[A-Z]+)?\b").unwrap();
    for block in blocks("mermaid") {
        let mut lines = block.text.lines();
        let first = lines.next().unwrap_or_default();
        assert!(
            first == "flowchart LR" || first == "stateDiagram-v2",
            "{}: {first}",
            block.place
        );
        let arrows = lines.filter(|line| line.contains("--")).count();
        assert!(arrows >= 5, "{}: {arrows} arrows", block.place);
        for word in state.find_iter(&block.text) {
            let state: Result<fp_run::run::state::Status, _> =
                serde_json::from_value(word.as_str().into());
            assert!(
                state.is_ok(),
                "{}: {} is no state",
                block.place,
                word.as_str()
            );
        }
    }
}

#[test]
fn every_page_of_the_folder_is_tested() {
    for folder in ["docs", "docs/internals"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap());
            let is_page = path.extension().is_some_and(|extension| extension == "md");
            let is_tested = GUIDES.contains(&name.as_str()) || OTHERS.contains(&name.as_str());
            assert!(!is_page || is_tested, "nothing tests {name}");
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    let pages = pages();
    for page in &pages {
        for link in page
            .links
            .iter()
            .filter(|link| !link.starts_with("https://"))
        {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(page.path).parent().unwrap();
            let target = root().join(folder).join(file);
            assert!(file.is_empty() || target.exists(), "{}: {link}", page.path);
            let has = |page: &Page| page.anchors.iter().any(|name| name == anchor);
            let there = if file.is_empty() {
                has(page)
            } else {
                pages
                    .iter()
                    .any(|other| target.ends_with(other.path) && has(other))
            };
            assert!(anchor.is_empty() || there, "{}: {link}", page.path);
            checked += 1;
        }
    }
    assert!(checked > 5, "only {checked} links were found");
}

/// The pages for contributors refer to a file by the last part of its path.
#[test]
fn source_files_that_are_mentioned_exist() {
    let mut open = ["crates", "tests", "benches", "docs"]
        .map(|folder| root().join(folder))
        .to_vec();
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path)
            } else {
                files.push(path)
            }
        }
    }
    let mut checked = 0;
    for page in pages() {
        let is_internal = page.path.starts_with("docs/internals/") || !page.path.contains('/');
        let names = page
            .spans
            .iter()
            .filter(|span| is_internal && !span.contains("your"));
        for name in names.filter(|span| span.ends_with(".rs") && !span.contains([' ', '*'])) {
            assert!(
                files.iter().any(|file| file.ends_with(name)),
                "{}: there is no {name}",
                page.path
            );
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} files were found");
}

#[test]
fn the_changelog_has_this_version() {
    let page = Page::read("CHANGELOG.md");
    assert!(
        page.text
            .contains(&format!("\n## [{}] - ", env!("CARGO_PKG_VERSION")))
    );
}
