//! `missing-hints`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-hints",
    severity: Severity::Error,
    finds: "A leaf without hints",
    why: "A builder starts with nothing but its task. What the planner learnt about the code and doesn't write \
          down is looked up again, or guessed.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Hints: none",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Hints: Reuse `Cursor::take_while`",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(_: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    if task.fields.items(FieldKind::Hints).is_empty() {
        let span = task.fields.span(FieldKind::Hints).unwrap_or(task.span);
        sink.report(task, span, "the task has no hints")
            .set_hint("add one to four under `Hints:`: where to start, what to reuse");
    }
}
