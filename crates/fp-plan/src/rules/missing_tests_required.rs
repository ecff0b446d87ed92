//! `missing-tests-required`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-tests-required",
    severity: Severity::Error,
    finds: "A leaf that doesn't say whether tests are required",
    why: "Whether a change without tests passes is decided when the plan is made, not by the builder that would \
          have to write them.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs\n  - Tests Required: no",
    check: Check::Leaf(check),
};

fn check(_context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let fields = &task.fields;
    if fields.text(FieldKind::TestsRequired).is_some() {
        return;
    }
    let (span, detail) = match (
        fields.get(FieldKind::TestsRequired),
        fields.value(FieldKind::TestsRequired),
    ) {
        (_, Some(item)) => (item.span, format!("`{}` is neither yes nor no", item.text)),
        (Some(field), None) => (field.span, "`Tests Required` has no value".to_owned()),
        (None, None) => (
            task.span,
            "the task doesn't say whether tests are required".to_owned(),
        ),
    };
    sink.report(task, span, detail)
        .hint("write `Tests Required: yes` or `Tests Required: no`");
}
