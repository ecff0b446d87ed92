//! Markdown to tree. One pass over the events of `pulldown-cmark`; every text is taken from the source.
//!
//! What belongs to what is decided by the column of an item's marker, which agrees with Markdown wherever
//! Markdown nests, and also nests where a writer plainly meant it (two blanks below `1. `). The stack of
//! frames holds the way from the document to the current item, so nothing recurses however deep a tree is.

mod blocks;
mod builder;
mod column;
mod dedent;
mod frame;
mod head;
mod items;
mod listed;
mod pieces;
mod prose;
mod split;
mod suspect;
mod value;

use std::ops::Range;

pub use self::listed::entries_of;

use self::blocks::Code;
use self::builder::Builder;
use self::column::Columns;
use self::frame::{Frame, Kind};
use self::pieces::Kind as Block;
use super::position::BOM;
use super::task::{Plan, TaskIndex};
use crate::diagnostic::Diagnostic;

/// Reads a task tree. Never fails: what can't be read is in the diagnostics, all of the rule `syntax` and
/// in source order, and every task that can be made out is in the plan.
#[must_use]
pub fn parse(text: &str) -> (Plan<'_>, Vec<Diagnostic>) {
    let base = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let mut reader = Reader::new(text);
    pieces::for_each(text, base, |block| reader.take(block.kind, block.range));
    reader.end_definitions();
    reader.builder.finish(text)
}

/// Where the reader is in the document.
struct Reader<'t> {
    text: &'t str,
    columns: Columns<'t>,
    frames: Vec<Frame>,
    /// Of every item that Markdown has open, its place in `frames` and its serial number.
    open: Vec<(usize, usize)>,
    serial: usize,
    /// How many block quotes are open; what is quoted is no task.
    quotes: usize,
    /// Text of an item that is no paragraph to Markdown, as nothing stands apart in its list.
    tight: Option<Range<usize>>,
    /// Definitions of links that were met last.
    definitions: Option<Range<usize>>,
    builder: Builder<'t>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            columns: Columns::new(text),
            frames: Vec::new(),
            open: Vec::new(),
            serial: 0,
            quotes: 0,
            tight: None,
            definitions: None,
            builder: Builder::default(),
        }
    }

    fn take(&mut self, kind: Block, range: Range<usize>) {
        match kind {
            Block::Definition => return self.link_definition(range),
            Block::TightText => return self.text_in_item(range),
            _ => self.end_tight(),
        }
        if !matches!(kind, Block::Paragraph | Block::Heading(_)) {
            self.end_definitions();
        }
        self.block(kind, range);
    }

    /// Notes where the text stands of a tight item, other than the text that the item begins with.
    fn text_in_item(&mut self, range: Range<usize>) {
        let head = self.frames.last().is_some_and(|frame| frame.kind == Kind::Unread);
        if self.quotes == 0 && !head {
            let start = self.tight.take().map_or(range.start, |tight| tight.start);
            self.tight = Some(start..range.end);
        }
    }

    /// Reads the text of a tight item, which is known when something else begins.
    fn end_tight(&mut self) {
        if let Some(tight) = self.tight.take() {
            let is_end = |c| matches!(c, '\n' | '\r');
            let line = self.text[..tight.start].rfind(is_end).map_or(0, |at| at + 1);
            let start = tight.end - self.text[line..tight.end].trim_start().len();
            let end = self.text[tight.end..].find(is_end).map_or(self.text.len(), |at| tight.end + at);
            self.paragraph(start..end);
        }
    }

    fn block(&mut self, kind: Block, range: Range<usize>) {
        match kind {
            Block::QuoteStart => {
                if self.quotes == 0 {
                    self.read_head(range.start);
                    self.keep_block(range, None);
                }
                self.quotes += 1;
            }
            Block::QuoteEnd => self.quotes -= 1,
            _ if self.quotes > 0 => {}
            Block::ItemStart => self.start_item(range),
            Block::ItemEnd => self.end_item(range),
            Block::Break => self.read_head(range.start),
            Block::Paragraph => self.paragraph(range),
            Block::Heading(level) => self.heading(level, range),
            Block::IndentedCode => self.code(Code::Indented, range),
            Block::FencedCode => self.code(Code::Fenced, range),
            Block::Html => self.html(range),
            Block::Definition | Block::TightText => {}
        }
    }

    /// The task that encloses what comes next.
    fn enclosing(&self) -> Option<TaskIndex> {
        self.frames.last().and_then(|frame| frame.task)
    }

    /// The parent of a task that begins here. Inside a field it can't be the field's task, which would
    /// stop being a leaf, so it is that one's parent.
    fn parent_of_next(&self) -> Option<TaskIndex> {
        let frame = self.frames.last()?;
        match frame.kind {
            Kind::Field(_) | Kind::Entry(_) | Kind::Labelled { .. } => {
                frame.task.and_then(|task| self.builder.tasks[task].parent)
            }
            _ => frame.task,
        }
    }

    /// Leaves every item whose marker isn't at least two columns left of `column`.
    fn leave_items(&mut self, column: usize, end: usize) {
        while self.frames.last().is_some_and(|frame| frame.is_item() && frame.column + 2 > column) {
            self.leave_frame(end);
        }
    }

    /// Leaves the items that Markdown has closed; a paragraph or heading ends what could hang below them.
    fn leave_closed_items(&mut self) {
        while self.frames.last().is_some_and(|frame| frame.is_item() && !frame.open) {
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

#[cfg(test)]
mod tests;
