//! Reads text that is neither task nor field, normalized so that the writer can put it elsewhere, and the blocks that
//! are entries of a field.

use super::Reader;
use super::blocks::misread_line;
use super::fields;
use super::fields::trim;
use super::task_line::{self, Suspect};
use super::{FrameKind, ReaderFrame};
use crate::diagnostic::Span;
use crate::plan::field::FieldKind;
use crate::plan::marker_length;
use crate::plan::task::Item;
use std::borrow::Cow;
use std::ops::Range;

impl<'t> Reader<'t> {
    /// Reads a paragraph together with the link definitions directly above it, which might be part of it.
    pub(super) fn paragraph(&mut self, range: Range<usize>) {
        let start = self.begin_text(range.start);
        self.text_block(start..range.end);
    }

    /// Records a definition such as `[page]: https://example.org`.
    pub(super) fn link_definition(&mut self, range: Range<usize>) {
        if self.quotes == 0 {
            let range = trim(self.text, range);
            let start = self.begin_text(range.start);
            self.definitions = Some(start..range.end);
        }
    }

    /// The start of text that continues at `start`, including the definitions directly above it.
    pub(super) fn begin_text(&mut self, start: usize) -> usize {
        match self.definitions.take() {
            Some(above) if is_next_line(&self.text[above.end..start]) => above.start,
            Some(above) => {
                self.text_block(above);
                start
            }
            None => start,
        }
    }

    /// Keeps definitions without a paragraph below, unless the text of an item begins with them.
    pub(super) fn end_definitions(&mut self) {
        let Some(range) = self.definitions.take() else {
            return;
        };
        let begins_item = self.frames.last().is_some_and(|frame| {
            frame.kind == FrameKind::Unread
                && self.text[frame.content..range.start.max(frame.content)]
                    .trim()
                    .is_empty()
        });
        if !begins_item {
            self.text_block(range);
        }
    }

    fn text_block(&mut self, range: Range<usize>) {
        if let Some(frame) = self
            .frames
            .last()
            .filter(|frame| frame.kind == FrameKind::Unread)
        {
            let is_head = self.text[frame.content..range.start.max(frame.content)]
                .trim()
                .is_empty();
            self.read_head(if is_head { range.end } else { range.start });
            if is_head {
                return;
            }
        }
        self.leave_closed_items();
        let suspects: Vec<Suspect> = match self.frames.last() {
            Some(frame) if self.is_whole(frame) => return,
            _ => task_line::suspects(self.text, range.clone(), true).collect(),
        };
        let text_end = suspects
            .first()
            .map_or(range.end, |first| first.range.start);
        let own = range.start..text_end;
        match self.frames.last() {
            Some(&ReaderFrame {
                kind: FrameKind::Field(field),
                open: true,
                task: Some(task),
                ..
            }) => {
                self.field_paragraph(task, field, own);
            }
            _ => self.keep_paragraph(own),
        }
        for suspect in suspects {
            let fault = misread_line(self.text, &suspect);
            self.misread(&suspect, Some(fault));
        }
    }

    /// Keeps a block other than a list: as an entry of its field, or else as prose.
    pub(super) fn keep_block(&mut self, range: Range<usize>, close: Option<&str>) {
        match self.frames.last() {
            Some(&ReaderFrame {
                kind: FrameKind::Field(field),
                open: true,
                task: Some(task),
                ..
            }) if !field.form().is_list_of_words() => {
                let range = trim(self.text, range);
                let column = self.column_of(range.start);
                let text = dedent(&self.text[range.clone()], column, column);
                let item = Item {
                    text,
                    span: Span::new(range.start, range.end),
                    note: None,
                };
                self.builder.entry(task, field, item, column + 2);
            }
            _ => self.keep_prose(range, close),
        }
    }

    /// Keeps a block as prose. If it stays open up to the end of its container, adds the closing line, which lets it be
    /// written anywhere.
    pub(super) fn keep_prose(&mut self, range: Range<usize>, close: Option<&str>) {
        let range = trim_block(self.text, range);
        let start = self.column_of(range.start);
        let mut text = dedent(&self.text[range.clone()], start, self.container_column());
        if let Some(close) = close {
            text = format!("{text}\n{close}").into();
        }
        self.keep_text(text, range);
    }

    fn keep_paragraph(&mut self, range: Range<usize>) {
        let range = trim_block(self.text, range);
        let start = self.column_of(range.start);
        let text = dedent_paragraph(&self.text[range.clone()], start, self.container_column());
        self.keep_text(text, range);
    }

    /// Keeps a heading. A heading of several lines is a paragraph above an underline.
    pub(super) fn keep_heading(&mut self, range: Range<usize>) {
        let range = trim_block(self.text, range);
        let start = self.column_of(range.start);
        let source = &self.text[range.clone()];
        let last = source.rfind(['\n', '\r']).unwrap_or(0);
        let above = dedent_paragraph(&source[..last], start, self.container_column());
        let line_end = if last > 0 { "\n" } else { "" };
        let text = format!("{above}{line_end}{}", source[last..].trim_start());
        self.keep_text(text.into(), range);
    }

    /// Keeps a text as prose, unless its container is kept as a whole.
    pub(super) fn keep_text(&mut self, text: Cow<'t, str>, range: Range<usize>) {
        if !self.container().is_some_and(|frame| self.is_whole(frame)) {
            let place = (self.enclosing(), self.builder.tasks.len());
            let range = trim_block(self.text, range);
            self.builder.note(
                place,
                Item {
                    text,
                    span: Span::new(range.start, range.end),
                    note: None,
                },
            );
        }
    }

    /// True if the content of `frame` is kept with it, up to its first task.
    pub(super) fn is_whole(&self, frame: &ReaderFrame) -> bool {
        match frame.kind {
            FrameKind::Entry(field) => !field.form().is_list_of_words(),
            _ => frame.is_text() && !self.has_tasks(frame),
        }
    }

    /// The innermost item that Markdown has open.
    pub(super) fn container(&self) -> Option<&ReaderFrame> {
        let &(at, serial) = self.open.last()?;
        self.frames.get(at).filter(|frame| frame.serial == serial)
    }

    /// The column of that item's content.
    pub(super) fn container_column(&self) -> usize {
        self.container().map_or(0, |frame| frame.content_column)
    }

    /// Reads a paragraph in a field like the line of its label.
    fn field_paragraph(&mut self, task: usize, field: FieldKind, range: Range<usize>) {
        let column = self.container_column();
        for item in fields::line_entries(field, self.text, range) {
            self.builder.entry(task, field, item, column);
        }
    }
}

/// Trims from `range` only what Markdown counts as blanks. Others, such as an ideographic space, keep a block from
/// turning into another kind.
fn trim_block(text: &str, range: Range<usize>) -> Range<usize> {
    const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start_matches(BLANKS).len());
    start..start.max(range.start + slice.trim_end().len())
}

/// True if there is no blank line in `gap`. A repeated link definition, which Markdown doesn't report, may be in it.
fn is_next_line(gap: &str) -> bool {
    let whole_lines = gap.split('\n').skip(1).collect::<Vec<_>>();
    whole_lines
        .iter()
        .rev()
        .skip(1)
        .all(|line| !line.trim().is_empty())
}

/// The line that would close an unclosed fence whose container begins at `column`; `None` if it is closed.
pub(super) fn open_fence(source: &str, column: usize) -> Option<&str> {
    let source = source.trim();
    let sign = source.chars().next()?;
    let signs = &source[..source.len() - source.trim_start_matches(sign).len()];
    let last = source
        .rfind(['\n', '\r'])
        .map_or("", |end| &source[end + 1..]);
    let marks = last.trim();
    let closed = marks.len() >= signs.len()
        && marks.chars().all(|c| c == sign)
        && indentation(last) < column + 4;
    (!closed).then_some(signs)
}

/// The text that would close an unclosed HTML block of a kind that no blank line ends.
pub(super) fn open_html(source: &str) -> Option<&'static str> {
    const PAIRS: [(&str, &str); 8] = [
        ("<!--", "-->"),
        ("<?", "?>"),
        ("<![cdata[", "]]>"),
        ("<!", ">"),
        ("<script", "</script>"),
        ("<pre", "</pre>"),
        ("<style", "</style>"),
        ("<textarea", "</textarea>"),
    ];
    let source = source.trim_start().to_ascii_lowercase();
    let (_, close) = PAIRS
        .into_iter()
        .find(|(open, _)| source.starts_with(open))?;
    let closed = match close.starts_with("</") {
        true => PAIRS[4..].iter().any(|(_, close)| source.contains(close)),
        false => source.contains(close),
    };
    (!closed).then_some(close)
}

/// Removes the first `columns` columns from each line of a block but the first, which begins at column `start`. Tabs in
/// the indentation become blanks, because their width depends on their position; in fenced code they stay.
pub(super) fn dedent(text: &str, start: usize, columns: usize) -> Cow<'_, str> {
    without(text, start, columns, 0)
}

/// Does the same for an item, or something in one, that begins at column `start` and has its content at column
/// `content`. A less indented line continues the paragraph above it: it is indented like the rest, or further if it
/// would otherwise begin something of its own.
pub(super) fn dedent_item(text: &str, start: usize, content: usize) -> Cow<'_, str> {
    without(text, start, start, content)
}

fn without(text: &str, start: usize, columns: usize, content: usize) -> Cow<'_, str> {
    let text = text.trim_end();
    if memchr::memchr3(b'\n', b'\r', b'\t', text.as_bytes()).is_none() {
        return Cow::Borrowed(text.trim_start_matches(' '));
    }
    let mut result = String::with_capacity(text.len());
    let mut fence = None;
    let mut above = 0;
    for (number, line) in lines(text).enumerate() {
        result.push_str(if number > 0 { "\n" } else { "" });
        let begin = result.len();
        if fence.is_none() && number > 0 && indentation(line) < content && !line.trim().is_empty() {
            push_lazy(&mut result, line.trim_start(), content - columns, above);
            continue;
        }
        match fence {
            _ if number == 0 => {
                push_expanded(&mut result, line.trim_start_matches([' ', '\t']), start, 0)
            }
            Some(fence) if !line.trim_start().starts_with(fence) => {
                push_unindented(&mut result, line, columns);
            }
            _ => push_expanded(&mut result, line, 0, columns),
        }
        // A paragraph may continue with less indentation, and its container ends with a blank line at the earliest.
        let column = text_column(&result[begin..]);
        above = if line.trim().is_empty() {
            0
        } else {
            column.max(above)
        };
        fence = fence_behind(fence, line.trim());
    }
    Cow::Owned(result)
}

/// The fence that is open after a line.
fn fence_behind(before: Option<&'static str>, line: &str) -> Option<&'static str> {
    match before {
        None => ["```", "~~~"]
            .into_iter()
            .find(|fence| line.starts_with(fence)),
        Some(fence) => (!line.starts_with(fence)).then_some(fence),
    }
}

/// Adds a line that continues the paragraph above, whose text begins at column `above`.
fn push_lazy(out: &mut String, line: &str, columns: usize, above: usize) {
    let harmless = line.starts_with(char::is_alphabetic);
    let columns = if harmless {
        columns
    } else {
        columns.max(above + 4)
    };
    out.extend(std::iter::repeat_n(' ', columns));
    push_expanded(out, line, columns, 0);
}

/// Removes the container's indentation from indented code, and keeps the code's own. The text must start at the
/// beginning of its first line.
pub(super) fn dedent_code(text: &str, columns: usize) -> String {
    let mut result = String::with_capacity(text.len());
    for line in lines(text.trim_end()) {
        let start = result.len();
        push_unindented(&mut result, line, columns + 4);
        if result.len() > start {
            result.insert_str(start, "    ");
        }
        result.push('\n');
    }
    result.truncate(result.trim_end().len());
    result
}

/// The source of a paragraph. A line of only `=` or `-` that belongs to it is indented far enough to stay part of it.
pub(super) fn dedent_paragraph(text: &str, start: usize, columns: usize) -> Cow<'_, str> {
    let text = dedent(text, start, columns);
    let underlines = |line: &str| {
        let bare = line.trim();
        !bare.is_empty() && (bare.bytes().all(|b| b == b'=') || bare.bytes().all(|b| b == b'-'))
    };
    if !text.lines().skip(1).any(underlines) {
        return text;
    }
    let mut result = String::with_capacity(text.len() + 8);
    for (number, line) in text.split('\n').enumerate() {
        result.push_str(if number > 0 { "\n" } else { "" });
        if number > 0 && underlines(line) && !line.starts_with("    ") {
            result.push_str("    ");
            result.push_str(line.trim());
        } else {
            result.push_str(line);
        }
    }
    Cow::Owned(result)
}

/// The lines of a text without their endings: line feeds, carriage returns, or both.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Adds a line without its first `columns` columns of indentation; the excess width of a tab stays.
fn push_unindented(out: &mut String, line: &str, columns: usize) {
    let mut column = 0;
    for (at, byte) in line.bytes().enumerate() {
        if column >= columns || !matches!(byte, b' ' | b'\t') {
            out.extend(std::iter::repeat_n(' ', column.saturating_sub(columns)));
            out.push_str(&line[at..]);
            return;
        }
        column += width(byte, column);
    }
}

/// Does the same, with blanks in place of the tabs that indent the line or follow markers at its start.
fn push_expanded(out: &mut String, line: &str, start: usize, columns: usize) {
    if !line.contains('\t') {
        return push_unindented(out, line, columns);
    }
    let bytes = line.as_bytes();
    let (mut at, mut column, mut skip) = (0, start, columns);
    loop {
        let from = column;
        while let Some(&byte @ (b' ' | b'\t')) = bytes.get(at) {
            column += width(byte, column);
            at += 1;
        }
        if at == bytes.len() {
            return;
        }
        out.extend(std::iter::repeat_n(
            ' ',
            (column - from).saturating_sub(skip),
        ));
        skip = 0;
        let marker = marker(&line[at..]);
        out.push_str(&line[at..at + marker]);
        at += marker;
        column += marker;
        if marker == 0 || !matches!(bytes.get(at), Some(b' ' | b'\t')) {
            out.push_str(&line[at..]);
            return;
        }
    }
}

/// The length of the item or quote marker at the start of `text`; 0 if there is none.
fn marker(text: &str) -> usize {
    if text.starts_with('>') {
        1
    } else {
        marker_length(text)
    }
}

/// Columns of blanks before a line.
pub(super) fn indentation(line: &str) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.fold(0, |column, byte| column + width(byte, column))
}

/// The column after all markers of a line without tabs.
fn text_column(line: &str) -> usize {
    let mut at = 0;
    loop {
        at += line[at..].len() - line[at..].trim_start_matches(' ').len();
        match marker(&line[at..]) {
            0 => return at,
            len if line[at + len..].starts_with(' ') => at += len,
            _ => return at,
        }
    }
}

fn width(byte: u8, column: usize) -> usize {
    if byte == b'\t' { 4 - column % 4 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_and_tabs() {
        let check = |text: &str, start: usize, columns: usize, expect: &str| {
            assert_eq!(dedent(text, start, columns), expect, "{text:?}");
        };
        check("a\n  b\r\n    c\n", 0, 2, "a\nb\n  c");
        check("a\rb\n d", 0, 2, "a\nb\nd");
        check("a\n\tb", 0, 2, "a\n  b");
        check("a\n  \tb", 0, 2, "a\n  b");
        check("-\ta\n\t- \tb\tc", 2, 2, "- a\n  -   b\tc");
        check("1.\t-\ta", 0, 0, "1.  -   a");
        check("a\n \n\n  \n b", 0, 2, "a\n\n\n\nb");
        check("```make\n\tcc\n```\n\td", 0, 0, "```make\n\tcc\n```\n    d");
    }

    #[test]
    fn lines_that_go_on_with_a_paragraph() {
        let check = |text: &str, start: usize, content: usize, expect: &str| {
            assert_eq!(dedent_item(text, start, content), expect, "{text:?}");
        };
        check("- a\nb", 0, 2, "- a\n  b");
        check("- - a\n=\n  b", 0, 2, "- - a\n        =\n  b");
        check("2) a\n    -", 2, 5, "2) a\n       -");
        check("a\n    -", 2, 2, "a\n  -");
    }

    #[test]
    fn code_keeps_its_own_indentation() {
        let check = |text: &str, columns: usize, expect: &str| {
            assert_eq!(dedent_code(text, columns), expect, "{text:?}");
        };
        check("    a\n\n      b\n", 0, "    a\n\n      b");
        check("\ta\n\t\tb", 0, "    a\n    \tb");
        check("      a\n", 2, "    a");
        check("\t\ta\n", 2, "      a");
    }

    #[test]
    fn a_paragraph_stays_one() {
        assert_eq!(
            dedent_paragraph("  a\n=\nb\n ---", 2, 2),
            "a\n    =\nb\n    ---"
        );
        assert_eq!(dedent_paragraph("a\n      -\nb", 0, 0), "a\n      -\nb");
    }
}
