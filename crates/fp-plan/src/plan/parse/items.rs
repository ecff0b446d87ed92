//! Reads list items: each is a task, a field, an entry of a field, or prose.

use std::borrow::Cow;
use std::ops::Range;

use super::Reader;
use super::blocks::{is_frame, misread_line};
use super::fields;
use super::fields::trim;
use super::prose::dedent_item;
use super::task_line::{self, HeadPlace, TaskHead, within};
use super::{FrameKind, ReaderFrame};
use crate::diagnostic::Span;
use crate::plan::field::FieldKind;
use crate::plan::task::Item;

impl<'t> Reader<'t> {
    pub(super) fn start_item(&mut self, range: Range<usize>) {
        self.read_head(range.start);
        let marker = range.end - self.text[range.clone()].trim_start().len();
        let column = self.column_of(marker);
        self.leave_items(column, range.start);
        while self.frames.last().is_some_and(|frame| {
            !frame.open && matches!(frame.kind, FrameKind::Group | FrameKind::Entry(_))
        }) {
            self.frames.pop();
        }
        let content = content_start(self.text, marker, range.end);
        let behind_marker = column + marker_len(&self.text[marker..content]);
        let content_column = match self.column_of(content) {
            _ if self.text[content..range.end].starts_with(['\n', '\r']) => column + 2,
            // Five or more blanks count as one; the rest makes the content code.
            far if far > behind_marker + 4 => behind_marker + 1,
            near => near,
        };
        self.serial += 1;
        self.open.push((self.frames.len(), self.serial));
        self.frames.push(ReaderFrame {
            kind: FrameKind::Unread,
            column,
            content_column,
            serial: self.serial,
            open: true,
            task: self.enclosing(),
            tasks_before: self.builder.tasks.len(),
            range: marker..range.end,
            content,
            has_heading: false,
        });
    }

    pub(super) fn end_item(&mut self, range: Range<usize>) {
        self.read_head(range.end);
        let Some((at, serial)) = self.open.pop() else {
            return;
        };
        if self
            .frames
            .get(at)
            .is_none_or(|frame| frame.serial != serial)
        {
            return;
        }
        if self.frames[at].has_heading {
            self.frames.truncate(at + 1);
        }
        self.frames[at].open = false;
        let frame = self.frames[at].clone();
        self.complete(&frame, frame.range.end);
    }

    /// Keeps the text of a finished frame whose whole text had to be seen first.
    pub(super) fn complete(&mut self, frame: &ReaderFrame, end: usize) {
        let end = frame.range.end.min(end);
        match &frame.kind {
            FrameKind::Labelled {
                label,
                value,
                duplicate,
            } => {
                let end = self.text_end(frame, end).max(*value);
                let column = frame.content_column;
                let text = dedent_item(&self.text[*value..end], column, column);
                let Some(task) = frame.task else { return };
                if text.trim().is_empty() && self.has_tasks(frame) {
                    return self.caption(
                        task,
                        &self.text[label.clone()],
                        trim(self.text, frame.content..end),
                    );
                }
                let span = trim(self.text, label.start..end.max(label.end));
                let span = Span::new(span.start, span.end);
                let item = Item {
                    text: within(text, without_lead),
                    span,
                    note: None,
                };
                self.builder
                    .labelled(task, &self.text[label.clone()], item, *duplicate);
            }
            FrameKind::Group => {
                let end = self.text_end(frame, end);
                let own = self.text[frame.content..end.max(frame.content)].trim();
                let caption = self.has_tasks(frame) && (own.is_empty() || is_frame(own));
                if end > frame.range.start && !caption {
                    let range = trim(self.text, frame.range.start..end);
                    let text = dedent_item(
                        &self.text[range.clone()],
                        frame.column,
                        frame.content_column,
                    );
                    self.keep_item(frame, text, Span::new(range.start, range.end));
                }
            }
            FrameKind::Field(kind) => self.builder.end_field(
                frame.task,
                *kind,
                trim(self.text, frame.content..end.max(frame.content)),
            ),
            _ => {}
        }
    }

    pub(super) fn has_tasks(&self, frame: &ReaderFrame) -> bool {
        self.builder.tasks.len() > frame.tasks_before
    }

    /// The end of an item's own text: the end of the item, or the line of its first task.
    fn text_end(&self, frame: &ReaderFrame, end: usize) -> usize {
        let Some(task) = self.builder.tasks.get(frame.tasks_before) else {
            return end;
        };
        let line = self.text[..task.span.start]
            .rfind(['\n', '\r'])
            .map_or(0, |at| at + 1);
        line.min(end)
    }

    /// Keeps an item that is neither task nor field, unless its container is kept as a whole. An item below a field
    /// only by its column continues the field's text.
    fn keep_item(&mut self, frame: &ReaderFrame, text: Cow<'t, str>, span: Span) {
        let below = self
            .frames
            .iter()
            .rposition(|other| other.serial == frame.serial && other.is_item());
        let parent = match below {
            Some(at) => at.checked_sub(1).map(|at| &self.frames[at]),
            None => self.frames.last(),
        };
        match parent {
            Some(ReaderFrame {
                kind: FrameKind::Labelled { duplicate, .. },
                open: false,
                task: Some(task),
                ..
            }) => {
                self.builder
                    .continue_labelled(*task, *duplicate, &text, span.end);
            }
            Some(parent) if parent.is_text() && parent.tasks_before == frame.tasks_before => {}
            _ => {
                let place = (frame.task, frame.tasks_before);
                self.builder.note(
                    place,
                    Item {
                        text,
                        span,
                        note: None,
                    },
                );
            }
        }
    }

    /// Keeps the line above a list of tasks, unless it merely announces them.
    fn caption(&mut self, task: usize, label: &str, range: Range<usize>) {
        if !is_frame(label) {
            let text = task_line::joined_lines(&self.text[range.clone()]);
            let place = (Some(task), self.builder.tasks.len());
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

    /// Reads the text of the item that has just begun, up to `end`.
    pub(super) fn read_head(&mut self, end: usize) {
        let Some(frame) = self
            .frames
            .last()
            .filter(|frame| frame.kind == FrameKind::Unread)
        else {
            return;
        };
        let (content, item_end) = (frame.content, frame.range.end);
        let mut own = trim(
            self.text,
            content..end.clamp(content, item_end.max(content)),
        );
        let mut suspects = Vec::new();
        if task_line::has_line_end(&self.text[own.clone()]) {
            suspects.extend(task_line::suspects(self.text, own.clone(), false));
        }
        if let Some(first) = suspects.first() {
            own = trim(self.text, own.start..first.range.start);
            if let Some(frame) = self.frames.last_mut() {
                frame.range.end = own.end;
            }
        }
        self.classify(own);
        for suspect in suspects {
            let fault = misread_line(self.text, &suspect);
            self.misread(&suspect, Some(fault));
        }
    }

    fn classify(&mut self, own: Range<usize>) {
        let at = self.frames.len() - 1;
        let around = at.checked_sub(1).map(|at| self.frames[at].kind.clone());
        match around {
            Some(FrameKind::Field(field)) => self.entry_or_task(field, own),
            Some(FrameKind::Entry(field)) if field.form().is_list_of_words() => {
                self.entry_or_task(field, own)
            }
            Some(FrameKind::Entry(field)) => {
                if !self.misplaced_task(&own) {
                    self.frames[at].kind = FrameKind::Entry(field);
                }
            }
            Some(FrameKind::Labelled { .. } | FrameKind::Group)
                if !self.has_tasks(&self.frames[at - 1]) =>
            {
                match task_line::read_head(self.text, own.clone(), HeadPlace::List) {
                    Some(head) => self.list_task(own, head),
                    None => self.frames[at].kind = FrameKind::Group,
                }
            }
            around => self.task_or_field(around.as_ref(), own),
        }
    }

    fn task_or_field(&mut self, around: Option<&FrameKind>, own: Range<usize>) {
        let at = self.frames.len() - 1;
        let label = fields::label(self.text, own.clone());
        let task = self.frames[at].task;
        if let (Some((name, start)), Some(task)) = (&label, task)
            && let Some(field) = FieldKind::from_label(&self.text[name.clone()])
        {
            self.begin_field(task, field, (own.start, name.clone()), *start..own.end);
        } else if let Some(head) = task_line::read_head(self.text, own.clone(), HeadPlace::List) {
            self.list_task(own, head);
        } else if let (Some((label, value)), Some(task)) = (label, task)
            && !matches!(around, Some(FrameKind::Section(_)))
        {
            self.field_begins_at(task);
            self.frames[at].kind = FrameKind::Labelled {
                label,
                value,
                duplicate: false,
            };
        } else {
            self.frames[at].kind = FrameKind::Group;
        }
    }

    fn begin_field(
        &mut self,
        task: usize,
        field: FieldKind,
        (start, label): (usize, Range<usize>),
        value: Range<usize>,
    ) {
        let at = self.frames.len() - 1;
        self.field_begins_at(task);
        if self.builder.is_given(task, field) {
            self.frames[at].kind = FrameKind::Labelled {
                label,
                value: value.start,
                duplicate: true,
            };
            return;
        }
        self.frames[at].kind = if field == FieldKind::Description {
            FrameKind::Entry(field)
        } else {
            FrameKind::Field(field)
        };
        let whole = trim(self.text, start..self.frames[at].range.end.max(value.end));
        let span = Span::new(whole.start, whole.end);
        if field == FieldKind::Description {
            let column = self.frames[at].content_column;
            let text = dedent_item(
                &self.text[value.start..whole.end.max(value.start)],
                column,
                column,
            );
            self.builder.describe(task, within(text, str::trim), span);
        } else {
            let entries = fields::line_entries(field, self.text, value);
            self.builder.begin_field(task, field, entries, span);
        }
    }

    /// Records the column for added fields, which go below the task's last field.
    fn field_begins_at(&mut self, task: usize) {
        let column = self.frames.last().map_or(0, |frame| frame.column);
        self.builder.tasks[task].field_indent = column;
    }

    fn list_task(&mut self, own: Range<usize>, head: TaskHead<'t>) {
        let at = self.frames.len() - 1;
        let parent = at.checked_sub(1).and_then(|at| self.frames[at].task);
        let indent = self.frames[at].content_column;
        self.frames[at].kind = FrameKind::Task;
        self.frames[at].task = Some(self.builder.task(head, own, parent, indent));
    }

    fn entry_or_task(&mut self, field: FieldKind, own: Range<usize>) {
        if self.misplaced_task(&own) {
            return;
        }
        let at = self.frames.len() - 1;
        self.frames[at].kind = FrameKind::Entry(field);
        let Some(task) = self.frames[at].task else {
            return;
        };
        let whole = trim(self.text, own.start..self.frames[at].range.end.max(own.end));
        let item = if whole.end > own.end && !field.form().is_list_of_words() {
            let column = self.frames[at].content_column;
            let text = dedent_item(&self.text[whole.clone()], column, column);
            Some(Item {
                text,
                span: Span::new(whole.start, whole.end),
                note: None,
            })
        } else {
            fields::entry(field, self.text, own)
        };
        if let Some(item) = item {
            self.builder
                .entry(task, field, item, self.frames[at].column);
        }
    }

    /// Treats an item inside a field as a task at the wrong depth if it has an id and a complexity.
    fn misplaced_task(&mut self, own: &Range<usize>) -> bool {
        let named =
            task_line::opens_id(self.text[own.clone()].trim_start_matches(['*', '_', '`', '~']));
        let Some(mut head) = named
            .then(|| task_line::read_head(self.text, own.clone(), HeadPlace::List))
            .flatten()
        else {
            return false;
        };
        if head.complexity.is_none() {
            return false;
        }
        let at = self.frames.len() - 1;
        let parent = at
            .checked_sub(1)
            .and_then(|around| self.parent_below(&self.frames[around]));
        head.fault
            .get_or_insert_with(|| task_line::inside_field(head.id));
        let indent = self.frames[at].content_column;
        self.frames[at].kind = FrameKind::Task;
        self.frames[at].task = Some(self.builder.task(head, own.clone(), parent, indent));
        true
    }
}

/// Trims a text, but keeps the leading blanks that make it code.
fn without_lead(text: &str) -> &str {
    let text = text.trim_end();
    let blanks = text.len() - text.trim_start().len();
    let line = text[..blanks].rfind('\n').map_or(0, |at| at + 1);
    if line > 0 && blanks - line >= 4 {
        &text[line..]
    } else {
        &text[blanks..]
    }
}

/// The length of the marker at the start of a text.
fn marker_len(text: &str) -> usize {
    text.trim_end().len().max(1)
}

fn content_start(text: &str, marker: usize, end: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = marker;
    while at < end && bytes[at].is_ascii_digit() {
        at += 1;
    }
    at = (at + 1).min(end);
    while at < end && matches!(bytes[at], b' ' | b'\t') {
        at += 1;
    }
    at
}
