//! Perl.

use super::cursor::{CommentCursor, PERL_WORDS, is_word, value_expected};
use super::engine::{Heredoc, Literal, RuleTurn, Syntax, TableLexer};
use super::ruby;
use crate::CommentKind;

pub(crate) static PERL: Syntax = Syntax {
    lines: &["#"],
    texts: &[Literal::escaped("\"").lines(), Literal::escaped("'").lines(), Literal::escaped("`").lines()],
    asks: b"=_$@%&/<qmsyt'",
    rule: perl_rule,
    ..Syntax::PLAIN
};

fn perl_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'=' if cursor.at_line_start() && cursor.peek(1).is_ascii_alphabetic() => {
            let end = cursor.find(cursor.at, "\n=cut");
            cursor.take(CommentKind::Doc, end.map_or(cursor.bytes.len(), |end| cursor.line_end(end + 1)));
        }
        b'_' if cursor.at_line_start() && ends_program(cursor) => return RuleTurn::Leave,
        b'$' => cursor.at += variable(cursor),
        b'@' | b'%' | b'&' if cursor.peek(1) == b'$' => cursor.at += 1,
        b'@' | b'%' | b'&' if is_word(cursor.peek(1)) => cursor.at += 1 + cursor.word(cursor.at + 1),
        b'\'' if is_word(cursor.before()) => cursor.at += 1,
        b'/' if value_expected(cursor, PERL_WORDS) => {
            cursor.at += 1;
            return RuleTurn::Text(Literal::escaped("/").lines(), 0);
        }
        b'/' if cursor.peek(1) == b'/' => cursor.at += 2,
        b'<' if cursor.sees("<<") => return heredoc(engine),
        b'q' | b'm' | b's' | b'y' | b't' => return quote_like(cursor),
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// Whether this line is the one behind which no code comes.
fn ends_program(cursor: &CommentCursor<'_>) -> bool {
    matches!(&cursor.bytes[cursor.at..cursor.line_end(cursor.at)], b"__END__" | b"__DATA__")
}

/// How long the variable at the cursor is, as far as its marks could mean something else: `$#x`, `$'`, `$y`.
fn variable(cursor: &CommentCursor<'_>) -> usize {
    match cursor.peek(1) {
        b'#' if is_word(cursor.peek(2)) || matches!(cursor.peek(2), b'{' | b'$') => {
            2 + cursor.word(cursor.at + 2)
        }
        b'{' | b'$' | b' ' | b'\n' => 1,
        byte if is_word(byte) => 1 + cursor.word(cursor.at + 1),
        byte if byte.is_ascii_punctuation() => 2,
        _ => 1,
    }
}

/// `q{}`, `m//`, `s{}{}`, `tr///` and the like; anything else that begins with these letters is passed as a name.
fn quote_like(cursor: &mut CommentCursor<'_>) -> RuleTurn {
    let length = cursor.word(cursor.at);
    let name = &cursor.rest()[..length];
    let parts = match name {
        b"q" | b"qq" | b"qw" | b"qr" | b"qx" | b"m" => 1,
        b"s" | b"tr" | b"y" => 2,
        _ => 0,
    };
    // Behind a slash they are flags of the expression that it ends.
    if parts == 0
        || is_word(cursor.before())
        || cursor.before() == b'/'
        || matches!(cursor.before(), b'>' | b'{') && cursor.peek(length) == b'}'
    {
        cursor.at += length.max(1);
        return RuleTurn::Moved;
    }
    let blank = cursor.rest()[length..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let open = cursor.peek(length + blank);
    let comma = open == b',' && (blank > 0 || !matches!(name, b"s" | b"m" | b"tr"));
    let assigned = comma || matches!(open, b'=' | b';' | b')') || (blank > 0 && open == b'#');
    let called = matches!(cursor.before(), b'>' | b'-')
        || (length + blank + 1 < cursor.rest().len() && cursor.rest()[length + blank..].starts_with(b"=>"));
    let Some(text) = ruby::delimited(open).filter(|_| !assigned && !called) else {
        cursor.at += length;
        return RuleTurn::Moved;
    };
    cursor.at += length + blank + 1;
    skip_delimited(cursor, text);
    if parts == 2 && text.nest.is_none() {
        skip_delimited(cursor, text);
    } else if parts == 2 {
        let blank = cursor.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if let Some(second) = ruby::delimited(cursor.peek(blank)) {
            cursor.at += blank + 1;
            skip_delimited(cursor, second);
        }
    }
    if matches!(name, b"m" | b"qr" | b"s" | b"tr" | b"y") {
        cursor.at += cursor.word(cursor.at);
    }
    RuleTurn::Moved
}

/// Moves behind the end of `text`.
fn skip_delimited(cursor: &mut CommentCursor<'_>, text: Literal) {
    let close = text.close.as_bytes()[0];
    let mut depth = 0_usize;
    while !cursor.done() {
        let byte = cursor.peek(0);
        cursor.at += 1;
        if byte == b'\\' && close != b'\\' {
            cursor.at += 1;
        } else if byte == close && depth == 0 {
            return;
        } else if byte == close {
            depth -= 1;
        } else if Some(byte) == text.nest {
            depth += 1;
        }
    }
}

fn heredoc(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    let tilde = usize::from(cursor.peek(2) == b'~');
    let quote = cursor.peek(2 + tilde);
    let quoted = usize::from(matches!(quote, b'"' | b'\''));
    let name = cursor.at + 2 + tilde + quoted;
    let length = if quoted == 1 { ruby::quoted_name(cursor, name, quote) } else { cursor.word(name) };
    let first = cursor.byte(name);
    if length == 0 || (quoted == 0 && !(first.is_ascii_alphabetic() || first == b'_')) {
        cursor.at += 2;
        return RuleTurn::Moved;
    }
    cursor.at = name + length + quoted;
    let close = &cursor.bytes[name..name + length];
    engine.heredocs.push(Heredoc { close, indented: tilde == 1 });
    RuleTurn::Moved
}
