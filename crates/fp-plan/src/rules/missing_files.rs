//! `missing-files`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-files",
    severity: Severity::Error,
    finds: "A leaf without a `Files` field",
    why: "The files are the task's boundary: they decide which tasks may run at once, what a builder may \
          change and what is committed. A task that changes none says `Files: none`.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Tests Required: no",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs\n  - Tests Required: no",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(_: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    if task.fields.get(FieldKind::Files).is_none() {
        let detail = "the task doesn't say which files it changes";
        sink.report(task, task.span, detail)
            .set_hint("add `Files:` with the files, or `Files: none`");
    }
}
