//! Ruby.

use super::cursor::{CommentCursor, RUBY_WORDS, is_word, value_expected};
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

/// All that may enclose a text; as pairs, so that each can be its own mark.
const DELIMITERS: &str = "!\"#$%&'*+,-./:;=?@\\^_`|~)]}>";

/// A text that begins with `open` and ends with the bracket that closes it, or with the same byte.
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
    Some(Literal { nest, ..Literal::raw(close) }.lines())
}

fn ruby_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'=' if cursor.at_line_start() && cursor.sees("=begin") => {
            let end = cursor.find(cursor.at, "\n=end");
            cursor.take(CommentKind::Block, end.map_or(cursor.bytes.len(), |end| cursor.line_end(end + 1)));
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
        b'<' if cursor.sees("<<") => return heredoc(engine),
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// Whether this line is the one behind which no code comes.
fn ends_program(cursor: &CommentCursor<'_>) -> bool {
    &cursor.bytes[cursor.at..cursor.line_end(cursor.at)] == b"__END__"
}

/// Whether an argument without parentheses may begin at the cursor: `puts /x/`, `puts %w[a]`, not `a / b`.
fn is_argument(cursor: &CommentCursor<'_>, width: usize) -> bool {
    let end = cursor.code_end(cursor.at);
    let named = end > cursor.start && is_word(cursor.byte(end - 1)) && !cursor.byte(end - 1).is_ascii_digit();
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
        Some(text) if width == 1 && matches!(open, b'(' | b'[' | b'{' | b'<' | b'|' | b'!' | b'/') => text,
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

fn heredoc(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    let mark = usize::from(matches!(cursor.peek(2), b'~' | b'-'));
    let quote = cursor.peek(2 + mark);
    let quoted = usize::from(matches!(quote, b'"' | b'\'' | b'`'));
    let name = cursor.at + 2 + mark + quoted;
    let length = if quoted == 1 { quoted_name(cursor, name, quote) } else { cursor.word(name) };
    let bare = mark + quoted == 0;
    let upper = cursor.byte(name).is_ascii_uppercase() || cursor.byte(name) == b'_';
    let value = is_word(cursor.before()) || matches!(cursor.before(), b')' | b']');
    if length == 0 || (bare && (!upper || value)) || cursor.byte(name).is_ascii_digit() {
        cursor.at += 2;
        return RuleTurn::Moved;
    }
    cursor.at = name + length + quoted;
    let close = &cursor.bytes[name..name + length];
    engine.heredocs.push(Heredoc { close, indented: mark == 1 });
    RuleTurn::Moved
}

/// How long the name is that ends with `quote`; 0 if it isn't closed soon.
pub(super) fn quoted_name(cursor: &CommentCursor<'_>, name: usize, quote: u8) -> usize {
    let rest = cursor.bytes.get(name..).unwrap_or_default();
    let end = rest.iter().take(200).position(|byte| *byte == quote || *byte == b'\n');
    end.filter(|end| rest[*end] == quote).unwrap_or(0)
}
