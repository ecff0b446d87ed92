//! What validation found, as `fp validate --format json` prints it. A tree can have a million findings, so the
//! report borrows them and makes each one's form only when it is written.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::diagnostic::{Diagnostic, Severity, Span, TextFix};
use crate::plan::{Lines, Plan};

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

/// Findings and the lines that they are in; as JSON a list of [`Violation`].
#[derive(Debug, Clone, Copy)]
pub struct Violations<'p> {
    /// The findings.
    pub found: &'p [Diagnostic],
    /// The lines of the source.
    pub lines: &'p Lines<'p>,
}

impl Serialize for Violations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.found.iter().map(|found| Violation::new(found, self.lines)))
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

/// One finding.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Violation<'d> {
    /// Id of the rule.
    #[serde(rename = "type")]
    pub rule: &'d str,
    /// Whether it fails validation.
    pub severity: Severity,
    /// Id of the task; empty where there is none.
    pub id: &'d str,
    /// Title of the task.
    pub description: &'d str,
    /// Id of its parent.
    pub parent_id: Option<&'d str>,
    /// Its depth.
    pub depth: usize,
    /// What is wrong.
    pub detail: &'d str,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'d str>,
    /// Where.
    pub span: Place,
    /// What `--fix` would do.
    #[serde(skip_serializing_if = "<[TextFix]>::is_empty")]
    pub fix: &'d [TextFix],
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

impl<'p> ValidationReport<'p> {
    /// The report on `plan`, whose source has these `lines`. Under `strict` a warning fails as an error does.
    #[must_use]
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

impl<'d> Violation<'d> {
    /// The finding as the report has it.
    #[must_use]
    pub fn new(found: &'d Diagnostic, lines: &Lines<'_>) -> Self {
        Self {
            rule: found.rule,
            severity: found.severity,
            id: &found.task_id,
            description: &found.task_description,
            parent_id: found.parent_id.as_deref(),
            depth: found.depth,
            detail: &found.detail,
            hint: found.hint.as_deref(),
            span: Place::new(found.span, lines),
            fix: &found.fixes,
        }
    }
}

impl Place {
    /// Where `span` is in the text that has these `lines`.
    #[must_use]
    pub fn new(span: Span, lines: &Lines<'_>) -> Self {
        let (start, end) = lines.range(span);
        Self { line: start.line, column: start.column, end_line: end.line, end_column: end.column }
    }
}
