//! Style sheets.

use super::c_like::is_doc;
use super::{Block, Syntax, Text};
use crate::comments::lex::engine::{Engine, Turn};

pub(in crate::comments::lex) static CSS: Syntax = Syntax {
    blocks: &[Block { open: "/*", close: "*/", nested: false }],
    texts: &[Text::escaped("\""), Text::escaped("'")],
    doc: is_doc,
    asks: b"uU\\",
    rule: url,
    ..Syntax::PLAIN
};

pub(in crate::comments::lex) static SCSS: Syntax = Syntax { lines: &["//"], ..CSS };

/// Passes an address without quotes, in which nothing is a comment, and what a backslash escapes.
fn url(engine: &mut Engine<'_, '_>) -> Turn {
    let cursor = &mut *engine.cursor;
    if cursor.peek(0) == b'\\' {
        cursor.at += 2;
        return Turn::Moved;
    }
    let rest = cursor.rest();
    let open = if cursor.sees_any_case("url(") { 4 } else { 11 };
    if open == 11 && !cursor.sees_any_case("url-prefix(") {
        return Turn::Pass;
    }
    let blank = rest[open..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    cursor.at += open + blank;
    if !matches!(cursor.peek(0), b'"' | b'\'') {
        let address = cursor.rest();
        cursor.at += address.iter().position(|byte| matches!(byte, b')' | b'\n')).unwrap_or(address.len());
    }
    Turn::Moved
}
