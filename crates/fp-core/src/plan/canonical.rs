//! The text that a leaf's approval is a hash of: everything that means something about the leaf, and
//! nothing about how it is written down.

use std::fmt::Write;

use super::field::FieldKind;
use super::task::{Fields, Task};

/// The canonical text of a leaf: id, title, complexity and every field, each on a line of its own as
/// `name value`, values escaped so that no two different leaves have the same text. Stable between
/// versions: a change here voids every approval. A dependency is written as it is in the plan.
#[must_use]
pub fn leaf_text(task: &Task) -> String {
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
    if let Some(list) = fields.list(kind) {
        line(out, kind.label(), "");
        list.value.iter().for_each(|item| line(out, "-", &item.text));
    } else if let Some(value) = fields.scalar(kind) {
        line(out, kind.label(), value);
    }
}

fn line(out: &mut String, name: &str, value: &str) {
    let value = value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    writeln!(out, "{name} {value}").expect("writing to a string can't fail");
}
