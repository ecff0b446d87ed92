//! Lines that start like a task, and texts without a task tree.

use std::collections::BTreeSet;

use fp_plan::diagnostic::Span;
use fp_plan::plan::Lines;

use super::of_leaves;
use crate::mutation::base::{At, Base, Mutant, lines_of};

pub(super) fn no_tree(base: &Base) -> Vec<Mutant> {
    // The text's own comments are removed, since comments don't nest.
    let text = base
        .text
        .trim_start_matches('\u{feff}')
        .replace("<!--", "")
        .replace("-->", "");
    let quoted: String = text
        .split_inclusive('\n')
        .map(|line| format!("> {line}"))
        .collect();
    let cases = [
        ("in a fence", format!("```text\n{text}\n```\n")),
        ("in another fence", format!("~~~~\n{text}\n~~~~\n")),
        ("quoted", quoted),
        (
            "in a comment",
            format!("<!--\n{text}\n-->\n").replace("\n\n", "\n"),
        ),
        ("only a title", "# Task Decomposition\n".to_owned()),
        ("nothing", String::new()),
    ];
    cases
        .map(|(what, text)| Mutant {
            rule: "empty-tree",
            what: what.to_owned(),
            at: At::Anywhere,
            touched: BTreeSet::from([String::new()]),
            text,
        })
        .into()
}

/// Mutants with lines that start like a task but aren't one.
pub(super) fn broken_heads(base: &Base) -> Vec<Mutant> {
    let lines = Lines::new(base.text);
    let tasks = base
        .plan
        .tasks
        .iter()
        .filter(|task| !task.synthetic && task.complexity.is_some());
    tasks
        .flat_map(|task| {
            let line = lines_of(base.text, task.span);
            let head = &base.text[line.start..line.end];
            let id = format!("[ID: {}]", task.id);
            let number = lines.position(task.span.start).line;
            let changes: Vec<(&str, String)> = if base.is_heading(task) {
                vec![(
                    "unclosed",
                    head.replacen(&format!("[{}]", task.id), &format!("[{}", task.id), 1),
                )]
            } else {
                vec![
                    (
                        "no colon",
                        head.replacen(&id, &format!("[ID {}]", task.id), 1),
                    ),
                    ("no label", head.replacen(&id, &format!("[{}]", task.id), 1)),
                    (
                        "unclosed",
                        head.replacen(&id, &format!("[ID: {}", task.id), 1),
                    ),
                    (
                        "round",
                        head.replacen(&id, &format!("(ID: {})", task.id), 1),
                    ),
                    (
                        "curly",
                        head.replacen(&id, &format!("{{ID: {}}}", task.id), 1),
                    ),
                    (
                        "no brackets",
                        head.replacen(&id, &format!("ID: {}", task.id), 1),
                    ),
                    ("no id", head.replacen(&id, "[ID: ]", 1)),
                    (
                        "equals",
                        head.replacen(&id, &format!("[ID={}]", task.id), 1),
                    ),
                    (
                        "no title",
                        head.replacen(&format!(" {}", task.description), "", 1),
                    ),
                    (
                        "no bullet",
                        head.replacen("- [ID", "[ID", 1).replacen("* [ID", "[ID", 1),
                    ),
                ]
            };
            changes
                .into_iter()
                .filter(|(_, changed)| changed != head)
                .map(|(what, changed)| {
                    let mutant = base.mutant("syntax", task, what, base.replaced(line, &changed));
                    // The finding is on the line, whatever its id looks like.
                    let touched = BTreeSet::from([task.id.to_string(), String::new()]);
                    Mutant {
                        at: At::Line(number),
                        touched,
                        ..mutant
                    }
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Mutants in which a fence is opened before a task and never closed.
pub(super) fn open_fences(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let start = lines_of(base.text, leaf.span).start;
        ["```", "~~~", "```rust"]
            .map(|fence| {
                let line = format!("{fence}{}", base.plan.newline());
                let mutant = base.mutant(
                    "syntax",
                    leaf,
                    fence,
                    base.replaced(Span::new(start, start), &line),
                );
                Mutant {
                    at: At::Anywhere,
                    touched: BTreeSet::from([String::new()]),
                    ..mutant
                }
            })
            .into()
    })
}
