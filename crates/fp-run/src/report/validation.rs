//! What validation found, as `fp validate --format json` prints it. A tree can have a million findings, so the
//! report borrows them and makes each one's form only when it is written.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use fp_plan::diagnostic::{Diagnostic, TextFix};
use fp_plan::plan::{Lines, Plan, parse};
use fp_plan::rules::fix::fix_all;
use fp_plan::rules::{RuleFacts, check};

/// The report on one tree.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationReport<'p> {
    /// Whether nothing in it fails validation.
    pub valid: bool,
    /// The highest complexity that a leaf may have.
    pub max_complexity: u32,
    /// How many leaves there are.
    pub total_leaf_tasks: usize,
    /// The findings in the order of the source.
    pub violations: Violations<'p>,
    /// Figures about the tree.
    pub stats: Stats,
}

/// Findings and the lines that they are in; as JSON a list in which every finding has its lines and columns.
#[derive(Debug, Clone, Copy)]
pub struct Violations<'p> {
    /// The findings.
    pub found: &'p [Diagnostic],
    /// The lines of the source.
    pub lines: &'p Lines<'p>,
}

impl Serialize for Violations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.found.iter().map(|found| {
            let (start, end) = self.lines.range(found.span);
            Violation {
                found,
                span: FindingSpan {
                    line: start.line,
                    column: start.column,
                    end_line: end.line,
                    end_column: end.column,
                },
                fix: &found.fixes,
            }
        }))
    }
}

/// Figures about a tree.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Depth of the deepest task; the root's is 0.
    pub max_depth: usize,
    /// How many leaves there are of each complexity.
    pub leaf_complexity_distribution: BTreeMap<u32, usize>,
}

/// A finding with its place.
#[derive(Serialize)]
struct Violation<'d> {
    #[serde(flatten)]
    found: &'d Diagnostic,
    span: FindingSpan,
    #[serde(skip_serializing_if = "<[TextFix]>::is_empty")]
    fix: &'d [TextFix],
}

/// Lines and columns from 1, columns in characters; the end is behind the last character.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FindingSpan {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

impl<'p> ValidationReport<'p> {
    /// The report on `plan`, whose source has these `lines`. Under `strict` a warning fails as an error does.
    pub fn new(
        plan: &Plan,
        lines: &'p Lines<'p>,
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
            violations: Violations { found, lines },
            stats: Stats {
                max_depth: plan.tasks.iter().map(|t| t.depth).max().unwrap_or(0),
                leaf_complexity_distribution: distribution,
            },
        }
    }
}

/// The word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", const_into_str)]
pub enum GateVerdict {
    /// Errors that take judgement: the plan goes back.
    Block,
    /// Errors, and the mechanical fixes resolve all of them.
    Fix,
    /// Warnings alone: the plan may go on.
    Caution,
    /// Nothing was found.
    Pass,
}

/// The verdict on a tree, with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// The verdict.
    pub verdict: GateVerdict,
    /// Findings that fail validation.
    pub errors: usize,
    /// Findings that don't.
    pub warnings: usize,
    /// Findings that fail validation once every mechanical fix is applied.
    pub errors_after_fix: usize,
}

impl Gate {
    /// The verdict on `source`, in which `found` was found by `facts`. Under `strict` warnings are errors.
    ///
    /// Where there are errors, the fixer runs on a copy: a fix can resolve more than its own finding, and can
    /// bring up what was hidden behind it.
    pub fn new(source: &str, found: &[Diagnostic], facts: &RuleFacts, strict: bool) -> Self {
        let failing = |found: &[Diagnostic]| found.iter().filter(|d| d.fails(strict)).count();
        let errors = failing(found);
        let errors_after_fix = match errors {
            0 => 0,
            _ if found.iter().all(|d| d.fixes.is_empty()) => errors,
            _ => {
                let fixed = fix_all(source, facts).text;
                let (plan, parsed) = parse(&fixed);
                failing(&check(&plan, &parsed, facts))
            }
        };
        let warnings = found.len() - errors;
        let verdict = match (errors, errors_after_fix) {
            (0, _) if warnings == 0 => GateVerdict::Pass,
            (0, _) => GateVerdict::Caution,
            (_, 0) => GateVerdict::Fix,
            _ => GateVerdict::Block,
        };
        Self { verdict, errors, warnings, errors_after_fix }
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
        let gate = Gate::new(text, &check(&plan, &parsed, &facts), &facts, strict);
        (gate.verdict, gate.errors, gate.warnings, gate.errors_after_fix)
    }

    #[test]
    fn verdicts() {
        let check = |text: &str,
                     lax: (GateVerdict, usize, usize, usize),
                     strict: (GateVerdict, usize, usize, usize)| {
            assert_eq!((gate(text, false), gate(text, true)), (lax, strict), "{text}");
        };
        let tree = |extra: &str| format!("- [ID: 1] Print (Complexity: 2)\n{LEAF}{extra}");
        let pass = (GateVerdict::Pass, 0, 0, 0);
        check(&tree(GUARDRAILS), pass, pass);
        check(&tree(""), (GateVerdict::Fix, 1, 0, 0), (GateVerdict::Fix, 1, 0, 0));
        let unbounded = tree("  - Guardrails: Do NOT add new dependencies\n");
        check(&unbounded, (GateVerdict::Caution, 0, 1, 0), (GateVerdict::Fix, 1, 0, 0));
        let owned = tree(&format!("{GUARDRAILS}  - Owner: me\n"));
        check(&owned, (GateVerdict::Caution, 0, 1, 0), (GateVerdict::Block, 1, 0, 1));
        let large = tree("").replace("Complexity: 2", "Complexity: 9");
        check(&large, (GateVerdict::Block, 2, 0, 1), (GateVerdict::Block, 2, 0, 1));
        check("", (GateVerdict::Block, 1, 0, 1), (GateVerdict::Block, 1, 0, 1));
    }
}
