//! Every error says what to do next: it has a hint, or a reason for having none.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found)
        } else {
            found.push(path)
        }
    }
}

/// Joins a string literal that spans several source lines.
fn flat(text: &str) -> String {
    let text = Regex::new(r"\\\n\s*")
        .unwrap()
        .replace_all(text, "")
        .replace("\\\"", "\"")
        .replace(r"\\", r"\");
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace("( ", "(")
}

/// The source of the program, file by file, without its tests.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    files(&root.join("crates"), &mut paths);
    let is_source = |path: &PathBuf| {
        path.extension().is_some_and(|kind| kind == "rs") && !path.ends_with("tests.rs")
    };
    let sources = paths.into_iter().filter(is_source).map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text
            .split_once("#[cfg(test)]\nmod tests {")
            .map_or(text.as_str(), |(code, _)| code)
            .to_owned();
        (path.strip_prefix(root).unwrap().to_owned(), code)
    });
    sources.collect()
}

/// In tests, `regex` has all Unicode tables, because other crates that tests use enable them. The program only has the
/// tables for `\w`, `\d`, `\s` and `(?i)`, and would panic at a pattern that needs any other.
#[test]
fn no_pattern_needs_a_table_that_the_program_lacks() {
    let class = Regex::new(r"\\[pP](\{|[A-Z])").unwrap();
    assert!(class.is_match(r"[^\p{Alphabetic}]") && class.is_match(r"\PL"));
    for (path, code) in sources() {
        assert_eq!(
            class.find(&code).map(|found| found.as_str()),
            None,
            "{}",
            path.display()
        );
    }
}

/// Messages without a hint: file, beginning of the message, and reason.
const WITHOUT_HINT: &[(&str, &str, &str)] = &[
    (
        "cli.rs",
        "message",
        "a hook has one line to say what is wrong",
    ),
    (
        "commands/commit.rs",
        "\"there is nothing to commit",
        "nothing is left to do",
    ),
    (
        "commands/commit.rs",
        "format!(\"nothing is committed: {blocked}\"",
        "added for each obstacle",
    ),
    (
        "commands/validate.rs",
        "format!(\"there is no rule",
        "the rule that was meant, or all of them",
    ),
    (
        "commands/hook.rs",
        "format!(\"the event can't be read",
        "a hook has one line to say what is wrong",
    ),
    (
        "commands/task.rs",
        "format!(\"{edit}, the tree is not",
        "the findings are its hints",
    ),
    ("commands/task.rs", "error", "added for each error"),
    (
        "fp-host/src/commit.rs",
        "\"nothing has changed",
        "nothing is left to do",
    ),
    (
        "fp-host/src/git/mod.rs",
        "&self",
        "git says it itself; added where the disk is full or read-only",
    ),
];

/// The index of the parenthesis that closes the one opened before `code`. Parentheses in error messages are balanced.
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
    let made = Regex::new(r"(?:CommandError|HostError)::(?:failed|refused)\(").unwrap();
    let mut without = Vec::new();
    for (path, code) in sources() {
        for found in made.find_iter(&code) {
            let rest = &code[found.end()..];
            let (text, after) = rest.split_at(closed(rest));
            let after = after[1..].trim_start();
            if !after.starts_with(".hint(") && !after.starts_with(".with_hint(") {
                without.push((path.display().to_string(), flat(text)));
            }
        }
    }
    let is = |(path, text): &(String, String), (file, begins, _): &(&str, &str, &str)| {
        path.ends_with(file) && text.starts_with(begins)
    };
    for known in WITHOUT_HINT {
        assert!(
            without.iter().any(|one| is(one, known)),
            "this one is gone, or has a hint: {known:?}"
        );
    }
    without.retain(|one| !WITHOUT_HINT.iter().any(|known| is(one, known)));
    assert!(
        without.is_empty(),
        "without a hint, and without a reason for it: {without:#?}"
    );
}
