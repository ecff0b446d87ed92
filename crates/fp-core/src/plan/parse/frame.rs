//! One level of the way from the document to the current item.

use std::ops::Range;

use crate::plan::field::FieldKind;
use crate::plan::task::TaskIndex;

/// What a level is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// An item whose own text isn't complete yet.
    Unread,
    /// A task in a list.
    Task,
    /// A task in a heading of this level.
    HeadingTask(u8),
    /// Another heading of this level.
    Section(u8),
    /// A field of the language; the items in it are its entries.
    Field(FieldKind),
    /// An entry of a field, or an item inside one.
    Entry(FieldKind),
    /// A field that is unknown or given before: its label, where its value begins, and which of both.
    Labelled { label: Range<usize>, value: usize, duplicate: bool },
    /// An item that is neither task nor field; tasks in it belong to the task around it.
    Group,
}

/// One level: an item or a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// Column of the marker.
    pub(super) column: usize,
    /// Column of the item's content.
    pub(super) content_column: usize,
    /// Tells items apart that stood at the same place of the stack.
    pub(super) serial: usize,
    /// Whether Markdown has it open; a closed item can still get children by their column.
    pub(super) open: bool,
    /// The task that it is, or that it belongs to.
    pub(super) task: Option<TaskIndex>,
    /// How many tasks there were when it began.
    pub(super) tasks_before: usize,
    /// Its source, from the marker on.
    pub(super) range: Range<usize>,
    /// Where its content begins.
    pub(super) content: usize,
    /// Whether a heading was met inside.
    pub(super) has_heading: bool,
}

impl Frame {
    pub(super) fn is_item(&self) -> bool {
        !matches!(self.kind, Kind::HeadingTask(_) | Kind::Section(_))
    }

    /// Whether what stands inside is the text of a field or of prose and kept as such.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Entry(_) | Kind::Labelled { .. } | Kind::Group)
    }
}
