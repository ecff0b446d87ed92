//! PHP, as it stands between `<?php` and `?>`.

use super::c_like::is_doc;
use super::{Block, Hole, Syntax, Text};
use crate::comments::Kind;
use crate::comments::lex::cursor::Cursor;
use crate::comments::lex::engine::{Engine, Turn};

/// `{$…}`.
const BRACE: Hole = Hole { open: "{$", opens: b"{", close: b'}', format: false };

pub(in crate::comments::lex) static PHP: Syntax = Syntax {
    blocks: &[Block { open: "/*", close: "*/", nested: false }],
    texts: &[Text::escaped("\"").lines().hole(BRACE), Text::escaped("'").lines(), Text::escaped("`").lines()],
    doc: is_doc,
    asks: b"?#/<",
    rule: php_rule,
    ..Syntax::PLAIN
};

fn php_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'?' if cursor.sees("?>") => {
            cursor.at += 2;
            return Turn::Leave;
        }
        b'#' if cursor.peek(1) == b'[' => cursor.at += 2,
        b'#' => line_comment(cursor),
        b'/' if cursor.peek(1) == b'/' => line_comment(cursor),
        b'<' if cursor.sees("<<<") => heredoc(cursor),
        _ => return Turn::Pass,
    }
    Turn::Moved
}

/// Takes the comment that ends with its line, or where PHP ends.
fn line_comment(cursor: &mut Cursor<'_>) {
    let kind = if is_doc(cursor.rest()) { Kind::Doc } else { Kind::Line };
    let rest = cursor.rest();
    let mut ends = memchr::memchr2_iter(b'\n', b'?', rest);
    match ends.find(|end| rest[*end] == b'\n' || rest.get(end + 1) == Some(&b'>')) {
        Some(end) if rest[end] == b'?' => cursor.take(kind, cursor.at + end),
        _ => cursor.take_line(kind),
    }
}

/// Moves behind a heredoc or nowdoc, whose closing name may stand behind blanks and before more code.
fn heredoc(cursor: &mut Cursor<'_>) {
    let blank = cursor.rest()[3..].iter().take_while(|byte| **byte == b' ').count();
    let mut name = cursor.at + 3 + blank;
    name += usize::from(matches!(cursor.byte(name), b'\'' | b'"'));
    let length = cursor.word(name);
    let close = &cursor.bytes[name..name + length];
    cursor.at = name + length;
    if length == 0 {
        return;
    }
    cursor.next_line();
    while !cursor.done() {
        let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
        let indent = line.len() - line.trim_ascii_start().len();
        if line[indent..].starts_with(close) && cursor.word(cursor.at + indent) == length {
            cursor.at += indent + length;
            return;
        }
        cursor.next_line();
    }
}
