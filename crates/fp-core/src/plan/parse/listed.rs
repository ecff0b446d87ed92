//! Lists in fields that are not of the language, read as those of it are.

use super::value::{entry, label, line_entries};
use crate::diagnostic::Span;
use crate::plan::field::FieldKind;
use crate::plan::task::Item;

/// The entries of `item`, an unknown field of the tree that was read from `text`, each with its place, as the field
/// `kind` would have them: those on the line of its label, and those on lines of their own below it.
#[must_use]
pub fn entries_of<'t>(kind: FieldKind, text: &'t str, item: &Item<'_>) -> Vec<Item<'t>> {
    let Span { start, end } = item.span;
    let Some((_, value)) = label(text, start..end) else { return Vec::new() };
    let first = text[value..end].find('\n').map_or(end, |at| value + at);
    let mut found = line_entries(kind, text, value..first);
    let mut at = first;
    for line in text[first..end].split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let blanks = line.len() - line.trim_start().len();
        let marker = marker(&line[blanks..]);
        match (marker, found.last_mut()) {
            (None, Some(last)) if !line.trim().is_empty() => {
                last.text = format!("{} {}", last.text, line.trim()).into();
                last.span.end = range.start + line.trim_end().len();
            }
            (None, _) => {}
            (Some(marker), _) => found.extend(entry(kind, text, range.start + blanks + marker..range.end)),
        }
    }
    found
}

/// The length of the bullet that a line begins with.
fn marker(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let sign = line[digits..].chars().next()?;
    let is_marker = if digits > 0 { matches!(sign, '.' | ')') } else { matches!(sign, '-' | '*' | '+') };
    (is_marker && line[digits + 1..].starts_with([' ', '\t'])).then_some(digits + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    #[test]
    fn entries_are_on_the_line_and_below() {
        let check = |field: &str, expect: &[&str]| {
            let text = format!("## [1] A\n{field}\n");
            let (plan, _) = parse(&text);
            let (_, item) = &plan.tasks[0].fields.unknown[0];
            let found = entries_of(FieldKind::Files, &text, item);
            let shown: Vec<&str> = found.iter().map(|item| &*item.text).collect();
            assert_eq!(shown, expect, "{field}");
            for item in &found {
                assert!(
                    text[item.span.start..item.span.end].starts_with(item.text.split(' ').next().unwrap())
                );
            }
        };
        check("- Inputs: none", &[]);
        check("- Inputs:", &[]);
        check("- Inputs: `src/a.rs` (there), a token - of a session; 한글", &["src/a.rs", "a token", "한글"]);
        check("- Inputs:\n  - a\n  - `b c` - why\n\n  * d", &["a", "b c", "d"]);
        check("- **Inputs:** a\n  1. b\n  2) c", &["a", "b", "c"]);
        check("- Inputs:\n  - a and\n    more", &["a and more"]);
        check("- Inputs:\r\n  - a\r\n  - b\r", &["a", "b"]);
    }
}
