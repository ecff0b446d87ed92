//! Text that is no task and no field, kept as it is written so that it can be written again elsewhere; and the
//! blocks that are entries of a field.

use std::borrow::Cow;
use std::ops::Range;

use super::Reader;
use super::blocks::misread_line;
use super::dedent::{dedent, dedent_paragraph, indentation};
use super::frame::{Frame, Kind};
use super::split::trim;
use super::suspect::{self, Suspect};
use super::value;
use crate::diagnostic::Span;
use crate::plan::field::FieldKind;
use crate::plan::task::Item;

impl<'t> Reader<'t> {
    /// Reads a paragraph, and the definitions of links right above it as a part of it, which they are until
    /// one looks closely.
    pub(super) fn paragraph(&mut self, range: Range<usize>) {
        let start = self.begin_text(range.start);
        self.text_block(start..range.end);
    }

    /// Takes note of a definition such as `[page]: https://example.org`.
    pub(super) fn link_definition(&mut self, range: Range<usize>) {
        if self.quotes == 0 {
            let range = trim(self.text, range);
            let start = self.begin_text(range.start);
            self.definitions = Some(start..range.end);
        }
    }

    /// Where text begins that goes on at `start`: with the definitions on the lines right above it.
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

    /// Keeps the definitions that no paragraph follows, unless they are how the text of an item begins.
    pub(super) fn end_definitions(&mut self) {
        let Some(range) = self.definitions.take() else { return };
        let begins_item = self.frames.last().is_some_and(|frame| {
            frame.kind == Kind::Unread
                && self.text[frame.content..range.start.max(frame.content)].trim().is_empty()
        });
        if !begins_item {
            self.text_block(range);
        }
    }

    fn text_block(&mut self, range: Range<usize>) {
        if let Some(frame) = self.frames.last().filter(|frame| frame.kind == Kind::Unread) {
            let is_head = self.text[frame.content..range.start.max(frame.content)].trim().is_empty();
            self.read_head(if is_head { range.end } else { range.start });
            if is_head {
                return;
            }
        }
        self.leave_closed_items();
        let suspects: Vec<Suspect> = match self.frames.last() {
            Some(frame) if self.is_whole(frame) => return,
            _ => suspect::lines(self.text, range.clone(), true).collect(),
        };
        let text_end = suspects.first().map_or(range.end, |first| first.range.start);
        let own = range.start..text_end;
        match self.frames.last() {
            Some(&Frame { kind: Kind::Field(field), open: true, task: Some(task), .. }) => {
                self.field_paragraph(task, field, own);
            }
            _ => self.keep_paragraph(own),
        }
        for suspect in suspects {
            let fault = misread_line(self.text, &suspect);
            self.misread(&suspect, Some(fault));
        }
    }

    /// Keeps a block that is no list: as entry of the field it stands in, else as prose.
    pub(super) fn keep_block(&mut self, range: Range<usize>, close: Option<&str>) {
        match self.frames.last() {
            Some(Frame { kind: Kind::Field(field), open: true, task: Some(task), column, .. })
                if !field.form().is_list_of_words() =>
            {
                let range = trim(self.text, range);
                let column = self.columns.of(range.start);
                let text = dedent(&self.text[range.clone()], column, column);
                let item = Item { text, span: Span::new(range.start, range.end), note: None };
                self.builder.entry(*task, *field, item, column + 2);
            }
            _ => self.keep_prose(range, close),
        }
    }

    /// Keeps a block as prose. One that is open up to the end of what it stands in is closed, so that it can
    /// stand anywhere.
    pub(super) fn keep_prose(&mut self, range: Range<usize>, close: Option<&str>) {
        let range = trim_block(self.text, range);
        let start = self.columns.of(range.start);
        let mut text = dedent(&self.text[range.clone()], start, self.container_column());
        if let Some(close) = close {
            text = format!("{text}\n{close}").into();
        }
        self.keep_text(text, range);
    }

    fn keep_paragraph(&mut self, range: Range<usize>) {
        let range = trim_block(self.text, range);
        let start = self.columns.of(range.start);
        let text = dedent_paragraph(&self.text[range.clone()], start, self.container_column());
        self.keep_text(text, range);
    }

    /// Keeps a heading; one of several lines is a paragraph above a line of signs.
    pub(super) fn keep_heading(&mut self, range: Range<usize>) {
        let range = trim_block(self.text, range);
        let start = self.columns.of(range.start);
        let source = &self.text[range.clone()];
        let last = source.rfind(['\n', '\r']).unwrap_or(0);
        let above = dedent_paragraph(&source[..last], start, self.container_column());
        let line_end = if last > 0 { "\n" } else { "" };
        let text = format!("{above}{line_end}{}", source[last..].trim_start());
        self.keep_text(text.into(), range);
    }

    /// Keeps a text as prose, unless it stands in one that is kept as a whole.
    pub(super) fn keep_text(&mut self, text: Cow<'t, str>, range: Range<usize>) {
        if !self.container().is_some_and(|frame| self.is_whole(frame)) {
            let place = (self.enclosing(), self.builder.tasks.len());
            let range = trim_block(self.text, range);
            self.builder.note(place, Item { text, span: Span::new(range.start, range.end), note: None });
        }
    }

    /// Whether what stands in `frame` is kept with it: up to the first task in it.
    pub(super) fn is_whole(&self, frame: &Frame) -> bool {
        match frame.kind {
            Kind::Entry(field) => !field.form().is_list_of_words(),
            _ => frame.is_text() && !self.has_tasks(frame),
        }
    }

    /// The innermost item that Markdown has open.
    pub(super) fn container(&self) -> Option<&Frame> {
        let &(at, serial) = self.open.last()?;
        self.frames.get(at).filter(|frame| frame.serial == serial)
    }

    /// Where its content begins.
    pub(super) fn container_column(&self) -> usize {
        self.container().map_or(0, |frame| frame.content_column)
    }

    /// Reads a paragraph in a field like the line of its label.
    fn field_paragraph(&mut self, task: usize, field: FieldKind, range: Range<usize>) {
        let column = self.container_column();
        for item in value::line_entries(field, self.text, range) {
            self.builder.entry(task, field, item, column);
        }
    }
}

/// `range` without what Markdown takes for blanks at either end; others, such as an ideographic space, keep a
/// block from being one of another kind.
fn trim_block(text: &str, range: Range<usize>) -> Range<usize> {
    const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start_matches(BLANKS).len());
    start..start.max(range.start + slice.trim_end().len())
}

/// Whether no blank line stands between what is before and behind `gap`; a definition of a link that was
/// defined before, which is none, may.
fn is_next_line(gap: &str) -> bool {
    let whole_lines = gap.split('\n').skip(1).collect::<Vec<_>>();
    whole_lines.iter().rev().skip(1).all(|line| !line.trim().is_empty())
}

/// The line that would close a fence, where none does; it stands in what begins at column `column`.
pub(super) fn open_fence(source: &str, column: usize) -> Option<&str> {
    let source = source.trim();
    let sign = source.chars().next()?;
    let signs = &source[..source.len() - source.trim_start_matches(sign).len()];
    let last = source.rfind(['\n', '\r']).map_or("", |end| &source[end + 1..]);
    let marks = last.trim();
    let closed =
        marks.len() >= signs.len() && marks.chars().all(|c| c == sign) && indentation(last) < column + 4;
    (!closed).then_some(signs)
}

/// What would close an HTML block that doesn't end at a blank line, where nothing does.
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
    let (_, close) = PAIRS.into_iter().find(|(open, _)| source.starts_with(open))?;
    let closed = match close.starts_with("</") {
        true => PAIRS[4..].iter().any(|(_, close)| source.contains(close)),
        false => source.contains(close),
    };
    (!closed).then_some(close)
}
