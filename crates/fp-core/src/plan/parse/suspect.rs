//! Lines that Markdown reads as text and a person would read as a task. Missing one silently drops a task
//! from the plan, so each is reported with what makes Markdown read it so.

use std::ops::Range;

/// A line that looks like a task inside text, code or HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suspect {
    /// From its first character that isn't a blank to its end.
    pub(super) range: Range<usize>,
    /// What stands before the `[`.
    pub(super) lead: Lead,
    /// Where the part begins that reads like a task: a bracket, or emphasis before it.
    pub(super) task_start: usize,
}

/// What a suspicious line has before its bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// Nothing.
    Nothing,
    /// A bullet or number as Markdown wants it.
    Bullet,
    /// A bullet or number without a blank behind it.
    TightBullet,
    /// A character that looks like a bullet.
    StrangeBullet,
    /// `#` signs without a blank behind them.
    TightHeading,
}

/// Every suspicious line of `text[range]`; `first` says whether the first line counts.
pub(super) fn lines(text: &str, range: Range<usize>, first: bool) -> impl Iterator<Item = Suspect> {
    let mut start = range.start;
    let mut skip = !first;
    std::iter::from_fn(move || {
        while start < range.end {
            let line_end = text[start..range.end].find(['\n', '\r']).map_or(range.end, |at| start + at);
            let line = start..line_end;
            start = line_end + 1;
            if !std::mem::take(&mut skip)
                && let Some(suspect) = suspect(text, line)
            {
                return Some(suspect);
            }
        }
        None
    })
}

fn suspect(text: &str, line: Range<usize>) -> Option<Suspect> {
    let whole = &text[line.clone()];
    let trimmed = whole.trim_start();
    let begin = line.start + (whole.len() - trimmed.len());
    let (lead, lead_len) = lead(trimmed);
    let after = &trimmed[lead_len..];
    let rest = after.trim_start();
    let inner = rest.trim_start_matches(['*', '_', '~', '`', '\\']);
    let looks = match lead {
        Lead::TightHeading => inner.starts_with('['),
        _ => opens_id(inner),
    };
    looks.then(|| Suspect {
        range: begin..line.start + whole.trim_end().len(),
        lead,
        task_start: begin + lead_len + (after.len() - rest.len()),
    })
}

fn lead(text: &str) -> (Lead, usize) {
    let bytes = text.as_bytes();
    let blank = |at: usize| bytes.get(at).is_none_or(|b| *b == b' ' || *b == b'\t');
    match bytes.first() {
        Some(b'-' | b'+') if blank(1) => (Lead::Bullet, 1),
        Some(b'-' | b'+') => (Lead::TightBullet, 1),
        Some(b'*') if blank(1) => (Lead::Bullet, 1),
        Some(b'*') if bytes.get(1) == Some(&b'[') => (Lead::TightBullet, 1),
        Some(b'#') => (Lead::TightHeading, bytes.iter().take_while(|b| **b == b'#').count()),
        Some(b'0'..=b'9') => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            match bytes.get(digits) {
                Some(b'.' | b')') if blank(digits + 1) => (Lead::Bullet, digits + 1),
                Some(b'.' | b')') => (Lead::TightBullet, digits + 1),
                _ => (Lead::Nothing, 0),
            }
        }
        _ => match text.chars().next() {
            Some(c @ ('•' | '‣' | '◦' | '▪' | '·' | '–' | '—' | '∙')) => {
                (Lead::StrangeBullet, c.len_utf8())
            }
            _ => (Lead::Nothing, 0),
        },
    }
}

/// Whether `text` begins with `[ID` and a colon, a blank or a bracket.
pub(super) fn opens_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first() == Some(&b'[')
        && bytes.get(1..3).is_some_and(|id| id.eq_ignore_ascii_case(b"id"))
        && bytes.get(3).is_some_and(|b| matches!(b, b':' | b' ' | b']' | b'='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_task() {
        let check = |text: &str, expect: Option<(Lead, &str)>| {
            let found = lines(text, 0..text.len(), true).next();
            let found = found.map(|s| (s.lead, text[s.task_start..s.range.end].to_owned()));
            assert_eq!(found, expect.map(|(lead, text)| (lead, text.to_owned())), "{text:?}");
        };
        check("[ID: 1] a", Some((Lead::Nothing, "[ID: 1] a")));
        check("text\n    - [ID: 1] a  ", Some((Lead::Bullet, "[ID: 1] a")));
        check("  -[ID: 1] a", Some((Lead::TightBullet, "[ID: 1] a")));
        check("2. **[ID: 1]** a", Some((Lead::Bullet, "**[ID: 1]** a")));
        check("2.[id: 1] a", Some((Lead::TightBullet, "[id: 1] a")));
        check("• [ID: 1] a", Some((Lead::StrangeBullet, "[ID: 1] a")));
        check("##[1] a", Some((Lead::TightHeading, "[1] a")));
        check("see [ID: 1]", None);
        check("[Idea] a", None);
        check("- plain\r\n- [x] done", None);
        check("", None);
    }
}
