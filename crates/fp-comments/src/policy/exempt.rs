//! Comments that are no remarks for what they say: licences, markers of test steps, and tasks that are tracked.

/// What licences and notices of rights say, in lower case.
const LICENCE: [&str; 28] = [
    "spdx-",
    "copyright (c)",
    "copyright ©",
    "(c) copyright",
    "© copyright",
    "copyright:",
    "all rights reserved",
    "licensed under",
    "license: ",
    "licence: ",
    "distributed under",
    "released under the",
    "dual-licensed",
    "licensed to the ",
    "permission is hereby granted",
    "permission to use, copy, modify",
    "this program is free software",
    "this file is part of ",
    "redistribution and use in source",
    "use of this source code is governed by",
    "this source code is licensed",
    "this code is licensed",
    "subject to the terms of the",
    "without warranty of any kind",
    "gnu general public license",
    "see the license file",
    "see license in ",
    "public domain",
];

/// Whether `said`, all of a block of comments, is a licence or a notice of rights. A year or a name behind the word
/// makes it one: prose about copyright has neither.
pub(super) fn is_licence(said: &str) -> bool {
    // Longer than any notice, so that a file of comments is not read twice.
    let head: String = said.chars().take(4000).collect();
    let lower = head.to_lowercase();
    if LICENCE.iter().any(|phrase| lower.contains(phrase)) {
        return true;
    }
    if lower.starts_with("(c) ") || head.starts_with('©') {
        return true;
    }
    let words: Vec<&str> = head.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let is_word = pair[0].trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("copyright");
        let begins = pair[1].trim_start_matches(['(', '©']).chars().next();
        let named = pair[0].starts_with(['C', '@']) && begins.is_some_and(char::is_uppercase);
        is_word && (named || begins.is_some_and(|c| c.is_ascii_digit()))
    })
}

/// Steps of a test, as a whole comment.
const STEPS: [&str; 8] = ["given", "when", "then", "and", "but", "arrange", "act", "assert"];

/// Steps that have other meanings outside of tests.
const STEPS_IN_TESTS: [&str; 8] =
    ["setup", "set up", "exercise", "verify", "teardown", "tear down", "expect", "cleanup"];

/// Whether `said` marks a step of a test: a step's name alone, several of them, or one with a colon behind it; in a
/// test file also a sentence that begins with one of given, when and then.
pub(super) fn is_test_step(said: &str, in_test: bool) -> bool {
    let lower = said.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    let parts = bare.split(['/', '&', '+', ',']).flat_map(|part| part.split(" and "));
    let mut parts = parts.map(|part| part.trim_matches(|c: char| !c.is_alphabetic()));
    if !bare.is_empty() && parts.all(|part| is_step(part, in_test)) {
        return true;
    }
    if let Some((step, _)) = bare.split_once(':')
        && is_step(step.trim(), in_test)
    {
        return true;
    }
    let first = lower.split_whitespace().next().unwrap_or_default();
    let indefinite =
        ["given a ", "given an "].iter().any(|begin| lower.starts_with(begin)) && !said.contains(',');
    indefinite || (in_test && ["given", "when", "then"].contains(&first))
}

fn is_step(word: &str, in_test: bool) -> bool {
    STEPS.contains(&word) || (in_test && STEPS_IN_TESTS.contains(&word))
}

/// Words that mark a task for later.
const LATER: [&str; 6] = ["TODO", "FIXME", "HACK", "XXX", "BUG", "OPTIMIZE"];

/// What looks like the key of an issue and is none.
const NO_TRACKER: [&str; 16] = [
    "UTF", "ISO", "SHA", "MD", "RFC", "AES", "RSA", "IEEE", "ASCII", "EN", "UCS", "CP", "X", "ES", "HTTP",
    "TLS",
];

/// Of a comment that begins with a mark for later, whether it says where that is tracked: an issue, a link or an
/// owner. `None` for any other comment. `paragraph` is the comment with what belongs to it.
pub(super) fn is_tracked(said: &str, paragraph: &str) -> Option<bool> {
    let said = said.trim_start_matches(['@', '[', '*', '-', ' ']);
    let rest = LATER.iter().find_map(|word| {
        let head = said.get(..word.len())?;
        let exact =
            head == *word || (head.eq_ignore_ascii_case(word) && said[word.len()..].starts_with([':', '(']));
        (exact || head == "todo" || head == "Todo").then(|| &said[word.len()..])
    })?;
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let owned = rest.trim_start().strip_prefix(['(', '[']).is_some_and(|inner| {
        inner.split([')', ']']).next().is_some_and(|name| name.chars().any(char::is_alphanumeric))
    });
    Some(owned || has_reference(paragraph))
}

/// Whether the text has an issue number, an issue key, a link or somebody's handle in it.
fn has_reference(text: &str) -> bool {
    if text.contains("http://") || text.contains("https://") {
        return true;
    }
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ',' | ':' | ';')).any(
        |word| {
            let digits = |text: &str| text.bytes().next().is_some_and(|b| b.is_ascii_digit());
            let number = word.rsplit_once('#').is_some_and(|(_, number)| digits(number));
            let handle = word.strip_prefix('@').is_some_and(|name| name.starts_with(char::is_alphabetic));
            let key = word.split_once('-').is_some_and(|(project, number)| {
                project.len() > 1
                    && project.starts_with(|c: char| c.is_ascii_uppercase())
                    && project.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
                    && !NO_TRACKER.contains(&project)
                    && digits(number)
            });
            let bug = ["b/", "bug/", "crbug.com/"].iter().any(|p| word.strip_prefix(p).is_some_and(digits));
            number || handle || key || bug
        },
    )
}
