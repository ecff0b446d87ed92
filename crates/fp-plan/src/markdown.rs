//! Escapes text from models and strangers for Markdown pages, so that it can't become markup there.

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
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// `text` so that it can't be markup, except for its code spans, which stay as they are.
pub fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut at, mut line, mut written) = (0, 0, 0);
    while let Some(found) = text[at..].bytes().position(may_be_markup) {
        at += found;
        let rest = &text[at..];
        let c = char::from(rest.as_bytes()[0]);
        if c == '`' {
            let run = rest.len() - rest.trim_start_matches('`').len();
            if let Some(span) = span_length(rest, run) {
                at += span;
            } else {
                out.push_str(&text[written..at]);
                out.push_str(&"\\`".repeat(run));
                at += run;
                written = at;
            }
            continue;
        }
        if is_markup(c, &text[line..at], rest[1..].chars().next()) {
            out.push_str(&text[written..at]);
            out.push('\\');
            written = at;
        }
        at += 1;
        if c == '\n' {
            line = at;
        }
    }
    out.push_str(&text[written..]);
    out
}

/// True if [`inline`] must look at this byte.
fn may_be_markup(byte: u8) -> bool {
    byte.is_ascii_punctuation() && !matches!(byte, b',' | b'\'' | b'"' | b'(' | b'/' | b':' | b';')
        || byte == b'\n'
}

/// The length of the code span at the start of `rest`, which opens with `run` backticks; `None` if it isn't closed.
pub(crate) fn span_length(rest: &str, run: usize) -> Option<usize> {
    let mut at = run;
    while let Some(found) = rest[at..].find('`') {
        let from = at + found;
        let length = rest[from..].len() - rest[from..].trim_start_matches('`').len();
        at = from + length;
        if length == run {
            return Some(at);
        }
    }
    None
}

/// True if `c` could be markup after the start `line` of its line and before `after`.
fn is_markup(c: char, line: &str, after: Option<char>) -> bool {
    let within_word = |c: char| c.is_alphanumeric();
    match c {
        '\\' | '*' | '<' | '[' | ']' | '&' | '~' | '|' | '$' => true,
        '_' => !(line.ends_with(within_word) && after.is_some_and(within_word)),
        // A heading, a list, a quotation, or the underline of a heading.
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
        /// Whatever a title is, in its place it is a paragraph of text and code.
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
