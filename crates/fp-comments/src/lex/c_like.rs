//! Languages with `//` and `/* */` share one table; each adds its own literals and exceptions.

use super::cursor::{SCRIPT_WORDS, is_word, skip_regex, value_expected};
use super::engine::{
    BlockMarks, DOLLAR, FORMAT, Heredoc, Literal, RuleTurn, SLASH_PARENTHESIS, Syntax, TableLexer,
};
use crate::CommentKind;

const FLAT: &[BlockMarks] = &[BlockMarks {
    open: "/*",
    close: "*/",
    nested: false,
}];
const NESTED: &[BlockMarks] = &[BlockMarks {
    open: "/*",
    close: "*/",
    nested: true,
}];
const QUOTES: &[Literal] = &[Literal::escaped("\""), Literal::escaped("'")];
const TRIPLE: Literal = Literal::escaped("\"\"\"").lines();

/// Comments as in C, documentation as in doxygen, javadoc and rustdoc, strings in double and single quotes.
const BASE: Syntax = Syntax {
    lines: &["//"],
    blocks: FLAT,
    texts: QUOTES,
    doc: is_doc,
    ..Syntax::PLAIN
};

pub(crate) static PROTOBUF: Syntax = BASE;
pub(crate) static JSONC: Syntax = BASE;

pub(crate) static C: Syntax = Syntax {
    asks: b"'#/R",
    rule: c_rule,
    ..BASE
};

pub(crate) static RUST: Syntax = Syntax {
    blocks: NESTED,
    texts: &[Literal::escaped("\"").lines()],
    asks: b"'r",
    rule: rust_rule,
    ..BASE
};

pub(crate) static GO: Syntax = Syntax {
    texts: &[
        Literal::escaped("\""),
        Literal::escaped("'"),
        Literal::raw("`").lines(),
    ],
    ..BASE
};

pub(crate) static JAVA: Syntax = Syntax {
    texts: &[TRIPLE, Literal::escaped("\""), Literal::escaped("'")],
    ..BASE
};

pub(crate) static KOTLIN: Syntax = Syntax {
    blocks: NESTED,
    texts: &[
        Literal::raw("\"\"\"").lines().greedy().hole(DOLLAR),
        Literal::escaped("\"").hole(DOLLAR),
        Literal::escaped("'"),
    ],
    ..BASE
};

pub(crate) static SCALA: Syntax = Syntax {
    texts: &[
        Literal::raw("\"\"\"").lines().greedy(),
        Literal::escaped("\""),
    ],
    blocks: NESTED,
    asks: b"'\"",
    rule: scala_rule,
    ..BASE
};

pub(crate) static GROOVY: Syntax = Syntax {
    texts: &[
        Literal::escaped("\"\"\"").lines().hole(DOLLAR),
        Literal::escaped("'''").lines(),
        Literal::escaped("\"").hole(DOLLAR),
        Literal::escaped("'"),
        Literal::between("$/", "/$").lines(),
    ],
    asks: b"/",
    rule: groovy_rule,
    ..BASE
};

pub(crate) static SWIFT: Syntax = Syntax {
    blocks: NESTED,
    texts: &[
        TRIPLE.hole(SLASH_PARENTHESIS),
        Literal::escaped("\"").hole(SLASH_PARENTHESIS),
    ],
    asks: b"#",
    rule: swift_rule,
    ..BASE
};

pub(crate) static DART: Syntax = Syntax {
    blocks: NESTED,
    texts: &[
        Literal::escaped("\"\"\"").lines().hole(DOLLAR),
        Literal::escaped("'''").lines().hole(DOLLAR),
        Literal::escaped("\"").hole(DOLLAR),
        Literal::escaped("'").hole(DOLLAR),
    ],
    asks: b"r",
    rule: dart_rule,
    ..BASE
};

pub(crate) static CSHARP: Syntax = Syntax {
    asks: b"\"$@#",
    rule: csharp_rule,
    ..BASE
};

pub(crate) static ZIG: Syntax = Syntax {
    blocks: &[],
    asks: b"\\",
    rule: multiline_rule,
    ..BASE
};

pub(crate) static HCL: Syntax = Syntax {
    lines: &["//", "#"],
    texts: &[Literal::escaped("\"").hole(DOLLAR)],
    asks: b"<",
    rule: hcl_rule,
    ..BASE
};

/// True if a comment is `///`, `//!`, `/**` or `/*!`, but not a row of slashes or stars.
pub(crate) fn is_doc(rest: &[u8]) -> bool {
    match rest {
        [b'/', b'/', b'!', ..] | [b'/', b'*', b'!', ..] => true,
        [b'/', b'/', b'/', next @ ..] => next.first() != Some(&b'/'),
        [b'/', b'*', b'*', next @ ..] => !matches!(next.first(), None | Some(b'*' | b'/')),
        _ => false,
    }
}

/// Skips the character literal at the cursor, or just its quote if there is none.
pub(super) fn char_or_quote(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    let width = match cursor.peek(1) {
        b'\\' => 3,
        first => 1 + utf8_width(first),
    };
    let end = (cursor.at + width..cursor.at + width + 10)
        .find(|index| matches!(cursor.byte(*index), b'\'' | b'\n'));
    let escaped = cursor.peek(1) == b'\\';
    let closed =
        end.filter(|end| cursor.byte(*end) == b'\'' && (escaped || *end == cursor.at + width));
    cursor.at = closed.unwrap_or(cursor.at) + 1;
    RuleTurn::Moved
}

/// Number of bytes of the character that begins with `first`.
fn utf8_width(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// True if the cursor is inside or right after a name.
pub(super) fn behind_name(engine: &TableLexer<'_, '_>) -> bool {
    is_word(engine.cursor.before())
}

fn rust_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    if engine.cursor.peek(0) == b'\'' {
        return char_or_quote(engine);
    }
    let prefix = engine.cursor.word_before(engine.cursor.at);
    let hashes = engine.cursor.run(engine.cursor.at + 1, b'#');
    if !matches!(prefix, b"" | b"b" | b"c") || engine.cursor.peek(1 + hashes) != b'"' {
        return RuleTurn::Pass;
    }
    engine.cursor.at += 2 + hashes;
    RuleTurn::Text(Literal::raw("\"").lines(), hashes)
}

/// Digit separators, raw strings, the paths of `#include`, and comments continued by a backslash.
fn c_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'\''
            if cursor
                .word_before(cursor.at)
                .first()
                .is_some_and(u8::is_ascii_digit) =>
        {
            cursor.at += 1;
            RuleTurn::Moved
        }
        b'R' if cursor.peek(1) == b'"'
            && matches!(
                cursor.word_before(cursor.at),
                b"" | b"L" | b"u" | b"U" | b"u8"
            ) =>
        {
            raw_string(engine)
        }
        b'#' if cursor.begins_line(cursor.at) => {
            let line = &cursor.bytes[cursor.at + 1..cursor.line_end(cursor.at)];
            let name = line.trim_ascii_start();
            if name.starts_with(b"include") || name.starts_with(b"import") {
                let path = line.iter().position(|byte| matches!(byte, b'<' | b'"'));
                let end = line.iter().position(|byte| *byte == b'>');
                if let (Some(path), Some(end)) = (path, end)
                    && line[path] == b'<'
                {
                    cursor.at += end;
                }
            } else if name.starts_with(b"error") || name.starts_with(b"warning") {
                cursor.at = cursor.line_end(cursor.at) - 1;
            }
            cursor.at += 1;
            RuleTurn::Moved
        }
        b'/' if cursor.peek(1) == b'/' => {
            let kind = if is_doc(cursor.rest()) {
                CommentKind::Doc
            } else {
                CommentKind::Line
            };
            let mut end = cursor.line_end(cursor.at);
            while cursor.byte(end - 1) == b'\\' && end < cursor.bytes.len() {
                let next = if cursor.byte(end) == b'\r' {
                    end + 2
                } else {
                    end + 1
                };
                end = cursor.line_end(next.min(cursor.bytes.len()));
            }
            cursor.take(kind, end);
            RuleTurn::Moved
        }
        _ => RuleTurn::Pass,
    }
}

/// Skips `R"mark( … )mark"`.
fn raw_string(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    let body = &cursor.rest()[2..];
    let Some(length) = body.iter().take(17).position(|byte| *byte == b'(') else {
        return RuleTurn::Pass;
    };
    let mut close = vec![b')'];
    close.extend_from_slice(&body[..length]);
    close.push(b'"');
    let found = memchr::memmem::find(body, &close);
    cursor.at = found.map_or(cursor.bytes.len(), |found| {
        cursor.at + 2 + found + close.len()
    });
    RuleTurn::Moved
}

fn scala_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &*engine.cursor;
    if cursor.peek(0) == b'\'' {
        return char_or_quote(engine);
    }
    if !is_word(cursor.before()) {
        return RuleTurn::Pass;
    }
    let (text, width) = if cursor.sees("\"\"\"") {
        (Literal::raw("\"\"\"").lines().greedy(), 3)
    } else {
        (Literal::escaped("\""), 1)
    };
    engine.cursor.at += width;
    RuleTurn::Text(text.hole(DOLLAR), 0)
}

fn groovy_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    if matches!(engine.cursor.peek(1), b'/' | b'*') || !value_expected(engine.cursor, SCRIPT_WORDS)
    {
        return RuleTurn::Pass;
    }
    skip_regex(engine.cursor);
    RuleTurn::Moved
}

fn swift_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let hashes = engine.cursor.run(engine.cursor.at, b'#');
    let behind = engine.cursor.at + hashes;
    let (text, width) = match engine.cursor.byte(behind) {
        b'"' if engine.cursor.bytes[behind..].starts_with(b"\"\"\"") => {
            (Literal::raw("\"\"\"").lines(), 3)
        }
        b'"' => (Literal::raw("\""), 1),
        b'/' => (Literal::raw("/").lines(), 1),
        _ => {
            engine.cursor.at = behind;
            return RuleTurn::Moved;
        }
    };
    engine.cursor.at = behind + width;
    RuleTurn::Text(text, hashes)
}

fn dart_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    if behind_name(engine) {
        engine.cursor.at += 1;
        return RuleTurn::Moved;
    }
    let raw = [
        ("r'''", Literal::raw("'''").lines()),
        ("r\"\"\"", Literal::raw("\"\"\"").lines()),
    ];
    let short = [("r'", Literal::raw("'")), ("r\"", Literal::raw("\""))];
    for (open, text) in raw.into_iter().chain(short) {
        if engine.cursor.sees(open) {
            engine.cursor.at += open.len();
            return RuleTurn::Text(text, 0);
        }
    }
    RuleTurn::Pass
}

/// Verbatim, interpolated and raw strings, and directives, whose text is no code.
fn csharp_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    if cursor.peek(0) == b'#' {
        let name = &cursor.rest()[1..];
        let free = [
            &b"region"[..],
            b"endregion",
            b"error",
            b"warning",
            b"pragma",
        ];
        if cursor.begins_line(cursor.at)
            && free
                .iter()
                .any(|free| name.trim_ascii_start().starts_with(free))
        {
            cursor.at = cursor.line_end(cursor.at);
            return RuleTurn::Moved;
        }
        return RuleTurn::Pass;
    }
    let prefix = cursor
        .rest()
        .iter()
        .take_while(|byte| matches!(byte, b'$' | b'@'))
        .count();
    let marks = &cursor.rest()[..prefix];
    let quotes = cursor.run(cursor.at + prefix, b'"');
    let (verbatim, filled) = (marks.contains(&b'@'), marks.contains(&b'$'));
    if quotes == 0 {
        cursor.at += prefix;
        return RuleTurn::Moved;
    }
    if quotes >= 3 && !verbatim {
        let body = cursor.at + prefix + quotes;
        let close = "\"".repeat(quotes);
        cursor.skip_past(body, &close);
        return RuleTurn::Moved;
    }
    let mut text = if verbatim {
        Literal::raw("\"").lines().doubled()
    } else {
        Literal::escaped("\"")
    };
    if filled {
        text = text.hole(FORMAT);
    }
    cursor.at += prefix + 1;
    RuleTurn::Text(text, 0)
}

/// Zig's `\\` begins a line of a string.
fn multiline_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    if engine.cursor.sees("\\\\") {
        engine.cursor.at = engine.cursor.line_end(engine.cursor.at);
        return RuleTurn::Moved;
    }
    RuleTurn::Pass
}

fn hcl_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    if !cursor.sees("<<") {
        return RuleTurn::Pass;
    }
    let dash = usize::from(cursor.peek(2) == b'-');
    let name = cursor.at + 2 + dash;
    let length = cursor.word(name);
    let close = &cursor.bytes[name..name + length];
    cursor.at = name + length;
    if length > 0 {
        engine.heredocs.push(Heredoc {
            close,
            indented: true,
        });
    }
    RuleTurn::Moved
}
