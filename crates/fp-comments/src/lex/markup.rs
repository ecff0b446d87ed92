//! HTML, XML and component files embed scripts and style sheets, and PHP embeds markup, so this switches between lexers.

use memchr::memmem;

use super::c_like::{self, SLASH_STAR, is_doc_comment};
use super::cursor::{CommentCursor, is_blank};
use super::engine::{
    APOSTROPHES, BACKTICKS, QUOTED, Region, RuleTurn, Syntax, TableLexer, lex_braces, lex_code,
};
use super::javascript::{JAVASCRIPT, TYPESCRIPT};
use crate::CommentKind;

/// The kinds of content that a markup file can have besides elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkupFlavour {
    /// No other content: all elements are alike.
    Xml,
    /// Scripts and style sheets.
    Html,
    /// Scripts, style sheets, and code in braces.
    Svelte,
    /// Like Svelte, but with elements in the code, and with code at the start between two lines of dashes.
    Astro,
}

impl MarkupFlavour {
    fn code_in_braces(self) -> Option<&'static Syntax> {
        match self {
            Self::Xml | Self::Html => None,
            Self::Svelte => Some(&TYPESCRIPT),
            Self::Astro => Some(&JAVASCRIPT),
        }
    }
}

/// Records the comments of a markup file.
pub(crate) fn lex_markup(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    if flavour == MarkupFlavour::Astro && cursor.sees("---") {
        lex_front_matter(cursor);
    }
    let code = flavour.code_in_braces();
    while !cursor.at_end() {
        cursor.skip_until(|byte| byte == b'<' || (byte == b'{' && code.is_some()));
        // The end of a Svelte block, such as `{/if}`, looks like an expression.
        let ends_block = cursor.sees("{/") && cursor.peek(2).is_ascii_lowercase();
        match code.filter(|_| cursor.peek(0) == b'{' && !ends_block) {
            Some(syntax) => lex_braces(cursor, syntax),
            None if cursor.sees("<!--") => {
                let end = cursor.end_of_mark(cursor.at + 4, "-->");
                cursor.take_until(end, CommentKind::Block);
            }
            None if cursor.sees("<![CDATA[") => cursor.at = cursor.end_of_mark(cursor.at, "]]>"),
            None if cursor.sees("<?") => cursor.at = cursor.end_of_mark(cursor.at, "?>"),
            None if cursor.sees("<") && cursor.peek(1).is_ascii_alphabetic() => {
                lex_element(cursor, flavour);
            }
            None => cursor.at += 1,
        }
    }
}

/// Records the comments of a component file, or of a script if it has no element.
pub(crate) fn lex_component(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    if cursor.rest().contains(&b'<') {
        lex_markup(cursor, flavour);
    } else {
        lex_code(cursor, &TYPESCRIPT);
    }
}

/// Records the comments of a PHP file: markup with code in it, or only code if no mark shows where code begins.
pub(crate) fn lex_php(cursor: &mut CommentCursor<'_>) {
    let marks = ["<?", "</", "/>", "{{"];
    let has_markup = marks
        .iter()
        .any(|mark| cursor.find_mark(cursor.at, mark).is_some());
    if !has_markup && !cursor.rest().trim_ascii_start().starts_with(b"<") {
        lex_code(cursor, &PHP);
    }
    while !cursor.at_end() {
        let mut open = cursor.find_mark(cursor.at, "<?");
        while let Some(at) = open.filter(|at| cursor.rest_from(*at).starts_with(b"<?xml")) {
            open = cursor.find_mark(at + 2, "<?");
        }
        let open = open.unwrap_or(cursor.bytes.len());
        cursor.lex_within(open, |cursor| lex_markup(cursor, MarkupFlavour::Html));
        cursor.at = (open + 2).min(cursor.bytes.len());
        if cursor.sees_any_case("php") {
            cursor.at += 3;
        }
        lex_code(cursor, &PHP);
    }
}

/// Elements whose content isn't markup.
const RAW_ELEMENTS: [&[u8]; 4] = [b"script", b"style", b"textarea", b"title"];

/// Skips an opening tag; if its element is a script or a style sheet, records the comments in it too.
fn lex_element(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    let start = cursor.at;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    cursor.at += 1 + cursor.length_while(start + 1, is_name);
    let name = &cursor.bytes[start + 1..cursor.at];
    skip_attributes(cursor, flavour);
    let tag = &cursor.bytes[start..cursor.at.min(cursor.bytes.len())];
    let lang = attribute_of(tag, "lang");
    let is_named = |other: &&[u8]| name.eq_ignore_ascii_case(other);
    let is_raw =
        RAW_ELEMENTS.iter().any(is_named) && flavour != MarkupFlavour::Xml && !tag.ends_with(b"/>");
    let is_pug = name == b"template" && lang.is_some_and(|lang| lang != b"html");
    if !is_raw && !is_pug {
        return;
    }
    let end = element_end(cursor, name);
    let syntax = match name.to_ascii_lowercase().as_slice() {
        b"script" => script_syntax(tag, lang, flavour),
        b"style" if matches!(lang, None | Some(b"css" | b"postcss")) => Some(&CSS),
        b"style" => Some(&SCSS),
        _ => None,
    };
    if let Some(syntax) = syntax {
        cursor.lex_within(end, |cursor| lex_code(cursor, syntax));
    }
    cursor.at = end;
}

/// Moves past the `>` of a tag, skipping values in quotes and code in braces.
fn skip_attributes(cursor: &mut CommentCursor<'_>, flavour: MarkupFlavour) {
    let mut expects_value = false;
    while !cursor.at_end() {
        let byte = cursor.peek(0);
        match (byte, flavour.code_in_braces()) {
            (b'{', Some(syntax)) => {
                lex_braces(cursor, syntax);
                continue;
            }
            (b'"' | b'\'', _) if expects_value => {
                cursor.at += 1;
                cursor.skip_until(|other| other == byte);
            }
            _ => {}
        }
        cursor.at += 1;
        if byte == b'>' {
            return;
        }
        expects_value = byte == b'=' || (expects_value && byte.is_ascii_whitespace());
    }
}

/// Scripts are searched for comments only if their `type` attribute contains one of these, or is empty.
const SCRIPT_TYPES: &str = "module javascript babel ecmascript typescript jsx tsx";

/// The syntax of the script with this opening tag, if its type is known to have comments.
fn script_syntax(
    tag: &[u8],
    lang: Option<&[u8]>,
    flavour: MarkupFlavour,
) -> Option<&'static Syntax> {
    let kind = attribute_of(tag, "type").unwrap_or_default();
    let is_part = |part: &str| memmem::find(kind, part.as_bytes()).is_some();
    let is_known = kind.is_empty() || SCRIPT_TYPES.split(' ').any(is_part);
    match lang {
        _ if !is_known => None,
        Some(b"coffee") => None,
        Some(b"ts" | b"typescript") => Some(&TYPESCRIPT),
        _ if flavour == MarkupFlavour::Svelte => Some(&TYPESCRIPT),
        _ => Some(&JAVASCRIPT),
    }
}

/// The value of the attribute `name` in a tag, without its quotes.
fn attribute_of<'t>(tag: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let is_attribute =
        |at: &usize| tag[at - 1].is_ascii_whitespace() && tag.get(at + name.len()) == Some(&b'=');
    let at = memmem::find_iter(tag, name.as_bytes()).find(is_attribute)?;
    let value = &tag[at + name.len() + 1..];
    match *value.first()? {
        quote @ (b'"' | b'\'') => value[1..].split(|byte| *byte == quote).next(),
        _ => value
            .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
            .next(),
    }
}

/// The start of the closing tag of the element `name`.
fn element_end(cursor: &CommentCursor<'_>, name: &[u8]) -> usize {
    let rest = cursor.rest();
    let is_named = |at: &usize| {
        let head = rest.get(at + 2..at + 2 + name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name))
    };
    let end = memmem::find_iter(rest, b"</").find(is_named);
    end.map_or(cursor.bytes.len(), |end| cursor.at + end)
}

/// Records the comments of Astro's code, from the line of dashes at the cursor to the next such line.
fn lex_front_matter(cursor: &mut CommentCursor<'_>) {
    cursor.skip_line();
    let end = cursor.find_mark(cursor.at - 1, "\n---");
    let end = end.map_or(cursor.bytes.len(), |end| end + 1);
    cursor.lex_within(end, |cursor| lex_code(cursor, &TYPESCRIPT));
    cursor.at = (end + 3).min(cursor.bytes.len());
}

pub(crate) static CSS: Syntax = Syntax {
    lines: &[],
    skips: &[("\\", 2)],
    asks: b"uU",
    rule: read_url,
    ..c_like::BASE
};

pub(crate) static SCSS: Syntax = Syntax {
    lines: &["//"],
    ..CSS
};

/// Skips an unquoted URL, in which nothing is a comment.
fn read_url(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    let begins = |mark: &&str| cursor.sees_any_case(mark);
    let Some(mark) = ["url(", "url-prefix("].into_iter().find(begins) else {
        return RuleTurn::Pass;
    };
    cursor.at += mark.len();
    cursor.skip_until(|byte| !byte.is_ascii_whitespace());
    if !matches!(cursor.peek(0), b'"' | b'\'') {
        cursor.skip_until(|byte| matches!(byte, b')' | b'\n'));
    }
    RuleTurn::Moved
}

/// `{$…}`.
const BRACE: &[Region] = &[Region::code_region("{$", b"{", "}")];

static PHP: Syntax = Syntax {
    lines: &["#", "//"],
    lines_stop: Some("?>"),
    blocks: SLASH_STAR,
    regions: &[QUOTED.with_holes(BRACE), APOSTROPHES, BACKTICKS],
    skips: &[("#[", 2)],
    is_doc: is_doc_comment,
    asks: b"?<",
    rule: read_php,
    ..Syntax::PLAIN
};

fn read_php(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    if cursor.sees("?>") {
        cursor.at += 2;
        return RuleTurn::Left;
    }
    if cursor.sees("<<<") {
        skip_php_heredoc(cursor);
        return RuleTurn::Moved;
    }
    RuleTurn::Pass
}

/// Skips a heredoc or nowdoc, whose closing name may be indented and followed by more code.
fn skip_php_heredoc(cursor: &mut CommentCursor<'_>) {
    cursor.at += 3;
    cursor.skip_blanks();
    cursor.at += usize::from(matches!(cursor.peek(0), b'\'' | b'"'));
    let length = cursor.name_length(cursor.at);
    let close = &cursor.rest()[..length];
    cursor.at += length;
    if length == 0 {
        return;
    }
    cursor.skip_line();
    while !cursor.at_end() {
        cursor.skip_until(|byte| !is_blank(byte));
        if cursor.rest().starts_with(close) && cursor.name_length(cursor.at) == length {
            cursor.at += length;
            return;
        }
        cursor.skip_line();
    }
}
