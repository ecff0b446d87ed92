//! Holds the findings of the rules and the parser as data, so that the same finding serves text, JSON and the fixer.

use serde::Serialize;

use crate::plan::Task;

/// Bytes `start..end` of the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct Span {
    pub start: usize,
    /// Offset after the last byte; never less than `start`.
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The span of `part`, a slice of `text`.
    pub(crate) fn of_slice(text: &str, part: &str) -> Self {
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        Self::new(start, start + part.len())
    }
}

/// The severity of a finding: an error fails validation, a warning only under `--strict`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Severity {
    /// Fails validation.
    Error,
    /// Reported; fails under `--strict`.
    Warning,
}

/// A mechanical edit that resolves a finding: it replaces `span` with `replacement`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextFix {
    /// The effect of the edit, in the imperative.
    pub title: String,
    /// The bytes to replace; empty for an insertion.
    pub span: Span,
    pub replacement: String,
}

/// One finding at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Id of the rule that reported it, such as `duplicate-id`.
    #[serde(rename = "type")]
    pub rule: &'static str,
    pub severity: Severity,
    /// The finding's place in the source; reports print lines and columns instead.
    #[serde(skip)]
    pub span: Span,
    /// Id of the task; empty if there is none.
    #[serde(rename = "id")]
    pub task_id: String,
    /// Title of the task; empty if there is none.
    #[serde(rename = "description")]
    pub task_description: String,
    /// Id of the task's parent, if it has one.
    pub parent_id: Option<String>,
    /// Depth of the task; the root's is 0.
    pub depth: usize,
    /// The problem, in one sentence without a full stop.
    pub detail: String,
    /// The remedy, in one sentence without a full stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The edits that resolve the finding, in source order; empty if that takes judgement.
    #[serde(rename = "fix", skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<TextFix>,
}

impl Diagnostic {
    /// A finding at `span` about `task`, one of `tasks`.
    pub(crate) fn new(
        (rule, severity): (&'static str, Severity),
        task: &Task<'_>,
        tasks: &[Task<'_>],
        span: Span,
        detail: String,
    ) -> Self {
        Self {
            rule,
            severity,
            span,
            task_id: task.id.to_string(),
            task_description: task.description.to_string(),
            parent_id: task.parent.map(|parent| tasks[parent].id.to_string()),
            depth: task.depth,
            detail,
            hint: None,
            fixes: Vec::new(),
        }
    }

    /// Sets the remedy.
    pub(crate) fn set_hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the edits that resolve the finding.
    pub(crate) fn fixes(&mut self, fixes: Vec<TextFix>) -> &mut Self {
        self.fixes = fixes;
        self
    }

    /// True if the finding fails validation; under `strict`, warnings do too.
    pub fn fails(&self, strict: bool) -> bool {
        strict || self.severity == Severity::Error
    }
}
