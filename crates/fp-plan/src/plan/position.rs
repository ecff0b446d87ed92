//! Converts byte offsets to lines and columns. This is done only for findings that are shown.

use crate::diagnostic::Span;

/// The byte-order mark that some editors write at the start of a file.
pub const BOM: &str = "\u{feff}";

/// A position as people count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters, not counting a byte-order mark.
    pub column: usize,
}

/// A text, with the offset at which each line starts.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![if text.starts_with(BOM) { BOM.len() } else { 0 }];
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self { text, starts }
    }

    /// The position of byte `offset`; an offset beyond the text counts as the end of the text.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let starts = &self.starts;
        let line = starts.partition_point(|&start| start <= offset).max(1);
        let start = starts[line - 1].min(offset);
        Position {
            line,
            column: self.text[start..offset].chars().count() + 1,
        }
    }

    /// The first and the last position of `span`.
    pub fn range(&self, span: Span) -> (Position, Position) {
        (self.position(span.start), self.position(span.end))
    }

    /// Offset of the first byte of a line, counted from 1; the text's end if there is no such line.
    pub fn line_start(&self, line: usize) -> usize {
        line.checked_sub(1)
            .and_then(|index| self.starts.get(index))
            .copied()
            .unwrap_or(self.text.len())
    }

    /// The text of a line, counted from 1, without its line ending; empty if there is no such line.
    pub fn line_text(&self, line: usize) -> &'t str {
        self.text
            .get(self.line_start(line)..self.line_start(line + 1))
            .unwrap_or_default()
            .trim_end_matches(['\r', '\n'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_long_line() {
        let text = format!("\u{feff}x\n{}", "a한é😀".repeat(1_000));
        let lines = Lines::new(&text);
        let start = lines.line_start(2);
        for (column, (at, _)) in text[start..].char_indices().enumerate() {
            assert_eq!(
                lines.position(start + at),
                Position {
                    line: 2,
                    column: column + 1
                }
            );
        }
        assert_eq!(
            lines.position(text.len()),
            Position {
                line: 2,
                column: 4_001
            }
        );
        assert_eq!(
            (lines.line_start(1), lines.line_start(9)),
            (BOM.len(), text.len())
        );
    }

    #[test]
    fn places() {
        let check = |text: &str, offset: usize, line: usize, column: usize| {
            assert_eq!(
                Lines::new(text).position(offset),
                Position { line, column },
                "{text:?} {offset}"
            );
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
            [
                lines.line_text(0),
                lines.line_text(1),
                lines.line_text(2),
                lines.line_text(3),
                lines.line_text(9)
            ],
            ["", "a", "b", "", ""]
        );
    }
}
