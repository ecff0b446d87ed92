//! Applies the edits of findings. Edits of one round never overlap; what had to wait is found again in the
//! next round, on the text as it then is.

use std::collections::BTreeMap;

use super::{Facts, check};
use crate::diagnostic::{Diagnostic, Fix};
use crate::plan::parse;

/// Most rounds; each resolves at least one finding, and most plans need two.
const MAX_ROUNDS: usize = 100;

/// A text after its mechanical fixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The text.
    pub text: String,
    /// How many findings were resolved.
    pub resolved: usize,
}

/// Applies every mechanical fix to `source`, again and again until there is none left.
#[must_use]
pub fn fix_all(source: &str, facts: &Facts) -> Fixed {
    let mut fixed = Fixed { text: source.to_owned(), resolved: 0 };
    let mut left = mendable(source, facts);
    for _ in 0..MAX_ROUNDS {
        let (text, resolved) = apply(&fixed.text, &left);
        if resolved == 0 || text == fixed.text {
            break;
        }
        let found = mendable(&text, facts);
        if left.iter().map(what).eq(found.iter().map(what)) {
            // Edits that change nothing for the better would be made for ever.
            break;
        }
        fixed = Fixed { text, resolved: fixed.resolved + resolved };
        left = found;
    }
    fixed
}

/// The findings in `source` that can be fixed.
fn mendable(source: &str, facts: &Facts) -> Vec<Diagnostic> {
    let (plan, parsed) = parse(source);
    let mut found = check(&plan, &parsed, facts);
    found.retain(|diagnostic| !diagnostic.fixes.is_empty());
    found
}

/// What a finding says, wherever it stands.
fn what(finding: &Diagnostic) -> (&str, &str, &str) {
    (finding.rule, &finding.task_id, &finding.detail)
}

/// Applies the edits of `diagnostics`, those of a finding all or none, and none that would change what other
/// text is; keeps the comments in what they replace. Gives the text and how many findings were resolved.
#[must_use]
pub fn apply(source: &str, diagnostics: &[Diagnostic]) -> (String, usize) {
    let mut chosen: Vec<&Fix> = Vec::new();
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut resolved = 0;
    for diagnostic in diagnostics.iter().filter(|diagnostic| !diagnostic.fixes.is_empty()) {
        if diagnostic.fixes.iter().all(|fix| is_free(&taken, fix) && !takes_in(source, fix)) {
            taken.extend(diagnostic.fixes.iter().map(|fix| (fix.span.start, fix.span.end)));
            chosen.extend(&diagnostic.fixes);
            resolved += 1;
        }
    }
    chosen.sort_by_key(|fix| fix.span);
    let mut text = String::with_capacity(source.len() + chosen.len() * 64);
    let mut at = 0;
    for fix in chosen {
        if let Some(kept) = source.get(at..fix.span.start).filter(|_| source.is_char_boundary(fix.span.end)) {
            text.push_str(kept);
            text.push_str(&fix.replacement);
            text.push_str(&comments(&source[fix.span.start..fix.span.end]));
            at = fix.span.end;
            text.push_str(line_apart(&fix.replacement, &source[at..]));
        }
    }
    text.push_str(&source[at..]);
    (text, resolved)
}

/// The comments in what an edit replaces, each on a line of its own as it was: they are somebody's words, and no
/// edit is about them.
fn comments(replaced: &str) -> String {
    let newline = if replaced.contains("\r\n") { "\r\n" } else { "\n" };
    let mut kept = String::new();
    let mut at = 0;
    while let Some(start) = replaced[at..].find("<!--").map(|found| at + found) {
        at = replaced[start..].find("-->").map_or(replaced.len(), |found| start + found + "-->".len());
        let line = &replaced[replaced[..start].rfind('\n').map_or(0, |end| end + 1)..start];
        let indent = &line[..line.len() - line.trim_start().len()];
        kept.push_str(&format!("{newline}{indent}{}", &replaced[start..at]));
    }
    kept
}

/// The line end that keeps lines that were added from being read together with the text below them.
fn line_apart<'r>(added: &'r str, rest: &str) -> &'r str {
    let newline = &added[..added.len() - added.trim_start_matches(['\r', '\n']).len()];
    let below = rest.trim_start_matches([' ', '\t']).trim_start_matches('\r').strip_prefix('\n');
    let Some(line) = below.and_then(|below| below.lines().next()) else { return "" };
    let word = line.split_whitespace().next();
    // A number begins an item only where its list was begun before, as that of a task was.
    let numbered = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && line.contains("[ID");
    let apart = word.is_none_or(|word| {
        matches!(word, "-" | "*" | "+")
            || word.starts_with("<!--")
            || word.bytes().all(|b| b == b'#')
            || numbered(word)
    });
    if apart { "" } else { newline }
}

/// Whether an edit adds an item that would take in the text below it, which is indented farther.
fn takes_in(source: &str, fix: &Fix) -> bool {
    let indentation = |line: &str| {
        let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
        blanks.fold(0, |column, byte| column + if byte == b'\t' { 4 - column % 4 } else { 1 })
    };
    let first = |text: &str| text.lines().find(|line| !line.trim().is_empty()).map(indentation);
    let below = source.get(fix.span.end..).and_then(|rest| rest.split_once('\n')).map(|(_, below)| below);
    fix.replacement.starts_with(['\r', '\n'])
        && below.and_then(first).zip(first(&fix.replacement)).is_some_and(|(below, added)| below >= added + 2)
}

/// Whether no chosen edit touches the bytes of this one, or inserts at the same place.
fn is_free(taken: &BTreeMap<usize, usize>, fix: &Fix) -> bool {
    let before = taken.range(..=fix.span.start).next_back();
    let behind = taken.range(fix.span.start..).next();
    before.is_none_or(|(&start, &end)| end <= fix.span.start && start != fix.span.start)
        && behind.is_none_or(|(&start, _)| start >= fix.span.end && start != fix.span.start)
}
