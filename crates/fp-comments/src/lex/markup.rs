//! HTML, XML and component files embed scripts and style sheets, and PHP embeds markup, so this switches
//! between lexers.

use super::c_like::is_doc;
use super::cursor::CommentCursor;
use super::engine::{BlockMarks, Hole, Literal, RuleTurn, Syntax, TableLexer};
use super::{engine, javascript};
use crate::CommentKind;

/// The content of a markup file besides elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkupFlavour {
    /// Nothing: all elements are alike.
    Xml,
    /// Scripts and style sheets.
    Html,
    /// Scripts, style sheets, and code in braces.
    Svelte,
    /// As Svelte, with elements in the code, and with code at the start between two lines of dashes.
    Astro,
}

/// Records the comments of a markup file.
pub(crate) fn lex(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    if flavour == MarkupFlavour::Astro {
        front_matter(cursor);
    }
    let braces = matches!(flavour, MarkupFlavour::Svelte | MarkupFlavour::Astro);
    while !cursor.done() {
        let rest = cursor.rest();
        let brace = if braces { b'{' } else { b'<' };
        cursor.at += memchr::memchr2(b'<', brace, rest).unwrap_or(rest.len());
        if cursor.peek(0) == b'{' {
            code_in_braces(cursor, flavour);
        } else if !cursor.done() {
            angle(cursor, flavour);
        }
    }
}

/// Records the comments of a PHP file: markup with code in it, or code alone if nothing marks its start.
pub(crate) fn php(cursor: &mut CommentCursor<'_>) {
    let rest = cursor.rest();
    let markup = ["<?", "</", "/>", "{{"]
        .iter()
        .any(|mark| memchr::memmem::find(rest, mark.as_bytes()).is_some());
    let markup = markup || rest.trim_ascii_start().starts_with(b"<");
    if !markup {
        engine::lex(cursor, &PHP);
    }
    while !cursor.done() {
        let mut open = cursor.find(cursor.at, "<?").unwrap_or(cursor.bytes.len());
        while cursor.bytes[open..].starts_with(b"<?xml") {
            open = cursor.find(open + 2, "<?").unwrap_or(cursor.bytes.len());
        }
        cursor.within(open, |cursor| lex(cursor, MarkupFlavour::Html));
        cursor.at = (open + 2).min(cursor.bytes.len());
        if cursor.sees_any_case("php") {
            cursor.at += 3;
        }
        engine::lex(cursor, &PHP);
    }
}

/// Records the comments of a component file, or of a script if it has no element.
pub(crate) fn component(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    if memchr::memchr(b'<', cursor.rest()).is_some() {
        lex(cursor, flavour);
    } else {
        javascript::script(cursor, false);
    }
}

/// Handles a `<`.
fn angle(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    let next = cursor.peek(1);
    if cursor.sees("<!--") {
        cursor.take_block(CommentKind::Block, cursor.at + 4, "-->");
    } else if cursor.sees("<![CDATA[") {
        cursor.skip_past(cursor.at, "]]>");
    } else if next == b'?' {
        cursor.skip_past(cursor.at, "?>");
    } else if next.is_ascii_alphabetic() {
        tag(cursor, flavour);
    } else {
        cursor.at += 1;
    }
}

/// Skips an opening tag; if its element is a script or a style sheet, also that.
fn tag(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    let start = cursor.at;
    let length = cursor.rest()[1..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
        .count();
    let name = &cursor.rest()[1..=length];
    cursor.at += 1 + length;
    attributes(cursor, flavour);
    let tag = &cursor.bytes[start..cursor.at.min(cursor.bytes.len())];
    let raw = [&b"script"[..], b"style", b"textarea", b"title"];
    let whole = flavour == MarkupFlavour::Xml
        || tag.ends_with(b"/>")
        || !raw.iter().any(|raw| name.eq_ignore_ascii_case(raw));
    let pug = name == b"template" && attribute(tag, "lang").is_some_and(|lang| lang != b"html");
    if whole && !pug {
        return;
    }
    let end = element_end(cursor, name);
    if name.eq_ignore_ascii_case(b"script") {
        script(cursor, tag, end, flavour);
    } else if name.eq_ignore_ascii_case(b"style") {
        let plain = attribute(tag, "lang").is_none_or(|lang| matches!(lang, b"css" | b"postcss"));
        let syntax = if plain { &CSS } else { &SCSS };
        cursor.within(end, |cursor| engine::lex(cursor, syntax));
    }
    cursor.at = end;
}

/// Moves past the `>` of a tag, skipping values in quotes and code in braces.
fn attributes(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    let braces = matches!(flavour, MarkupFlavour::Svelte | MarkupFlavour::Astro);
    let mut value = false;
    while !cursor.done() {
        let byte = cursor.peek(0);
        match byte {
            b'>' => {
                cursor.at += 1;
                return;
            }
            b'"' | b'\'' if value => {
                let rest = &cursor.rest()[1..];
                cursor.at += memchr::memchr(byte, rest).unwrap_or(rest.len()) + 1;
            }
            b'{' if braces => {
                javascript::expression(cursor, flavour == MarkupFlavour::Astro);
                continue;
            }
            _ => {}
        }
        value = byte == b'=' || (value && byte.is_ascii_whitespace());
        cursor.at += 1;
    }
}

/// Records the comments of the script from the cursor to `end`, if its type is known to have any.
fn script(cursor: &mut CommentCursor<'_>, tag: &[u8], end: usize, flavour: MarkupFlavour) {
    let kind = attribute(tag, "type").unwrap_or(b"module");
    let known = [
        &b"module"[..],
        b"javascript",
        b"babel",
        b"ecmascript",
        b"typescript",
        b"jsx",
        b"tsx",
    ];
    let data = !kind.is_empty()
        && !known
            .iter()
            .any(|known| memchr::memmem::find(kind, known).is_some());
    let lang = attribute(tag, "lang").unwrap_or_default();
    if data || lang == b"coffee" {
        return;
    }
    let typed = lang == b"ts" || lang == b"typescript" || flavour == MarkupFlavour::Svelte;
    cursor.within(end, |cursor| javascript::script(cursor, !typed));
}

/// The value of `name` in a tag, without its quotes.
fn attribute<'t>(tag: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let at = memchr::memmem::find_iter(tag, name.as_bytes()).find(|at| {
        let behind = tag.get(at + name.len());
        tag[at - 1].is_ascii_whitespace() && behind == Some(&b'=')
    })?;
    let value = &tag[at + name.len() + 1..];
    let quote = *value.first()?;
    if matches!(quote, b'"' | b'\'') {
        return value[1..].split(|byte| *byte == quote).next();
    }
    value
        .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
        .next()
}

/// The start of the closing tag of the element `name`.
fn element_end(cursor: &CommentCursor<'_>, name: &[u8]) -> usize {
    let rest = cursor.rest();
    let mut closings = memchr::memmem::find_iter(rest, b"</");
    let end = closings.find(|at| {
        rest.get(at + 2..at + 2 + name.len())
            .is_some_and(|n| n.eq_ignore_ascii_case(name))
    });
    end.map_or(cursor.bytes.len(), |end| cursor.at + end)
}

/// Handles braces between elements; the end of one of Svelte's blocks, `{/if}`, looks like an expression.
fn code_in_braces(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    if cursor.peek(1) == b'/' && cursor.peek(2).is_ascii_lowercase() {
        cursor.at += 2;
    } else {
        javascript::expression(cursor, flavour == MarkupFlavour::Astro);
    }
}

/// Records the comments of Astro's code between two lines of dashes at the start.
fn front_matter(cursor: &mut CommentCursor<'_>) {
    if !cursor.sees("---") {
        return;
    }
    cursor.next_line();
    let end = cursor
        .find(cursor.at.saturating_sub(1), "\n---")
        .map_or(cursor.bytes.len(), |end| end + 1);
    let end = end.max(cursor.at);
    cursor.within(end, |cursor| javascript::script(cursor, false));
    cursor.at = (end + 3).min(cursor.bytes.len());
}

pub(crate) static CSS: Syntax = Syntax {
    blocks: &[BlockMarks {
        open: "/*",
        close: "*/",
        nested: false,
    }],
    texts: &[Literal::escaped("\""), Literal::escaped("'")],
    doc: is_doc,
    asks: b"uU\\",
    rule: url,
    ..Syntax::PLAIN
};

pub(crate) static SCSS: Syntax = Syntax {
    lines: &["//"],
    ..CSS
};

/// Skips an address without quotes, in which nothing is a comment, and anything that a backslash escapes.
fn url(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    if cursor.peek(0) == b'\\' {
        cursor.at += 2;
        return RuleTurn::Moved;
    }
    let rest = cursor.rest();
    let open = if cursor.sees_any_case("url(") { 4 } else { 11 };
    if open == 11 && !cursor.sees_any_case("url-prefix(") {
        return RuleTurn::Pass;
    }
    let blank = rest[open..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    cursor.at += open + blank;
    if !matches!(cursor.peek(0), b'"' | b'\'') {
        let address = cursor.rest();
        cursor.at += address
            .iter()
            .position(|byte| matches!(byte, b')' | b'\n'))
            .unwrap_or(address.len());
    }
    RuleTurn::Moved
}

/// `{$…}`.
const BRACE: Hole = Hole {
    open: "{$",
    opens: b"{",
    close: b'}',
    format: false,
};

static PHP: Syntax = Syntax {
    blocks: &[BlockMarks {
        open: "/*",
        close: "*/",
        nested: false,
    }],
    texts: &[
        Literal::escaped("\"").lines().hole(BRACE),
        Literal::escaped("'").lines(),
        Literal::escaped("`").lines(),
    ],
    doc: is_doc,
    asks: b"?#/<",
    rule: php_rule,
    ..Syntax::PLAIN
};

fn php_rule(engine: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *engine.cursor;
    match cursor.peek(0) {
        b'?' if cursor.sees("?>") => {
            cursor.at += 2;
            return RuleTurn::Leave;
        }
        b'#' if cursor.peek(1) == b'[' => cursor.at += 2,
        b'#' => line_comment(cursor),
        b'/' if cursor.peek(1) == b'/' => line_comment(cursor),
        b'<' if cursor.sees("<<<") => heredoc(cursor),
        _ => return RuleTurn::Pass,
    }
    RuleTurn::Moved
}

/// Records the comment that ends with its line, or where PHP ends.
fn line_comment(cursor: &mut CommentCursor<'_>) {
    let kind = if is_doc(cursor.rest()) {
        CommentKind::Doc
    } else {
        CommentKind::Line
    };
    let rest = cursor.rest();
    let mut ends = memchr::memchr2_iter(b'\n', b'?', rest);
    match ends.find(|end| rest[*end] == b'\n' || rest.get(end + 1) == Some(&b'>')) {
        Some(end) if rest[end] == b'?' => cursor.take(kind, cursor.at + end),
        _ => cursor.take_line(kind),
    }
}

/// Skips a heredoc or nowdoc, whose closing name may be indented and followed by more code.
fn heredoc(cursor: &mut CommentCursor<'_>) {
    let blank = cursor.rest()[3..]
        .iter()
        .take_while(|byte| **byte == b' ')
        .count();
    let mut name = cursor.at + 3 + blank;
    name += usize::from(matches!(cursor.byte(name), b'\'' | b'"'));
    let length = cursor.word(name);
    let close = &cursor.bytes[name..name + length];
    cursor.at = name + length;
    if length == 0 {
        return;
    }
    cursor.next_line();
    while !cursor.done() {
        let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
        let indent = line.len() - line.trim_ascii_start().len();
        if line[indent..].starts_with(close) && cursor.word(cursor.at + indent) == length {
            cursor.at += indent + length;
            return;
        }
        cursor.next_line();
    }
}
