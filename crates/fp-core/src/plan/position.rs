//! Lines and columns of byte offsets, found only for what is shown.

use crate::diagnostic::Span;

/// The byte-order mark that some editors write first.
pub const BOM: &str = "\u{feff}";

/// A place as people count: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters; a byte-order mark is none.
    pub column: usize,
}

/// Where the lines of a text start.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Finds the lines of `text`; one pass.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let first = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let mut starts = vec![first];
        let bytes = text.as_bytes();
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { text, starts }
    }

    /// The place of byte `offset`; beyond the text it is the text's end.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let start = self.starts[line - 1].min(offset);
        Position { line, column: self.text[start..offset].chars().count() + 1 }
    }

    /// The first and the last place of `span`.
    #[must_use]
    pub fn range(&self, span: Span) -> (Position, Position) {
        (self.position(span.start), self.position(span.end))
    }

    /// The text of a line, counted from 1, without its end; empty where there is none.
    #[must_use]
    pub fn line(&self, line: usize) -> &'t str {
        let Some(&start) = line.checked_sub(1).and_then(|index| self.starts.get(index)) else { return "" };
        let end = self.starts.get(line).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\r', '\n'])
    }

    /// Number of lines; at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let check = |text: &str, offset: usize, line: usize, column: usize| {
            assert_eq!(Lines::new(text).position(offset), Position { line, column }, "{text:?} {offset}");
        };
        check("", 0, 1, 1);
        check("ab\ncd", 2, 1, 3);
        check("ab\ncd", 3, 2, 1);
        check("ab\r\ncd", 5, 2, 2);
        check("ab\rcd", 3, 2, 1);
        check("한글 x", 7, 1, 4);
        check("한글 x", 1, 1, 1);
        check("\u{feff}ab", 3, 1, 1);
        check("\u{feff}ab", 0, 1, 1);
        check("ab\n", 99, 2, 1);
    }

    #[test]
    fn lines_come_without_their_ends() {
        let lines = Lines::new("a\r\nb\n");
        assert_eq!(
            [lines.line(0), lines.line(1), lines.line(2), lines.line(3), lines.line(9)],
            ["", "a", "b", "", ""]
        );
    }
}
