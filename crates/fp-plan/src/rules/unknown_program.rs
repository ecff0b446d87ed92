//! `unknown-program`.

use std::collections::HashSet;

use super::prelude::*;
use crate::command_line::{is_builtin, program_of};
use crate::plan::path::normal;

pub(super) static RULE: Rule = Rule {
    id: "unknown-program",
    severity: Severity::Warning,
    finds: "A command whose first word is neither a program on this machine nor a file that is there or planned",
    why: "The command fails however good the work is. It is no error, because a task of the plan may install the \
          program.",
    fix: None,
    bad: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Test Commands: crago test number",
    good: "- [ID: 1] Parse numbers (Complexity: 2)\n  - Test Commands: cargo test number",
    check: Check::Tree(check_tree),
};

/// Reports each missing program once, at the first command that needs it.
fn check_tree(context: &RuleContext<'_>, sink: &mut FindingSink<'_>) {
    const NO_FILE: &str =
        "correct the path, or mark the file as `(new)` in the task that creates it";
    const NO_PROGRAM: &str =
        "install it on this machine, or correct the command; keep it if a task installs it";
    let mut missing: HashSet<&str> = HashSet::new();
    let root = context.plan.root.map(|root| context.task(root)).into_iter();
    let of_root = root.flat_map(|root| {
        let setup = root.fields.items(FieldKind::Setup).iter();
        setup.map(move |command| (root, command))
    });
    let leaves = context.plan.leaves().filter(|leaf| !leaf.broken);
    let of_leaves = leaves.flat_map(|leaf| leaf.commands().map(move |command| (leaf, command)));
    for (task, command) in of_root.chain(of_leaves) {
        let word = program_of(&command.text).filter(|word| !is_there(context, word));
        if let Some(word) = word.filter(|word| missing.insert(word)) {
            let (what, hint) = match word.contains('/') {
                true => ("file", NO_FILE),
                false => ("program", NO_PROGRAM),
            };
            sink.report(task, command.span, format!("there is no {what} `{word}`"))
                .set_hint(hint);
        }
    }
}

fn is_there(context: &RuleContext<'_>, word: &str) -> bool {
    if !word.contains('/') {
        return is_builtin(word) || context.facts.programs.get(word) != Some(&false);
    }
    let created = normal(word).is_ok_and(|path| context.created.contains(&*path));
    created || context.facts.path(word) != Some(PathFact::Missing)
}
