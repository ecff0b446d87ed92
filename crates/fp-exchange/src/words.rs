//! Converts untrusted text into the forms of a portable plan: one line, a list, a status, a path.

use std::sync::LazyLock;

use fp_plan::text::one_line;
use regex::Regex;
use serde_json::{Map, Value};

use crate::portable::TaskWork;

/// Compiles a constant regular expression.
pub(crate) fn pattern(pattern: &'static str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}

/// Longest title, in characters; a longer one is cut, and its full text becomes the description.
const TITLE: usize = 160;

/// The first line as a title, and the whole of `text` if there is more to it.
pub(crate) fn title_of(text: &str) -> (String, Option<String>) {
    let first = text
        .lines()
        .map(one_line)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let whole = one_line(text) == first;
    if first.chars().count() <= TITLE {
        return (first, (!whole).then(|| text.trim().to_owned()));
    }
    let mut cut: String = first.chars().take(TITLE - 1).collect();
    if let Some((words, _)) = cut.rsplit_once(' ') {
        cut.truncate(words.len());
    }
    (cut + "…", Some(text.trim().to_owned()))
}

/// True if the text stands for an empty value, such as `none` or `n/a`.
pub(crate) fn is_none(text: &str) -> bool {
    const NONE: [&str; 6] = ["none", "n/a", "null", "nil", "없음", "해당 없음"];
    let bare = text
        .trim()
        .trim_matches(['(', ')', '[', ']', '*', '_', '`', '.', '-', '–', '—', '"'])
        .trim();
    bare.is_empty() || NONE.iter().any(|none| bare.eq_ignore_ascii_case(none))
}

/// Splits a text that is a list into its entries: the lines without bullets, checkboxes and numbers. An indented line
/// without any of these continues the entry above it.
pub(crate) fn entries_of(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines() {
        let words = one_line(bare_entry(line));
        match entries.last_mut().filter(|last| !last.is_empty()) {
            Some(last) if !is_entry(line) && line.starts_with([' ', '\t']) => {
                *last += &format!(" {words}")
            }
            _ => entries.push(words),
        }
    }
    entries.retain(|entry| !is_none(entry));
    entries
}

/// True if this line of a list begins a new entry.
pub(crate) fn is_entry(line: &str) -> bool {
    bare_entry(line).len() < line.trim_start().len()
}

/// A line of a list without its bullet, number and checkbox.
pub(crate) fn bare_entry(line: &str) -> &str {
    static MARK: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?"));
    &line[MARK.find(line).map_or(0, |mark| mark.end())..]
}

/// The items of a list on one line, such as ids or paths.
pub(crate) fn pieces_of(text: &str) -> Vec<String> {
    let pieces = text
        .split([';', ',', '\n'])
        .map(|piece| one_line(piece.trim().trim_matches(['"', '`', '[', ']'])));
    pieces.filter(|piece| !is_none(piece)).collect()
}

/// The first value at one of `keys` that is text and isn't blank; a number counts as text.
pub(crate) fn text_at(map: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let text = |key: &&str| match map.get(*key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    keys.iter()
        .filter_map(text)
        .find(|text| !text.trim().is_empty())
}

/// The words that other systems use for the progress of a task. Whatever was begun counts as open.
const WORK: [(&str, TaskWork); 4] = [
    (
        "done|completed|complete|closed|finished|passed|pass|verified|success|succeeded|committed|완료|완료됨",
        TaskWork::Done { commit: None },
    ),
    (
        "cancelled|canceled|deleted|tombstone|abandoned|wontfix|won't do|취소|제외",
        TaskWork::Cancelled,
    ),
    ("deferred|blocked|on hold|보류", TaskWork::Deferred),
    (
        "pending|todo|to do|open|planned|ready|backlog|new|not started|waiting|대기|예정|미시작|in progress|inprogress|active|\
         started|running|doing|review|in review|implementing|awaiting verification|working|hooked|진행|진행 중|진행중|작업 중|\
         검토|failed|fail|failure|error|timed out|실패|skipped",
        TaskWork::Todo,
    ),
];

/// The progress that a word or sign from another system stands for; `None` if it is unknown.
pub(crate) fn work_of(word: &str) -> Option<TaskWork> {
    let is_letter = |c: char| c.is_alphabetic() || c == '\'';
    let bare = one_line(&word.replace(|c| !is_letter(c), " ")).to_lowercase();
    if bare.is_empty() {
        return word.chars().find_map(work_of_sign);
    }
    let mut known = WORK.into_iter();
    let known = known.find(|(words, _)| words.split('|').any(|known| known == bare));
    known.map(|(_, work)| work)
}

fn work_of_sign(sign: char) -> Option<TaskWork> {
    match sign {
        '✅' | '✓' | '✔' | '☑' => Some(TaskWork::Done { commit: None }),
        '🔄' | '⏳' | '▶' | '🚧' | '❌' | '✗' | '✘' | '⏭' | '⬜' | '☐' | '⏸' | '📋' => {
            Some(TaskWork::Todo)
        }
        _ => None,
    }
}

/// The progress that the mark in a checkbox stands for.
pub(crate) fn work_of_box(mark: &str) -> TaskWork {
    match mark {
        "x" | "X" => TaskWork::Done { commit: None },
        _ => TaskWork::Todo,
    }
}

/// The paths that a sentence names: words with an extension, and folders that end with `/`.
pub(crate) fn paths_in(text: &str) -> Vec<String> {
    static PATH: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^(?:[\w.@~-]*/)*(?:[\w.@~\[\]{}*-]*\.[A-Za-z][A-Za-z0-9]{0,9}|[\w.@~-]+/)$")
    });
    const NOT_EXTENSIONS: [&str; 6] = ["js", "io", "com", "org", "net", "g"];
    let mut found: Vec<String> = Vec::new();
    let around = |c: char| {
        matches!(
            c,
            '`' | '"' | '\'' | '(' | ')' | ',' | ';' | ':' | '*' | '.' | '<' | '>' | '!'
        )
    };
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '`' | '(' | ')'))
    {
        let path = word
            .trim_end_matches(around)
            .trim_start_matches(|c| around(c) && c != '.');
        let (stem, extension) = path.rsplit_once('.').unwrap_or((path, ""));
        // Words in prose rarely begin with dots, but paths that lead out of the folder do.
        let leads_out = path.starts_with("../") && path.len() > 3;
        // `Node.js` and `e.g.` aren't files.
        let is_name = !path.contains('/')
            && (stem.len() < 2
                || (stem.starts_with(char::is_uppercase) && NOT_EXTENSIONS.contains(&extension)));
        if !word.contains("://")
            && !is_name
            && (leads_out || PATH.is_match(path))
            && !found.iter().any(|known| known == path)
        {
            found.push(path.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_of_all_systems() {
        let check =
            |word: &str, expect: Option<TaskWork>| assert_eq!(work_of(word), expect, "{word:?}");
        let done = Some(TaskWork::Done { commit: None });
        check("completed", done.clone());
        check("✅ Done", done.clone());
        check("**DONE**", done.clone());
        check("완료", done.clone());
        check("✅", done);
        check("in_progress", Some(TaskWork::Todo));
        check("in-progress", Some(TaskWork::Todo));
        check("🔄 진행 중", Some(TaskWork::Todo));
        check("FAILED", Some(TaskWork::Todo));
        check("cancelled", Some(TaskWork::Cancelled));
        check("skipped", Some(TaskWork::Todo));
        check("blocked", Some(TaskWork::Deferred));
        check("open", Some(TaskWork::Todo));
        check("quantum", None);
        check("", None);
    }

    #[test]
    fn titles_are_one_line() {
        let check = |text: &str, title_: &str, rest: Option<&str>| {
            assert_eq!(
                title_of(text),
                (title_.to_owned(), rest.map(str::to_owned)),
                "{text:?}"
            );
        };
        check("Add\ta\u{7} thing", "Add a thing", None);
        check("\nFirst\nSecond\n", "First", Some("First\nSecond"));
        check("", "", None);
        let long = "word ".repeat(100);
        let (cut, rest) = title_of(&long);
        assert!(
            cut.chars().count() <= TITLE && cut.ends_with("word…"),
            "{cut}"
        );
        assert_eq!(rest.as_deref(), Some(long.trim()));
    }

    #[test]
    fn paths_in_sentences() {
        let check = |text: &str, expect: &[&str]| assert_eq!(paths_in(text), expect, "{text}");
        check(
            "Create User model in src/models/user.py",
            &["src/models/user.py"],
        );
        check(
            "Write `tests/test_a.py`, and README.md.",
            &["tests/test_a.py", "README.md"],
        );
        check("Configure linting and formatting tools", &[]);
        check("Set up e.g. nothing, and/or Node.js", &[]);
        check(
            "In src/components/ and .env.local",
            &["src/components/", ".env.local"],
        );
        check("src/a.rs and src/a.rs", &["src/a.rs"]);
        check("Read ../../etc/passwd", &["../../etc/passwd"]);
        check("See https://example.org/a", &[]);
    }
}
