//! Ruby and Perl let authors choose the delimiters of strings, and a slash divides or begins an expression,
//! so their rules need context.

use super::cursor::{CommentCursor, is_word, value_expected};
use super::engine::{HASH, Heredoc, Literal, RuleTurn, Syntax, TableLexer};
use crate::CommentKind;

pub(crate) static RUBY: Syntax = Syntax {
    lines: &["#"],
    texts: &[
        Literal::escaped("\"").lines().hole(HASH),
        Literal::escaped("'").lines(),
        Literal::escaped("`").lines().hole(HASH),
    ],
    asks: b"=_?$%/<:",
    rule: ruby_rule,
    ..Syntax::PLAIN
};

/// Words of Ruby that precede a value.
const RUBY_WORDS: &str =
    "return case in do else yield if unless while until when and or not then elsif begin";
/// Words of Perl that precede a value.
const PERL_WORDS: &str = "return else if unless while until and or not elsif split grep map join x cmp eq ne when push print die";

/// All closing delimiters of strings, in one text so that each can be borrowed as a mark.
const DELIMITERS: &str = "!\"#$%&'*+,-./:;=?@\\^_`|~)]}>";

/// A string that begins with `open` and ends with the bracket that closes it, or with the same byte.
pub(super) fn delimited(open: u8) -> Option<Literal> {
    let (close, nest) = match open {
        b'(' => (b')', Some(open)),
        b'[' => (b']', Some(open)),
        b'{' => (b'}', Some(open)),
        b'<' => (b'>', Some(open)),
        _ => (open, None),
    };
    let index = DELIMITERS.bytes().position(|byte| byte == close)?;
    let close = &DELIMITERS[index..=index];
    Some(
        Literal {
            nest,
            ..Literal::raw(close)
        }
        .lines(),
    )
}

fn ruby_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'=' if cursor.at_line_start() && cursor.sees("=begin") => {
            let end = cursor.find(cursor.at, "\n=end");
            cursor.take(
                CommentKind::Block,
                end.map_or(cursor.bytes.len(), |end| cursor.line_end(end + 1)),
            );
        }
        b'_' if cursor.at_line_start() && ends_program(cursor) => return RuleTurn::Leave,
        b'?' if !is_word(cursor.before())
            && !is_word(cursor.peek(2))
            && !cursor.peek(1).is_ascii_whitespace() =>
        {
            cursor.at += if cursor.peek(1) == b'\\' { 3 } else { 2 };
        }
        b'$' if cursor.peek(1).is_ascii_punctuation() => cursor.at += 2,
        b':' if matches!(cursor.peek(1), b'/' | b'%' | b'`' | b'<') && cursor.before() != b':' => {
            cursor.at += 2
        }
        b'%' => return percent(cursor),
        b'/' => return slash(cursor),
        b'<' if cursor.sees("<<") => return ruby_heredoc(engine),
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// True if this line ends the program's code.
fn ends_program(cursor: &CommentCursor<'_>) -> bool {
    matches!(
        &cursor.bytes[cursor.at..cursor.line_end(cursor.at)],
        b"__END__" | b"__DATA__"
    )
}

/// True if an argument without parentheses may begin at the cursor: `puts /x/`, `puts %w[a]`, not `a / b`.
fn is_argument(cursor: &CommentCursor<'_>, width: usize) -> bool {
    let end = cursor.code_end(cursor.at);
    let named = end > cursor.start
        && is_word(cursor.byte(end - 1))
        && !cursor.byte(end - 1).is_ascii_digit();
    let variable = {
        let word = cursor.word_before(end);
        end > word.len() + cursor.start && matches!(cursor.byte(end - word.len() - 1), b'@' | b'$')
    };
    let next = cursor.peek(width);
    named && !variable && end < cursor.at && !next.is_ascii_whitespace() && next != b'='
}

fn percent(cursor: &mut CommentCursor<'_>) -> RuleTurn {
    let letter = cursor.peek(1);
    let width = if letter.is_ascii_alphabetic() { 2 } else { 1 };
    let named = width == 2 && b"qQwWiIrsx".contains(&letter);
    let open = cursor.peek(width);
    let text = match delimited(open) {
        Some(text) if width == 2 && named && open != b'=' => text,
        Some(text)
            if width == 1 && matches!(open, b'(' | b'[' | b'{' | b'<' | b'|' | b'!' | b'/') =>
        {
            text
        }
        _ => return RuleTurn::Pass,
    };
    if !value_expected(cursor, RUBY_WORDS) && !is_argument(cursor, 1) {
        return RuleTurn::Pass;
    }
    cursor.at += width + 1;
    let filled = !matches!(letter, b'q' | b'w' | b'i' | b's');
    let text = text.escape(b'\\');
    RuleTurn::Text(if filled { text.hole(HASH) } else { text }, 0)
}

fn slash(cursor: &mut CommentCursor<'_>) -> RuleTurn {
    if value_expected(cursor, RUBY_WORDS) {
        cursor.at += 1;
        return RuleTurn::Text(Literal::escaped("/").lines().hole(HASH), 0);
    }
    if !is_argument(cursor, 1) {
        return RuleTurn::Pass;
    }
    cursor.at += 1;
    RuleTurn::Text(Literal::escaped("/").hole(HASH), 0)
}

/// A heredoc of Ruby; after a value or before a small letter, `<<` shifts or appends.
fn ruby_heredoc(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let before = engine.cursor.before();
    let is_value = is_word(before) || matches!(before, b')' | b']');
    heredoc(engine, b"~-", |first| {
        !is_value && (first.is_ascii_uppercase() || first == b'_')
    })
}

/// Records the heredoc that `<<` announces; after one of `marks` its end may be indented. A name with neither
/// a mark nor quotes counts only if its first byte `fits`.
fn heredoc(engine: &mut TableLexer<'_, '_>, marks: &[u8], fits: impl Fn(u8) -> bool) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    let mark = usize::from(marks.contains(&cursor.peek(2)));
    let quote = cursor.peek(2 + mark);
    let quoted = usize::from(matches!(quote, b'"' | b'\'' | b'`'));
    let name = cursor.at + 2 + mark + quoted;
    let length = if quoted == 1 {
        quoted_name(cursor, name, quote)
    } else {
        cursor.word(name)
    };
    let first = cursor.byte(name);
    if length == 0 || first.is_ascii_digit() || (mark + quoted == 0 && !fits(first)) {
        cursor.at += 2;
        return RuleTurn::Moved;
    }
    cursor.at = name + length + quoted;
    let close = &cursor.bytes[name..name + length];
    engine.heredocs.push(Heredoc {
        close,
        indented: mark == 1,
    });
    RuleTurn::Moved
}

/// Length of the name that ends with `quote`; 0 if it isn't closed nearby.
fn quoted_name(cursor: &CommentCursor<'_>, name: usize, quote: u8) -> usize {
    let rest = cursor.bytes.get(name..).unwrap_or_default();
    let end = rest
        .iter()
        .take(200)
        .position(|byte| *byte == quote || *byte == b'\n');
    end.filter(|end| rest[*end] == quote).unwrap_or(0)
}

pub(crate) static PERL: Syntax = Syntax {
    lines: &["#"],
    texts: &[
        Literal::escaped("\"").lines(),
        Literal::escaped("'").lines(),
        Literal::escaped("`").lines(),
    ],
    asks: b"=_$@%&/<qmsyt'",
    rule: perl_rule,
    ..Syntax::PLAIN
};

fn perl_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'=' if cursor.at_line_start() && cursor.peek(1).is_ascii_alphabetic() => {
            let end = cursor.find(cursor.at, "\n=cut");
            cursor.take(
                CommentKind::Doc,
                end.map_or(cursor.bytes.len(), |end| cursor.line_end(end + 1)),
            );
        }
        b'_' if cursor.at_line_start() && ends_program(cursor) => return RuleTurn::Leave,
        b'$' => cursor.at += variable(cursor),
        b'@' | b'%' | b'&' if cursor.peek(1) == b'$' => cursor.at += 1,
        b'@' | b'%' | b'&' if is_word(cursor.peek(1)) => {
            cursor.at += 1 + cursor.word(cursor.at + 1)
        }
        b'\'' if is_word(cursor.before()) => cursor.at += 1,
        b'/' if value_expected(cursor, PERL_WORDS) => {
            cursor.at += 1;
            return RuleTurn::Text(Literal::escaped("/").lines(), 0);
        }
        b'/' if cursor.peek(1) == b'/' => cursor.at += 2,
        b'<' if cursor.sees("<<") => {
            return heredoc(engine, b"~", |first| {
                first.is_ascii_alphabetic() || first == b'_'
            });
        }
        b'q' | b'm' | b's' | b'y' | b't' => return quote_like(cursor),
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// Length of the variable at the cursor, as far as its characters could have another meaning: `$#x`, `$'`,
/// `$y`.
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

/// `q{}`, `m//`, `s{}{}`, `tr///` and similar; anything else that begins with these letters is skipped as a
/// name.
fn quote_like(cursor: &mut CommentCursor<'_>) -> RuleTurn {
    let length = cursor.word(cursor.at);
    let name = &cursor.rest()[..length];
    let parts = match name {
        b"q" | b"qq" | b"qw" | b"qr" | b"qx" | b"m" => 1,
        b"s" | b"tr" | b"y" => 2,
        _ => 0,
    };
    // After a slash they are flags of the expression that it ends.
    if parts == 0
        || is_word(cursor.before())
        || cursor.before() == b'/'
        || matches!(cursor.before(), b'>' | b'{') && cursor.peek(length) == b'}'
    {
        cursor.at += length.max(1);
        return RuleTurn::Moved;
    }
    let blank = cursor.rest()[length..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let open = cursor.peek(length + blank);
    let comma = open == b',' && (blank > 0 || !matches!(name, b"s" | b"m" | b"tr"));
    let assigned = comma || matches!(open, b'=' | b';' | b')') || (blank > 0 && open == b'#');
    let called = matches!(cursor.before(), b'>' | b'-')
        || (length + blank + 1 < cursor.rest().len()
            && cursor.rest()[length + blank..].starts_with(b"=>"));
    let Some(text) = delimited(open).filter(|_| !assigned && !called) else {
        cursor.at += length;
        return RuleTurn::Moved;
    };
    cursor.at += length + blank + 1;
    skip_delimited(cursor, text);
    if parts == 2 && text.nest.is_none() {
        skip_delimited(cursor, text);
    } else if parts == 2 {
        let blank = cursor
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if let Some(second) = delimited(cursor.peek(blank)) {
            cursor.at += blank + 1;
            skip_delimited(cursor, second);
        }
    }
    if matches!(name, b"m" | b"qr" | b"s" | b"tr" | b"y") {
        cursor.at += cursor.word(cursor.at);
    }
    RuleTurn::Moved
}

/// Moves past the end of `text`.
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
