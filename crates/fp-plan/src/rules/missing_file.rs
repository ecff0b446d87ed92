//! `missing-file`.

use std::cell::LazyCell;
use std::sync::LazyLock;

use regex::Regex;

use super::context::{PathFact, RuleFacts};
use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "missing-file",
    severity: Severity::Warning,
    finds: "A listed file that does not exist and whose task never says that it creates it",
    why: "Either the path is mistyped, and the builder will edit another file than it may, or the task creates \
          the file and should say so.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/nubmer.rs",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Files: src/decimal.rs (new)",
    check: Check::Leaf(check),
};

fn check(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for item in task.fields.items(FieldKind::Files) {
        let wildcard = item.text.contains(['*', '?']);
        if !wildcard
            && context.facts.path(&item.text) == Some(PathFact::Missing)
            && !context.created.contains(&*item.text)
        {
            sink.report(
                task,
                item.span,
                format!(
                    "`{}` does not exist, and no task says that it creates it",
                    item.text
                ),
            )
            .hint("correct the path, or mark the file as `(new)`");
        }
    }
}

/// The missing files that a leaf says it creates: those marked as new, or all of them if its words say so.
pub(super) fn created_files<'f>(
    task: &'f Task<'_>,
    facts: &RuleFacts,
) -> impl Iterator<Item = &'f str> {
    let says_so = LazyCell::new(|| {
        let texts = std::iter::once(&*task.description)
            .chain(task.fields.text(FieldKind::Description))
            .chain(task.acceptance())
            .chain(task.hints());
        texts.into_iter().any(|text| CREATES.is_match(text))
    });
    task.fields
        .items(FieldKind::Files)
        .iter()
        .filter(move |item| {
            facts.path(&item.text) == Some(PathFact::Missing)
                && (item
                    .note
                    .as_deref()
                    .is_some_and(|note| CREATES.is_match(note))
                    || *says_so)
        })
        .map(|item| &*item.text)
}

static CREATES: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"creat(?:e[sd]?|ing)|news?|adding|introduce[sd]?|generat(?:e[sd]?|ing)|writes?";
    Regex::new(&format!(r"(?i)(?:^|[\W_])(?:{words})(?:[\W_]|$)"))
        .expect("the pattern is a constant")
});
