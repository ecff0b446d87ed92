//! Reads the line of a task: `[ID: 1.1] Title (Complexity: 3)`, or `[1] Title` in a heading. A line that starts like one
//! and can't be read is reported: missing it would silently drop a task from the plan.

use std::borrow::Cow;
use std::ops::Range;

use super::fields::trim;
use crate::diagnostic::Span;
use crate::plan::id::TaskId;
use crate::plan::task::Item;

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
    is_broken: bool,
}

/// The fault of a line that isn't a task where it stands or as it is written.
pub(super) fn unreadable(id: &str) -> SyntaxFault {
    let id = if id.is_empty() { "1.2" } else { id };
    SyntaxFault {
        detail: "the line looks like a task and can't be read as one".to_owned(),
        hint: format!(
            "write `- [ID: {id}] Title (Complexity: 3)`, indented as the tasks beside it"
        ),
    }
}

/// Reads `text[range]` as a task; `None` if it doesn't start like one.
pub(super) fn read_head(text: &str, range: Range<usize>, place: HeadPlace) -> Option<TaskHead<'_>> {
    let range = trim(text, range);
    let start = skip_checkbox(text, range.clone());
    let own = &text[start..range.end];
    let wrapper = &own[..own.len() - own.trim_start_matches(['*', '_', '~', '`']).len()];
    let at = range.end - within_marks(own).len();
    let HeadOpening {
        id,
        mut rest,
        is_broken,
    } = opening(text, at..range.end, place).or_else(|| without_id(text, at..range.end))?;
    let closing: String = wrapper.chars().rev().collect();
    let is_open = !wrapper.is_empty() && !text[rest..range.end].starts_with(&closing);
    if !is_open {
        rest += wrapper.len();
    }
    let (cut, complexity, flaw) = complexity(text, rest..range.end);
    let parts = [&text[rest..cut.start], &text[cut.end..range.end]].map(|part| {
        let part = part.trim();
        let part = part
            .strip_suffix(&closing)
            .filter(|_| is_open)
            .unwrap_or(part);
        joined_lines(part.into())
    });
    let title = match parts {
        [title, behind] if behind.is_empty() => within(title, title_of),
        [title, behind] => title_of(format!("{title} {behind}").trim())
            .to_owned()
            .into(),
    };
    let flaw = flaw.or_else(|| {
        (title.is_empty() && !is_broken).then(|| SyntaxFault {
            detail: format!("task {:?} has no title", &text[id.clone()]),
            hint: "write the task's title behind the id".to_owned(),
        })
    });
    Some(TaskHead {
        id: &text[id.clone()],
        fault: is_broken.then(|| unreadable(&text[id.clone()])),
        id_span: Span::new(id.start, id.end),
        title,
        complexity,
        flaw,
    })
}

/// Applies `part` to a text, which stays borrowed if it was.
pub(super) fn within<'t>(text: Cow<'t, str>, part: impl Fn(&str) -> &str) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_owned()),
    }
}

/// `text` without the emphasis before its first word, and the escape of a bracket.
pub(super) fn within_marks(text: &str) -> &str {
    let inner = text.trim_start_matches(['*', '_', '~', '`']);
    inner
        .strip_prefix('\\')
        .filter(|inner| inner.starts_with('['))
        .unwrap_or(inner)
}

fn skip_checkbox(text: &str, range: Range<usize>) -> usize {
    let rest = &text[range.clone()];
    ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| rest.strip_prefix(mark))
        .filter(|after| after.starts_with([' ', '\t']))
        .map_or(range.start, |after| range.end - after.trim_start().len())
}

/// Reads `[ID: 1]`, and `[1]` in a heading. What comes close to it is broken: `[ID 1]`, `(ID: 1)`, `[ID: 1`, `[1.2]`.
fn opening(text: &str, range: Range<usize>, place: HeadPlace) -> Option<HeadOpening> {
    let own = &text[range.clone()];
    let line = own.lines().next()?;
    let closer = match own.chars().next()? {
        '[' => ']',
        '(' => ')',
        '{' => '}',
        '<' => '>',
        _ => return None,
    };
    let close = line.find(closer);
    let inner = &line[1..close.unwrap_or(line.len())];
    let label = inner
        .get(..2)
        .filter(|label| label.eq_ignore_ascii_case("id"))
        .map_or("", |_| inner[2..].trim_start());
    let is_named = opens_id(own) || label.starts_with(':');
    let id = match is_named {
        true => label.trim_start_matches([' ', '\t', ':', '=', '#']),
        false => inner.trim_start_matches('#'),
    };
    let first_word = |id: &'_ str| id.find([' ', '\t']).unwrap_or(id.len());
    let id = if close.is_some() {
        id
    } else {
        &id[..first_word(id)]
    };
    let start = range.start + (id.as_ptr() as usize - own.as_ptr() as usize);
    let id = trim_marks(text, start..start + id.len());
    let rest = close.map_or(id.end, |close| range.start + close + 1);
    let word = &text[id.clone()];
    let is_id = word == "root"
        || word.bytes().any(|byte| byte.is_ascii_digit()) && TaskId::new(word).is_ok();
    let is_link = text[rest..range.end].starts_with(['(', '[']);
    let is_broken = match place {
        _ if is_named => {
            closer != ']' || close.is_none() || word.is_empty() || !label.starts_with(':')
        }
        _ if closer != ']' || word.is_empty() || is_link => return None,
        HeadPlace::Heading if close.is_none() && !is_id => return None,
        HeadPlace::Heading if word.contains([' ', '\t']) => return None,
        HeadPlace::Heading => close.is_none(),
        HeadPlace::List if is_id && (word.contains('.') || find_complexity(own).is_some()) => true,
        HeadPlace::List => return None,
    };
    Some(HeadOpening {
        id,
        rest,
        is_broken,
    })
}

/// Reads a line that has a complexity but no id in brackets, such as `Task 2: Title (Complexity: 3)`.
fn without_id(text: &str, range: Range<usize>) -> Option<HeadOpening> {
    let own = &text[range.clone()];
    find_complexity(own)?;
    let labelled = ["Task ", "ID:"].iter().find(|label| {
        own.get(..label.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(label))
    });
    let start = range.end
        - own[labelled.map_or(0, |label| label.len())..]
            .trim_start()
            .len();
    let word = text[start..range.end].split_whitespace().next()?;
    let id = word.trim_end_matches(['.', ':']);
    let is_id = id.bytes().any(|b| b.is_ascii_digit()) && TaskId::new(id).is_ok();
    let (start, end) = if is_id {
        (start, start + id.len())
    } else {
        (range.start, range.start)
    };
    Some(HeadOpening {
        id: start..end,
        rest: end,
        is_broken: true,
    })
}

/// The range without emphasis, escapes and blanks at its ends.
fn trim_marks(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.end - slice.trim_start_matches(MARKS).len();
    start..start + text[start..range.end].trim_end_matches(MARKS).len()
}

/// A title without the separators between it and the id.
fn title_of(title: &str) -> &str {
    let mut title = title.trim();
    loop {
        let rest = title.trim_start_matches([':', '-', '–', '—']);
        if rest.len() == title.len() || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
            return title;
        }
        title = rest.trim_start();
    }
}

/// Replaces each line end in `text`, with the blanks around it, by one blank.
pub(super) fn joined_lines(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\n') {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        return lines.collect::<Vec<_>>().join(" ").into();
    }
    within(text, str::trim)
}

fn find_complexity(text: &str) -> Option<usize> {
    const LABEL: &str = "(complexity";
    let bytes = text.as_bytes();
    text.rmatch_indices('(').map(|(at, _)| at).find(|at| {
        bytes
            .get(*at..at + LABEL.len())
            .is_some_and(|label| label.eq_ignore_ascii_case(LABEL.as_bytes()))
            && bytes
                .get(at + LABEL.len())
                .is_some_and(|b| matches!(b, b':' | b'=') || b.is_ascii_whitespace())
    })
}

/// Finds the last `(Complexity: 3)` of `text[range]`: its range, and its value.
fn complexity(
    text: &str,
    range: Range<usize>,
) -> (Range<usize>, Option<Item<'_>>, Option<SyntaxFault>) {
    let Some(at) = find_complexity(&text[range.clone()]).map(|at| range.start + at) else {
        return (range.end..range.end, None, None);
    };
    let start = at + "(complexity".len();
    let close = text[start..range.end]
        .find([')', '\n', '\r'])
        .map(|i| start + i);
    let value = trim_marks(text, start..close.unwrap_or(range.end));
    let lead = text[value.clone()].trim_start_matches([':', '=', ' ', '\t', '*', '`']);
    let value = value.end - lead.len()..value.end;
    let closed = close.filter(|&close| text[close..].starts_with(')'));
    let flaw = closed.is_none().then(|| SyntaxFault {
        detail: "the parenthesis of the complexity isn't closed".to_owned(),
        hint: "write it as in `(Complexity: 3)`".to_owned(),
    });
    let item = Item {
        text: text[value.clone()].into(),
        span: Span::new(value.start, value.end),
        note: None,
    };
    (
        at..closed.map_or(value.end, |close| close + 1),
        Some(item),
        flaw,
    )
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

/// True if `text` starts with `[ID`, and then a sign that isn't part of a word.
pub(super) fn opens_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"[id"))
        && bytes.get(3).is_none_or(|b| !b.is_ascii_alphabetic())
}
