//! Parses Markdown into a tree, line by line. All text is taken from the source.
//!
//! Columns decide what a line belongs to. An item is part of the innermost task or field that begins at least two
//! columns before it; text is part of what begins before it. Code fences and comments are never looked into.

mod builder;
pub(super) mod fields;
mod lines;
mod task_line;

use std::borrow::Cow;
use std::ops::Range;

use self::builder::TreeBuilder;
pub use self::fields::entries_of;
use self::lines::{
    Line, closer_of, closes, dedented, disguised_task, is_one_paragraph, lines_of, trimmed,
};
use self::task_line::{
    HeadPlace, SyntaxFault, TaskHead, joined_lines, opens_id, read_head, within_marks,
};
use super::field::{FieldForm, FieldKind};
use super::task::{Item, Plan, TaskIndex};
use crate::diagnostic::{Diagnostic, Span};

/// Headings that the writer itself produces.
const FRAME_HEADINGS: [&str; 3] = ["Task Decomposition", "Root Task", "Subtasks"];

/// Parses a task tree. Never fails: the diagnostics, all of rule `syntax` and in source order, cover the unreadable
/// parts, and the plan has every task that could be made out.
pub fn parse(text: &str) -> (Plan<'_>, Vec<Diagnostic>) {
    let mut reader = Reader {
        text,
        lines: lines_of(text),
        ..Reader::default()
    };
    let mut at = 0;
    while at < reader.lines.len() {
        at = reader.read_line(at);
    }
    reader.builder.finish(text)
}

/// The reader's place in the tree.
#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    lines: Vec<Line<'t>>,
    /// The task of the current line and those above it, outermost first.
    open: Vec<OpenTask>,
    field: Option<OpenField>,
    /// What would close the fences and comments that are never closed.
    unclosed: Vec<&'t str>,
    builder: TreeBuilder<'t>,
}

#[derive(Clone, Copy)]
struct OpenTask {
    task: TaskIndex,
    column: usize,
    /// The level of a heading; 0 for an item of a list.
    level: u8,
    /// True behind a heading that is no task: what looks like an unknown field is prose there.
    in_section: bool,
}

#[derive(Clone, Copy)]
struct OpenField {
    kind: FieldKind,
    column: usize,
    task: TaskIndex,
}

impl<'t> Reader<'t> {
    /// Reads what begins on line `at`, and returns the line behind it.
    fn read_line(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        if line.text.is_empty() {
            return at + 1;
        }
        if self.field.is_some_and(|field| line.column <= field.column) {
            self.field = None;
        }
        if let Some(end) = self.closed_at(at) {
            self.verbatim(at, end);
            return end;
        }
        if let Some((level, title)) = line.heading()
            && self.heading(at, level, title)
        {
            return at + 1;
        }
        if let Some(content) = line.item() {
            return self.item(at, content);
        }
        match line.disguised_task() {
            Some(own) => self.broken_task(at, line.begin() + own),
            None => self.paragraph(at),
        }
    }

    /// The line behind the code fence or the comment that begins on line `at`.
    fn closed_at(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        let closer = line.closer()?;
        if self.unclosed.iter().any(|other| closer.starts_with(other)) {
            return None;
        }
        if closer == "-->" && line.text.contains(closer) {
            return Some(at + 1);
        }
        let close = (at + 1..self.lines.len()).find(|&next| closes(self.lines[next].text, closer));
        if close.is_none() {
            self.unclosed.push(closer);
            let what = if closer == "-->" {
                "comment"
            } else {
                "code fence"
            };
            let fault = SyntaxFault {
                detail: format!("the {what} is never closed"),
                hint: format!("close it with a line of `{closer}`"),
            };
            self.builder
                .fault(Span::new(line.begin(), line.end()), None, fault);
        }
        Some(close? + 1)
    }

    /// The task that text at `column` belongs to.
    fn task_at(&self, column: usize) -> Option<TaskIndex> {
        let around = |open: &&OpenTask| open.level > 0 || open.column < column;
        self.open.iter().rev().find(around).map(|open| open.task)
    }

    /// Leaves the tasks of lists that don't begin at least `gap` columns before `column`.
    fn leave_items(&mut self, column: usize, gap: usize) {
        let left = |open: &OpenTask| open.level == 0 && open.column + gap > column;
        let kept = self.open.iter().position(left);
        self.open.truncate(kept.unwrap_or(self.open.len()));
    }

    fn heading(&mut self, at: usize, level: u8, title: usize) -> bool {
        let line = self.lines[at];
        let end = title
            + self.text[title..line.end()]
                .trim_end_matches('#')
                .trim_end()
                .len();
        let is_tight = title == line.begin() + usize::from(level);
        let mut head = read_head(self.text, title..end, HeadPlace::Heading)
            .filter(|head| !is_tight || head.id.bytes().any(|byte| byte.is_ascii_digit()));
        if let (Some(head), true) = (&mut head, self.field.is_some() || is_tight) {
            head.fault
                .get_or_insert_with(|| task_line::unreadable(head.id));
        }
        if head.is_none() && (self.field.is_some() || is_tight) {
            return false;
        }
        self.field = None;
        self.leave_items(line.column, 1);
        while self.open.last().is_some_and(|open| open.level >= level) {
            self.open.pop();
        }
        if let Some(head) = head {
            let parent = self.open.last().map(|open| open.task);
            self.push_task(head, title..end, parent, (line.column, level));
            self.builder.end_line(line.end());
            return true;
        }
        let is_frame = FRAME_HEADINGS
            .iter()
            .any(|frame| frame.eq_ignore_ascii_case(&self.text[title..end]));
        if !is_frame {
            if let Some(open) = self.open.last_mut() {
                open.in_section = true;
            }
            let task = self.open.last().map(|open| open.task);
            self.note(task, line.text.into(), line.begin()..line.end());
        }
        true
    }

    fn push_task(
        &mut self,
        head: TaskHead<'t>,
        own: Range<usize>,
        parent: Option<TaskIndex>,
        (column, level): (usize, u8),
    ) {
        let indent = if level > 0 { column } else { column + 2 };
        let task = self.builder.task(head, own, parent, indent);
        self.field = None;
        self.open.push(OpenTask {
            task,
            column,
            level,
            in_section: false,
        });
    }

    fn item(&mut self, at: usize, content: usize) -> usize {
        let line = self.lines[at];
        if let Some(field) = self.field {
            if line.column >= field.column + 2 {
                return self.entry(at, content, field);
            }
            self.field = None;
        }
        self.leave_items(line.column, 2);
        let end = self.paragraph_end(at, line.column);
        let own = trimmed(self.text, content, self.lines[end - 1].end());
        let around = self.open.last().copied();
        let task = around.map(|open| open.task);
        let label = fields::label(self.text, own.clone());
        let known = label
            .as_ref()
            .and_then(|(name, _)| FieldKind::from_label(&self.text[name.clone()]));
        if let (Some((label, value)), Some(kind), Some(task)) = (&label, known, task) {
            return self.begin_field((at, end), (task, kind), label.clone(), *value..own.end);
        }
        if let Some(head) = read_head(self.text, own.clone(), HeadPlace::List) {
            self.push_task(head, own, task, (line.column, 0));
            return end;
        }
        if let Some(inner) = disguised_task(&self.text[own.clone()]) {
            return self.broken_task(at, own.start + inner);
        }
        if is_frame(&self.text[own.clone()]) {
            return end;
        }
        let end = self.item_end(at, content, false);
        if let (
            Some((label, value)),
            Some(OpenTask {
                in_section: false,
                task,
                ..
            }),
        ) = (label, around)
        {
            self.labelled(at..end, task, label, value, false);
        } else {
            let range = line.begin()..self.lines[end - 1].end();
            let text = self.block(at..end, line.begin(), line.column);
            self.note(task, text, range);
        }
        end
    }

    /// The line behind the paragraph that begins on line `at` in something at `column`.
    fn paragraph_end(&self, at: usize, column: usize) -> usize {
        let goes_on = |line: &&Line| line.column > column && line.is_plain();
        at + 1 + self.lines[at + 1..].iter().take_while(goes_on).count()
    }

    /// The line behind the item that begins on line `at`. It ends before text that isn't indented further, and before a
    /// task; in an `entry`, only what has an id and a complexity is a task.
    fn item_end(&mut self, at: usize, content: usize, entry: bool) -> usize {
        let item = self.lines[at];
        let is_within = |line: &Line<'_>| {
            line.text.is_empty() || line.column > item.column + usize::from(line.item().is_some())
        };
        let closer = closer_of(&self.text[content..item.end().max(content)]);
        let mut end = at + 1;
        if let Some(closer) = closer.filter(|closer| *closer != "-->") {
            let mut below =
                (at + 1..self.lines.len()).take_while(|&next| is_within(&self.lines[next]));
            end = below
                .find(|&next| closes(self.lines[next].text, closer))
                .map_or(end, |close| close + 1);
        }
        let mut next = end;
        while let Some(line) = self.lines.get(next).copied().filter(is_within) {
            if line.text.is_empty() {
                next += 1;
            } else if let Some(close) = self.closed_at(next) {
                next = close;
                end = next;
            } else if self.begins_task(&line, entry) {
                break;
            } else {
                next += 1;
                end = next;
            }
        }
        end
    }

    fn begins_task(&self, line: &Line<'t>, entry: bool) -> bool {
        let (own, place) = match (line.heading(), line.item()) {
            (Some((_, title)), _) => (title, HeadPlace::Heading),
            (_, Some(content)) => (content, HeadPlace::List),
            _ => return line.disguised_task().is_some(),
        };
        let own = trimmed(self.text, own, line.end());
        if entry && place == HeadPlace::List {
            return self.misplaced_task(own).is_some();
        }
        let is_disguised = disguised_task(&self.text[own.clone()]).is_some();
        is_disguised || read_head(self.text, own, place).is_some()
    }

    /// The task that an item of a field claims to be.
    fn misplaced_task(&self, own: Range<usize>) -> Option<TaskHead<'t>> {
        let named = opens_id(within_marks(&self.text[own.clone()]));
        let head = named.then(|| read_head(self.text, own, HeadPlace::List))??;
        head.complexity.is_some().then_some(head)
    }

    fn begin_field(
        &mut self,
        (at, end): (usize, usize),
        (task, kind): (TaskIndex, FieldKind),
        label: Range<usize>,
        value: Range<usize>,
    ) -> usize {
        let line = self.lines[at];
        let again = self.builder.is_given(task, kind);
        if again || kind.form() == FieldForm::Prose {
            let end = self.item_end(at, value.start, !again);
            if again {
                self.labelled(at..end, task, label, value.start, true);
            } else {
                let text = self.block(at..end, value.start, line.column + 2);
                let span = Span::new(label.start, self.lines[end - 1].end());
                self.builder.describe(task, text, span);
                self.builder.field_at(task, line.column);
            }
            return end;
        }
        self.builder.field_at(task, line.column);
        let span = Span::new(
            trimmed(self.text, line.item().unwrap_or(label.start), label.start).start,
            value.end,
        );
        let entries = fields::line_entries(kind, self.text, value);
        self.builder.begin_field(task, kind, entries, span);
        self.field = Some(OpenField {
            kind,
            column: line.column,
            task,
        });
        end
    }

    fn entry(&mut self, at: usize, content: usize, field: OpenField) -> usize {
        let line = self.lines[at];
        let end = self.paragraph_end(at, line.column);
        let own = trimmed(self.text, content, self.lines[end - 1].end());
        if let Some(mut head) = self.misplaced_task(own.clone()) {
            head.fault
                .get_or_insert_with(|| task_line::unreadable(head.id));
            self.push_task(head, own, Some(field.task), (line.column, 0));
            return end;
        }
        let column = Some(line.column);
        if !field.kind.form().is_list_of_sentences() {
            if let Some(item) = fields::entry(field.kind, self.text, own) {
                self.builder.entry(field.task, field.kind, item, column);
            }
            return end;
        }
        let end = self.item_end(at, content, true);
        let text = self.block(at..end, content, line.column + 2);
        self.sentence(
            field,
            text,
            trimmed(self.text, content, self.lines[end - 1].end()),
            column,
        );
        end
    }

    /// Adds a block as one entry of a field.
    fn sentence(
        &mut self,
        field: OpenField,
        text: Cow<'t, str>,
        range: Range<usize>,
        column: Option<usize>,
    ) {
        let text = match is_one_paragraph(&text) {
            true => joined_lines(text),
            false => text,
        };
        let item = Item {
            text,
            span: Span::new(range.start, range.end),
            note: None,
        };
        if !item.text.is_empty() {
            self.builder.entry(field.task, field.kind, item, column);
        }
    }

    /// Reads a code fence or a comment.
    fn verbatim(&mut self, at: usize, end: usize) {
        let line = self.lines[at];
        let range = line.begin()..self.lines[end - 1].end();
        let is_code = !line.text.starts_with("<!--");
        match self.field.filter(|_| is_code) {
            Some(field) if field.kind.form().is_list_of_sentences() => {
                let text = self.block(at..end, line.begin(), line.column);
                self.sentence(field, text, range, None);
            }
            Some(field) => {
                for line in &self.lines[at + 1..end - 1] {
                    if let Some(item) =
                        fields::entry(field.kind, self.text, line.begin()..line.end())
                    {
                        self.builder.entry(field.task, field.kind, item, None);
                    }
                }
            }
            None => {
                let text = self.block(at..end, line.begin(), line.column);
                self.note(self.task_at(line.column), text, range);
            }
        }
    }

    /// Reads text: in a field like the text on the line of its label.
    fn paragraph(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        if let Some(field) = self.field {
            let end = self.paragraph_end(at, field.column);
            let range = line.begin()..self.lines[end - 1].end();
            for item in fields::line_entries(field.kind, self.text, range) {
                self.builder.entry(field.task, field.kind, item, None);
            }
            return end;
        }
        let task = self.task_at(line.column);
        let goes_on = |line: &&Line<'_>| line.is_text() && self.task_at(line.column) == task;
        let end = at + 1 + self.lines[at + 1..].iter().take_while(goes_on).count();
        let text = self.block(at..end, line.begin(), line.column);
        self.note(task, text, line.begin()..self.lines[end - 1].end());
        end
    }

    /// Adds a line that only looks like a task to the tree, so that what depends on it isn't reported too.
    fn broken_task(&mut self, at: usize, own: usize) -> usize {
        let line = self.lines[at];
        let own = own..line.end();
        let mut head = read_head(self.text, own.clone(), HeadPlace::List).unwrap_or_default();
        head.flaw = None;
        head.fault = Some(task_line::unreadable(head.id));
        self.leave_items(line.column, 2);
        let parent = self.open.last().map(|open| open.task);
        self.push_task(head, own, parent, (line.column, 0));
        at + 1
    }

    /// Keeps a field that is unknown or was given before.
    fn labelled(
        &mut self,
        at: Range<usize>,
        task: TaskIndex,
        label: Range<usize>,
        value: usize,
        again: bool,
    ) {
        let column = self.lines[at.start].column;
        self.builder.field_at(task, column);
        let text = self.block(at.clone(), value, column + 2);
        let span = Span::new(label.start, self.lines[at.end - 1].end().max(label.end));
        let item = Item {
            text,
            span,
            note: None,
        };
        self.builder.labelled(task, &self.text[label], item, again);
    }

    /// The text of the lines `at` from `start` on, without `columns` columns of indentation.
    fn block(&self, at: Range<usize>, start: usize, columns: usize) -> Cow<'t, str> {
        let first = self.lines[at.start];
        const BLANKS: [char; 3] = [' ', '\t', '\n'];
        let own = self.text[start..first.end().max(start)].trim_matches(BLANKS);
        if at.len() == 1 {
            return own.into();
        }
        let rest = self.lines[at.start + 1..at.end].iter();
        let rest: Vec<String> = rest.map(|line| dedented(line.raw, columns)).collect();
        let text = format!("{own}\n{}", rest.join("\n"));
        text.trim_matches(BLANKS).to_owned().into()
    }

    fn note(&mut self, task: Option<TaskIndex>, text: Cow<'t, str>, range: Range<usize>) {
        let span = Span::new(range.start, range.end);
        self.builder.note(
            task,
            Item {
                text,
                span,
                note: None,
            },
        );
    }
}

/// True for the line above a list of tasks that merely announces them.
fn is_frame(title: &str) -> bool {
    let title = title.trim_matches(['*', '_', ':', ' ']);
    ["Tasks", "Subtasks"]
        .iter()
        .any(|frame| frame.eq_ignore_ascii_case(title))
}

#[cfg(test)]
mod tests;
