//! Languages with `//` and `/* */` share one table; each adds its own literals and exceptions.

use super::cursor::SCRIPT_WORDS;
use super::engine::{
    BlockMarks, DOLLAR, FORMAT, Fence, HeredocForm, Region, RuleTurn, SLASH_PARENTHESIS, Syntax,
    TRIPLE, TableLexer,
};

pub(super) const SLASH_STAR: &[BlockMarks] = &[BlockMarks::flat("/*", "*/")];
const NESTED: &[BlockMarks] = &[BlockMarks::nested("/*", "*/")];
pub(super) const QUOTES: &[Region] = &[Region::escaped("\""), Region::escaped("'")];
const RAW_TRIPLE: Region = Region::raw("\"\"\"").spanning_lines().repeating(usize::MAX);

/// Comments as in C, documentation as in doxygen, javadoc and rustdoc, strings in double and single quotes.
pub(super) const BASE: Syntax = Syntax {
    lines: &["//"],
    blocks: SLASH_STAR,
    regions: QUOTES,
    is_doc: is_doc_comment,
    ..Syntax::PLAIN
};

pub(crate) static PROTOBUF: Syntax = BASE;
pub(crate) static JSONC: Syntax = BASE;

pub(crate) static C: Syntax = Syntax {
    lines_continue: true,
    fences: &[Fence {
        begins: |cursor| matches!(cursor.word_before(), b"" | b"L" | b"u" | b"U" | b"u8"),
        ..Fence::new(
            "R\"",
            |byte| byte.is_ascii_graphic() && !b"()\\\"".contains(&byte),
            "(",
            |tag| format!("){tag}\""),
        )
    }],
    asks: b"'#",
    rule: read_c,
    ..BASE
};

pub(crate) static RUST: Syntax = Syntax {
    blocks: NESTED,
    regions: &[Region::escaped("\"").spanning_lines()],
    fences: &[Fence {
        begins: |cursor| matches!(cursor.word_before(), b"" | b"b" | b"c"),
        ..Fence::new("r", |byte| byte == b'#', "\"", |tag| format!("\"{tag}"))
    }],
    quote_follows: Some(|_| false),
    ..BASE
};

pub(crate) static GO: Syntax = Syntax {
    regions: &[
        Region::escaped("\""),
        Region::escaped("'"),
        Region::raw("`").spanning_lines(),
    ],
    ..BASE
};

pub(crate) static JAVA: Syntax = Syntax {
    regions: &[TRIPLE, Region::escaped("\""), Region::escaped("'")],
    ..BASE
};

pub(crate) static KOTLIN: Syntax = Syntax {
    blocks: NESTED,
    regions: &[
        RAW_TRIPLE.with_holes(DOLLAR),
        Region::escaped("\"").with_holes(DOLLAR),
        Region::escaped("'"),
    ],
    ..BASE
};

pub(crate) static SCALA: Syntax = Syntax {
    blocks: NESTED,
    regions: &[
        RAW_TRIPLE
            .with_holes(DOLLAR)
            .beginning(|cursor| cursor.is_behind_word()),
        Region::escaped("\"")
            .with_holes(DOLLAR)
            .beginning(|cursor| cursor.is_behind_word()),
        RAW_TRIPLE,
        Region::escaped("\""),
    ],
    quote_follows: Some(|_| false),
    ..BASE
};

pub(crate) static GROOVY: Syntax = Syntax {
    regions: &[
        TRIPLE.with_holes(DOLLAR),
        Region::escaped("'''").spanning_lines(),
        Region::escaped("\"").with_holes(DOLLAR),
        Region::escaped("'"),
        Region::delimited("$/", "/$").spanning_lines(),
    ],
    asks: b"/",
    rule: read_groovy,
    ..BASE
};

pub(crate) static SWIFT: Syntax = Syntax {
    blocks: NESTED,
    regions: &[
        TRIPLE.with_holes(SLASH_PARENTHESIS),
        Region::escaped("\"").with_holes(SLASH_PARENTHESIS),
    ],
    fences: &[
        swift_fence("\"\"\"", |tag| format!("\"\"\"{tag}"), true),
        swift_fence("\"", |tag| format!("\"{tag}"), false),
        swift_fence("/", |tag| format!("/{tag}"), true),
    ],
    ..BASE
};

const fn swift_fence(then: &'static str, close: fn(&str) -> String, spans_lines: bool) -> Fence {
    Fence {
        begins: |cursor| cursor.byte_before() != b'#',
        least: 1,
        spans_lines,
        ..Fence::new("", |byte| byte == b'#', then, close)
    }
}

pub(crate) static DART: Syntax = Syntax {
    blocks: NESTED,
    regions: &[
        dart_raw("r'''", "'''").spanning_lines(),
        dart_raw("r\"\"\"", "\"\"\"").spanning_lines(),
        dart_raw("r'", "'"),
        dart_raw("r\"", "\""),
        TRIPLE.with_holes(DOLLAR),
        Region::escaped("'''").spanning_lines().with_holes(DOLLAR),
        Region::escaped("\"").with_holes(DOLLAR),
        Region::escaped("'").with_holes(DOLLAR),
    ],
    ..BASE
};

const fn dart_raw(open: &'static str, close: &'static str) -> Region {
    Region::delimited(open, close).beginning(|cursor| !cursor.is_behind_word())
}

/// A string in which two quotes stand for one.
pub(super) const fn verbatim(open: &'static str) -> Region {
    Region::delimited(open, "\"")
        .spanning_lines()
        .skipping(&[("\"\"", 2)])
}

pub(crate) static CSHARP: Syntax = Syntax {
    regions: &[
        verbatim("$@\"").with_holes(FORMAT),
        verbatim("@$\"").with_holes(FORMAT),
        verbatim("@\""),
        Region {
            open: "$\"",
            ..Region::escaped("\"").with_holes(FORMAT)
        },
        Region::escaped("\""),
        Region::escaped("'"),
    ],
    fences: &[csharp_fence("$"), csharp_fence("")],
    asks: b"#",
    rule: read_csharp,
    ..BASE
};

/// A string between three or more quotes, closed by the same number of quotes.
const fn csharp_fence(open: &'static str) -> Fence {
    Fence {
        least: 3,
        ..Fence::new(open, |byte| byte == b'"', "", str::to_owned)
    }
}

pub(crate) static ZIG: Syntax = Syntax {
    blocks: &[],
    regions: &[
        Region::delimited("\\\\", "\n"),
        Region::escaped("\""),
        Region::escaped("'"),
    ],
    ..BASE
};

pub(crate) static HCL: Syntax = Syntax {
    lines: &["//", "#"],
    regions: &[Region::escaped("\"").with_holes(DOLLAR)],
    asks: b"<",
    rule: |lexer| match lexer.cursor.sees("<<") {
        true => lexer.read_heredoc(&HCL_HEREDOC),
        false => RuleTurn::Pass,
    },
    ..BASE
};

const HCL_HEREDOC: HeredocForm = HeredocForm {
    is_always_indented: true,
    ..HeredocForm::PLAIN
};

/// True if a comment is `///`, `//!`, `/**`, `/*!` or `(**`, but not a row of slashes or stars.
pub(super) fn is_doc_comment(rest: &[u8]) -> bool {
    match rest {
        [b'/', b'/' | b'*', b'!', ..] => true,
        [b'/', b'/', b'/', next @ ..] => next.first() != Some(&b'/'),
        [b'/', b'*', b'*', next @ ..] => !matches!(next.first(), None | Some(b'*' | b'/')),
        [b'(', b'*', b'*', next @ ..] => !matches!(next.first(), None | Some(b'*' | b')')),
        _ => false,
    }
}

/// Reads digit separators and directives: the path of an `#include`, the text of an `#error`.
fn read_c(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    if cursor.peek(0) == b'\'' {
        if !cursor.word_before().first().is_some_and(u8::is_ascii_digit) {
            return RuleTurn::Pass;
        }
    } else if cursor.begins_line() {
        let line = &cursor.bytes[cursor.at + 1..cursor.line_end(cursor.at)];
        let name = line.trim_ascii_start();
        let open = line.iter().position(|byte| matches!(byte, b'<' | b'"'));
        if name.starts_with(b"error") || name.starts_with(b"warning") {
            cursor.at += line.len();
        } else if (name.starts_with(b"include") || name.starts_with(b"import"))
            && open.is_some_and(|open| line[open] == b'<')
        {
            let end = line.iter().position(|byte| *byte == b'>');
            cursor.at += end.unwrap_or_default();
        }
    }
    cursor.at += 1;
    RuleTurn::Moved
}

fn read_groovy(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    if matches!(cursor.peek(1), b'/' | b'*') || !cursor.expects_value(SCRIPT_WORDS) {
        return RuleTurn::Pass;
    }
    cursor.skip_regex();
    RuleTurn::Moved
}

/// Directives whose text isn't code.
const CSHARP_TEXTS: [&str; 5] = ["region", "endregion", "error", "warning", "pragma"];

fn read_csharp(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    let name = cursor.rest()[1..].trim_ascii_start();
    let is_text = |text: &&str| name.starts_with(text.as_bytes());
    if !cursor.begins_line() || !CSHARP_TEXTS.iter().any(is_text) {
        return RuleTurn::Pass;
    }
    cursor.at = cursor.line_end(cursor.at);
    RuleTurn::Moved
}
