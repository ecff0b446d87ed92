//! Fields of leaves, dropped, emptied, misspelt, repeated, or in the wrong place.

use fp_plan::diagnostic::Span;
use fp_plan::plan::{FieldKind, Task};

use super::{of_leaves, parents};
use crate::mutation::base::{At, Base, Mutant, field, lines_of};

/// Fields that a leaf must have, and the rule that requires them.
const NEEDED: [(FieldKind, &str); 4] = [
    (FieldKind::Acceptance, "missing-acceptance"),
    (FieldKind::Files, "missing-files"),
    (FieldKind::TestsRequired, "missing-tests-required"),
    (FieldKind::Hints, "missing-hints"),
];

pub(super) fn dropped_fields(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let dropped = NEEDED.iter().filter_map(|&(kind, rule)| {
            let span = field(leaf, kind)?;
            Some(base.mutant(
                rule,
                leaf,
                format!("without {}", kind.label()),
                base.without(span),
            ))
        });
        dropped.collect()
    })
}

pub(super) fn emptied_fields(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let lists = NEEDED
            .iter()
            .filter(|(kind, _)| !matches!(kind, FieldKind::Files | FieldKind::TestsRequired));
        let values = ["none", "None.", ""];
        lists
            .flat_map(|&(kind, rule)| {
                values.map(|value| {
                    let what = format!("{}: {value:?}", kind.label());
                    base.mutant(rule, leaf, what, base.with_value(leaf, kind, value))
                })
            })
            .collect()
    })
}

pub(super) fn unreadable_tests_required(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        ["maybe", "", "if time permits", "ja"]
            .map(|value| {
                let text = base.with_value(leaf, FieldKind::TestsRequired, value);
                base.mutant(
                    "missing-tests-required",
                    leaf,
                    format!("Tests Required: {value:?}"),
                    text,
                )
            })
            .into()
    })
}

pub(super) fn several_commands(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let indent = " ".repeat(leaf.field_indent + 2);
        let below = |command: &str| format!("{}{indent}- {command}", base.plan.newline());
        [
            "cargo test a, grep -q b c".to_owned(),
            below("npm test, npm run lint"),
            below("sh a, b, pytest -q"),
        ]
        .map(|value| {
            let text = base.with_value(leaf, FieldKind::TestCommands, &value);
            base.mutant(
                "several-commands",
                leaf,
                format!("Test Commands: {value:?}"),
                text,
            )
        })
        .into()
    })
}

pub(super) fn hidden_characters(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        [
            '\u{200b}',
            '\u{202e}',
            '\u{e0041}',
            '\u{a0}',
            '\u{7f}',
            '\u{fe0f}',
        ]
        .map(|hidden| {
            let value = format!("sh a{hidden} b");
            let text = base.with_value(leaf, FieldKind::TestCommands, &value);
            let what = format!("Test Commands: {value:?}");
            base.mutant("hidden-character", leaf, what, text)
        })
        .into()
    })
}

pub(super) fn unknown_programs(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        [
            "crago test",
            "CI=1 ./grdlew test",
            "! pytets -q; true",
            "(jset)",
        ]
        .map(|value| {
            let text = base.with_value(leaf, FieldKind::TestCommands, value);
            base.mutant(
                "unknown-program",
                leaf,
                format!("Test Commands: {value}"),
                text,
            )
        })
        .into()
    })
}

pub(super) fn no_test_command(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        if !leaf.tests_required() {
            let text = base.with_value(leaf, FieldKind::TestsRequired, "yes");
            return vec![base.mutant("missing-test-command", leaf, "tests required", text)];
        }
        let given = [FieldKind::TestCommands, FieldKind::Verify].into_iter();
        let given = given.filter_map(|kind| Some((kind, field(leaf, kind)?)));
        given
            .flat_map(|(kind, span)| {
                let emptied = base.replaced(span, "Test Commands: none");
                [
                    (format!("without {}", kind.label()), base.without(span)),
                    ("no command".to_owned(), emptied),
                ]
            })
            .map(|(what, text)| base.mutant("missing-test-command", leaf, what, text))
            .collect()
    })
}

pub(super) fn no_setup(base: &Base) -> Vec<Mutant> {
    let root = base.plan.root.map(|root| &base.plan.tasks[root]);
    let said = root.and_then(|root| Some((root, field(root, FieldKind::Setup)?)));
    let mutant =
        |(root, span)| base.mutant("missing-setup", root, "without Setup", base.without(span));
    said.map(mutant).into_iter().collect()
}

pub(super) fn complexity(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let Some(source) = leaf.fields.value(FieldKind::Complexity) else {
            return Vec::new();
        };
        let changed = [
            ("missing-complexity", "0"),
            ("missing-complexity", "11"),
            ("missing-complexity", "small"),
            ("missing-complexity", "2.5"),
            ("missing-complexity", "99999999999999999999"),
            ("over-complexity", "8"),
            ("over-complexity", "9"),
            ("over-complexity", "10"),
        ];
        let dropped = if base.is_heading(leaf) {
            base.without(source.span)
        } else {
            base.text.replacen(
                &format!("{} (Complexity: {})", leaf.description, source.text),
                &leaf.description,
                1,
            )
        };
        let mut mutants: Vec<Mutant> = changed
            .map(|(rule, value)| base.mutant(rule, leaf, value, base.replaced(source.span, value)))
            .into();
        mutants.push(base.mutant("missing-complexity", leaf, "no complexity", dropped));
        mutants
    })
}

pub(super) fn boilerplate(base: &Base) -> Vec<Mutant> {
    let bare: Vec<&Task> = base
        .leaves()
        .filter(|leaf| field(leaf, FieldKind::Guardrails).is_none())
        .collect();
    let lines = [
        "Do NOT add new dependencies",
        "Do NOT modify files outside: a, b.",
        "do not add new dependencies; Do NOT modify files outside: src",
    ];
    let text = |line: &str| {
        let add = |leaf: &&Task| {
            let text = base.with_field(leaf, &format!("Guardrails: {line}"));
            let added = text.len() - base.text.len();
            let at = text
                .bytes()
                .zip(base.text.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            let at = text[..at].rfind('\n').map_or(0, |end| end + 1);
            (Span::new(at, at), text[at..at + added].to_owned())
        };
        base.changed(&mut bare.iter().map(add).collect::<Vec<_>>())
    };
    let mutant = |line: &&str| Mutant {
        rule: "boilerplate",
        what: (*line).to_owned(),
        at: At::Anywhere,
        touched: bare.iter().map(|leaf| leaf.id.to_string()).collect(),
        text: text(line),
    };
    let mutants = lines.iter().filter(|_| bare.len() > 2);
    mutants.map(mutant).collect()
}

pub(super) fn many_hints(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let hints = ["Begin here; a; b; c; d", "Begin here; a; b; c; d; e; f"];
        hints
            .map(|hints| {
                base.mutant(
                    "hint-count",
                    leaf,
                    hints,
                    base.with_value(leaf, FieldKind::Hints, hints),
                )
            })
            .into()
    })
}

pub(super) fn unknown_fields(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let added = [
            "Owner: me",
            "Effort: 3",
            "Depends on: 1",
            "Estimated time: two days",
            "담당: 민아",
            "Größe: klein",
        ];
        let added =
            added.map(|line| base.mutant("unknown-field", leaf, line, base.with_field(leaf, line)));
        let risk = "Risk: extreme";
        let risk = base.mutant(
            "unknown-field",
            leaf,
            risk,
            base.with_value(leaf, FieldKind::Risk, "extreme"),
        );
        let renamed = [
            FieldKind::Acceptance,
            FieldKind::Files,
            FieldKind::Hints,
            FieldKind::Guardrails,
        ];
        let renamed = renamed.into_iter().filter_map(|kind| {
            let span = field(leaf, kind)?;
            let label = Span::new(span.start, span.start + kind.label().len());
            Some(base.mutant(
                "unknown-field",
                leaf,
                format!("My {}", kind.label()),
                base.replaced(label, &format!("My {}", kind.label())),
            ))
        });
        added.into_iter().chain([risk]).chain(renamed).collect()
    })
}

pub(super) fn fields_given_twice(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let given = FieldKind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind, field(leaf, kind)?)));
        given
            .map(|(kind, span)| {
                let lines = lines_of(base.text, span);
                let mut copy = base.text[lines.start..lines.end].to_owned();
                if !copy.ends_with('\n') {
                    copy.insert_str(0, base.plan.newline());
                }
                let text = base.replaced(Span::new(lines.end, lines.end), &copy);
                base.mutant(
                    "unknown-field",
                    leaf,
                    format!("{} twice", kind.label()),
                    text,
                )
            })
            .collect()
    })
}

pub(super) fn fields_of_parents(base: &Base) -> Vec<Mutant> {
    parents(base)
        .flat_map(|parent| {
            [
                "Files: src",
                "Dependencies: none",
                "Acceptance: Prints 1",
                "Tests Required: no",
                "Risk: low",
            ]
            .map(|line| base.mutant("parent-fields", parent, line, base.with_field(parent, line)))
        })
        .collect()
}
