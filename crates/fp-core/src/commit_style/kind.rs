//! Type and scope of a semantic subject, from what was changed and how the title puts it.

use std::sync::LazyLock;

use regex::Regex;

use super::CommitHistory;
use crate::repo_path::RepoPath;
use crate::test_files::is_test_file;

/// The types that are in use everywhere.
pub(super) const TYPES: [&str; 11] =
    ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];

/// Folders that say nothing about the part of a program.
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

/// Types that follow from the files alone, where all of them match.
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

/// What says that something is fixed.
const FIXES: &str = r"(?i)\b(?:fix(?:e[sd])?|fixing|bugs?|bugfix|hotfix|correct(?:s|ed)?|repair|crash(?:es)?|regression|resolve[sd]?)\b|버그|오류|고침|고친|바로잡";

/// Types by the words of a title, the first that fits.
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
    ("perf", r"(?i)\b(?:speed up|faster|optimi[sz]e[sd]?|performance)\b|성능|최적화"),
];

type TypePatterns = Vec<(&'static str, Regex)>;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

fn compiled(patterns: &[(&'static str, &str)]) -> TypePatterns {
    patterns.iter().map(|(kind, pattern)| (*kind, regex(pattern))).collect()
}

static FIX_PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(FIXES));
static FILE_PATTERNS: LazyLock<TypePatterns> = LazyLock::new(|| compiled(&BY_FILES));
static WORD_PATTERNS: LazyLock<TypePatterns> = LazyLock::new(|| compiled(&BY_WORDS));

/// Whether a subject says that something is fixed.
pub(super) fn fixes(subject: &str) -> bool {
    FIX_PATTERN.is_match(subject)
}

/// The type: by the files where all of them are of one sort, else by the first verb, else by any word.
pub(super) fn type_of(words: &str, files: &[RepoPath], history: &CommitHistory) -> &'static str {
    let all = |pattern: &Regex| files.iter().all(|file| pattern.is_match(&file.to_lossy()));
    let by_files = || FILE_PATTERNS.iter().find(|(_, pattern)| all(pattern)).map(|(kind, _)| *kind);
    let kind = match files {
        [] => type_by_words(words),
        files if files.iter().all(is_test_file) => "test",
        _ => by_files().unwrap_or_else(|| type_by_words(words)),
    };
    // Some histories have one word for everything that is no code.
    let used = |kind: &str| history.types.contains_key(kind);
    if matches!(kind, "build" | "ci") && !used(kind) && used("chore") { "chore" } else { kind }
}

fn type_by_words(words: &str) -> &'static str {
    let first = words.split(' ').next().unwrap_or_default();
    let by = |text: &str| WORD_PATTERNS.iter().find(|(_, p)| p.is_match(text)).map(|(kind, _)| *kind);
    by(first).or_else(|| by(words)).unwrap_or("feat")
}

/// The scope: what the files have in common, if the history has a scope of that name, else the name of the folder
/// that they share, unless it says nothing.
pub(super) fn scope_of(files: &[RepoPath], history: &CommitHistory) -> Option<String> {
    let (first, rest) = files.split_first()?;
    let first = first.to_lossy().into_owned();
    let mut common: Vec<&str> = first.split('/').collect();
    let name = common.pop()?;
    for file in rest {
        let file = file.to_lossy().into_owned();
        let same = common.iter().zip(file.split('/')).take_while(|(a, b)| *a == b).count();
        common.truncate(same);
    }
    let stem = name.split('.').next().filter(|stem| rest.is_empty() && !stem.is_empty());
    let candidates: Vec<&str> = stem.into_iter().chain(common.iter().rev().copied()).collect();
    let known = candidates.iter().find(|name| history.scopes.contains_key(**name));
    let folder = || common.iter().rev().find(|name| !GENERIC.contains(name) && is_plain(name));
    known.or_else(folder).map(|name| (*name).to_owned())
}

fn is_plain(name: &str) -> bool {
    name.len() <= 24
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
