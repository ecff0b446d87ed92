//! Markdown by lines: headings with what is below them, tables, lists and code, as their authors wrote them.

use std::sync::LazyLock;

use regex::Regex;

use super::words::{bare_entry, one_line};

/// A line of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// From 1.
    pub(super) number: usize,
    pub(super) text: &'t str,
    /// Whether it is within fences, or is one.
    pub(super) code: Code,
}

/// How a line stands to fenced code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    Outside,
    Fence,
    Inside,
}

/// A heading and what is below it, up to the next heading.
#[derive(Debug)]
pub(super) struct Section<'t> {
    /// 1 to 6; 0 for what is above the first heading.
    pub(super) level: usize,
    pub(super) heading: String,
    pub(super) line: usize,
    pub(super) lines: Vec<Line<'t>>,
}

impl Section<'_> {
    /// What it says, as written.
    pub(super) fn text(&self) -> String {
        let text: Vec<&str> = self.lines.iter().map(|line| line.text).collect();
        text.join("\n").trim().to_owned()
    }

    /// The lines of its code, or all its lines without bullets where it has none.
    pub(super) fn code(&self) -> Vec<&str> {
        if !self.has_code() {
            return self.lines.iter().map(|line| bare_entry(line.text).trim().trim_matches('`')).collect();
        }
        self.lines.iter().filter(|line| line.code == Code::Inside).map(|line| line.text).collect()
    }

    /// Whether some of it is within fences.
    pub(super) fn has_code(&self) -> bool {
        self.lines.iter().any(|line| line.code == Code::Fence)
    }
}

/// The lines of a text.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut open: Option<&str> = None;
    let fence = |line: &str| {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = line.len() - line.trim_start_matches(mark).len();
        (length >= 3).then_some(length)
    };
    text.lines()
        .zip(1..)
        .map(|(text, number)| {
            let code = match (open, fence(text)) {
                (None, Some(length)) => {
                    open = Some(&text.trim_start()[..length]);
                    Code::Fence
                }
                (Some(mark), Some(_))
                    if text.trim().starts_with(mark) && text.trim().trim_matches(['`', '~']).is_empty() =>
                {
                    open = None;
                    Code::Fence
                }
                (Some(_), _) => Code::Inside,
                (None, None) => Code::Outside,
            };
            Line { number, text, code }
        })
        .collect()
}

/// A text taken apart at its headings; the first part may have none.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { level: 0, heading: String::new(), line: 1, lines: Vec::new() }];
    for line in lines(text) {
        match heading(&line) {
            Some((level, heading)) => {
                sections.push(Section { level, heading, line: line.number, lines: Vec::new() });
            }
            None => sections.last_mut().expect("there is a first one").lines.push(line),
        }
    }
    sections
}

fn heading(line: &Line<'_>) -> Option<(usize, String)> {
    let rest = line.text.trim_start_matches('#');
    let level = line.text.len() - rest.len();
    let is_heading = line.code == Code::Outside && (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    is_heading.then(|| (level, plain(rest.trim_end_matches([' ', '#', '\t']))))
}

/// `text` on one line, without the marks of emphasis, code and links around words.
pub(super) fn plain(text: &str) -> String {
    let mut out = one_line(text);
    while let Some((before, text, rest)) = link(&out) {
        out = format!("{before}{text}{rest}");
    }
    // Patterns of paths have the same characters, and `__init__.py` has them as well.
    static STRONG: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\*\*([^*\s][^*]*)\*\*|\b__([^_]+)__(?:\s|$)").expect("the pattern is valid")
    });
    STRONG.replace_all(&out, "$1$2").replace('`', "").trim().to_owned()
}

/// The first `[text](target)` in a text, and what stands around it.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let middle = text.find("](")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((&text[..start], &text[start + 1..middle], &text[end + 1..]))
}

/// A table: the cells of its heading, and of each row with its line.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) heading: Vec<String>,
    pub(super) rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    /// The cell of `row` below the first heading that `is` accepts.
    pub(super) fn cell<'r>(&self, row: &'r [String], is: impl Fn(&str) -> bool) -> Option<&'r str> {
        let at = self.heading.iter().position(|heading| is(&heading.to_lowercase()))?;
        row.get(at).map(String::as_str)
    }
}

/// The tables among these lines.
pub(super) fn tables(lines: &[Line<'_>]) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut within = false;
    for line in lines {
        let is_row = line.code == Code::Outside && line.text.trim_start().starts_with('|');
        if is_row {
            let cells = cells(line.text);
            let rule = cells
                .iter()
                .all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':' | ' ')));
            match tables.last_mut().filter(|_| within) {
                Some(_) if rule => {}
                Some(table) => table.rows.push((line.number, cells)),
                None => tables.push(Table {
                    heading: cells.iter().map(|cell| plain(cell)).collect(),
                    rows: Vec::new(),
                }),
            }
        }
        within = is_row;
    }
    tables
}

/// The cells of a row; a `|` behind a backslash is none of its borders.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|');
    let row = if row.ends_with("\\|") { row } else { row.strip_suffix('|').unwrap_or(row) };
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

/// An item of a list.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) line: usize,
    /// Whether it has a box, and whether that is ticked.
    pub(super) ticked: Option<bool>,
    /// What is behind bullet and box, with the lines that go on with it, on one line.
    pub(super) text: String,
    /// Blanks before the bullet.
    pub(super) indent: usize,
}

/// The items of lists among these lines.
pub(super) fn entries(lines: &[Line<'_>]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut open = false;
    for line in lines.iter().filter(|line| line.code == Code::Outside) {
        let indent = line.text.len() - line.text.trim_start().len();
        let bare = bare_entry(line.text);
        let mark =
            line.text[indent.min(line.text.len() - bare.len())..line.text.len() - bare.len()].to_lowercase();
        if !mark.is_empty() {
            let ticked = mark.contains('[').then(|| mark.contains('x'));
            entries.push(Entry { line: line.number, ticked, text: one_line(bare), indent });
            open = true;
        } else if line.text.trim().is_empty() {
            open = false;
        } else if let Some(last) = entries.last_mut().filter(|last| open && indent > last.indent) {
            last.text = format!("{} {}", last.text, one_line(line.text));
        } else {
            open = false;
        }
    }
    entries
}

/// Whether a section says something beside its lists, tables and code.
pub(super) fn has_prose(lines: &[Line<'_>]) -> bool {
    let listed = entries(lines);
    let mut last = 0;
    lines.iter().filter(|line| line.code == Code::Outside && !line.text.trim().is_empty()).any(|line| {
        let within = listed.iter().any(|entry| entry.line == line.number)
            || (last + 1 == line.number && line.text.starts_with(' '));
        let part = within || line.text.trim_start().starts_with('|');
        last = if part { line.number } else { 0 };
        !part
    })
}

/// What stands before and behind the first colon of a line that says `Label: value`, without marks.
pub(super) fn labelled(text: &str) -> Option<(String, String)> {
    let (label, value) = text.split_once([':', '：'])?;
    let label = plain(label.trim_start_matches(['>', ' ', '-', '*']).trim_end_matches(['*', ' ']));
    let wordlike = label.chars().next().is_some_and(char::is_alphabetic) && label.chars().count() <= 40;
    wordlike.then(|| (label, one_line(value.trim().trim_start_matches("**"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_code_are_code() {
        let sections = sections(
            "top\r\n# A `b`\r\n```sh\r\n# not\r\n~~~\r\n```\r\n## [C](d) ##\n| a | b \\| c |\n|---|---|\n| 1 | 2 |\n",
        );
        let told: Vec<_> = sections.iter().map(|s| (s.level, s.heading.as_str(), s.line, s.code())).collect();
        assert_eq!(told, [(0, "", 1, vec!["top"]), (1, "A b", 2, vec!["# not", "~~~"]), (2, "C", 7, None),]);
        let tables = tables(&sections[2].lines);
        assert_eq!(tables[0].heading, ["a", "b | c"]);
        assert_eq!(tables[0].rows, [(10, vec!["1".to_owned(), "2".to_owned()])]);
    }

    #[test]
    fn items_and_labels() {
        let text = "- [x] one\n  goes on\n  * [ ] two\n3. three\nplain\n";
        let lines_ = lines(text);
        let listed = entries(&lines_);
        let found: Vec<_> = listed.iter().map(|e| (e.ticked, e.text.as_str(), e.indent)).collect();
        assert_eq!(found, [(Some(true), "one goes on", 0), (Some(false), "two", 2), (None, "three", 0)]);
        assert!(has_prose(&lines_) && !has_prose(&lines_[..4]));
        assert_eq!(labelled("> **Status**: done"), Some(("Status".into(), "done".into())));
        assert_eq!(labelled("- **상태:** 완료"), Some(("상태".into(), "완료".into())));
        assert_eq!(labelled("12:30 o'clock"), None);
        assert_eq!(
            plain("**Add** `src/**/*.rs` and __init__.py, [as](x) __said__"),
            "Add src/**/*.rs and __init__.py, as said"
        );
    }
}
