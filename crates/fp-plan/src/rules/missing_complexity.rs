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
    check: Check::Leaf(check_leaf),
};

fn check_leaf(_: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let source = task.fields.value(FieldKind::Complexity);
    let detail = match (task.complexity, source) {
        (Some(1..=10), _) => return,
        (Some(number), _) => format!("complexity {number} is outside 1 to 10"),
        (None, Some(source)) if !source.text.is_empty() => {
            format!("complexity `{}` is not a whole number", source.text)
        }
        (None, _) => "the task has no complexity".to_owned(),
    };
    let source = source.filter(|source| !source.text.is_empty());
    sink.report(task, source.map_or(task.span, |source| source.span), detail)
        .set_hint("end the line with `(Complexity: N)`, N from 1 to 10");
}
