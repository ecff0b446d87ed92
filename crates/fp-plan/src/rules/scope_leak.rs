//! `scope-leak`.

use std::sync::LazyLock;

use regex::Regex;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "scope-leak",
    severity: Severity::Warning,
    finds: "A leaf that names something the user ruled out (`scopeExclusions` of `interview.json`)",
    why: "Work that was declared out of scope comes back through the plan, one task at a time.",
    fix: None,
    bad: "- [ID: 1] Parse numbers with a plugin system (Complexity: 2)",
    good: "- [ID: 1] Parse numbers (Complexity: 2)",
    check: Check::Leaf(check),
};

fn check(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for exclusion in context
        .facts
        .scope_exclusions
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
    {
        if let Some(span) = place(task, exclusion) {
            sink.report(
                task,
                span,
                format!("the task names {exclusion:?}, which is out of scope"),
            )
            .hint("take it out, or have the user take it into the scope");
        }
    }
}

/// Finds where a leaf names `exclusion` as something to do; sentences that deny it don't count.
fn place(task: &Task, exclusion: &str) -> Option<Span> {
    let names = |text: &str| contains_words(text, exclusion) && !DENIAL.is_match(text);
    if names(&task.description) {
        return Some(task.span);
    }
    if task.fields.text(FieldKind::Description).is_some_and(names) {
        return task.fields.span(FieldKind::Description);
    }
    let lists = [FieldKind::Acceptance, FieldKind::Files, FieldKind::Hints];
    let mut items = lists.into_iter().flat_map(|kind| task.fields.items(kind));
    items.find(|item| names(&item.text)).map(|item| item.span)
}

/// Words of denial, in the languages common in plans; the last ones are glued to other words.
static DENIAL: LazyLock<Regex> = LazyLock::new(|| {
    const WORDS: &str = "no|not|never|without|don['’]t|except|avoid|ohne|nicht|nie|kein(?:e[nr]?)?|außer|sans|pas|jamais|\
                         sauf|sin|nunca|excepto|sem|não|senza|bez";
    const GLUED: &str = "없이|않|말고|말 것|제외|なし|ない|せず|除く|不|无";
    let apart = r"[\W_--['’]]";
    Regex::new(&format!(
        "(?i)(?:^|{apart})(?:{WORDS})(?:{apart}|$)|{GLUED}"
    ))
    .expect("the pattern is a constant")
});

/// True if `text` contains the words of `wanted` in a row, in any case.
fn contains_words(text: &str, wanted: &str) -> bool {
    let (text, wanted) = (text.to_lowercase(), wanted.to_lowercase());
    // Scripts without blanks between words, or with endings glued to them, show no end of a word.
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let (first, last) = (
        word(wanted.chars().next()),
        word(wanted.chars().next_back()),
    );
    text.match_indices(&wanted).any(|(at, found)| {
        let within_word = (first && word(text[..at].chars().next_back()))
            || (last && word(text[at + found.len()..].chars().next()));
        !within_word
    })
}

#[cfg(test)]
mod tests {
    use super::{DENIAL, contains_words};

    #[test]
    fn words() {
        let check = |text: &str, wanted: &str, expect: bool| {
            assert_eq!(contains_words(text, wanted), expect, "{text} / {wanted}")
        };
        check("Add OAuth login", "oauth", true);
        check("src/oauth/mod.rs", "OAuth", true);
        check("Add OAuth2 login", "OAuth", false);
        check("The admin UI", "Admin UI", true);
        check("결제를 추가", "결제", true);
        check("unrelated", "rel", false);
    }

    #[test]
    fn denials() {
        let denies = |text: &str| DENIAL.is_match(text);
        assert!(
            denies("Do not touch OAuth")
                && denies("Works without OAuth")
                && denies("Don't add OAuth")
        );
        assert!(
            !denies("Add OAuth to the notes")
                && !denies("Add OAuth as 'no'")
                && denies("OAuth_not_now")
        );
        assert!(
            denies("Ohne SMS: der Kanal ist fest")
                && denies("Keine SMS")
                && denies("Alles außer SMS")
        );
        assert!(
            denies("Sans SMS") && denies("Sin SMS") && denies("NÃO usar SMS") && denies("Bez SMS")
        );
        assert!(denies("SMS 없이 보낸다") && denies("SMSを使わない") && denies("不发短信"));
        assert!(!denies("SMS를 보낸다") && !denies("SMS senden") && !denies("Notes par SMS"));
    }
}
