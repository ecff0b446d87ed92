//! `vague-acceptance`.

use std::sync::LazyLock;

use regex::Regex;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "vague-acceptance",
    severity: Severity::Warning,
    finds: "A criterion with nothing to observe, such as \"works correctly\", \"properly\", \"as expected\"",
    why: "The verifier has to decide it by looking at the result. What can't be observed passes, or fails, by mood.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance: Large numbers are handled properly",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance: A number above 2^63 gives the error `too large`",
    check: Check::Leaf(check_leaf),
};

/// Phrases that praise a result without describing it. Those on the last line are in scripts that don't separate words,
/// and `works` and `correctly` alone only count at the end.
static PHRASES: LazyLock<Regex> = LazyLock::new(|| {
    const WORDS: &str = "works correctly|work correctly|works properly|works as expected|works well|works fine|work well|\
        functions correctly|function correctly|behaves correctly|is correct|are correct|correctly implemented|properly|\
        as expected|as intended|as needed|as appropriate|appropriately|comprehensive|comprehensively|robust|\
        user-friendly|intuitive|seamless|high quality|high-quality|best practices|good performance|gracefully|\
        acceptable|reasonable|reasonably|easy to use|well tested|well documented|code is clean|edge cases are covered|\
        edge cases are handled|without issues|without problems|production-ready|production ready|\
        korrekt|wie erwartet|wie gewünscht|ordnungsgemäß|einwandfrei|correctement|comme prévu|\
        correctamente|adecuadamente|corretamente|correttamente|poprawnie";
    const GLUED: &str = "정상적으로|적절히|적절하게|올바르게|제대로|문제없이|문제 없이|正しく|適切に|正常に|問題なく|正确|正常工作";
    let apart = "[^a-zA-Z0-9]";
    let ends = r"(works|correctly)[.! ]*$";
    let pattern = format!("(?i)(?:^|{apart})(?:({WORDS})(?:{apart}|$)|{ends})|({GLUED})");
    Regex::new(&pattern).expect("the pattern is a constant")
});

fn check_leaf(_: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for item in task.fields.items(FieldKind::Acceptance) {
        if let Some(phrase) = vague_phrase(&item.text) {
            let detail = format!("\"{phrase}\" says nothing that can be observed");
            sink.report(task, item.span, detail)
                .set_hint("name something visible: a value, an error, an exit status, a file");
        }
    }
}

/// The first vague phrase of a criterion, unless the criterion contains something definite, such as code or a
/// quotation.
pub fn vague_phrase(criterion: &str) -> Option<&str> {
    let is_definite = criterion.contains(['`', '"', '“']);
    let found = PHRASES.captures(criterion).filter(|_| !is_definite)?;
    let phrase = found.iter().skip(1).flatten().next()?;
    Some(phrase.as_str())
}

#[cfg(test)]
mod tests {
    use super::vague_phrase;

    #[test]
    fn phrases() {
        let check =
            |text: &str, expect: Option<&str>| assert_eq!(vague_phrase(text), expect, "{text}");
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
