//! A page of the documentation on a terminal: its Markdown as it is, on lines that fit, and tables as lists.

use unicode_width::UnicodeWidthStr as _;

use super::WIDTH;

/// `markdown`, one paragraph a line as the pages are written, on lines of at most [`WIDTH`] columns. What is in a block
/// is indented and not broken.
pub(crate) fn text(markdown: &str) -> String {
    let mut text = String::new();
    let mut in_block = false;
    let mut heading = Vec::new();
    for line in markdown.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            text += format!("    {line}").trim_end();
            text.push('\n');
        } else if let Some(cells) = cells(line) {
            row(&heading, &cells, &mut text);
            if heading.is_empty() {
                heading = cells;
            }
        } else {
            heading.clear();
            let indent = line.len() - line.trim_start_matches([' ', '-']).len();
            paragraph(line, &" ".repeat(indent), &mut text);
        }
    }
    text
}

/// The cells of a row of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect())
}

/// A row as a list: its first cell, and the others below it, each with its heading where there are several.
fn row(heading: &[&str], cells: &[&str], text: &mut String) {
    let is_list = cells.len() > 2;
    let is_rule = cells.iter().all(|cell| *cell == "---");
    if is_rule || (is_list && heading.is_empty()) {
        return;
    }
    paragraph(cells[0], "", text);
    for (index, cell) in cells.iter().enumerate().skip(1) {
        let label =
            heading.get(index).filter(|_| is_list).map_or(String::new(), |label| format!("{label}: "));
        paragraph(&format!("    {label}{cell}"), "    ", text);
    }
}

/// `line` broken between its words; what comes after the first line is behind `indent`.
fn paragraph(line: &str, indent: &str, text: &mut String) {
    let begin = &line[..line.len() - line.trim_start().len()];
    let mut last = begin.to_owned();
    let mut is_begun = false;
    for word in line.split_whitespace() {
        if is_begun && last.width() + 1 + word.width() > WIDTH {
            text.push_str(&last);
            text.push('\n');
            last = indent.to_owned();
        } else if is_begun {
            last.push(' ');
        }
        last.push_str(word);
        is_begun = true;
    }
    text.push_str(last.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_fits_the_terminal() {
        let long = "word ".repeat(20);
        let page = format!(
            "# Title\n\n{long}\n- {long}\n\n```sh\nfp  status\n\n```\n\n| key | meaning |\n| --- | --- |\n| `a` | {long}|\n\n| key | in | out |\n| --- | --- | --- |\n| `b` | 1 | 2 |\n"
        );
        let half = ["word"; 16].join(" ");
        let expect = format!(
            "# Title\n\n{half}\nword word word word\n- {}\n  {}\n\n    fp  status\n\n\nkey\n    meaning\n`a`\n    {}\n    {}\n\n`b`\n    in: 1\n    out: 2\n",
            ["word"; 15].join(" "),
            ["word"; 5].join(" "),
            ["word"; 15].join(" "),
            ["word"; 5].join(" "),
        );
        assert_eq!(text(&page), expect);
    }
}
