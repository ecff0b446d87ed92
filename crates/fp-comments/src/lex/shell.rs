//! Shells need a lexer of their own: quotes and commands nest in each other, and heredocs interrupt both.

use memchr::memmem;

use super::cursor::{CommentCursor, is_word, marks};
use super::engine::{Heredoc, skip_heredoc};
use crate::CommentKind;

/// An open construct.
#[derive(Clone, Copy)]
enum Frame {
    /// `"…"`.
    Quotes,
    /// `$(…)`.
    Command(Command),
    /// `` `…` ``.
    Backticks,
    /// `${…}`; true if it is inside quotes.
    Braces(bool),
    /// `((…))`, with this many parentheses open inside.
    Arithmetic(usize),
}

/// The inside of `$(…)`.
#[derive(Clone, Copy)]
struct Command {
    /// Number of open parentheses.
    depth: usize,
    /// `case` and `esac` are counted up to here.
    counted: usize,
    /// Number of open `case`s; their patterns close with a parenthesis that nothing opens.
    cases: usize,
}

/// Records the comments of a script, in fish or a descendant of the Bourne shell.
pub(crate) fn lex(cursor: &mut CommentCursor<'_>, fish: bool) {
    let mut lexer = Lexer {
        cursor,
        fish,
        stack: Vec::new(),
        heredocs: Vec::new(),
    };
    while !lexer.cursor.done() {
        lexer.step();
    }
}

struct Lexer<'c, 't> {
    cursor: &'c mut CommentCursor<'t>,
    fish: bool,
    stack: Vec<Frame>,
    heredocs: Vec<Heredoc<'t>>,
}

impl Lexer<'_, '_> {
    fn step(&mut self) {
        match self.stack.last().copied() {
            Some(Frame::Quotes) => self.quotes(),
            Some(Frame::Braces(quoted)) => self.braces(quoted),
            Some(Frame::Arithmetic(depth)) => self.arithmetic(depth),
            None | Some(Frame::Command(_) | Frame::Backticks) => self.code(),
        }
    }

    fn pass(&mut self, bytes: usize) {
        self.cursor.at += bytes;
    }

    fn enter(&mut self, frame: Frame, bytes: usize) {
        self.cursor.at += bytes;
        self.stack.push(frame);
    }

    fn leave(&mut self, bytes: usize) {
        self.cursor.at += bytes;
        self.stack.pop();
    }

    /// Enters the construct that a `$` or a backtick begins.
    fn expansion(&mut self) {
        let quoted = matches!(self.stack.last(), Some(Frame::Quotes | Frame::Braces(true)));
        match (self.cursor.peek(0), self.cursor.peek(1)) {
            (b'`', _) if matches!(self.stack.last(), Some(Frame::Backticks)) => self.leave(1),
            (b'`', _) => self.enter(Frame::Backticks, 1),
            (_, b'(') if self.cursor.peek(2) == b'(' => self.enter(Frame::Arithmetic(0), 3),
            (_, b'(') => {
                self.pass(2);
                let command = Command {
                    depth: 0,
                    counted: self.cursor.at,
                    cases: 0,
                };
                self.stack.push(Frame::Command(command));
            }
            (_, b'{') => self.enter(Frame::Braces(quoted), 2),
            (_, b'#' | b'$') => self.pass(2),
            (_, b'\'') if !quoted && !self.fish => {
                self.pass(1);
                self.single_quotes(true);
            }
            _ => self.pass(1),
        }
    }

    fn quotes(&mut self) {
        let rest = self.cursor.rest();
        let mark = |byte: &u8| matches!(byte, b'"' | b'\\' | b'$' | b'`');
        self.cursor.at += rest.iter().position(mark).unwrap_or(rest.len());
        match self.cursor.peek(0) {
            b'"' => self.leave(1),
            b'$' | b'`' if !self.fish || self.cursor.sees("$(") => self.expansion(),
            b'\\' => self.pass(2),
            _ => self.pass(1),
        }
    }

    fn braces(&mut self, quoted: bool) {
        match self.cursor.peek(0) {
            b'}' => self.leave(1),
            b'\\' => self.pass(2),
            b'"' => self.enter(Frame::Quotes, 1),
            b'\'' if !quoted => self.single_quotes(false),
            b'$' | b'`' => self.expansion(),
            _ => self.pass(1),
        }
    }

    fn arithmetic(&mut self, depth: usize) {
        match self.cursor.peek(0) {
            b'(' => {
                self.stack.pop();
                self.enter(Frame::Arithmetic(depth + 1), 1);
            }
            b')' if depth > 0 => {
                self.stack.pop();
                self.enter(Frame::Arithmetic(depth - 1), 1);
            }
            b')' => self.leave(if self.cursor.peek(1) == b')' { 2 } else { 1 }),
            b'"' => self.enter(Frame::Quotes, 1),
            b'\\' => self.pass(2),
            b'$' | b'`' => self.expansion(),
            _ => self.pass(1),
        }
    }

    fn code(&mut self) {
        let rest = self.cursor.rest();
        self.cursor.at += rest
            .iter()
            .position(|byte| MARKS[usize::from(*byte)])
            .unwrap_or(rest.len());
        match self.cursor.peek(0) {
            b'\n' => {
                self.pass(1);
                for heredoc in std::mem::take(&mut self.heredocs) {
                    skip_heredoc(self.cursor, heredoc);
                }
            }
            b'\\' => self.pass(2),
            b'#' if self.begins_comment() => self.comment(),
            b'\'' => self.single_quotes(self.fish),
            b'"' => self.enter(Frame::Quotes, 1),
            b'$' | b'`' if !self.fish || self.cursor.sees("$(") => self.expansion(),
            b'(' if self.cursor.peek(1) == b'(' && !self.fish => {
                self.enter(Frame::Arithmetic(0), 2)
            }
            b'(' | b')' => self.parenthesis(),
            b'<' if self.cursor.sees("<<") && !self.fish => self.heredoc(),
            _ => self.pass(1),
        }
    }

    /// True if the `#` at the cursor is where a word can begin, and is no flag of zsh's patterns like `(#i)`.
    fn begins_comment(&self) -> bool {
        let cursor = &*self.cursor;
        let flag = cursor.before() == b'('
            && cursor.rest()[1..]
                .iter()
                .take(12)
                .find(|byte| !is_word(**byte))
                == Some(&b')');
        !flag
            && matches!(
                cursor.before(),
                0 | b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'`'
            )
    }

    fn comment(&mut self) {
        let rest = self.cursor.rest();
        if matches!(self.stack.last(), Some(Frame::Backticks))
            && let Some(end) = memchr::memchr2(b'`', b'\n', rest)
            && rest[end] == b'`'
        {
            self.cursor.take(CommentKind::Line, self.cursor.at + end);
        } else {
            self.cursor.take_line(CommentKind::Line);
        }
    }

    /// Skips the single-quoted string at the cursor, with or without escapes in it.
    fn single_quotes(&mut self, escapes: bool) {
        self.pass(1);
        loop {
            let rest = self.cursor.rest();
            let escape = if escapes { b'\\' } else { b'\'' };
            self.cursor.at += memchr::memchr2(b'\'', escape, rest).unwrap_or(rest.len());
            if self.cursor.peek(0) != b'\\' {
                break;
            }
            self.pass(2);
        }
        self.pass(1);
    }

    fn parenthesis(&mut self) {
        let (opens, at) = (self.cursor.peek(0) == b'(', self.cursor.at);
        let Some(Frame::Command(command)) = self.stack.last_mut() else {
            return self.pass(1);
        };
        if opens {
            command.depth += 1;
        } else if command.depth > 0 {
            command.depth -= 1;
        } else {
            count_cases(self.cursor, command, at);
            if command.cases == 0 {
                self.stack.pop();
            }
        }
        self.pass(1);
    }

    fn heredoc(&mut self) {
        if self.cursor.peek(2) == b'<' {
            return self.pass(3);
        }
        self.pass(2);
        let indented = self.cursor.peek(0) == b'-';
        self.pass(usize::from(indented));
        let blank = self
            .cursor
            .rest()
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        self.pass(blank);
        let quote = self.cursor.peek(0);
        let quoted = matches!(quote, b'\'' | b'"');
        self.pass(usize::from(quoted || quote == b'\\'));
        let end = |byte: &u8| {
            if quoted {
                *byte == quote || *byte == b'\n'
            } else {
                !is_word(*byte) && !b"-.!+%,/@:".contains(byte)
            }
        };
        let rest = self.cursor.rest();
        let length = rest.iter().position(end).unwrap_or(rest.len());
        if length > 0 && !rest[0].is_ascii_digit() {
            self.heredocs.push(Heredoc {
                close: &rest[..length],
                indented,
            });
            self.pass(length + usize::from(quoted));
        }
    }
}

/// Updates the number of open `case`s up to `at`.
fn count_cases(cursor: &CommentCursor<'_>, command: &mut Command, at: usize) {
    let text = &cursor.bytes[command.counted..at];
    let whole = |found: usize| {
        let index = command.counted + found;
        !is_word(cursor.byte(index + 4))
            && (index == cursor.start || !is_word(cursor.byte(index - 1)))
    };
    let opened = memmem::find_iter(text, b"case").filter(|found| {
        let before = text[..*found]
            .iter()
            .rev()
            .take(200)
            .find(|byte| !matches!(byte, b' ' | b'\t'));
        let word = [&b"do"[..], b"then", b"else"]
            .iter()
            .any(|word| text[..*found].trim_ascii_end().ends_with(word));
        whole(*found) && (word || before.is_none_or(|byte| b"(;&|{\n".contains(byte)))
    });
    let opened = opened.count();
    let closed = memmem::find_iter(text, b"esac")
        .filter(|found| whole(*found))
        .count();
    command.cases = (command.cases + opened).saturating_sub(closed);
    command.counted = at;
}

/// The bytes at which code may turn into something else.
const MARKS: [bool; 256] = marks(b"\n\\#\'\"$`()<");
