//! Parses Markdown into a tree, line by line. All text is borrowed from the source.
//!
//! Columns decide what a line belongs to. An item is part of the innermost task or field that begins at least two
//! columns before it; text is part of the innermost one that begins before it. The Markdown parser finds code fences
//! and comments, whose content is never parsed.

mod builder;
pub(super) mod fields;
pub(crate) mod lines;
mod task_line;

use std::ops::Range;

use self::builder::TreeBuilder;
use self::lines::{Line, dedented, disguised_task, lines_of};
use self::task_line::{
    HeadPlace, SyntaxFault, TaskHead, joined_lines, opens_id, read_head, unreadable_line,
    within_marks,
};
use super::field::{FieldForm, FieldKind};
use super::task::{Field, Item, Plan, Task, TaskIndex};
use crate::diagnostic::{Diagnostic, Span};
use crate::markdown::fence_marks;

/// Headings that the writer itself produces.
const FRAME_HEADINGS: [&str; 3] = ["Task Decomposition", "Root Task", "Subtasks"];

/// Parses a task tree. Never fails: the diagnostics, all of rule `syntax` and in source order, cover the unreadable
/// parts, and the plan has every task that could be made out.
pub fn parse(text: &str) -> (Plan<'_>, Vec<Diagnostic>) {
    let (lines, unclosed) = lines_of(text);
    let mut reader = Reader {
        text,
        lines,
        ..Reader::default()
    };
    for opener in unclosed {
        let (what, closer) = match fence_marks(opener) {
            "" => ("comment", "-->"),
            fence => ("code fence", fence),
        };
        let fault = SyntaxFault {
            detail: format!("the {what} is never closed"),
            hint: format!("close it with a line of `{closer}`"),
        };
        let span = Span::of_slice(text, opener);
        reader.tree.add_fault(span, None, fault);
    }
    let mut at = 0;
    while at < reader.lines.len() {
        at = reader.read_line(at);
    }
    reader.tree.finish(text)
}

/// The reader's position in the tree.
#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    lines: Vec<Line<'t>>,
    /// The task that the current line is in, and the tasks above it, outermost first.
    open: Vec<OpenTask>,
    field: Option<OpenField>,
    tree: TreeBuilder<'t>,
}

#[derive(Clone, Copy)]
struct OpenTask {
    task: TaskIndex,
    column: usize,
    /// The level of a heading; 0 for an item of a list.
    level: u8,
    /// True after a heading that isn't a task; there, text that looks like an unknown field is prose.
    in_section: bool,
}

#[derive(Clone, Copy)]
struct OpenField {
    kind: FieldKind,
    column: usize,
    task: TaskIndex,
}

impl<'t> Reader<'t> {
    /// Reads the block that begins on line `at`, and returns the line after it.
    fn read_line(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        if line.text.is_empty() {
            return at + 1;
        }
        if self.field.is_some_and(|field| line.column <= field.column) {
            self.field = None;
        }
        if let Some(content) = line.item_text() {
            return self.read_item(at, content);
        }
        if let Some(end) = line.literal_end {
            self.read_literal(at..end, line.text);
            return end;
        }
        if let Some((level, title)) = line.heading_parts()
            && self.read_heading(line, level, title)
        {
            return at + 1;
        }
        match disguised_task(line.text) {
            Some(own) => self.add_broken_task(at, own),
            None => self.read_paragraph(at),
        }
    }

    /// The task that text at `column` belongs to.
    fn task_at(&self, column: usize) -> Option<TaskIndex> {
        let around = |open: &&OpenTask| open.level > 0 || open.column < column;
        self.open.iter().rev().find(around).map(|open| open.task)
    }

    fn innermost_task(&self) -> Option<TaskIndex> {
        self.open.last().map(|open| open.task)
    }

    /// Closes the list tasks that don't begin at least `gap` columns before `column`.
    fn leave_items(&mut self, column: usize, gap: usize) {
        let left = |open: &OpenTask| open.level == 0 && open.column + gap > column;
        let kept = self.open.iter().position(left);
        self.open.truncate(kept.unwrap_or(self.open.len()));
    }

    /// Reads a heading. Returns false if the line is plain text instead.
    fn read_heading(&mut self, line: Line<'t>, level: u8, title: &'t str) -> bool {
        let own = title;
        let is_tight = line.text.len() == usize::from(level) + title.len();
        let title = title.trim_end_matches('#').trim_end();
        let mut head = read_head(title, HeadPlace::Heading)
            .filter(|head| !is_tight || head.id.bytes().any(|byte| byte.is_ascii_digit()));
        if self.field.is_some() || is_tight {
            let Some(head) = &mut head else {
                return false;
            };
            head.is_broken = true;
        }
        self.field = None;
        self.leave_items(line.column, 1);
        while self.open.last().is_some_and(|open| open.level >= level) {
            self.open.pop();
        }
        let is_frame = FRAME_HEADINGS
            .iter()
            .any(|frame| frame.eq_ignore_ascii_case(title));
        if let Some(head) = head {
            self.add_task(head, own, (line.column, level));
        } else if !is_frame {
            if let Some(open) = self.open.last_mut() {
                open.in_section = true;
            }
            let note = Item::from_slice(self.text, line.text);
            self.tree.add_note(self.innermost_task(), note);
        }
        true
    }

    /// Adds a task, whose line is `own`, below the innermost open task.
    fn add_task(&mut self, head: TaskHead<'t>, own: &'t str, (column, level): (usize, u8)) {
        let mut task = Task {
            id: head.id.into(),
            id_span: Span::of_slice(self.text, head.id),
            description: head.title,
            span: Span::of_slice(self.text, own),
            parent: self.innermost_task(),
            field_indent: if level > 0 { column } else { column + 2 },
            broken: head.is_broken,
            ..Task::default()
        };
        if let Some(complexity) = head.complexity {
            let item = Item::from_slice(self.text, complexity);
            *task.fields.slot(FieldKind::Complexity) = Some(Field::new(item.span, vec![item]));
        }
        let unreadable = head.is_broken.then(|| unreadable_line(head.id));
        let task = self.tree.add_task(task, unreadable.or(head.flaw));
        self.field = None;
        self.open.push(OpenTask {
            task,
            column,
            level,
            in_section: false,
        });
    }

    /// Adds a line that only looks like a task to the tree, so that tasks that depend on it aren't reported too.
    fn add_broken_task(&mut self, at: usize, own: &'t str) -> usize {
        let column = self.lines[at].column;
        let own = own.lines().next().unwrap_or(own);
        let nothing = TaskHead {
            id: &own[..0],
            ..TaskHead::default()
        };
        let mut head = read_head(own, HeadPlace::List).unwrap_or(nothing);
        head.is_broken = true;
        self.leave_items(column, 2);
        self.add_task(head, own, (column, 0));
        at + 1
    }

    fn read_item(&mut self, at: usize, content: &'t str) -> usize {
        let line = self.lines[at];
        if let Some(field) = self.field {
            if line.column >= field.column + 2 {
                return self.read_entry(at, content, field);
            }
            self.field = None;
        }
        self.leave_items(line.column, 2);
        let mut label = None;
        if line.literal_end.is_none() {
            let end = self.paragraph_end(at, line.column);
            let own = self.source(content, end);
            label = fields::split_label(own);
            if let (Some((label, value)), Some(task)) = (label, self.innermost_task())
                && let Some(kind) = FieldKind::from_label(label)
            {
                return self.read_field(at..end, (task, kind), own, (label, value));
            }
            if let Some(head) = read_head(own, HeadPlace::List) {
                self.add_task(head, own, (line.column, 0));
                return end;
            }
            if let Some(inner) = disguised_task(own) {
                return self.add_broken_task(at, inner);
            }
            if is_frame(own) {
                return end;
            }
        }
        let end = self.item_end(at, false);
        match (label, self.open.last()) {
            (
                Some(label),
                Some(&OpenTask {
                    in_section: false,
                    task,
                    ..
                }),
            ) => {
                let item = self.labelled_item(at..end, task, content, label.1);
                self.tree.tasks[task].fields.unknown.push((label.0, item));
            }
            _ => {
                let note = self.block(at..end, line.text, line.column);
                self.tree.add_note(self.innermost_task(), note);
            }
        }
        end
    }

    /// The source text from `start` to the end of the line before line `end`.
    fn source(&self, start: &'t str, end: usize) -> &'t str {
        let start = Span::of_slice(self.text, start).start;
        let end = Span::of_slice(self.text, self.lines[end - 1].text).end;
        &self.text[start..end.max(start)]
    }

    /// The line after the paragraph that begins on line `at`, inside a block at `column`.
    fn paragraph_end(&self, at: usize, column: usize) -> usize {
        let goes_on = |line: &&Line<'_>| line.column > column && line.is_plain();
        at + 1 + self.lines[at + 1..].iter().take_while(goes_on).count()
    }

    /// The line after the item that begins on line `at`. The item ends before text that isn't indented further, and
    /// before a task; inside an `entry`, only an item with an id and a complexity counts as a task.
    fn item_end(&self, at: usize, entry: bool) -> usize {
        let item = self.lines[at];
        let is_within = |line: &&Line<'_>| {
            let gap = usize::from(line.item_text().is_some());
            line.text.is_empty() || line.column > item.column + gap
        };
        let mut end = item.literal_end.unwrap_or(at + 1);
        let mut next = end;
        while let Some(line) = self.lines.get(next).filter(is_within) {
            if line.literal_end.is_none() && self.begins_task(line, entry) {
                break;
            }
            next = line.literal_end.unwrap_or(next + 1);
            if !line.text.is_empty() {
                end = next;
            }
        }
        end
    }

    fn begins_task(&self, line: &Line<'t>, entry: bool) -> bool {
        let (own, place) = match (line.heading_parts(), line.item_text()) {
            (Some((_, title)), _) => (title, HeadPlace::Heading),
            (_, Some(content)) if entry => return misplaced_task(content).is_some(),
            (_, Some(content)) => (content, HeadPlace::List),
            _ => return disguised_task(line.text).is_some(),
        };
        disguised_task(own).is_some() || read_head(own, place).is_some()
    }

    /// Reads the field on the lines `at`, whose text is `own`.
    fn read_field(
        &mut self,
        at: Range<usize>,
        (task, kind): (TaskIndex, FieldKind),
        own: &'t str,
        (label, value): (&'t str, &'t str),
    ) -> usize {
        let column = self.lines[at.start].column;
        if self.tree.tasks[task].fields.get(kind).is_some() {
            let end = self.item_end(at.start, false);
            let item = self.labelled_item(at.start..end, task, own, value);
            self.tree.tasks[task].fields.duplicates.push((label, item));
            return end;
        }
        let mut end = at.end;
        let mut span = Span::of_slice(self.text, own);
        let mut items = Vec::new();
        if kind.form() == FieldForm::Prose {
            end = self.item_end(at.start, true);
            let text = self.block(at.start..end, value, column + 2);
            span.end = text.span.end;
            items.extend(
                Some(text).filter(|item| !item.text.is_empty() && !fields::is_none(&item.text)),
            );
        } else {
            items = fields::line_entries(kind, self.text, value);
            self.field = Some(OpenField { kind, column, task });
        }
        let task = &mut self.tree.tasks[task];
        task.field_indent = column;
        *task.fields.slot(kind) = Some(Field::new(span, items));
        end
    }

    /// The value of an unknown or repeated field.
    fn labelled_item(
        &mut self,
        at: Range<usize>,
        task: TaskIndex,
        own: &'t str,
        value: &'t str,
    ) -> Item<'t> {
        let column = self.lines[at.start].column;
        self.tree.tasks[task].field_indent = column;
        let mut item = self.block(at, value, column + 2);
        item.span.start = Span::of_slice(self.text, own).start;
        item
    }

    fn read_entry(&mut self, at: usize, content: &'t str, field: OpenField) -> usize {
        let line = self.lines[at];
        let end = line
            .literal_end
            .unwrap_or_else(|| self.paragraph_end(at, line.column));
        let own = self.source(content, end);
        if line.literal_end.is_none()
            && let Some(head) = misplaced_task(own)
        {
            let head = TaskHead {
                is_broken: true,
                ..head
            };
            self.add_task(head, own, (line.column, 0));
        } else if field.kind.form().is_list_of_sentences() {
            let end = self.item_end(at, true);
            self.add_sentence(
                field,
                at..end,
                content,
                (line.column + 2, Some(line.column)),
            );
            return end;
        } else if line.literal_end.is_some() {
            self.read_literal(at..end, content);
        } else {
            let entries = match field.kind.form() {
                FieldForm::Ids => fields::line_entries(field.kind, self.text, own),
                _ => Vec::from_iter(fields::read_entry(field.kind, self.text, own)),
            };
            for item in entries {
                self.add_entry(field, item, Some(line.column));
            }
            // An entry's own span ends before its remark.
            if let Some(list) = self.tree.tasks[field.task].fields.slot(field.kind) {
                list.span.end = list
                    .span
                    .end
                    .max(Span::of_slice(self.text, own.trim_end()).end);
            }
        }
        end
    }

    /// Adds a block as one entry of a field.
    fn add_sentence(
        &mut self,
        field: OpenField,
        at: Range<usize>,
        start: &'t str,
        (columns, indent): (usize, Option<usize>),
    ) {
        let is_paragraph = self.lines[at.start + 1..at.end].iter().all(Line::is_plain);
        let mut item = self.block(at, start, columns);
        if is_paragraph {
            item.text = joined_lines(item.text);
        }
        if !item.text.is_empty() && !fields::is_none(&item.text) {
            self.add_entry(field, item, indent);
        }
    }

    /// Adds an entry to an open field: from an item at column `indent`, or from plain text if `indent` is `None`.
    fn add_entry(&mut self, field: OpenField, item: Item<'t>, indent: Option<usize>) {
        let slot = self.tree.tasks[field.task].fields.slot(field.kind);
        let list = slot.get_or_insert_default();
        list.span.end = list.span.end.max(item.span.end);
        if list.items.is_empty() {
            list.entry_indent = indent;
        } else if !field.kind.form().is_list() {
            let fault = SyntaxFault {
                detail: format!("`{}` takes one value and has more", field.kind.label()),
                hint: "keep one of them".to_owned(),
            };
            self.tree.add_fault(item.span, Some(field.task), fault);
            return;
        }
        list.items.push(item);
    }

    /// Reads a code fence or a comment, which begins with `start`.
    fn read_literal(&mut self, at: Range<usize>, start: &'t str) {
        let column = self.lines[at.start].column;
        match self.field.filter(|_| !start.starts_with("<!--")) {
            Some(field) if field.kind.form().is_list_of_sentences() => {
                self.add_sentence(field, at, start, (column, None));
            }
            Some(field) => {
                for line in at.start + 1..at.end - 1 {
                    let text = self.lines[line].text;
                    if let Some(item) = fields::read_entry(field.kind, self.text, text) {
                        self.add_entry(field, item, None);
                    }
                }
                if let Some(list) = self.tree.tasks[field.task].fields.slot(field.kind) {
                    list.span.end = Span::of_slice(self.text, self.lines[at.end - 1].text).end;
                }
            }
            None => {
                let note = self.block(at, start, column);
                self.tree.add_note(self.task_at(column), note);
            }
        }
    }

    /// Reads a paragraph; inside a field, it is read like text on the label's line.
    fn read_paragraph(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        if let Some(field) = self.field {
            let end = self.paragraph_end(at, field.column);
            let own = self.source(line.text, end);
            for item in fields::line_entries(field.kind, self.text, own) {
                self.add_entry(field, item, None);
            }
            return end;
        }
        let task = self.task_at(line.column);
        let goes_on = |next: &&Line<'_>| {
            next.is_text() && (next.column > line.column || self.task_at(next.column) == task)
        };
        let end = at + 1 + self.lines[at + 1..].iter().take_while(goes_on).count();
        let note = self.block(at..end, line.text, line.column);
        self.tree.add_note(task, note);
        end
    }

    /// The text of the lines `at`, beginning with `start`, dedented by `columns` columns.
    fn block(&self, at: Range<usize>, start: &'t str, columns: usize) -> Item<'t> {
        const BLANKS: [char; 3] = [' ', '\t', '\n'];
        let source = self.source(start, at.end);
        let first = start
            .lines()
            .next()
            .unwrap_or_default()
            .trim_matches(BLANKS);
        let rest = self.lines[at.start + 1..at.end].iter();
        let rest: Vec<String> = rest.map(|line| dedented(line.raw, columns)).collect();
        let text = match rest.is_empty() {
            true => first.into(),
            false => {
                let text = format!("{first}\n{}", rest.join("\n"));
                text.trim_matches(BLANKS).to_owned().into()
            }
        };
        Item {
            text,
            ..Item::from_slice(self.text, source)
        }
    }
}

/// Reads an item of a field as a task, if it has an id and a complexity.
fn misplaced_task(own: &str) -> Option<TaskHead<'_>> {
    let is_named = opens_id(within_marks(own));
    let head = is_named.then(|| read_head(own, HeadPlace::List))??;
    head.complexity.is_some().then_some(head)
}

/// True if `title` merely announces the list of tasks below it, as `Subtasks:` does.
fn is_frame(title: &str) -> bool {
    let title = title.trim_matches(['*', '_', '`', ':', ' ']);
    ["Tasks", "Subtasks"]
        .iter()
        .any(|frame| frame.eq_ignore_ascii_case(title))
}

#[cfg(test)]
mod tests;
