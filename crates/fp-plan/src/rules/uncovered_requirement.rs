//! `uncovered-requirement`.

use std::collections::HashSet;

use super::context::ConfirmedRequirement;
use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "uncovered-requirement",
    severity: Severity::Warning,
    finds: "A confirmed requirement of `interview.json` that no leaf covers",
    why: "The user said it and the plan doesn't do it. A leaf that does says `Covers:` with the requirement's id.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Covers: R2",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Covers: R1, R2",
    check: Check::Tree(check_tree),
};

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    if context.plan.root.is_none() {
        return;
    }
    let tasks = context.plan.tasks.iter();
    let covered = tasks.flat_map(|task| task.fields.items(FieldKind::Covers));
    let covered: HashSet<String> = covered.map(|item| item.text.to_lowercase()).collect();
    for ConfirmedRequirement { id, text } in &context.facts.requirements {
        if ![id, text]
            .iter()
            .any(|name| covered.contains(&name.to_lowercase()))
        {
            sink.report_plan(format!("no leaf covers {id}: {text}"))
                .set_hint(format!(
                    "add `Covers: {id}` to the leaf that does, or a leaf"
                ));
        }
    }
}
