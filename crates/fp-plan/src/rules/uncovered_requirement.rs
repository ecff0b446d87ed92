//! `uncovered-requirement`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "uncovered-requirement",
    severity: Severity::Warning,
    finds: "A confirmed requirement of `interview.json` that no leaf covers",
    why: "The user said it and the plan doesn't do it. A leaf that does says `Covers:` with the requirement's id.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Covers: R2",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Covers: R1, R2",
    check: Check::Tree(check),
};

fn check(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    if context.plan.root.is_none() {
        return;
    }
    for requirement in &context.facts.requirements {
        let covered = [&requirement.id, &requirement.text]
            .iter()
            .any(|name| context.covered.contains(&name.to_lowercase()));
        if !covered {
            sink.report_plan(format!(
                "no leaf covers {}: {}",
                requirement.id, requirement.text
            ))
            .hint(format!(
                "add `Covers: {}` to the leaf that does, or a leaf",
                requirement.id
            ));
        }
    }
}
