//! `duplicate-field`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "duplicate-field",
    severity: Severity::Warning,
    finds: "A field that a task has twice",
    why: "The first one counts, and the second says something that nobody will do.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs\n  - Files: src/lib.rs",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs, src/lib.rs",
    check: Check::Task(check),
};

fn check(context: &RuleContext<'_>, index: TaskIndex, sink: &mut FindingSink<'_>) {
    let task = context.task(index);
    for (label, item) in &task.fields.duplicates {
        sink.report(
            task,
            item.span,
            format!("`{label}` is given twice, the first one counts"),
        )
        .hint("merge the two");
    }
}
