//! Every message of an error is shown as a whole by some test: nobody reads a message for the first time when it
//! is too late. The longest piece between placeholders stands for a message.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const LITERAL: &str = r#""((?:[^"\\]|\\(?s:.))*)""#;
/// A piece that is shorter says nothing by itself.
const SHORTEST: usize = 6;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Without the line breaks that the layout of the source puts into a text.
fn flat(text: &str) -> String {
    let text = Regex::new(r"\\\n\s*").unwrap().replace_all(text, "").replace("\\\"", "\"");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

/// The source of the program with its paths, and everything that tests look at.
fn sources() -> (Vec<(PathBuf, String)>, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut program, mut tests) = (Vec::new(), Vec::new());
    let mut all = vec![root.join("README.md")];
    for folder in ["crates", "tests"] {
        files(&root.join(folder), &mut all);
    }
    for path in all {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if path.ends_with("tests/errors.rs") {
            continue;
        }
        if is_test(path.strip_prefix(root).unwrap()) || path.ends_with("README.md") {
            tests.push(text);
            continue;
        }
        if path.extension().is_none_or(|kind| kind != "rs") {
            continue;
        }
        let (code, own) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
        tests.push(own.to_owned());
        program.push((path.strip_prefix(root).unwrap().to_owned(), code.to_owned()));
    }
    (program, flat(&tests.join("\n")))
}

/// The longest piece of a message that is the same each time; none where it is all placeholders.
fn piece(message: &str) -> Option<String> {
    let holes = Regex::new(r"\{\{|\}\}|\{[^}]*\}|\\[nt]|\\u\{[^}]*\}").unwrap();
    let pieces = holes.split(message).map(|piece| piece.trim().to_owned());
    pieces.filter(|piece| piece.len() >= SHORTEST).max_by_key(String::len)
}

#[test]
fn every_message_is_shown_by_a_test() {
    let (program, tests) = sources();
    let made = [
        format!(r"#\[error\(\s*{LITERAL}"),
        format!(r"CommandError::(?:failed|refused)\(\s*(?:&?format!\(\s*)?{LITERAL}"),
    ];
    let (mut seen, mut unseen) = (0, Vec::new());
    for (path, code) in &program {
        for pattern in &made {
            for found in Regex::new(pattern).unwrap().captures_iter(code) {
                let message = flat(&found[1]);
                seen += 1;
                if piece(&message).is_some_and(|piece| !tests.contains(&piece)) {
                    let line = code[..found.get(0).unwrap().start()].lines().count();
                    unseen.push(format!("{}:{line}: {message}", path.display()));
                }
            }
        }
    }
    assert!(seen > 200, "only {seen} messages were found");
    assert!(unseen.is_empty(), "{} of {seen} are shown by no test:\n{}", unseen.len(), unseen.join("\n"));
}

#[test]
fn a_message_is_known_by_its_longest_piece() {
    assert_eq!(piece("{path}: not a plan: {why} at all").as_deref(), Some(": not a plan:"));
    assert_eq!(piece("{0}: {1}"), None);
    assert_eq!(flat("a \\\"b\\\" \\\n     c\n   d"), "a \"b\" c d");
}
