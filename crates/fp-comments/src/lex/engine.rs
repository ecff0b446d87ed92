//! One lexer for all languages that a table can describe: comment marks, literals, code inside of literals,
//! and a function of the language's own for everything else.

use memchr::{memchr2_iter, memchr3};

use super::cursor::CommentCursor;
use crate::CommentKind;

/// The comments and literals of a language.
pub(crate) struct Syntax {
    /// Marks that begin a comment to the end of the line.
    pub(crate) lines: &'static [&'static str],
    /// Block comments; they take precedence over comments to the end of the line.
    pub(crate) blocks: &'static [BlockMarks],
    /// String literals, those with longer marks first.
    pub(crate) texts: &'static [Literal],
    /// True if the comment at the start of the given bytes is documentation.
    pub(crate) doc: fn(&[u8]) -> bool,
    /// The bytes at which the language's own rule is called.
    pub(crate) asks: &'static [u8],
    /// The language's own rule, called before the table.
    pub(crate) rule: fn(&mut TableLexer<'_, '_>) -> RuleTurn,
}

impl Syntax {
    /// No comments and no literals; the base of all tables.
    pub(crate) const PLAIN: Self = Self {
        lines: &[],
        blocks: &[],
        texts: &[],
        doc: |_| false,
        asks: &[],
        rule: |_| RuleTurn::Pass,
    };

    /// The bytes that can begin anything.
    pub(crate) fn first_bytes(&self) -> [bool; 256] {
        let mut first = [false; 256];
        let marks = self
            .lines
            .iter()
            .chain(self.blocks.iter().map(|block| &block.open));
        for mark in marks.chain(self.texts.iter().map(|text| &text.open)) {
            first[usize::from(mark.as_bytes()[0])] = true;
        }
        for byte in self.asks.iter().chain(b"\n") {
            first[usize::from(*byte)] = true;
        }
        first
    }
}

/// A comment between two marks.
pub(crate) struct BlockMarks {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
    /// True if one may contain another.
    pub(crate) nested: bool,
}

/// A literal, inside of which nothing is a comment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Literal {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
    /// The byte that escapes the next one.
    pub(crate) escape: Option<u8>,
    /// True if two closing marks stand for one and close nothing.
    pub(crate) doubled: bool,
    /// True if it may span lines; otherwise it ends with its line.
    pub(crate) lines: bool,
    /// True if further repetitions of the closing mark's byte belong to it.
    pub(crate) greedy: bool,
    /// The opening bracket that must be closed inside.
    pub(crate) nest: Option<u8>,
    /// The form of code inside.
    pub(crate) hole: Option<Hole>,
    /// True if it is documentation.
    pub(crate) doc: bool,
}

impl Literal {
    /// From `mark` to the same mark, on one line, without escapes.
    pub(crate) const fn raw(mark: &'static str) -> Self {
        Self::between(mark, mark)
    }

    /// From `open` to `close`, on one line, without escapes.
    pub(crate) const fn between(open: &'static str, close: &'static str) -> Self {
        Self {
            open,
            close,
            escape: None,
            doubled: false,
            lines: false,
            greedy: false,
            nest: None,
            hole: None,
            doc: false,
        }
    }

    /// From `mark` to the same mark, on one line, with backslash as escape.
    pub(crate) const fn escaped(mark: &'static str) -> Self {
        Self::raw(mark).escape(b'\\')
    }

    pub(crate) const fn escape(self, escape: u8) -> Self {
        Self {
            escape: Some(escape),
            ..self
        }
    }

    pub(crate) const fn doubled(self) -> Self {
        Self {
            doubled: true,
            ..self
        }
    }

    pub(crate) const fn lines(self) -> Self {
        Self {
            lines: true,
            ..self
        }
    }

    pub(crate) const fn greedy(self) -> Self {
        Self {
            greedy: true,
            ..self
        }
    }

    pub(crate) const fn hole(self, hole: Hole) -> Self {
        Self {
            hole: Some(hole),
            ..self
        }
    }
}

/// Code inside a string literal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hole {
    pub(crate) open: &'static str,
    /// The brackets that must be closed inside.
    pub(crate) opens: &'static [u8],
    pub(crate) close: u8,
    /// True if a colon ends the code and begins its format, and a doubled opening mark stands for itself.
    pub(crate) format: bool,
}

/// `${…}`.
pub(crate) const DOLLAR: Hole = Hole {
    open: "${",
    opens: b"{",
    close: b'}',
    format: false,
};
/// `#{…}`.
pub(crate) const HASH: Hole = Hole {
    open: "#{",
    opens: b"{",
    close: b'}',
    format: false,
};
/// `{…}`, with an optional format after a colon.
pub(crate) const FORMAT: Hole = Hole {
    open: "{",
    opens: b"{[(",
    close: b'}',
    format: true,
};
/// `$(…)`.
pub(crate) const DOLLAR_PARENTHESIS: Hole = Hole {
    open: "$(",
    opens: b"(",
    close: b')',
    format: false,
};
/// `\(…)`.
pub(crate) const SLASH_PARENTHESIS: Hole = Hole {
    open: "\\(",
    opens: b"(",
    close: b')',
    format: false,
};

/// The result of a language's own rule.
pub(crate) enum RuleTurn {
    /// Nothing special: the table decides.
    Pass,
    /// The rule moved the cursor.
    Moved,
    /// A literal began before the cursor, and ends with this many `#` after its closing mark.
    Text(Literal, usize),
    /// The language ends here.
    Leave,
}

/// An open construct.
#[derive(Clone, Copy)]
enum Frame {
    /// A literal that ends with `hashes` times `#`, with `depth` of its own brackets open.
    Text {
        rule: Literal,
        hashes: usize,
        depth: usize,
    },
    /// Code in a literal, with `depth` brackets open; `lines` if it may span lines, `bare` if it has no
    /// comments.
    Hole {
        hole: Hole,
        depth: usize,
        lines: bool,
        bare: bool,
    },
}

/// A heredoc, whose body begins after the line that announces it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heredoc<'t> {
    /// The line that ends it.
    pub(crate) close: &'t [u8],
    /// True if blanks may precede that line.
    pub(crate) indented: bool,
}

/// The state of the engine.
pub(crate) struct TableLexer<'c, 't> {
    pub(crate) cursor: &'c mut CommentCursor<'t>,
    pub(crate) heredocs: Vec<Heredoc<'t>>,
    syntax: &'static Syntax,
    stack: Vec<Frame>,
}

/// Records the comments of `syntax` up to the cursor's end, or until the language ends.
pub(crate) fn lex(cursor: &mut CommentCursor<'_>, syntax: &'static Syntax) {
    let marks = syntax.first_bytes();
    let mut marks_in_hole = marks;
    for byte in b"{}()[]:" {
        marks_in_hole[usize::from(*byte)] = true;
    }
    let mut engine = TableLexer {
        cursor,
        heredocs: Vec::new(),
        syntax,
        stack: Vec::new(),
    };
    while !engine.cursor.done() {
        if let Some(Frame::Text {
            rule,
            hashes,
            depth,
        }) = engine.stack.last().copied()
        {
            engine.text(rule, hashes, depth);
            continue;
        }
        let marks = if engine.stack.is_empty() {
            &marks
        } else {
            &marks_in_hole
        };
        let rest = engine.cursor.rest();
        engine.cursor.at += rest
            .iter()
            .position(|byte| marks[usize::from(*byte)])
            .unwrap_or(rest.len());
        if engine.cursor.done() || engine.step().is_none() {
            return;
        }
    }
}

impl TableLexer<'_, '_> {
    /// Handles one byte that may have a meaning; `None` if the language ends.
    fn step(&mut self) -> Option<()> {
        let byte = self.cursor.peek(0);
        if byte == b'\n' {
            self.line_break();
            return Some(());
        }
        let bare = matches!(self.stack.last(), Some(Frame::Hole { bare: true, .. }));
        if self.syntax.asks.contains(&byte) {
            match (self.syntax.rule)(self) {
                RuleTurn::Pass => {}
                RuleTurn::Moved => return Some(()),
                RuleTurn::Leave => return None,
                RuleTurn::Text(rule, hashes) => {
                    self.stack.push(Frame::Text {
                        rule,
                        hashes,
                        depth: 0,
                    });
                    return Some(());
                }
            }
        }
        if (bare || !self.comment()) && !self.open_text() && !self.bracket(byte) {
            self.cursor.at += 1;
        }
        Some(())
    }

    /// Records the comment that begins here, if there is one.
    fn comment(&mut self) -> bool {
        if let Some(block) = self
            .syntax
            .blocks
            .iter()
            .find(|block| self.cursor.sees(block.open))
        {
            let kind = if (self.syntax.doc)(self.cursor.rest()) {
                CommentKind::Doc
            } else {
                CommentKind::Block
            };
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

    /// Records the comment from here to the end of its line.
    pub(crate) fn take_line(&mut self) {
        let kind = if (self.syntax.doc)(self.cursor.rest()) {
            CommentKind::Doc
        } else {
            CommentKind::Line
        };
        self.cursor.take_line(kind);
    }

    /// Enters the literal that begins here, if there is one.
    fn open_text(&mut self) -> bool {
        let Some(rule) = self
            .syntax
            .texts
            .iter()
            .find(|text| self.cursor.sees(text.open))
        else {
            return false;
        };
        if rule.doc {
            let end = self
                .cursor
                .find(self.cursor.at + rule.open.len(), rule.close);
            self.cursor.take(
                CommentKind::Doc,
                end.map_or(self.cursor.bytes.len(), |end| end + rule.close.len()),
            );
            return true;
        }
        self.cursor.at += rule.open.len();
        self.stack.push(Frame::Text {
            rule: *rule,
            hashes: 0,
            depth: 0,
        });
        true
    }

    /// Counts the brackets inside a hole, and leaves it at its closing bracket.
    fn bracket(&mut self, byte: u8) -> bool {
        let Some(Frame::Hole { hole, depth, .. }) = self.stack.last_mut() else {
            return false;
        };
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

    /// Closes constructs that can't span lines, and skips the heredocs that begin there.
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

    /// Continues in a literal: to just past its end, or into a hole.
    fn text(&mut self, rule: Literal, hashes: usize, mut depth: usize) {
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
                    let more = if rule.greedy {
                        self.cursor.run(behind, byte)
                    } else {
                        0
                    };
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

    /// True if a literal that ends with `close` and this many `#` ends at the cursor.
    fn closes(&self, close: &[u8], hashes: usize) -> bool {
        let behind = self.cursor.at + close.len();
        self.cursor.rest().starts_with(close) && self.cursor.run(behind, b'#') >= hashes
    }

    /// Enters a hole of a literal with `depth` open brackets, unless its mark is doubled and stands for
    /// itself.
    fn enter(&mut self, rule: Literal, hole: Hole, depth: usize) -> bool {
        self.cursor.at += hole.open.len();
        if hole.format && self.cursor.peek(0) == b'{' {
            self.cursor.at += 1;
            return false;
        }
        if let Some(Frame::Text { depth: kept, .. }) = self.stack.last_mut() {
            *kept = depth;
        }
        let bare = hole.format || !rule.lines;
        self.stack.push(Frame::Hole {
            hole,
            depth: 0,
            lines: rule.lines,
            bare,
        });
        true
    }

    /// Skips ordinary bytes in a literal without holes and brackets.
    fn skip_plain(&mut self, rule: Literal) {
        if rule.hole.is_none() && rule.nest.is_none() {
            let close = rule.close.as_bytes()[0];
            let line = if rule.lines { close } else { b'\n' };
            let rest = self.cursor.rest();
            self.cursor.at +=
                memchr3(close, rule.escape.unwrap_or(close), line, rest).unwrap_or(rest.len());
        }
    }
}

/// Moves past the line that ends `heredoc`.
pub(crate) fn skip_heredoc(cursor: &mut CommentCursor<'_>, heredoc: Heredoc<'_>) {
    while !cursor.done() {
        let line = &cursor.bytes[cursor.at..cursor.line_end(cursor.at)];
        cursor.next_line();
        let line = if heredoc.indented {
            line.trim_ascii_start()
        } else {
            line
        };
        if line == heredoc.close {
            return;
        }
    }
}

/// The end of the block comment at the cursor, including its mark.
fn block_end(cursor: &CommentCursor<'_>, block: &BlockMarks) -> usize {
    let body = cursor.at + block.open.len();
    if !block.nested {
        return cursor
            .find(body, block.close)
            .map_or(cursor.bytes.len(), |found| found + block.close.len());
    }
    let (open, close) = (block.open.as_bytes(), block.close.as_bytes());
    let (mut depth, mut next) = (1_usize, body);
    for found in memchr2_iter(
        open[0],
        close[0],
        cursor.bytes.get(body..).unwrap_or_default(),
    ) {
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
