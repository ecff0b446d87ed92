//! `missing-setup`.

use super::prelude::*;
use crate::setup::{SetupProposal, propose_setup};

pub(super) static RULE: Rule = Rule {
    id: "missing-setup",
    severity: Severity::Warning,
    finds: "A lock file whose packages have to be installed, and a root without `Setup`",
    why: "Commands run in a fresh checkout, which has only what git tracks. Without the packages they fail however good \
          the work is. `Setup: none` says that nothing is needed.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Test Commands: npm test",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Setup: npm ci\n  - Test Commands: npm test",
    check: Check::Tree(check_tree),
};

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    let root = context.plan.root.map(|root| context.task(root));
    let is_said = root.is_none_or(|root| root.fields.get(FieldKind::Setup).is_some());
    let runs_nothing = || {
        context
            .plan
            .leaves()
            .all(|leaf| leaf.commands().next().is_none())
    };
    if is_said || runs_nothing() {
        return;
    }
    let is_file = |file: &str| matches!(context.facts.path(file), Some(PathFact::File { .. }));
    let proposed: Vec<SetupProposal> = propose_setup(is_file)
        .into_iter()
        .filter(|proposal| proposal.is_certain())
        .collect();
    if !proposed.is_empty() {
        let files: Vec<&str> = proposed.iter().map(|proposal| proposal.file).collect();
        let commands: Vec<&str> = proposed
            .iter()
            .flat_map(|proposal| proposal.commands)
            .copied()
            .collect();
        let detail = format!(
            "nothing installs what {} names in a fresh checkout",
            files.join(", ")
        );
        sink.report_plan(detail).set_hint(format!(
            "add `Setup: {}` to the root task, or `Setup: none`",
            commands.join("; ")
        ));
    }
}
