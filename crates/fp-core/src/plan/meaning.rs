//! Whether two plans mean the same, however they are written: what `fp fmt` must not change.

use super::field::FieldKind;
use super::task::{Field, Fields, Item, Plan, Task, TaskIndex};

/// The first thing that two plans don't agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// A task: its own line, its place in the tree, its fields or its notes.
    Task(TaskIndex),
    /// The prose outside all tasks, or the line ends.
    Prose,
}

/// The first difference in meaning between `a` and `b`; `None` where they mean the same. Places in the source
/// and the layout mean nothing; all else does: ids, titles, structure, order, every field that is present,
/// whatever was kept that is no field, and prose with its place among the tasks.
#[must_use]
pub fn difference(a: &Plan, b: &Plan) -> Option<Difference> {
    let shared = a.tasks.iter().zip(&b.tasks).position(|(a, b)| !same_task(a, b));
    if let Some(index) = shared {
        return Some(Difference::Task(index));
    }
    if a.tasks.len() != b.tasks.len() {
        return Some(Difference::Task(a.tasks.len().min(b.tasks.len())));
    }
    let prose =
        |plan: &Plan| plan.prose.iter().map(|(at, item)| (*at, item.text.to_string())).collect::<Vec<_>>();
    let same = a.root == b.root && a.newline == b.newline && prose(a) == prose(b);
    (!same).then_some(Difference::Prose)
}

fn same_task(a: &Task, b: &Task) -> bool {
    let own = |task: &Task| (task.complexity, task.parent, task.depth, task.synthetic, task.broken);
    let source = |task: &Task| task.complexity_source.as_ref().map(|item| item.text.to_string());
    a.id == b.id
        && a.description == b.description
        && own(a) == own(b)
        && source(a) == source(b)
        && same_fields(&a.fields, &b.fields)
        && same_items(&a.notes, &b.notes)
}

fn same_fields(a: &Fields, b: &Fields) -> bool {
    let labelled = |a: &[(&str, Item<'_>)], b: &[(&str, Item<'_>)]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same_item(&a.1, &b.1))
    };
    FieldKind::ALL.into_iter().all(|kind| same_field(kind, a, b))
        && labelled(&a.unknown, &b.unknown)
        && labelled(&a.duplicates, &b.duplicates)
}

fn same_field(kind: FieldKind, a: &Fields, b: &Fields) -> bool {
    let list = match (a.list(kind), b.list(kind)) {
        (Some(a), Some(b)) => same_items(&a.value, &b.value),
        (a, b) => a.is_none() && b.is_none(),
    };
    let unreadable = |fields: &Fields| -> Vec<String> {
        let of_kind = fields.unreadable.iter().filter(|(of, _)| *of == kind);
        of_kind.map(|(_, item)| item.text.to_string()).collect()
    };
    list && unreadable(a) == unreadable(b)
        && a.scalar(kind) == b.scalar(kind)
        && written(a, kind) == written(b, kind)
}

/// The value of a field as written, where that says more than the value.
pub(super) fn written<'f>(fields: &'f Fields<'_>, kind: FieldKind) -> Option<&'f str> {
    fn of<T>(field: &Option<Field<T>>) -> Option<&str> {
        field.as_ref().and_then(|field| field.written.as_deref())
    }
    match kind {
        FieldKind::TestsRequired => of(&fields.tests_required),
        FieldKind::Risk => of(&fields.risk),
        _ => None,
    }
}

/// Whether two lists say the same.
pub(super) fn same_items(a: &[Item], b: &[Item]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_item(a, b))
}

fn same_item(a: &Item, b: &Item) -> bool {
    a.text == b.text && a.note == b.note
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
        check(one, "* **[ID: 1]** A\n\n  * Complexity: 3\n  * Files:\n    - a\n", None);
        check(one, "- [ID: 1] A (Complexity: 4)\n  - Files: a\n", Some(Difference::Task(0)));
        check(one, "- [ID: 1] A (Complexity: 3)\n  - Files: a (new)\n", Some(Difference::Task(0)));
        check(one, "- [ID: 1] A (Complexity: 3)\n", Some(Difference::Task(0)));
        check(one, "- [ID: 1] A (Complexity: 3)\n  - Files: a\n  - Owner: b\n", Some(Difference::Task(0)));
        check(one, &format!("{one}  - [ID: 1.1] B\n"), Some(Difference::Task(1)));
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
