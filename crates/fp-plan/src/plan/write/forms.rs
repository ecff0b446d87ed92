//! Writes single parts of a task in the most readable form that the parser reads back as it was meant.

use super::{fields, parse};
use crate::markdown::code_span;
use crate::plan::field::{FieldForm, FieldKind};
use crate::plan::meaning::same_items;
use crate::plan::task::{Item, Task};

/// The first of `forms` that reads back, or else the first.
fn choose(forms: Vec<String>, reads_back: impl Fn(&str) -> bool) -> String {
    let fit = forms.iter().position(|form| reads_back(form));
    forms.into_iter().nth(fit.unwrap_or(0)).unwrap_or_default()
}

/// True if `text` is read without a fault as one task, which looks as `expected`.
fn reads_as(text: &str, expected: impl FnOnce(&Task) -> bool) -> bool {
    let (plan, findings) = parse(text);
    match &plan.tasks[..] {
        [task] => findings.is_empty() && task.notes.is_empty() && expected(task),
        _ => false,
    }
}

/// True if a task with only these fields looks as `expected`.
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
    let source = task.complexity_source.as_ref();
    let Some(complexity) = source.map(|item| &*item.text) else {
        return line;
    };
    let forms = vec![
        format!("{line} (Complexity: {complexity})"),
        format!("{line}\n  - Complexity: {complexity}"),
    ];
    choose(forms, |form| {
        reads_as(form, |read| {
            let source = read.complexity_source.as_ref();
            read.description == title && source.is_some_and(|item| item.text == complexity)
        })
    })
}

/// Writes a field of the language; `None` if it is absent.
pub(super) fn field(kind: FieldKind, task: &Task) -> Option<String> {
    let fields = &task.fields;
    let label = kind.label();
    let given = fields.get(kind);
    if let Some(field) = given.filter(|_| kind.form().is_list()) {
        return Some(list(kind, &field.items));
    }
    if kind.form() == FieldForm::Prose {
        let text = fields.text(kind)?;
        let reads_back =
            |form: &str| field_reads(form, |task| task.fields.text(kind) == Some(text));
        return Some(choose(labelled_forms(label, text), reads_back));
    }
    let unreadable = fields.unreadable.iter().filter(|(of, _)| *of == kind);
    let written = given.and_then(|field| field.written.as_deref().or(fields.text(kind)));
    let values = unreadable.map(|(_, item)| &*item.text).chain(written);
    let forms = values.map(|value| {
        choose(vec![value.to_owned(), code_span(value)], |form| {
            fields::entry(kind, form, 0..form.len()).is_some_and(|item| item.text == value)
        })
    });
    let forms: Vec<String> = forms.collect();
    if let [first, rest @ ..] = &forms[..] {
        let line = format!("- {label}: {first}").trim_end().to_owned();
        return Some(line + &below(rest));
    }
    // A field given as `none` turns its repetitions into duplicates.
    let absent = kind != FieldKind::Complexity || task.complexity_source.is_none();
    let again = fields
        .duplicates
        .iter()
        .any(|(label, _)| FieldKind::from_label(label) == Some(kind));
    (absent && again).then(|| format!("- {label}: none"))
}

fn list(kind: FieldKind, items: &[Item]) -> String {
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
    let nested = format!("- {label}:{}", below(&entries));
    let inline = format!("- {label}: {}", indented(&one_line, 2));
    if !kind.form().is_list_of_sentences() {
        let read = fields::line_entries(kind, &one_line, 0..one_line.len());
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
        let read = fields::entry(kind, form, 0..form.len());
        read.is_some_and(|read| read.text == item.text && read.note == item.note)
    })
}

/// A field outside the language.
pub(super) fn unknown(label: &str, text: &str) -> String {
    choose(labelled_forms(label, text), |form| {
        field_reads(
            form,
            |task| matches!(&task.fields.unknown[..], [(l, item)] if *l == label && item.text == text),
        )
    })
}

/// A repeated field.
pub(super) fn duplicate(label: &str, text: &str) -> String {
    choose(labelled_forms(label, text), |form| {
        field_reads(
            &format!("- {label}: none\n{form}"),
            |task| matches!(&task.fields.duplicates[..], [(l, item)] if *l == label && item.text == text),
        )
    })
}

/// A label with any text behind or below it.
fn labelled_forms(label: &str, text: &str) -> Vec<String> {
    let behind = format!("- {label}: {}", indented(text, 2));
    let below = format!("- {label}:\n  {}", indented(text, 2));
    match text {
        "" => vec![format!("- {label}:")],
        // A list is read more easily below its label.
        _ if text.starts_with("- ") => vec![below, behind],
        _ => vec![behind, below],
    }
}

/// Entries as items below a label.
fn below(entries: &[String]) -> String {
    let item = |entry: &String| format!("\n  - {}", indented(entry, 4));
    entries.iter().map(item).collect()
}

/// Indents every line of `text` but the first.
fn indented(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
            out.extend(std::iter::repeat_n(
                ' ',
                if line.is_empty() { 0 } else { columns },
            ));
        }
        out.push_str(line);
    }
    out
}
