//! Prepares the findings of validation, and the gate's verdict on them, for `fp validate --format json`.

use std::collections::BTreeMap;

use serde::Serialize;

use fp_plan::diagnostic::Diagnostic;
use fp_plan::plan::{Lines, Plan, parse};
use fp_plan::rules::fix::fix_all;
use fp_plan::rules::{RuleFacts, check_plan};

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationReport<'p> {
    /// True if no finding fails validation.
    pub valid: bool,
    /// The highest complexity allowed for a leaf.
    pub max_complexity: u32,
    /// Number of leaves.
    pub total_leaf_tasks: usize,
    /// In source order.
    pub violations: Vec<Violation<'p>>,
    pub stats: Stats,
}

/// Figures about a tree.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Depth of the deepest task; the root has 0.
    pub max_depth: usize,
    /// Number of leaves of each complexity.
    pub leaf_complexity_distribution: BTreeMap<u32, usize>,
}

/// A finding with its location.
#[derive(Debug, Clone, Serialize)]
pub struct Violation<'d> {
    #[serde(flatten)]
    pub found: &'d Diagnostic,
    span: FindingSpan,
}

/// Lines and columns from 1, columns in characters; the end is after the last character.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct FindingSpan {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

impl<'d> Violation<'d> {
    fn new(found: &'d Diagnostic, lines: &Lines<'_>) -> Self {
        let (start, end) = lines.range(found.span);
        let span = FindingSpan {
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        };
        Self { found, span }
    }
}

impl<'p> ValidationReport<'p> {
    /// Reports on `plan`, whose source has these `lines`. Under `strict`, warnings fail like errors.
    pub fn new(
        plan: &Plan,
        lines: &Lines<'_>,
        found: &'p [Diagnostic],
        max_complexity: u32,
        strict: bool,
    ) -> Self {
        let mut distribution = BTreeMap::new();
        for complexity in plan.leaves().filter_map(|leaf| leaf.complexity) {
            *distribution.entry(complexity).or_default() += 1;
        }
        Self {
            valid: !found.iter().any(|d| d.fails(strict)),
            max_complexity,
            total_leaf_tasks: plan.leaves().count(),
            violations: found
                .iter()
                .map(|found| Violation::new(found, lines))
                .collect(),
            stats: Stats {
                max_depth: plan.tasks.iter().map(|t| t.depth).max().unwrap_or(0),
                leaf_complexity_distribution: distribution,
            },
        }
    }
}

/// The verdict of validation on a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", const_into_str)]
pub enum GateVerdict {
    /// Errors that need judgement: the plan is sent back.
    Block,
    /// Errors, all of them fixed automatically.
    Fix,
    /// Warnings only: the plan may continue.
    Caution,
    Pass,
}

/// The verdict on a tree, with the counts behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    pub verdict: GateVerdict,
    /// Number of findings that fail validation.
    pub errors: usize,
    /// Number of findings that don't fail validation.
    pub warnings: usize,
    /// Number of findings that would still fail validation after all mechanical fixes.
    pub errors_after_fix: usize,
}

impl Gate {
    /// Judges `source` by its findings `found`, which were made with `facts`. Under `strict`, warnings count as errors.
    ///
    /// If there are errors, the fixer runs on a copy: a fix can resolve more than its own finding, and can reveal
    /// others that were hidden behind it.
    pub fn new(source: &str, found: &[Diagnostic], facts: &RuleFacts, strict: bool) -> Self {
        let failing = |found: &[Diagnostic]| found.iter().filter(|d| d.fails(strict)).count();
        let errors = failing(found);
        let errors_after_fix = match errors {
            0 => 0,
            _ if found.iter().all(|d| d.fixes.is_empty()) => errors,
            _ => {
                let fixed = fix_all(source, facts).text;
                let (plan, parsed) = parse(&fixed);
                failing(&check_plan(&plan, &parsed, facts))
            }
        };
        let warnings = found.len() - errors;
        let verdict = match (errors, errors_after_fix) {
            (0, _) if warnings == 0 => GateVerdict::Pass,
            (0, _) => GateVerdict::Caution,
            (_, 0) => GateVerdict::Fix,
            _ => GateVerdict::Block,
        };
        Self {
            verdict,
            errors,
            warnings,
            errors_after_fix,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAF: &str =
        "  - Acceptance: Prints 1\n  - Files: a.rs\n  - Tests Required: no\n  - Hints: One; two\n";
    const GUARDRAILS: &str = "  - Guardrails: Do NOT modify files outside: a.rs\n";

    fn gate(text: &str, strict: bool) -> (GateVerdict, usize, usize, usize) {
        let facts = RuleFacts::default();
        let (plan, parsed) = parse(text);
        let gate = Gate::new(text, &check_plan(&plan, &parsed, &facts), &facts, strict);
        (
            gate.verdict,
            gate.errors,
            gate.warnings,
            gate.errors_after_fix,
        )
    }

    #[test]
    fn verdicts() {
        let check = |text: &str,
                     lax: (GateVerdict, usize, usize, usize),
                     strict: (GateVerdict, usize, usize, usize)| {
            assert_eq!(
                (gate(text, false), gate(text, true)),
                (lax, strict),
                "{text}"
            );
        };
        let tree = |extra: &str| format!("- [ID: 1] Print (Complexity: 2)\n{LEAF}{extra}");
        let pass = (GateVerdict::Pass, 0, 0, 0);
        check(&tree(GUARDRAILS), pass, pass);
        check(
            &tree(""),
            (GateVerdict::Fix, 1, 0, 0),
            (GateVerdict::Fix, 1, 0, 0),
        );
        let unbounded = tree("  - Guardrails: Do NOT add new dependencies\n");
        check(
            &unbounded,
            (GateVerdict::Caution, 0, 1, 0),
            (GateVerdict::Fix, 1, 0, 0),
        );
        let owned = tree(&format!("{GUARDRAILS}  - Owner: me\n"));
        check(
            &owned,
            (GateVerdict::Caution, 0, 1, 0),
            (GateVerdict::Block, 1, 0, 1),
        );
        let large = tree("").replace("Complexity: 2", "Complexity: 9");
        check(
            &large,
            (GateVerdict::Block, 2, 0, 1),
            (GateVerdict::Block, 2, 0, 1),
        );
        check(
            "",
            (GateVerdict::Block, 1, 0, 1),
            (GateVerdict::Block, 1, 0, 1),
        );
    }
}
