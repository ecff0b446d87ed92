//! `foreign-name`.

use std::collections::HashMap;

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "foreign-name",
    severity: Severity::Warning,
    finds: "A criterion with a name that only another leaf introduces, on which its leaf doesn't depend",
    why: "Until the other leaf is built, nobody can meet or judge the criterion. The builder makes a second one of the \
          kind, or waits in vain.",
    fix: None,
    bad: "- [ID: root] Calculator\n- [ID: 1] Add `--exact` (Complexity: 3)\n- [ID: 2] Printer (Complexity: 3)\n  - Acceptance: `calc --exact 1/3` prints `1/3`",
    good: "- [ID: root] Calculator\n- [ID: 1] Add `--exact` (Complexity: 3)\n- [ID: 2] Printer (Complexity: 3)\n  - Acceptance: `calc --exact 1/3` prints `1/3`\n  - Dependencies: 1",
    check: Check::Tree(check_tree),
};

/// Fewest characters of a name; shorter ones occur by chance.
const SHORTEST: usize = 3;

fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    // Each name with the only leaf that introduces it.
    let mut introduced: HashMap<&str, Option<TaskIndex>> = HashMap::new();
    let is_whole = |task: &&TaskIndex| !context.task(**task).broken;
    for &task in context.index.leaves().iter().filter(is_whole) {
        for name in names_of(context.task(task)) {
            let by = introduced.entry(name).or_insert(Some(task));
            *by = by.filter(|known| *known == task);
        }
    }
    introduced.retain(|name, by| by.is_some() && !is_there(context, name));
    if introduced.is_empty() {
        return;
    }
    for &task in context.index.leaves() {
        let leaf = context.task(task);
        let mut reached = None;
        for criterion in leaf.fields.items(FieldKind::Acceptance) {
            let used = code_spans(&criterion.text).flat_map(words_of);
            let mut used = used.filter_map(|name| Some((name, (*introduced.get(name)?)?)));
            let foreign = used.find(|(_, by)| {
                let reached = reached.get_or_insert_with(|| context.graph.reached_from(task));
                *by != task && !reached[*by]
            });
            if let Some((name, by)) = foreign {
                let other = &context.task(by).id;
                let detail =
                    format!("`{name}` is made by {other}, which this task doesn't wait for");
                sink.report(leaf, criterion.span, detail).set_hint(format!(
                    "add {other} to its `Dependencies`, or judge it there"
                ));
            }
        }
    }
}

/// True if the repository has `name` as a path already.
fn is_there(context: &RuleContext<'_>, name: &str) -> bool {
    matches!(
        context.facts.path(name),
        Some(PathFact::File { .. } | PathFact::Folder)
    )
}

/// The names that a leaf introduces: its new files, and the code in its title.
fn names_of<'p>(leaf: &'p Task<'p>) -> impl Iterator<Item = &'p str> {
    let is_new = |note: &str| note.contains("new");
    let files = leaf.fields.items(FieldKind::Files).iter();
    let files = files.filter(move |item| item.note.as_deref().is_some_and(is_new));
    let named = code_spans(&leaf.description).flat_map(words_of);
    files.map(|item| &*item.text).chain(named)
}

/// The texts between backticks.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The words of a command or an expression that can be names: options, paths and identifiers.
fn words_of(code: &str) -> impl Iterator<Item = &str> {
    let is_outside = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.'));
    code.split(is_outside)
        .map(|word| word.trim_end_matches(['.', '-', '/']))
        .filter(|word| word.len() >= SHORTEST && word.contains(char::is_alphabetic))
}
