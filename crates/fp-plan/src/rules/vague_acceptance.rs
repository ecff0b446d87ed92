//! `vague-acceptance`.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match};

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "vague-acceptance",
    severity: Severity::Warning,
    finds: "A criterion with nothing to observe, such as \"works correctly\", \"properly\", \"as expected\"",
    why: "The verifier has to decide it by looking at the result. What can't be observed passes, or fails, by mood.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance: Large numbers are handled properly",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance: A number above 2^63 gives the error `too large`",
    check: Check::Leaf(check),
};

/// Phrases that praise a result without describing it.
const VAGUE: &str = "works correctly, work correctly, works properly, works as expected, works well, works fine, \
    work well, functions correctly, function correctly, behaves correctly, is correct, are correct, \
    correctly implemented, properly, as expected, as intended, as needed, as appropriate, \
    appropriately, comprehensive, comprehensively, robust, user-friendly, intuitive, seamless, \
    high quality, high-quality, best practices, good performance, gracefully, acceptable, reasonable, \
    reasonably, easy to use, well tested, well documented, code is clean, edge cases are covered, \
    edge cases are handled, without issues, without problems, production-ready, production ready, \
    korrekt, wie erwartet, wie gewünscht, ordnungsgemäß, einwandfrei, correctement, comme prévu, \
    correctamente, adecuadamente, corretamente, correttamente, poprawnie, \
    정상적으로, 적절히, 적절하게, 올바르게, 제대로, 문제없이, 문제 없이, 正しく, 適切に, 正常に, 問題なく, 正确, 正常工作";

/// Finds all of them in one pass over a criterion.
static PHRASES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(VAGUE.split(", "))
        .expect("a few short phrases are no more than it takes")
});

fn check(_context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for item in task.fields.items(FieldKind::Acceptance) {
        if let Some(phrase) = vague_phrase(&item.text) {
            sink.report(task, item.span, format!("\"{phrase}\" says nothing that can be observed"))
                .hint("say what is seen: a value, an error, an exit status, a file");
        }
    }
}

/// The first vague phrase of a criterion, unless the criterion contains something definite, such as code or a
/// quotation.
pub fn vague_phrase(criterion: &str) -> Option<&str> {
    if criterion.contains(['`', '"', '“']) {
        return None;
    }
    let bytes = criterion.as_bytes();
    let within = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let apart = |found: &Match| {
        // Korean, Japanese and Chinese don't separate words.
        let glued = criterion[found.range()].starts_with(|c| c >= '\u{1100}');
        glued || !(found.start() > 0 && within(found.start() - 1) || within(found.end()))
    };
    let found = PHRASES.find_overlapping_iter(criterion).filter(apart).min_by_key(Match::start);
    if let Some(found) = found {
        return Some(&criterion[found.range()]);
    }
    let last = criterion.trim_end_matches(['.', '!', ' ']);
    ["works", "correctly"].iter().find_map(|word| {
        let at = last.len().checked_sub(word.len())?;
        let ends = last.get(at..)?.eq_ignore_ascii_case(word) && (at == 0 || !within(at - 1));
        ends.then(|| &last[at..])
    })
}

#[cfg(test)]
mod tests {
    use super::vague_phrase;

    #[test]
    fn phrases() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(vague_phrase(text), expect, "{text}");
        check("The login works correctly", Some("works correctly"));
        check("Properly handles errors.", Some("Properly"));
        check("Behaves as expected", Some("as expected"));
        check("Has comprehensive tests", Some("comprehensive"));
        check("Errors are handled correctly.", Some("correctly"));
        check("Login works", Some("works"));
        check("Improperly signed tokens are rejected", None);
        check("Works with two builders at once", None);
        check("Properly escapes `<` as `&lt;`", None);
        check("Rejects an expired token", None);
        check("값이 properly 처리됨", Some("properly"));
        check("Failures are handled gracefully", Some("gracefully"));
        check("The response time is reasonable", Some("reasonable"));
        check("Alle Fehler werden korrekt behandelt", Some("korrekt"));
        check("Zeigt den korrekten Namen des Kunden", None);
        check("Läuft ordnungsgemäß durch", Some("ordnungsgemäß"));
        check("Le formulaire se comporte comme prévu", Some("comme prévu"));
        check("로그인이 정상적으로 처리된다", Some("정상적으로"));
        check("エラーを適切に扱う", Some("適切に"));
        check("아홉 번째 요청은 429를 받는다", None);
        check("", None);
    }
}
