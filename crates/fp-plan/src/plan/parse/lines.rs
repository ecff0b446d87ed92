//! Looks at single lines: how far each is indented, and what it begins.

use super::fields::trim;
use super::task_line::{opens_id, within_marks};
use crate::plan::marker_length;
use crate::plan::position::BOM;

/// A line without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    pub(super) raw: &'t str,
    /// The source offset of `raw`.
    pub(super) start: usize,
    /// Columns before the text, with tab stops every 4 columns.
    pub(super) column: usize,
    /// Without the blanks around it.
    pub(super) text: &'t str,
}

impl<'t> Line<'t> {
    fn new(raw: &'t str, start: usize) -> Self {
        let text = raw.trim_start_matches([' ', '\t']);
        Self {
            raw,
            start,
            column: columns(&raw[..raw.len() - text.len()]),
            text: text.trim_end(),
        }
    }

    /// The source offset of the text.
    pub(super) fn begin(&self) -> usize {
        self.start + self.raw.len() - self.raw.trim_start_matches([' ', '\t']).len()
    }

    pub(super) fn end(&self) -> usize {
        self.begin() + self.text.len()
    }

    /// The source offset of an item's text, behind its bullet or number.
    pub(super) fn item(&self) -> Option<usize> {
        let marker = marker_length(self.text);
        let rest = &self.text[marker..];
        let is_item = marker > 0 && (rest.is_empty() || rest.starts_with([' ', '\t']));
        is_item.then(|| self.end() - rest.trim_start().len())
    }

    /// The level of a heading, and the source offset of its title.
    pub(super) fn heading(&self) -> Option<(u8, usize)> {
        let rest = self.text.trim_start_matches('#');
        let level = u8::try_from(self.text.len() - rest.len()).ok()?;
        let is_heading =
            (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t', '[']));
        is_heading.then(|| (level, self.end() - rest.trim_start().len()))
    }

    /// The text that closes what this line opens: a code fence or a comment.
    pub(super) fn closer(&self) -> Option<&'t str> {
        closer_of(self.text)
    }

    /// The offset in `text` of what reads as a task in a line that Markdown reads as something else.
    pub(super) fn disguised_task(&self) -> Option<usize> {
        disguised_task(self.text)
    }

    /// True if it is text, and goes on with a paragraph above it.
    pub(super) fn is_text(&self) -> bool {
        !self.text.is_empty()
            && self.item().is_none()
            && self.heading().is_none()
            && self.closer().is_none()
            && self.disguised_task().is_none()
    }

    /// True if it is text without any mark, which can be joined with the line above it.
    pub(super) fn is_plain(&self) -> bool {
        let is_rule = ["-", "=", "*", "_"]
            .iter()
            .any(|sign| self.text.trim_matches(|c| sign.contains(c)).is_empty());
        self.is_text() && !is_rule && !self.text.starts_with('>')
    }
}

/// The lines of `text` behind its byte-order mark.
pub(super) fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut next = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let lines = text[next..].split_inclusive('\n').map(|line| {
        let start = next;
        next += line.len();
        Line::new(line.trim_end_matches(['\n', '\r']), start)
    });
    lines.collect()
}

/// The text that closes the code fence or the comment that `text` opens.
pub(super) fn closer_of(text: &str) -> Option<&str> {
    if text.starts_with("<!--") {
        return Some("-->");
    }
    let sign = text.chars().next().filter(|sign| "`~".contains(*sign))?;
    let signs = text.len() - text.trim_start_matches(sign).len();
    (signs >= 3 && !text[signs..].contains('`')).then(|| &text[..signs])
}

/// True if `line` closes what `closer` is for.
pub(super) fn closes(line: &str, closer: &str) -> bool {
    match closer {
        "-->" => line.contains(closer),
        _ => line.starts_with(closer) && line.trim_start_matches(&closer[..1]).is_empty(),
    }
}

pub(super) fn disguised_task(text: &str) -> Option<usize> {
    const BULLETS: [char; 12] = ['-', '*', '+', '•', '‣', '◦', '▪', '·', '–', '—', '∙', ' '];
    let behind_number = &text[marker_length(text)..];
    let rest = behind_number.trim_start_matches(BULLETS);
    opens_id(within_marks(rest)).then(|| text.len() - rest.len())
}

/// The columns that `blanks` take at the start of a line.
fn columns(blanks: &str) -> usize {
    blanks.bytes().fold(0, |column, byte| match byte {
        b'\t' => column + 4 - column % 4,
        _ => column + 1,
    })
}

/// A line without its first `columns` columns of indentation.
pub(super) fn dedented(line: &str, columns_to_remove: usize) -> String {
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    let cut = (0..=blanks)
        .find(|&at| columns(&line[..at]) >= columns_to_remove)
        .unwrap_or(blanks);
    let rest = columns(&line[..cut]).saturating_sub(columns_to_remove);
    " ".repeat(rest) + line[cut..].trim_end()
}

/// True if every line of `text` but the first is plain.
pub(super) fn is_one_paragraph(text: &str) -> bool {
    text.lines()
        .skip(1)
        .all(|line| Line::new(line, 0).is_plain())
}

/// The source from `start` to `end` without the blanks around it.
pub(super) fn trimmed(text: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    trim(text, start..end.max(start))
}
