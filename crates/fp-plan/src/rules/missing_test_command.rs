//! `missing-test-command`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-test-command",
    severity: Severity::Warning,
    finds: "A leaf that requires tests and has no command to run them",
    why: "Without a command the tests are only read, not run, and a red one passes.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Tests Required: yes",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Tests Required: yes\n  - Test Commands: cargo test number",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(_: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    if task.tests_required()
        && let Some(span) = task.fields.span(FieldKind::TestsRequired)
        && task.commands().next().is_none()
    {
        let detail = "tests are required and there is no command that runs them";
        sink.report(task, span, detail)
            .set_hint("add `Test Commands:` with the narrowest command that runs them");
    }
}
