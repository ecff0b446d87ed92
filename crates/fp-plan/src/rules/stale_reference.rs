//! `stale-reference`.

use super::prelude::*;
use crate::plan::path::{Reference, normal, reference};

pub(super) static RULE: Rule = Rule {
    id: "stale-reference",
    severity: Severity::Warning,
    finds: "A reference to a file or line that does not exist",
    why: "The builder is told to read it first. What isn't there was renamed since, or never existed.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - References: src/lexer.rs:900 - structure to follow",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - References: src/lexer.rs:15 - structure to follow",
    check: Check::Leaf(check),
};

fn check(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for item in task.fields.items(FieldKind::References) {
        let Some(Reference { path, line, .. }) = reference(&item.text) else { continue };
        let detail = match (context.facts.path(path), line) {
            _ if normal(path).is_err() => format!("`{}` is outside the repository", path.escape_debug()),
            (Some(PathFact::Outside), _) => format!("`{path}` leads out of the repository"),
            (Some(PathFact::Missing), _) if !context.created.contains(path) => {
                format!("`{path}` does not exist")
            }
            (Some(PathFact::File { .. }), Some(0)) => format!("`{path}` has no line 0, lines count from 1"),
            (Some(PathFact::File { lines: Some(lines) }), Some(line)) if line > lines => {
                format!("`{path}` has {lines} lines, there is no line {line}")
            }
            _ => continue,
        };
        sink.report(task, item.span, detail).hint("look the place up again, or leave the reference out");
    }
}
