//! `circular-acceptance`.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::prelude::*;
use super::vague_acceptance::vague_phrase;

pub(super) static RULE: Rule = Rule {
    id: "circular-acceptance",
    severity: Severity::Warning,
    finds: "A criterion that only repeats the task's description",
    why: "It says that the task is done when the task is done. The verifier learns nothing from it.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance: Numbers are parsed",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance: `parse(\"12\")` returns 12",
    check: Check::Leaf(check),
};

/// Words that add nothing to a description.
static FILLER: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "a an and are as be been by can complete completed done exist exists finished for has have implement \
    implementation implemented in is it must now of on or ready should successfully task that the this \
    to was were will with work working works"
        .split(' ')
        .collect()
});

fn check(_context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let description: Vec<&str> = content_words(&task.description).collect();
    for item in task.fields.items(FieldKind::Acceptance) {
        if repeats(&item.text, &description) && vague_phrase(&item.text).is_none() {
            sink.report(
                task,
                item.span,
                "the criterion only repeats what the task is called",
            )
            .hint("say how to tell that it is done");
        }
    }
}

/// True if all content words of `criterion` occur in `description`, and are at least half as many.
fn repeats(criterion: &str, description: &[&str]) -> bool {
    let mut said = 0;
    for word in content_words(criterion) {
        if !description.iter().any(|other| same(word, other)) {
            return false;
        }
        said += 1;
    }
    said > 0 && said * 2 >= description.len()
}

fn content_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !is_filler(word))
}

fn is_filler(word: &str) -> bool {
    FILLER.contains(word.to_ascii_lowercase().as_str())
}

/// True if two words differ at most in case and ending: `parse`, `Parses`, `parsed`, `parsing`.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (stem(a), stem(b));
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}

fn stem(word: &str) -> &str {
    ["ing", "ed", "es", "s", "e"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() > 2))
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::repeats;

    #[test]
    fn filler_is_found_whatever_its_case() {
        assert!(
            super::FILLER
                .iter()
                .all(|word| super::is_filler(&word.to_uppercase()))
        );
        assert!(!super::is_filler("parser"));
    }

    #[test]
    fn repetition() {
        let check = |criterion: &str, description: &str, expect: bool| {
            let words: Vec<&str> = super::content_words(description).collect();
            assert_eq!(
                repeats(criterion, &words),
                expect,
                "{criterion} / {description}"
            );
        };
        check("JWT helper", "JWT helper", true);
        check(
            "The JWT helper is implemented",
            "Implement the JWT helper",
            true,
        );
        check("Numbers are parsed", "Parse numbers", true);
        check(
            "Adds logging to the parser",
            "Add logging to the parser",
            true,
        );
        check("JWT 도우미", "JWT 도우미", true);
        check(
            "Signs a token with a configurable expiry",
            "JWT helper",
            false,
        );
        check(
            "Parser",
            "Move the parser, the lexer and the printer to a crate",
            false,
        );
        check(
            "The parser returns an error for `1..2`",
            "Return errors from the parser",
            false,
        );
        check("It works", "Parser", false);
        check("", "Parser", false);
    }
}
