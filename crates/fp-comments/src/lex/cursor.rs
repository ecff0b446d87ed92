//! The position in a text, with the comments found so far and the questions that several lexers ask about it.

use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::{CommentKind, SourceComment};

/// The position of a lexer in a text. All lexers share one cursor, so that one can hand over to another.
#[derive(Debug)]
pub(crate) struct CommentCursor<'t> {
    text: &'t str,
    /// The text up to the point where this lexer must stop.
    pub(super) bytes: &'t [u8],
    /// The start of this lexer's part.
    pub(super) start: usize,
    /// No regular expression that begins after the cursor closes before this point, so the search isn't
    /// repeated.
    pub(super) unclosed: usize,
    /// The next byte.
    pub(super) at: usize,
    found: Vec<SourceComment<'t>>,
    counted: usize,
    line: usize,
}

impl<'t> CommentCursor<'t> {
    /// A cursor at the start of `text`, after its byte order mark.
    pub(super) fn new(text: &'t str) -> Self {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self {
            text,
            bytes: text.as_bytes(),
            start,
            unclosed: 0,
            at: start,
            found: Vec::new(),
            counted: 0,
            line: 1,
        }
    }

    /// The comments found, in order.
    pub(super) fn finish(self) -> Vec<SourceComment<'t>> {
        self.found
    }

    /// Runs `lexer` from here to `end`, and leaves the cursor there.
    pub(super) fn within(&mut self, end: usize, lexer: impl FnOnce(&mut Self)) {
        let (bytes, start) = (self.bytes, self.start);
        self.bytes = &bytes[..end];
        self.start = self.at;
        lexer(self);
        (self.bytes, self.start, self.at) = (bytes, start, end);
    }

    /// True at the end.
    pub(super) fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The byte at `index`; 0 outside of the text.
    pub(super) fn byte(&self, index: usize) -> u8 {
        self.bytes.get(index).copied().unwrap_or(0)
    }

    /// The byte that is `ahead` of the next one; 0 past the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.byte(self.at + ahead)
    }

    /// The byte before the next one; 0 at the start.
    pub(super) fn before(&self) -> u8 {
        if self.at > self.start {
            self.bytes[self.at - 1]
        } else {
            0
        }
    }

    /// The remaining bytes.
    pub(super) fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// True if `mark` comes next.
    pub(super) fn sees(&self, mark: &str) -> bool {
        self.rest().starts_with(mark.as_bytes())
    }

    /// True if `mark` comes next, ignoring case.
    pub(super) fn sees_any_case(&self, mark: &str) -> bool {
        self.rest()
            .get(..mark.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(mark.as_bytes()))
    }

    /// The next occurrence of `mark` at or after `from`.
    pub(super) fn find(&self, from: usize, mark: &str) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        memmem::find(rest, mark.as_bytes()).map(|found| from + found)
    }

    /// The end of the line at `from`: its line break, or the end of the text.
    pub(super) fn line_end(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let end = memchr(b'\n', rest).map_or(self.bytes.len(), |found| from + found);
        if end > from && self.bytes[end - 1] == b'\r' {
            end - 1
        } else {
            end
        }
    }

    /// Moves past the line break of this line.
    pub(super) fn next_line(&mut self) {
        self.at = memchr(b'\n', self.rest()).map_or(self.bytes.len(), |found| self.at + found + 1);
    }

    /// Moves past the next `mark` at or after `from`, or to the end if there is none.
    pub(super) fn skip_past(&mut self, from: usize, mark: &str) {
        self.at = self
            .find(from, mark)
            .map_or(self.bytes.len(), |found| found + mark.len());
    }

    /// True if only blanks precede `index` on its line.
    pub(super) fn begins_line(&self, index: usize) -> bool {
        let before = &self.bytes[self.start..index];
        before
            .iter()
            .rev()
            .find(|byte| !matches!(byte, b' ' | b'\t'))
            .is_none_or(|byte| *byte == b'\n')
    }

    /// True if the next byte is the first of its line.
    pub(super) fn at_line_start(&self) -> bool {
        matches!(self.before(), 0 | b'\n')
    }

    /// The end of the code before `index`: just past the last byte that is neither white space nor part of a
    /// comment.
    pub(super) fn code_end(&self, index: usize) -> usize {
        let mut end = index;
        let mut comments = self.found.iter().rev();
        loop {
            while end > self.start && self.bytes[end - 1].is_ascii_whitespace() {
                end -= 1;
            }
            match comments.next() {
                Some(comment) if comment.span.end == end && end > self.start => {
                    end = comment.span.start
                }
                _ => return end,
            }
        }
    }

    /// The name or number that ends at `end`, at most its last 20 bytes.
    pub(super) fn word_before(&self, end: usize) -> &'t [u8] {
        let low = end.saturating_sub(20).max(self.start);
        let length = self.bytes[low..end]
            .iter()
            .rev()
            .take_while(|byte| is_word(**byte))
            .count();
        &self.bytes[end - length..end]
    }

    /// Number of consecutive `byte`s at `from`.
    pub(super) fn run(&self, from: usize, byte: u8) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|other| **other == byte).count()
    }

    /// Length in bytes of the name at `from`.
    pub(super) fn word(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| is_word(**byte)).count()
    }

    /// Records the comment from the next byte to the end of its line.
    pub(super) fn take_line(&mut self, kind: CommentKind) {
        self.take(kind, self.line_end(self.at));
    }

    /// Records the comment from the next byte to just past `close`, which is searched from `from` on; without
    /// it, to the end.
    pub(super) fn take_block(&mut self, kind: CommentKind, from: usize, close: &str) {
        let end = self
            .find(from, close)
            .map_or(self.bytes.len(), |found| found + close.len());
        self.take(kind, end);
    }

    /// Records the comment from the next byte to `end`, and moves there.
    pub(super) fn take(&mut self, kind: CommentKind, end: usize) {
        let (start, bytes) = (self.at, self.text.as_bytes());
        let last = self.found.last();
        let known = last.map_or(0, |comment| comment.span.end);
        let line_start = memrchr(b'\n', &bytes[known..start]).map(|found| known + found + 1);
        let code = bytes[line_start.unwrap_or(known)..start]
            .iter()
            .any(|byte| !byte.is_ascii_whitespace());
        let bom = known == 0 && line_start.is_none() && self.text[..start].trim() == "\u{feff}";
        let continued = line_start.is_none() && last.is_some_and(|comment| comment.trails);
        self.line += memchr_iter(b'\n', &bytes[self.counted..start]).count();
        self.counted = start;
        if let Some(text) = self.text.get(start..end) {
            let trails = continued || (code && !bom);
            self.found.push(SourceComment {
                kind,
                span: start..end,
                line: self.line,
                text,
                trails,
            });
        }
        self.at = end;
    }
}

/// True if `byte` can be part of a name.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A table of the bytes at which a lexer has to stop.
pub(super) const fn marks(bytes: &[u8]) -> [bool; 256] {
    let mut marks = [false; 256];
    let mut index = 0;
    while index < bytes.len() {
        marks[bytes[index] as usize] = true;
        index += 1;
    }
    marks
}

/// Words of JavaScript and Groovy that precede a value.
pub(super) const SCRIPT_WORDS: &str =
    "return typeof case in of delete void throw new do else instanceof yield await default extends";
/// True if a value must come at the cursor, rather than an operator; `words` are those that precede a value.
pub(super) fn value_expected(cursor: &CommentCursor<'_>, words: &str) -> bool {
    let end = cursor.code_end(cursor.at);
    let Some(index) = end.checked_sub(1).filter(|index| *index >= cursor.start) else {
        return true;
    };
    match cursor.byte(index) {
        b')' | b']' | b'"' | b'\'' | b'`' => false,
        b'}' => cursor.bytes[end..cursor.at].contains(&b'\n'),
        b'+' | b'-' => index == cursor.start || cursor.byte(index - 1) != cursor.byte(index),
        b'!' => {
            index == cursor.start
                || !(is_word(cursor.byte(index - 1))
                    || matches!(cursor.byte(index - 1), b')' | b']'))
        }
        byte if is_word(byte) || byte == b'$' || byte == b'@' => {
            let word = cursor.word_before(end);
            let before = cursor.byte((end - word.len()).wrapping_sub(1));
            words.split(' ').any(|other| other.as_bytes() == word)
                && !matches!(before, b'.' | b'$' | b'@' | b'%' | b':' | b'#')
        }
        _ => true,
    }
}

/// Skips the regular expression at the cursor, or just its slash if it isn't closed on its line.
pub(super) fn skip_regex(cursor: &mut CommentCursor<'_>) {
    let (mut index, mut class) = (cursor.at + 1, false);
    cursor.at += 1;
    if index <= cursor.unclosed {
        return;
    }
    while !matches!(cursor.byte(index), 0 | b'\n') {
        match cursor.byte(index) {
            b'\\' => index += 1,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => {
                cursor.at = index + 1;
                return;
            }
            _ => {}
        }
        index += 1;
    }
    cursor.unclosed = index;
}
