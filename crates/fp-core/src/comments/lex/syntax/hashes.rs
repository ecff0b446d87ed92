//! Languages with `#`.

use super::c_like::{behind_name, char_or_quote};
use super::dashes::long_bracket;
use super::{Block, DOLLAR, DOLLAR_PARENTHESIS, FORMAT, HASH, Syntax, Text};
use crate::comments::lex::cursor::is_word;
use crate::comments::lex::engine::{Engine, Turn};

const BASE: Syntax =
    Syntax { lines: &["#"], texts: &[Text::escaped("\""), Text::escaped("'")], ..Syntax::PLAIN };

pub(in crate::comments::lex) static PYTHON: Syntax = Syntax {
    texts: &[
        Text::escaped("\"\"\"").lines(),
        Text::escaped("'''").lines(),
        Text::escaped("\""),
        Text::escaped("'"),
    ],
    asks: b"\"'",
    rule: python_rule,
    ..BASE
};

pub(in crate::comments::lex) static TOML: Syntax = Syntax {
    texts: &[
        Text::escaped("\"\"\"").lines().greedy(),
        Text::raw("'''").lines().greedy(),
        Text::escaped("\""),
        Text::raw("'"),
    ],
    ..BASE
};

pub(in crate::comments::lex) static GRAPHQL: Syntax =
    Syntax { texts: &[Text { doc: true, ..Text::raw("\"\"\"") }, Text::escaped("\"")], ..BASE };

pub(in crate::comments::lex) static R: Syntax = Syntax {
    texts: &[Text::escaped("\"").lines(), Text::escaped("'").lines(), Text::raw("`")],
    doc: |rest| rest.starts_with(b"#'"),
    asks: b"rR%",
    rule: r_rule,
    ..BASE
};

pub(in crate::comments::lex) static JULIA: Syntax = Syntax {
    blocks: &[Block { open: "#=", close: "=#", nested: true }],
    texts: &[
        Text::escaped("\"\"\"").lines().hole(DOLLAR_PARENTHESIS),
        Text::escaped("\"").lines().hole(DOLLAR_PARENTHESIS),
        Text::escaped("```").lines(),
        Text::escaped("`").lines(),
    ],
    asks: b"'",
    rule: julia_rule,
    ..BASE
};

pub(in crate::comments::lex) static NIM: Syntax = Syntax {
    blocks: &[
        Block { open: "##[", close: "]##", nested: true },
        Block { open: "#[", close: "]#", nested: true },
    ],
    texts: &[Text::raw("\"\"\"").lines().greedy(), Text::escaped("\"")],
    doc: |rest| rest.starts_with(b"##") && rest.get(2) != Some(&b'#'),
    asks: b"'\"",
    rule: nim_rule,
    ..BASE
};

pub(in crate::comments::lex) static ELIXIR: Syntax = Syntax {
    texts: &[
        Text::escaped("\"\"\"").lines().hole(HASH),
        Text::escaped("'''").lines().hole(HASH),
        Text::escaped("\"").lines().hole(HASH),
        Text::escaped("'").lines().hole(HASH),
    ],
    asks: b"~?",
    rule: elixir_rule,
    ..BASE
};

pub(in crate::comments::lex) static NIX: Syntax = Syntax {
    blocks: &[Block { open: "/*", close: "*/", nested: false }],
    texts: &[Text::escaped("\"").lines().hole(DOLLAR)],
    asks: b"'",
    rule: nix_rule,
    ..BASE
};

pub(in crate::comments::lex) static POWERSHELL: Syntax = Syntax {
    lines: &[],
    blocks: &[Block { open: "<#", close: "#>", nested: false }],
    texts: &[
        Text::between("@\"", "\n\"@").lines(),
        Text::between("@'", "\n'@").lines(),
        Text::raw("\"").escape(b'`').doubled().lines().hole(DOLLAR_PARENTHESIS),
        Text::raw("'").doubled().lines(),
    ],
    asks: b"#`$",
    rule: powershell_rule,
    ..BASE
};

pub(in crate::comments::lex) static CMAKE: Syntax =
    Syntax { texts: &[Text::escaped("\"").lines()], asks: b"#[\\", rule: cmake_rule, ..BASE };

/// Settings with nothing but `#` and two quotes.
pub(in crate::comments::lex) static PLAIN: Syntax = Syntax { asks: b"#\\", rule: word_start_rule, ..BASE };

/// Strings with holes: those whose prefix has an `f` or `t`.
fn python_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let cursor = &mut *engine.cursor;
    let prefix = cursor.word_before(cursor.at);
    let has = |letter: u8| prefix.iter().any(|byte| byte.eq_ignore_ascii_case(&letter));
    if prefix.len() > 2 || !(has(b'f') || has(b't')) {
        return Turn::Pass;
    }
    let Some(text) = PYTHON.texts.iter().find(|text| cursor.sees(text.open)) else { return Turn::Pass };
    cursor.at += text.open.len();
    Turn::Text(text.hole(FORMAT), 0)
}

/// Raw strings, and operators between percent signs.
fn r_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let cursor = &mut *engine.cursor;
    if cursor.peek(0) == b'%' {
        let rest = &cursor.rest()[1..];
        let length = rest.iter().take(12).position(|byte| *byte == b'%' || byte.is_ascii_whitespace());
        cursor.at += length.filter(|length| rest[*length] == b'%').map_or(1, |length| length + 2);
        return Turn::Moved;
    }
    let (quote, dashes) = (cursor.peek(1), cursor.run(cursor.at + 2, b'-'));
    let close = match cursor.peek(2 + dashes) {
        b'(' => ')',
        b'[' => ']',
        b'{' => '}',
        _ => return Turn::Pass,
    };
    if is_word(cursor.before()) || !matches!(quote, b'"' | b'\'') {
        return Turn::Pass;
    }
    let close = format!("{close}{}{}", "-".repeat(dashes), char::from(quote));
    let body = cursor.at + 3 + dashes;
    cursor.skip_past(body, &close);
    Turn::Moved
}

/// Whether a quote transposes or begins a character.
fn julia_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let before = engine.cursor.before();
    if is_word(before) || matches!(before, b')' | b']' | b'}' | b'\'' | b'.') {
        engine.cursor.at += 1;
        return Turn::Moved;
    }
    char_or_quote(engine)
}

fn nim_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let named = behind_name(engine);
    if engine.cursor.peek(0) == b'\'' {
        if !named {
            return char_or_quote(engine);
        }
        engine.cursor.at += 1;
        return Turn::Moved;
    }
    if !named || engine.cursor.sees("\"\"\"") {
        return Turn::Pass;
    }
    engine.cursor.at += 1;
    Turn::Text(Text::raw("\"").doubled(), 0)
}

/// Sigils, and characters behind a question mark.
fn elixir_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let cursor = &mut *engine.cursor;
    if cursor.peek(0) == b'?' {
        cursor.at += match (is_word(cursor.before()), cursor.peek(1)) {
            (true, _) => 1,
            (false, b'\\') => 3,
            (false, b'\n') => 1,
            (false, _) => 2,
        };
        return Turn::Moved;
    }
    let letters = cursor.word(cursor.at + 1);
    let raw = cursor.peek(1).is_ascii_uppercase();
    if letters == 0 || (!raw && letters != 1) {
        return Turn::Pass;
    }
    let open = cursor.at + 1 + letters;
    let rest = &cursor.bytes[open..];
    let (text, width) = if rest.starts_with(b"\"\"\"") {
        (Text::raw("\"\"\""), 3)
    } else if rest.starts_with(b"'''") {
        (Text::raw("'''"), 3)
    } else {
        match super::ruby::delimited(cursor.byte(open)) {
            Some(text) if !is_word(cursor.byte(open)) => (Text { nest: None, ..text }, 1),
            _ => return Turn::Pass,
        }
    };
    cursor.at = open + width;
    let text = text.lines().escape(b'\\');
    Turn::Text(if raw { text } else { text.hole(HASH) }, 0)
}

/// Texts between two single quotes, in which `'''`, `''$` and `''\` are escapes.
fn nix_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let cursor = &mut *engine.cursor;
    if !cursor.sees("''") {
        return Turn::Pass;
    }
    let mut from = cursor.at + 2;
    while let Some(found) = cursor.find(from, "''") {
        match cursor.byte(found + 2) {
            b'\'' | b'$' => from = found + 3,
            b'\\' => from = found + 4,
            _ => {
                cursor.at = found + 2;
                return Turn::Moved;
            }
        }
    }
    cursor.at = cursor.bytes.len();
    Turn::Moved
}

/// A comment only where no word goes on; a backtick takes the meaning from what follows.
fn powershell_rule(engine: &mut Engine<'_, '_>) -> Turn {
    match (engine.cursor.peek(0), engine.cursor.before()) {
        (b'`', _) => engine.cursor.at += 2,
        (b'$', _) => engine.cursor.at += 1 + usize::from(matches!(engine.cursor.peek(1), b'$' | b'?' | b'^')),
        (_, before) if is_word(before) || matches!(before, b'$' | b'-' | b'.' | b':' | b'/' | b'\\') => {
            engine.cursor.at += 1;
        }
        _ => engine.take_line(),
    }
    Turn::Moved
}

/// Comments and arguments between `[==[` and `]==]`.
fn cmake_rule(engine: &mut Engine<'_, '_>) -> Turn {
    let cursor = &mut *engine.cursor;
    let comment = usize::from(cursor.peek(0) == b'#');
    if cursor.peek(0) == b'\\' {
        cursor.at += 2;
        return Turn::Moved;
    }
    long_bracket(engine, comment)
}

/// A comment only where a word can begin.
fn word_start_rule(engine: &mut Engine<'_, '_>) -> Turn {
    if engine.cursor.peek(0) == b'\\' {
        engine.cursor.at += 2;
        return Turn::Moved;
    }
    if matches!(engine.cursor.before(), 0 | b' ' | b'\t' | b'\n' | b';' | b'{' | b'}' | b'(' | b')') {
        return Turn::Pass;
    }
    engine.cursor.at += 1;
    Turn::Moved
}
