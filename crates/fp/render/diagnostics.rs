//! Findings as text: place, rule, the source line with a caret under what is meant, and a hint.

use fp_core::diagnostic::{Diagnostic, Severity};
use fp_core::plan::Lines;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns of a source line that are shown.
const SHOWN: usize = 72;
/// Columns that are shown in front of what is meant where a line is longer than that.
const LEAD: usize = 24;

/// One finding in the file called `name`.
pub(crate) fn text(name: &str, lines: &Lines<'_>, found: &Diagnostic) -> String {
    let (start, end) = lines.range(found.span);
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut text =
        format!("{name}:{}:{}: {severity}[{}]: {}\n", start.line, start.column, found.rule, found.detail);
    let line = lines.line(start.line);
    if !line.trim().is_empty() {
        let last = if end.line == start.line { end.column } else { line.chars().count() + 1 };
        let (shown, before, marked) = window(line, start.column - 1, last.saturating_sub(1));
        let gutter = start.line.to_string();
        let blank = " ".repeat(gutter.len());
        text.push_str(&format!(
            "{gutter} | {shown}\n{blank} | {}{}\n",
            " ".repeat(before),
            "^".repeat(marked)
        ));
    }
    if let Some(hint) = &found.hint {
        text.push_str(&format!("  hint: {hint}\n"));
    }
    text
}

/// The part of `line` that is shown, how many columns of it are in front of characters `from..to`, and how many
/// columns those take.
fn window(line: &str, from: usize, to: usize) -> (String, usize, usize) {
    let chars: Vec<char> = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let from = from.min(chars.len());
    let width = |part: &[char]| part.iter().map(|c| c.width().unwrap_or(0)).sum::<usize>();
    let mut first = 0;
    if width(&chars) > SHOWN {
        while first < from && width(&chars[first..from]) > LEAD {
            first += 1;
        }
    }
    let mut last = first;
    while last < chars.len() && width(&chars[first..=last]) <= SHOWN {
        last += 1;
    }
    let cut = |yes: bool| if yes { "…" } else { "" };
    let part: String = chars[first..last].iter().collect();
    let shown = format!("{}{part}{}", cut(first > 0), cut(last < chars.len()));
    let before = cut(first > 0).width() + width(&chars[first..from.min(last)]);
    let marked = width(&chars[from.min(last)..to.clamp(from, chars.len()).min(last).max(from.min(last))]);
    (shown, before, marked.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_what_is_meant() {
        let check = |line: &str, from: usize, to: usize, expect: (&str, usize, usize)| {
            let (shown, before, marked) = window(line, from, to);
            assert_eq!((shown.as_str(), before, marked), expect);
        };
        check("- Files: a", 9, 10, ("- Files: a", 9, 1));
        check("\t- Files: a", 3, 8, (" - Files: a", 3, 5));
        check("- 한글: a", 2, 4, ("- 한글: a", 2, 4));
        check("- 한글: a", 6, 7, ("- 한글: a", 8, 1));
        check("ab", 2, 2, ("ab", 2, 1));
        check("ab", 9, 20, ("ab", 2, 1));
        let long = format!("{}X{}", "a".repeat(200), "b".repeat(200));
        let shown = format!("…{}X{}…", "a".repeat(24), "b".repeat(47));
        check(&long, 200, 201, (&shown, 25, 1));
    }
}
