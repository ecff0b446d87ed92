//! Whether a plan may go on: what its findings add up to, for whoever has to decide by one word.

use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::plan::parse;
use crate::rules::fix::fix_all;
use crate::rules::{RuleFacts, check};

/// The word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Errors that take judgement: the plan goes back.
    Block,
    /// Errors, and the mechanical fixes resolve all of them.
    Fix,
    /// Warnings alone: the plan may go on.
    Caution,
    /// Nothing was found.
    Pass,
}

impl Verdict {
    /// The word as it is printed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Block => "BLOCK",
            Self::Fix => "FIX",
            Self::Caution => "CAUTION",
            Self::Pass => "PASS",
        }
    }
}

/// The verdict on a tree, with what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// The verdict.
    pub verdict: Verdict,
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
    #[must_use]
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
            (0, _) if warnings == 0 => Verdict::Pass,
            (0, _) => Verdict::Caution,
            (_, 0) => Verdict::Fix,
            _ => Verdict::Block,
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

    fn gate(text: &str, strict: bool) -> (Verdict, usize, usize, usize) {
        let facts = RuleFacts::default();
        let (plan, parsed) = parse(text);
        let gate = Gate::new(text, &check(&plan, &parsed, &facts), &facts, strict);
        (gate.verdict, gate.errors, gate.warnings, gate.errors_after_fix)
    }

    #[test]
    fn verdicts() {
        let check =
            |text: &str, lax: (Verdict, usize, usize, usize), strict: (Verdict, usize, usize, usize)| {
                assert_eq!((gate(text, false), gate(text, true)), (lax, strict), "{text}");
            };
        let tree = |extra: &str| format!("- [ID: 1] Print (Complexity: 2)\n{LEAF}{extra}");
        let pass = (Verdict::Pass, 0, 0, 0);
        check(&tree(GUARDRAILS), pass, pass);
        check(&tree(""), (Verdict::Fix, 1, 0, 0), (Verdict::Fix, 1, 0, 0));
        let unbounded = tree("  - Guardrails: Do NOT add new dependencies\n");
        check(&unbounded, (Verdict::Caution, 0, 1, 0), (Verdict::Fix, 1, 0, 0));
        let owned = tree(&format!("{GUARDRAILS}  - Owner: me\n"));
        check(&owned, (Verdict::Caution, 0, 1, 0), (Verdict::Block, 1, 0, 1));
        let large = tree("").replace("Complexity: 2", "Complexity: 9");
        check(&large, (Verdict::Block, 2, 0, 1), (Verdict::Block, 2, 0, 1));
        check("", (Verdict::Block, 1, 0, 1), (Verdict::Block, 1, 0, 1));
    }
}
