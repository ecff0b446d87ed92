//! `hint-count`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "hint-count",
    severity: Severity::Warning,
    finds: "A leaf with fewer than 2 or more than 4 hints",
    why: "One hint is rarely all the planner knew. With more than four the ones that matter are lost.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Hints: Reuse `Cursor::take_while`",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Hints: Reuse `Cursor::take_while`; return the crate's Error",
    check: Check::Leaf(check),
};

fn check(_context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let Some(hints) = task.fields.get(FieldKind::Hints) else { return };
    let count = match hints.items.len() {
        0 | 2..=4 => return,
        1 => "1 hint".to_owned(),
        many => format!("{many} hints"),
    };
    sink.report(task, hints.span, format!("the task has {count}, it should have 2 to 4"))
        .hint("say what to reuse, what to follow and what to look out for");
}
