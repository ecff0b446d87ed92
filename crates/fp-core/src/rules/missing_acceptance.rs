//! `missing-acceptance`.

use super::scope::{Scope, Sink, entries};
use super::{Check, Rule};
use crate::diagnostic::Severity;
use crate::plan::task::Task;

pub(super) static RULE: Rule = Rule {
    id: "missing-acceptance",
    severity: Severity::Error,
    finds: "A leaf without acceptance criteria",
    why: "Criteria are what the verifier checks, one by one. Without them nobody can say whether the task is \
          done.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance: none",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Acceptance:\n    - `parse(\"12\")` returns 12",
    check: Check::Leaf(check),
};

fn check(_scope: &Scope<'_>, task: &Task, sink: &mut Sink<'_>) {
    if entries(&task.fields.acceptance).is_empty() {
        let span = task.fields.acceptance.as_ref().map_or(task.span, |field| field.span);
        sink.report(task, span, "the task has no acceptance criteria")
            .hint("list under `Acceptance:` what can be observed when it is done");
    }
}
