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
pub(in crate::plan) fn line_entries(
    kind: FieldKind,
    text: &str,
    range: Range<usize>,
) -> Vec<Item<'_>> {
    let slice = &text[range.clone()];
    let pieces = match kind.form() {
        FieldForm::Ids | FieldForm::Paths | FieldForm::Names => split(slice, b",;"),
        FieldForm::Criteria if split(slice, b";").len() < 2 => split(slice, b","),
        FieldForm::Commands if is_code(slice) => split(slice, b",;"),
        FieldForm::Commands => split(slice, b";")
            .into_iter()
            .flat_map(|line| commands_in(slice, line))
            .collect(),
        form if form.is_list() => split(slice, b";"),
        _ => return entry(kind, text, range).into_iter().collect(),
    };
    let of_source = |piece: Range<usize>| range.start + piece.start..range.start + piece.end;
    pieces
        .into_iter()
        .filter_map(|piece| entry(kind, text, of_source(piece)))
        .collect()
}

/// Splits `cargo test a, cargo test b`.
fn commands_in(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let commands = certain_commands(&text[line.clone()]).into_iter();
    commands.map(move |piece| line.start + piece.start..line.start + piece.end)
}

/// True if nothing but code spans with separators between them is in `text`.
fn is_code(text: &str) -> bool {
    let pieces = split(text, b",;");
    let mut pieces = pieces.iter().map(|piece| &text[piece.clone()]);
    pieces.all(|piece| piece.len() > 1 && piece.starts_with('`') && piece.ends_with('`'))
}

/// One entry of a field; `None` for `none` and for no text.
pub(in crate::plan) fn entry(kind: FieldKind, text: &str, range: Range<usize>) -> Option<Item<'_>> {
    let range = trim(text, range);
    let (value, note) = match kind.form() {
        FieldForm::Paths => file(text, range),
        FieldForm::Ids => dependency(text, range),
        FieldForm::Commands | FieldForm::Command => (unquoted(text, range), None),
        _ => (range, None),
    };
    let shown = joined_lines(text[value.clone()].into());
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
    Some(joined_lines(text[range].into()).into_owned().into())
}

/// A path and the remark after it: `` `src/a.rs` (new) ``, `src/a.rs - the entry point`.
fn file(text: &str, range: Range<usize>) -> (Range<usize>, Option<Box<str>>) {
    let slice = &text[range.clone()];
    let quoted = slice
        .strip_prefix('`')
        .and_then(|inner| inner.find('`').filter(|&close| close > 0));
    let (path, rest) = match quoted {
        Some(close) => (
            range.start + 1..range.start + 1 + close,
            range.start + close + 2,
        ),
        None => {
            let rest = range.start + remark(slice);
            (range.start..rest, rest)
        }
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
    const MARKS: [char; 4] = ['*', '`', '[', ']'];
    let mut own = text[range.clone()].trim_start_matches(MARKS);
    for prefix in ["ID:", "Task "] {
        let label = own.get(..prefix.len());
        if label.is_some_and(|label| label.eq_ignore_ascii_case(prefix)) {
            own = own[prefix.len()..].trim_start();
        }
    }
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let behind = own.trim_start_matches(is_of_id);
    let id = own[..own.len() - behind.len()].trim_end_matches('.');
    let rest = behind.trim_start_matches(MARKS);
    let is_remark = rest
        .trim_start()
        .starts_with(['(', '-', '–', '—', '[', ':']);
    if id.is_empty() || !(rest.trim().is_empty() || is_remark || rest.len() < behind.len()) {
        return (range, None);
    }
    let start = range.end - own.len();
    (
        start..start + id.len(),
        note(text, range.end - rest.len()..range.end),
    )
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

/// The pieces of `text` between separators that no code span, bracket or quotation has.
fn split(text: &str, separators: &[u8]) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let protected = protected(text);
    let mut next = protected.iter().peekable();
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        while next.next_if(|range| range.end <= at).is_some() {}
        if let Some(range) = next.peek().filter(|range| range.contains(&at)) {
            at = range.end;
            continue;
        }
        if separators.contains(&bytes[at]) && !within_number(bytes, at) {
            pieces.push(trim(text, start..at));
            start = at + 1;
        }
        at += 1;
    }
    pieces.push(trim(text, start..text.len()));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Trims blanks from both ends of `range`.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start().len());
    start..start.max(range.start + slice.trim_end().len())
}

/// True for the comma in a number such as `1,000`.
fn within_number(bytes: &[u8], at: usize) -> bool {
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_digit)
    };
    bytes[at] == b',' && digit(at.checked_sub(1)) && digit(Some(at + 1))
}

/// The outermost code spans, brackets and quotations, in order.
fn protected(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_word = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80)
    };
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + 1;
        let is_apostrophe = bytes[at] == b'\'' && is_word(Some(end));
        let closes = open
            .last()
            .is_some_and(|(closer, _)| *closer == bytes[at] && !is_apostrophe);
        match bytes[at] {
            b'`' => {
                let run = bytes[at..].iter().take_while(|&&byte| byte == b'`').count();
                let span = span_length(&text[at..], run);
                ranges.extend(span.map(|length| at..at + length));
                end = at + span.unwrap_or(run);
            }
            _ if closes => ranges.extend(open.pop().map(|(_, start)| start..end)),
            b'(' => open.push((b')', at)),
            b'[' => open.push((b']', at)),
            b'{' => open.push((b'}', at)),
            // Within a word it is no quotation.
            quote @ (b'"' | b'\'') if !is_word(at.checked_sub(1)) => open.push((quote, at)),
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
        let check = |text: &str, separators: &[u8], expect: &[&str]| {
            let pieces: Vec<&str> = split(text, separators)
                .into_iter()
                .map(|range| &text[range])
                .collect();
            assert_eq!(pieces, expect, "{text:?}");
        };
        check("", b",", &[]);
        check(" a , b,c ", b",", &["a", "b", "c"]);
        check("a,, b,", b",", &["a", "b"]);
        check("a, b; c", b";", &["a, b", "c"]);
        check("a, b; c", b",;", &["a", "b", "c"]);
        check(
            "accepts (a, b and c), d",
            b",",
            &["accepts (a, b and c)", "d"],
        );
        check(
            "accepts `a, b` and c, d",
            b",",
            &["accepts `a, b` and c", "d"],
        );
        check("``a ` , b``, c", b",", &["``a ` , b``", "c"]);
        check("prints \"a, b\", ends", b",", &["prints \"a, b\"", "ends"]);
        check("prints 'a, b', ends", b",", &["prints 'a, b'", "ends"]);
        check(
            "doesn't fail, can't hang",
            b",",
            &["doesn't fail", "can't hang"],
        );
        check(
            "users' data, others' data",
            b",",
            &["users' data", "others' data"],
        );
        check("f(g(a, b), c), d", b",", &["f(g(a, b), c)", "d"]);
        check("a [b, {c, d}], e", b",", &["a [b, {c, d}]", "e"]);
        check("a (b, c", b",", &["a (b", "c"]);
        check("a `b, c", b",", &["a `b", "c"]);
        check("a) b, c", b",", &["a) b", "c"]);
        check("1,000 requests, 2,5", b",", &["1,000 requests", "2,5"]);
        check("한글, 値", b",", &["한글", "値"]);
        check("bash -c \"a; b\"; c", b";", &["bash -c \"a; b\"", "c"]);
        check("`a; b`; c", b";", &["`a; b`", "c"]);
    }

    #[test]
    fn unclosed_openings_cost_linear_time() {
        for text in [
            "(".repeat(1 << 20),
            "`a``b".repeat(1 << 18),
            "\"a".repeat(1 << 19),
            ",(".repeat(1 << 19),
        ] {
            split(&(text + ", end"), b",");
        }
    }
}
