//! Blocks that aren't items: paragraphs, headings, code, HTML; and the lines in them that look like tasks.

use std::ops::Range;

use super::Reader;
use super::frame::{Frame, Kind};
use super::head::{self, Fault, Place};
use super::split::trim;
use super::suspect::{self, Lead, Suspect};
use super::value;
use crate::diagnostic::Span;
use crate::plan::field::FieldKind;
use crate::plan::task::Item;

/// The two kinds of code blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// By four blanks.
    Indented,
    /// By a fence.
    Fenced,
}

impl<'t> Reader<'t> {
    pub(super) fn paragraph(&mut self, range: Range<usize>) {
        if let Some(frame) = self.frames.last().filter(|frame| frame.kind == Kind::Unread) {
            let is_head = self.text[frame.content..range.start.max(frame.content)].trim().is_empty();
            self.read_head(if is_head { range.end } else { range.start });
            if is_head {
                return;
            }
        }
        self.leave_closed_items();
        let suspects: Vec<Suspect> = match self.frames.last() {
            Some(frame) if frame.is_text() => return,
            _ => suspect::lines(self.text, range.clone(), true).collect(),
        };
        let text_end = suspects.first().map_or(range.end, |first| first.range.start);
        self.keep_prose(range.start..text_end);
        for suspect in suspects {
            let fault = misread_line(self.text, &suspect);
            self.misread(&suspect, Some(fault));
        }
    }

    /// Keeps a block that is no list: as entry of the field it stands in, else as prose.
    pub(super) fn keep_prose(&mut self, range: Range<usize>) {
        let range = trim(self.text, range);
        if range.is_empty() {
            return;
        }
        let column = self.columns.of(range.start);
        match self.frames.last() {
            Some(frame) if frame.open && frame.is_text() => {}
            Some(Frame { kind: Kind::Field(field), open: true, task: Some(task), .. }) => {
                let text = value::dedent(&self.text[range.clone()], column);
                let item = Item { text, span: Span::new(range.start, range.end), note: None };
                self.builder.entry(*task, *field, item, column);
            }
            frame => {
                let place = (frame.and_then(|frame| frame.task), self.builder.tasks.len());
                self.builder.note(place, self.text, range, column);
            }
        }
    }

    pub(super) fn heading(&mut self, level: u8, range: Range<usize>) {
        self.read_head(range.start);
        self.leave_closed_items();
        let content = heading_text(self.text, range.clone());
        let head = head::read(self.text, content.clone(), Place::Heading);
        match head {
            Some(head) => {
                while self.in_text() {
                    self.leave_frame(range.start);
                }
                self.leave_headings(level);
                self.heading_task(level, range.start, content, head);
            }
            None if self.in_text() => {}
            None => {
                self.leave_headings(level);
                self.builder.heading(self.enclosing(), self.text, trim(self.text, range.clone()), content);
                self.push_heading(Kind::Section(level), range.start, self.enclosing());
            }
        }
    }

    /// Whether the current item is a field or prose.
    fn in_text(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.is_text() || matches!(frame.kind, Kind::Field(_)))
    }

    fn leave_headings(&mut self, level: u8) {
        while let Some(Frame { kind: Kind::HeadingTask(above) | Kind::Section(above), .. }) =
            self.frames.last()
        {
            if *above < level {
                break;
            }
            self.frames.pop();
        }
    }

    fn heading_task(&mut self, level: u8, start: usize, own: Range<usize>, head: head::Head<'t>) {
        let parent = self.enclosing();
        let column = self.columns.of(start);
        let task = self.builder.task(head, own, parent, column);
        self.push_heading(Kind::HeadingTask(level), start, Some(task));
    }

    fn push_heading(&mut self, kind: Kind, start: usize, task: Option<usize>) {
        if let Some(&(at, serial)) = self.open.last()
            && let Some(item) = self.frames.get_mut(at).filter(|frame| frame.serial == serial)
        {
            item.has_heading = true;
        }
        let column = self.columns.of(start);
        self.frames.push(Frame {
            kind,
            column,
            content_column: column,
            serial: 0,
            open: false,
            task,
            tasks_before: 0,
            range: start..start,
            content: start,
            has_heading: false,
        });
    }

    pub(super) fn code(&mut self, code: Code, range: Range<usize>) {
        self.read_head(range.start);
        let commands = match self.frames.last() {
            Some(Frame {
                kind: Kind::Field(field @ (FieldKind::TestCommands | FieldKind::Verify)),
                open: true,
                ..
            }) => Some(*field),
            _ => None,
        };
        if let (Some(field), Some(task)) = (commands, self.enclosing()) {
            for line in code_lines(self.text, range.clone(), code) {
                if let Some(item) = value::entry(field, self.text, line) {
                    self.builder.entry(task, field, item, 0);
                }
            }
            return;
        }
        let quoted = self.in_text() && self.frames.last().is_some_and(|frame| frame.open);
        self.keep_prose(range.clone());
        let unclosed = code == Code::Fenced && !is_closed_fence(&self.text[range.clone()]);
        if (code == Code::Indented && !quoted) || (unclosed && self.text[range.end..].trim().is_empty()) {
            let first_line = code == Code::Indented;
            let why = if first_line {
                (
                    "a line that looks like a task is indented so far that Markdown reads it as code",
                    "indent it as much as the tasks beside it",
                )
            } else {
                (
                    "a code fence that is never closed swallows what follows",
                    "close the fence with a line of ``` of its own",
                )
            };
            self.swallowed(range, first_line, why);
        }
    }

    pub(super) fn html(&mut self, range: Range<usize>) {
        self.read_head(range.start);
        self.keep_prose(range.clone());
        let html = self.text[range.clone()].trim_start();
        if !html.starts_with("<!--") {
            let why = (
                "an HTML block goes on up to the next blank line and swallows a line that looks like a task",
                "put a blank line behind the HTML",
            );
            self.swallowed(range, true, why);
        } else if !html.contains("-->") {
            self.swallowed(
                range,
                true,
                (
                    "an HTML comment that is never closed swallows what follows",
                    "close the comment with `-->`",
                ),
            );
        }
    }

    /// Reports a block once, at the first line in it that looks like a task.
    fn swallowed(&mut self, range: Range<usize>, first_line: bool, (detail, hint): (&str, &str)) {
        let suspects: Vec<Suspect> = suspect::lines(self.text, range, first_line).collect();
        let more = suspects.len().saturating_sub(1);
        let detail =
            if more == 0 { detail.to_owned() } else { format!("{detail} ({more} more of them follow)") };
        let mut fault = Some(Fault { detail, hint: hint.to_owned() });
        for suspect in suspects {
            self.misread(&suspect, fault.take());
        }
    }

    /// Puts a line that only looks like a task into the tree, marked as such; reports it with `fault`, or
    /// not where the report was made for another line.
    pub(super) fn misread(&mut self, suspect: &Suspect, fault: Option<Fault>) {
        let own = suspect.task_start..suspect.range.end;
        let heading = suspect.lead == Lead::TightHeading;
        let mut head = head::read(self.text, own.clone(), if heading { Place::Heading } else { Place::List })
            .unwrap_or_default();
        head.flaw = None;
        let silent = fault.is_none();
        head.fault = Some(fault.unwrap_or(Fault { detail: String::new(), hint: String::new() }));
        if heading {
            self.leave_items(0, suspect.range.start);
            let signs = self.text[suspect.range.clone()].bytes().take_while(|b| *b == b'#').count();
            let level = u8::try_from(signs).unwrap_or(6).min(6);
            self.leave_headings(level);
            let start = suspect.range.start;
            let task = self.builder.broken_task(head, own, self.enclosing(), self.columns.of(start), silent);
            self.push_heading(Kind::HeadingTask(level), start, Some(task));
            return;
        }
        let column = self.columns.of(suspect.range.start);
        self.leave_items(column, suspect.range.start);
        let parent = self.parent_of_next();
        let task = self.builder.broken_task(head, own, parent, column + 2, silent);
        self.serial += 1;
        self.frames.push(Frame {
            kind: Kind::Task,
            column,
            content_column: column + 2,
            serial: self.serial,
            open: false,
            task: Some(task),
            tasks_before: self.builder.tasks.len(),
            range: suspect.range.clone(),
            content: suspect.task_start,
            has_heading: false,
        });
    }
}

/// Why Markdown doesn't read a line as a task.
pub(super) fn misread_line(text: &str, suspect: &Suspect) -> Fault {
    let lead = text[suspect.range.start..suspect.task_start].trim_end();
    let (detail, hint) = match suspect.lead {
        Lead::Nothing => {
            ("a line that looks like a task has no bullet".to_owned(), "begin it with `- `".to_owned())
        }
        Lead::Bullet if lead.starts_with(|c: char| c.is_ascii_digit()) => (
            format!(
                "a list that begins with `{lead}` right behind a line of text is read as part of that text"
            ),
            "begin it with `- `, or put a blank line before it".to_owned(),
        ),
        Lead::Bullet => (
            "a line that looks like a task is indented so far that it is read as part of the line above"
                .to_owned(),
            "indent it by two blanks more than its parent".to_owned(),
        ),
        Lead::TightBullet => {
            (format!("there is no blank behind `{lead}`"), format!("write `{lead} [ID: …]`"))
        }
        Lead::StrangeBullet => {
            (format!("`{lead}` is no bullet in Markdown"), "begin the line with `- `".to_owned())
        }
        Lead::TightHeading => {
            (format!("there is no blank behind `{lead}`"), format!("write `{lead} [1] Title`"))
        }
    };
    Fault { detail, hint }
}

/// The text of a heading without its signs.
fn heading_text(text: &str, range: Range<usize>) -> Range<usize> {
    let range = trim(text, range);
    let slice = &text[range.clone()];
    if !slice.starts_with('#') {
        // An underlined heading ends with the line of its signs.
        let end = slice.rfind(['\n', '\r']).unwrap_or(slice.len());
        return trim(text, range.start..range.start + end);
    }
    let inner = trim(text, range.start + slice.bytes().take_while(|b| *b == b'#').count()..range.end);
    let bare = text[inner.clone()].trim_end_matches('#');
    let end =
        if bare.is_empty() || bare.ends_with([' ', '\t']) { inner.start + bare.len() } else { inner.end };
    trim(text, inner.start..end)
}

fn is_closed_fence(source: &str) -> bool {
    let mut lines = source.trim().lines();
    let fence = lines.next().and_then(|line| line.chars().next()).unwrap_or('`');
    lines
        .next_back()
        .map(|line| line.trim().trim_start_matches('>').trim())
        .is_some_and(|line| line.len() >= 3 && line.chars().all(|c| c == fence))
}

fn code_lines(text: &str, range: Range<usize>, code: Code) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = range.start;
    for line in text[range].split_inclusive('\n') {
        lines.push(trim(text, start..start + line.len()));
        start += line.len();
    }
    if code == Code::Fenced {
        lines.remove(0);
        lines.pop_if(|line| text[line.clone()].starts_with("```") || text[line.clone()].starts_with("~~~"));
    }
    lines.retain(|line| !line.is_empty());
    lines
}
