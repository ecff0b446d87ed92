//! Analyses single lines: how far each is indented, and what starts on it.

use super::task_line::{opens_id, within_marks};
use crate::diagnostic::Span;
use crate::markdown::literal_blocks;
use crate::plan::marker_length;
use crate::plan::position::BOM;

/// Maximum number of unclosed code fences and comments to skip before the search for closed ones stops.
const MAX_UNCLOSED: usize = 20;

/// A line without its line ending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    pub(super) raw: &'t str,
    /// The line without leading and trailing blanks.
    pub(super) text: &'t str,
    /// Columns before the text, with tab stops every 4 columns.
    pub(super) column: usize,
    /// Index of the line after the code fence or comment that begins here, possibly inside a list item.
    pub(super) literal_end: Option<usize>,
}

impl<'t> Line<'t> {
    fn new(raw: &'t str) -> Self {
        let text = raw.trim_start_matches([' ', '\t']);
        Self {
            raw,
            text: text.trim_end(),
            column: columns_of(&raw[..raw.len() - text.len()]),
            literal_end: None,
        }
    }

    /// The text of a list item, after its bullet or number.
    pub(super) fn item_text(&self) -> Option<&'t str> {
        let marker = marker_length(self.text);
        let rest = &self.text[marker..];
        let is_item = marker > 0 && (rest.is_empty() || rest.starts_with([' ', '\t']));
        is_item.then(|| rest.trim_start())
    }

    /// The level and the title of a heading.
    pub(super) fn heading_parts(&self) -> Option<(u8, &'t str)> {
        let rest = self.text.trim_start_matches('#');
        let level = u8::try_from(self.text.len() - rest.len()).ok()?;
        let is_heading =
            (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t', '[']));
        is_heading.then(|| (level, rest.trim_start()))
    }

    /// True if the line is text, which continues a paragraph above it.
    pub(super) fn is_text(&self) -> bool {
        !self.text.is_empty()
            && self.literal_end.is_none()
            && self.item_text().is_none()
            && self.heading_parts().is_none()
            && disguised_task(self.text).is_none()
    }

    /// True if the line is text without block markup, so that it can be joined with the line above it.
    pub(super) fn is_plain(&self) -> bool {
        let is_rule = ["-", "=", "*", "_"]
            .iter()
            .any(|sign| self.text.trim_matches(|c| sign.contains(c)).is_empty());
        self.is_text() && !is_rule && !self.text.starts_with('>')
    }
}

/// Splits `text`, without its byte-order mark, into lines. Also returns the lines that open a code fence or comment and
/// never close it.
pub(super) fn lines_of(text: &str) -> (Vec<Line<'_>>, Vec<&str>) {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let lines = text.split_inclusive('\n');
    let mut lines: Vec<Line<'_>> = lines
        .map(|line| Line::new(line.trim_end_matches(['\n', '\r'])))
        .collect();
    let mut unclosed = Vec::new();
    let mut from = 0;
    for _ in 0..MAX_UNCLOSED {
        let Some(open) = mark_literals(&mut lines, from) else {
            break;
        };
        // After a bullet, an unclosed fence is just text.
        unclosed.extend(Some(lines[open].text).filter(|_| lines[open].item_text().is_none()));
        from = open + 1;
    }
    (lines, unclosed)
}

/// Marks the code fences and comments from line `from` on. Returns the first line that opens one and doesn't close it,
/// or doesn't close it within its list item.
fn mark_literals(lines: &mut [Line<'_>], from: usize) -> Option<usize> {
    // Nesting is determined by columns here, so the Markdown parser gets every line at the margin.
    let mut page = String::new();
    let mut starts = Vec::with_capacity(lines.len() - from);
    for line in &lines[from..] {
        let item = line.item_text();
        let content = item.unwrap_or(line.text);
        // Other HTML must not hide a fence, and an item must not close one.
        let is_html = content.starts_with('<') && (item.is_some() || !content.starts_with("<!--"));
        starts.push(page.len());
        page.extend([if is_html { "\\" } else { "" }, content]);
        page.push_str(if item.is_some() { " -\n" } else { "\n" });
    }
    for (source, is_closed) in literal_blocks(&page) {
        // Inside a quotation, a fence or comment is text like the rest of the quotation.
        let Ok(at) = starts.binary_search(&Span::of_slice(&page, source).start) else {
            continue;
        };
        let (first, end) = (from + at, from + at + source.lines().count());
        let item = lines[first];
        let is_within = |line: &Line<'_>| line.text.is_empty() || line.column > item.column;
        let is_free = item.item_text().is_none();
        if !is_closed || !is_free && !lines[first + 1..end].iter().all(is_within) {
            return Some(first);
        }
        lines[first].literal_end = Some(end);
    }
    None
}

/// The part of `text` that looks like a task, in a line that Markdown takes for something else.
pub(super) fn disguised_task(text: &str) -> Option<&str> {
    const BULLETS: [char; 12] = ['-', '*', '+', '•', '‣', '◦', '▪', '·', '–', '—', '∙', ' '];
    let rest = text[marker_length(text)..].trim_start_matches(BULLETS);
    opens_id(within_marks(rest)).then_some(rest)
}

/// The number of columns that `blanks` take up at the start of a line.
pub(crate) fn columns_of(blanks: &str) -> usize {
    blanks.bytes().fold(0, |column, byte| match byte {
        b'\t' => column + 4 - column % 4,
        _ => column + 1,
    })
}

/// A line without its first `columns` columns of indentation.
pub(super) fn dedented(line: &str, columns: usize) -> String {
    let line = line.trim_end();
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    let cut = (0..=blanks)
        .find(|&at| columns_of(&line[..at]) >= columns)
        .unwrap_or(blanks);
    let rest = columns_of(&line[..cut]).saturating_sub(columns);
    " ".repeat(rest) + &line[cut..]
}
