//! Splits a one-line value at separators that stand outside brackets, quotes and code spans. An opening
//! that is never closed protects nothing, so one stray bracket doesn't glue a whole line together.

use std::collections::HashMap;
use std::ops::Range;

/// What separates entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// `;`
    Semicolon,
    /// `,` that isn't part of a number such as `1,000`.
    Comma,
    /// Both.
    Either,
}

/// The trimmed, non-empty pieces of `text` between unprotected separators.
pub(super) fn split(text: &str, separator: Separator) -> Vec<Range<usize>> {
    let cuts = cuts(text, separator);
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    let mut start = 0;
    for end in cuts.into_iter().chain([text.len()]) {
        let piece = trim(text, start..end);
        if !piece.is_empty() {
            pieces.push(piece);
        }
        start = (end + 1).min(text.len());
    }
    pieces
}

/// `range` without blanks at either end.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start().len());
    start..start.max(range.start + slice.trim_end().len())
}

fn cuts(text: &str, separator: Separator) -> Vec<usize> {
    let bytes = text.as_bytes();
    let wanted = |at: usize| match bytes[at] {
        b';' => separator != Separator::Comma && !ends_entity(bytes, at),
        b',' => separator != Separator::Semicolon && !within_number(bytes, at),
        _ => false,
    };
    if !(0..bytes.len()).any(wanted) {
        return Vec::new();
    }
    let protected = protected(text);
    let mut next = protected.iter().peekable();
    let mut cuts = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        while next.next_if(|range| range.end <= at).is_some() {}
        if let Some(range) = next.peek().filter(|range| range.contains(&at)) {
            at = range.end;
            continue;
        }
        if wanted(at) {
            cuts.push(at);
        }
        at += 1;
    }
    cuts
}

/// Whether the `;` at `at` ends something like `&amp;`.
fn ends_entity(bytes: &[u8], at: usize) -> bool {
    let name =
        bytes[at.saturating_sub(12)..at].iter().rev().position(|b| !b.is_ascii_alphanumeric() && *b != b'#');
    name.is_some_and(|len| len > 0 && bytes[at - len - 1] == b'&')
}

fn within_number(bytes: &[u8], at: usize) -> bool {
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    digit(at.checked_sub(1)) && digit(Some(at + 1))
}

/// The outermost protected ranges, in order.
fn protected(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut ticks = TickRuns::new(bytes);
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + 1;
        match bytes[at] {
            b'`' => end = ticks.span_end(bytes, at, &mut ranges),
            b'(' | b'[' | b'{' => open.push((bytes[at], at)),
            close @ (b')' | b']' | b'}') => close_bracket(&mut open, &mut ranges, close, at),
            quote @ (b'"' | b'\'') => quotation(bytes, quote, at, &mut open, &mut ranges),
            // The typographic quotes are three bytes: E2 80 9C and E2 80 9D.
            0xe2 if bytes[at..].starts_with("“".as_bytes()) => open.push((0x9c, at)),
            0xe2 if bytes[at..].starts_with("”".as_bytes()) => {
                close_bracket(&mut open, &mut ranges, 0x9d, at)
            }
            _ => {}
        }
        at = end;
    }
    ranges.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut outer: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        if outer.last().is_none_or(|last| range.start >= last.end) {
            outer.push(range);
        }
    }
    outer
}

fn close_bracket(open: &mut Vec<(u8, usize)>, ranges: &mut Vec<Range<usize>>, close: u8, at: usize) {
    let wanted = match close {
        b')' => b'(',
        b']' => b'[',
        b'}' => b'{',
        _ => 0x9c,
    };
    if let Some(&(kind, start)) = open.last()
        && kind == wanted
    {
        open.pop();
        ranges.push(start..at + 1);
    }
}

/// A straight quote opens before a word and closes behind one; in the middle of a word it is an apostrophe.
fn quotation(
    bytes: &[u8],
    quote: u8,
    at: usize,
    open: &mut Vec<(u8, usize)>,
    ranges: &mut Vec<Range<usize>>,
) {
    let word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at)).is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80)
    };
    if open.last().is_some_and(|&(kind, _)| kind == quote) && !(quote == b'\'' && word(Some(at + 1))) {
        let (_, start) = open.pop().expect("the last one was looked at");
        ranges.push(start..at + 1);
    } else if !word(at.checked_sub(1)) {
        open.push((quote, at));
    }
}

/// Runs of backticks by length, so that finding the end of a code span never scans a text twice.
struct TickRuns {
    by_length: HashMap<usize, Vec<usize>>,
}

impl TickRuns {
    fn new(bytes: &[u8]) -> Self {
        let mut by_length: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut at = bytes.len();
        while at > 0 {
            let end = at;
            while at > 0 && bytes[at - 1] == b'`' {
                at -= 1;
            }
            if at < end {
                by_length.entry(end - at).or_default().push(at);
            } else {
                at -= 1;
            }
        }
        Self { by_length }
    }

    /// Where reading goes on behind the run of backticks at `at`: behind its code span, if it opens one.
    fn span_end(&mut self, bytes: &[u8], at: usize, ranges: &mut Vec<Range<usize>>) -> usize {
        let length = bytes[at..].iter().take_while(|&&b| b == b'`').count();
        if let Some(starts) = self.by_length.get_mut(&length) {
            while starts.last().is_some_and(|&start| start <= at) {
                starts.pop();
            }
            if let Some(&start) = starts.last() {
                ranges.push(at..start + length);
                return start + length;
            }
        }
        at + length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_inside_brackets_quotes_and_code_are_text() {
        let check = |text: &str, separator: Separator, expect: &[&str]| {
            let pieces: Vec<&str> = split(text, separator).into_iter().map(|range| &text[range]).collect();
            assert_eq!(pieces, expect, "{text:?}");
        };
        use Separator::{Comma, Either, Semicolon};
        check("", Comma, &[]);
        check(" a , b,c ", Comma, &["a", "b", "c"]);
        check("a,, b,", Comma, &["a", "b"]);
        check("a, b; c", Semicolon, &["a, b", "c"]);
        check("a, b; c", Either, &["a", "b", "c"]);
        check("accepts (a, b and c), d", Comma, &["accepts (a, b and c)", "d"]);
        check("accepts `a, b` and c, d", Comma, &["accepts `a, b` and c", "d"]);
        check("``a ` , b``, c", Comma, &["``a ` , b``", "c"]);
        check("prints \"a, b\", ends", Comma, &["prints \"a, b\"", "ends"]);
        check("prints 'a, b', ends", Comma, &["prints 'a, b'", "ends"]);
        check("prints “a, b”, ends", Comma, &["prints “a, b”", "ends"]);
        check("doesn't fail, can't hang", Comma, &["doesn't fail", "can't hang"]);
        check("users' data, others' data", Comma, &["users' data", "others' data"]);
        check("f(g(a, b), c), d", Comma, &["f(g(a, b), c)", "d"]);
        check("a [b, {c, d}], e", Comma, &["a [b, {c, d}]", "e"]);
        check("a (b, c", Comma, &["a (b", "c"]);
        check("a `b, c", Comma, &["a `b", "c"]);
        check("a) b, c", Comma, &["a) b", "c"]);
        check("1,000 requests, 2,5", Comma, &["1,000 requests", "2,5"]);
        check("한글, 値", Comma, &["한글", "値"]);
        check("bash -c \"a; b\"; c", Semicolon, &["bash -c \"a; b\"", "c"]);
        check("a &amp; b; c &; d &#39;; &;", Semicolon, &["a &amp; b", "c &", "d &#39;", "&"]);
        check("`a; b`; c", Semicolon, &["`a; b`", "c"]);
    }

    #[test]
    fn unclosed_openings_cost_linear_time() {
        for text in
            ["(".repeat(1 << 20), "`a``b".repeat(1 << 18), "\"a".repeat(1 << 19), ",(".repeat(1 << 19)]
        {
            split(&(text + ", end"), Separator::Comma);
        }
    }
}
