//! Chooses the parts of a subject: type and scope from the changed files and the title's words, and the title itself,
//! which a model wrote, made fit for one line.

use std::sync::LazyLock;

use regex::Regex;
use unicode_width::UnicodeWidthStr;

use super::CommitHistory;
use crate::regex;
use crate::test_files::is_test_file;
use fp_plan::repo_path::RepoPath;
use fp_plan::text::{fitted, is_invisible, wrapped};

/// Words at the start of a subject that git reads as instructions.
const INSTRUCTIONS: [&str; 3] = ["fixup!", "squash!", "amend!"];
/// Characters at the start of a subject that git, a shell or Markdown reads as a comment, an option or a list.
const SIGNS: [char; 5] = ['#', '-', '*', '>', ';'];

/// Makes one line: joins blanks, removes invisible characters, a final full stop, and anything at the start that git
/// reads as a comment, an option, a separator or an instruction. The result may be empty.
pub(super) fn clean(title: &str) -> String {
    let visible: String = title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !is_invisible(*c))
        .collect();
    let joined = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = joined.as_str();
    loop {
        let marks = rest.trim_start_matches(SIGNS).trim_start_matches(' ');
        let next = INSTRUCTIONS
            .iter()
            .find_map(|word| marks.strip_prefix(word))
            .unwrap_or(marks);
        if next == rest {
            break;
        }
        rest = next;
    }
    let sentence = rest
        .strip_suffix('.')
        .filter(|text| !text.ends_with('.'))
        .unwrap_or(rest);
    sentence.trim_end().to_owned()
}

/// The start of a subject that git or a reader doesn't take for a word, if there is one.
pub(super) fn misread_start(subject: &str) -> Option<&str> {
    let sign = || subject.starts_with(SIGNS).then(|| &subject[..1]);
    INSTRUCTIONS
        .into_iter()
        .find(|word| subject.starts_with(word))
        .or_else(sign)
}

/// The words for an empty title.
pub(super) fn from_files(files: &[RepoPath]) -> String {
    match files {
        [] => "Update".to_owned(),
        [file] => format!("Update {}", clean(&file.to_string())),
        [file, ..] => format!(
            "Update {} and {} more",
            clean(&file.to_string()),
            files.len() - 1
        ),
    }
}

/// Lowers the first letter, unless the first word is a name or an abbreviation.
pub(super) fn lower_case(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    let mut letters = word.chars();
    let first = letters.next();
    let plain = letters.clone().next().is_some() && letters.all(|c| c.is_lowercase() || c == '-');
    match first {
        Some(first) if plain && first.is_uppercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// Fits the text into `room` columns, with an ellipsis if it is cut. The flag is true if it was.
pub(super) fn fit(text: &str, room: usize) -> (String, bool) {
    if text.width() <= room {
        return (text.to_owned(), false);
    }
    let end = fitted(text, room).len() - '…'.len_utf8();
    // The cut drops a whole word, unless that would leave almost nothing.
    let whole = match text[..end].rfind(' ') {
        Some(blank) if !text[end..].starts_with(' ') && blank * 2 >= end => blank,
        _ => end,
    };
    (
        format!(
            "{}…",
            text[..whole].trim_end_matches([' ', ',', ';', ':', '-'])
        ),
        true,
    )
}

/// Wraps the text into lines of at most `columns`, none of which git reads as a comment or a separator.
pub(super) fn wrap(text: &str, columns: usize) -> String {
    let apart = |line: &String| {
        if line.starts_with(['#', '-']) {
            format!(" {line}")
        } else {
            line.clone()
        }
    };
    wrapped(text, columns - 1)
        .iter()
        .map(apart)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The types in common use.
pub(super) const TYPES: [&str; 11] = [
    "build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test",
];

/// Folder names that don't identify a part of a program.
const GENERIC: [&str; 17] = [
    "src",
    "lib",
    "app",
    "apps",
    "crates",
    "packages",
    "pkg",
    "internal",
    "cmd",
    "tests",
    "test",
    "spec",
    "__tests__",
    "main",
    "java",
    "kotlin",
    "docs",
];

/// Types that follow from the files alone, if all of them match.
const BY_FILES: [(&str, &str); 3] = [
    (
        "ci",
        r"(?i)(?:^|/)(?:\.github/(?:workflows|actions)/|\.circleci/|\.gitlab-ci\.yml$|\.travis\.yml$|Jenkinsfile$|azure-pipelines\.yml$|\.ci/)",
    ),
    (
        "build",
        r"(?i)(?:^|/)(?:Cargo\.(?:toml|lock)|build\.rs|package(?:-lock)?\.json|yarn\.lock|pnpm-lock\.yaml|pyproject\.toml|setup\.(?:py|cfg)|requirements[^/]*\.txt|(?:poetry|uv)\.lock|go\.(?:mod|sum)|Gemfile(?:\.lock)?|composer\.(?:json|lock)|pom\.xml|[^/]*\.gradle(?:\.kts)?|[^/]*\.[cf]sproj|CMakeLists\.txt|Makefile|meson\.build|Dockerfile[^/]*|docker-compose[^/]*\.ya?ml|(?:webpack|vite|rollup)\.config\.\w+|tsconfig[^/]*\.json)$",
    ),
    (
        "docs",
        r"(?i)(?:\.(?:md|mdx|markdown|rst|adoc)$|(?:^|/)docs?/|(?:^|/)(?:LICEN[CS]E|CHANGELOG|AUTHORS|CONTRIBUTING|NOTICE)[^/]*$)",
    ),
];

/// Words that announce a fix.
const FIXES: &str = r"(?i)\b(?:fix(?:e[sd])?|fixing|bugs?|bugfix|hotfix|correct(?:s|ed)?|repair|crash(?:es)?|regression|resolve[sd]?)\b|버그|오류|고침|고친|바로잡";

/// Types by the words of a title; the first match wins.
const BY_WORDS: [(&str, &str); 5] = [
    ("build", r"(?i)^(?:bump|upgrade|pin)\b|업그레이드"),
    (
        "feat",
        r"(?i)^(?:add|implement|create|introduce|support|allow|enable|provide|make|write|build)\b|추가|구현|도입|지원",
    ),
    ("fix", FIXES),
    (
        "refactor",
        r"(?i)\b(?:refactor(?:s|ed|ing)?|rename[sd]?|renaming|restructure|reorgani[sz]e|extract|simplify|clean ?up|deduplicate|inline|split|move|remove|delete|drop)\b|리팩터|리팩토링|이름 변경|정리|분리|삭제|제거",
    ),
    (
        "perf",
        r"(?i)\b(?:speed up|faster|optimi[sz]e[sd]?|performance)\b|성능|최적화",
    ),
];

type TypePatterns = Vec<(&'static str, Regex)>;

fn compiled(patterns: &[(&'static str, &str)]) -> TypePatterns {
    patterns
        .iter()
        .map(|(kind, pattern)| (*kind, regex(pattern)))
        .collect()
}

static FIX_PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(FIXES));
static FILE_PATTERNS: LazyLock<TypePatterns> = LazyLock::new(|| compiled(&BY_FILES));
static WORD_PATTERNS: LazyLock<TypePatterns> = LazyLock::new(|| compiled(&BY_WORDS));

/// True if a commit with this subject fixes something.
pub fn is_fix(subject: &str) -> bool {
    FIX_PATTERN.is_match(subject)
}

/// Chooses the type: by the files if all are of one sort, else by the first word, else by any word.
pub(super) fn type_of(words: &str, files: &[RepoPath], history: &CommitHistory) -> &'static str {
    let all = |pattern: &Regex| files.iter().all(|file| pattern.is_match(&file.to_lossy()));
    let by_files = || {
        FILE_PATTERNS
            .iter()
            .find(|(_, pattern)| all(pattern))
            .map(|(kind, _)| *kind)
    };
    let kind = match files {
        [] => type_by_words(words),
        files if files.iter().all(is_test_file) => "test",
        _ => by_files().unwrap_or_else(|| type_by_words(words)),
    };
    // Some histories have one type for everything that isn't code.
    let used = |kind: &str| history.types.contains_key(kind);
    if matches!(kind, "build" | "ci") && !used(kind) && used("chore") {
        "chore"
    } else {
        kind
    }
}

fn type_by_words(words: &str) -> &'static str {
    let first = words.split(' ').next().unwrap_or_default();
    let by = |text: &str| {
        WORD_PATTERNS
            .iter()
            .find(|(_, p)| p.is_match(text))
            .map(|(kind, _)| *kind)
    };
    by(first).or_else(|| by(words)).unwrap_or("feat")
}

/// Chooses the scope: a name the files share if the history has such a scope, else their common folder, unless its name
/// is generic.
pub(super) fn scope_of(files: &[RepoPath], history: &CommitHistory) -> Option<String> {
    let (first, rest) = files.split_first()?;
    let first = first.to_lossy().into_owned();
    let mut common: Vec<&str> = first.split('/').collect();
    let name = common.pop()?;
    for file in rest {
        let file = file.to_lossy().into_owned();
        let same = common
            .iter()
            .zip(file.split('/'))
            .take_while(|(a, b)| *a == b)
            .count();
        common.truncate(same);
    }
    let stem = name
        .split('.')
        .next()
        .filter(|stem| rest.is_empty() && !stem.is_empty());
    let candidates: Vec<&str> = stem
        .into_iter()
        .chain(common.iter().rev().copied())
        .collect();
    let known = candidates
        .iter()
        .find(|name| history.scopes.contains_key(**name));
    let folder = || {
        common
            .iter()
            .rev()
            .find(|name| !GENERIC.contains(name) && is_plain(name))
    };
    known.or_else(folder).map(|name| (*name).to_owned())
}

fn is_plain(name: &str) -> bool {
    name.len() <= 24
        && !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
