//! Mutations of the wording of criteria, and of requirements.

use fp_plan::plan::FieldKind;

use super::of_leaves;
use crate::mutation::base::{At, Base, Mutant, field};

pub(super) fn vague_criteria(base: &Base) -> Vec<Mutant> {
    let wordings = [
        "The feature works correctly",
        "Everything works",
        "Works as expected.",
        "Errors are handled properly",
        "Errors are handled gracefully",
        "The code follows best practices",
        "The solution is robust and user-friendly",
        "Has comprehensive tests",
        "Performance is acceptable",
        "The page is easy to use",
        "The code is clean and well documented",
        "All edge cases are covered",
        "Funktioniert wie erwartet",
        "Fehler werden korrekt behandelt",
        "기능이 정상적으로 동작한다",
        "오류를 적절히 처리한다",
        "正しく動作する",
        "Fonctionne correctement",
        "Funciona correctamente",
    ];
    of_leaves(base, |leaf| {
        leaf.fields
            .items(FieldKind::Acceptance)
            .iter()
            .flat_map(|item| wordings.iter().map(move |wording| (item, *wording)))
            .map(|(item, wording)| {
                base.mutant(
                    "vague-acceptance",
                    leaf,
                    wording,
                    base.replaced(item.span, wording),
                )
            })
            .collect()
    })
}

pub(super) fn uncovered_requirements(base: &Base) -> Vec<Mutant> {
    let root = base.plan.root.map(|root| &base.plan.tasks[root]);
    of_leaves(base, |leaf| {
        let (Some(root), Some(span)) = (root, field(leaf, FieldKind::Covers)) else {
            return Vec::new();
        };
        [
            ("covers nothing", base.without(span)),
            ("covers none", base.replaced(span, "Covers: none")),
            ("covers R9", base.replaced(span, "Covers: R9")),
        ]
        .map(|(what, text)| {
            let mutant = base.mutant("uncovered-requirement", leaf, what, text);
            Mutant {
                at: At::Task(root.id.to_string()),
                ..mutant
            }
        })
        .into()
    })
}

/// Criteria with a file that another leaf makes and that their own leaf doesn't wait for.
pub(super) fn foreign_names(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let is_new = |note: &str| note.contains("new");
        let others = base
            .leaves()
            .filter(|other| other.id != leaf.id && !base.waits(leaf, other));
        let files = others.flat_map(|other| other.fields.items(FieldKind::Files));
        let made = files.filter(|item| item.note.as_deref().is_some_and(is_new));
        let made = made.filter(|item| item.text.len() > 2);
        made.map(|item| {
            let criterion = format!("`cat {}` prints 3 lines", item.text);
            let text = base.with_value(leaf, FieldKind::Acceptance, &criterion);
            base.mutant("foreign-name", leaf, criterion, text)
        })
        .collect()
    })
}
