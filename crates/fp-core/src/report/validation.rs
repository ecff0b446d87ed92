//! What validation found, as `fp validate --format json` prints it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Fix, Severity};
use crate::plan::{Lines, Plan};

/// The report on one tree.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidationReport {
    /// Whether nothing in it fails validation.
    pub valid: bool,
    /// The highest complexity that a leaf may have.
    pub max_complexity: u32,
    /// How many leaves there are.
    pub total_leaf_tasks: usize,
    /// The findings in the order of the source.
    pub violations: Vec<Violation>,
    /// Figures about the tree.
    pub stats: Stats,
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

/// One finding.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Violation {
    /// Id of the rule.
    #[serde(rename = "type")]
    pub rule: &'static str,
    /// Whether it fails validation.
    pub severity: Severity,
    /// Id of the task; empty where there is none.
    pub id: String,
    /// Title of the task.
    pub description: String,
    /// Id of its parent.
    pub parent_id: Option<String>,
    /// Its depth.
    pub depth: usize,
    /// What is wrong.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Where.
    pub span: Place,
    /// What `--fix` would do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fix: Vec<Fix>,
}

/// Lines and columns from 1; the end is behind the last character.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// First line.
    pub line: usize,
    /// Column in it, in characters.
    pub column: usize,
    /// Last line.
    pub end_line: usize,
    /// Column in it.
    pub end_column: usize,
}

impl ValidationReport {
    /// The report on `plan`, whose source has these `lines`. Under `strict` a warning fails as an error does.
    #[must_use]
    pub fn new(
        plan: &Plan,
        lines: &Lines<'_>,
        found: &[Diagnostic],
        max_complexity: u32,
        strict: bool,
    ) -> Self {
        let mut distribution = BTreeMap::new();
        for complexity in plan.leaves().filter_map(|leaf| leaf.complexity) {
            *distribution.entry(complexity).or_default() += 1;
        }
        Self {
            valid: found.iter().all(|d| d.severity == Severity::Warning && !strict),
            max_complexity,
            total_leaf_tasks: plan.leaves().count(),
            violations: found.iter().map(|d| violation(d, lines)).collect(),
            stats: Stats {
                max_depth: plan.tasks.iter().map(|t| t.depth).max().unwrap_or(0),
                leaf_complexity_distribution: distribution,
            },
        }
    }
}

fn violation(found: &Diagnostic, lines: &Lines<'_>) -> Violation {
    let (start, end) = lines.range(found.span);
    Violation {
        rule: found.rule,
        severity: found.severity,
        id: found.task_id.clone(),
        description: found.task_description.clone(),
        parent_id: found.parent_id.clone(),
        depth: found.depth,
        detail: found.detail.clone(),
        hint: found.hint.clone(),
        span: Place { line: start.line, column: start.column, end_line: end.line, end_column: end.column },
        fix: found.fixes.clone(),
    }
}
