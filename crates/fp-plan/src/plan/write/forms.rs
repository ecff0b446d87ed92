//! Writes single parts of a task in the most readable form that the parser reads back with the same meaning.

use super::{fields, parse};
use crate::markdown::code_span;
use crate::plan::field::{FieldForm, FieldKind};
use crate::plan::meaning::same_items;
use crate::plan::task::{Item, Task};
use crate::text::indented;

/// The first of `forms` that reads back correctly, or the very first if none does.
fn choose(forms: Vec<String>, reads_back: impl Fn(&str) -> bool) -> String {
    let fit = forms.iter().position(|form| reads_back(form));
    forms.into_iter().nth(fit.unwrap_or(0)).unwrap_or_default()
}

/// True if `text` parses without findings as a single task, and that task passes `expected`.
fn reads_as(text: &str, expected: impl FnOnce(&Task) -> bool) -> bool {
    let (plan, findings) = parse(text);
    match &plan.tasks[..] {
        [task] => findings.is_empty() && task.notes.is_empty() && expected(task),
        _ => false,
    }
}

/// True if a task with only these fields passes `expected`.
fn field_reads(fields: &str, expected: impl FnOnce(&Task) -> bool) -> bool {
    reads_as(
        &format!("- [ID: 1] T\n  {}\n", indented(fields, 2)),
        expected,
    )
}

/// The line of a task, with its complexity as a field below if the line can't hold it.
pub(super) fn head(task: &Task) -> String {
    let title = &*task.description;
    let line = format!("- [ID: {}] {title}", task.id).trim_end().to_owned();
    let complexity_of = |task: &Task| {
        let value = task.fields.value(FieldKind::Complexity);
        value.map(|item| item.text.to_string())
    };
    let Some(complexity) = complexity_of(task) else {
        return line;
    };
    let forms = vec![
        format!("{line} (Complexity: {complexity})"),
        format!("{line}\n  - Complexity: {complexity}"),
    ];
    choose(forms, |form| {
        reads_as(form, |read| {
            read.description == title && complexity_of(read).as_ref() == Some(&complexity)
        })
    })
}

/// Writes a field that the plan language defines; `None` if it is absent, or written on the task's own line.
pub(super) fn field(kind: FieldKind, task: &Task) -> Option<String> {
    let label = kind.label();
    let field = task.fields.get(kind)?;
    if kind.form().is_list() {
        return Some(list_form(kind, &field.items));
    }
    let Some(item) = field.items.first() else {
        // If the field would read `none` as a value, it is left empty instead.
        let none = fields::read_entry(kind, "none", "none").map_or(" none", |_| "");
        return Some(format!("- {label}:{none}"));
    };
    let text = &*item.text;
    match kind.form() {
        FieldForm::Number => None,
        FieldForm::Prose => Some(choose(labelled_forms(label, text), |form| {
            field_reads(form, |task| task.fields.text(kind) == Some(text))
        })),
        _ => {
            let value = choose(vec![text.to_owned(), code_span(text)], |form| {
                fields::read_entry(kind, form, form).is_some_and(|item| item.text == text)
            });
            Some(format!("- {label}: {value}"))
        }
    }
}

fn list_form(kind: FieldKind, items: &[Item]) -> String {
    let label = kind.label();
    if items.is_empty() {
        return format!("- {label}: none");
    }
    let entries: Vec<String> = items.iter().map(|item| entry(kind, item)).collect();
    let separator = if kind.form().is_list_of_words() {
        ", "
    } else {
        "; "
    };
    let one_line = entries.join(separator);
    let nested = format!("- {label}:{}", item_lines(&entries));
    let inline = format!("- {label}: {}", indented(&one_line, 2));
    if !kind.form().is_list_of_sentences() {
        let read = fields::line_entries(kind, &one_line, &one_line);
        return if same_items(&read, items) {
            inline
        } else {
            nested
        };
    }
    choose(vec![nested, inline], |form| {
        let same = |task: &Task| same_items(task.fields.items(kind), items);
        field_reads(form, same)
    })
}

/// One entry of a list, in the first form that reads back.
fn entry(kind: FieldKind, item: &Item) -> String {
    let text = &*item.text;
    let mut forms = vec![text.to_owned()];
    match kind.form() {
        FieldForm::Paths | FieldForm::Commands => forms.push(code_span(text)),
        FieldForm::Ids => forms.push(format!("[{text}]")),
        _ => {}
    }
    if let Some(note) = &item.note {
        let noted = |form: &String| [format!("{form} {note}"), format!("{form}{note}")];
        forms = forms.iter().flat_map(noted).collect();
    }
    choose(forms, |form| {
        let read = fields::read_entry(kind, form, form);
        read.is_some_and(|read| read.text == item.text && read.note == item.note)
    })
}

/// Writes a field that the plan language doesn't define.
pub(super) fn unknown(label: &str, text: &str) -> String {
    choose(labelled_forms(label, text), |form| {
        field_reads(
            form,
            |task| matches!(&task.fields.unknown[..], [(l, item)] if *l == label && item.text == text),
        )
    })
}

/// Writes a repeated field.
pub(super) fn duplicate(label: &str, text: &str) -> String {
    choose(labelled_forms(label, text), |form| {
        field_reads(
            &format!("- {label}: none\n{form}"),
            |task| matches!(&task.fields.duplicates[..], [(l, item)] if *l == label && item.text == text),
        )
    })
}

/// The ways to write `text` with a label, preferred one first: after the label, below it, or apart from it.
fn labelled_forms(label: &str, text: &str) -> Vec<String> {
    let behind = format!("- {label}: {}", indented(text, 2));
    let below = format!("- {label}:\n  {}", indented(text, 2));
    let apart = format!("- {label}:\n\n  {}", indented(text, 2));
    match text {
        "" => vec![format!("- {label}:")],
        // A list is easier to read below its label.
        _ if text.starts_with("- ") => vec![below, behind, apart],
        _ => vec![behind, below, apart],
    }
}

/// Entries as items below a label.
fn item_lines(entries: &[String]) -> String {
    let item = |entry: &String| format!("\n  - {}", indented(entry, 4));
    entries.iter().map(item).collect()
}
