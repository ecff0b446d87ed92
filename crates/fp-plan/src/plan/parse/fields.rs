//! Splits fields into labels and values, such as `Files: src/a.rs, src/b.rs`.

use std::ops::Range;

use super::task_line::joined_lines;
use crate::command_line::certain_commands;
use crate::diagnostic::Span;
use crate::markdown::span_length;
use crate::plan::field::{FieldForm, FieldKind};
use crate::plan::marker_length;
use crate::plan::task::Item;

/// Maximum length of an unknown field's label, in bytes and in words: longer ones are prose.
const MAX_LABEL_BYTES: usize = 40;
const MAX_LABEL_WORDS: usize = 3;

/// Splits `text[range]` of the form `Word: value` into the label and the start of the value.
pub(super) fn label(text: &str, range: Range<usize>) -> Option<(Range<usize>, usize)> {
    const MARKS: [char; 4] = ['*', '_', '~', '`'];
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start_matches(MARKS).len());
    let window = floor_boundary(text, range.end.min(start + MAX_LABEL_BYTES + 4));
    let colon = start + memchr::memchr2(b':', b'\n', &text.as_bytes()[start..window])?;
    if !text[colon..].starts_with(':') {
        return None;
    }
    let name = start..start + text[start..colon].trim_end_matches(MARKS).trim_end().len();
    let value = text[colon + 1..range.end].trim_start_matches(['*', '_']);
    let value_start = range.end - value.len();
    let words = &text[name.clone()];
    let wordlike = words.starts_with(char::is_alphabetic)
        && words
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        && words.split_whitespace().count() <= MAX_LABEL_WORDS
        && (value.is_empty() || value.starts_with(char::is_whitespace));
    (wordlike || FieldKind::from_label(words).is_some()).then_some((name, value_start))
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The entries of a value on its label's line; empty for `none` and for no text.
pub(super) fn line_entries(kind: FieldKind, text: &str, range: Range<usize>) -> Vec<Item<'_>> {
    let range = trim(text, range);
    let slice = &text[range.clone()];
    if slice.is_empty() {
        return Vec::new();
    }
    let pieces = match kind.form() {
        FieldForm::Criteria => first_split(slice, Separator::Semicolon)
            .unwrap_or_else(|| split(slice, Separator::Comma)),
        FieldForm::Ids => split(slice, Separator::Either)
            .into_iter()
            .flat_map(|piece| split_and(slice, piece))
            .collect(),
        FieldForm::Paths | FieldForm::Names => split(slice, Separator::Either),
        FieldForm::Remarks => split(slice, Separator::Semicolon),
        FieldForm::References => separate_where(slice, |piece| {
            piece
                .split_whitespace()
                .next()
                .is_some_and(|w| w.contains(['/', '.']))
        }),
        FieldForm::Commands => {
            let coded =
                |piece: &str| piece.len() > 1 && piece.starts_with('`') && piece.ends_with('`');
            let lines = separate_where(slice, coded).into_iter();
            lines.flat_map(|line| commands_of(slice, line)).collect()
        }
        FieldForm::Number
        | FieldForm::Prose
        | FieldForm::Text
        | FieldForm::Command
        | FieldForm::Choice(_) => std::iter::once(0..slice.len()).collect(),
    };
    pieces
        .into_iter()
        .filter_map(|piece| {
            entry(
                kind,
                text,
                range.start + piece.start..range.start + piece.end,
            )
        })
        .collect()
}

fn first_split(text: &str, separator: Separator) -> Option<Vec<Range<usize>>> {
    Some(split(text, separator)).filter(|pieces| pieces.len() > 1)
}

/// Splits at `;`, or at `,` if every piece then satisfies `fits`.
fn separate_where(text: &str, fits: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let pieces = split(text, Separator::Semicolon);
    if pieces.len() > 1 {
        return pieces;
    }
    first_split(text, Separator::Comma)
        .filter(|list| list.iter().all(|piece| fits(&text[piece.clone()])))
        .unwrap_or(pieces)
}

/// Splits `cargo test a, cargo test b`.
fn commands_of(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let commands = certain_commands(&text[line.clone()]).into_iter();
    commands.map(move |piece| line.start + piece.start..line.start + piece.end)
}

/// Splits `1.1 and 1.2`.
fn split_and(text: &str, piece: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = piece.start;
    let blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
    for (at, word) in text[piece.clone()].match_indices("and") {
        let (begin, end) = (piece.start + at, piece.start + at + word.len());
        if blank(text[start..begin].chars().next_back())
            && blank(text[end..piece.end].chars().next())
        {
            pieces.push(trim(text, start..begin));
            start = end;
        }
    }
    pieces.push(trim(text, start..piece.end));
    let rest = text[pieces[pieces.len() - 1].clone()]
        .strip_prefix("and ")
        .map(str::len);
    if let (Some(len), Some(last)) = (rest, pieces.last_mut()) {
        *last = last.end - len..last.end;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// One entry of a field; `None` for `none` and for no text.
pub(super) fn entry(kind: FieldKind, text: &str, range: Range<usize>) -> Option<Item<'_>> {
    let range = trim(text, range);
    let (value, note) = match kind.form() {
        FieldForm::Paths => file(text, range),
        FieldForm::Ids => dependency(text, range),
        FieldForm::Commands | FieldForm::Command => (unquoted(text, range), None),
        _ => (range, None),
    };
    let shown = joined_lines(&text[value.clone()]);
    let item = Item {
        text: shown,
        span: Span::new(value.start, value.end),
        note: note.filter(|note| !note.is_empty()),
    };
    // `none` is an answer if it is one of the words to choose from.
    let empty = is_none(&item.text)
        && !matches!(kind.form(), FieldForm::Choice(words) if choice(words, "none").is_some());
    (!item.text.is_empty() && !empty).then_some(item)
}

/// True for the word `none`, apart from marks around it.
pub(super) fn is_none(text: &str) -> bool {
    let bare = text.trim().trim_matches(['*', '_', '`', '(', ')', '.']);
    bare.eq_ignore_ascii_case("none")
}

/// Removes a code span that encloses all of `text[range]`.
fn unquoted(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let ticks = slice.bytes().take_while(|b| *b == b'`').count();
    let inner = range.start + ticks..range.end.saturating_sub(ticks).max(range.start + ticks);
    let whole = ticks > 0
        && slice.len() > 2 * ticks
        && slice.ends_with(&slice[..ticks])
        && !text[inner.clone()].contains(&slice[..ticks]);
    if whole { trim(text, inner) } else { range }
}

fn note(text: &str, range: Range<usize>) -> Option<Box<str>> {
    Some(joined_lines(&text[range]).into_owned().into())
}

/// A path and the remark after it: `` `src/a.rs` (new) ``, `[a](src/a.rs)`, `src/a.rs - the entry point`.
fn file(text: &str, range: Range<usize>) -> (Range<usize>, Option<Box<str>>) {
    let slice = &text[range.clone()];
    let (path, rest) = if let Some(close) = slice
        .strip_prefix('`')
        .and_then(|inner| inner.find('`').filter(|&close| close > 0))
    {
        (
            range.start + 1..range.start + 1 + close,
            range.start + close + 2,
        )
    } else if let Some(close) = slice.strip_prefix('[').and_then(|inner| inner.find("](")) {
        // Counts the opening bracket and the two between text and target.
        let target = 1 + close + 2;
        let end = slice[target..]
            .find(')')
            .map_or(range.end, |at| range.start + target + at + 1);
        (range.start + 1..range.start + 1 + close, end)
    } else {
        let cut = remark(slice);
        (range.start..range.start + cut, range.start + cut)
    };
    let mut path = trim(text, path);
    while let Some(rest) = text[path.clone()]
        .strip_prefix("./")
        .filter(|rest| !rest.is_empty())
    {
        path.start = path.end - rest.len();
    }
    (path, note(text, rest..range.end))
}

/// The start of the remark after a path, such as `(new)` or `- the entry point`; the end if there is none.
fn remark(text: &str) -> usize {
    let mut rest = text;
    while let Some(blank) = rest.find(char::is_whitespace) {
        let word = rest[blank..].trim_start();
        let dash = word
            .strip_prefix(['-', '–', '—', '#'])
            .is_some_and(|rest| rest.starts_with(char::is_whitespace));
        if dash || word.starts_with('(') {
            return text.len() - rest.len() + blank;
        }
        rest = word;
    }
    text.len()
}

/// An id and the remark after it: `1.1`, `[ID: 1.1]`, `Task 1.1 (needs its types)`.
fn dependency(text: &str, range: Range<usize>) -> (Range<usize>, Option<Box<str>>) {
    const MARKS: [char; 4] = ['*', '`', '[', '\\'];
    let mut start = range.start;
    let slice = &text[range.clone()];
    start += slice.len() - slice.trim_start_matches(MARKS).len();
    for prefix in ["ID:", "Task "] {
        if text
            .get(start..start + prefix.len())
            .is_some_and(|p| p.eq_ignore_ascii_case(prefix))
            && start + prefix.len() < range.end
        {
            start = trim(text, start + prefix.len()..range.end).start;
        }
    }
    let rest = &text[start..range.end];
    let len = rest
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        .count();
    let behind = rest[len..].trim_start_matches([']', '`', '*', '\\']);
    let follows = behind.starts_with(':')
        || behind.trim_start().starts_with(['(', '-', '–', '—'])
        || (behind.starts_with(char::is_whitespace) && behind.trim_start().starts_with('['));
    let marked = start > range.start && behind.len() < rest.len() - len;
    if len > 0 && (behind.trim().is_empty() || follows || marked) {
        let id_len = rest[..len].trim_end_matches('.').len().max(1);
        (
            start..start + id_len,
            note(text, range.end - behind.len()..range.end),
        )
    } else {
        (range, None)
    }
}

/// The canonical word for the first word of `text`, if it is one of `words`.
pub(super) fn choice(words: &[&[&'static str]], text: &str) -> Option<&'static str> {
    let given = first_word(text);
    words
        .iter()
        .find(|same| same.contains(&given.as_str()))
        .map(|same| same[0])
}

/// The first word of a value in lower case, without marks.
fn first_word(text: &str) -> String {
    text.trim_start_matches(['*', '_', '`', '(', ' '])
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

/// True if a value contains more than one word.
pub(super) fn is_more_than_a_word(text: &str) -> bool {
    !text
        .trim_matches(['*', '_', '`', '(', ')', '.', ' '])
        .chars()
        .all(char::is_alphanumeric)
}

/// Reads `item`, an unknown field of the tree parsed from `text`, as if it were the field `kind`. Returns its entries
/// with their positions: those on the label's line, and those on lines below it.
pub fn entries_of<'t>(kind: FieldKind, text: &'t str, item: &Item<'_>) -> Vec<Item<'t>> {
    let Span { start, end } = item.span;
    let Some((_, value)) = label(text, start..end) else {
        return Vec::new();
    };
    let first = text[value..end].find('\n').map_or(end, |at| value + at);
    let mut found = line_entries(kind, text, value..first);
    let mut at = first;
    for line in text[first..end].split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let blanks = line.len() - line.trim_start().len();
        let marker = marker_length(&line[blanks..]);
        let is_item = marker > 0 && line[blanks + marker..].starts_with([' ', '\t']);
        match found.last_mut() {
            _ if is_item => {
                found.extend(entry(kind, text, range.start + blanks + marker..range.end))
            }
            Some(last) if !line.trim().is_empty() => {
                last.text = format!("{} {}", last.text, line.trim()).into();
                last.span.end = range.start + line.trim_end().len();
            }
            _ => {}
        }
    }
    found
}

/// A separator between entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// `;`
    Semicolon,
    /// `,`, except in a number such as `1,000`.
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

/// Trims blanks from both ends of `range`.
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

/// True if the `;` at `at` ends an entity such as `&amp;`.
fn ends_entity(bytes: &[u8], at: usize) -> bool {
    let name = bytes[at.saturating_sub(12)..at]
        .iter()
        .rev()
        .position(|b| !b.is_ascii_alphanumeric() && *b != b'#');
    name.is_some_and(|len| len > 0 && bytes[at - len - 1] == b'&')
}

fn within_number(bytes: &[u8], at: usize) -> bool {
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_digit)
    };
    digit(at.checked_sub(1)) && digit(Some(at + 1))
}

/// The outermost protected ranges, in order.
fn protected(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + 1;
        match bytes[at] {
            b'`' => {
                let run = bytes[at..].iter().take_while(|&&byte| byte == b'`').count();
                let span = span_length(&text[at..], run);
                ranges.extend(span.map(|length| at..at + length));
                end = at + span.unwrap_or(run);
            }
            b'(' | b'[' | b'{' => open.push((bytes[at], at)),
            close @ (b')' | b']' | b'}') => close_bracket(&mut open, &mut ranges, close, at),
            quote @ (b'"' | b'\'') => quotation(bytes, quote, at, &mut open, &mut ranges),
            // The typographic quotes are three bytes each: E2 80 9C and E2 80 9D.
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

fn close_bracket(
    open: &mut Vec<(u8, usize)>,
    ranges: &mut Vec<Range<usize>>,
    close: u8,
    at: usize,
) {
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

/// A straight quote opens before a word and closes after one; within a word it is an apostrophe.
fn quotation(
    bytes: &[u8],
    quote: u8,
    at: usize,
    open: &mut Vec<(u8, usize)>,
    ranges: &mut Vec<Range<usize>>,
) {
    let word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80)
    };
    if open.last().is_some_and(|&(kind, _)| kind == quote)
        && !(quote == b'\'' && word(Some(at + 1)))
    {
        let (_, start) = open.pop().expect("the last one was looked at");
        ranges.push(start..at + 1);
    } else if !word(at.checked_sub(1)) {
        open.push((quote, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    #[test]
    fn entries_are_on_the_line_and_below() {
        let check = |field: &str, expect: &[&str]| {
            let text = format!("## [1] A\n{field}\n");
            let (plan, _) = parse(&text);
            let (_, item) = &plan.tasks[0].fields.unknown[0];
            let found = entries_of(FieldKind::Files, &text, item);
            let shown: Vec<&str> = found.iter().map(|item| &*item.text).collect();
            assert_eq!(shown, expect, "{field}");
            for item in &found {
                assert!(
                    text[item.span.start..item.span.end]
                        .starts_with(item.text.split(' ').next().unwrap())
                );
            }
        };
        check("- Inputs: none", &[]);
        check("- Inputs:", &[]);
        check(
            "- Inputs: `src/a.rs` (there), a token - of a session; 한글",
            &["src/a.rs", "a token", "한글"],
        );
        check(
            "- Inputs:\n  - a\n  - `b c` - why\n\n  * d",
            &["a", "b c", "d"],
        );
        check("- **Inputs:** a\n  1. b\n  2) c", &["a", "b", "c"]);
        check("- Inputs:\n  - a and\n    more", &["a and more"]);
        check("- Inputs:\r\n  - a\r\n  - b\r", &["a", "b"]);
    }

    #[test]
    fn separators_inside_brackets_quotes_and_code_are_text() {
        let check = |text: &str, separator: Separator, expect: &[&str]| {
            let pieces: Vec<&str> = split(text, separator)
                .into_iter()
                .map(|range| &text[range])
                .collect();
            assert_eq!(pieces, expect, "{text:?}");
        };
        use Separator::{Comma, Either, Semicolon};
        check("", Comma, &[]);
        check(" a , b,c ", Comma, &["a", "b", "c"]);
        check("a,, b,", Comma, &["a", "b"]);
        check("a, b; c", Semicolon, &["a, b", "c"]);
        check("a, b; c", Either, &["a", "b", "c"]);
        check(
            "accepts (a, b and c), d",
            Comma,
            &["accepts (a, b and c)", "d"],
        );
        check(
            "accepts `a, b` and c, d",
            Comma,
            &["accepts `a, b` and c", "d"],
        );
        check("``a ` , b``, c", Comma, &["``a ` , b``", "c"]);
        check("prints \"a, b\", ends", Comma, &["prints \"a, b\"", "ends"]);
        check("prints 'a, b', ends", Comma, &["prints 'a, b'", "ends"]);
        check("prints “a, b”, ends", Comma, &["prints “a, b”", "ends"]);
        check(
            "doesn't fail, can't hang",
            Comma,
            &["doesn't fail", "can't hang"],
        );
        check(
            "users' data, others' data",
            Comma,
            &["users' data", "others' data"],
        );
        check("f(g(a, b), c), d", Comma, &["f(g(a, b), c)", "d"]);
        check("a [b, {c, d}], e", Comma, &["a [b, {c, d}]", "e"]);
        check("a (b, c", Comma, &["a (b", "c"]);
        check("a `b, c", Comma, &["a `b", "c"]);
        check("a) b, c", Comma, &["a) b", "c"]);
        check("1,000 requests, 2,5", Comma, &["1,000 requests", "2,5"]);
        check("한글, 値", Comma, &["한글", "値"]);
        check("bash -c \"a; b\"; c", Semicolon, &["bash -c \"a; b\"", "c"]);
        check(
            "a &amp; b; c &; d &#39;; &;",
            Semicolon,
            &["a &amp; b", "c &", "d &#39;", "&"],
        );
        check("`a; b`; c", Semicolon, &["`a; b`", "c"]);
    }

    #[test]
    fn unclosed_openings_cost_linear_time() {
        for text in [
            "(".repeat(1 << 20),
            "`a``b".repeat(1 << 18),
            "\"a".repeat(1 << 19),
            ",(".repeat(1 << 19),
        ] {
            split(&(text + ", end"), Separator::Comma);
        }
    }
}
