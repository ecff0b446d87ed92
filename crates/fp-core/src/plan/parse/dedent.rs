//! The source of a block without the indentation of what it stands in, so that it can stand anywhere else.

use std::borrow::Cow;

/// The source of a block of several lines: without the first `columns` columns of each line but the first,
/// which begins at column `start`. Tabs that Markdown counts the columns of become blanks, since what they are
/// worth depends on where they stand; those in fenced code stay.
pub(super) fn dedent(text: &str, start: usize, columns: usize) -> Cow<'_, str> {
    without(text, start, columns, 0)
}

/// The same for an item, or for what stands in it, from column `start` on; its content begins at column
/// `content`. A line that is indented less goes on with the paragraph above it. It is indented like the rest,
/// or farther where it would then begin something of its own.
pub(super) fn dedent_item(text: &str, start: usize, content: usize) -> Cow<'_, str> {
    without(text, start, start, content)
}

fn without(text: &str, start: usize, columns: usize, content: usize) -> Cow<'_, str> {
    let text = text.trim_end();
    if memchr::memchr3(b'\n', b'\r', b'\t', text.as_bytes()).is_none() {
        return Cow::Borrowed(text.trim_start_matches(' '));
    }
    let mut result = String::with_capacity(text.len());
    let mut fence = None;
    let mut above = 0;
    for (number, line) in lines(text).enumerate() {
        result.push_str(if number > 0 { "\n" } else { "" });
        let begin = result.len();
        if fence.is_none() && number > 0 && indentation(line) < content && !line.trim().is_empty() {
            push_lazy(&mut result, line.trim_start(), content - columns, above);
            continue;
        }
        match fence {
            _ if number == 0 => push_expanded(&mut result, line.trim_start_matches([' ', '\t']), start, 0),
            Some(fence) if !line.trim_start().starts_with(fence) => {
                push_unindented(&mut result, line, columns);
            }
            _ => push_expanded(&mut result, line, 0, columns),
        }
        // A paragraph may go on with less; what it stands in ends with a blank line at the earliest.
        let column = text_column(&result[begin..]);
        above = if line.trim().is_empty() { 0 } else { column.max(above) };
        fence = fence_behind(fence, line.trim());
    }
    Cow::Owned(result)
}

/// The fence that is open behind a line.
fn fence_behind(before: Option<&'static str>, line: &str) -> Option<&'static str> {
    match before {
        None => ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence)),
        Some(fence) => (!line.starts_with(fence)).then_some(fence),
    }
}

/// Adds a line that goes on with the paragraph above, whose text begins at column `above`.
fn push_lazy(out: &mut String, line: &str, columns: usize, above: usize) {
    let harmless = line.starts_with(char::is_alphabetic);
    let columns = if harmless { columns } else { columns.max(above + 4) };
    out.extend(std::iter::repeat_n(' ', columns));
    push_expanded(out, line, columns, 0);
}

/// The source of indented code, from the beginning of its first line, with the indentation of what it stands
/// in taken off and its own kept.
pub(super) fn dedent_code(text: &str, columns: usize) -> String {
    let mut result = String::with_capacity(text.len());
    for line in lines(text.trim_end()) {
        let start = result.len();
        push_unindented(&mut result, line, columns + 4);
        if result.len() > start {
            result.insert_str(start, "    ");
        }
        result.push('\n');
    }
    result.truncate(result.trim_end().len());
    result
}

/// The source of a paragraph. A line of `=` or `-` alone that is part of it, because it isn't indented as far,
/// is indented so far that it stays a part of it.
pub(super) fn dedent_paragraph(text: &str, start: usize, columns: usize) -> Cow<'_, str> {
    let text = dedent(text, start, columns);
    let underlines = |line: &str| {
        let bare = line.trim();
        !bare.is_empty() && (bare.bytes().all(|b| b == b'=') || bare.bytes().all(|b| b == b'-'))
    };
    if !text.lines().skip(1).any(underlines) {
        return text;
    }
    let mut result = String::with_capacity(text.len() + 8);
    for (number, line) in text.split('\n').enumerate() {
        result.push_str(if number > 0 { "\n" } else { "" });
        if number > 0 && underlines(line) && !line.starts_with("    ") {
            result.push_str("    ");
            result.push_str(line.trim());
        } else {
            result.push_str(line);
        }
    }
    Cow::Owned(result)
}

/// The lines of a text without their ends: line feeds, carriage returns, or both.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Adds a line without its first `columns` columns of indentation; of a tab, what reaches beyond them stays.
fn push_unindented(out: &mut String, line: &str, columns: usize) {
    let mut column = 0;
    for (at, byte) in line.bytes().enumerate() {
        if column >= columns || !matches!(byte, b' ' | b'\t') {
            out.extend(std::iter::repeat_n(' ', column.saturating_sub(columns)));
            out.push_str(&line[at..]);
            return;
        }
        column += width(byte, column);
    }
}

/// The same, with blanks for the tabs that indent the line or follow a marker at its beginning.
fn push_expanded(out: &mut String, line: &str, start: usize, columns: usize) {
    if !line.contains('\t') {
        return push_unindented(out, line, columns);
    }
    let bytes = line.as_bytes();
    let (mut at, mut column, mut skip) = (0, start, columns);
    loop {
        let from = column;
        while let Some(&byte @ (b' ' | b'\t')) = bytes.get(at) {
            column += width(byte, column);
            at += 1;
        }
        if at == bytes.len() {
            return;
        }
        out.extend(std::iter::repeat_n(' ', (column - from).saturating_sub(skip)));
        skip = 0;
        let marker = marker(&bytes[at..]);
        out.push_str(&line[at..at + marker]);
        at += marker;
        column += marker;
        if marker == 0 || !matches!(bytes.get(at), Some(b' ' | b'\t')) {
            out.push_str(&line[at..]);
            return;
        }
    }
}

/// The length of the marker of an item or a quote that `bytes` begin with; 0 where they don't.
fn marker(bytes: &[u8]) -> usize {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match bytes.get(digits) {
        Some(b'-' | b'*' | b'+' | b'>') if digits == 0 => 1,
        Some(b'.' | b')') if digits > 0 => digits + 1,
        _ => 0,
    }
}

/// Columns of blanks before a line.
pub(super) fn indentation(line: &str) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.fold(0, |column, byte| column + width(byte, column))
}

/// Where the text of a line begins that has no tabs, behind all markers.
fn text_column(line: &str) -> usize {
    let mut at = 0;
    loop {
        at += line[at..].len() - line[at..].trim_start_matches(' ').len();
        match marker(&line.as_bytes()[at..]) {
            0 => return at,
            len if line[at + len..].starts_with(' ') => at += len,
            _ => return at,
        }
    }
}

fn width(byte: u8, column: usize) -> usize {
    if byte == b'\t' { 4 - column % 4 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_and_tabs() {
        let check = |text: &str, start: usize, columns: usize, expect: &str| {
            assert_eq!(dedent(text, start, columns), expect, "{text:?}");
        };
        check("a\n  b\r\n    c\n", 0, 2, "a\nb\n  c");
        check("a\rb\n d", 0, 2, "a\nb\nd");
        check("a\n\tb", 0, 2, "a\n  b");
        check("a\n  \tb", 0, 2, "a\n  b");
        check("-\ta\n\t- \tb\tc", 2, 2, "- a\n  -   b\tc");
        check("1.\t-\ta", 0, 0, "1.  -   a");
        check("a\n \n\n  \n b", 0, 2, "a\n\n\n\nb");
        check("```make\n\tcc\n```\n\td", 0, 0, "```make\n\tcc\n```\n    d");
    }

    #[test]
    fn lines_that_go_on_with_a_paragraph() {
        let check = |text: &str, start: usize, content: usize, expect: &str| {
            assert_eq!(dedent_item(text, start, content), expect, "{text:?}");
        };
        check("- a\nb", 0, 2, "- a\n  b");
        check("- - a\n=\n  b", 0, 2, "- - a\n        =\n  b");
        check("2) a\n    -", 2, 5, "2) a\n       -");
        check("a\n    -", 2, 2, "a\n  -");
    }

    #[test]
    fn code_keeps_its_own_indentation() {
        let check = |text: &str, columns: usize, expect: &str| {
            assert_eq!(dedent_code(text, columns), expect, "{text:?}");
        };
        check("    a\n\n      b\n", 0, "    a\n\n      b");
        check("\ta\n\t\tb", 0, "    a\n    \tb");
        check("      a\n", 2, "    a");
        check("\t\ta\n", 2, "      a");
    }

    #[test]
    fn a_paragraph_stays_one() {
        assert_eq!(dedent_paragraph("  a\n=\nb\n ---", 2, 2), "a\n    =\nb\n    ---");
        assert_eq!(dedent_paragraph("a\n      -\nb", 0, 0), "a\n      -\nb");
    }
}
