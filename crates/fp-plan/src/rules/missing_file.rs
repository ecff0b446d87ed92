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
    check: Check::Leaf(check_leaf),
};

fn check_leaf(context: &RuleContext<'_>, task: &Task, sink: &mut FindingSink<'_>) {
    for item in task.fields.items(FieldKind::Files) {
        let path = &*item.text;
        let is_pattern = path.contains(['*', '?']);
        let is_missing = context.facts.path(path) == Some(PathFact::Missing);
        if is_missing && !is_pattern && !context.created.contains(path) {
            let detail = format!("`{path}` does not exist, and no task says that it creates it");
            sink.report(task, item.span, detail)
                .set_hint("correct the path, or mark the file as `(new)`");
        }
    }
}

/// The missing files that a leaf says it creates: those marked as new, or all of them if its text says so.
pub(super) fn created_files<'f>(
    task: &'f Task<'_>,
    facts: &RuleFacts,
) -> impl Iterator<Item = &'f str> {
    let creates = |text: &str| CREATES.is_match(text);
    let says_so = LazyCell::new(move || {
        let description = task.fields.text(FieldKind::Description);
        let mut texts = description
            .into_iter()
            .chain([&*task.description])
            .chain(task.acceptance())
            .chain(task.hints());
        texts.any(creates)
    });
    let files = task.fields.items(FieldKind::Files).iter();
    let created = files.filter(move |item| {
        facts.path(&item.text) == Some(PathFact::Missing)
            && (item.note.as_deref().is_some_and(creates) || *says_so)
    });
    created.map(|item| &*item.text)
}

static CREATES: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"creat(?:e[sd]?|ing)|news?|adding|introduce[sd]?|generat(?:e[sd]?|ing)|writes?";
    Regex::new(&format!(r"(?i)(?:^|[\W_])(?:{words})(?:[\W_]|$)"))
        .expect("the pattern is a constant")
});
