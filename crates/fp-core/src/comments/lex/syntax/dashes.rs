//! Languages with `--`.

use super::{Block, Syntax, Text};
use crate::comments::Kind;
use crate::comments::lex::cursor::is_word;
use crate::comments::lex::engine::{Engine, Turn};

pub(in crate::comments::lex) static LUA: Syntax = Syntax {
    lines: &["--"],
    texts: &[Text::escaped("\""), Text::escaped("'")],
    doc: |rest| rest.starts_with(b"---") && rest.get(3) != Some(&b'-'),
    asks: b"-[",
    rule: lua_rule,
    ..Syntax::PLAIN
};

pub(in crate::comments::lex) static SQL: Syntax = Syntax {
    lines: &["--"],
    blocks: &[Block { open: "/*", close: "*/", nested: false }],
    texts: &[Text::raw("\"").doubled().lines(), Text::raw("`").doubled()],
    asks: b"'$#[",
    rule: sql_rule,
    ..Syntax::PLAIN
};

/// Lua's comments and texts between `[==[` and `]==]`.
fn lua_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let mark = if engine.cursor.sees("--") { 2 } else { 0 };
    long_bracket(engine, mark)
}

/// What stands between `[==[` and `]==]`: a comment where the bracket is behind a mark of `comment` bytes, else a text.
pub(super) fn long_bracket(engine: &mut Engine<'_, '_>, comment: usize) -> Turn {
    let cursor = &mut *engine.cursor;
    let bracket = cursor.at + comment;
    let equals = cursor.run(bracket + 1, b'=');
    if cursor.byte(bracket) != b'[' || cursor.byte(bracket + 1 + equals) != b'[' {
        return Turn::Pass;
    }
    let close = format!("]{}]", "=".repeat(equals));
    let body = bracket + equals + 2;
    if comment > 0 {
        cursor.take_block(Kind::Block, body, &close);
    } else {
        cursor.skip_past(body, &close);
    }
    Turn::Moved
}

/// Literals, dollar quotes, names in brackets, and MySQL's `#` at the start of a line.
fn sql_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'\'' => {
            literal(engine);
            Turn::Moved
        }
        b'$' if !is_word(cursor.before()) => {
            let length = cursor.word(cursor.at + 1);
            if cursor.peek(1).is_ascii_digit() || cursor.peek(1 + length) != b'$' {
                return Turn::Pass;
            }
            let tag = &cursor.rest()[..length + 2];
            let body = &cursor.rest()[tag.len()..];
            let found = memchr::memmem::find(body, tag);
            cursor.at += found.map_or(cursor.rest().len(), |found| found + 2 * tag.len());
            Turn::Moved
        }
        b'#' if cursor.begins_line(cursor.at) && matches!(cursor.peek(1), b' ' | b'\t') => {
            cursor.take_line(Kind::Line);
            Turn::Moved
        }
        b'[' if !is_word(cursor.before()) => {
            let name = &cursor.rest()[1..];
            let end = name.iter().take(128).position(|byte| matches!(byte, b'[' | b']' | b'\n'));
            cursor.at += end.filter(|end| name[*end] == b']').map_or(1, |end| end + 2);
            Turn::Moved
        }
        _ => Turn::Pass,
    }
}

/// Moves behind a literal. A backslash before a quote is an escape in some dialects and a backslash in others: it is
/// one only where the literal visibly goes on.
fn literal(engine: &mut Engine<'_, '_>) {
    let cursor = &mut *engine.cursor;
    let prefix = cursor.word_before(cursor.at);
    let escapes = prefix.eq_ignore_ascii_case(b"e");
    let mut index = cursor.at + 1;
    while let Some(found) = memchr::memchr2(b'\'', b'\\', cursor.bytes.get(index..).unwrap_or_default()) {
        index += found;
        let (next, second) = (cursor.byte(index + 1), cursor.byte(index + 2));
        if cursor.byte(index) == b'\\' {
            let ends = matches!(second, 0 | b',' | b')' | b';' | b'\'' | b' ' | b'\n' | b'\r' | b'\t');
            let escape = escapes || next == b'\\' || (next == b'\'' && !ends);
            index += 1 + usize::from(escape);
        } else if next == b'\'' {
            index += 2;
        } else {
            cursor.at = index + 1;
            return;
        }
    }
    cursor.at = cursor.bytes.len();
}
