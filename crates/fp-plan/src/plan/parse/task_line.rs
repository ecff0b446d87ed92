//! Reads the line of a task: `[ID: 1.1] Title (Complexity: 3)`, or `[1] Title` in a heading, and explains faults in
//! lines that only start like one.
//!
//! It also finds lines that Markdown reads as text but a person would read as a task. Missing one would silently drop a
//! task from the plan, so each is reported with the reason for Markdown's reading.

use super::fields::trim;
use crate::diagnostic::Span;
use crate::plan::id::TaskId;
use crate::plan::task::Item;
use std::borrow::Cow;
use std::ops::Range;

/// Characters between `ID` and the id.
const ID_LEAD: [char; 5] = [' ', '\t', ':', '=', '#'];

/// Characters that may surround an id.
const MARKS: [char; 6] = ['*', '`', '\\', ' ', '\t', '~'];

/// The position of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadPlace {
    /// An item of a list.
    List,
    Heading,
}

/// The fault of a line that starts like a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SyntaxFault {
    /// Empty if another line's finding covers it.
    pub(super) detail: String,
    pub(super) hint: String,
}

/// A line read as a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TaskHead<'t> {
    pub(super) id: &'t str,
    pub(super) id_span: Span,
    pub(super) title: Cow<'t, str>,
    pub(super) complexity: Option<Item<'t>>,
    /// The reason why it isn't a task, although it starts like one.
    pub(super) fault: Option<SyntaxFault>,
    /// The fault of a line that is a task nevertheless.
    pub(super) flaw: Option<SyntaxFault>,
}

/// The id part of a line: the range of the id, and the start of the title.
struct HeadOpening {
    id: Range<usize>,
    rest: usize,
    fault: Option<SyntaxFault>,
}

/// Reads `text[range]` as a task; `None` if it doesn't start like one.
pub(super) fn read_head(text: &str, range: Range<usize>, place: HeadPlace) -> Option<TaskHead<'_>> {
    let range = trim(text, range);
    let start = skip_checkbox(text, range.clone());
    let wrapper_len = text[start..range.end]
        .bytes()
        .take_while(|b| matches!(b, b'*' | b'_' | b'~' | b'`'))
        .count();
    let wrapper = &text[start..start + wrapper_len];
    let mut at = start + wrapper_len;
    if text[at..range.end].starts_with("\\[") {
        at += 1;
    }
    let opening = match text.as_bytes()[at..range.end].first()? {
        b'[' => bracketed(text, at, range.end, place),
        b'(' | b'{' | b'<' | b'I' | b'i' => unbracketed(text, at, range.end),
        _ => None,
    }
    .or_else(|| without_id(text, at, range.end))?;
    Some(finish(text, opening, range.end, wrapper))
}

fn finish<'t>(text: &'t str, opening: HeadOpening, end: usize, wrapper: &str) -> TaskHead<'t> {
    let HeadOpening {
        id,
        mut rest,
        fault,
    } = opening;
    let mut open = !wrapper.is_empty();
    if open && text[rest..end].starts_with(closing(wrapper).as_str()) {
        rest += wrapper.len();
        open = false;
    }
    let (cut, complexity, flaw) = complexity(text, rest..end);
    let mut title = joined_lines(&text[rest..cut.start]);
    let behind = joined_lines(&text[cut.end..end]);
    if open {
        let closing = closing(wrapper);
        let kept = title
            .strip_suffix(closing.as_str())
            .unwrap_or(&title)
            .trim_end()
            .len();
        title = within(title, |title| &title[..kept]);
        if !behind.is_empty() && behind != closing {
            title = format!("{title} {behind}").into();
        }
    } else if !behind.is_empty() {
        title = format!("{title} {behind}").into();
    }
    let title = within(title, strip_separators);
    let flaw = flaw.or_else(|| match fault {
        Some(_) => None,
        None => title.is_empty().then(|| SyntaxFault {
            detail: format!("task {:?} has no title", &text[id.clone()]),
            hint: "write the task's title behind the id".to_owned(),
        }),
    });
    TaskHead {
        id: &text[id.clone()],
        id_span: Span::new(id.start, id.end),
        title,
        complexity,
        fault,
        flaw,
    }
}

/// Applies `part` to a text, which stays borrowed if it was.
pub(super) fn within<'t>(text: Cow<'t, str>, part: impl Fn(&str) -> &str) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_owned()),
    }
}

fn closing(wrapper: &str) -> String {
    wrapper.chars().rev().collect()
}

fn skip_checkbox(text: &str, range: Range<usize>) -> usize {
    let rest = &text[range.clone()];
    ["[ ]", "[x]", "[X]", "[-]"]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))
        .filter(|after| after.starts_with([' ', '\t']))
        .map_or(range.start, |after| range.end - after.trim_start().len())
}

/// Reads a line with `[` at `at`, its first character.
fn bracketed(text: &str, at: usize, end: usize, place: HeadPlace) -> Option<HeadOpening> {
    let inner_start = at + 1;
    let line_end = text[at..end].find(['\n', '\r']).map_or(end, |i| at + i);
    let close = text[inner_start..line_end]
        .find(']')
        .map(|i| inner_start + i);
    let named = opens_id(&text[at..end])
        || (place == HeadPlace::List && opens_id_badly(&text[inner_start..line_end]));
    match (named, close) {
        (true, Some(close)) => Some(named_id(text, inner_start, close)),
        (true, None) => {
            let id = first_word(text, skip_id_label(text, inner_start, line_end), line_end);
            let fault = fault(
                "the bracket of the id isn't closed",
                &id_hint(&text[id.clone()]),
            );
            Some(HeadOpening {
                rest: id.end,
                id,
                fault,
            })
        }
        (false, Some(close)) => unnamed(text, inner_start..close, end, place),
        (false, None) if place == HeadPlace::Heading => {
            let id = first_word(text, inner_start, line_end);
            let word = &text[id.clone()];
            let plausible = word == "root"
                || (word.bytes().any(|b| b.is_ascii_digit()) && TaskId::new(word).is_ok());
            let fault = fault(
                "the bracket of the id isn't closed",
                &format!("write `[{}]`", &text[id.clone()]),
            );
            plausible.then_some(HeadOpening {
                rest: id.end,
                id,
                fault,
            })
        }
        (false, None) => None,
    }
}

/// Reads `[ID: 1]` and, as faults, `[ID 1]`, `[ID=1]`, `[ID: ]`.
fn named_id(text: &str, inner_start: usize, close: usize) -> HeadOpening {
    let label_end = inner_start + 2;
    let id = trim_id(text, skip_id_label(text, inner_start, close)..close);
    let rest = close + 1;
    let colon = text[label_end..close].trim_start().starts_with(':');
    let fault = if id.is_empty() {
        fault("the id is empty", "write an id such as `[ID: 1.2]`")
    } else if !colon {
        fault("there is no colon behind `ID`", &id_hint(&text[id.clone()]))
    } else {
        None
    };
    HeadOpening { id, rest, fault }
}

/// Reads `[1]` without `ID:`, a task in a heading but a fault in a list.
fn unnamed(text: &str, inner: Range<usize>, end: usize, place: HeadPlace) -> Option<HeadOpening> {
    let rest = inner.end + 1;
    let inner = trim_id(text, inner);
    let id = &text[inner.clone()];
    let link = text[rest..end].starts_with(['(', '[', ':']);
    let idlike = TaskId::new(id).is_ok() || id.bytes().next().is_some_and(|b| b.is_ascii_digit());
    match place {
        _ if id.is_empty() => None,
        HeadPlace::Heading if !link || text[rest..end].starts_with(": ") => {
            let prose = id.contains([' ', '\t']) && !idlike;
            (!prose).then_some(HeadOpening {
                id: inner,
                rest,
                fault: None,
            })
        }
        HeadPlace::List if idlike && (dotted(id) || has_complexity(&text[rest..end])) => {
            let fault = fault("the bracket has no `ID:`", &id_hint(id));
            Some(HeadOpening {
                id: inner,
                rest,
                fault,
            })
        }
        _ => None,
    }
}

/// Reads `ID: 1`, `(ID: 1)`, `{ID: 1}`, `<ID: 1>`, which are always faults.
fn unbracketed(text: &str, at: usize, end: usize) -> Option<HeadOpening> {
    let bare = text.as_bytes()[at].eq_ignore_ascii_case(&b'i');
    let label = if bare { at } else { at + 1 };
    let named = text
        .get(label..label + 2)
        .is_some_and(|id| id.eq_ignore_ascii_case("id"))
        && text[label + 2..end]
            .trim_start_matches([' ', '\t'])
            .starts_with(':');
    if !named || (bare && !has_complexity(&text[at..end])) {
        return None;
    }
    let id = first_word(text, skip_id_label(text, label, end), end);
    let rest = if text[id.end..end].starts_with([')', '}', '>']) {
        id.end + 1
    } else {
        id.end
    };
    let fault = fault(
        "the id isn't in square brackets",
        &id_hint(&text[id.clone()]),
    );
    Some(HeadOpening { id, rest, fault })
}

/// Reads a line that has a complexity but no id.
fn without_id(text: &str, at: usize, end: usize) -> Option<HeadOpening> {
    if !has_complexity(&text[at..end]) {
        return None;
    }
    let mut start = at;
    if text
        .get(at..at + 5)
        .is_some_and(|word| word.eq_ignore_ascii_case("task "))
    {
        start = at + 5;
    }
    let word = first_word(text, start, end);
    let word = word.start..word.start + text[word].trim_end_matches(['.', ':']).len();
    let id = &text[word.clone()];
    let is_id = id.bytes().any(|b| b.is_ascii_digit()) && TaskId::new(id).is_ok();
    let fault = fault(
        "the line has a complexity and no `[ID: …]`",
        &id_hint(if is_id { id } else { "" }),
    );
    Some(if is_id {
        HeadOpening {
            rest: word.end,
            id: word,
            fault,
        }
    } else {
        HeadOpening {
            id: at..at,
            rest: at,
            fault,
        }
    })
}

fn fault(detail: &str, hint: &str) -> Option<SyntaxFault> {
    Some(SyntaxFault {
        detail: detail.to_owned(),
        hint: hint.to_owned(),
    })
}

/// The fault of a task among the entries of a field.
pub(super) fn inside_field(id: &str) -> SyntaxFault {
    SyntaxFault {
        detail: format!("task {id:?} stands inside a field"),
        hint: "indent the line as much as the tasks beside it".to_owned(),
    }
}

fn id_hint(id: &str) -> String {
    format!("write `[ID: {}]`", if id.is_empty() { "1.2" } else { id })
}

fn opens_id_badly(inner: &str) -> bool {
    let bytes = inner.as_bytes();
    bytes
        .get(..2)
        .is_some_and(|id| id.eq_ignore_ascii_case(b"id"))
        && bytes
            .get(2)
            .is_some_and(|b| matches!(b, b'-' | b'#' | b'.' | b'0'..=b'9'))
}

/// The start of the id after `ID` and its colon.
fn skip_id_label(text: &str, label: usize, end: usize) -> usize {
    let rest = text[label + 2..end].trim_start_matches([' ', '\t']);
    // After a colon, anything odd may be part of the id; without one, skip the characters used in its place.
    let marks: &[char] = if rest.starts_with(':') {
        &ID_LEAD
    } else {
        &[' ', '\t', '=', '-', '#', '.']
    };
    end - rest.trim_start_matches(marks).len()
}

fn first_word(text: &str, start: usize, end: usize) -> Range<usize> {
    let rest = text[start..end].trim_start_matches([' ', '\t']);
    let begin = end - rest.len();
    let len = rest
        .find(|c: char| c.is_whitespace() || matches!(c, ')' | ']' | '}' | '>' | '*' | '`'))
        .unwrap_or(rest.len());
    begin..begin + len
}

/// An id without the characters that lead to it, emphasis and escapes.
fn trim_id(text: &str, range: Range<usize>) -> Range<usize> {
    let id = trim_marks(text, trim(text, range));
    let leads = |c: char| c.is_whitespace() || ID_LEAD.contains(&c) || MARKS.contains(&c);
    let own = text[id.clone()].trim_start_matches(leads);
    trim_marks(text, trim(text, id.end - own.len()..id.end))
}

/// The range without emphasis and escapes at its ends.
fn trim_marks(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.start + (slice.len() - slice.trim_start_matches(MARKS).len());
    start..start.max(range.start + slice.trim_end_matches(MARKS).len())
}

fn dotted(id: &str) -> bool {
    id.split_once('.').is_some_and(|(first, rest)| {
        first.bytes().any(|b| b.is_ascii_digit()) && rest.bytes().any(|b| b.is_ascii_digit())
    })
}

fn strip_separators(title: &str) -> &str {
    let mut title = title.trim();
    loop {
        let rest = title.trim_start_matches([':', '-', '–', '—']);
        if rest.len() == title.len() || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
            return title;
        }
        title = rest.trim_start();
    }
}

/// True if `text` has more than one line.
pub(super) fn has_line_end(text: &str) -> bool {
    memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some()
}

/// Replaces each line end in `text`, with the blanks around it, by one blank.
pub(super) fn joined_lines(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if !has_line_end(text) {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    for line in text
        .split(['\n', '\r'])
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    Cow::Owned(joined)
}

fn find_complexity(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    text.rmatch_indices(['(', '['])
        .map(|(at, _)| at)
        .find(|at| {
            bytes
                .get(at + 1..at + 11)
                .is_some_and(|word| word.eq_ignore_ascii_case(b"complexity"))
                && bytes
                    .get(at + 11)
                    .is_some_and(|b| matches!(b, b':' | b'=') || b.is_ascii_whitespace())
        })
}

fn has_complexity(text: &str) -> bool {
    find_complexity(text).is_some()
}

/// Finds the last `(Complexity: 3)` of `text[range]`: its range, including the blanks before it, and its value.
fn complexity(
    text: &str,
    range: Range<usize>,
) -> (Range<usize>, Option<Item<'_>>, Option<SyntaxFault>) {
    let Some(at) = find_complexity(&text[range.clone()]).map(|at| range.start + at) else {
        return (range.end..range.end, None, None);
    };
    let close = if text.as_bytes()[at] == b'(' {
        ')'
    } else {
        ']'
    };
    let value_start = at + 11;
    let found = text[value_start..range.end]
        .find([close, '\n', '\r'])
        .map(|i| value_start + i);
    let closed = found.filter(|&i| text[i..].starts_with(close));
    let value_end = found.unwrap_or(range.end);
    let value = trim(text, value_start..value_end);
    let lead = text[value.clone()].trim_start_matches([':', '=', ' ', '\t', '*', '`']);
    let value = trim_marks(text, value.end - lead.len()..value.end);
    let flaw = closed.is_none().then(|| SyntaxFault {
        detail: "the parenthesis of the complexity isn't closed".to_owned(),
        hint: format!(
            "write `(Complexity: {})`",
            text[value.clone()].split_whitespace().next().unwrap_or("3")
        ),
    });
    let item = Item {
        text: text[value.clone()].into(),
        span: Span::new(value.start, value.end),
        note: None,
    };
    (at..closed.map_or(value_end, |i| i + 1), Some(item), flaw)
}

/// The whole number in a complexity: the entire value, or the part before a comma or semicolon.
pub(super) fn number(text: &str) -> Option<u32> {
    let first = text.split([',', ';']).next().unwrap_or(text).trim();
    first
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| first.parse().ok())
        .flatten()
}

/// A line that looks like a task inside text, code or HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suspect {
    /// Without leading and trailing blanks.
    pub(super) range: Range<usize>,
    /// The text before the `[`.
    pub(super) lead: SuspectLead,
    /// The start of the part that reads like a task: a bracket, or emphasis before it.
    pub(super) task_start: usize,
}

/// The text before the bracket of a suspicious line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SuspectLead {
    Nothing,
    /// A bullet or number as Markdown wants it.
    Bullet,
    /// A bullet or number without a blank after it.
    TightBullet,
    /// A character that looks like a bullet.
    StrangeBullet,
    /// `#` signs without a blank after them.
    TightHeading,
}

/// Every suspicious line of `text[range]`; `first` tells if the first line counts.
pub(super) fn suspects(
    text: &str,
    range: Range<usize>,
    first: bool,
) -> impl Iterator<Item = Suspect> {
    let mut start = range.start;
    let mut skip = !first;
    std::iter::from_fn(move || {
        while start < range.end {
            let line_end = text[start..range.end]
                .find(['\n', '\r'])
                .map_or(range.end, |at| start + at);
            let line = start..line_end;
            start = line_end + 1;
            if !std::mem::take(&mut skip)
                && let Some(suspect) = read_suspect(text, line)
            {
                return Some(suspect);
            }
        }
        None
    })
}

fn read_suspect(text: &str, line: Range<usize>) -> Option<Suspect> {
    let whole = &text[line.clone()];
    let trimmed = whole.trim_start();
    let begin = line.start + (whole.len() - trimmed.len());
    let (lead, lead_len) = read_lead(trimmed);
    let after = &trimmed[lead_len..];
    let rest = after.trim_start();
    let inner = rest.trim_start_matches(['*', '_', '~', '`', '\\']);
    let looks = match lead {
        SuspectLead::TightHeading => inner.starts_with('['),
        _ => opens_id(inner),
    };
    looks.then(|| Suspect {
        range: begin..line.start + whole.trim_end().len(),
        lead,
        task_start: begin + lead_len + (after.len() - rest.len()),
    })
}

fn read_lead(text: &str) -> (SuspectLead, usize) {
    let bytes = text.as_bytes();
    let blank = |at: usize| bytes.get(at).is_none_or(|b| *b == b' ' || *b == b'\t');
    match bytes.first() {
        Some(b'-' | b'+') if blank(1) => (SuspectLead::Bullet, 1),
        Some(b'-' | b'+') => (SuspectLead::TightBullet, 1),
        Some(b'*') if blank(1) => (SuspectLead::Bullet, 1),
        Some(b'*') if bytes.get(1) == Some(&b'[') => (SuspectLead::TightBullet, 1),
        Some(b'#') => (
            SuspectLead::TightHeading,
            bytes.iter().take_while(|b| **b == b'#').count(),
        ),
        Some(b'0'..=b'9') => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            match bytes.get(digits) {
                Some(b'.' | b')') if blank(digits + 1) => (SuspectLead::Bullet, digits + 1),
                Some(b'.' | b')') => (SuspectLead::TightBullet, digits + 1),
                _ => (SuspectLead::Nothing, 0),
            }
        }
        _ => match text.chars().next() {
            Some(c @ ('•' | '‣' | '◦' | '▪' | '·' | '–' | '—' | '∙')) => {
                (SuspectLead::StrangeBullet, c.len_utf8())
            }
            _ => (SuspectLead::Nothing, 0),
        },
    }
}

/// True if `text` starts with `[ID` and a colon, a blank, a bracket or `=`.
pub(super) fn opens_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first() == Some(&b'[')
        && bytes
            .get(1..3)
            .is_some_and(|id| id.eq_ignore_ascii_case(b"id"))
        && bytes
            .get(3)
            .is_some_and(|b| matches!(b, b':' | b' ' | b']' | b'='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_task() {
        let check = |text: &str, expect: Option<(SuspectLead, &str)>| {
            let found = suspects(text, 0..text.len(), true).next();
            let found = found.map(|s| (s.lead, text[s.task_start..s.range.end].to_owned()));
            assert_eq!(
                found,
                expect.map(|(lead, text)| (lead, text.to_owned())),
                "{text:?}"
            );
        };
        check("[ID: 1] a", Some((SuspectLead::Nothing, "[ID: 1] a")));
        check(
            "text\n    - [ID: 1] a  ",
            Some((SuspectLead::Bullet, "[ID: 1] a")),
        );
        check(
            "  -[ID: 1] a",
            Some((SuspectLead::TightBullet, "[ID: 1] a")),
        );
        check(
            "2. **[ID: 1]** a",
            Some((SuspectLead::Bullet, "**[ID: 1]** a")),
        );
        check("2.[id: 1] a", Some((SuspectLead::TightBullet, "[id: 1] a")));
        check(
            "• [ID: 1] a",
            Some((SuspectLead::StrangeBullet, "[ID: 1] a")),
        );
        check("##[1] a", Some((SuspectLead::TightHeading, "[1] a")));
        check("see [ID: 1]", None);
        check("[Idea] a", None);
        check("- plain\r\n- [x] done", None);
        check("", None);
    }
}
