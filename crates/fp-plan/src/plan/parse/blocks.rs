//! Reads blocks that aren't list items (paragraphs, headings, code, HTML), and finds the lines in them that look like
//! tasks.

use std::ops::Range;

use super::Reader;
use super::fields;
use super::fields::trim;
use super::prose::dedent_code;
use super::prose::{open_fence, open_html};
use super::task_line::{self, HeadPlace, SyntaxFault, TaskHead};
use super::task_line::{Suspect, SuspectLead};
use super::{FrameKind, ReaderFrame};
use crate::plan::field::FieldForm;

/// Headings that the writer itself produces.
const FRAME_HEADINGS: [&str; 3] = ["Task Decomposition", "Root Task", "Subtasks"];

/// True if a title merely announces subtasks.
pub(super) fn is_frame(title: &str) -> bool {
    let title = title.trim_end_matches(':').trim_end();
    title.eq_ignore_ascii_case("Tasks")
        || FRAME_HEADINGS
            .iter()
            .any(|frame| frame.eq_ignore_ascii_case(title))
}

impl<'t> Reader<'t> {
    pub(super) fn heading(&mut self, level: u8, range: Range<usize>) {
        let start = if self.text[range.clone()].trim_start().starts_with('#') {
            self.end_definitions();
            range.start
        } else {
            self.begin_text(range.start)
        };
        self.read_head(range.start);
        self.leave_closed_items();
        let content = heading_text(self.text, range.clone());
        let head = task_line::read_head(self.text, content.clone(), HeadPlace::Heading);
        match head {
            Some(head) if self.is_in_field(range.start) => {
                self.misplaced_heading(level, range, content, head);
            }
            Some(head) => {
                self.leave_text(range.start);
                self.leave_headings(level);
                self.heading_task(level, range, content, (head, self.enclosing()));
            }
            None if self.in_text() => self.keep_block(range, None),
            None => {
                self.leave_headings(level);
                // A heading that the writer produces carries no meaning.
                if !FRAME_HEADINGS
                    .iter()
                    .any(|frame| frame.eq_ignore_ascii_case(&self.text[content.clone()]))
                {
                    self.keep_heading(start..range.end);
                    self.push_heading(FrameKind::Section(level), range.start, self.enclosing());
                }
            }
        }
    }

    /// True if the current item is a field or prose.
    fn in_text(&self) -> bool {
        self.frames
            .last()
            .is_some_and(|frame| frame.is_text() || matches!(frame.kind, FrameKind::Field(_)))
    }

    fn leave_headings(&mut self, level: u8) {
        while let Some(ReaderFrame {
            kind: FrameKind::HeadingTask(above) | FrameKind::Section(above),
            ..
        }) = self.frames.last()
        {
            if *above < level {
                break;
            }
            self.frames.pop();
        }
    }

    /// True if a heading at `start` is part of a field: in an entry, or after its bullet.
    fn is_in_field(&self, start: usize) -> bool {
        let line = self.text[..start]
            .rfind(['\n', '\r'])
            .map_or(0, |at| at + 1);
        let bullet = !self.text[line..start].trim().is_empty();
        let around = self
            .frames
            .iter()
            .rev()
            .take_while(|frame| frame.is_text() || matches!(frame.kind, FrameKind::Field(_)));
        let entry = self
            .container()
            .is_some_and(|frame| matches!(frame.kind, FrameKind::Entry(_)));
        entry
            || (bullet
                && around
                    .filter(|frame| frame.kind != FrameKind::Group)
                    .count()
                    > 0)
    }

    /// Reads a heading inside an entry as the task it claims to be, and leaves the entry unchanged.
    fn misplaced_heading(
        &mut self,
        level: u8,
        whole: Range<usize>,
        own: Range<usize>,
        mut head: TaskHead<'t>,
    ) {
        head.fault
            .get_or_insert_with(|| task_line::inside_field(head.id));
        self.leave_headings(level);
        let parent = self.parent_of_next();
        self.heading_task(level, whole, own, (head, parent));
    }

    /// Leaves the fields and the prose around a heading at `start`; they end with the previous line.
    fn leave_text(&mut self, start: usize) {
        // Bullets on the heading's own line belong to no text.
        let line = self.text[..start]
            .rfind(['\n', '\r'])
            .map_or(0, |at| at + 1);
        while self.in_text() {
            self.cut_fields(self.frames.len() - 1, line);
            self.leave_frame(line);
        }
    }

    /// Ends the fields from frame `from` on before a line that isn't part of them.
    fn cut_fields(&mut self, from: usize, line: usize) {
        for frame in &self.frames[from..] {
            if let (FrameKind::Field(field), Some(task)) = (&frame.kind, frame.task) {
                let end = frame
                    .content
                    .max(trim(self.text, frame.content.min(line)..line).end);
                self.builder.cut_field(task, *field, end);
            }
        }
    }

    fn heading_task(
        &mut self,
        level: u8,
        whole: Range<usize>,
        own: Range<usize>,
        (head, parent): (TaskHead<'t>, Option<usize>),
    ) {
        let column = self.column_of(whole.start);
        let line_end = trim(self.text, whole.clone()).end;
        let task = self.builder.task(head, own, parent, column);
        self.builder.tasks[task].line_end = line_end;
        self.push_heading(FrameKind::HeadingTask(level), whole.start, Some(task));
    }

    fn push_heading(&mut self, kind: FrameKind, start: usize, task: Option<usize>) {
        // The text items around the heading were left already, so pick the innermost open item that still has its
        // frame.
        let is_there = |at: usize, serial| {
            self.frames
                .get(at)
                .is_some_and(|frame| frame.serial == serial)
        };
        let item = self
            .open
            .iter()
            .rev()
            .copied()
            .find(|&(at, serial)| is_there(at, serial));
        if let Some((at, _)) = item {
            self.frames[at].has_heading = true;
        }
        let column = self.column_of(start);
        self.frames.push(ReaderFrame {
            kind,
            column,
            content_column: column,
            task,
            range: start..start,
            content: start,
            ..ReaderFrame::default()
        });
    }

    /// Reads a code block, fenced or indented.
    pub(super) fn code(&mut self, fenced: bool, range: Range<usize>) {
        self.read_head(range.start);
        let lines_of = match self.frames.last() {
            Some(ReaderFrame {
                kind: FrameKind::Field(field),
                open: true,
                ..
            }) if field.form().is_list_of_words()
                || matches!(field.form(), FieldForm::Commands | FieldForm::Command) =>
            {
                Some(*field)
            }
            _ => None,
        };
        if let (Some(field), Some(task)) = (lines_of, self.enclosing()) {
            for line in code_lines(self.text, range.clone(), fenced) {
                if let Some(item) = fields::entry(field, self.text, line) {
                    self.builder.entry(task, field, item, 0);
                }
            }
            return;
        }
        let quoted = self.frames.last().is_some_and(|frame| {
            frame.open
                && (matches!(frame.kind, FrameKind::Field(field) if !field.form().is_list_of_words())
                    || self.is_whole(frame))
        });
        if !fenced && !quoted {
            // The indentation makes it code.
            let start = self.text[..range.start].trim_end_matches([' ', '\t']).len();
            let text = dedent_code(&self.text[start..range.end], self.container_column());
            self.keep_text(text.into(), range.clone());
            let why = (
                "a line that looks like a task is indented so far that Markdown reads it as code",
                "indent it as much as the tasks beside it",
            );
            return self.swallowed(range, true, why);
        }
        let column = self.container_column();
        let open_fence = fenced
            .then(|| open_fence(&self.text[range.clone()], column))
            .flatten();
        self.keep_block(range.clone(), open_fence);
        if open_fence.is_some() && self.text[range.end..].trim().is_empty() {
            let why = (
                "a code fence that is never closed swallows what follows",
                "close the fence with a line of ``` of its own",
            );
            self.swallowed(range, false, why);
        }
    }

    pub(super) fn html(&mut self, range: Range<usize>) {
        self.read_head(range.start);
        let html = self.text[range.clone()].trim_start();
        let open = open_html(html);
        self.keep_prose(range.clone(), open);
        if !html.starts_with("<!--") {
            let why = (
                "an HTML block goes on up to the next blank line and swallows a line that looks like a task",
                "put a blank line behind the HTML",
            );
            self.swallowed(range, true, why);
        } else if open.is_some() {
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

    /// Reports a block once, at its first line that looks like a task.
    fn swallowed(&mut self, range: Range<usize>, first_line: bool, (detail, hint): (&str, &str)) {
        let suspects: Vec<Suspect> = task_line::suspects(self.text, range, first_line).collect();
        let more = suspects.len().saturating_sub(1);
        let detail = if more == 0 {
            detail.to_owned()
        } else {
            format!("{detail} ({more} more of them follow)")
        };
        let mut fault = Some(SyntaxFault {
            detail,
            hint: hint.to_owned(),
        });
        for suspect in suspects {
            self.misread(&suspect, fault.take());
        }
    }

    /// Adds a line that only looks like a task to the tree, marked as broken. Reports it with `fault`, unless another
    /// line's report covers it.
    pub(super) fn misread(&mut self, suspect: &Suspect, fault: Option<SyntaxFault>) {
        let own = suspect.task_start..suspect.range.end;
        let heading = suspect.lead == SuspectLead::TightHeading;
        let mut head = task_line::read_head(
            self.text,
            own.clone(),
            if heading {
                HeadPlace::Heading
            } else {
                HeadPlace::List
            },
        )
        .unwrap_or_default();
        head.flaw = None;
        head.fault = Some(fault.unwrap_or_default());
        if heading {
            self.leave_items(0, suspect.range.start);
            let signs = self.text[suspect.range.clone()]
                .bytes()
                .take_while(|b| *b == b'#')
                .count();
            let level = u8::try_from(signs).unwrap_or(6).min(6);
            self.leave_headings(level);
            let start = suspect.range.start;
            let column = self.column_of(start);
            let task = self.builder.task(head, own, self.enclosing(), column);
            self.builder.tasks[task].line_end = suspect.range.end;
            self.push_heading(FrameKind::HeadingTask(level), start, Some(task));
            return;
        }
        let column = self.column_of(suspect.range.start);
        let stays = |frame: &ReaderFrame| !frame.is_item() || frame.column + 2 <= column;
        let from = self.frames.iter().rposition(stays).map_or(0, |at| at + 1);
        self.cut_fields(from, suspect.range.start);
        self.leave_items(column, suspect.range.start);
        let parent = self.parent_of_next();
        let task = self.builder.task(head, own, parent, column + 2);
        self.serial += 1;
        self.frames.push(ReaderFrame {
            kind: FrameKind::Task,
            column,
            content_column: column + 2,
            serial: self.serial,
            task: Some(task),
            tasks_before: self.builder.tasks.len(),
            range: suspect.range.clone(),
            content: suspect.task_start,
            ..ReaderFrame::default()
        });
    }
}

/// Explains why Markdown doesn't read a line as a task.
pub(super) fn misread_line(text: &str, suspect: &Suspect) -> SyntaxFault {
    let lead = text[suspect.range.start..suspect.task_start].trim_end();
    let (detail, hint) = match suspect.lead {
        SuspectLead::Nothing => {
            ("a line that looks like a task has no bullet".to_owned(), "begin it with `- `".to_owned())
        }
        SuspectLead::Bullet if lead.starts_with(|c: char| c.is_ascii_digit()) => (
            format!(
                "a list that begins with `{lead}` right behind a line of text is read as part of that text"
            ),
            "begin it with `- `, or put a blank line before it".to_owned(),
        ),
        SuspectLead::Bullet => (
            "a line that looks like a task is indented so far that it is read as part of the line above"
                .to_owned(),
            "indent it by two blanks more than its parent".to_owned(),
        ),
        SuspectLead::TightBullet => {
            (format!("there is no blank behind `{lead}`"), format!("write `{lead} [ID: …]`"))
        }
        SuspectLead::StrangeBullet => {
            (format!("`{lead}` is no bullet in Markdown"), "begin the line with `- `".to_owned())
        }
        SuspectLead::TightHeading => {
            (format!("there is no blank behind `{lead}`"), format!("write `{lead} [1] Title`"))
        }
    };
    SyntaxFault { detail, hint }
}

/// The text of a heading without its marks.
fn heading_text(text: &str, range: Range<usize>) -> Range<usize> {
    let range = trim(text, range);
    let slice = &text[range.clone()];
    if !slice.starts_with('#') {
        // An underlined heading ends before the line of its underline.
        let end = slice.rfind(['\n', '\r']).unwrap_or(slice.len());
        return trim(text, range.start..range.start + end);
    }
    let inner = trim(
        text,
        range.start + slice.bytes().take_while(|b| *b == b'#').count()..range.end,
    );
    let bare = text[inner.clone()].trim_end_matches('#');
    let end = if bare.is_empty() || bare.ends_with([' ', '\t']) {
        inner.start + bare.len()
    } else {
        inner.end
    };
    trim(text, inner.start..end)
}

fn code_lines(text: &str, range: Range<usize>, fenced: bool) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = range.start;
    for line in text[range].split_inclusive('\n') {
        lines.push(trim(text, start..start + line.len()));
        start += line.len();
    }
    if fenced {
        lines.remove(0);
        lines.pop_if(|line| {
            text[line.clone()].starts_with("```") || text[line.clone()].starts_with("~~~")
        });
    }
    lines.retain(|line| !line.is_empty());
    lines
}
