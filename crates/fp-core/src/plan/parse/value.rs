//! Labels and values of fields: `Files: src/a.rs, src/b.rs`.

use std::ops::Range;

use super::head::one_line;
use super::split::{Separator, split, trim};
use crate::diagnostic::Span;
use crate::plan::field::{FieldForm, FieldKind};
use crate::plan::task::Item;

/// Longest label of a field that isn't of the language, in bytes and in words: longer ones are prose.
const MAX_LABEL_BYTES: usize = 40;
const MAX_LABEL_WORDS: usize = 3;

/// The label of `text[range]` and where its value begins, if it reads `Word: value`.
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
        && words.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
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

/// The entries of a value written on the line of its label; none for `none` and for nothing.
pub(super) fn line_entries(kind: FieldKind, text: &str, range: Range<usize>) -> Vec<Item<'_>> {
    let range = trim(text, range);
    let slice = &text[range.clone()];
    if slice.is_empty() {
        return Vec::new();
    }
    let pieces = match kind.form() {
        FieldForm::Criteria => {
            first_split(slice, Separator::Semicolon).unwrap_or_else(|| split(slice, Separator::Comma))
        }
        FieldForm::Ids => {
            split(slice, Separator::Either).into_iter().flat_map(|piece| split_and(slice, piece)).collect()
        }
        FieldForm::Paths | FieldForm::Names => split(slice, Separator::Either),
        FieldForm::Remarks => split(slice, Separator::Semicolon),
        FieldForm::References => separate_where(slice, |piece| {
            piece.split_whitespace().next().is_some_and(|w| w.contains(['/', '.']))
        }),
        FieldForm::Commands => {
            separate_where(slice, |piece| piece.len() > 1 && piece.starts_with('`') && piece.ends_with('`'))
        }
        FieldForm::Number
        | FieldForm::Prose
        | FieldForm::Text
        | FieldForm::Command
        | FieldForm::Choice(_) => std::iter::once(0..slice.len()).collect(),
    };
    pieces
        .into_iter()
        .filter_map(|piece| entry(kind, text, range.start + piece.start..range.start + piece.end))
        .collect()
}

fn first_split(text: &str, separator: Separator) -> Option<Vec<Range<usize>>> {
    Some(split(text, separator)).filter(|pieces| pieces.len() > 1)
}

/// Splits at `;`, or at `,` where every piece then is what `fits`.
fn separate_where(text: &str, fits: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let pieces = split(text, Separator::Semicolon);
    if pieces.len() > 1 {
        return pieces;
    }
    first_split(text, Separator::Comma)
        .filter(|list| list.iter().all(|piece| fits(&text[piece.clone()])))
        .unwrap_or(pieces)
}

/// Splits `1.1 and 1.2`.
fn split_and(text: &str, piece: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = piece.start;
    let blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
    for (at, word) in text[piece.clone()].match_indices("and") {
        let (begin, end) = (piece.start + at, piece.start + at + word.len());
        if blank(text[start..begin].chars().next_back()) && blank(text[end..piece.end].chars().next()) {
            pieces.push(trim(text, start..begin));
            start = end;
        }
    }
    pieces.push(trim(text, start..piece.end));
    let rest = text[pieces[pieces.len() - 1].clone()].strip_prefix("and ").map(str::len);
    if let (Some(len), Some(last)) = (rest, pieces.last_mut()) {
        *last = last.end - len..last.end;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// One entry of a field; `None` for `none` and for nothing.
pub(super) fn entry(kind: FieldKind, text: &str, range: Range<usize>) -> Option<Item<'_>> {
    let range = trim(text, range);
    let (value, note) = match kind.form() {
        FieldForm::Paths => file(text, range),
        FieldForm::Ids => dependency(text, range),
        FieldForm::Commands | FieldForm::Command => (unquoted(text, range), None),
        _ => (range, None),
    };
    let shown = one_line(&text[value.clone()]);
    let item = Item {
        text: shown,
        span: Span::new(value.start, value.end),
        note: note.filter(|note| !note.is_empty()),
    };
    // `none` is an answer where it is one of the words to choose from.
    let empty = is_none(&item.text)
        && !matches!(kind.form(), FieldForm::Choice(words) if choice(words, "none").is_some());
    (!item.text.is_empty() && !empty).then_some(item)
}

/// Whether a value says that there is nothing.
pub(super) fn is_none(text: &str) -> bool {
    let bare = text.trim().trim_matches(['*', '_', '`', '(', ')', '.']);
    bare.eq_ignore_ascii_case("none")
}

/// `text[range]` without a code span around all of it.
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
    Some(one_line(&text[range]).into_owned().into())
}

/// A path and what follows it: `` `src/a.rs` (new) ``, `[a](src/a.rs)`, `src/a.rs - the entry point`.
fn file(text: &str, range: Range<usize>) -> (Range<usize>, Option<Box<str>>) {
    let slice = &text[range.clone()];
    let (path, rest) = if let Some(close) =
        slice.strip_prefix('`').and_then(|inner| inner.find('`').filter(|&close| close > 0))
    {
        (range.start + 1..range.start + 1 + close, range.start + close + 2)
    } else if let Some(close) = slice.strip_prefix('[').and_then(|inner| inner.find("](")) {
        // Behind the bracket that opens, and with the two between text and target.
        let target = 1 + close + 2;
        let end = slice[target..].find(')').map_or(range.end, |at| range.start + target + at + 1);
        (range.start + 1..range.start + 1 + close, end)
    } else {
        let cut = remark(slice);
        (range.start..range.start + cut, range.start + cut)
    };
    let mut path = trim(text, path);
    while let Some(rest) = text[path.clone()].strip_prefix("./").filter(|rest| !rest.is_empty()) {
        path.start = path.end - rest.len();
    }
    (path, note(text, rest..range.end))
}

/// Where the remark begins that follows a path, as `(new)` or `- the entry point`; the end where none does.
fn remark(text: &str) -> usize {
    let mut rest = text;
    while let Some(blank) = rest.find(char::is_whitespace) {
        let word = rest[blank..].trim_start();
        let dash =
            word.strip_prefix(['-', '–', '—', '#']).is_some_and(|rest| rest.starts_with(char::is_whitespace));
        if dash || word.starts_with('(') {
            return text.len() - rest.len() + blank;
        }
        rest = word;
    }
    text.len()
}

/// An id and what follows it: `1.1`, `[ID: 1.1]`, `Task 1.1 (needs its types)`.
fn dependency(text: &str, range: Range<usize>) -> (Range<usize>, Option<Box<str>>) {
    const MARKS: [char; 4] = ['*', '`', '[', '\\'];
    let mut start = range.start;
    let slice = &text[range.clone()];
    start += slice.len() - slice.trim_start_matches(MARKS).len();
    for prefix in ["ID:", "Task "] {
        if text.get(start..start + prefix.len()).is_some_and(|p| p.eq_ignore_ascii_case(prefix))
            && start + prefix.len() < range.end
        {
            start = trim(text, start + prefix.len()..range.end).start;
        }
    }
    let rest = &text[start..range.end];
    let len =
        rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')).count();
    let behind = rest[len..].trim_start_matches([']', '`', '*', '\\']);
    let follows = behind.starts_with(':')
        || behind.trim_start().starts_with(['(', '-', '–', '—'])
        || (behind.starts_with(char::is_whitespace) && behind.trim_start().starts_with('['));
    let marked = start > range.start && behind.len() < rest.len() - len;
    if len > 0 && (behind.trim().is_empty() || follows || marked) {
        let id_len = rest[..len].trim_end_matches('.').len().max(1);
        (start..start + id_len, note(text, range.end - behind.len()..range.end))
    } else {
        (range, None)
    }
}

/// The first of those of `words` that begin `text`; `None` for anything else.
pub(super) fn choice(words: &[&[&'static str]], text: &str) -> Option<&'static str> {
    let given = first_word(text);
    words.iter().find(|same| same.contains(&given.as_str())).map(|same| same[0])
}

/// The first word of a value in lower case, without marks.
fn first_word(text: &str) -> String {
    text.trim_start_matches(['*', '_', '`', '(', ' '])
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
}

/// Whether something stands in a value beside its first word.
pub(super) fn is_more_than_a_word(text: &str) -> bool {
    !text.trim_matches(['*', '_', '`', '(', ')', '.', ' ']).chars().all(char::is_alphanumeric)
}
