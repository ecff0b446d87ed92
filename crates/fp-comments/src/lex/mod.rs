//! Finds the comments of a text.
//!
//! One pass over the bytes, without a grammar: a lexer only has to know what a comment is, which literals hide comment
//! marks, and where such literals have holes with code in them. Most languages are a table for one engine, with a rule of
//! their own for the rest. Nothing recurses, so no input is too deep.

pub(crate) mod c_like;
mod cursor;
mod engine;
pub(crate) mod functional;
pub(crate) mod hashes;
pub(crate) mod javascript;
pub(crate) mod lines;
pub(crate) mod markup;
pub(crate) mod perl;
pub(crate) mod ruby;
pub(crate) mod shell;
#[cfg(test)]
mod tests;

use self::cursor::CommentCursor;
use self::engine::Syntax;
use crate::{CommentKind, SourceComment, SourceLanguage};

/// How the comments of a language are found.
pub(crate) enum Lexer {
    /// By the engine, from a table.
    Table(&'static Syntax),
    /// By code of the language's own.
    Own(fn(&mut CommentCursor<'_>)),
}

/// All comments of `text` in order, including a `#!` line.
///
/// Every text is read. A comment or literal that isn't closed goes on to the end, or to the end of its line where the
/// language says so.
#[must_use]
pub fn comments(language: SourceLanguage, text: &str) -> Vec<SourceComment<'_>> {
    let mut cursor = CommentCursor::new(text);
    if cursor.sees("#!") && !cursor.sees("#![") {
        cursor.take_line(CommentKind::Line);
    }
    match language.lexer() {
        Lexer::Table(syntax) => engine::lex(&mut cursor, syntax),
        Lexer::Own(lex) => lex(&mut cursor),
    }
    cursor.finish()
}
