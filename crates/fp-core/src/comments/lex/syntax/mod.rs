//! Languages as tables: the marks of their comments and texts, and a rule of their own for what no table can say.

use super::engine::{Engine, Turn};

pub(super) mod c_like;
pub(super) mod dashes;
pub(super) mod functional;
pub(super) mod hashes;
pub(super) mod perl;
pub(super) mod php;
pub(super) mod regex;
pub(super) mod ruby;
pub(super) mod styles;

/// How a language writes comments and texts.
pub(super) struct Syntax {
    /// What begins a comment to the end of the line.
    pub(super) lines: &'static [&'static str],
    /// Comments between two marks; they win over those to the end of the line.
    pub(super) blocks: &'static [Block],
    /// Texts, those with the longer marks first.
    pub(super) texts: &'static [Text],
    /// Whether the comment with which the rest begins is documentation.
    pub(super) doc: fn(&[u8]) -> bool,
    /// The bytes at which the language's own rule is asked.
    pub(super) asks: &'static [u8],
    /// The language's own rule, asked before the table.
    pub(super) rule: fn(&mut Engine<'_, '_>) -> Turn,
}

impl Syntax {
    /// Without any comment or text: what tables are made from.
    pub(super) const PLAIN: Self =
        Self { lines: &[], blocks: &[], texts: &[], doc: |_| false, asks: &[], rule: |_| Turn::Pass };

    /// Which bytes can begin something.
    pub(super) fn first_bytes(&self) -> [bool; 256] {
        let mut first = [false; 256];
        let marks = self.lines.iter().chain(self.blocks.iter().map(|block| &block.open));
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
pub(super) struct Block {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Whether one may stand inside another.
    pub(super) nested: bool,
}

/// A literal in which nothing is a comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// What takes the meaning from the byte behind it.
    pub(super) escape: Option<u8>,
    /// Whether two closing marks stand for one that closes nothing.
    pub(super) doubled: bool,
    /// Whether it may go on in the next line; otherwise it ends with its line.
    pub(super) lines: bool,
    /// Whether more of the closing mark's byte belong to it.
    pub(super) greedy: bool,
    /// The opening bracket that has to be closed inside.
    pub(super) nest: Option<u8>,
    /// Where code stands inside.
    pub(super) hole: Option<Hole>,
    /// Whether it is documentation.
    pub(super) doc: bool,
}

impl Text {
    /// From `mark` to the same mark, on one line, without escapes.
    pub(super) const fn raw(mark: &'static str) -> Self {
        Self::between(mark, mark)
    }

    /// From `open` to `close`, on one line, without escapes.
    pub(super) const fn between(open: &'static str, close: &'static str) -> Self {
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
    pub(super) const fn escaped(mark: &'static str) -> Self {
        Self::raw(mark).escape(b'\\')
    }

    pub(super) const fn escape(self, escape: u8) -> Self {
        Self { escape: Some(escape), ..self }
    }

    pub(super) const fn doubled(self) -> Self {
        Self { doubled: true, ..self }
    }

    pub(super) const fn lines(self) -> Self {
        Self { lines: true, ..self }
    }

    pub(super) const fn greedy(self) -> Self {
        Self { greedy: true, ..self }
    }

    pub(super) const fn hole(self, hole: Hole) -> Self {
        Self { hole: Some(hole), ..self }
    }
}

/// Code inside a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hole {
    pub(super) open: &'static str,
    /// The brackets that have to be closed inside.
    pub(super) opens: &'static [u8],
    pub(super) close: u8,
    /// Whether a colon ends the code and begins its format, and a doubled opening mark is none.
    pub(super) format: bool,
}

/// `${…}`.
pub(super) const DOLLAR: Hole = Hole { open: "${", opens: b"{", close: b'}', format: false };
/// `#{…}`.
pub(super) const HASH: Hole = Hole { open: "#{", opens: b"{", close: b'}', format: false };
/// `{…}`, with an optional format behind a colon.
pub(super) const FORMAT: Hole = Hole { open: "{", opens: b"{[(", close: b'}', format: true };
/// `$(…)`.
pub(super) const DOLLAR_PARENTHESIS: Hole = Hole { open: "$(", opens: b"(", close: b')', format: false };
/// `\(…)`.
pub(super) const SLASH_PARENTHESIS: Hole = Hole { open: "\\(", opens: b"(", close: b')', format: false };
