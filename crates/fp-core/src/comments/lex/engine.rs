//! The lexer of all languages that a table describes: comment marks, texts, and what may stand in their holes.

use memchr::{memchr2_iter, memchr3};

use super::cursor::Cursor;
use super::syntax::{Block, Hole, Syntax, Text};
use crate::comments::Kind;

/// What a language's own rule made of the place it was asked about.
pub(super) enum Turn {
    /// Nothing: the table decides.
    Pass,
    /// It moved the cursor on.
    Moved,
    /// A text began, before the cursor, which ends with so many `#` behind its closing mark.
    Text(Text, usize),
    /// The language ends here.
    Leave,
}

/// A construct that is open.
#[derive(Clone, Copy)]
enum Frame {
    /// A text that ends with so many `#`, and has so many of its own brackets open.
    Text { rule: Text, hashes: usize, depth: usize },
    /// Code in a text, with so many brackets open; whether it may go on in the next line, and is without comments.
    Hole { hole: Hole, depth: usize, lines: bool, bare: bool },
}

/// A text whose body begins behind the line on which it is announced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heredoc<'t> {
    /// The line that ends it.
    pub(super) close: &'t [u8],
    /// Whether blanks may stand before that line.
    pub(super) indented: bool,
}

/// Where the engine is.
pub(super) struct Engine<'c, 't> {
    pub(super) cursor: &'c mut Cursor<'t>,
    pub(super) heredocs: Vec<Heredoc<'t>>,
    syntax: &'static Syntax,
    stack: Vec<Frame>,
}

/// Takes the comments of `syntax` up to the cursor's end, or to where the language ends.
pub(super) fn lex(cursor: &mut Cursor<'_>, syntax: &'static Syntax) {
    let marks = syntax.first_bytes();
    let mut marks_in_hole = marks;
    for byte in b"{}()[]:" {
        marks_in_hole[usize::from(*byte)] = true;
    }
    let mut engine = Engine { cursor, heredocs: Vec::new(), syntax, stack: Vec::new() };
    while !engine.cursor.done() {
        if let Some(Frame::Text { rule, hashes, depth }) = engine.stack.last().copied() {
            engine.text(rule, hashes, depth);
            continue;
        }
        let marks = if engine.stack.is_empty() { &marks } else { &marks_in_hole };
        let rest = engine.cursor.rest();
        engine.cursor.at += rest.iter().position(|byte| marks[usize::from(*byte)]).unwrap_or(rest.len());
        if engine.cursor.done() || engine.step().is_none() {
            return;
        }
    }
}

impl Engine<'_, '_> {
    /// Looks at one byte that may mean something; `None` where the language ends.
    fn step(&mut self) -> Option<()> {
        let byte = self.cursor.peek(0);
        if byte == b'\n' {
            self.line_break();
            return Some(());
        }
        let bare = matches!(self.stack.last(), Some(Frame::Hole { bare: true, .. }));
        if self.syntax.asks.contains(&byte) {
            match (self.syntax.rule)(self) {
                Turn::Pass => {}
                Turn::Moved => return Some(()),
                Turn::Leave => return None,
                Turn::Text(rule, hashes) => {
                    self.stack.push(Frame::Text { rule, hashes, depth: 0 });
                    return Some(());
                }
            }
        }
        if (bare || !self.comment()) && !self.open_text() && !self.bracket(byte) {
            self.cursor.at += 1;
        }
        Some(())
    }

    /// Takes the comment that begins here, if one does.
    fn comment(&mut self) -> bool {
        if let Some(block) = self.syntax.blocks.iter().find(|block| self.cursor.sees(block.open)) {
            let kind = if (self.syntax.doc)(self.cursor.rest()) { Kind::Doc } else { Kind::Block };
            let end = block_end(self.cursor, block);
            self.cursor.take(kind, end);
            return true;
        }
        if self.syntax.lines.iter().any(|mark| self.cursor.sees(mark)) {
            self.take_line();
            return true;
        }
        false
    }

    /// Takes the comment from here to the end of its line.
    pub(super) fn take_line(&mut self) {
        let kind = if (self.syntax.doc)(self.cursor.rest()) { Kind::Doc } else { Kind::Line };
        self.cursor.take_line(kind);
    }

    /// Enters the text that begins here, if one does.
    fn open_text(&mut self) -> bool {
        let Some(rule) = self.syntax.texts.iter().find(|text| self.cursor.sees(text.open)) else {
            return false;
        };
        if rule.doc {
            let end = self.cursor.find(self.cursor.at + rule.open.len(), rule.close);
            self.cursor.take(Kind::Doc, end.map_or(self.cursor.bytes.len(), |end| end + rule.close.len()));
            return true;
        }
        self.cursor.at += rule.open.len();
        self.stack.push(Frame::Text { rule: *rule, hashes: 0, depth: 0 });
        true
    }

    /// Counts the brackets inside a hole, and leaves it behind its last.
    fn bracket(&mut self, byte: u8) -> bool {
        let Some(Frame::Hole { hole, depth, .. }) = self.stack.last_mut() else { return false };
        let format = hole.format && *depth == 0 && byte == b':';
        if hole.opens.contains(&byte) {
            *depth += 1;
        } else if *depth == 0 && (format || byte == hole.close) {
            self.stack.pop();
        } else if byte == hole.close || (hole.opens.len() > 1 && matches!(byte, b')' | b']')) {
            *depth = depth.saturating_sub(1);
        } else {
            return false;
        }
        self.cursor.at += 1;
        true
    }

    /// Ends what can't go on in the next line, and passes the heredocs that begin there.
    fn line_break(&mut self) {
        self.cursor.at += 1;
        while let Some(Frame::Hole { lines: false, .. }) = self.stack.last() {
            self.stack.pop();
            self.stack.pop();
        }
        for heredoc in std::mem::take(&mut self.heredocs) {
            skip_heredoc(self.cursor, heredoc);
        }
    }

    /// Goes on in a text: to behind its end, or into a hole.
    fn text(&mut self, rule: Text, hashes: usize, mut depth: usize) {
        let close = rule.close.as_bytes();
        while !self.cursor.done() {
            let byte = self.cursor.peek(0);
            if let Some(hole) = rule.hole.filter(|hole| self.cursor.sees(hole.open)) {
                if self.enter(rule, hole, depth) {
                    return;
                }
            } else if Some(byte) == rule.escape {
                self.cursor.at += 2;
            } else if byte == b'\n' && !rule.lines {
                self.stack.pop();
                return;
            } else if byte == close[0] && self.closes(close, hashes) {
                let behind = self.cursor.at + close.len();
                if rule.doubled && self.cursor.byte(behind) == byte {
                    self.cursor.at += 2;
                    continue;
                }
                self.cursor.at = behind;
                if depth == 0 {
                    let more = if rule.greedy { self.cursor.run(behind, byte) } else { 0 };
                    self.cursor.at += hashes + more;
                    self.stack.pop();
                    return;
                }
                depth -= 1;
            } else {
                depth += usize::from(Some(byte) == rule.nest);
                self.cursor.at += 1;
                self.skip_plain(rule);
            }
        }
    }

    /// Whether a text that ends with `close` and so many `#` ends at the cursor.
    fn closes(&self, close: &[u8], hashes: usize) -> bool {
        let behind = self.cursor.at + close.len();
        self.cursor.rest().starts_with(close) && self.cursor.run(behind, b'#') >= hashes
    }

    /// Enters a hole of a text in which `depth` brackets are open; not where its mark is doubled and stands for itself.
    fn enter(&mut self, rule: Text, hole: Hole, depth: usize) -> bool {
        self.cursor.at += hole.open.len();
        if hole.format && self.cursor.peek(0) == b'{' {
            self.cursor.at += 1;
            return false;
        }
        if let Some(Frame::Text { depth: kept, .. }) = self.stack.last_mut() {
            *kept = depth;
        }
        let bare = hole.format || !rule.lines;
        self.stack.push(Frame::Hole { hole, depth: 0, lines: rule.lines, bare });
        true
    }

    /// Passes what means nothing in a text without holes and brackets.
    fn skip_plain(&mut self, rule: Text) {
        if rule.hole.is_none() && rule.nest.is_none() {
            let close = rule.close.as_bytes()[0];
            let line = if rule.lines { close } else { b'\n' };
            let rest = self.cursor.rest();
            self.cursor.at += memchr3(close, rule.escape.unwrap_or(close), line, rest).unwrap_or(rest.len());
        }
    }
}

/// Moves behind the line that ends `heredoc`.
pub(super) fn skip_heredoc(cursor: &mut Cursor<'_>, heredoc: Heredoc<'_>) {
    while !cursor.done() {
        let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
        cursor.next_line();
        let line = if heredoc.indented { line.trim_ascii_start() } else { line };
        if line == heredoc.close {
            return;
        }
    }
}

/// Where the block comment that begins at the cursor ends, its mark included.
fn block_end(cursor: &Cursor<'_>, block: &Block) -> usize {
    let body = cursor.at + block.open.len();
    if !block.nested {
        return cursor.find(body, block.close).map_or(cursor.bytes.len(), |found| found + block.close.len());
    }
    let (open, close) = (block.open.as_bytes(), block.close.as_bytes());
    let (mut depth, mut next) = (1_usize, body);
    for found in memchr2_iter(open[0], close[0], cursor.bytes.get(body..).unwrap_or_default()) {
        let here = body + found;
        if here < next {
            continue;
        }
        if cursor.bytes[here..].starts_with(close) {
            depth -= 1;
            next = here + close.len();
        } else if cursor.bytes[here..].starts_with(open) {
            depth += 1;
            next = here + open.len();
        }
        if depth == 0 {
            return next;
        }
    }
    cursor.bytes.len()
}
