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
    check: Check::Leaf(check_leaf),
};

fn check_leaf(_: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    const KIND: FieldKind = FieldKind::TestsRequired;
    if task.fields.text(KIND).is_some() {
        return;
    }
    let (span, detail) = match (task.fields.value(KIND), task.fields.span(KIND)) {
        (Some(item), _) => (item.span, format!("`{}` is neither yes nor no", item.text)),
        (None, Some(span)) => (span, "`Tests Required` has no value".to_owned()),
        (None, None) => {
            let detail = "the task doesn't say whether tests are required";
            (task.span, detail.to_owned())
        }
    };
    sink.report(task, span, detail)
        .set_hint("write `Tests Required: yes` or `Tests Required: no`");
}
