//! `missing-acceptance`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-acceptance",
    severity: Severity::Error,
    finds: "A leaf without acceptance criteria",
    why: "Criteria are what the verifier checks, one by one. Without them nobody can say whether the task is \
          done.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance: none",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance:\n    - `parse(\"12\")` returns 12",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(_: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    if task.fields.items(FieldKind::Acceptance).is_empty() {
        let span = task.fields.span(FieldKind::Acceptance).unwrap_or(task.span);
        sink.report(task, span, "the task has no acceptance criteria")
            .set_hint("list under `Acceptance:` what can be observed when it is done");
    }
}
