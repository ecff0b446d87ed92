//! `hint-count`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "hint-count",
    severity: Severity::Warning,
    finds: "A leaf with more than 4 hints",
    why: "With more than four hints the ones that matter are lost.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Hints: Reuse `Cursor`; no regex; no panic; no copy; be quick",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Hints: Reuse `Cursor::take_while`",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(_: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let hints = task.fields.get(FieldKind::Hints);
    if let Some(hints) = hints.filter(|hints| hints.items.len() > 4) {
        let count = hints.items.len();
        let detail = format!("the task has {count} hints, it should have at most 4");
        sink.report(task, hints.span, detail).set_hint(
            "keep the hints that decide how it is built; places to read belong under `References:`",
        );
    }
}
