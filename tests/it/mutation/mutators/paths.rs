//! Mutations of files and references.

use fp_plan::diagnostic::Span;
use fp_plan::plan::FieldKind;

use super::of_leaves;
use crate::mutation::base::{At, Base, LINK, Mutant, field};

pub(super) fn escaping_paths(base: &Base) -> Vec<Mutant> {
    let linked = format!("{LINK}/etc/passwd");
    let paths = [
        "/etc/passwd",
        "../x.rs",
        "src/../../x.rs",
        "~/x.rs",
        "~root/x",
        "C:\\x.rs",
        "d:/x.rs",
        "\\\\host\\share",
        "..",
        "a\u{1b}[31m.rs",
        "src\\..\\..\\x",
        &linked,
    ];
    of_leaves(base, |leaf| {
        let files = leaf.fields.items(FieldKind::Files).iter();
        files
            .flat_map(|item| paths.iter().map(move |path| (item, *path)))
            .map(|(item, path)| {
                base.mutant(
                    "path-escape",
                    leaf,
                    format!("{} is {path:?}", item.text),
                    base.replaced(item.span, path),
                )
            })
            .collect()
    })
}

/// Mutants in which two unordered leaves change the same file, a folder that contains it, or a pattern that covers it.
pub(super) fn shared_files(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let earlier = base.leaves().take_while(|other| other.id != leaf.id);
        let free = earlier.filter(|other| !base.waits(other, leaf));
        let pairs = free.filter_map(|other| Some((other, other.files().next()?)));
        pairs
            .flat_map(|(other, file)| {
                let file = file.trim_end_matches('/');
                let folder = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
                let shared = [
                    file.to_owned(),
                    format!("./{file}"),
                    folder.to_owned(),
                    format!("{folder}/*"),
                ];
                shared.map(|shared| (other, shared))
            })
            .map(|(other, shared)| {
                let mut changes: Vec<(Span, String)> = [
                    (FieldKind::Files, format!("Files: {shared} (new)")),
                    (FieldKind::Dependencies, "Dependencies: none".to_owned()),
                ]
                .into_iter()
                .filter_map(|(kind, line)| Some((field(leaf, kind)?, line)))
                .collect();
                let text = base.changed(&mut changes);
                let mutant = base.mutant(
                    "file-conflict",
                    leaf,
                    format!("{shared} is also that of {}", other.id),
                    text,
                );
                let ids = [leaf.id.to_string(), other.id.to_string()];
                Mutant {
                    at: At::OneOf(ids.to_vec()),
                    touched: ids.into(),
                    ..mutant
                }
            })
            .collect()
    })
}

pub(super) fn missing_files(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let files = leaf
            .fields
            .items(FieldKind::Files)
            .iter()
            .filter(|item| item.note.is_none());
        files
            .flat_map(|item| {
                let mistyped = format!("{}x", item.text.trim_end_matches('/'));
                ["nowhere/at/all.rs".to_owned(), mistyped].map(|path| (item, path))
            })
            .map(|(item, path)| {
                let text = base.replaced(item.span, &path);
                base.mutant(
                    "missing-file",
                    leaf,
                    format!("{} is {path}", item.text),
                    text,
                )
            })
            .collect()
    })
}

pub(super) fn stale_references(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let rule = "stale-reference";
        let stale = [
            "nowhere/at/all.rs",
            "nowhere/at/all.rs:3 - the model",
            "`nowhere/all.rs:1-9` — see there",
            "../x.rs:1",
        ];
        let Some(given) = leaf.fields.get(FieldKind::References) else {
            return stale
                .map(|text| {
                    base.mutant(
                        rule,
                        leaf,
                        text,
                        base.with_value(leaf, FieldKind::References, text),
                    )
                })
                .into();
        };
        let files = given.items.iter().filter(|item| !item.text.contains("://"));
        files
            .flat_map(|item| {
                let path = item
                    .text
                    .trim_matches('`')
                    .split([':', ' '])
                    .next()
                    .unwrap();
                let wrong = [
                    format!("{path}:99999 - far behind"),
                    format!("{path}:0"),
                    format!("{path}x:1"),
                ];
                stale
                    .map(str::to_owned)
                    .into_iter()
                    .chain(wrong)
                    .map(move |text| (item, text))
            })
            .map(|(item, text)| {
                base.mutant(rule, leaf, text.clone(), base.replaced(item.span, &text))
            })
            .collect()
    })
}
