//! What a rule or the parser found, as data, so that one finding serves text, JSON and the fixer alike.

use serde::Serialize;

/// Bytes `start..end` of the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte; never less than `start`.
    pub end: usize,
}

impl Span {
    /// The span `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// How much a finding weighs: an error fails validation, a warning only under `--strict`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Severity {
    /// Fails validation.
    Error,
    /// Reported, fails under `--strict`.
    Warning,
}

/// A mechanical edit that resolves a finding: replace `span` by `replacement`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextFix {
    /// What the edit does, in the imperative.
    pub title: String,
    /// The bytes that are replaced; empty for an insertion.
    pub span: Span,
    /// The text put in their place.
    pub replacement: String,
}

/// One finding at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Id of the rule that found it, such as `duplicate-id`.
    #[serde(rename = "type")]
    pub rule: &'static str,
    /// Whether it fails validation.
    pub severity: Severity,
    /// Where it is in the source; a report prints lines and columns instead.
    #[serde(skip)]
    pub span: Span,
    /// Id of the task concerned; empty where there is none.
    #[serde(rename = "id")]
    pub task_id: String,
    /// Title of the task concerned; empty where there is none.
    #[serde(rename = "description")]
    pub task_description: String,
    /// Id of that task's parent, if it has one.
    pub parent_id: Option<String>,
    /// Depth of that task; the root's is 0.
    pub depth: usize,
    /// What is wrong, one sentence without a full stop.
    pub detail: String,
    /// What to do about it, one sentence without a full stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The edits that resolve it, in source order; empty where judgement is needed.
    #[serde(skip)]
    pub fixes: Vec<TextFix>,
}

impl Diagnostic {
    /// Whether it fails validation; under `strict` a warning does as well.
    pub fn fails(&self, strict: bool) -> bool {
        strict || self.severity == Severity::Error
    }
}
