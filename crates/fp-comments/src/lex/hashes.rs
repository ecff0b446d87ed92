//! Languages with `#` or `--` comments. The same signs have other meanings in them, so most need a rule of
//! their own.

use super::c_like::{behind_name, char_or_quote};
use super::cursor::is_word;
use super::engine::{
    BlockMarks, DOLLAR, DOLLAR_PARENTHESIS, FORMAT, HASH, Literal, RuleTurn, Syntax, TableLexer,
};
use super::ruby_perl::delimited;
use crate::CommentKind;

const BASE: Syntax = Syntax {
    lines: &["#"],
    texts: &[Literal::escaped("\""), Literal::escaped("'")],
    ..Syntax::PLAIN
};

pub(crate) static PYTHON: Syntax = Syntax {
    texts: &[
        Literal::escaped("\"\"\"").lines(),
        Literal::escaped("'''").lines(),
        Literal::escaped("\""),
        Literal::escaped("'"),
    ],
    asks: b"\"'",
    rule: python_rule,
    ..BASE
};

pub(crate) static TOML: Syntax = Syntax {
    texts: &[
        Literal::escaped("\"\"\"").lines().greedy(),
        Literal::raw("'''").lines().greedy(),
        Literal::escaped("\""),
        Literal::raw("'"),
    ],
    ..BASE
};

pub(crate) static GRAPHQL: Syntax = Syntax {
    texts: &[
        Literal {
            doc: true,
            ..Literal::raw("\"\"\"")
        },
        Literal::escaped("\""),
    ],
    ..BASE
};

pub(crate) static R: Syntax = Syntax {
    texts: &[
        Literal::escaped("\"").lines(),
        Literal::escaped("'").lines(),
        Literal::raw("`"),
    ],
    doc: |rest| rest.starts_with(b"#'"),
    asks: b"rR%",
    rule: r_rule,
    ..BASE
};

pub(crate) static JULIA: Syntax = Syntax {
    blocks: &[BlockMarks {
        open: "#=",
        close: "=#",
        nested: true,
    }],
    texts: &[
        Literal::escaped("\"\"\"").lines().hole(DOLLAR_PARENTHESIS),
        Literal::escaped("\"").lines().hole(DOLLAR_PARENTHESIS),
        Literal::escaped("```").lines(),
        Literal::escaped("`").lines(),
    ],
    asks: b"'",
    rule: julia_rule,
    ..BASE
};

pub(crate) static NIM: Syntax = Syntax {
    blocks: &[
        BlockMarks {
            open: "##[",
            close: "]##",
            nested: true,
        },
        BlockMarks {
            open: "#[",
            close: "]#",
            nested: true,
        },
    ],
    texts: &[
        Literal::raw("\"\"\"").lines().greedy(),
        Literal::escaped("\""),
    ],
    doc: |rest| rest.starts_with(b"##") && rest.get(2) != Some(&b'#'),
    asks: b"'\"",
    rule: nim_rule,
    ..BASE
};

pub(crate) static ELIXIR: Syntax = Syntax {
    texts: &[
        Literal::escaped("\"\"\"").lines().hole(HASH),
        Literal::escaped("'''").lines().hole(HASH),
        Literal::escaped("\"").lines().hole(HASH),
        Literal::escaped("'").lines().hole(HASH),
    ],
    asks: b"~?",
    rule: elixir_rule,
    ..BASE
};

pub(crate) static NIX: Syntax = Syntax {
    blocks: &[BlockMarks {
        open: "/*",
        close: "*/",
        nested: false,
    }],
    texts: &[Literal::escaped("\"").lines().hole(DOLLAR)],
    asks: b"'",
    rule: nix_rule,
    ..BASE
};

pub(crate) static POWERSHELL: Syntax = Syntax {
    lines: &[],
    blocks: &[BlockMarks {
        open: "<#",
        close: "#>",
        nested: false,
    }],
    texts: &[
        Literal::between("@\"", "\n\"@").lines(),
        Literal::between("@'", "\n'@").lines(),
        Literal::raw("\"")
            .escape(b'`')
            .doubled()
            .lines()
            .hole(DOLLAR_PARENTHESIS),
        Literal::raw("'").doubled().lines(),
    ],
    asks: b"#`$",
    rule: powershell_rule,
    ..BASE
};

pub(crate) static CMAKE: Syntax = Syntax {
    texts: &[Literal::escaped("\"").lines()],
    asks: b"#[\\",
    rule: cmake_rule,
    ..BASE
};

/// Settings with nothing but `#` and two quotes.
pub(crate) static PLAIN: Syntax = Syntax {
    asks: b"#\\",
    rule: word_start_rule,
    ..BASE
};

/// Strings with holes: those with an `f` or `t` in their prefix.
fn python_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    let prefix = cursor.word_before(cursor.at);
    let has = |letter: u8| prefix.iter().any(|byte| byte.eq_ignore_ascii_case(&letter));
    if prefix.len() > 2 || !(has(b'f') || has(b't')) {
        return RuleTurn::Pass;
    }
    let Some(text) = PYTHON.texts.iter().find(|text| cursor.sees(text.open)) else {
        return RuleTurn::Pass;
    };
    cursor.at += text.open.len();
    RuleTurn::Text(text.hole(FORMAT), 0)
}

/// Raw strings, and operators between percent signs.
fn r_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    if cursor.peek(0) == b'%' {
        let rest = &cursor.rest()[1..];
        let length = rest
            .iter()
            .take(12)
            .position(|byte| *byte == b'%' || byte.is_ascii_whitespace());
        cursor.at += length
            .filter(|length| rest[*length] == b'%')
            .map_or(1, |length| length + 2);
        return RuleTurn::Moved;
    }
    let (quote, dashes) = (cursor.peek(1), cursor.run(cursor.at + 2, b'-'));
    let close = match cursor.peek(2 + dashes) {
        b'(' => ')',
        b'[' => ']',
        b'{' => '}',
        _ => return RuleTurn::Pass,
    };
    if is_word(cursor.before()) || !matches!(quote, b'"' | b'\'') {
        return RuleTurn::Pass;
    }
    let close = format!("{close}{}{}", "-".repeat(dashes), char::from(quote));
    let body = cursor.at + 3 + dashes;
    cursor.skip_past(body, &close);
    RuleTurn::Moved
}

/// Tells a transposing quote from one that begins a character.
fn julia_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let before = engine.cursor.before();
    if is_word(before) || matches!(before, b')' | b']' | b'}' | b'\'' | b'.') {
        engine.cursor.at += 1;
        return RuleTurn::Moved;
    }
    char_or_quote(engine)
}

fn nim_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let named = behind_name(engine);
    if engine.cursor.peek(0) == b'\'' {
        if !named {
            return char_or_quote(engine);
        }
        engine.cursor.at += 1;
        return RuleTurn::Moved;
    }
    if !named || engine.cursor.sees("\"\"\"") {
        return RuleTurn::Pass;
    }
    engine.cursor.at += 1;
    RuleTurn::Text(Literal::raw("\"").doubled(), 0)
}

/// Sigils, and characters after a question mark.
fn elixir_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    if cursor.peek(0) == b'?' {
        cursor.at += match (is_word(cursor.before()), cursor.peek(1)) {
            (true, _) => 1,
            (false, b'\\') => 3,
            (false, b'\n') => 1,
            (false, _) => 2,
        };
        return RuleTurn::Moved;
    }
    let letters = cursor.word(cursor.at + 1);
    let raw = cursor.peek(1).is_ascii_uppercase();
    if letters == 0 || (!raw && letters != 1) {
        return RuleTurn::Pass;
    }
    let open = cursor.at + 1 + letters;
    let rest = &cursor.bytes[open..];
    let (text, width) = if rest.starts_with(b"\"\"\"") {
        (Literal::raw("\"\"\""), 3)
    } else if rest.starts_with(b"'''") {
        (Literal::raw("'''"), 3)
    } else {
        match delimited(cursor.byte(open)) {
            Some(text) if !is_word(cursor.byte(open)) => (Literal { nest: None, ..text }, 1),
            _ => return RuleTurn::Pass,
        }
    };
    cursor.at = open + width;
    let text = text.lines().escape(b'\\');
    RuleTurn::Text(if raw { text } else { text.hole(HASH) }, 0)
}

/// Strings between two single quotes, with the escapes `'''`, `''$` and `''\`.
fn nix_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    if !cursor.sees("''") {
        return RuleTurn::Pass;
    }
    let mut from = cursor.at + 2;
    while let Some(found) = cursor.find(from, "''") {
        match cursor.byte(found + 2) {
            b'\'' | b'$' => from = found + 3,
            b'\\' => from = found + 4,
            _ => {
                cursor.at = found + 2;
                return RuleTurn::Moved;
            }
        }
    }
    cursor.at = cursor.bytes.len();
    RuleTurn::Moved
}

/// A comment can't begin inside a word, and a backtick escapes the next byte.
fn powershell_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    match (engine.cursor.peek(0), engine.cursor.before()) {
        (b'`', _) => engine.cursor.at += 2,
        (b'$', _) => {
            engine.cursor.at += 1 + usize::from(matches!(engine.cursor.peek(1), b'$' | b'?' | b'^'))
        }
        (_, before)
            if is_word(before) || matches!(before, b'$' | b'-' | b'.' | b':' | b'/' | b'\\') =>
        {
            engine.cursor.at += 1;
        }
        _ => engine.take_line(),
    }
    RuleTurn::Moved
}

/// Comments and arguments between `[==[` and `]==]`.
fn cmake_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    let comment = usize::from(cursor.peek(0) == b'#');
    if cursor.peek(0) == b'\\' {
        cursor.at += 2;
        return RuleTurn::Moved;
    }
    long_bracket(engine, comment)
}

/// A comment begins only at the start of a word.
fn word_start_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    if engine.cursor.peek(0) == b'\\' {
        engine.cursor.at += 2;
        return RuleTurn::Moved;
    }
    if matches!(
        engine.cursor.before(),
        0 | b' ' | b'\t' | b'\n' | b';' | b'{' | b'}' | b'(' | b')'
    ) {
        return RuleTurn::Pass;
    }
    engine.cursor.at += 1;
    RuleTurn::Moved
}

pub(crate) static LUA: Syntax = Syntax {
    lines: &["--"],
    texts: &[Literal::escaped("\""), Literal::escaped("'")],
    doc: |rest| rest.starts_with(b"---") && rest.get(3) != Some(&b'-'),
    asks: b"-[",
    rule: lua_rule,
    ..Syntax::PLAIN
};

pub(crate) static SQL: Syntax = Syntax {
    lines: &["--"],
    blocks: &[BlockMarks {
        open: "/*",
        close: "*/",
        nested: false,
    }],
    texts: &[
        Literal::raw("\"").doubled().lines(),
        Literal::raw("`").doubled(),
    ],
    asks: b"'$#[",
    rule: sql_rule,
    ..Syntax::PLAIN
};

/// Lua's comments and strings between `[==[` and `]==]`.
fn lua_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let mark = if engine.cursor.sees("--") { 2 } else { 0 };
    long_bracket(engine, mark)
}

/// Skips `[==[ … ]==]`: a comment if the bracket follows a mark of `comment` bytes, else a string.
pub(super) fn long_bracket(engine: &mut TableLexer<'_, '_>, comment: usize) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    let bracket = cursor.at + comment;
    let equals = cursor.run(bracket + 1, b'=');
    if cursor.byte(bracket) != b'[' || cursor.byte(bracket + 1 + equals) != b'[' {
        return RuleTurn::Pass;
    }
    let close = format!("]{}]", "=".repeat(equals));
    let body = bracket + equals + 2;
    if comment > 0 {
        cursor.take_block(CommentKind::Block, body, &close);
    } else {
        cursor.skip_past(body, &close);
    }
    RuleTurn::Moved
}

/// Literals, dollar quotes, names in brackets, and MySQL's `#` at the start of a line.
fn sql_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'\'' => {
            literal(engine);
            RuleTurn::Moved
        }
        b'$' if !is_word(cursor.before()) => {
            let length = cursor.word(cursor.at + 1);
            if cursor.peek(1).is_ascii_digit() || cursor.peek(1 + length) != b'$' {
                return RuleTurn::Pass;
            }
            let tag = &cursor.rest()[..length + 2];
            let body = &cursor.rest()[tag.len()..];
            let found = memchr::memmem::find(body, tag);
            cursor.at += found.map_or(cursor.rest().len(), |found| found + 2 * tag.len());
            RuleTurn::Moved
        }
        b'#' if cursor.begins_line(cursor.at) && matches!(cursor.peek(1), b' ' | b'\t') => {
            cursor.take_line(CommentKind::Line);
            RuleTurn::Moved
        }
        b'[' if !is_word(cursor.before()) => {
            let name = &cursor.rest()[1..];
            let end = name
                .iter()
                .take(128)
                .position(|byte| matches!(byte, b'[' | b']' | b'\n'));
            cursor.at += end
                .filter(|end| name[*end] == b']')
                .map_or(1, |end| end + 2);
            RuleTurn::Moved
        }
        _ => RuleTurn::Pass,
    }
}

/// Skips a literal. A backslash before a quote is an escape in some dialects and an ordinary character in
/// others: it counts as an escape only if the literal visibly continues.
fn literal(engine: &mut TableLexer<'_, '_>) {
    let cursor = &mut *engine.cursor;
    let prefix = cursor.word_before(cursor.at);
    let escapes = prefix.eq_ignore_ascii_case(b"e");
    let mut index = cursor.at + 1;
    while let Some(found) =
        memchr::memchr2(b'\'', b'\\', cursor.bytes.get(index..).unwrap_or_default())
    {
        index += found;
        let (next, second) = (cursor.byte(index + 1), cursor.byte(index + 2));
        if cursor.byte(index) == b'\\' {
            let ends = matches!(
                second,
                0 | b',' | b')' | b';' | b'\'' | b' ' | b'\n' | b'\r' | b'\t'
            );
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
