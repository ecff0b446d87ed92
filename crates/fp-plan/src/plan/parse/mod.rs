//! Parses Markdown into a tree, in one pass over the events of `pulldown-cmark`. All text is taken from the source.
//!
//! Nesting follows the columns of item markers. That agrees with Markdown wherever Markdown nests, and also nests where
//! the writer plainly meant it (two blanks below `1. `). A stack of frames holds the path from the document to the
//! current item, so no depth of tree causes recursion.

mod blocks;
mod builder;
mod fields;
mod items;
mod prose;
mod task_line;

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, OffsetIter, Options, Parser, Tag, TagEnd};

pub use self::fields::entries_of;

use self::builder::TreeBuilder;
use super::field::FieldKind;
use super::position::BOM;
use super::task::{Plan, TaskIndex};
use crate::diagnostic::Diagnostic;

/// Parses a task tree. Never fails: the diagnostics, all of rule `syntax` and in source order, cover the unreadable
/// parts, and the plan has every task that could be made out.
pub fn parse(text: &str) -> (Plan<'_>, Vec<Diagnostic>) {
    let base = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let events = Parser::new_ext(&text[base..], Options::empty()).into_offset_iter();
    let mut reader = Reader {
        text,
        definitions_ahead: definitions(&events, base),
        ..Reader::default()
    };
    for (event, range) in events {
        reader.event(&event, range.start + base..range.end + base);
    }
    while let Some(definition) = reader.definitions_ahead.pop() {
        reader.link_definition(definition);
    }
    reader.end_definitions();
    reader.builder.finish(text)
}

/// The link definitions, last one first. Markdown has no events for them.
fn definitions(events: &OffsetIter<'_>, base: usize) -> Vec<Range<usize>> {
    let definitions = events.reference_definitions().iter();
    let mut ranges: Vec<Range<usize>> = definitions
        .map(|(_, found)| found.span.start + base..found.span.end + base)
        .collect();
    ranges.sort_unstable_by_key(|range| std::cmp::Reverse(range.start));
    ranges
}

/// The reader's position in the document.
#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    /// The last offset whose column was computed, and that column.
    known_column: (usize, usize),
    frames: Vec<ReaderFrame>,
    /// For each item open in Markdown, its index in `frames` and its serial number.
    open: Vec<(usize, usize)>,
    serial: usize,
    /// Number of open block quotes; quoted text is never a task.
    quotes: usize,
    /// Text of an item in a tight list, which Markdown doesn't treat as a paragraph.
    tight: Option<Range<usize>>,
    /// True while a block with text is open.
    in_text: bool,
    /// The link definitions read last.
    definitions: Option<Range<usize>>,
    /// Those still ahead, last one first.
    definitions_ahead: Vec<Range<usize>>,
    builder: TreeBuilder<'t>,
}

impl<'t> Reader<'t> {
    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        let reached = if matches!(event, Event::End(_)) {
            range.end
        } else {
            range.start
        };
        while let Some(definition) = self
            .definitions_ahead
            .pop_if(|definition| definition.start < reached)
        {
            self.link_definition(definition);
        }
        match event {
            Event::Start(Tag::Paragraph | Tag::Heading { .. }) => {
                self.in_text = true;
                self.end_tight();
            }
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => {
                self.in_text = true;
                self.end_tight();
                self.end_definitions();
            }
            Event::Start(Tag::BlockQuote(_) | Tag::Item | Tag::List(_))
            | Event::End(TagEnd::BlockQuote(_) | TagEnd::Item)
            | Event::Rule => {
                self.end_tight();
                self.end_definitions();
            }
            Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock,
            ) => {
                self.in_text = false;
                return;
            }
            Event::End(TagEnd::List(_)) => return,
            // Text outside any block belongs to a tight item.
            _ if !self.in_text => return self.text_in_item(range),
            _ => return,
        }
        self.block(event, range);
    }

    /// Records the range of a tight item's text, apart from the text it begins with.
    fn text_in_item(&mut self, range: Range<usize>) {
        let head = self
            .frames
            .last()
            .is_some_and(|frame| frame.kind == FrameKind::Unread);
        if self.quotes == 0 && !head {
            let start = self.tight.take().map_or(range.start, |tight| tight.start);
            self.tight = Some(start..range.end);
        }
    }

    /// Reads the text of a tight item, whose end only shows when something else begins.
    fn end_tight(&mut self) {
        if let Some(tight) = self.tight.take() {
            let is_end = |c| matches!(c, '\n' | '\r');
            let line = self.text[..tight.start]
                .rfind(is_end)
                .map_or(0, |at| at + 1);
            let start = tight.end - self.text[line..tight.end].trim_start().len();
            let end = self.text[tight.end..]
                .find(is_end)
                .map_or(self.text.len(), |at| tight.end + at);
            self.paragraph(start..end);
        }
    }

    /// Reads the start of a block, or the end of a quote or item.
    fn block(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => {
                if self.quotes == 0 {
                    self.read_head(range.start);
                    self.keep_block(range, None);
                }
                self.quotes += 1;
            }
            Event::End(TagEnd::BlockQuote(_)) => self.quotes -= 1,
            _ if self.quotes > 0 => {}
            Event::Start(Tag::Item) => self.start_item(range),
            Event::End(TagEnd::Item) => self.end_item(range),
            Event::Start(Tag::Paragraph) => self.paragraph(range),
            Event::Start(Tag::Heading { level, .. }) => self.heading(*level as u8, range),
            Event::Start(Tag::CodeBlock(kind)) => {
                self.code(matches!(kind, CodeBlockKind::Fenced(_)), range)
            }
            Event::Start(Tag::HtmlBlock) => self.html(range),
            // A list, or a rule between blocks.
            _ => self.read_head(range.start),
        }
    }

    /// The column of `offset`, from 0, with tab stops every 4 columns. Ascending offsets are found without returning to
    /// the start of their line.
    fn column_of(&mut self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let known = if self.known_column.0 <= offset {
            self.known_column.0
        } else {
            0
        };
        let mut start = offset;
        while start > known && !matches!(bytes[start - 1], b'\n' | b'\r') {
            start -= 1;
        }
        let mut column = if start == known && start == self.known_column.0 {
            self.known_column.1
        } else {
            0
        };
        for &byte in &bytes[start..offset] {
            match byte {
                b'\t' => column += 4 - column % 4,
                // Only the first byte of a character counts, and no byte of a byte-order mark.
                0xef if start == 0 && self.text.starts_with(BOM) => {}
                0x80..=0xbf => {}
                _ => column += 1,
            }
        }
        self.known_column = (offset, column);
        column
    }

    /// The task that encloses the next item.
    fn enclosing(&self) -> Option<TaskIndex> {
        self.frames.last().and_then(|frame| frame.task)
    }

    /// The parent of a task that begins here. Inside a field it is the parent of the field's task, which would
    /// otherwise stop being a leaf.
    fn parent_of_next(&self) -> Option<TaskIndex> {
        self.parent_below(self.frames.last()?)
    }

    /// The parent of a task that begins in `frame`.
    fn parent_below(&self, frame: &ReaderFrame) -> Option<TaskIndex> {
        match frame.kind {
            FrameKind::Field(_) | FrameKind::Entry(_) | FrameKind::Labelled { .. } => {
                frame.task.and_then(|task| self.builder.tasks[task].parent)
            }
            _ => frame.task,
        }
    }

    /// Leaves every item unless its marker is at least two columns left of `column`.
    fn leave_items(&mut self, column: usize, end: usize) {
        while self
            .frames
            .last()
            .is_some_and(|frame| frame.is_item() && frame.column + 2 > column)
        {
            self.leave_frame(end);
        }
    }

    /// Leaves the items that Markdown has closed: after a paragraph or heading, nothing can belong to them.
    fn leave_closed_items(&mut self) {
        while self
            .frames
            .last()
            .is_some_and(|frame| frame.is_item() && !frame.open)
        {
            self.frames.pop();
        }
    }

    fn leave_frame(&mut self, end: usize) {
        if let Some(frame) = self.frames.pop()
            && frame.open
        {
            self.complete(&frame, end);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum FrameKind {
    /// An item whose own text isn't complete yet.
    #[default]
    Unread,
    /// A task in a list.
    Task,
    /// A task in a heading of this level.
    HeadingTask(u8),
    /// Another heading of this level.
    Section(u8),
    /// A field of the language; its items are the entries.
    Field(FieldKind),
    /// An entry of a field, or an item inside one.
    Entry(FieldKind),
    /// A field that is unknown or given before (`duplicate`), with its label and the start of its value.
    Labelled {
        label: Range<usize>,
        value: usize,
        duplicate: bool,
    },
    /// An item that is neither task nor field; tasks in it belong to the enclosing task.
    Group,
}

/// One level of nesting: an item or a heading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ReaderFrame {
    pub(super) kind: FrameKind,
    pub(super) column: usize,
    pub(super) content_column: usize,
    /// Tells apart items at the same position of the stack.
    pub(super) serial: usize,
    /// True while Markdown has it open. A closed item can still get children by their column.
    pub(super) open: bool,
    /// Its own task, or the one it belongs to.
    pub(super) task: Option<TaskIndex>,
    /// Number of tasks when it began.
    pub(super) tasks_before: usize,
    /// Its source, from the marker on.
    pub(super) range: Range<usize>,
    /// Start of its content.
    pub(super) content: usize,
    /// True if it contains a heading.
    pub(super) has_heading: bool,
}

impl ReaderFrame {
    pub(super) fn is_item(&self) -> bool {
        !matches!(self.kind, FrameKind::HeadingTask(_) | FrameKind::Section(_))
    }

    /// True if its content is the text of a field or of prose, and kept as such.
    pub(super) fn is_text(&self) -> bool {
        matches!(
            self.kind,
            FrameKind::Entry(_) | FrameKind::Labelled { .. } | FrameKind::Group
        )
    }
}

#[cfg(test)]
mod tests;
