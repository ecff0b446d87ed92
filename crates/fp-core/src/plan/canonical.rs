//! The text that a leaf's approval is a hash of: everything that means something about the leaf, and
//! nothing about how it is written down.

use std::fmt::Write;

use super::field::FieldKind;
use super::task::{Fields, Item, ListField, Plan, Risk, Task};

/// The canonical text of a leaf: id, title, complexity and every field, each on a line of its own as
/// `name value`, values escaped so that no two different leaves have the same text. Stable between
/// versions: a change here voids every approval. A dependency is written as it is in the plan.
#[must_use]
pub fn leaf_text(_plan: &Plan, task: &Task) -> String {
    let mut out = String::new();
    line(&mut out, "id", &task.id);
    line(&mut out, "title", &task.description);
    if let Some(complexity) = &task.complexity_source {
        line(
            &mut out,
            "complexity",
            &task.complexity.map_or_else(|| complexity.text.to_string(), |n| n.to_string()),
        );
    }
    for kind in FieldKind::ALL {
        field(&mut out, kind, &task.fields);
    }
    for (label, item) in &task.fields.unknown {
        line(&mut out, "unknown", label);
        line(&mut out, "-", &item.text);
    }
    out
}

fn field(out: &mut String, kind: FieldKind, fields: &Fields) {
    if let Some(entries) = list(fields, kind) {
        line(out, kind.label(), "");
        entries.for_each(|item| line(out, "-", &item.text));
    } else if let Some(value) = scalar(fields, kind) {
        line(out, kind.label(), value);
    }
}

fn list<'f, 't>(fields: &'f Fields<'t>, kind: FieldKind) -> Option<impl Iterator<Item = &'f Item<'t>>> {
    let list: &ListField<'t> = match kind {
        FieldKind::Acceptance => &fields.acceptance,
        FieldKind::Dependencies => &fields.dependencies,
        FieldKind::Files => &fields.files,
        FieldKind::Hints => &fields.hints,
        FieldKind::References => &fields.references,
        FieldKind::Guardrails => &fields.guardrails,
        FieldKind::TestCommands => &fields.test_commands,
        FieldKind::Covers => &fields.covers,
        _ => return None,
    };
    list.as_ref().map(|field| field.value.iter())
}

fn scalar<'f>(fields: &'f Fields<'_>, kind: FieldKind) -> Option<&'f str> {
    match kind {
        FieldKind::TestsRequired => {
            fields.tests_required.as_ref().map(|field| if field.value { "yes" } else { "no" })
        }
        FieldKind::Risk => fields.risk.as_ref().map(|field| match field.value {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        }),
        FieldKind::Group => fields.group.as_ref().map(|field| &*field.value),
        FieldKind::Verify => fields.verify.as_ref().map(|field| &*field.value),
        FieldKind::Priority => fields.priority.as_ref().map(|field| &*field.value),
        FieldKind::Description => fields.description.as_ref().map(|field| &*field.value),
        _ => None,
    }
}

fn line(out: &mut String, name: &str, value: &str) {
    let value = value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    writeln!(out, "{name} {value}").expect("writing to a string can't fail");
}
