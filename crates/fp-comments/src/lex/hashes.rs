//! Languages with `#` or `--` comments. Since these marks can also mean something else, several languages need their
//! own rule.

use super::c_like::{QUOTES, SLASH_STAR};
use super::cursor::{CommentCursor, is_blank, is_word};
use super::engine::{
    APOSTROPHES, BACKTICKS, BlockMarks, DOLLAR, DOLLAR_PARENTHESIS, FORMAT, Fence, HASH, QUOTED,
    Region, RuleTurn, Syntax, TRIPLE, TableLexer,
};
use super::ruby::{DelimitedTexts, delimited_text, delimited_texts};
use crate::CommentKind;

const BASE: Syntax = Syntax {
    lines: &["#"],
    regions: QUOTES,
    ..Syntax::PLAIN
};

const TRIPLE_APOSTROPHES: Region = Region::escaped("'''").spanning_lines();

pub(crate) static PYTHON: Syntax = Syntax {
    regions: &[
        python_format(TRIPLE),
        python_format(TRIPLE_APOSTROPHES),
        TRIPLE,
        TRIPLE_APOSTROPHES,
        python_format(Region::escaped("\"")),
        python_format(Region::escaped("'")),
        Region::escaped("\""),
        Region::escaped("'"),
    ],
    ..BASE
};

/// Gives a string replacement fields if its prefix has an `f` or `t`.
const fn python_format(text: Region) -> Region {
    text.with_holes(FORMAT).beginning(|cursor| {
        let prefix = cursor.word_before();
        prefix.len() <= 2 && prefix.iter().any(|byte| b"fFtT".contains(byte))
    })
}

pub(crate) static TOML: Syntax = Syntax {
    regions: &[
        TRIPLE.repeating(usize::MAX),
        Region::raw("'''").spanning_lines().repeating(usize::MAX),
        Region::escaped("\""),
        Region::raw("'"),
    ],
    ..BASE
};

pub(crate) static GRAPHQL: Syntax = Syntax {
    blocks: &[BlockMarks::flat("\"\"\"", "\"\"\"")],
    regions: &[Region::escaped("\"")],
    is_doc: |rest| rest.starts_with(b"\"\"\""),
    ..BASE
};

pub(crate) static R: Syntax = Syntax {
    regions: &[QUOTED, APOSTROPHES, Region::raw("`")],
    is_doc: |rest| rest.starts_with(b"#'"),
    asks: b"rR%",
    rule: read_r,
    ..BASE
};

pub(crate) static JULIA: Syntax = Syntax {
    blocks: &[BlockMarks::nested("#=", "=#")],
    regions: &[
        TRIPLE.with_holes(DOLLAR_PARENTHESIS),
        QUOTED.with_holes(DOLLAR_PARENTHESIS),
        Region::escaped("```").spanning_lines(),
        BACKTICKS,
    ],
    // After these bytes, a quote is the transpose operator.
    quote_follows: Some(|before| is_word(before) || b")]}'.".contains(&before)),
    ..BASE
};

pub(crate) static NIM: Syntax = Syntax {
    blocks: &[
        BlockMarks::nested("##[", "]##"),
        BlockMarks::nested("#[", "]#"),
    ],
    regions: &[
        Region::raw("\"\"\"").spanning_lines().repeating(usize::MAX),
        Region::raw("\"")
            .skipping(&[("\"\"", 2)])
            .beginning(|cursor| cursor.is_behind_word()),
        Region::escaped("\""),
    ],
    quote_follows: Some(is_word),
    is_doc: |rest| rest.starts_with(b"##") && rest.get(2) != Some(&b'#'),
    ..BASE
};

pub(crate) static ELIXIR: Syntax = Syntax {
    regions: &[
        TRIPLE.with_holes(HASH),
        TRIPLE_APOSTROPHES.with_holes(HASH),
        QUOTED.with_holes(HASH),
        APOSTROPHES.with_holes(HASH),
    ],
    asks: b"~?",
    rule: read_elixir,
    ..BASE
};

pub(crate) static NIX: Syntax = Syntax {
    blocks: SLASH_STAR,
    regions: &[
        QUOTED.with_holes(DOLLAR),
        Region::raw("''")
            .spanning_lines()
            .skipping(&[("'''", 3), ("''$", 3), ("''\\", 4)]),
    ],
    ..BASE
};

pub(crate) static POWERSHELL: Syntax = Syntax {
    lines_begin: |cursor| !cursor.is_behind_word() && !b"$-.:/\\".contains(&cursor.byte_before()),
    blocks: &[BlockMarks::flat("<#", "#>")],
    regions: &[
        Region::delimited("@\"", "\n\"@").spanning_lines(),
        Region::delimited("@'", "\n'@").spanning_lines(),
        Region::raw("\"")
            .spanning_lines()
            .skipping(&[("`", 2), ("\"\"", 2)])
            .with_holes(DOLLAR_PARENTHESIS),
        Region::raw("'").spanning_lines().skipping(&[("''", 2)]),
    ],
    skips: &[("`", 2), ("$$", 2), ("$?", 2), ("$^", 2)],
    ..BASE
};

pub(crate) static CMAKE: Syntax = Syntax {
    regions: &[QUOTED],
    fences: &[Fence::long_bracket("#["), Fence::long_bracket("[")],
    skips: &[("\\", 2)],
    ..BASE
};

/// Configuration files with only `#` comments, which begin at the start of a word, and with both kinds of quotes.
pub(crate) static CONF: Syntax = Syntax {
    lines_begin: |cursor| b"\0 \t\n;{}()".contains(&cursor.byte_before()),
    skips: &[("\\", 2)],
    ..BASE
};

pub(crate) static LUA: Syntax = Syntax {
    lines: &["--"],
    fences: &[Fence::long_bracket("--["), Fence::long_bracket("[")],
    is_doc: |rest| rest.starts_with(b"---") && rest.get(3) != Some(&b'-'),
    ..BASE
};

pub(crate) static SQL: Syntax = Syntax {
    lines: &["--"],
    blocks: SLASH_STAR,
    regions: &[
        Region::raw("\"").spanning_lines().skipping(&[("\"\"", 2)]),
        Region::raw("`").skipping(&[("``", 2)]),
    ],
    fences: &[Fence {
        begins: |cursor| !cursor.is_behind_word() && !cursor.peek(1).is_ascii_digit(),
        ..Fence::new("$", is_word, "$", |tag| format!("${tag}$"))
    }],
    asks: b"'#[",
    rule: read_sql,
    ..Syntax::PLAIN
};

/// Configuration files whose comments take up whole lines.
pub(crate) static PROPERTIES: Syntax = Syntax {
    lines: &["#", "!"],
    lines_begin: |cursor| cursor.begins_line(),
    ..Syntax::PLAIN
};

/// Configuration files whose comments take up whole lines, or follow a value with blanks on both sides of the mark.
pub(crate) static INI: Syntax = Syntax {
    lines: &["#", ";"],
    lines_begin: |cursor| {
        let is_apart = || is_blank(cursor.byte_before()) && is_blank(cursor.peek(1));
        let is_assigned = || matches!(cursor.bytes[cursor.code_end() - 1], b'=' | b':');
        cursor.begins_line() || (is_apart() && !is_assigned())
    },
    regions: &[
        Region::raw("\"").beginning(|cursor| !cursor.begins_line()),
        Region::raw("'").beginning(|cursor| {
            !cursor.begins_line() && matches!(cursor.byte_before(), b' ' | b'\t' | b'=')
        }),
    ],
    ..Syntax::PLAIN
};

/// Assignments with shell-like quoting.
pub(crate) static ENV: Syntax = Syntax {
    lines: &["#"],
    lines_begin: |cursor| b"\0 \t\n;".contains(&cursor.byte_before()),
    regions: &[
        Region::escaped("\"").beginning(|cursor| !cursor.is_behind_word()),
        Region::escaped("`").beginning(|cursor| !cursor.is_behind_word()),
        Region::raw("'").beginning(|cursor| !cursor.is_behind_word()),
    ],
    skips: &[("\\", 2)],
    ..Syntax::PLAIN
};

pub(crate) static MAKEFILE: Syntax = Syntax {
    lines_begin: |cursor| b"\0 \t\n;@".contains(&cursor.byte_before()),
    lines_continue: true,
    ..ENV
};

/// Reads raw strings, and operators between percent signs.
fn read_r(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    if cursor.peek(0) == b'%' {
        let name = cursor.rest()[1..].iter().take(11);
        let length = name
            .take_while(|byte| **byte != b'%' && !byte.is_ascii_whitespace())
            .count();
        let is_operator = cursor.peek(1 + length) == b'%';
        cursor.at += if is_operator { length + 2 } else { 1 };
        return RuleTurn::Moved;
    }
    let (quote, dashes) = (cursor.peek(1), cursor.run_length(cursor.at + 2, b'-'));
    let close = match cursor.peek(2 + dashes) {
        b'(' => ')',
        b'[' => ']',
        b'{' => '}',
        _ => return RuleTurn::Pass,
    };
    if cursor.is_behind_word() || !matches!(quote, b'"' | b'\'') {
        return RuleTurn::Pass;
    }
    let close = format!("{close}{}{}", "-".repeat(dashes), char::from(quote));
    cursor.at = cursor.end_of_mark(cursor.at + 3 + dashes, &close);
    RuleTurn::Moved
}

static SIGILS: DelimitedTexts = delimited_texts(false, HASH);
static RAW_SIGILS: DelimitedTexts = delimited_texts(false, &[]);
static ELIXIR_TRIPLE: [Region; 4] = [
    TRIPLE.with_holes(HASH),
    TRIPLE,
    TRIPLE_APOSTROPHES.with_holes(HASH),
    TRIPLE_APOSTROPHES,
];

/// Reads sigils, and characters after a question mark.
fn read_elixir(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    if cursor.peek(0) == b'?' {
        cursor.at += match cursor.peek(1) {
            b'\n' => 1,
            _ if cursor.is_behind_word() => 1,
            b'\\' => 3,
            _ => 2,
        };
        return RuleTurn::Moved;
    }
    let letters = cursor.name_length(cursor.at + 1);
    let is_raw = cursor.peek(1).is_ascii_uppercase();
    if letters == 0 || (!is_raw && letters != 1) {
        return RuleTurn::Pass;
    }
    let mark = cursor.rest_from(cursor.at + 1 + letters);
    let (width, text) = match (mark, is_raw) {
        ([b'"', b'"', b'"', ..], _) => (3, Some(&ELIXIR_TRIPLE[usize::from(is_raw)])),
        ([b'\'', b'\'', b'\'', ..], _) => (3, Some(&ELIXIR_TRIPLE[2 + usize::from(is_raw)])),
        ([open, ..], true) => (1, delimited_text(&RAW_SIGILS, *open)),
        ([open, ..], false) => (1, delimited_text(&SIGILS, *open)),
        ([], _) => (0, None),
    };
    let Some(text) = text else {
        return RuleTurn::Pass;
    };
    cursor.at += 1 + letters + width;
    RuleTurn::Entered(text)
}

/// Reads literals, names in brackets, and MySQL's `#` at the start of a line.
fn read_sql(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    match cursor.peek(0) {
        b'\'' => cursor.at = sql_literal_end(cursor),
        b'#' if cursor.begins_line() && is_blank(cursor.peek(1)) => {
            cursor.take_line(CommentKind::Line);
        }
        b'[' if !cursor.is_behind_word() => {
            let name = cursor.rest()[1..].iter().take(128);
            let length = name.take_while(|byte| !b"[]\n".contains(byte)).count();
            let is_name = cursor.peek(1 + length) == b']';
            cursor.at += if is_name { length + 2 } else { 1 };
        }
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// The end of the literal at the cursor. A backslash before a quote is an escape in some dialects and an ordinary
/// character in others: it counts as an escape only if the literal visibly continues.
fn sql_literal_end(cursor: &CommentCursor<'_>) -> usize {
    let escapes = cursor.word_before().eq_ignore_ascii_case(b"e");
    let mut at = cursor.at + 1;
    while let Some(found) = memchr::memchr2(b'\'', b'\\', cursor.rest_from(at)) {
        at += found;
        let (next, second) = (cursor.byte_at(at + 1), cursor.byte_at(at + 2));
        at += match cursor.byte_at(at) {
            b'\\' => {
                let ends = b"\0,);' \n\r\t".contains(&second);
                1 + usize::from(escapes || next == b'\\' || (next == b'\'' && !ends))
            }
            _ if next == b'\'' => 2,
            _ => return at + 1,
        };
    }
    cursor.bytes.len()
}
