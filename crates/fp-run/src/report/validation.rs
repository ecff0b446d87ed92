//! Prepares the findings of validation for `fp validate --format json`.

use std::collections::BTreeMap;

use serde::Serialize;

use fp_plan::diagnostic::Diagnostic;
use fp_plan::plan::{Lines, Plan};

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
