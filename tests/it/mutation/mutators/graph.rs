//! Mutations of ids, dependencies and the shape of the tree.

use std::collections::BTreeSet;

use fp_plan::diagnostic::Span;
use fp_plan::plan::id::compare_ids;
use fp_plan::plan::{FieldKind, Task};

use super::of_leaves;
use crate::mutation::base::{At, Base, Mutant};

pub(super) fn ids_of_others(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let siblings = leaf
            .parent
            .map(|parent| base.plan.tasks[parent].children.as_slice())
            .unwrap_or_default();
        let others = siblings
            .iter()
            .map(|&task| &base.plan.tasks[task])
            .filter(|other| other.id != leaf.id);
        others
            .map(|other| {
                let mutant = base.mutant(
                    "duplicate-id",
                    leaf,
                    format!("called {}", other.id),
                    base.replaced(leaf.id_span, &other.id),
                );
                let touched = BTreeSet::from([leaf.id.to_string(), other.id.to_string()]);
                Mutant {
                    at: At::Task(other.id.to_string()),
                    touched,
                    ..mutant
                }
            })
            .collect()
    })
}

/// The text with a task renamed, also where other tasks depend on it.
fn renamed(base: &Base, leaf: &Task, new: &str) -> String {
    let named = base
        .plan
        .tasks
        .iter()
        .flat_map(|task| task.fields.items(FieldKind::Dependencies));
    let named = named
        .filter(|item| item.text == leaf.id)
        .map(|item| item.span);
    let mut changes: Vec<(Span, String)> = named
        .chain([leaf.id_span])
        .map(|span| (span, new.to_owned()))
        .collect();
    base.changed(&mut changes)
}

pub(super) fn malformed_ids(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let nested = base.above(leaf).count() > 1;
        let invalid = ["1..2", "9.", "-x", "../x", "é"].into_iter();
        let elsewhere = ["77", "88.1", "root.5"].into_iter().filter(|_| nested);
        invalid
            .chain(elsewhere)
            .map(|id| {
                let mutant = base.mutant(
                    "malformed-id",
                    leaf,
                    format!("called {id}"),
                    renamed(base, leaf, id),
                );
                // Renaming a task changes the tasks that depend on it as well.
                let waiting = base
                    .leaves()
                    .filter(|other| other.dependencies().any(|named| named == leaf.id));
                let touched = waiting
                    .map(|other| other.id.to_string())
                    .chain([id.to_owned()])
                    .collect();
                Mutant {
                    at: At::Task(id.to_owned()),
                    touched,
                    ..mutant
                }
            })
            .collect()
    })
}

/// Mutants in which a leaf swaps ids with a leaf of another parent.
pub(super) fn swapped_ids(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let nested = base.above(leaf).count() > 1;
        let others = base
            .leaves()
            .filter(|other| nested && other.parent != leaf.parent);
        others
            .map(|other| {
                let mut changes = [
                    (leaf.id_span, other.id.to_string()),
                    (other.id_span, leaf.id.to_string()),
                ];
                let what = format!("swapped with {}", other.id);
                let mutant = base.mutant("malformed-id", leaf, what, base.changed(&mut changes));
                let touched = BTreeSet::from([leaf.id.to_string(), other.id.to_string()]);
                Mutant {
                    at: At::Task(other.id.to_string()),
                    touched,
                    ..mutant
                }
            })
            .collect()
    })
}

pub(super) fn unknown_dependencies(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        ["77", "Task 77", "root2", "the parser", "1.1.1.1.1"]
            .map(|id| {
                base.mutant(
                    "unknown-dependency",
                    leaf,
                    format!("waits for {id}"),
                    base.with_dependency(leaf, id),
                )
            })
            .into()
    })
}

/// For each leaf that others depend on, mutants with a cycle: the leaf also depends on one of them.
pub(super) fn cycles(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let waiting = base
            .leaves()
            .filter(|other| other.dependencies().any(|named| named == leaf.id));
        waiting
            .map(|other| {
                let text = base.with_dependency(leaf, &other.id);
                let mutant = base.mutant(
                    "dependency-cycle",
                    leaf,
                    format!("waits for {}, which waits for it", other.id),
                    text,
                );
                let smallest = std::cmp::min_by(&leaf.id, &other.id, |a, b| compare_ids(a, b));
                let touched = BTreeSet::from([leaf.id.to_string(), other.id.to_string()]);
                Mutant {
                    at: At::Task(smallest.to_string()),
                    touched,
                    ..mutant
                }
            })
            .collect()
    })
}

pub(super) fn dependencies_on_itself(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let alone = base.with_value(leaf, FieldKind::Dependencies, &leaf.id);
        [
            ("too", base.with_dependency(leaf, &leaf.id)),
            ("alone", alone),
        ]
        .map(|(what, text)| {
            base.mutant(
                "ancestor-dependency",
                leaf,
                format!("waits for itself {what}"),
                text,
            )
        })
        .into()
    })
}

pub(super) fn dependencies_on_ancestors(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        base.above(leaf)
            .map(|above| {
                let text = base.with_dependency(leaf, &above.id);
                base.mutant(
                    "ancestor-dependency",
                    leaf,
                    format!("waits for {}", above.id),
                    text,
                )
            })
            .collect()
    })
}

/// Leaves that become so small that another one of the same file could hold them, unless several wait for them.
pub(super) fn mouthfuls(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let shares = |other: &Task| {
            other
                .files()
                .any(|file| leaf.files().any(|own| own == file))
        };
        let is_beside = |other: &&Task| other.id != leaf.id && other.parent == leaf.parent;
        let has_room = |other: &&Task| other.complexity.is_some_and(|it| (3..=5).contains(&it));
        let mut others = base.leaves().filter(is_beside).filter(has_room);
        let source = leaf.fields.value(FieldKind::Complexity);
        let is_of_leaf = |id: &str| id == leaf.id || base.above(leaf).any(|above| above.id == id);
        let waits = |other: &&Task| other.ordering().any(|item| is_of_leaf(&item.text));
        let is_free = base.leaves().filter(waits).count() < 2;
        match (is_free && others.any(shares), source) {
            (true, Some(source)) => ["1", "2"]
                .map(|complexity| {
                    let text = base.replaced(source.span, complexity);
                    base.mutant(
                        "fragmentation",
                        leaf,
                        format!("complexity {complexity}"),
                        text,
                    )
                })
                .into(),
            _ => Vec::new(),
        }
    })
}
