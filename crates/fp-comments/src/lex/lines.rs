//! YAML and Dockerfiles, which are read line by line.

use super::cursor::{CommentCursor, is_blank};
use super::engine::{HeredocForm, RuleTurn, Syntax};
use crate::CommentKind;

pub(crate) static DOCKERFILE: Syntax = Syntax {
    lines: &["#"],
    lines_begin: |cursor| cursor.begins_line(),
    asks: b"<",
    rule: |lexer| match lexer.cursor.sees("<<") {
        true => lexer.read_heredoc(&DOCKER_HEREDOC),
        false => RuleTurn::Pass,
    },
    ..Syntax::PLAIN
};

const DOCKER_HEREDOC: HeredocForm = HeredocForm {
    quotes: b"'\"",
    ..HeredocForm::PLAIN
};

/// Records the comments of a YAML stream.
pub(crate) fn lex_yaml(cursor: &mut CommentCursor<'_>) {
    let mut open_brackets = 0;
    while !cursor.at_end() {
        read_yaml_line(cursor, &mut open_brackets);
    }
}

/// Reads one line, along with any quoted text or block scalar that continues past it. `flow` counts open `[` and `{`.
fn read_yaml_line(cursor: &mut CommentCursor<'_>, flow: &mut usize) {
    let start = cursor.at;
    let (mut expects_value, mut has_node) = (true, false);
    // Minimum indentation of a block scalar: more than that of the node that holds it.
    let mut least = 0;
    if !cursor.peek(0).is_ascii_whitespace() && !matches!(cursor.peek(0), b']' | b'}') {
        *flow = 0;
    }
    while !cursor.at_end() {
        let byte = cursor.peek(0);
        let is_apart = b"\0 \t\n\r".contains(&cursor.peek(1));
        if byte == b'#' && b"\0 \t\n".contains(&cursor.byte_before()) {
            cursor.take_line(CommentKind::Line);
            continue;
        }
        cursor.at += 1;
        match byte {
            b'\n' => return,
            b' ' | b'\t' | b'\r' => {}
            b'-' | b'?' if expects_value && is_apart => least = cursor.at - start,
            b'-' if cursor.at == start + 1 && cursor.sees("--") => cursor.at += 2,
            b':' if is_apart || (*flow > 0 && !expects_value) => expects_value = true,
            b',' if *flow > 0 => expects_value = true,
            b'[' | b'{' if expects_value => *flow += 1,
            b']' | b'}' if *flow > 0 => *flow -= 1,
            b'&' | b'!' if expects_value => cursor.skip_until(|byte| byte.is_ascii_whitespace()),
            b'|' | b'>' if expects_value && *flow == 0 && is_block_header(cursor) => {
                return skip_block(cursor, least);
            }
            _ => {
                if expects_value && !has_node && *flow == 0 {
                    (least, has_node) = (cursor.at - start, true);
                }
                if expects_value && matches!(byte, b'"' | b'\'') {
                    skip_quoted(cursor, byte);
                }
                expects_value = false;
            }
        }
    }
}

/// True if the rest of the line after `|` or `>` completes the header of a block scalar.
fn is_block_header(cursor: &CommentCursor<'_>) -> bool {
    let signs = cursor.length_while(cursor.at, is_block_sign);
    let blanks = cursor.length_while(cursor.at + signs, is_blank);
    let behind = cursor.peek(signs + blanks);
    signs <= 2 && (matches!(behind, 0 | b'\r' | b'\n') || (behind == b'#' && blanks > 0))
}

fn is_block_sign(byte: u8) -> bool {
    matches!(byte, b'+' | b'-' | b'1'..=b'9')
}

/// Skips the rest of a block scalar's header, and its body: all lines indented at least as far as its first line, or as
/// far as the header specifies.
fn skip_block(cursor: &mut CommentCursor<'_>, least: usize) {
    let signs = &cursor.rest()[..cursor.length_while(cursor.at, is_block_sign)];
    let digit = signs.iter().find(|byte| byte.is_ascii_digit());
    let mut body = digit.map(|digit| least.saturating_sub(1) + usize::from(digit - b'0'));
    cursor.at += signs.len();
    cursor.skip_blanks();
    if cursor.peek(0) == b'#' {
        cursor.take_line(CommentKind::Line);
    }
    cursor.skip_line();
    while !cursor.at_end() {
        let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
        let indent = cursor.run_length(cursor.at, b' ');
        if indent < line.len() && line[indent] != b'\t' {
            let body = *body.get_or_insert(indent.max(least));
            let ends_document = line.starts_with(b"---") || line.starts_with(b"...");
            if indent < body || (body == 0 && ends_document) {
                return;
            }
        }
        cursor.skip_line();
    }
}

/// Skips the rest of a quoted string, after its opening quote.
fn skip_quoted(cursor: &mut CommentCursor<'_>, quote: u8) {
    loop {
        cursor.skip_until(|byte| byte == quote || (byte == b'\\' && quote == b'"'));
        let is_escape = cursor.peek(0) == b'\\' || (quote == b'\'' && cursor.sees("''"));
        cursor.at += if is_escape { 2 } else { 1 };
        if !is_escape {
            return;
        }
    }
}
