//! YAML, and formats that are read line by line: no table fits them, since indentation or the line decides.

use super::cursor::{CommentCursor, is_word};
use super::engine::{Heredoc, skip_heredoc};
use crate::CommentKind;

/// Records comments that fill their line and begin with one of `marks`; if `inline` is true, also those after
/// a value, if blanks surround their mark.
pub(crate) fn settings(cursor: &mut CommentCursor<'_>, marks: &[u8], inline: bool) {
    while !cursor.done() {
        skip_blanks(cursor);
        if marks.contains(&cursor.peek(0)) {
            cursor.take_line(CommentKind::Line);
        } else if inline && let Some(at) = inline_comment(cursor, marks) {
            cursor.at = at;
            cursor.take_line(CommentKind::Line);
        }
        cursor.next_line();
    }
}

/// Records the comments of a Dockerfile.
pub(crate) fn dockerfile(cursor: &mut CommentCursor<'_>) {
    while !cursor.done() {
        skip_blanks(cursor);
        let end = cursor.line_end(cursor.at);
        if cursor.peek(0) == b'#' {
            cursor.take(CommentKind::Line, end);
        }
        let heredocs = docker_heredocs(&cursor.bytes[cursor.at..end]);
        cursor.next_line();
        for heredoc in heredocs {
            skip_heredoc(cursor, heredoc);
        }
    }
}

/// Records comments that may follow any unquoted word: those of a `.env` file, or of a makefile, where a
/// backslash continues a comment if `goes_on` is true.
pub(crate) fn words(cursor: &mut CommentCursor<'_>, goes_on: bool) {
    while !cursor.done() {
        word_comment(cursor, goes_on);
        cursor.next_line();
    }
}

/// Records the comments of a batch file.
pub(crate) fn batch(cursor: &mut CommentCursor<'_>) {
    while !cursor.done() {
        skip_blanks(cursor);
        let at = usize::from(cursor.peek(0) == b'@');
        let remark = cursor
            .rest()
            .get(at..at + 3)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"rem"));
        if cursor.sees("::")
            || (remark && !is_word(cursor.peek(at + 3)) && cursor.peek(at + 3) != b'.')
        {
            cursor.take_line(CommentKind::Line);
        }
        cursor.next_line();
    }
}

/// Records the comments of a Vim script that fill their line.
pub(crate) fn vim(cursor: &mut CommentCursor<'_>) {
    while !cursor.done() {
        skip_blanks(cursor);
        if cursor.peek(0) == b'"' || cursor.sees("# ") {
            cursor.take_line(CommentKind::Line);
        }
        cursor.next_line();
    }
}

/// The marks around verbatim text in TeX.
const VERBATIM: &[(&str, &str)] = &[
    ("\\begin{verbatim", "\\end{verbatim"),
    ("\\begin{Verbatim", "\\end{Verbatim"),
    ("\\begin{lstlisting", "\\end{lstlisting"),
    ("\\begin{minted", "\\end{minted"),
];

/// Records the comments of a TeX file.
pub(crate) fn tex(cursor: &mut CommentCursor<'_>) {
    while !cursor.done() {
        let rest = cursor.rest();
        cursor.at += memchr::memchr2(b'%', b'\\', rest).unwrap_or(rest.len());
        if cursor.peek(0) == b'%' {
            cursor.take_line(CommentKind::Line);
        } else if cursor.sees("\\verb") && cursor.peek(5).is_ascii_punctuation() {
            let at = cursor.at + 5 + usize::from(cursor.peek(5) == b'*');
            let rest = cursor.bytes.get(at + 1..).unwrap_or_default();
            cursor.at = memchr::memchr2(cursor.byte(at), b'\n', rest)
                .map_or(cursor.bytes.len(), |end| at + end + 2);
        } else if let Some((_, close)) = VERBATIM.iter().find(|(open, _)| cursor.sees(open)) {
            cursor.skip_past(cursor.at, close);
        } else if cursor.sees("\\url{") || cursor.sees("\\href{") {
            let rest = cursor.rest();
            cursor.at += memchr::memchr2(b'}', b'\n', rest).unwrap_or(rest.len());
        } else {
            cursor.at += 2;
        }
    }
}

fn skip_blanks(cursor: &mut CommentCursor<'_>) {
    cursor.at += cursor
        .rest()
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
}

/// The start of a comment after the value on this line, outside of quotes.
fn inline_comment(cursor: &CommentCursor<'_>, marks: &[u8]) -> Option<usize> {
    let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
    let mut quote = None;
    for (index, byte) in line.iter().enumerate().skip(1) {
        let blank = matches!(line[index - 1], b' ' | b'\t');
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (None, b'"') => quote = Some(byte),
            (None, b'\'') if blank || line[index - 1] == b'=' => quote = Some(byte),
            (None, mark)
                if blank
                    && marks.contains(mark)
                    && matches!(line.get(index + 1), Some(b' ' | b'\t')) =>
            {
                let value = line[..index].trim_ascii_end();
                return (!value.ends_with(b"=") && !value.ends_with(b":"))
                    .then_some(cursor.at + index);
            }
            _ => {}
        }
    }
    None
}

/// Records the comment of this line, which begins with a `#` at the start of a word and outside of quotes. If
/// `goes_on` is true, a backslash at the end of a line continues it.
fn word_comment(cursor: &mut CommentCursor<'_>, goes_on: bool) {
    let end = cursor.line_end(cursor.at);
    let mut quote = 0;
    while cursor.at < end {
        let (byte, before) = (cursor.peek(0), cursor.before());
        if byte == b'\\' && quote != b'\'' {
            cursor.at += 1;
        } else if quote != 0 {
            quote = if byte == quote { 0 } else { quote };
        } else if matches!(byte, b'"' | b'\'' | b'`') && !is_word(before) {
            quote = byte;
        } else if byte == b'#'
            && (matches!(before, 0 | b' ' | b'\t' | b'\n' | b';') || (goes_on && before == b'@'))
        {
            let mut end = end;
            while goes_on && cursor.byte(end - 1) == b'\\' && end < cursor.bytes.len() {
                let next = cursor
                    .find(end, "\n")
                    .map_or(cursor.bytes.len(), |found| found + 1);
                end = cursor.line_end(next);
            }
            cursor.take(CommentKind::Line, end);
            return;
        }
        cursor.at += 1;
    }
    cursor.at = end;
}

/// The heredocs that a line announces.
fn docker_heredocs(line: &[u8]) -> Vec<Heredoc<'_>> {
    let mut heredocs = Vec::new();
    if line.starts_with(b"#") {
        return heredocs;
    }
    for found in memchr::memmem::find_iter(line, b"<<") {
        let rest = &line[found + 2..];
        let indented = rest.starts_with(b"-");
        let rest = if indented { &rest[1..] } else { rest };
        let rest = rest
            .strip_prefix(b"'")
            .or_else(|| rest.strip_prefix(b"\""))
            .unwrap_or(rest);
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        if length > 0 && !rest[0].is_ascii_digit() {
            heredocs.push(Heredoc {
                close: &rest[..length],
                indented,
            });
        }
    }
    heredocs
}

/// Records the comments of a YAML stream.
pub(crate) fn yaml(cursor: &mut CommentCursor<'_>) {
    let mut lexer = Lexer { cursor, flow: 0 };
    while !lexer.cursor.done() {
        if let Some(header) = lexer.line() {
            skip_block(lexer.cursor, header);
        }
    }
}

/// The information in a block scalar's first line.
struct Header {
    /// Column of the node that holds it, from 0; 0 at the top.
    least: usize,
    /// The indentation of the body, if given.
    indent: Option<usize>,
}

struct Lexer<'c, 't> {
    cursor: &'c mut CommentCursor<'t>,
    /// Number of open `[` and `{`.
    flow: usize,
}

impl Lexer<'_, '_> {
    /// Skips one line, and quoted text that continues after it.
    fn line(&mut self) -> Option<Header> {
        let start = self.cursor.at;
        let (mut value, mut least, mut keyed) = (true, 0, false);
        if !self.cursor.peek(0).is_ascii_whitespace() && !matches!(self.cursor.peek(0), b']' | b'}')
        {
            self.flow = 0;
        }
        while !self.cursor.done() {
            let (byte, next) = (self.cursor.peek(0), self.cursor.peek(1));
            let blank = matches!(next, 0 | b' ' | b'\t' | b'\n' | b'\r');
            match byte {
                b'\n' => {
                    self.cursor.at += 1;
                    return None;
                }
                b' ' | b'\t' | b'\r' => {}
                b'#' if matches!(self.cursor.before(), 0 | b' ' | b'\t' | b'\n') => {
                    self.cursor.take_line(CommentKind::Line);
                    continue;
                }
                b'"' | b'\'' if value => {
                    quoted(self.cursor, byte);
                    (value, keyed) = (false, true);
                    continue;
                }
                b'-' | b'?' if value && blank => least = self.cursor.at - start + 1,
                b'-' if value && self.cursor.at == start && self.cursor.sees("---") => {
                    self.cursor.at += 3;
                    continue;
                }
                b':' if blank || (self.flow > 0 && !value) => value = true,
                b'[' | b'{' if value => self.flow += 1,
                b']' | b'}' if self.flow > 0 => self.flow -= 1,
                b',' if self.flow > 0 => value = true,
                b'&' | b'!' if value => {
                    let rest = self.cursor.rest();
                    self.cursor.at += rest
                        .iter()
                        .position(u8::is_ascii_whitespace)
                        .unwrap_or(rest.len());
                    continue;
                }
                b'|' | b'>' if value && self.flow == 0 => {
                    if let Some(indent) = self.header() {
                        return Some(Header {
                            least,
                            indent: indent.map(|indent| least.saturating_sub(1) + indent),
                        });
                    }
                    value = false;
                }
                _ => {
                    if value && !keyed && self.flow == 0 {
                        (least, keyed) = (self.cursor.at - start + 1, true);
                    }
                    value = false;
                }
            }
            self.cursor.at += 1;
        }
        None
    }

    /// Skips a block scalar's header, with the comment and the line break after it. Returns the body's
    /// indentation if the header gives one; `None` if it is no header.
    fn header(&mut self) -> Option<Option<usize>> {
        let line = &self.cursor.rest()[1..];
        let length = line
            .iter()
            .take_while(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9'))
            .count();
        let blank = line[length..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        let behind = self.cursor.peek(1 + length + blank);
        if length > 2 || !(matches!(behind, 0 | b'\r' | b'\n') || (behind == b'#' && blank > 0)) {
            return None;
        }
        let digit = line[..length].iter().find(|byte| byte.is_ascii_digit());
        let indent = digit.map(|digit| usize::from(digit - b'0'));
        self.cursor.at += 1 + length + blank;
        if behind == b'#' {
            self.cursor.take_line(CommentKind::Line);
        }
        self.cursor.next_line();
        Some(indent)
    }
}

/// Skips the body of a block scalar: all lines with the indentation of its first one.
fn skip_block(cursor: &mut CommentCursor<'_>, header: Header) {
    let mut body = header.indent;
    while !cursor.done() {
        let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        if indent < line.len() && line[indent] != b'\t' {
            let least = *body.get_or_insert(indent.max(header.least));
            if indent < least
                || (least == 0 && (line.starts_with(b"---") || line.starts_with(b"...")))
            {
                return;
            }
        }
        cursor.next_line();
    }
}

/// Skips the text that `quote` begins.
fn quoted(cursor: &mut CommentCursor<'_>, quote: u8) {
    cursor.at += 1;
    loop {
        let rest = cursor.rest();
        cursor.at += memchr::memchr2(quote, if quote == b'"' { b'\\' } else { quote }, rest)
            .unwrap_or(rest.len());
        if cursor.peek(0) == b'\\' || (quote == b'\'' && cursor.sees("''")) {
            cursor.at += 2;
            continue;
        }
        cursor.at += 1;
        return;
    }
}
