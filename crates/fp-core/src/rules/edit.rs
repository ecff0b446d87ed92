//! Edits of the source that fixes are made of. They touch as little as they can, so that comments, order and
//! spacing stay.

use crate::diagnostic::{Fix, Span};
use crate::plan::field::FieldKind;
use crate::plan::task::{Plan, Task};

/// Adds a field below the last thing that stands in `task` itself.
pub(super) fn add_field(plan: &Plan, task: &Task, field: FieldKind, entries: &[String]) -> Fix {
    let newline = plan.newline.as_str();
    let indent = " ".repeat(task.field_indent);
    let mut text = format!("{newline}{indent}- {}:", field.label());
    if field == FieldKind::Dependencies {
        text = format!("{text} {}", entries.join(", "));
    } else {
        for entry in entries {
            text.push_str(&format!("{newline}{indent}  - {entry}"));
        }
    }
    let mut end = own_end(task);
    let below = match end == task.line_end {
        // A task without fields has its text first.
        true => task.notes.last(),
        // Right below the field, code would be part of it.
        false => {
            task.notes.iter().find(|note| note.span.start >= end).filter(|note| note.text.starts_with("    "))
        }
    };
    if let Some(note) = below {
        end = note.span.end;
        text.insert_str(0, newline);
    }
    Fix { title: format!("add `{}`", field.label()), span: Span::new(end, end), replacement: text }
}

/// Where the line and the fields of a task end; its notes and children come behind.
fn own_end(task: &Task) -> usize {
    let fields = &task.fields;
    let kept = fields.unknown.iter().chain(&fields.duplicates).map(|(_, item)| item.span);
    let unreadable = fields.unreadable.iter().map(|(_, item)| item.span);
    let complexity = task.complexity_source.as_ref().map(|item| item.span);
    let spans = fields.given().map(|(_, field)| field.span).chain(kept).chain(unreadable).chain(complexity);
    spans.map(|span| span.end).fold(task.line_end, usize::max)
}

/// Writes the dependencies of a task anew, on one line.
pub(super) fn set_dependencies(plan: &Plan, task: &Task, ids: &[String], title: String) -> Fix {
    let Some(span) = task.fields.span(FieldKind::Dependencies) else {
        return Fix { title, ..add_field(plan, task, FieldKind::Dependencies, ids) };
    };
    let list = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    Fix { title, span, replacement: format!("{}: {list}", FieldKind::Dependencies.label()) }
}

/// The dependencies of a task as they would be written, with what is said about each.
pub(super) fn written_dependencies(task: &Task, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let items = task.fields.items(FieldKind::Dependencies).iter();
    items
        .filter(|item| keep(&item.text))
        .map(|item| match &item.note {
            Some(note) => format!("{} {note}", item.text),
            None => item.text.to_string(),
        })
        .collect()
}

/// Puts a guardrail before the others of a task that has some.
pub(super) fn add_guardrail(plan: &Plan, task: &Task, guardrail: &str) -> Option<Fix> {
    let field = task.fields.get(FieldKind::Guardrails)?;
    let first = field.items.first()?.span.start;
    let behind = match field.entry_indent {
        Some(indent) => format!("{}{}- ", plan.newline.as_str(), " ".repeat(indent)),
        None => "; ".to_owned(),
    };
    Some(Fix {
        title: "add the file boundary".to_owned(),
        span: Span::new(first, first),
        replacement: format!("{guardrail}{behind}"),
    })
}

/// The guardrail that keeps a builder to the files of its task.
pub(super) fn file_boundary(task: &Task) -> String {
    let files: Vec<&str> = task.files().collect();
    let files = if files.is_empty() { "none".to_owned() } else { files.join(", ") };
    format!("{BOUNDARY} {files}")
}

/// How that guardrail begins.
pub(super) const BOUNDARY: &str = "Do NOT modify files outside:";
