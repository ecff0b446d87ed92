//! Separates a plan's meaning from its layout: compares meanings, formats a text canonically, and produces the text
//! whose hash an approval stores.

use std::fmt::Write as _;

use thiserror::Error;

use super::field::FieldKind;
use super::parse::parse;
use super::task::{Item, Plan, Task, TaskIndex};
use super::write::write;
use crate::diagnostic::Span;

/// The first difference between two plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// A task differs: its own line, its place in the tree, its fields or its notes.
    Task(TaskIndex),
    /// The prose outside all tasks differs, or the line endings do.
    Prose,
}

/// Finds the first difference in meaning between `a` and `b`. Positions in the source and layout don't count.
/// Everything else does: ids, titles, structure, order, every field present, unrecognised content that was kept, and
/// prose with its place among the tasks.
pub fn difference(a: &Plan, b: &Plan) -> Option<Difference> {
    let shared = a
        .tasks
        .iter()
        .zip(&b.tasks)
        .position(|(a, b)| without_places(a) != without_places(b));
    if let Some(index) = shared {
        return Some(Difference::Task(index));
    }
    if a.tasks.len() != b.tasks.len() {
        return Some(Difference::Task(a.tasks.len().min(b.tasks.len())));
    }
    let prose = |plan: &Plan| {
        plan.prose
            .iter()
            .map(|(at, item)| (*at, item.text.to_string()))
            .collect::<Vec<_>>()
    };
    let same = a.root == b.root && a.crlf == b.crlf && prose(a) == prose(b);
    (!same).then_some(Difference::Prose)
}

/// Returns `task` without its position: no spans and no layout.
fn without_places<'t>(task: &Task<'t>) -> Task<'t> {
    let mut task = Task {
        id_span: Span::default(),
        span: Span::default(),
        extent: Span::default(),
        field_indent: 0,
        children: Vec::new(),
        ..task.clone()
    };
    let fields = &mut task.fields;
    for kind in FieldKind::ALL {
        if let Some(field) = fields.slot(kind) {
            (field.span, field.entry_indent) = (Span::default(), None);
            let items = field.items.iter_mut();
            items.for_each(|item| item.span = Span::default());
        }
    }
    let labelled = fields.unknown.iter_mut().chain(&mut fields.duplicates);
    let items = labelled.map(|(_, item)| item).chain(&mut task.notes);
    items.for_each(|item| item.span = Span::default());
    task
}

/// True if two lists have the same content.
pub(super) fn same_items(a: &[Item], b: &[Item]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.text == b.text && a.note == b.note)
}

/// The reason why a text isn't formatted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The text has no task, so it is some other kind of text.
    #[error("there is no task in it")]
    NoTask,
    /// The text has lines that start like a task but can't be parsed.
    #[error("{}", if *.0 == 1 { "it has a line that can't be read".to_owned() } else { format!("it has {} lines that can't be read", .0) })]
    Unreadable(usize),
    /// Part of the text would have a different meaning in canonical form.
    #[error("{}", .0.as_ref().map_or_else(|| "its prose would be read as something else".to_owned(), |id| format!("task {id:?} would be read as something else")))]
    Changed(Option<String>),
}

/// Formats `text` in the canonical form of the list dialect. The result is parsed again to make sure that it means the
/// same and that formatting it again changes nothing.
///
/// # Errors
///
/// Fails if `text` has no task, has lines that can't be read, or holds something that canonical form can't express.
pub fn format(text: &str) -> Result<String, FormatError> {
    let (plan, findings) = parse(text);
    if !findings.is_empty() {
        return Err(FormatError::Unreadable(findings.len()));
    }
    if plan.root.is_none() {
        return Err(FormatError::NoTask);
    }
    let written = write(&plan);
    let (again, findings) = parse(&written);
    let lost = match difference(&plan, &again) {
        None if findings.is_empty() => return Ok(written),
        Some(Difference::Task(index)) => plan.tasks.get(index).map(|task| task.id.clone()),
        _ => None,
    };
    Err(FormatError::Changed(lost.map(Into::into)))
}

/// The canonical text of a leaf: id, title, complexity and every field, each on its own line as `name value`, with
/// values escaped so that different leaves never share a text. Must stay stable between versions, because a change here
/// voids every approval. Dependencies are written as in the plan.
pub fn leaf_text(task: &Task) -> String {
    let mut out = String::new();
    push_line(&mut out, "id", &task.id);
    push_line(&mut out, "title", &task.description);
    for (kind, field) in task.fields.given() {
        if kind.form().is_list() {
            push_line(&mut out, kind.label(), "");
            field
                .items
                .iter()
                .for_each(|item| push_line(&mut out, "-", &item.text));
        } else if let (FieldKind::Complexity, Some(number)) = (kind, task.complexity) {
            push_line(&mut out, "complexity", &number.to_string());
        } else if let Some(text) = task.fields.text(kind) {
            let name = match kind {
                FieldKind::Complexity => "complexity",
                _ => kind.label(),
            };
            push_line(&mut out, name, text);
        }
    }
    for (label, item) in &task.fields.unknown {
        push_line(&mut out, "unknown", label);
        push_line(&mut out, "-", &item.text);
    }
    out
}

fn push_line(out: &mut String, name: &str, value: &str) {
    let value = value
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    writeln!(out, "{name} {value}").expect("writing to a string can't fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    #[test]
    fn what_differs_is_named() {
        let check = |a: &str, b: &str, expect: Option<Difference>| {
            assert_eq!(difference(&parse(a).0, &parse(b).0), expect, "{a:?} {b:?}");
        };
        let one = "- [ID: 1] A (Complexity: 3)\n  - Files: a\n";
        check(
            one,
            "* **[ID: 1]** A\n\n  * Complexity: 3\n  * Files:\n    - a\n",
            None,
        );
        check(
            one,
            "- [ID: 1] A (Complexity: 4)\n  - Files: a\n",
            Some(Difference::Task(0)),
        );
        check(
            one,
            "- [ID: 1] A (Complexity: 3)\n  - Files: a (new)\n",
            Some(Difference::Task(0)),
        );
        check(
            one,
            "- [ID: 1] A (Complexity: 3)\n",
            Some(Difference::Task(0)),
        );
        check(
            one,
            "- [ID: 1] A (Complexity: 3)\n  - Files: a\n  - Owner: b\n",
            Some(Difference::Task(0)),
        );
        check(
            one,
            &format!("{one}  - [ID: 1.1] B\n"),
            Some(Difference::Task(1)),
        );
        check(one, &format!("Prose\n\n{one}"), Some(Difference::Prose));
        check(one, &one.replace('\n', "\r\n"), Some(Difference::Prose));
        check(
            "- [ID: 1] A\n- [ID: 2] B\n",
            "- [ID: root] A; B\n- [ID: 1] A\n- [ID: 2] B\n",
            Some(Difference::Task(0)),
        );
        check(
            "- [ID: 1] A\n  - Tests Required: yes\n",
            "- [ID: 1] A\n  - Tests Required: yes (unit)\n",
            Some(Difference::Task(0)),
        );
    }
}
