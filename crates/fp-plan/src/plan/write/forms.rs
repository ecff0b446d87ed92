//! Writes single parts of a plan (a head, a field, prose) in the most readable form that the parser reads back as it
//! was meant.

use std::borrow::Cow;

use super::layout::marker;
use super::parse;
use crate::markdown::code_span;
use crate::plan::field::{FieldForm, FieldKind};
use crate::plan::meaning::same_items;
use crate::plan::task::{Item, Task};

/// The first of `forms` that reads back, or else the first.
fn choose<T: Into<String>>(
    forms: impl IntoIterator<Item = T>,
    reads_back: impl Fn(&str) -> bool,
) -> String {
    let mut first = None;
    for form in forms {
        let form = form.into();
        if reads_back(&form) {
            return form;
        }
        first.get_or_insert(form);
    }
    first.unwrap_or_default()
}

/// The only task of `text`, if nothing else is in it and the parser finds no fault.
fn only_task(text: &str) -> Option<Task<'_>> {
    let (mut plan, findings) = parse(text);
    (findings.is_empty() && plan.tasks.len() == 1 && plan.prose.is_empty())
        .then(|| plan.tasks.remove(0))
}

/// True if a task with only this field can be parsed and looks as `expected`.
fn field_reads(field: &str, expected: impl FnOnce(&Task) -> bool) -> bool {
    let mut text = String::from("- [ID: 1] T\n");
    for line in field.split('\n') {
        text.push_str(if line.is_empty() { "" } else { "  " });
        text.push_str(line);
        text.push('\n');
    }
    only_task(&text).is_some_and(|task| task.notes.is_empty() && expected(&task))
}

/// The line of a task, with its complexity as a field below if the line can't hold it.
pub(super) fn head(task: &Task) -> String {
    let line = |title: &str| match title {
        "" => format!("- [ID: {}]", task.id),
        _ => format!("- [ID: {}] {title}", task.id),
    };
    let title = &*task.description;
    let value = task.fields.text(FieldKind::Description);
    let described =
        value.is_some_and(|value| value.lines().next().map(str::trim_end) == Some(title));
    let titles = [title, if described { "" } else { title }];
    let Some(complexity) = task.complexity_source.as_ref().map(|item| &*item.text) else {
        return choose(titles.map(line), |form| heads(form, task, described));
    };
    let forms = titles.into_iter().flat_map(|title| {
        let line = line(title);
        let field = |inline| list_form(FieldKind::Complexity, &[complexity.into()], inline);
        [
            format!("{line} (Complexity: {complexity})"),
            format!("{line}\n  {}", indented(&field(1), 2)),
            format!("{line}\n  {}", indented(&field(0), 2)),
        ]
    });
    choose(forms, |form| heads(form, task, described))
}

/// True if `form` reads back as the head of `task`, whose description may replace its title.
fn heads(form: &str, task: &Task, described: bool) -> bool {
    let form = if described {
        format!("{form}\n  - Description: x")
    } else {
        form.to_owned()
    };
    let Some(read) = only_task(&form) else {
        return false;
    };
    let text = |task: &Task| {
        task.complexity_source
            .as_ref()
            .map(|item| item.text.to_string())
    };
    let titled = read.description == task.description || (described && read.description == "x");
    read.id == task.id && text(&read) == text(task) && titled && read.notes.is_empty()
}

/// Writes a field of the language; `None` if it is absent.
pub(super) fn field(kind: FieldKind, task: &Task) -> Option<String> {
    let fields = &task.fields;
    if let Some(field) = fields.get(kind).filter(|_| kind.form().is_list()) {
        return Some(list(kind, &field.items));
    }
    if let Some(text) = fields
        .text(kind)
        .filter(|_| kind.form() == FieldForm::Prose)
    {
        return Some(prose(kind, text));
    }
    let unreadable = fields
        .unreadable
        .iter()
        .filter(|(of, _)| *of == kind)
        .map(|(_, item)| &*item.text);
    let values: Vec<&str> = unreadable.chain(written(task, kind)).collect();
    if !values.is_empty() {
        return Some(scalar(kind, task, &values));
    }
    // A field given as `none` turns its repetitions into duplicates.
    let absent = kind != FieldKind::Complexity || task.complexity_source.is_none();
    let again = fields
        .duplicates
        .iter()
        .any(|(label, _)| FieldKind::from_label(label) == Some(kind));
    (absent && again).then(|| format!("- {}: none", kind.label()))
}

fn list(kind: FieldKind, items: &[Item]) -> String {
    let label = kind.label();
    if items.is_empty() {
        return format!("- {label}: none");
    }
    let reads_back = |form: &str, items: &[Item]| {
        field_reads(form, |task| {
            task.fields
                .get(kind)
                .is_some_and(|list| same_items(&list.items, items))
                && task.fields.unknown.is_empty()
                && task.fields.duplicates.is_empty()
        })
    };
    let one_line = prefers_one_line(kind.form());
    let plain: Vec<Cow<'_, str>> = items.iter().map(|item| (*item.text).into()).collect();
    let form = list_form(kind, &plain, if one_line { plain.len() } else { 0 });
    if reads_back(&form, items) {
        return form;
    }
    let nests = |entry: &str, item: &Item| {
        reads_back(
            &list_form(kind, &[entry.into()], 0),
            std::slice::from_ref(item),
        )
    };
    let entries: Vec<Cow<'_, str>> = items
        .iter()
        .map(|item| Cow::from(choose(entry_forms(kind, item), |entry| nests(entry, item))))
        .collect();
    // The entries up to the last one that fits only on the label's line.
    let inline = || {
        let unfit = entries
            .iter()
            .zip(items)
            .rposition(|(entry, item)| !nests(entry, item));
        unfit.map_or(0, |at| at + 1)
    };
    let all = entries.len();
    let counts = if one_line { [all, 0] } else { [0, all] };
    let forms = counts.into_iter().map(Some).chain([None]);
    let forms = forms.map(|count| list_form(kind, &entries, count.unwrap_or_else(inline)));
    choose(forms, |form| reads_back(form, items))
}

/// A list with its first `inline` entries on the label's line and the others below it.
fn list_form(kind: FieldKind, entries: &[Cow<'_, str>], inline: usize) -> String {
    let separator = if kind.form().is_list_of_words() {
        ", "
    } else {
        "; "
    };
    let mut form = format!("- {}:", kind.label());
    if inline > 0 {
        form.push(' ');
        form.push_str(&indented(&entries[..inline].join(separator), 2));
    }
    for entry in &entries[inline..] {
        form.push_str("\n  - ");
        form.push_str(&indented(entry, 4));
    }
    form
}

/// The ways to write one entry of a list.
fn entry_forms(kind: FieldKind, item: &Item) -> Vec<String> {
    let text = &*item.text;
    let plain = text.to_owned();
    let mut forms = match kind.form() {
        FieldForm::Paths => vec![plain, code_span(text), format!("[{text}]({text})")],
        FieldForm::Ids => vec![plain, format!("[{text}]"), format!("[ID: {text}]")],
        FieldForm::Commands | FieldForm::Command => vec![plain, code_span(text)],
        _ => vec![plain],
    };
    if let Some(note) = &item.note {
        forms = forms
            .iter()
            .flat_map(|form| [format!("{form} {note}"), format!("{form}{note}")])
            .collect();
    }
    // As a block of its own below the bullet.
    forms.push(format!("\n{text}"));
    forms
}

/// A field with one value; the values before the last are unreadable.
fn scalar(kind: FieldKind, task: &Task, values: &[&str]) -> String {
    let reads_back = |form: &str| {
        let unreadable = |task: &Task| {
            let of_kind = task.fields.unreadable.iter().filter(|(of, _)| *of == kind);
            of_kind
                .map(|(_, item)| item.text.to_string())
                .collect::<Vec<_>>()
        };
        field_reads(form, |read| {
            read.fields.text(kind) == task.fields.text(kind)
                && written(read, kind) == written(task, kind)
                && unreadable(read) == unreadable(task)
                && read.fields.unknown.is_empty()
        })
    };
    let plain: Vec<Cow<'_, str>> = values.iter().map(|value| (*value).into()).collect();
    let coded: Vec<Cow<'_, str>> = values.iter().map(|value| code_span(value).into()).collect();
    let forms = [(&plain, 1), (&coded, 1), (&plain, 0), (&coded, 0)];
    choose(
        forms.map(|(values, inline)| list_form(kind, values, inline).trim_end().to_owned()),
        reads_back,
    )
}

/// The value of a field that isn't a list, as it was written.
fn written<'t>(task: &'t Task, kind: FieldKind) -> Option<&'t str> {
    let as_written = task
        .fields
        .get(kind)
        .and_then(|field| field.written.as_deref());
    as_written.or(task.fields.text(kind))
}

fn prose(kind: FieldKind, text: &str) -> String {
    labelled(kind.label(), text, |task| {
        task.fields.text(kind) == Some(text)
    })
}

/// A field outside the language.
pub(super) fn unknown(label: &str, text: &str) -> String {
    labelled(
        label,
        text,
        |task| matches!(&task.fields.unknown[..], [(l, item)] if *l == label && item.text == text),
    )
}

/// A repeated field.
pub(super) fn duplicate(label: &str, text: &str) -> String {
    let again = |form: &str| {
        let first = format!("- {label}: none\n{form}");
        field_reads(
            &first,
            |task| matches!(&task.fields.duplicates[..], [(l, item)] if *l == label && item.text == text),
        )
    };
    choose(labelled_forms(label, text), again)
}

fn labelled(label: &str, text: &str, reads_back: impl Fn(&Task) -> bool) -> String {
    choose(labelled_forms(label, text), |form| {
        field_reads(form, &reads_back)
    })
}

/// A label with any text after or below it; text that begins a block is first tried below.
fn labelled_forms(label: &str, text: &str) -> Vec<String> {
    let behind = format!("- {label}: {}", indented(text, 2));
    let below = format!("- {label}:\n  {}", indented(text, 2));
    let apart = format!("- {label}:\n\n  {}", indented(text, 2));
    match text {
        "" => vec![format!("- {label}:")],
        _ if begins_block(text) => vec![below, apart, behind],
        _ => vec![behind, below, apart],
    }
}

/// True if prose at the margin ends the tasks above it, and doesn't belong to the last of them.
pub(super) fn ends_tasks(text: &str) -> bool {
    let below = format!("- [ID: 1] T\n\n{text}\n");
    let (plan, _) = parse(&below);
    matches!(&plan.prose[..], [(1, item)] if item.text == text)
}

/// Indents every line of `text` but the first.
fn indented(text: &str, columns: usize) -> Cow<'_, str> {
    if !text.contains('\n') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
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
    out.into()
}

/// True for lists that go on one line if possible.
fn prefers_one_line(form: FieldForm) -> bool {
    form.is_list_of_words() || form == FieldForm::Commands
}

/// True if a text begins a list, a quote, a heading, code or HTML.
fn begins_block(text: &str) -> bool {
    let word = text.split([' ', '\n']).next().unwrap_or_default();
    marker(text) > 0
        || text.starts_with("    ")
        || text.starts_with(['>', '<'])
        || text.starts_with("```")
        || text.starts_with("~~~")
        || (word.starts_with('#') && word.bytes().all(|b| b == b'#'))
}
