//! `boilerplate`.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "boilerplate",
    severity: Severity::Warning,
    finds: "Several leaves with guardrails that every builder is given anyway",
    why: "The boundary of a task's files, and that it adds no dependency, are in every payload. Repeated in the tree, \
          they hide the guardrails that are written for one task.",
    fix: Some("Drops them."),
    bad: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n  - Guardrails: Do NOT add new dependencies\n- [ID: 2] Printer (Complexity: 2)\n  - Guardrails: Do NOT add new dependencies\n- [ID: 3] Help (Complexity: 2)\n  - Guardrails: Do NOT add new dependencies",
    good: "- [ID: root] Calculator\n- [ID: 1] Parser (Complexity: 2)\n  - Guardrails: Do NOT recurse\n- [ID: 2] Printer (Complexity: 2)\n- [ID: 3] Help (Complexity: 2)",
    check: Check::Tree(check_tree),
};

/// Number of leaves in which they do no harm.
const FEW: usize = 2;

/// The guardrails of every builder. Those of a task that begin like one of them, and only name its files, repeat it.
pub const BASELINE: [&str; 2] = [
    "Do NOT add new dependencies",
    "Do NOT refactor existing code beyond the task scope",
];
/// The beginning of the guardrail that names a task's files.
const BOUNDARY: &str = "do not modify files outside";

/// True if every builder is given `guardrail` anyway.
pub fn repeats_baseline(guardrail: &str) -> bool {
    let guardrail = guardrail.trim().trim_end_matches('.').to_lowercase();
    let is_baseline = |known: &&str| guardrail == known.to_lowercase();
    guardrail.starts_with(BOUNDARY) || BASELINE.iter().any(is_baseline)
}

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    let repeats = |leaf: &&Task<'_>| leaf.guardrails().any(repeats_baseline);
    let leaves: Vec<&Task<'_>> = context.plan.leaves().filter(repeats).collect();
    let Some(first) = leaves.first().filter(|_| leaves.len() > FEW) else {
        return;
    };
    let fixes = leaves.iter().filter_map(|leaf| {
        let own: Vec<&str> = leaf
            .guardrails()
            .filter(|guardrail| !repeats_baseline(guardrail))
            .collect();
        let is_line = |guardrail: &&str| !guardrail.contains([';', '\n']);
        let kept = match own.is_empty() {
            true => "none".to_owned(),
            false => own.join("; "),
        };
        // A guardrail of several lines can't be moved into a list on one.
        own.iter().all(is_line).then_some(TextFix {
            title: "drop the guardrails that every builder is given".to_owned(),
            span: leaf.fields.span(FieldKind::Guardrails)?,
            replacement: format!("{}: {kept}", FieldKind::Guardrails.label()),
        })
    });
    let span = first
        .fields
        .span(FieldKind::Guardrails)
        .unwrap_or(first.span);
    let detail = format!(
        "{} tasks have guardrails that every builder is given anyway",
        leaves.len()
    );
    sink.report(first, span, detail)
        .set_hint("drop the boundary of the files, and what is said of dependencies")
        .fixes(fixes.collect());
}
