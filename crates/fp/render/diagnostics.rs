//! Findings as text: place, rule, the source line with a caret under what is meant, and a hint. A source line
//! never takes more than 80 columns: of a longer one, what is around the caret is shown.

use std::ops::Range;

use fp_core::diagnostic::Diagnostic;
use fp_core::plan::Lines;
use fp_core::text::{one_column, one_line, visible_line};
use unicode_width::UnicodeWidthChar as _;

use super::WIDTH;
use super::rule::severity;

/// Columns that are shown in front of what is meant where a line is cut there.
const LEAD: usize = 24;

/// One finding in the file called `name`.
pub(crate) fn text(name: &str, lines: &Lines<'_>, found: &Diagnostic) -> String {
    let place = lines.position(found.span.start);
    let (name, severity, detail) = (visible_line(name), severity(found.severity), one_line(&found.detail));
    let mut text = format!("{name}:{}:{}: {severity}[{}]: {detail}\n", place.line, place.column, found.rule);
    let line = lines.line(place.line);
    if !line.trim().is_empty() {
        let start = lines.start(place.line);
        let gutter = place.line.to_string();
        let blank = " ".repeat(gutter.len());
        let span = found.span.start.saturating_sub(start)..found.span.end.saturating_sub(start);
        let Excerpt { shown, before, marked } = excerpt(line, span, WIDTH - gutter.len() - 3);
        let (margin, caret) = (" ".repeat(before), "^".repeat(marked));
        text.push_str(&format!("{gutter} | {shown}\n{blank} | {margin}{caret}\n"));
    }
    if let Some(hint) = &found.hint {
        text.push_str(&format!("  hint: {}\n", one_line(hint)));
    }
    text
}

/// What is shown of a line.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt {
    shown: String,
    /// Columns in front of what is meant.
    before: usize,
    /// Columns of what is meant, as far as it is shown; at least 1.
    marked: usize,
}

/// The part of `line` around the bytes `span` that fits `room` columns. Looks at no more of the line than that.
fn excerpt(line: &str, span: Range<usize>, room: usize) -> Excerpt {
    let start = floor(line, span.start);
    let end = floor(line, span.end).max(start);
    let first = if fitting(line, room) == line.len() { 0 } else { back(line, start) };
    let lead = if first > 0 { "…" } else { "" };
    let rest = &line[first..];
    let whole = fitting(rest, room - columns(lead)) == rest.len();
    let last = first + if whole { rest.len() } else { fitting(rest, room - columns(lead) - 1) };
    let part = visible_line(&line[first..last]);
    Excerpt {
        shown: format!("{lead}{part}{}", if whole { "" } else { "…" }),
        before: columns(lead) + columns(&line[first..start.min(last)]),
        marked: columns(&line[start.min(last)..end.min(last)]).max(1),
    }
}

/// The nearest place at or before byte `at` where a character of `line` begins, or its end.
fn floor(line: &str, at: usize) -> usize {
    (0..=at.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0)
}

/// Where the [`LEAD`] columns in front of byte `start` begin.
fn back(line: &str, start: usize) -> usize {
    let mut used = 0;
    let fits = |c: &(usize, char)| {
        used += width(c.1);
        used <= LEAD
    };
    line[..start].char_indices().rev().take_while(fits).last().map_or(start, |(at, _)| at)
}

/// How many bytes of `text` fit less than `room` columns, so that a caret behind them fits as well.
fn fitting(text: &str, room: usize) -> usize {
    let mut used = 0;
    let over = |&(_, c): &(usize, char)| {
        used += width(c);
        used >= room
    };
    text.char_indices().find(over).map_or(text.len(), |(at, _)| at)
}

fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(c: char) -> usize {
    one_column(c).width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_caret_stands_under_what_is_meant() {
        let check = |line: &str, span: Range<usize>, shown: &str, before: usize, marked: usize| {
            assert_eq!(excerpt(line, span, 75), Excerpt { shown: shown.to_owned(), before, marked });
        };
        check("- Files: a", 9..10, "- Files: a", 9, 1);
        check("\t- Files: a", 3..8, " - Files: a", 3, 5);
        check("- 한글: a", 2..8, "- 한글: a", 2, 4);
        check("- 한글: a", 10..11, "- 한글: a", 8, 1);
        check("- 한글: a", 4..9, "- 한글: a", 2, 5);
        check("a\u{1b}[31mb", 6..7, "a␛[31mb", 6, 1);
        check("ab", 2..2, "ab", 2, 1);
        check("ab", 9..20, "ab", 2, 1);
        let long = format!("{}X{}", "a".repeat(200), "b".repeat(200));
        check(&long, 200..201, &format!("…{}X{}…", "a".repeat(24), "b".repeat(47)), 25, 1);
        check(&long, 0..401, &format!("{}…", "a".repeat(73)), 0, 73);
        check(&long, 401..401, &format!("…{}", "b".repeat(24)), 25, 1);
    }

    proptest! {
        #[test]
        fn an_excerpt_fits(line in r"(a|한|\t|\x1b|é|😀|\u{301}){0,120}", from in 0_usize..400, len in 0_usize..400) {
            let Excerpt { shown, before, marked } = excerpt(&line, from..from + len, 75);
            prop_assert!(columns(&shown) <= 75 && before + marked <= 75, "{shown:?} {before} {marked}");
            prop_assert!(before + marked <= columns(&shown) + 1);
        }
    }
}
