//! JavaScript and TypeScript need a lexer of their own: regular expressions, templates, and the elements of
//! JSX depend on context.

use super::c_like::is_doc;
use super::cursor::{CommentCursor, SCRIPT_WORDS, is_word, marks, skip_regex, value_expected};
use crate::CommentKind;

/// An open construct.
#[derive(Clone, Copy)]
enum Frame {
    /// Code in braces, with this many open inside.
    Code(usize),
    Template,
    /// The inside of an opening tag, with this many type arguments open.
    Tag(usize),
    /// The content between an opening and a closing tag.
    Children,
}

/// Records the comments of a script; `<` may begin an element if `elements` is true.
pub(crate) fn script(cursor: &mut CommentCursor<'_>, elements: bool) {
    let mut lexer = Lexer {
        cursor,
        elements,
        stack: Vec::new(),
        heads: Vec::new(),
        behind_head: false,
    };
    while !lexer.cursor.done() {
        lexer.step();
    }
}

/// Records the comments of the expression in braces at the cursor, and moves past it.
pub(crate) fn expression(cursor: &mut CommentCursor<'_>, elements: bool) {
    let (at, start) = (cursor.at, cursor.start);
    cursor.start = at;
    cursor.at += 1;
    let stack = vec![Frame::Code(0)];
    let mut lexer = Lexer {
        cursor,
        elements,
        stack,
        heads: Vec::new(),
        behind_head: false,
    };
    while !lexer.cursor.done() && !lexer.stack.is_empty() {
        lexer.step();
    }
    cursor.start = start;
}

struct Lexer<'c, 't> {
    cursor: &'c mut CommentCursor<'t>,
    elements: bool,
    stack: Vec<Frame>,
    /// For each open parenthesis, true if `if`, `while`, `for` or `with` precedes it.
    heads: Vec<bool>,
    /// The same for the parenthesis that closed last.
    behind_head: bool,
}

/// The bytes at which code may turn into something else.
const MARKS: [bool; 256] = marks(b"/\"\'`{}()<");

impl Lexer<'_, '_> {
    fn step(&mut self) {
        match self.stack.last() {
            None | Some(Frame::Code(_)) => self.code(),
            Some(Frame::Template) => self.template(),
            Some(Frame::Tag(angles)) => self.tag(*angles),
            Some(Frame::Children) => self.children(),
        }
    }

    fn code(&mut self) {
        let rest = self.cursor.rest();
        self.cursor.at += rest
            .iter()
            .position(|byte| MARKS[usize::from(*byte)])
            .unwrap_or(rest.len());
        match self.cursor.peek(0) {
            b'/' => self.slash(),
            quote @ (b'"' | b'\'') => string(self.cursor, quote, true),
            b'`' => {
                self.cursor.at += 1;
                self.stack.push(Frame::Template);
            }
            b'(' => {
                let end = self.cursor.code_end(self.cursor.at);
                let word = self.cursor.word_before(end);
                self.heads
                    .push(matches!(word, b"if" | b"while" | b"for" | b"with"));
                self.cursor.at += 1;
            }
            b')' => {
                self.behind_head = self.heads.pop().unwrap_or(false);
                self.cursor.at += 1;
            }
            b'{' => {
                if let Some(Frame::Code(depth)) = self.stack.last_mut() {
                    *depth += 1;
                }
                self.cursor.at += 1;
            }
            b'}' => {
                match self.stack.last_mut() {
                    Some(Frame::Code(0)) => drop(self.stack.pop()),
                    Some(Frame::Code(depth)) => *depth -= 1,
                    _ => {}
                }
                self.cursor.at += 1;
            }
            b'<' if self.elements && begins_element(self.cursor) => self.open_element(),
            _ => self.cursor.at += 1,
        }
    }

    /// A comment, a regular expression, or a division.
    fn slash(&mut self) {
        if comment(self.cursor) {
            return;
        }
        let end = self.cursor.code_end(self.cursor.at);
        let behind_parenthesis = end > self.cursor.start && self.cursor.byte(end - 1) == b')';
        if (behind_parenthesis && self.behind_head) || value_expected(self.cursor, SCRIPT_WORDS) {
            skip_regex(self.cursor);
        } else {
            self.cursor.at += 1;
        }
    }

    fn template(&mut self) {
        let rest = self.cursor.rest();
        self.cursor.at += memchr::memchr3(b'`', b'\\', b'$', rest).unwrap_or(rest.len());
        match self.cursor.peek(0) {
            b'\\' => self.cursor.at += 2,
            b'$' if self.cursor.peek(1) == b'{' => {
                self.cursor.at += 2;
                self.stack.push(Frame::Code(0));
            }
            b'`' => {
                self.stack.pop();
                self.cursor.at += 1;
            }
            _ => self.cursor.at += 1,
        }
    }

    /// Enters the element whose `<` is next.
    fn open_element(&mut self) {
        self.cursor.at += 1;
        if self.cursor.peek(0) == b'>' {
            self.cursor.at += 1;
            self.stack.push(Frame::Children);
        } else {
            self.stack.push(Frame::Tag(0));
        }
    }

    fn tag(&mut self, angles: usize) {
        match self.cursor.peek(0) {
            quote @ (b'"' | b'\'') => string(self.cursor, quote, false),
            b'{' => {
                self.cursor.at += 1;
                self.stack.push(Frame::Code(0));
            }
            b'/' if self.cursor.peek(1) == b'>' => {
                self.cursor.at += 2;
                self.stack.pop();
            }
            b'/' if comment(self.cursor) => {}
            b'<' => self.replace(Frame::Tag(angles + 1)),
            b'>' if angles > 0 => self.replace(Frame::Tag(angles - 1)),
            b'>' => self.replace(Frame::Children),
            _ => self.cursor.at += 1,
        }
    }

    /// Skips one byte, after which the innermost construct is `frame`.
    fn replace(&mut self, frame: Frame) {
        self.cursor.at += 1;
        self.stack.pop();
        self.stack.push(frame);
    }

    fn children(&mut self) {
        let rest = self.cursor.rest();
        self.cursor.at += memchr::memchr2(b'<', b'{', rest).unwrap_or(rest.len());
        match (self.cursor.peek(0), self.cursor.peek(1)) {
            (b'{', _) => {
                self.cursor.at += 1;
                self.stack.push(Frame::Code(0));
            }
            (b'<', b'/') => {
                self.cursor.skip_past(self.cursor.at, ">");
                self.stack.pop();
            }
            (b'<', next) if next == b'>' || is_word(next) || next == b'$' => self.open_element(),
            _ => self.cursor.at += 1,
        }
    }
}

/// Records the comment at the cursor, if there is one.
fn comment(cursor: &mut CommentCursor<'_>) -> bool {
    let doc = is_doc(cursor.rest());
    match cursor.peek(1) {
        b'/' => cursor.take_line(if doc {
            CommentKind::Doc
        } else {
            CommentKind::Line
        }),
        b'*' => cursor.take_block(
            if doc {
                CommentKind::Doc
            } else {
                CommentKind::Block
            },
            cursor.at + 2,
            "*/",
        ),
        _ => return false,
    }
    true
}

/// Skips the string that `quote` begins: in code it stays on its line and has escapes, in a tag neither.
fn string(cursor: &mut CommentCursor<'_>, quote: u8, code: bool) {
    cursor.at += 1;
    let (escape, line) = if code { (b'\\', b'\n') } else { (quote, quote) };
    loop {
        let rest = cursor.rest();
        cursor.at += memchr::memchr3(quote, escape, line, rest).unwrap_or(rest.len());
        match cursor.peek(0) {
            b'\\' if code && cursor.peek(1) == b'\r' => cursor.at += 3,
            b'\\' if code => cursor.at += 2,
            _ => break,
        }
    }
    cursor.at += 1;
}

/// True if the `<` at the cursor begins an element, rather than a comparison or type parameters.
fn begins_element(cursor: &CommentCursor<'_>) -> bool {
    let first = cursor.peek(1);
    if first != b'>' && !first.is_ascii_alphabetic() && first != b'_' && first != b'$' {
        return false;
    }
    if !value_expected(cursor, SCRIPT_WORDS) {
        return false;
    }
    let name = cursor.at + 1;
    let length = cursor.word(name);
    if &cursor.bytes[name..name + length] == b"const" {
        return false;
    }
    let behind = cursor.rest()[1 + length..].trim_ascii_start();
    let parameters =
        behind.starts_with(b",") || behind.starts_with(b"=") || behind.starts_with(b"extends ");
    let called = length > 0 && behind.starts_with(b">(") && !closes(cursor, name, length);
    !parameters && !called
}

/// True if the element at the cursor, with the name at `name`, is closed nearby.
fn closes(cursor: &CommentCursor<'_>, name: usize, length: usize) -> bool {
    let close = [b"</", &cursor.bytes[name..name + length]].concat();
    let near = &cursor.rest()[..cursor.rest().len().min(2_000)];
    memchr::memmem::find(near, &close).is_some()
}
