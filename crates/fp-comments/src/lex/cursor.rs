//! The position in a text, with the comments found so far and the queries that several lexers share.

use memchr::{memchr, memchr_iter, memmem, memrchr};

use crate::{CommentKind, SourceComment};

/// The position of a lexer in a text. All lexers share one cursor, so that one can hand over to another.
#[derive(Debug)]
pub(crate) struct CommentCursor<'t> {
    text: &'t str,
    /// The text up to the point where this lexer must stop.
    pub(super) bytes: &'t [u8],
    /// Where this lexer's part of the text starts.
    pub(super) start: usize,
    /// From the cursor up to this point, no slash begins a closed regular expression, so the search isn't repeated.
    unclosed: usize,
    /// The next byte.
    pub(super) at: usize,
    found: Vec<SourceComment<'t>>,
    /// Position up to which lines have been counted.
    counted: usize,
    line: usize,
    line_start: usize,
}

impl<'t> CommentCursor<'t> {
    /// A cursor at the start of `text`, after its byte order mark.
    pub(super) fn at_start_of(text: &'t str) -> Self {
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
            line_start: start,
        }
    }

    /// The comments found, in order.
    pub(super) fn into_comments(self) -> Vec<SourceComment<'t>> {
        self.found
    }

    /// Runs `lexer` from here to `end`, and leaves the cursor there.
    pub(super) fn lex_within(&mut self, end: usize, lexer: impl FnOnce(&mut Self)) {
        let (bytes, start) = (self.bytes, self.start);
        self.bytes = &bytes[..end];
        self.start = self.at;
        lexer(self);
        (self.bytes, self.start, self.at) = (bytes, start, end);
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The byte at `index`; 0 outside of the text.
    pub(super) fn byte_at(&self, index: usize) -> u8 {
        self.bytes.get(index).copied().unwrap_or(0)
    }

    /// The byte `ahead` bytes after the next one; 0 past the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.byte_at(self.at + ahead)
    }

    /// The byte before the next one; 0 at the start.
    pub(super) fn byte_before(&self) -> u8 {
        if self.at > self.start {
            self.bytes[self.at - 1]
        } else {
            0
        }
    }

    pub(super) fn rest(&self) -> &'t [u8] {
        self.rest_from(self.at)
    }

    pub(super) fn rest_from(&self, index: usize) -> &'t [u8] {
        self.bytes.get(index..).unwrap_or_default()
    }

    /// True if `mark` comes next.
    pub(super) fn sees(&self, mark: &str) -> bool {
        self.rest().starts_with(mark.as_bytes())
    }

    /// True if `mark` comes next, in upper or lower case.
    pub(super) fn sees_any_case(&self, mark: &str) -> bool {
        let head = self.rest().get(..mark.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(mark.as_bytes()))
    }

    /// Number of bytes from `index` on that `fits` accepts.
    pub(super) fn length_while(&self, index: usize, fits: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest_from(index);
        rest.iter().take_while(|byte| fits(**byte)).count()
    }

    /// Number of consecutive `byte`s at `index`.
    pub(super) fn run_length(&self, index: usize, byte: u8) -> usize {
        self.length_while(index, |other| other == byte)
    }

    /// Length in bytes of the name at `index`.
    pub(super) fn name_length(&self, index: usize) -> usize {
        self.length_while(index, is_word)
    }

    /// Moves to the next byte for which `stops` is true, or to the end.
    pub(super) fn skip_until(&mut self, stops: impl Fn(u8) -> bool) {
        let rest = self.rest();
        let found = rest.iter().position(|byte| stops(*byte));
        self.at += found.unwrap_or(rest.len());
    }

    /// The next occurrence of `mark` at or after `index`.
    pub(super) fn find_mark(&self, index: usize, mark: &str) -> Option<usize> {
        let found = memmem::find(self.rest_from(index), mark.as_bytes())?;
        Some(index + found)
    }

    /// The next occurrence of `mark` at or after `index`, before the end of the line.
    pub(super) fn find_in_line(&self, index: usize, mark: &str) -> Option<usize> {
        let rest = self.rest_from(index);
        let begins = |at: usize| rest[at..].starts_with(mark.as_bytes());
        let found = (0..rest.len()).find(|at| rest[*at] == b'\n' || begins(*at))?;
        begins(found).then_some(index + found)
    }

    /// The position just past the next `mark` at or after `index`, or the end of the text if there is none.
    pub(super) fn end_of_mark(&self, index: usize, mark: &str) -> usize {
        let found = self.find_mark(index, mark);
        found.map_or(self.bytes.len(), |found| found + mark.len())
    }

    /// The end of the line at `index`: its line break, or the end of the text.
    pub(super) fn line_end(&self, index: usize) -> usize {
        let found = memchr(b'\n', self.rest_from(index));
        let end = found.map_or(self.bytes.len(), |found| index + found);
        if end > index && self.bytes[end - 1] == b'\r' {
            end - 1
        } else {
            end
        }
    }

    /// Moves past the line break of this line.
    pub(super) fn skip_line(&mut self) {
        self.at = self.end_of_mark(self.at, "\n");
    }

    pub(super) fn skip_blanks(&mut self) {
        self.at += self.length_while(self.at, is_blank);
    }

    /// True if only blanks precede the next byte on its line.
    pub(super) fn begins_line(&self) -> bool {
        let before = &self.bytes[self.start..self.at];
        let code = before.iter().rev().find(|byte| !is_blank(**byte));
        code.is_none_or(|byte| *byte == b'\n')
    }

    /// True if the next byte is the first of its line.
    pub(super) fn at_line_start(&self) -> bool {
        matches!(self.byte_before(), 0 | b'\n')
    }

    /// The end of the code before the next byte: just past the last byte that is neither white space nor part of a
    /// comment.
    pub(super) fn code_end(&self) -> usize {
        let mut end = self.at;
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
    pub(super) fn word_ending_at(&self, end: usize) -> &'t [u8] {
        let low = end.saturating_sub(20).max(self.start);
        let before = self.bytes[low..end].iter().rev();
        let length = before.take_while(|byte| is_word(**byte)).count();
        &self.bytes[end - length..end]
    }

    /// The name or number before the next byte, at most its last 20 bytes.
    pub(super) fn word_before(&self) -> &'t [u8] {
        self.word_ending_at(self.at)
    }

    /// True if the cursor is inside or right after a name.
    pub(super) fn is_behind_word(&self) -> bool {
        is_word(self.byte_before())
    }

    /// Records the comment from the next byte to the end of its line.
    pub(super) fn take_line(&mut self, kind: CommentKind) {
        self.take_until(self.line_end(self.at), kind);
    }

    /// Records the comment from the next byte to `end`, and moves there.
    pub(super) fn take_until(&mut self, end: usize, kind: CommentKind) {
        let (start, bytes) = (self.at, self.text.as_bytes());
        let last = self.found.last();
        let known = last.map_or(0, |comment| comment.span.end);
        let line_break = memrchr(b'\n', &bytes[self.counted..start]);
        self.line_start = line_break.map_or(self.line_start, |found| self.counted + found + 1);
        let before = bytes[self.line_start.max(known)..start].trim_ascii();
        let goes_on = self.line_start <= known && last.is_some_and(|comment| comment.trails);
        self.line += memchr_iter(b'\n', &bytes[self.counted..start]).count();
        self.counted = start;
        if let Some(text) = self.text.get(start..end) {
            self.found.push(SourceComment {
                kind,
                span: start..end,
                line: self.line,
                column: start - self.line_start,
                text,
                trails: goes_on || !before.is_empty(),
            });
        }
        self.at = end;
    }

    /// Skips the regular expression at the cursor, or just its slash if it isn't closed on its line.
    pub(super) fn skip_regex(&mut self) {
        let (mut index, mut class) = (self.at + 1, false);
        self.at += 1;
        if index <= self.unclosed {
            return;
        }
        while !matches!(self.byte_at(index), 0 | b'\n') {
            match self.byte_at(index) {
                b'\\' => index += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    self.at = index + 1;
                    return;
                }
                _ => {}
            }
            index += 1;
        }
        self.unclosed = index;
    }

    /// True if a value must come at the cursor, rather than an operator; `words` lists the words that can precede a
    /// value.
    pub(super) fn expects_value(&self, words: &str) -> bool {
        let end = self.code_end();
        if end == self.start {
            return true;
        }
        let last = self.bytes[end - 1];
        let before = |index: usize| match index > self.start {
            true => self.bytes[index - 1],
            false => 0,
        };
        match last {
            b')' | b']' | b'"' | b'\'' | b'`' | b'$' | b'@' => false,
            b'}' => self.bytes[end..self.at].contains(&b'\n'),
            b'+' | b'-' => before(end - 1) != last,
            b'!' => !is_word(before(end - 1)) && !matches!(before(end - 1), b')' | b']'),
            _ if is_word(last) => {
                let word = self.word_ending_at(end);
                let precedes = words.split(' ').any(|other| other.as_bytes() == word);
                precedes && !b".$@%:#".contains(&before(end - word.len()))
            }
            _ => true,
        }
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// True if `byte` can be part of a name.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// JavaScript and Groovy keywords that can precede a value.
pub(super) const SCRIPT_WORDS: &str =
    "return typeof case in of delete void throw new do else instanceof yield await default extends";
