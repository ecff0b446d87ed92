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
    let text =
        Regex::new(r"\\\n\s*").unwrap().replace_all(text, "").replace("\\\"", "\"").replace(r"\\", r"\");
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

/// Messages without a hint, by file and what their text begins with, and why that is so.
const WITHOUT_HINT: &[(&str, &str, &str)] = &[
    ("commands/commit.rs", "\"there is nothing to commit", "nothing is left to do"),
    ("commands/commit.rs", "format!(\"nothing is committed: {blocked}\"", "added for each obstacle"),
    ("commands/commit.rs", "&error", "added for each error"),
    ("commands/explain.rs", "format!(\"there is no rule", "the rule that was meant, or all of them"),
    ("commands/handoff.rs", "format!(\"{}:{error}\"", "a note beside the page, which leaves it out"),
    ("commands/help.rs", "format!(\"there is no command", "the one that was meant, or all of them"),
    ("commands/hook.rs", "format!(\"the event has", "a hook has one line to say what is wrong"),
    ("commands/rollback.rs", "&error", "added for each error"),
    ("commands/run.rs", "format!( \"files that the plan changes", "added where it is returned"),
    ("commands/task.rs", "format!(\"with what {} says", "the findings are its hints"),
    ("commands/task.rs", "error", "added for each error"),
    ("printer.rs", "error", "what can't be written as JSON is a fault of fp"),
];

/// Where the parenthesis that is open at the beginning of `code` is closed. Texts of errors have pairs of them.
fn closed(code: &str) -> usize {
    let mut open = 1;
    let end = code.find(|c| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open == 0
    });
    end.unwrap()
}

#[test]
fn every_error_says_what_to_do() {
    let made = Regex::new(r"CommandError::(?:failed|refused)\(").unwrap();
    let mut without = Vec::new();
    for (path, code) in sources().0 {
        for found in made.find_iter(&code) {
            let rest = &code[found.end()..];
            let (text, after) = rest.split_at(closed(rest));
            if !after[1..].trim_start().starts_with(".hint(") {
                without.push((path.display().to_string(), flat(text)));
            }
        }
    }
    let is = |(path, text): &(String, String), (file, begins, _): &(&str, &str, &str)| {
        path == &format!("crates/fp/{file}") && text.starts_with(begins)
    };
    for known in WITHOUT_HINT {
        assert!(without.iter().any(|one| is(one, known)), "this one is gone, or has a hint: {known:?}");
    }
    without.retain(|one| !WITHOUT_HINT.iter().any(|known| is(one, known)));
    assert!(without.is_empty(), "without a hint, and without a reason for it: {without:#?}");
}

#[test]
fn a_message_is_known_by_its_longest_piece() {
    assert_eq!(piece("{path}: not a plan: {why} at all").as_deref(), Some(": not a plan:"));
    assert_eq!(piece("{0}: {1}"), None);
    assert_eq!(flat("a \\\"b\\\" \\\n     c\n   d"), "a \"b\" c d");
}
