//! Splits fields into labels and values, such as `Files: src/a.rs, src/b.rs`.

use super::task_line::{joined_lines, without_label};
use crate::command_line::certain_commands;
use crate::diagnostic::Span;
use crate::markdown::code_spans;
use crate::plan::field::{FieldForm, FieldKind};
use crate::plan::task::Item;

/// Maximum length of an unknown field's label, in bytes and in words; a longer one is treated as prose.
const MAX_LABEL_BYTES: usize = 40;
const MAX_LABEL_WORDS: usize = 3;

/// Splits a text of the form `Word: value` into the label and the value.
pub(super) fn split_label(text: &str) -> Option<(&str, &str)> {
    const MARKS: [char; 4] = ['*', '_', '~', '`'];
    let line = text.trim_start_matches(MARKS);
    let (label, value) = line.split_once(':')?;
    let label = label.trim_end_matches(MARKS).trim_end();
    let value = value.trim_start_matches(['*', '_']);
    let is_wordlike = label.len() <= MAX_LABEL_BYTES
        && label.starts_with(char::is_alphabetic)
        && label
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        && label.split_whitespace().count() <= MAX_LABEL_WORDS
        && (value.is_empty() || value.starts_with(char::is_whitespace));
    (is_wordlike || FieldKind::from_label(label).is_some()).then_some((label, value))
}

/// The entries of `value`, a slice of `source` on the same line as its label; empty for `none` and for empty text.
pub(in crate::plan) fn line_entries<'t>(
    kind: FieldKind,
    source: &'t str,
    value: &'t str,
) -> Vec<Item<'t>> {
    let pieces = match kind.form() {
        FieldForm::Ids | FieldForm::Paths | FieldForm::Names => split_value(value, b",;"),
        FieldForm::Criteria if split_value(value, b";").len() < 2 => split_value(value, b","),
        FieldForm::Commands if is_code(value) => split_value(value, b",;"),
        FieldForm::Commands => {
            let lines = split_value(value, b";").into_iter();
            lines.flat_map(certain_commands).collect()
        }
        form if form.is_list() => split_value(value, b";"),
        _ => vec![value],
    };
    let pieces = pieces.into_iter();
    pieces
        .filter_map(|piece| read_entry(kind, source, piece))
        .collect()
}

/// True if `text` consists only of code spans with separators between them.
fn is_code(text: &str) -> bool {
    let mut pieces = split_value(text, b",;").into_iter();
    pieces.all(|piece| piece.len() > 1 && piece.starts_with('`') && piece.ends_with('`'))
}

/// Parses `entry`, a slice of `source`, as one entry of a field; `None` for `none` and for empty text.
pub(in crate::plan) fn read_entry<'t>(
    kind: FieldKind,
    source: &'t str,
    entry: &'t str,
) -> Option<Item<'t>> {
    let entry = entry.trim();
    let (value, note) = match kind.form() {
        FieldForm::Paths => split_file(entry),
        FieldForm::Ids => split_dependency(entry),
        FieldForm::Commands | FieldForm::Command => (without_code_marks(entry), ""),
        _ => (entry, ""),
    };
    let choice = match kind.form() {
        FieldForm::Choice(words) => choice_of(words, value),
        _ => None,
    };
    if choice.is_none() && is_none(value) {
        return None;
    }
    let word = choice.filter(|_| is_one_word(value));
    let note = joined_lines(note.into());
    let item = Item {
        text: word.map_or_else(|| joined_lines(value.into()), Into::into),
        span: Span::of_slice(source, value),
        note: (!note.is_empty()).then(|| (*note).into()),
    };
    (!item.text.is_empty()).then_some(item)
}

/// True if `text` is the word `none`, ignoring marks around it.
pub(super) fn is_none(text: &str) -> bool {
    let bare = text.trim().trim_matches(['*', '_', '`', '(', ')', '.']);
    bare.eq_ignore_ascii_case("none")
}

/// Strips a code span that encloses all of `text`.
fn without_code_marks(text: &str) -> &str {
    match &code_spans(text)[..] {
        [span] if *span == (0..text.len()) => text.trim_matches('`').trim(),
        _ => text,
    }
}

/// Splits a path from the remark after it: `` `src/a.rs` (new) ``, `src/a.rs - the entry point`.
fn split_file(text: &str) -> (&str, &str) {
    let quoted = text.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    let (path, remark) = quoted
        .filter(|(path, _)| !path.is_empty())
        .unwrap_or_else(|| text.split_at(remark_start(text)));
    let mut path = path.trim();
    while let Some(rest) = path.strip_prefix("./").filter(|rest| !rest.is_empty()) {
        path = rest;
    }
    (path, remark)
}

/// The start of the remark after a path, such as `(new)` or `- the entry point`; the end of `text` if there is none.
fn remark_start(text: &str) -> usize {
    let is_dash = |word: &str| ["-", "–", "—", "#"].contains(&word);
    let mut words = text.split_whitespace().skip(1);
    let remark = words.find(|word| word.starts_with('(') || is_dash(word));
    remark.map_or(text.len(), |word| Span::of_slice(text, word).start)
}

/// Splits an id from the remark after it: `1.1`, `[ID: 1.1]`, `Task 1.1 (needs its types)`.
fn split_dependency(text: &str) -> (&str, &str) {
    const MARKS: [char; 4] = ['*', '`', '[', ']'];
    let mut own = text.trim_start_matches(MARKS);
    for label in ["ID:", "Task "] {
        own = without_label(own, label).map_or(own, str::trim_start);
    }
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let behind = own.trim_start_matches(is_of_id);
    let id = own[..own.len() - behind.len()].trim_end_matches('.');
    let rest = behind.trim_start_matches(MARKS);
    let remark = rest.trim();
    let is_remark = remark.is_empty() || remark.starts_with(['(', '-', '–', '—', '[', ':']);
    let is_remark = match is_none(id) {
        // With `none` a remark goes too, so it is nothing but that.
        true => remark.is_empty() || remark.starts_with('(') && remark.ends_with(')'),
        false => is_remark || rest.len() < behind.len(),
    };
    if id.is_empty() || !is_remark {
        return (text, "");
    }
    (id, rest)
}

/// The canonical word for the first word of `text`, if it is one of `words`.
pub(in crate::plan) fn choice_of(words: &[&[&'static str]], text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches(['*', '_', '`', '(', ' ']);
    let given = text.split(|c: char| !c.is_alphanumeric()).next()?;
    let is_given = |word: &&str| word.eq_ignore_ascii_case(given);
    let found = words.iter().find(|same| same.iter().any(is_given))?;
    Some(found[0])
}

/// True if a value is a single word, ignoring marks around it.
fn is_one_word(text: &str) -> bool {
    text.trim_matches(['*', '_', '`', '(', ')', '.', ' '])
        .chars()
        .all(char::is_alphanumeric)
}

/// Splits `text` at separators that are outside of code spans, brackets and quotations.
fn split_value<'t>(text: &'t str, separators: &[u8]) -> Vec<&'t str> {
    let bytes = text.as_bytes();
    let is_at =
        |at: Option<usize>, is: fn(&u8) -> bool| at.and_then(|at| bytes.get(at)).is_some_and(is);
    let is_word = |at| is_at(at, |byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    let is_digit = |at| is_at(at, u8::is_ascii_digit);
    let mut code = code_spans(text).into_iter().peekable();
    let mut cuts: Vec<usize> = Vec::new();
    // The closing character of each open bracket or quotation, and the number of cuts before it.
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(span) = code.next_if(|span| span.start == at) {
            at = span.end;
            continue;
        }
        let (byte, before, behind) = (bytes[at], at.checked_sub(1), Some(at + 1));
        let is_apostrophe = byte == b'\'' && is_word(behind);
        let closer = match byte {
            b'(' => Some(b')'),
            b'[' => Some(b']'),
            b'{' => Some(b'}'),
            // Inside a word, a quote character doesn't open a quotation.
            b'"' | b'\'' if !is_word(before) => Some(byte),
            _ => None,
        };
        // A thousands separator, as in `1,000`.
        let is_in_number = byte == b',' && is_digit(before) && is_digit(behind);
        match open.last() {
            Some(&(end, kept)) if end == byte && !is_apostrophe => {
                cuts.truncate(kept);
                open.pop();
            }
            _ if closer.is_some() => open.extend(closer.map(|closer| (closer, cuts.len()))),
            _ if separators.contains(&byte) && !is_in_number => cuts.push(at),
            _ => {}
        }
        at += 1;
    }
    let mut start = 0;
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    for cut in cuts.into_iter().chain([text.len()]) {
        pieces.push(text[start..cut].trim());
        start = cut + 1;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_inside_brackets_quotes_and_code_are_text() {
        let check = |text: &str, separators: &[u8], expect: &[&str]| {
            assert_eq!(split_value(text, separators), expect, "{text:?}");
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
            split_value(&(text + ", end"), b",");
        }
    }
}
