//! Decides from a task's own text whether the task asks for something. A sentence that forbids something doesn't count:
//! "no new dependencies" mentions them without asking for them.

use std::sync::LazyLock;

use regex::Regex;

use crate::regex;

/// A regex for `words`, which are separated by `|`. It matches whole words, ignoring case; Korean words may have
/// endings.
fn word_pattern(words: &str) -> Regex {
    regex(&format!(
        "(?i)(?:^|[^a-z0-9_-])(?:{words})(?:[^a-z0-9_-]|$)"
    ))
}

/// Words for symbolic links.
pub(super) static LINK: LazyLock<Regex> =
    LazyLock::new(|| word_pattern("symlinks?|symbolic links?|심볼릭 링크"));
pub(super) static SUBMODULE: LazyLock<Regex> =
    LazyLock::new(|| word_pattern("submodules?|서브모듈"));
pub(super) static TODO: LazyLock<Regex> = LazyLock::new(|| word_pattern("todos?|fixmes?"));
/// The line of a [`TaskScope`](super::TaskScope) that says that its task makes a contract.
pub(super) static STUBS: LazyLock<Regex> = LazyLock::new(|| regex("^contract$"));
/// Words for debugging, and names of debugging calls.
pub(super) static DEBUG: LazyLock<Regex> =
    LazyLock::new(|| word_pattern("debug(?:ging|ger)?|breakpoints?|pdb|dbg|(?:var_)?dump"));
/// Words for manifest entries.
static DEPENDENCY: LazyLock<Regex> = LazyLock::new(|| {
    word_pattern(
        "dependency|dependencies|crates?|packages?|library|libraries|gems?|의존성|패키지|라이브러리|크레이트",
    )
});
/// Words for where packages come from, and for what proves that they are unchanged.
pub(super) static ORIGIN: LazyLock<Regex> = LazyLock::new(|| {
    word_pattern(
        "registry|registries|mirrors?|checksums?|integrity|vendor(?:ed)?|forks?|레지스트리|미러|체크섬",
    )
});
/// Words for test runners, and for settings that select which tests run.
static TEST_SETUP: LazyLock<Regex> = LazyLock::new(|| {
    word_pattern(
        "scripts?|test (?:runners?|commands?|config(?:uration)?|setup|settings|targets?)|harness|pytest|tox|nox|jest|vitest|mocha|nextest|workspace",
    )
});
static CHANGES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:add|adds|set|sets|configure|configures|change|changes|switch|switches|move|moves|migrate|migrates|replace|replaces|introduce|introduces|rename|renames|exclude|excludes|remove|removes|split|splits)\b|설정|추가|변경",
    )
});
static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(no|not|never|without|avoid|don't|doesn't|none|instead of|rather than)\b|않|말 것|마세요|없이|금지",
    )
});
static BRINGS_IN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:add|adds|adding|install|installs|introduce|introduces|bring in|brings in|pull in|depend on|depends on|new)\b|추가|설치|도입",
    )
});

/// Matches a mention of tests at most five words after a verb of removal, or before its past participle.
static FEWER_TESTS: LazyLock<Regex> = LazyLock::new(|| {
    let takes = "(?:remov|delet)(?:es?|ing)|drops?|skips?|ignores?|disables?|retire|replaces?|rewrites?|renames?";
    let taken =
        "removed|deleted|dropped|skipped|ignored|disabled|retired|replaced|rewritten|renamed";
    let (tests, between) = ("(?:test|spec)s?", r"(?:[\W_]+[^\W_]+){0,4}[\W_]+");
    regex(&format!(
        r"(?i)\b(?:(?:{takes}){between}{tests}|{tests}{between}(?:{taken}))\b"
    ))
});
/// Words that end the object of such a verb.
static STOPS: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(?:and|with|to|for|in|on|by|from|but|keep|add|write|pass)\b"));
/// The same verbs in Korean, where they come after the object and take endings.
static FEWER_TESTS_KOREAN: LazyLock<Regex> =
    LazyLock::new(|| regex("테스트.*(?:삭제|제거|비활성|건너|교체|다시 쓴|이름을 바꾼)"));

/// True if one of `words` occurs in a sentence of `text` that doesn't forbid something.
pub(super) fn mentions(text: &str, words: &Regex) -> bool {
    wishes(text).any(|sentence| words.is_match(sentence))
}

/// True if the text asks for the dependency `name`, or for dependencies in general.
pub(super) fn wants_dependency(text: &str, name: &str) -> bool {
    let name = word_pattern(&regex::escape(name));
    wishes(text).any(|sentence| {
        name.is_match(sentence) || BRINGS_IN.is_match(sentence) && DEPENDENCY.is_match(sentence)
    })
}

/// True if the text asks to remove tests or switch them off.
pub(super) fn wants_fewer_tests(text: &str) -> bool {
    wishes(text).any(|sentence| {
        FEWER_TESTS_KOREAN.is_match(sentence)
            || STOPS.split(sentence).any(|part| FEWER_TESTS.is_match(part))
    })
}

/// True if the text asks for another value of the setting `name`, such as `scripts.test`, or to set tests up.
pub(super) fn wants_test_setting(text: &str, name: &str) -> bool {
    let key = word_pattern(&regex::escape(
        name.rsplit(['.', ' ']).next().unwrap_or(name),
    ));
    let named = word_pattern(&regex::escape(name));
    // A short key such as `test` is a common word in tasks, so it isn't enough.
    let is_telling = |sentence: &str| {
        named.is_match(sentence)
            || name.len() - name.rfind('.').unwrap_or(0) > 6 && key.is_match(sentence)
    };
    wishes(text).any(|sentence| {
        is_telling(sentence) || CHANGES.is_match(sentence) && TEST_SETUP.is_match(sentence)
    })
}

/// The sentences of `text` that don't forbid anything.
fn wishes(text: &str) -> impl Iterator<Item = &str> {
    let sentences = text.split(['\n', ';']).flat_map(|line| line.split(". "));
    sentences.filter(|sentence| !FORBIDS.is_match(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        let check = |text: &str, expect: bool| assert_eq!(mentions(text, &LINK), expect, "{text}");
        check("a symlink", true);
        check("Symbolic links: two of them", true);
        check("no symlink", false);
        check("symlink-free", false);
        check("심볼릭 링크를", true);
    }

    #[test]
    fn dependencies_that_are_wanted() {
        let check = |text: &str, expect: bool| {
            assert_eq!(wants_dependency(text, "serde"), expect, "{text}")
        };
        check("Add serde to Cargo.toml", true);
        check("Parse it with `serde`", true);
        check("Serde derives the wire types", true);
        check("Add a dependency for parsing", true);
        check("Use the crate's own error type", false);
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
    fn settings_that_are_wanted() {
        let check = |text: &str, name: &str, expect: bool| {
            assert_eq!(wants_test_setting(text, name), expect, "{text} {name}")
        };
        check("Add a script for the tests", "scripts.test", true);
        check("Set `scripts.test` to vitest", "scripts.test", true);
        check("Move to vitest", "scripts.test", true);
        check("`addopts` has -q", "tool.pytest.ini_options.addopts", true);
        check("Add a test", "scripts.test", false);
        check(
            "All tests pass with pytest",
            "tool.pytest.ini_options.addopts",
            false,
        );
        check("Do not change the scripts", "scripts.test", false);
    }

    #[test]
    fn tests_that_may_go() {
        let check =
            |text: &str, expect: bool| assert_eq!(wants_fewer_tests(text), expect, "{text}");
        check("Remove the tests of the old parser", true);
        check("Rename the login test", true);
        check("기존 테스트를 삭제한다", true);
        check("Remove the old parser\nAll tests pass", false);
        check("The old tests are removed", true);
        check("Do not remove tests", false);
        check("Move the parser and keep its tests", false);
        check("Replace the parser and add tests", false);
        check("Skip blank lines in tests", false);
        check("Remove the flag; tests pass", false);
        check("새 테스트를 추가한다", false);
        check("The latest release is removed", false);
    }
}
