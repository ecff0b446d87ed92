//! Files that are read line by line.

use super::cursor::{Cursor, is_word};
use super::engine::{Heredoc, skip_heredoc};
use crate::comments::Kind;

/// Takes the comments of a file in which they fill their line, with one of `marks` before them; where `inline` is set,
/// also those behind a value, if they stand between blanks.
pub(super) fn settings(cursor: &mut Cursor<'_>, marks: &[u8], inline: bool) {
    while !cursor.done() {
        skip_blanks(cursor);
        if marks.contains(&cursor.peek(0)) {
            cursor.take_line(Kind::Line);
        } else if inline && let Some(at) = inline_comment(cursor, marks) {
            cursor.at = at;
            cursor.take_line(Kind::Line);
        }
        cursor.next_line();
    }
}

/// Takes the comments of `.env` files, which may follow any value that is not quoted.
pub(super) fn environment(cursor: &mut Cursor<'_>) {
    while !cursor.done() {
        words(cursor, b"#", false);
        cursor.next_line();
    }
}

/// Takes the comments of a Dockerfile.
pub(super) fn dockerfile(cursor: &mut Cursor<'_>) {
    while !cursor.done() {
        skip_blanks(cursor);
        let end = cursor.line_end(cursor.at);
        if cursor.peek(0) == b'#' {
            cursor.take(Kind::Line, end);
        }
        let heredocs = docker_heredocs(&cursor.bytes[cursor.at..end]);
        cursor.next_line();
        for heredoc in heredocs {
            skip_heredoc(cursor, heredoc);
        }
    }
}

/// Takes the comments of a makefile: those of make and, in recipes, those of the shell.
pub(super) fn makefile(cursor: &mut Cursor<'_>) {
    while !cursor.done() {
        words(cursor, b"#", true);
        cursor.next_line();
    }
}

/// Takes the comments of a batch file.
pub(super) fn batch(cursor: &mut Cursor<'_>) {
    while !cursor.done() {
        skip_blanks(cursor);
        let at = usize::from(cursor.peek(0) == b'@');
        let remark = cursor.rest().get(at..at + 3).is_some_and(|word| word.eq_ignore_ascii_case(b"rem"));
        if cursor.sees("::") || (remark && !is_word(cursor.peek(at + 3)) && cursor.peek(at + 3) != b'.') {
            cursor.take_line(Kind::Line);
        }
        cursor.next_line();
    }
}

/// Takes the comments of a Vim script that fill their line.
pub(super) fn vim(cursor: &mut Cursor<'_>) {
    while !cursor.done() {
        skip_blanks(cursor);
        if cursor.peek(0) == b'"' || cursor.sees("# ") {
            cursor.take_line(Kind::Line);
        }
        cursor.next_line();
    }
}

/// What begins and ends text in TeX that is printed as it stands.
const VERBATIM: &[(&str, &str)] = &[
    ("\\begin{verbatim", "\\end{verbatim"),
    ("\\begin{Verbatim", "\\end{Verbatim"),
    ("\\begin{lstlisting", "\\end{lstlisting"),
    ("\\begin{minted", "\\end{minted"),
];

/// Takes the comments of a TeX file.
pub(super) fn tex(cursor: &mut Cursor<'_>) {
    while !cursor.done() {
        let rest = cursor.rest();
        cursor.at += memchr::memchr2(b'%', b'\\', rest).unwrap_or(rest.len());
        if cursor.peek(0) == b'%' {
            cursor.take_line(Kind::Line);
        } else if cursor.sees("\\verb") && cursor.peek(5).is_ascii_punctuation() {
            let at = cursor.at + 5 + usize::from(cursor.peek(5) == b'*');
            let rest = cursor.bytes.get(at + 1..).unwrap_or_default();
            cursor.at =
                memchr::memchr2(cursor.byte(at), b'\n', rest).map_or(cursor.bytes.len(), |end| at + end + 2);
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

fn skip_blanks(cursor: &mut Cursor<'_>) {
    cursor.at += cursor.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
}

/// Where a comment begins behind the value in this line, outside of quotes.
fn inline_comment(cursor: &Cursor<'_>, marks: &[u8]) -> Option<usize> {
    let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
    let mut quote = None;
    for (index, byte) in line.iter().enumerate().skip(1) {
        let blank = matches!(line[index - 1], b' ' | b'\t');
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (None, b'"') => quote = Some(byte),
            (None, b'\'') if blank || line[index - 1] == b'=' => quote = Some(byte),
            (None, mark)
                if blank && marks.contains(mark) && matches!(line.get(index + 1), Some(b' ' | b'\t')) =>
            {
                let value = line[..index].trim_ascii_end();
                return (!value.ends_with(b"=") && !value.ends_with(b":")).then_some(cursor.at + index);
            }
            _ => {}
        }
    }
    None
}

/// Takes the comment of this line: from a mark at the start of a word and outside of quotes, where `goes_on` is set
/// with the next lines as long as a backslash ends them.
fn words(cursor: &mut Cursor<'_>, marks: &[u8], goes_on: bool) {
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
        } else if marks.contains(&byte)
            && (matches!(before, 0 | b' ' | b'\t' | b'\n' | b';') || (goes_on && before == b'@'))
        {
            let mut end = end;
            while goes_on && cursor.byte(end - 1) == b'\\' && end < cursor.bytes.len() {
                let next = cursor.find(end, "\n").map_or(cursor.bytes.len(), |found| found + 1);
                end = cursor.line_end(next);
            }
            cursor.take(Kind::Line, end);
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
        let rest = rest.strip_prefix(b"'").or_else(|| rest.strip_prefix(b"\"")).unwrap_or(rest);
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        if length > 0 && !rest[0].is_ascii_digit() {
            heredocs.push(Heredoc { close: &rest[..length], indented });
        }
    }
    heredocs
}
