//! `missing-complexity`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-complexity",
    severity: Severity::Error,
    finds: "A leaf without a complexity, or with one that isn't a whole number from 1 to 10",
    why: "The limit that keeps tasks small, the critical path and the number of attempts all rest on it.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: small)",
    good: "- [ID: 1] Parse numbers (Complexity: 2)",
    check: Check::Leaf(check),
};

fn check(_context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let (span, detail) = match (task.complexity, task.fields.value(FieldKind::Complexity)) {
        (Some(1..=10), _) => return,
        (Some(number), Some(source)) => (
            source.span,
            format!("complexity {number} is outside 1 to 10"),
        ),
        (None, Some(source)) if !source.text.is_empty() => (
            source.span,
            format!("complexity `{}` is not a whole number", source.text),
        ),
        _ => (task.span, "the task has no complexity".to_owned()),
    };
    sink.report(task, span, detail)
        .hint("end the line with `(Complexity: N)`, N from 1 to 10");
}
