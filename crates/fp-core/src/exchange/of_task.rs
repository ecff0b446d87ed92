//! A task of a tree as a portable one, for a tree that is imported and for one that is exported.

use serde_json::{Map, Value};

use super::portable::{PortableFile, PortableTask};
use crate::plan::field::FieldKind;
use crate::plan::task::{Item, Task};

/// What `task` says, under the ids of its tree. Its place among the others and how far it is are the caller's to know.
pub(super) fn portable_task(task: &Task<'_>) -> PortableTask {
    let fields = &task.fields;
    let list = |kind: FieldKind| {
        let list = fields.get(kind)?;
        Some(list.items.iter().map(|item| item.text.to_string()).collect::<Vec<_>>())
    };
    let scalar = |kind: FieldKind| fields.text(kind).map(str::to_owned);
    let notes = task.notes.iter().map(|note| note.text.to_string());
    let prose: Vec<String> = scalar(FieldKind::Description)
        .into_iter()
        .chain(notes)
        .filter(|paragraph| !paragraph.trim().is_empty())
        .collect();
    PortableTask {
        id: task.id.to_string(),
        title: task.description.to_string(),
        description: (!prose.is_empty()).then(|| prose.join("\n\n")),
        complexity: task.complexity,
        acceptance: list(FieldKind::Acceptance),
        dependencies: list(FieldKind::Dependencies),
        files: fields.get(FieldKind::Files).map(|files| files.items.iter().map(file).collect()),
        tests_required: fields.get(FieldKind::TestsRequired).map(|_| task.tests_required()),
        hints: list(FieldKind::Hints),
        references: list(FieldKind::References),
        guardrails: list(FieldKind::Guardrails),
        test_commands: list(FieldKind::TestCommands),
        verify: scalar(FieldKind::Verify),
        covers: list(FieldKind::Covers),
        group: scalar(FieldKind::Group),
        risk: scalar(FieldKind::Risk),
        priority: scalar(FieldKind::Priority),
        ext: remarks(task),
        ..PortableTask::default()
    }
}

fn file(item: &Item<'_>) -> PortableFile {
    PortableFile { path: item.text.to_string(), note: item.note.as_deref().map(str::to_owned) }
}

/// What a task says and a portable one has no field for, by its label; several of one label are a list.
fn remarks(task: &Task<'_>) -> Map<String, Value> {
    let mut remarks = Map::new();
    let mut add = |label: &str, text: &str| match remarks.get_mut(label) {
        Some(Value::Array(texts)) => texts.push(text.into()),
        Some(before) => *before = Value::Array(vec![before.take(), text.into()]),
        None => drop(remarks.insert(label.to_owned(), text.into())),
    };
    let fields = &task.fields;
    for (label, item) in fields.unknown.iter().chain(&fields.duplicates) {
        add(label, &item.text);
    }
    for (kind, item) in &fields.unreadable {
        add(kind.label(), &item.text);
    }
    if let Some(written) = fields.get(FieldKind::TestsRequired).and_then(|field| field.written.as_deref()) {
        add(FieldKind::TestsRequired.label(), written);
    }
    if let Some(source) = task.complexity_source.as_ref().filter(|_| task.complexity.is_none()) {
        add(FieldKind::Complexity.label(), &source.text);
    }
    for item in fields.items(FieldKind::Dependencies) {
        if let Some(note) = &item.note {
            add(FieldKind::Dependencies.label(), &format!("{} {note}", item.text));
        }
    }
    remarks
}
