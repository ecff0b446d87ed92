//! Makes and applies the edits that fix findings. Edits in the same round never overlap; a skipped finding turns up
//! again in the next round, which starts from the edited text. Edits touch as little as possible, which preserves
//! comments, order and spacing.

use super::{RuleFacts, check_plan, malformed_id};
use crate::diagnostic::{Diagnostic, Span, TextFix};
use crate::plan::field::FieldKind;
use crate::plan::parse;
use crate::plan::parse::lines::columns_of;
use crate::plan::task::{Plan, Task};

/// Maximum number of rounds; each resolves at least one finding, and most plans need two.
const MAX_ROUNDS: usize = 100;

/// A text after its mechanical fixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedText {
    pub text: String,
    /// One entry per resolved finding: its task and what was done.
    pub changes: Vec<String>,
}

/// Applies every mechanical fix to `source`, round after round until none is left.
pub fn fix_all(source: &str, facts: &RuleFacts) -> FixedText {
    let mut fixed = FixedText {
        text: source.to_owned(),
        changes: Vec::new(),
    };
    let mut left = mendable_findings(source, facts);
    for _ in 0..MAX_ROUNDS {
        // The text of other fixes names tasks by their ids.
        let renames = left
            .iter()
            .filter(|finding| finding.rule == malformed_id::RULE.id);
        let (mut text, mut changes) = apply_fixes(&fixed.text, renames);
        if changes.is_empty() {
            (text, changes) = apply_fixes(&fixed.text, &left);
        }
        let found = mendable_findings(&text, facts);
        // Without this, edits that don't improve anything would be repeated forever.
        if changes.is_empty()
            || left
                .iter()
                .map(identity_of)
                .eq(found.iter().map(identity_of))
        {
            break;
        }
        fixed.text = text;
        fixed.changes.extend(changes);
        left = found;
    }
    fixed
}

/// The findings in `source` that can be fixed.
fn mendable_findings(source: &str, facts: &RuleFacts) -> Vec<Diagnostic> {
    let (plan, parsed) = parse(source);
    let mut found = check_plan(&plan, &parsed, facts);
    found.retain(|diagnostic| !diagnostic.fixes.is_empty());
    found
}

/// The identity of a finding, apart from its position.
fn identity_of(finding: &Diagnostic) -> (&str, &str, &str) {
    (finding.rule, &finding.task_id, &finding.detail)
}

/// Applies the edits of `diagnostics`: all edits of a finding or none, and none that would change the meaning of other
/// text. Keeps comments in the replaced text. Returns the new text and what was done for each resolved finding.
pub fn apply_fixes<'d>(
    source: &str,
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
) -> (String, Vec<String>) {
    let mut chosen: Vec<&TextFix> = Vec::new();
    let mut changes = Vec::new();
    for Diagnostic { task_id, fixes, .. } in diagnostics {
        let is_taken = |fix: &TextFix| chosen.iter().any(|other| spans_meet(other.span, fix.span));
        let is_refused = |fix: &TextFix| is_taken(fix) || takes_in(source, fix);
        if let Some(first) = fixes.first().filter(|_| !fixes.iter().any(is_refused)) {
            chosen.extend(fixes);
            changes.push(format!("{task_id}: {}", first.title));
        }
    }
    chosen.sort_by_key(|fix| fix.span);
    let mut text = String::with_capacity(source.len() + chosen.len() * 64);
    let mut at = 0;
    for TextFix {
        span, replacement, ..
    } in chosen
    {
        if let (Some(kept), Some(replaced)) =
            (source.get(at..span.start), source.get(span.start..span.end))
        {
            text.extend([kept, replacement, &comments_in(replaced)]);
            at = span.end;
        }
    }
    text.push_str(&source[at..]);
    (text, changes)
}

/// The comments in the replaced text, each on its own line with its indentation. Somebody wrote them, and no edit is
/// meant to remove them.
fn comments_in(replaced: &str) -> String {
    let newline = if replaced.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let mut kept = String::new();
    let mut at = 0;
    while let Some(start) = replaced[at..].find("<!--").map(|found| at + found) {
        let Some(length) = replaced[start..].find("-->") else {
            break;
        };
        at = start + length + "-->".len();
        let line = replaced[..start].rsplit('\n').next().unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start().len()];
        kept.push_str(&format!("{newline}{indent}{}", &replaced[start..at]));
    }
    kept
}

/// True if an edit adds an item that would absorb the text below it, because that text is indented further.
fn takes_in(source: &str, fix: &TextFix) -> bool {
    let first_column = |text: &str| {
        let line = text.lines().find(|line| !line.trim().is_empty())?;
        Some(columns_of(&line[..line.len() - line.trim_start().len()]))
    };
    let rest = source.get(fix.span.end..).unwrap_or_default();
    let below = rest
        .split_once('\n')
        .and_then(|(_, below)| first_column(below));
    let columns = below.zip(first_column(&fix.replacement));
    fix.replacement.starts_with(['\r', '\n'])
        && columns.is_some_and(|(below, added)| below >= added + 2)
}

/// True if two edits overlap or insert at the same position.
fn spans_meet(a: Span, b: Span) -> bool {
    a.start == b.start || a.start < b.end && b.start < a.end
}

/// Adds a field of ids below the other fields of `task`.
fn add_ids(plan: &Plan, task: &Task, field: FieldKind, ids: &[String]) -> TextFix {
    let indent = " ".repeat(task.field_indent);
    let end = task.own_end();
    TextFix {
        title: String::new(),
        span: Span::new(end, end),
        replacement: format!(
            "{}{indent}- {}: {}",
            plan.newline(),
            field.label(),
            ids.join(", ")
        ),
    }
}

/// Writes `ids` as the value of a field, on one line.
pub(crate) fn set_ids(
    plan: &Plan,
    task: &Task,
    kind: FieldKind,
    ids: &[String],
    title: impl Into<String>,
) -> TextFix {
    let fix = match task.fields.span(kind) {
        None => add_ids(plan, task, kind, ids),
        Some(span) => TextFix {
            title: String::new(),
            span,
            replacement: format!("{}: {}", kind.label(), listed_or_none(ids)),
        },
    };
    TextFix {
        title: title.into(),
        ..fix
    }
}

fn listed_or_none(entries: &[impl AsRef<str>]) -> String {
    let entries: Vec<&str> = entries.iter().map(AsRef::as_ref).collect();
    if entries.is_empty() {
        "none".to_owned()
    } else {
        entries.join(", ")
    }
}

/// The ids in a field that pass `keep`, as they would be written, each with its note.
pub(crate) fn written_ids(
    task: &Task,
    kind: FieldKind,
    keep: impl Fn(&str) -> bool,
) -> Vec<String> {
    let items = task
        .fields
        .items(kind)
        .iter()
        .filter(|item| keep(&item.text));
    let written = items.map(|item| match &item.note {
        Some(note) => format!("{} {note}", item.text),
        None => item.text.to_string(),
    });
    written.collect()
}
