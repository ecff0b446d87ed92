//! Reads the line of a task: `[ID: 1.1] Title (Complexity: 3)`, or `[1] Title` in a heading. A line that starts like
//! one but can't be read is reported, since ignoring it would silently drop a task from the plan.

use std::borrow::Cow;

use crate::diagnostic::Span;
use crate::plan::id::TaskId;

/// Characters that may surround an id.
const ID_MARKS: [char; 6] = ['*', '`', '\\', ' ', '\t', '~'];
/// Marks of emphasis and code.
const MARKS: [char; 4] = ['*', '_', '~', '`'];

/// The kind of line that a task is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadPlace {
    /// An item of a list.
    List,
    Heading,
}

/// A problem with a line that starts like a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SyntaxFault {
    pub(super) detail: String,
    pub(super) hint: String,
}

/// A line read as a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TaskHead<'t> {
    pub(super) id: &'t str,
    pub(super) title: Cow<'t, str>,
    pub(super) complexity: Option<&'t str>,
    /// True if the line starts like a task, but isn't one in this place or form.
    pub(super) is_broken: bool,
    /// A problem with a line that still counts as a task.
    pub(super) flaw: Option<SyntaxFault>,
}

/// A line split into its id part and the rest.
struct HeadOpening<'t> {
    id: &'t str,
    rest: &'t str,
    is_broken: bool,
}

/// The problem to report for a line that starts like a task, but isn't one in this place or form.
pub(super) fn unreadable_line(id: &str) -> SyntaxFault {
    let id = if id.is_empty() { "1.2" } else { id };
    SyntaxFault {
        detail: "the line looks like a task and can't be read as one".to_owned(),
        hint: format!(
            "write `- [ID: {id}] Title (Complexity: 3)`, indented as the tasks beside it"
        ),
    }
}

/// Reads `own`, the text of an item or a heading, as a task; `None` if it doesn't start like one.
pub(super) fn read_head(own: &str, place: HeadPlace) -> Option<TaskHead<'_>> {
    let own = without_checkbox(own.trim());
    let opening = read_opening(within_marks(own), place).or_else(|| without_id(within_marks(own)));
    let HeadOpening {
        id,
        rest,
        is_broken,
    } = opening?;
    // `**[ID: 1]** Title` or `**[ID: 1] Title**`.
    let wrapper = &own[..own.len() - own.trim_start_matches(MARKS).len()];
    let closing: String = wrapper.chars().rev().collect();
    let (rest, closing) = match rest.strip_prefix(&*closing) {
        Some(rest) => (rest, ""),
        None => (rest, &*closing),
    };
    let complexity = find_complexity(rest);
    let [before, behind] = complexity
        .as_ref()
        .map_or([rest, ""], |found| [found.before, found.behind])
        .map(|part| {
            let part = part.trim();
            joined_lines(part.strip_suffix(closing).unwrap_or(part).into())
        });
    let title = match behind.is_empty() {
        true => map_text(before, trimmed_title),
        false => trimmed_title(&format!("{before} {behind}"))
            .to_owned()
            .into(),
    };
    let flaw = if complexity.as_ref().is_some_and(|found| !found.is_closed) {
        Some(SyntaxFault {
            detail: "the parenthesis of the complexity isn't closed".to_owned(),
            hint: "write it as in `(Complexity: 3)`".to_owned(),
        })
    } else {
        (title.is_empty() && !is_broken).then(|| SyntaxFault {
            detail: format!("task {id:?} has no title"),
            hint: "write the task's title behind the id".to_owned(),
        })
    };
    Some(TaskHead {
        id,
        title,
        complexity: complexity.map(|found| found.value),
        is_broken,
        flaw,
    })
}

/// Applies `part` to a text; borrowed text stays borrowed.
fn map_text<'t>(text: Cow<'t, str>, part: impl Fn(&str) -> &str) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_owned()),
    }
}

/// `text` without leading emphasis marks, and without the backslash that escapes a bracket.
pub(super) fn within_marks(text: &str) -> &str {
    let inner = text.trim_start_matches(MARKS);
    inner
        .strip_prefix('\\')
        .filter(|inner| inner.starts_with('['))
        .unwrap_or(inner)
}

fn without_checkbox(text: &str) -> &str {
    ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .filter(|after| after.starts_with([' ', '\t']))
        .map_or(text, str::trim_start)
}

/// Reads `[ID: 1]`, and `[1]` in a heading. Near misses are marked as broken: `[ID 1]`, `(ID: 1)`, `[ID: 1`, `[1.2]`.
fn read_opening(own: &str, place: HeadPlace) -> Option<HeadOpening<'_>> {
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
    let label = without_label(inner, "id").map_or("", str::trim_start);
    let is_named = opens_id(own) || label.starts_with(':');
    let id = match is_named {
        true => label.trim_start_matches([' ', '\t', ':', '=', '#']),
        false => inner.trim_start_matches('#'),
    };
    let id = match close {
        Some(_) => id,
        None => id.split([' ', '\t']).next().unwrap_or(id),
    };
    let id = id.trim_matches(ID_MARKS);
    let rest = match close {
        Some(close) => &own[close + 1..],
        None => &own[Span::of_slice(own, id).end..],
    };
    let is_id = id == "root" || is_numbered_id(id);
    let is_broken = match place {
        _ if is_named => {
            closer != ']' || close.is_none() || id.is_empty() || !label.starts_with(':')
        }
        // A link.
        _ if closer != ']' || id.is_empty() || rest.starts_with(['(', '[']) => return None,
        HeadPlace::Heading if close.is_none() && !is_id => return None,
        HeadPlace::Heading if id.contains([' ', '\t']) => return None,
        HeadPlace::Heading => close.is_none(),
        HeadPlace::List if is_id && (id.contains('.') || find_complexity(own).is_some()) => true,
        HeadPlace::List => return None,
    };
    Some(HeadOpening {
        id,
        rest,
        is_broken,
    })
}

/// Reads a line that has a complexity but no id in brackets, such as `Task 2: Title (Complexity: 3)`.
fn without_id(own: &str) -> Option<HeadOpening<'_>> {
    find_complexity(own)?;
    let labels = ["Task ", "ID:"];
    let behind = labels.iter().find_map(|label| without_label(own, label));
    let behind = behind.map_or(own, str::trim_start);
    let word = behind
        .split_whitespace()
        .next()?
        .trim_end_matches(['.', ':']);
    let (id, rest) = match is_numbered_id(word) {
        true => behind.split_at(word.len()),
        false => own.split_at(0),
    };
    Some(HeadOpening {
        id,
        rest,
        is_broken: true,
    })
}

fn is_numbered_id(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit()) && TaskId::new(word).is_ok()
}

/// The rest of `text` after `label`, if `text` starts with it, ignoring case.
pub(super) fn without_label<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let start = text.get(..label.len())?;
    start
        .eq_ignore_ascii_case(label)
        .then(|| &text[label.len()..])
}

/// A title without the separators between it and the id.
fn trimmed_title(title: &str) -> &str {
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
    map_text(text, str::trim)
}

/// A `(Complexity: 3)`, and the text around it.
struct HeadComplexity<'t> {
    before: &'t str,
    value: &'t str,
    behind: &'t str,
    is_closed: bool,
}

/// Finds the last complexity in `text`.
fn find_complexity(text: &str) -> Option<HeadComplexity<'_>> {
    text.rmatch_indices('(').find_map(|(at, _)| {
        let inner = without_label(&text[at..], "(complexity")?;
        let is_label = |c: char| matches!(c, ':' | '=') || c.is_ascii_whitespace();
        let line = inner.split([')', '\n', '\r']).next()?;
        let value = line.trim_matches(ID_MARKS);
        let behind = &inner[line.len()..];
        inner.starts_with(is_label).then(|| HeadComplexity {
            before: &text[..at],
            value: value.trim_start_matches([':', '=', ' ', '\t', '*', '`']),
            behind: behind.strip_prefix(')').unwrap_or(behind),
            is_closed: behind.starts_with(')'),
        })
    })
}

/// The whole number in a complexity: the entire value, or the part before a comma or semicolon.
pub(super) fn whole_number(text: &str) -> Option<u32> {
    let first = text.split([',', ';']).next().unwrap_or(text).trim();
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    first.parse().ok().filter(|_| is_number)
}

/// True if `text` starts with `[ID`, in any case, and no letter follows.
pub(super) fn opens_id(text: &str) -> bool {
    let behind = without_label(text, "[id");
    behind.is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_alphabetic()))
}
