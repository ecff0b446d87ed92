//! Finds code in Markdown, and escapes text from models and strangers for Markdown pages, so that it can't become
//! markup there.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

/// The code fences and HTML comments of `text`, each with a flag that is true if it is closed. A block with a line that
/// opens another one of its kind counts as unclosed, since its own end must be missing.
pub fn literal_blocks(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let events = Parser::new(text).into_offset_iter();
    events.filter_map(|(event, range)| {
        let source = text[range].trim_end();
        let marks = match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => fence_marks(source),
            Event::Start(Tag::HtmlBlock) if source.starts_with("<!--") => "<!--",
            _ => return None,
        };
        let mut below: Vec<&str> = source.lines().skip(1).map(str::trim_start).collect();
        let is_closed = match marks {
            "<!--" => source.contains("-->"),
            fence => below
                .pop()
                .is_some_and(|last| last.starts_with(fence) && fence_marks(last) == last),
        };
        let is_opened_again = below.iter().any(|line| line.starts_with(marks));
        Some((source, is_closed && !is_opened_again))
    })
}

/// The run of backticks or tildes that `text` starts with.
pub(crate) fn fence_marks(text: &str) -> &str {
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'));
    let rest = mark.map_or(text, |mark| text.trim_start_matches(mark));
    &text[..text.len() - rest.len()]
}

/// The code spans of `text`, found as if backticks were its only markup: in a page everything else is escaped, and in a
/// field everything else is plain text.
pub(crate) fn code_spans(text: &str) -> Vec<Range<usize>> {
    if !text.contains('`') {
        return Vec::new();
    }
    let marks = text.bytes().map(|byte| match byte {
        b'`' | b' ' | b'\t' | b'\r' | b'\n' => char::from(byte),
        _ => 'x',
    });
    // The leading `x` keeps the page from starting with a fence or indented code.
    let page: String = std::iter::once('x').chain(marks).collect();
    let events = Parser::new(&page).into_offset_iter();
    events
        .filter(|(event, _)| matches!(event, Event::Code(_)))
        .map(|(_, span)| span.start - 1..span.end - 1)
        .collect()
}

/// The length of the longest run of backticks in `text`.
pub fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// `text` as a code span on one line, even if it contains backticks.
pub fn code(text: &str) -> String {
    code_span(&text.replace(['\n', '\r'], " "))
}

/// `text` as a code span.
pub(crate) fn code_span(text: &str) -> String {
    let ticks = "`".repeat(longest_ticks(text) + 1);
    let is_marked = text.starts_with('`') || text.ends_with('`');
    let pad = if is_marked { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Escapes `text` so that it can't become markup; code spans stay as they are.
pub fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut spans = code_spans(text).into_iter().peekable();
    let mut line = 0;
    for (at, c) in text.char_indices() {
        while spans.next_if(|span| span.end <= at).is_some() {}
        let is_code = spans.peek().is_some_and(|span| span.contains(&at));
        let after = text[at..].chars().nth(1);
        if !is_code && is_markup(c, &text[line..at], after) {
            out.push('\\');
        }
        out.push(c);
        if c == '\n' {
            line = at + 1;
        }
    }
    out
}

/// True if `c` could be markup. `line` is the text before it on its line, and `after` is the character after it.
fn is_markup(c: char, line: &str, after: Option<char>) -> bool {
    let within_word = |c: char| c.is_alphanumeric();
    match c {
        '\\' | '*' | '<' | '[' | ']' | '&' | '~' | '|' | '$' | '`' => true,
        '_' => !(line.ends_with(within_word) && after.is_some_and(within_word)),
        // A heading, a list, a quotation, or a heading's underline.
        '#' | '-' | '+' | '>' | '=' => line.trim().is_empty(),
        '.' | ')' => {
            let number = line.trim();
            let is_marker = after.is_none_or(char::is_whitespace);
            is_marker && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    fn as_text(text: &str) -> String {
        inline(text)
    }

    #[test]
    fn text_is_no_markup() {
        let check = |text: &str, expect: &str| assert_eq!(as_text(text), expect);
        check("Add a parser", "Add a parser");
        check(
            "`greeting(\"\")` returns `*`",
            "`greeting(\"\")` returns `*`",
        );
        check("one ` and two ``", "one \\` and two \\`\\`");
        check("<!-- a --> <b>", "\\<!-- a --> \\<b>");
        check("[x](javascript:0)", "\\[x\\](javascript:0)");
        check("snake_case and _emphasis_", "snake_case and \\_emphasis\\_");
        check("# no heading", "\\# no heading");
        check("C# and a - b", "C# and a - b");
        check("1.1", "1.1");
        check("1.1 and 2.0 (3)", "1.1 and 2.0 (3)");
        check("1. a", "1\\. a");
        check("first\n- second\n1. third", "first\n\\- second\n1\\. third");
        let check = |path: &str, expect: &str| {
            assert_eq!(code(path), expect);
        };
        check("a`b", "``a`b``");
        check("`a", "`` `a ``");
        check("src/a.rs", "`src/a.rs`");
        check("a\nb\rc", "`a b c`");
    }

    proptest! {
        /// Any title in a list item renders as a paragraph of text and code.
        #[test]
        fn text_stays_text(text in "[-a1 `*_#<>\\[\\]()&~|!:.$=+\\\\]{0,24}") {
            let page = format!("1. [Task 1]: {}\n   - Files: none\n", as_text(text.trim()));
            for event in Parser::new_ext(&page, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
                let plain = match &event {
                    Event::Text(_) | Event::Code(_) | Event::SoftBreak | Event::End(_) => true,
                    Event::Start(tag) => matches!(tag, Tag::List(_) | Tag::Item | Tag::Paragraph),
                    _ => false,
                };
                prop_assert!(plain, "{page:?}: {event:?}");
            }
        }
    }
}
