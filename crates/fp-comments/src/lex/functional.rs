//! Haskell, OCaml, F#, Erlang and the Lisps: their block comments nest, and their quotes also mark characters and names.

use super::c_like::{is_doc_comment, verbatim};
use super::cursor::is_word;
use super::engine::{
    BlockMarks, BlockNesting, FORMAT, Fence, QUOTED, Region, RuleTurn, Syntax, TableLexer,
};

pub(crate) static HASKELL: Syntax = Syntax {
    lines: &["--"],
    // Dashes next to other symbols form an operator.
    lines_begin: |cursor| {
        let dashes = cursor.run_length(cursor.at, b'-');
        let is_sign = |byte: u8| b"!#$%&*+-./<=>?@\\^|~:".contains(&byte);
        !is_sign(cursor.byte_before()) && !is_sign(cursor.peek(dashes))
    },
    blocks: &[BlockMarks::nested("{-", "-}")],
    regions: &[Region::escaped("\"")],
    fences: &[Fence {
        least: 1,
        ..Fence::new("[", is_word, "|", |_| "|]".to_owned())
    }],
    quote_follows: Some(|before| is_word(before) || before == b'\''),
    is_doc: |rest| {
        let text = rest
            .strip_prefix(b"{-")
            .or_else(|| rest.strip_prefix(b"--"));
        let text = text.unwrap_or(rest).trim_ascii_start();
        matches!(text.first(), Some(b'|' | b'^'))
    },
    ..Syntax::PLAIN
};

const STAR_COMMENTS: &[BlockMarks] = &[BlockMarks {
    open: "(*",
    close: "*)",
    nesting: BlockNesting::CommentsAndStrings,
}];

pub(crate) static OCAML: Syntax = Syntax {
    blocks: STAR_COMMENTS,
    regions: &[QUOTED],
    fences: &[Fence::new("{", is_word, "|", |tag| format!("|{tag}}}"))],
    quote_follows: Some(is_word),
    is_doc: is_doc_comment,
    ..Syntax::PLAIN
};

pub(crate) static FSHARP: Syntax = Syntax {
    lines: &["//"],
    blocks: STAR_COMMENTS,
    regions: &[
        Region {
            open: "$\"\"\"",
            ..Region::raw("\"\"\"").spanning_lines().with_holes(FORMAT)
        },
        Region {
            open: "$\"",
            ..QUOTED.with_holes(FORMAT)
        },
        verbatim("$@\"").with_holes(FORMAT),
        verbatim("@$\"").with_holes(FORMAT),
        verbatim("@\""),
        Region::raw("\"\"\"").spanning_lines(),
        QUOTED,
        Region::raw("``"),
    ],
    quote_follows: Some(is_word),
    // `(*)` is multiplication as a function.
    skips: &[("(*)", 3)],
    is_doc: is_doc_comment,
    ..Syntax::PLAIN
};

pub(crate) static ERLANG: Syntax = Syntax {
    lines: &["%"],
    regions: &[
        Region::raw("\"\"\"").spanning_lines(),
        QUOTED,
        Region::escaped("'"),
    ],
    skips: &[("$\\", 3), ("$", 2)],
    ..Syntax::PLAIN
};

pub(crate) static CLOJURE: Syntax = Syntax {
    lines: &[";"],
    regions: &[QUOTED],
    skips: &[("\\", 2)],
    ..Syntax::PLAIN
};

pub(crate) static LISP: Syntax = Syntax {
    lines: &[";"],
    blocks: &[BlockMarks::nested("#|", "|#")],
    regions: &[QUOTED, Region::raw("|")],
    skips: &[("#\\", 3)],
    asks: b"?",
    rule: read_emacs_char,
    ..Syntax::PLAIN
};

/// Reads an Emacs Lisp character literal: `?;`.
fn read_emacs_char(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    if !b" (\n'".contains(&cursor.byte_before()) {
        return RuleTurn::Pass;
    }
    cursor.at += if cursor.peek(1) == b'\\' { 3 } else { 2 };
    RuleTurn::Moved
}
