//! Haskell, OCaml, F#, Erlang and the Lisps: their block comments nest, and their quotes also mark characters
//! and names.

use super::c_like::{behind_name, char_or_quote, is_doc};
use super::cursor::CommentCursor;
use super::engine::{BlockMarks, FORMAT, Literal, RuleTurn, Syntax, TableLexer};
use crate::CommentKind;

pub(crate) static HASKELL: Syntax = Syntax {
    blocks: &[BlockMarks {
        open: "{-",
        close: "-}",
        nested: true,
    }],
    texts: &[Literal::escaped("\"")],
    doc: |rest| {
        let rest = rest
            .strip_prefix(b"{-")
            .or_else(|| rest.strip_prefix(b"--"))
            .unwrap_or(rest);
        matches!(rest.trim_ascii_start().first(), Some(b'|' | b'^'))
    },
    asks: b"-'[",
    rule: haskell_rule,
    ..Syntax::PLAIN
};

pub(crate) static OCAML: Syntax = Syntax {
    texts: &[Literal::escaped("\"").lines()],
    asks: b"('{",
    rule: ocaml_rule,
    ..Syntax::PLAIN
};

pub(crate) static FSHARP: Syntax = Syntax {
    lines: &["//"],
    texts: &[
        Literal::raw("\"\"\"").lines(),
        Literal::escaped("\"").lines(),
        Literal::raw("``"),
    ],
    doc: is_doc,
    asks: b"('$@",
    rule: fsharp_rule,
    ..Syntax::PLAIN
};

pub(crate) static ERLANG: Syntax = Syntax {
    lines: &["%"],
    texts: &[
        Literal::raw("\"\"\"").lines(),
        Literal::escaped("\"").lines(),
        Literal::escaped("'"),
    ],
    asks: b"$",
    rule: |engine| {
        engine.cursor.at += if engine.cursor.peek(1) == b'\\' { 3 } else { 2 };
        RuleTurn::Moved
    },
    ..Syntax::PLAIN
};

pub(crate) static CLOJURE: Syntax = Syntax {
    lines: &[";"],
    texts: &[Literal::escaped("\"").lines()],
    asks: b"\\",
    rule: |engine| {
        engine.cursor.at += 2;
        RuleTurn::Moved
    },
    ..Syntax::PLAIN
};

pub(crate) static LISP: Syntax = Syntax {
    lines: &[";"],
    blocks: &[BlockMarks {
        open: "#|",
        close: "|#",
        nested: true,
    }],
    texts: &[Literal::escaped("\"").lines(), Literal::raw("|")],
    asks: b"#?",
    rule: lisp_rule,
    ..Syntax::PLAIN
};

/// Dashes that are no operator, characters, and quasi-quotations.
fn haskell_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let named = behind_name(engine) || engine.cursor.before() == b'\'';
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'\'' if named => cursor.at += 1,
        b'\'' => return char_or_quote(engine),
        b'[' => {
            let name = cursor.word(cursor.at + 1);
            if name == 0 || cursor.peek(1 + name) != b'|' {
                return RuleTurn::Pass;
            }
            cursor.skip_past(cursor.at + 2 + name, "|]");
        }
        _ => {
            let dashes = cursor.run(cursor.at, b'-');
            let operator = |byte: u8| b"!#$%&*+./<=>?@\\^|~:".contains(&byte);
            if dashes < 2 || operator(cursor.before()) || operator(cursor.peek(dashes)) {
                cursor.at += dashes;
            } else {
                engine.take_line();
            }
        }
    }
    RuleTurn::Moved
}

fn ocaml_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let named = behind_name(engine);
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'\'' if named => cursor.at += 1,
        b'\'' => return char_or_quote(engine),
        b'{' => {
            let name = cursor.word(cursor.at + 1);
            if cursor.peek(1 + name) != b'|' {
                return RuleTurn::Pass;
            }
            let close = [b"|", &cursor.rest()[1..=name], b"}"].concat();
            let found = memchr::memmem::find(cursor.rest(), &close);
            cursor.at = found.map_or(cursor.bytes.len(), |found| cursor.at + found + close.len());
        }
        _ if cursor.sees("(*") => star_comment(cursor),
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

fn fsharp_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let named = behind_name(engine);
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'\'' if named => cursor.at += 1,
        b'\'' => return char_or_quote(engine),
        b'(' if cursor.sees("(*)") => cursor.at += 3,
        b'(' if cursor.sees("(*") => star_comment(cursor),
        b'$' if cursor.sees("$\"\"\"") => {
            cursor.at += 4;
            return RuleTurn::Text(Literal::raw("\"\"\"").lines().hole(FORMAT), 0);
        }
        b'$' if cursor.peek(1) == b'"' => {
            cursor.at += 2;
            return RuleTurn::Text(Literal::escaped("\"").lines().hole(FORMAT), 0);
        }
        b'$' | b'@' if cursor.sees("$@\"") || cursor.sees("@$\"") => {
            cursor.at += 3;
            return RuleTurn::Text(Literal::raw("\"").doubled().lines().hole(FORMAT), 0);
        }
        b'@' if cursor.peek(1) == b'"' => {
            cursor.at += 2;
            return RuleTurn::Text(Literal::raw("\"").doubled().lines(), 0);
        }
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// Records a comment between `(*` and `*)`, which may contain comments and strings.
fn star_comment(cursor: &mut CommentCursor<'_>) {
    let doc = cursor.sees("(**") && !matches!(cursor.peek(3), b'*' | b')');
    let (mut index, mut depth) = (cursor.at + 2, 1_usize);
    while depth > 0 && index < cursor.bytes.len() {
        match (cursor.byte(index), cursor.byte(index + 1)) {
            (b'(', b'*') => (index, depth) = (index + 2, depth + 1),
            (b'*', b')') => (index, depth) = (index + 2, depth - 1),
            (b'\'', b'"') if cursor.byte(index + 2) == b'\'' => index += 3,
            (b'\'', b'\\') if cursor.byte(index + 3) == b'\'' => index += 4,
            (b'"', _) => index = text_end(cursor, index + 1),
            _ => index += 1,
        }
    }
    cursor.take(
        if doc {
            CommentKind::Doc
        } else {
            CommentKind::Block
        },
        index.min(cursor.bytes.len()),
    );
}

/// The end of the string that began before `index`.
fn text_end(cursor: &CommentCursor<'_>, mut index: usize) -> usize {
    while index < cursor.bytes.len() {
        match cursor.byte(index) {
            b'"' => return index + 1,
            b'\\' => index += 2,
            _ => index += 1,
        }
    }
    index
}

/// Characters: `#\;` in Lisp and Scheme, `?;` in Emacs Lisp.
fn lisp_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    if cursor.sees("#\\") {
        cursor.at += 3;
        return RuleTurn::Moved;
    }
    if cursor.peek(0) == b'?' && matches!(cursor.before(), b' ' | b'(' | b'\n' | b'\'') {
        cursor.at += if cursor.peek(1) == b'\\' { 3 } else { 2 };
        return RuleTurn::Moved;
    }
    RuleTurn::Pass
}
