//! YAML.

use super::cursor::Cursor;
use crate::comments::Kind;

/// Takes the comments of a YAML stream.
pub(super) fn lex(cursor: &mut Cursor<'_>) {
    let mut lexer = Lexer { cursor, flow: 0 };
    while !lexer.cursor.done() {
        if let Some(header) = lexer.line() {
            skip_block(lexer.cursor, header);
        }
    }
}

/// What a block scalar's first line says of its body.
struct Header {
    /// Column of the node that holds it, from 0; 0 below none.
    least: usize,
    /// How far the body is indented, if it says so.
    indent: Option<usize>,
}

struct Lexer<'c, 't> {
    cursor: &'c mut Cursor<'t>,
    /// How many `[` and `{` are open.
    flow: usize,
}

impl Lexer<'_, '_> {
    /// Passes one line, and the texts in quotes that go on behind it.
    fn line(&mut self) -> Option<Header> {
        let start = self.cursor.at;
        let (mut value, mut least, mut keyed) = (true, 0, false);
        if !self.cursor.peek(0).is_ascii_whitespace() && !matches!(self.cursor.peek(0), b']' | b'}') {
            self.flow = 0;
        }
        while !self.cursor.done() {
            let (byte, next) = (self.cursor.peek(0), self.cursor.peek(1));
            let blank = matches!(next, 0 | b' ' | b'\t' | b'\n' | b'\r');
            match byte {
                b'\n' => {
                    self.cursor.at += 1;
                    return None;
                }
                b' ' | b'\t' | b'\r' => {}
                b'#' if matches!(self.cursor.before(), 0 | b' ' | b'\t' | b'\n') => {
                    self.cursor.take_line(Kind::Line);
                    continue;
                }
                b'"' | b'\'' if value => {
                    quoted(self.cursor, byte);
                    (value, keyed) = (false, true);
                    continue;
                }
                b'-' | b'?' if value && blank => least = self.cursor.at - start + 1,
                b'-' if value && self.cursor.at == start && self.cursor.sees("---") => {
                    self.cursor.at += 3;
                    continue;
                }
                b':' if blank || (self.flow > 0 && !value) => value = true,
                b'[' | b'{' if value => self.flow += 1,
                b']' | b'}' if self.flow > 0 => self.flow -= 1,
                b',' if self.flow > 0 => value = true,
                b'&' | b'!' if value => {
                    let rest = self.cursor.rest();
                    self.cursor.at += rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
                    continue;
                }
                b'|' | b'>' if value && self.flow == 0 => {
                    if let Some(indent) = self.header() {
                        return Some(Header {
                            least,
                            indent: indent.map(|indent| least.saturating_sub(1) + indent),
                        });
                    }
                    value = false;
                }
                _ => {
                    if value && !keyed && self.flow == 0 {
                        (least, keyed) = (self.cursor.at - start + 1, true);
                    }
                    value = false;
                }
            }
            self.cursor.at += 1;
        }
        None
    }

    /// Passes a block scalar's header, with the comment and the line break behind it. Gives how far it says that the
    /// body is indented; nothing if it is no header.
    fn header(&mut self) -> Option<Option<usize>> {
        let line = &self.cursor.rest()[1..];
        let length = line.iter().take_while(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9')).count();
        let blank = line[length..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let behind = self.cursor.peek(1 + length + blank);
        if length > 2 || !(matches!(behind, 0 | b'\r' | b'\n') || (behind == b'#' && blank > 0)) {
            return None;
        }
        let digit = line[..length].iter().find(|byte| byte.is_ascii_digit());
        let indent = digit.map(|digit| usize::from(digit - b'0'));
        self.cursor.at += 1 + length + blank;
        if behind == b'#' {
            self.cursor.take_line(Kind::Line);
        }
        self.cursor.next_line();
        Some(indent)
    }
}

/// Moves behind the body of a block scalar: all lines that are indented as its first one.
fn skip_block(cursor: &mut Cursor<'_>, header: Header) {
    let mut body = header.indent;
    while !cursor.done() {
        let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        if indent < line.len() && line[indent] != b'\t' {
            let least = *body.get_or_insert(indent.max(header.least));
            if indent < least || (least == 0 && (line.starts_with(b"---") || line.starts_with(b"..."))) {
                return;
            }
        }
        cursor.next_line();
    }
}

/// Moves behind the text that `quote` begins.
fn quoted(cursor: &mut Cursor<'_>, quote: u8) {
    cursor.at += 1;
    loop {
        let rest = cursor.rest();
        cursor.at +=
            memchr::memchr2(quote, if quote == b'"' { b'\\' } else { quote }, rest).unwrap_or(rest.len());
        if cursor.peek(0) == b'\\' || (quote == b'\'' && cursor.sees("''")) {
            cursor.at += 2;
            continue;
        }
        cursor.at += 1;
        return;
    }
}
