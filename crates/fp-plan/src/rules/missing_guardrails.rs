//! `missing-guardrails`.

use super::fix::{add_field, file_boundary};
use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-guardrails",
    severity: Severity::Error,
    finds: "A leaf without guardrails",
    why: "A builder that is told only what to do also does what seems useful beside it. Guardrails say where the \
          task ends.",
    fix: Some(
        "Inserts the baseline two: the boundary of the task's files, and no new dependencies.",
    ),
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs\n  - Guardrails:\n    - Do NOT modify files outside: src/number.rs\n    - Do NOT add new dependencies",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    if !task.fields.items(FieldKind::Guardrails).is_empty() {
        return;
    }
    let given = task.fields.span(FieldKind::Guardrails);
    let boundary = file_boundary(task);
    let baseline = [boundary, "Do NOT add new dependencies".to_owned()];
    let fix = match given {
        None => add_field(context.plan, task, FieldKind::Guardrails, &baseline),
        Some(span) => TextFix {
            title: "add `Guardrails`".to_owned(),
            span,
            replacement: format!("Guardrails: {}", baseline.join("; ")),
        },
    };
    sink.report(
        task,
        given.unwrap_or(task.span),
        "the task has no guardrails",
    )
    .set_hint("say under `Guardrails:` what the builder must not do, its file boundary first")
    .fixes(vec![fix]);
}
