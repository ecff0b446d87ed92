//! `missing-file-boundary`.

use super::fix::{BOUNDARY, add_guardrail, file_boundary};
use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-file-boundary",
    severity: Severity::Warning,
    finds: "Guardrails without `Do NOT modify files outside:`",
    why: "The boundary of the files is checked after the task. Said before it, it saves the attempt.",
    fix: Some("Inserts the guardrail with the task's files."),
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs\n  - Guardrails:\n    - Do NOT add new dependencies",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/number.rs\n  - Guardrails:\n    - Do NOT modify files outside: src/number.rs\n    - Do NOT add new dependencies",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let guardrails = task.fields.items(FieldKind::Guardrails);
    let is_bounded = guardrails.iter().any(|item| is_boundary(&item.text));
    if let Some(first) = guardrails.first().filter(|_| !is_bounded) {
        let fix = add_guardrail(context.plan, task, &file_boundary(task));
        let detail = "no guardrail bounds the files that may be modified";
        sink.report(task, first.span, detail)
            .set_hint(format!("add `{BOUNDARY} …`"))
            .fixes(fix.into_iter().collect());
    }
}

fn is_boundary(guardrail: &str) -> bool {
    let wanted = BOUNDARY.trim_end_matches(':').to_lowercase();
    guardrail.to_lowercase().contains(&wanted)
}
