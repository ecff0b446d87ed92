//! Whether a task asks for something, by its own words. A sentence that forbids asks for nothing: "no new
//! dependencies" mentions them and doesn't want them.

use std::sync::LazyLock;

use regex::Regex;

/// Words for symbolic links.
pub(super) const LINK: &[&str] = &["symlink", "symlinks", "symbolic link", "symbolic links", "심볼릭 링크"];
/// Words for submodules.
pub(super) const SUBMODULE: &[&str] = &["submodule", "submodules", "서브모듈"];
/// Words for what a manifest lists.
const DEPENDENCY: &[&str] = &[
    "dependency",
    "dependencies",
    "crate",
    "crates",
    "package",
    "packages",
    "library",
    "libraries",
    "gem",
    "gems",
    "의존성",
    "패키지",
    "라이브러리",
    "크레이트",
];
/// Words for tests.
const TEST: &[&str] = &["test", "tests", "spec", "specs", "테스트"];

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(no|not|never|without|avoid|don't|doesn't|none|instead of|rather than)\b|않|말 것|마세요|없이|금지",
    )
});
static BRINGS_IN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(add|adds|adding|install|installs|introduce|introduces|bring in|brings in|depend on|depends on|use|uses|using|pull in|upgrade|switch to|migrate to)\b|추가|설치|도입|사용",
    )
});
static TAKES_AWAY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(remove|removes|removed|removing|delete|deletes|deleted|deleting|drop|drops|skip|skips|ignore|ignores|disable|disables|retire|replace|replaces|rewrite|rewrites|rename|renames|merge|merges|obsolete|move|moves)\b|삭제|제거|비활성|건너|교체|이름 변경",
    )
});

/// Whether one of `words` stands in a sentence of `text` that doesn't forbid.
pub(super) fn mentions(text: &str, words: &[&str]) -> bool {
    wishes(text).any(|sentence| words.iter().any(|word| has_word(sentence, word)))
}

/// Whether the text asks for the dependency `name`, or for dependencies.
pub(super) fn wants_dependency(text: &str, name: &str) -> bool {
    wishes(text).any(|sentence| {
        has_word(sentence, name)
            || BRINGS_IN.is_match(sentence) && DEPENDENCY.iter().any(|word| has_word(sentence, word))
    })
}

/// Whether the text asks for tests to be taken away or skipped.
pub(super) fn wants_fewer_tests(text: &str) -> bool {
    wishes(text)
        .any(|sentence| TAKES_AWAY.is_match(sentence) && TEST.iter().any(|word| has_word(sentence, word)))
}

/// The sentences that don't forbid.
fn wishes(text: &str) -> impl Iterator<Item = &str> {
    let sentences = text.split(['\n', ';']).flat_map(|line| line.split(". "));
    sentences.filter(|sentence| !FORBIDS.is_match(sentence))
}

/// Whether `word` stands in `text` by itself, whatever its case. Korean words take endings.
fn has_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    let joins = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.match_indices(&word).any(|(start, found)| {
        let before = text[..start].chars().next_back();
        let after = text[start + found.len()..].chars().next();
        !before.is_some_and(joins) && !after.is_some_and(joins)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_that_are_wanted() {
        let check = |text: &str, expect: bool| assert_eq!(wants_dependency(text, "serde"), expect, "{text}");
        check("Add serde to Cargo.toml", true);
        check("Parse it with `serde`", true);
        check("Serde derives the wire types", true);
        check("Add a dependency for parsing", true);
        check("Use the crate that the team likes", true);
        check("의존성을 추가한다", true);
        check("Do NOT add new dependencies", false);
        check("Write the parser without serde", false);
        check("No new packages; parse by hand", false);
        check("Deserde it", false);
        check("serde-yaml is what we use", false);
        check("Parse the file", false);
        check("의존성 추가 금지", false);
    }

    #[test]
    fn tests_that_may_go() {
        let check = |text: &str, expect: bool| assert_eq!(wants_fewer_tests(text), expect, "{text}");
        check("Remove the tests of the old parser", true);
        check("Rename the login test", true);
        check("기존 테스트를 삭제한다", true);
        check("Remove the old parser\nAll tests pass", false);
        check("Do not remove tests", false);
        check("The latest release is removed", false);
    }
}
