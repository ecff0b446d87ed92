//! In everything that people read, each thing has a single name. The names in the log, in JSON and in flags are older
//! and stay.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use regex::Regex;

use crate::cli::Cli;

/// Banned synonyms for an attempt and for the states of a task.
const WORDS: &str =
    r"\b(?:[Ii]terations?|pending|PENDING|IMPLEMENTING|AWAITING_VERIFICATION|COMPLETED|SKIPPED)\b";

/// Pages about the log, about JSON, and for developers.
const PAGES_OF_NAMES: [&str; 3] = ["log.md", "run-protocol.md", "glossary.md"];

/// Sources whose texts appear next to a banned name: those for verifiers, who pass `--iteration`, and those about the
/// log's events.
const SOURCES_OF_NAMES: [&str; 4] = [
    "payload/sections.rs",
    "run/message.rs",
    "commands/verify.rs",
    // The words of other systems.
    "fp-exchange/src/words.rs",
];

/// The lines of `text` that use one of the banned synonyms, outside code.
fn other_words(text: &str) -> Vec<String> {
    let code = Regex::new(r"(?s)```.*?```|`[^`]*`|--[a-z-]+|\{[^{}]*\}").expect("it is valid");
    let words = Regex::new(WORDS).expect("it is valid");
    let prose = code.replace_all(text, "");
    let lines = prose.lines().filter(|line| words.is_match(line));
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn pages_and_help_have_one_word_for_one_thing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "",
        "docs",
        "plugin",
        "agents",
        "skills/implement",
        "skills/plan",
    ];
    let mut checked = 0;
    let mut found = Vec::new();
    for entry in folders
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap())
    {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_ours = name.ends_with(".md") && !PAGES_OF_NAMES.contains(&&*name);
        // The changelog describes changes in the words used at the time.
        if is_ours && name != "CHANGELOG.md" {
            checked += 1;
            let lines = other_words(&fs::read_to_string(&path).unwrap());
            found.extend(lines.into_iter().map(|line| format!("{name}: {line}")));
        }
    }
    assert!(checked > 30, "only {checked} pages");
    let mut tree = Cli::command();
    tree.build();
    let mut commands: Vec<clap::Command> = vec![tree];
    while let Some(mut command) = commands.pop() {
        let name = command.get_name().to_owned();
        let lines = other_words(&command.render_long_help().to_string());
        found.extend(lines.into_iter().map(|line| format!("fp {name}: {line}")));
        commands.extend(command.get_subcommands().cloned());
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn messages_have_one_word_for_one_thing() {
    let text = Regex::new(r#""((?:[^"\\]|\\.)*)""#).expect("it is valid");
    let (mut checked, mut found) = (0, Vec::new());
    for (path, source) in super::messages::sources() {
        for literal in text.captures_iter(&source) {
            // A string without spaces is a name.
            if literal[1].contains(' ') {
                checked += 1;
                let lines = other_words(&literal[1]);
                found.extend(lines.into_iter().map(|line| format!("{path}: {line}")));
            }
        }
    }
    assert!(checked > 1000, "only {checked} texts");
    found.retain(|line| !SOURCES_OF_NAMES.iter().any(|file| line.contains(file)));
    assert!(found.is_empty(), "{found:#?}");
}
