//! Columns of markers, with tabs, each byte of a line looked at once.

/// Finds columns of ascending offsets.
#[derive(Debug)]
pub(super) struct Columns<'t> {
    text: &'t str,
    last: (usize, usize),
}

impl<'t> Columns<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, last: (0, 0) }
    }

    /// The column of `offset`, from 0, a tab reaching to the next multiple of 4.
    pub(super) fn of(&mut self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let known = if self.last.0 <= offset { self.last.0 } else { 0 };
        let mut start = offset;
        while start > known && !matches!(bytes[start - 1], b'\n' | b'\r') {
            start -= 1;
        }
        let mut column = if start == known && start == self.last.0 { self.last.1 } else { 0 };
        for &byte in &bytes[start..offset] {
            match byte {
                b'\t' => column += 4 - column % 4,
                // Only the first byte of a character counts, and of a byte-order mark none.
                0x80..=0xbf | 0xef if start == 0 && self.text.starts_with(super::BOM) => {}
                0x80..=0xbf => {}
                _ => column += 1,
            }
        }
        self.last = (offset, column);
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns() {
        let check = |text: &str, offset: usize, expect: usize| {
            assert_eq!(Columns::new(text).of(offset), expect, "{text:?} {offset}");
        };
        check("- a", 0, 0);
        check("x\n  - a", 4, 2);
        check("\t- a", 1, 4);
        check(" \t- a", 2, 4);
        check("\u{feff}- a", 3, 0);
        check("한- a", 3, 1);
    }

    #[test]
    fn going_on_in_a_line_and_back() {
        let mut columns = Columns::new("- \t- a\n  - b");
        assert_eq!(
            [columns.of(0), columns.of(3), columns.of(9), columns.of(0), columns.of(9)],
            [0, 4, 2, 0, 2]
        );
    }
}
