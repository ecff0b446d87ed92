//! `stale-reference`.

use super::prelude::*;
use crate::plan::path::{Reference, normal, reference};

/// Maximum distance in lines between a reference's line and a name in its text.
const NEAR: u64 = 10;
/// Minimum length of a name to look for, in letters.
const SHORTEST: usize = 3;
pub(super) static RULE: Rule = Rule {
    id: "stale-reference",
    severity: Severity::Warning,
    finds: "A reference to a file or line that does not exist, or a line near which none of the names in its text stands",
    why: "The builder is told to read it first. What isn't there was renamed since, or never existed.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - References: src/lexer.rs:900 - structure to follow",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - References: src/lexer.rs:15 - structure to follow",
    check: Check::Leaf(check_leaf),
};

fn check_leaf(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for item in task.fields.items(FieldKind::References) {
        let Some(found) = reference(&item.text) else {
            continue;
        };
        if let Some(detail) = fault_of(context, &found) {
            sink.report(task, item.span, detail)
                .set_hint("look the place up again, or leave the reference out");
        }
    }
}

fn fault_of(context: &RuleContext<'_>, reference: &Reference<'_>) -> Option<String> {
    let Reference { path, line, .. } = *reference;
    let detail = match (context.facts.path(path), line) {
        _ if normal(path).is_err() => {
            format!("`{}` is outside the repository", path.escape_debug())
        }
        (Some(PathFact::Outside), _) => format!("`{path}` leads out of the repository"),
        (Some(PathFact::Missing), _) if !context.created.contains(path) => {
            format!("`{path}` does not exist")
        }
        (Some(PathFact::File { .. }), Some(0)) => {
            format!("`{path}` has no line 0, lines count from 1")
        }
        (Some(PathFact::File { lines: Some(lines) }), Some(line)) if line > lines => {
            format!("`{path}` has {lines} lines, there is no line {line}")
        }
        _ => return misplaced_name(context, reference, line?),
    };
    Some(detail)
}

/// Reports a reference whose text names something that its file contains, but not near the given line.
fn misplaced_name(
    context: &RuleContext<'_>,
    reference: &Reference<'_>,
    line: u64,
) -> Option<String> {
    let text = context.facts.texts.get(&*normal(reference.path).ok()?)?;
    let first = reference.first.unwrap_or(line);
    let mut elsewhere = None;
    for name in names_in(reference.why) {
        for (number, content) in (1u64..).zip(text.lines()) {
            let stands = content.contains(name) && words_in(content).any(|word| word == name);
            if !stands {
                continue;
            }
            if (first.saturating_sub(NEAR)..=line.saturating_add(NEAR)).contains(&number) {
                return None;
            }
            elsewhere.get_or_insert((name, number));
        }
    }
    let (name, number) = elsewhere?;
    let path = reference.path;
    Some(format!(
        "`{name}` is not near line {line} of `{path}`, but at line {number}"
    ))
}

/// The names from code in a reference's text: words of at least [`SHORTEST`] letters in backticks, or written like an
/// identifier.
fn names_in(why: &str) -> impl Iterator<Item = &str> {
    why.split('`').enumerate().flat_map(|(part, text)| {
        let is_quoted = part % 2 == 1;
        words_in(text).filter(move |word| {
            let inner = word.get(1..).unwrap_or_default();
            let is_identifier = inner.contains(|c: char| c == '_' || c.is_uppercase());
            word.len() >= SHORTEST && (is_quoted || is_identifier)
        })
    })
}

fn words_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}
