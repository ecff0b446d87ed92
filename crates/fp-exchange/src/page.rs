//! Reads Markdown line by line: headings with their sections, table rows, and code, as their authors wrote them.

use std::sync::LazyLock;

use fp_plan::markdown::literal_blocks;
use fp_plan::text::one_line;
use regex::Regex;

use crate::words::pattern;

/// A line of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLine<'t> {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: &'t str,
    /// True for fenced code and for its fences.
    pub(crate) in_code: bool,
}

impl PageLine<'_> {
    pub(crate) fn is_indented(&self) -> bool {
        self.text.starts_with(['\t', ' ']) && !self.text.trim().is_empty()
    }
}

/// A heading and the lines up to the next one.
#[derive(Debug)]
pub(crate) struct PageSection<'t> {
    /// 1 to 6; 0 above the first heading.
    pub(crate) level: usize,
    pub(crate) heading: String,
    pub(crate) lines: Vec<PageLine<'t>>,
}

/// The lines of a text.
pub(crate) fn page_lines(text: &str) -> Vec<PageLine<'_>> {
    let lines = text.lines().zip(1..);
    let mut lines: Vec<PageLine<'_>> = lines
        .map(|(text, number)| PageLine {
            number,
            text,
            in_code: false,
        })
        .collect();
    let (mut line, mut at) = (0, 0);
    for (source, _) in
        literal_blocks(text).filter(|(source, is_closed)| *is_closed && !source.starts_with("<!--"))
    {
        let start = source.as_ptr() as usize - text.as_ptr() as usize;
        line += text[at..start].matches('\n').count();
        at = start;
        let end = line + source.lines().count();
        lines[line..end]
            .iter_mut()
            .for_each(|line| line.in_code = true);
    }
    lines
}

/// Splits a text at its headings; the first part may have none.
pub(crate) fn sections_of(text: &str) -> Vec<PageSection<'_>> {
    let mut sections = vec![PageSection {
        level: 0,
        heading: String::new(),
        lines: Vec::new(),
    }];
    for line in page_lines(text) {
        match heading(&line) {
            Some((level, heading)) => {
                sections.push(PageSection {
                    level,
                    heading,
                    lines: Vec::new(),
                });
            }
            None => sections
                .last_mut()
                .expect("there is a first one")
                .lines
                .push(line),
        }
    }
    sections
}

fn heading(line: &PageLine<'_>) -> Option<(usize, String)> {
    let rest = line.text.trim_start_matches('#');
    let level = line.text.len() - rest.len();
    let is_heading = !line.in_code && (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    is_heading.then(|| (level, plain_text(rest.trim_end_matches([' ', '#', '\t']))))
}

/// `text` on one line, without the markup of emphasis, code and links.
pub(crate) fn plain_text(text: &str) -> String {
    static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[([^\]]*)\]\([^)]*\)"));
    // Path patterns and names such as `__init__.py` contain the same characters.
    static STRONG: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\*\*([^*\s][^*]*)\*\*|\b__([^_]+)__(?:\s|$)"));
    STRONG
        .replace_all(&LINK.replace_all(&one_line(text), "$1"), "$1$2")
        .replace('`', "")
        .trim()
        .to_owned()
}

/// The cells of a row; a `|` after a backslash doesn't separate cells.
pub(crate) fn cells_of(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|');
    let row = if row.ends_with("\\|") {
        row
    } else {
        row.strip_suffix('|').unwrap_or(row)
    };
    let mut cells = vec![String::new()];
    let mut chars = row.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'|') => {
                chars.next();
                cells.last_mut().expect("there is a first cell").push('|');
            }
            '|' => cells.push(String::new()),
            c => cells.last_mut().expect("there is a first cell").push(c),
        }
    }
    cells.iter().map(|cell| one_line(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_code_are_code() {
        let sections = sections_of(
            "top\r\n# A `b`\r\n```sh\r\n# not\r\n~~~\r\n```\r\n## [C](d) ##\n| a | b \\| c |\n",
        );
        let told: Vec<_> = sections
            .iter()
            .map(|s| (s.level, s.heading.as_str(), s.lines.len()))
            .collect();
        assert_eq!(told, [(0, "", 1), (1, "A b", 4), (2, "C", 1)]);
        assert_eq!(cells_of(sections[2].lines[0].text), ["a", "b | c"]);
        assert_eq!(
            plain_text("**Add** `src/**/*.rs` and __init__.py, [as](x) __said__"),
            "Add src/**/*.rs and __init__.py, as said"
        );
    }

    #[test]
    fn entries_of_a_list() {
        let text = "- [x] one\n  goes on\n  * [ ] two\n3. three\nplain\n";
        assert_eq!(
            crate::words::entries_of(text),
            ["one goes on", "two", "three", "plain"]
        );
    }
}
