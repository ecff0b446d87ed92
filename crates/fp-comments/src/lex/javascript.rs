//! JavaScript and TypeScript: regular expressions and the elements of JSX depend on context.

use super::c_like;
use super::cursor::{CommentCursor, SCRIPT_WORDS, is_word};
use super::engine::{
    BACKTICKS, BRACES, DOLLAR, Region, RegionContent, RuleTurn, Syntax, TableLexer,
};

pub(crate) static TYPESCRIPT: Syntax = Syntax {
    regions: &[
        Region::escaped("\""),
        Region::escaped("'"),
        BACKTICKS.with_holes(DOLLAR),
    ],
    asks: b"/()",
    rule: read_script,
    ..c_like::BASE
};

/// A script in which `<` may begin a JSX element.
pub(crate) static JAVASCRIPT: Syntax = Syntax {
    asks: b"/()<",
    ..TYPESCRIPT
};

/// The inside of an opening tag; any further angle brackets in it enclose type arguments.
static TAG: Region = Region {
    nests: b"<",
    content: RegionContent::Own(step_in_tag),
    ..Region::delimited("<", ">").spanning_lines()
};
/// Values of attributes.
static VALUES: [Region; 2] = [
    Region::raw("\"").spanning_lines(),
    Region::raw("'").spanning_lines(),
];
/// The content between an opening and a closing tag.
static CHILDREN: Region = Region {
    content: RegionContent::Own(step_in_children),
    ..Region::delimited(">", "</").spanning_lines()
};

/// Reads regular expressions and elements, and tracks which parentheses are the head of a statement, since an
/// expression can follow such a head.
fn read_script(lexer: &mut TableLexer<'_, '_>) -> RuleTurn {
    let cursor = &mut *lexer.cursor;
    match (cursor.peek(0), cursor.peek(1)) {
        (b'(', _) => {
            let word = cursor.word_ending_at(cursor.code_end());
            lexer
                .heads
                .push(matches!(word, b"if" | b"while" | b"for" | b"with"));
        }
        (b')', _) => lexer.behind_head = lexer.heads.pop().unwrap_or(false),
        (b'/', next) if next != b'/' && next != b'*' => {
            let end = cursor.code_end();
            let behind_head =
                lexer.behind_head && end > cursor.start && cursor.bytes[end - 1] == b')';
            if behind_head || cursor.expects_value(SCRIPT_WORDS) {
                cursor.skip_regex();
                return RuleTurn::Moved;
            }
        }
        (b'<', _) if begins_element(cursor) => {
            open_element(lexer);
            return RuleTurn::Moved;
        }
        _ => {}
    }
    RuleTurn::Pass
}

/// Enters the element whose `<` is next.
fn open_element(lexer: &mut TableLexer<'_, '_>) {
    if lexer.cursor.peek(1) == b'>' {
        lexer.cursor.at += 1;
        lexer.enter_region(&CHILDREN);
    } else {
        lexer.enter_region(&TAG);
    }
}

fn step_in_tag(lexer: &mut TableLexer<'_, '_>, angles: usize) {
    let byte = lexer.cursor.peek(0);
    match byte {
        b'"' => lexer.enter_region(&VALUES[0]),
        b'\'' => lexer.enter_region(&VALUES[1]),
        b'{' => lexer.enter_region(&BRACES),
        b'/' if lexer.cursor.sees("/>") => lexer.leave_region(2),
        b'/' if lexer.read_comment() => {}
        b'>' if angles == 0 => {
            lexer.leave_region(0);
            lexer.enter_region(&CHILDREN);
        }
        _ => {
            lexer.count_bracket(byte);
            lexer.cursor.at += 1;
        }
    }
}

fn step_in_children(lexer: &mut TableLexer<'_, '_>, _: usize) {
    let cursor = &mut *lexer.cursor;
    cursor.skip_until(|byte| byte == b'<' || byte == b'{');
    match (cursor.peek(0), cursor.peek(1)) {
        (b'{', _) => lexer.enter_region(&BRACES),
        (b'<', b'/') => {
            cursor.at = cursor.end_of_mark(cursor.at, ">");
            lexer.leave_region(0);
        }
        (b'<', next) if next == b'>' || next == b'$' || is_word(next) => open_element(lexer),
        _ => cursor.at += 1,
    }
}

/// True if the `<` at the cursor begins an element, rather than a comparison or type parameters.
fn begins_element(cursor: &CommentCursor<'_>) -> bool {
    let first = cursor.peek(1);
    if first != b'>' && !first.is_ascii_alphabetic() && first != b'_' && first != b'$' {
        return false;
    }
    let length = cursor.name_length(cursor.at + 1);
    let (name, behind) = cursor.rest()[1..].split_at(length);
    let behind = behind.trim_ascii_start();
    let has_parameters = [&b","[..], b"=", b"extends "]
        .iter()
        .any(|sign| behind.starts_with(sign));
    let is_call = length > 0 && behind.starts_with(b">(") && !closes_nearby(cursor, name);
    name != b"const" && !has_parameters && !is_call && cursor.expects_value(SCRIPT_WORDS)
}

/// True if the element at the cursor, with this name, is closed nearby.
fn closes_nearby(cursor: &CommentCursor<'_>, name: &[u8]) -> bool {
    let near = &cursor.rest()[..cursor.rest().len().min(2_000)];
    memchr::memmem::find(near, &[b"</", name].concat()).is_some()
}
