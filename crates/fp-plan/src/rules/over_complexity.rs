//! `over-complexity`.

use super::prelude::*;

/// Complexity of the longest sitting.
const LONGEST: u32 = 9;

pub(super) static RULE: Rule = Rule {
    id: "over-complexity",
    severity: Severity::Error,
    finds: "A leaf whose complexity is above `maxComplexity`, or above 9 if it is the only one",
    why: "A builder works on a leaf alone, in one context and with a few attempts. What is too large for that \
          comes back half done, or done differently than planned.",
    fix: None,
    bad: "- [ID: 1] Rewrite the whole parser (Complexity: 10)",
    good: "- [ID: 1] Rewrite the number parser (Complexity: 3)",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    let limit = match context.index.leaves() {
        // A single leaf costs no split; it is too large only if nobody can estimate it.
        [_] => context.facts.max_complexity.max(LONGEST),
        _ => context.facts.max_complexity,
    };
    if let Some(complexity @ 1..=10) = task.complexity.filter(|complexity| *complexity > limit) {
        let source = task.fields.value(FieldKind::Complexity);
        let span = source.map_or(task.span, |source| source.span);
        let detail = format!("complexity {complexity} is above the limit of {limit}");
        sink.report(task, span, detail)
            .set_hint("split the task into two to five subtasks");
    }
}
