//! The mutators: each breaks a base in one way, for one rule, at every place where that way is open.

use std::collections::BTreeSet;

use fp_core::diagnostic::Span;
use fp_core::plan::{FieldKind, Lines, Task, natural};

use crate::base::{At, Base, EXCLUDED, LINK, Mutant, entries, field, lines_of};

type Mutator = fn(&Base) -> Vec<Mutant>;

/// All of them.
pub(crate) const ALL: &[Mutator] = &[
    dropped_fields,
    emptied_fields,
    unreadable_tests_required,
    no_test_command,
    complexity,
    ids_of_others,
    malformed_ids,
    swapped_ids,
    unknown_dependencies,
    cycles,
    dependencies_on_itself,
    dependencies_on_ancestors,
    escaping_paths,
    shared_files,
    missing_files,
    stale_references,
    vague_criteria,
    circular_criteria,
    no_boundary,
    few_and_many_hints,
    uncovered_requirements,
    leaking_scope,
    unknown_fields,
    fields_given_twice,
    fields_of_parents,
    one_child,
    six_children,
    no_tree,
    broken_heads,
    open_fences,
];

/// The mutants of each leaf.
fn of_leaves<'b>(base: &'b Base, each: impl Fn(&'b Task) -> Vec<Mutant>) -> Vec<Mutant> {
    base.leaves().flat_map(each).collect()
}

/// Fields that a leaf has to have, and the rule that says so.
const NEEDED: [(FieldKind, &str); 5] = [
    (FieldKind::Acceptance, "missing-acceptance"),
    (FieldKind::Files, "missing-files"),
    (FieldKind::TestsRequired, "missing-tests-required"),
    (FieldKind::Hints, "missing-hints"),
    (FieldKind::Guardrails, "missing-guardrails"),
];

fn dropped_fields(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let dropped = NEEDED.iter().filter_map(|&(kind, rule)| {
            let span = field(leaf, kind)?;
            Some(base.mutant(rule, leaf, format!("without {}", kind.label()), base.without(span)))
        });
        dropped.collect()
    })
}

fn emptied_fields(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let lists =
            NEEDED.iter().filter(|(kind, _)| !matches!(kind, FieldKind::Files | FieldKind::TestsRequired));
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

fn unreadable_tests_required(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        ["maybe", "", "if time permits", "ja"]
            .map(|value| {
                let text = base.with_value(leaf, FieldKind::TestsRequired, value);
                base.mutant("missing-tests-required", leaf, format!("Tests Required: {value:?}"), text)
            })
            .into()
    })
}

fn no_test_command(base: &Base) -> Vec<Mutant> {
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

fn complexity(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let Some(source) = &leaf.complexity_source else { return Vec::new() };
        let changed = [
            ("missing-complexity", "0"),
            ("missing-complexity", "11"),
            ("missing-complexity", "small"),
            ("missing-complexity", "2.5"),
            ("missing-complexity", "99999999999999999999"),
            ("over-complexity", "5"),
            ("over-complexity", "7"),
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

fn ids_of_others(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let siblings =
            leaf.parent.map(|parent| base.plan.tasks[parent].children.as_slice()).unwrap_or_default();
        let others = siblings.iter().map(|&task| &base.plan.tasks[task]).filter(|other| other.id != leaf.id);
        others
            .map(|other| {
                let mutant = base.mutant(
                    "duplicate-id",
                    leaf,
                    format!("called {}", other.id),
                    base.replaced(leaf.id_span, &other.id),
                );
                let touched = BTreeSet::from([leaf.id.clone(), other.id.clone()]);
                Mutant { at: At::Task(other.id.clone()), touched, ..mutant }
            })
            .collect()
    })
}

/// The text with a task and all dependencies on it renamed.
fn renamed(base: &Base, leaf: &Task, new: &str) -> String {
    let named = base.plan.tasks.iter().flat_map(|task| entries(&task.fields.dependencies));
    let named = named.filter(|item| item.text == leaf.id).map(|item| item.span);
    let mut changes: Vec<(Span, String)> =
        named.chain([leaf.id_span]).map(|span| (span, new.to_owned())).collect();
    base.changed(&mut changes)
}

fn malformed_ids(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let nested = base.above(leaf).count() > 1;
        let invalid = ["1..2", "9.", "-x", "../x", "é"].into_iter();
        let elsewhere = ["77", "88.1", "root.5"].into_iter().filter(|_| nested);
        invalid
            .chain(elsewhere)
            .map(|id| {
                let mutant =
                    base.mutant("malformed-id", leaf, format!("called {id}"), renamed(base, leaf, id));
                // Whoever waits for it was changed with it.
                let waiting =
                    base.leaves().filter(|other| other.dependencies().any(|named| named == leaf.id));
                let touched = waiting.map(|other| other.id.clone()).chain([id.to_owned()]).collect();
                Mutant { at: At::Task(id.to_owned()), touched, ..mutant }
            })
            .collect()
    })
}

/// A leaf changes ids with one that has another parent.
fn swapped_ids(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let nested = base.above(leaf).count() > 1;
        let others = base.leaves().filter(|other| nested && other.parent != leaf.parent);
        others
            .map(|other| {
                let mut changes = [(leaf.id_span, other.id.clone()), (other.id_span, leaf.id.clone())];
                let what = format!("swapped with {}", other.id);
                let mutant = base.mutant("malformed-id", leaf, what, base.changed(&mut changes));
                let touched = BTreeSet::from([leaf.id.clone(), other.id.clone()]);
                Mutant { at: At::Task(other.id.clone()), touched, ..mutant }
            })
            .collect()
    })
}

fn unknown_dependencies(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        ["77", "Task 77", "root2", "the parser", "1.1.1.1.1"]
            .map(|id| {
                base.mutant(
                    "unknown-dependency",
                    leaf,
                    format!("waits for {id}"),
                    base.with_dependency(leaf, id),
                )
            })
            .into()
    })
}

/// Each leaf that another one waits for waits for that one too.
fn cycles(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let waiting = base.leaves().filter(|other| other.dependencies().any(|named| named == leaf.id));
        waiting
            .map(|other| {
                let text = base.with_dependency(leaf, &other.id);
                let mutant = base.mutant(
                    "dependency-cycle",
                    leaf,
                    format!("waits for {}, which waits for it", other.id),
                    text,
                );
                let smallest = std::cmp::min_by(&leaf.id, &other.id, |a, b| natural::compare(a, b));
                let touched = BTreeSet::from([leaf.id.clone(), other.id.clone()]);
                Mutant { at: At::Task(smallest.clone()), touched, ..mutant }
            })
            .collect()
    })
}

fn dependencies_on_itself(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let alone = base.with_value(leaf, FieldKind::Dependencies, &leaf.id);
        [("too", base.with_dependency(leaf, &leaf.id)), ("alone", alone)]
            .map(|(what, text)| {
                base.mutant("self-dependency", leaf, format!("waits for itself {what}"), text)
            })
            .into()
    })
}

fn dependencies_on_ancestors(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        base.above(leaf)
            .map(|above| {
                let text = base.with_dependency(leaf, &above.id);
                base.mutant("ancestor-dependency", leaf, format!("waits for {}", above.id), text)
            })
            .collect()
    })
}

fn escaping_paths(base: &Base) -> Vec<Mutant> {
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
        let files = entries(&leaf.fields.files).iter();
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

/// Two leaves without an order between them change the same file, a folder over it, or a pattern that has it.
fn shared_files(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let earlier = base.leaves().take_while(|other| other.id != leaf.id);
        let free = earlier.filter(|other| !base.waits(other, leaf));
        let pairs = free.filter_map(|other| Some((other, other.files().next()?)));
        pairs
            .flat_map(|(other, file)| {
                let file = file.trim_end_matches('/');
                let folder = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
                let shared = [file.to_owned(), format!("./{file}"), folder.to_owned(), format!("{folder}/*")];
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
                let ids = [leaf.id.clone(), other.id.clone()];
                Mutant { at: At::OneOf(ids.to_vec()), touched: ids.into(), ..mutant }
            })
            .collect()
    })
}

fn missing_files(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let files = entries(&leaf.fields.files).iter().filter(|item| item.note.is_none());
        files
            .flat_map(|item| {
                let mistyped = format!("{}x", item.text.trim_end_matches('/'));
                ["nowhere/at/all.rs".to_owned(), mistyped].map(|path| (item, path))
            })
            .map(|(item, path)| {
                let text = base.replaced(item.span, &path);
                base.mutant("missing-file", leaf, format!("{} is {path}", item.text), text)
            })
            .collect()
    })
}

fn stale_references(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let rule = "stale-reference";
        let stale = [
            "nowhere/at/all.rs",
            "nowhere/at/all.rs:3 - the model",
            "`nowhere/all.rs:1-9` — see there",
            "../x.rs:1",
        ];
        let Some(given) = &leaf.fields.references else {
            return stale
                .map(|text| base.mutant(rule, leaf, text, base.with_value(leaf, FieldKind::References, text)))
                .into();
        };
        let files = given.value.iter().filter(|item| !item.text.contains("://"));
        files
            .flat_map(|item| {
                let path = item.text.trim_matches('`').split([':', ' ']).next().unwrap();
                let wrong = [format!("{path}:99999 - far behind"), format!("{path}:0"), format!("{path}x:1")];
                stale.map(str::to_owned).into_iter().chain(wrong).map(move |text| (item, text))
            })
            .map(|(item, text)| base.mutant(rule, leaf, text.clone(), base.replaced(item.span, &text)))
            .collect()
    })
}

fn vague_criteria(base: &Base) -> Vec<Mutant> {
    let wordings = [
        "The feature works correctly",
        "Everything works",
        "Works as expected.",
        "Errors are handled properly",
        "Errors are handled gracefully",
        "The code follows best practices",
        "The solution is robust and user-friendly",
        "Has comprehensive tests",
        "Performance is acceptable",
        "The page is easy to use",
        "The code is clean and well documented",
        "All edge cases are covered",
        "Funktioniert wie erwartet",
        "Fehler werden korrekt behandelt",
        "기능이 정상적으로 동작한다",
        "오류를 적절히 처리한다",
        "正しく動作する",
        "Fonctionne correctement",
        "Funciona correctamente",
    ];
    of_leaves(base, |leaf| {
        entries(&leaf.fields.acceptance)
            .iter()
            .flat_map(|item| wordings.iter().map(move |wording| (item, *wording)))
            .map(|(item, wording)| {
                base.mutant("vague-acceptance", leaf, wording, base.replaced(item.span, wording))
            })
            .collect()
    })
}

fn circular_criteria(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let title = &leaf.description;
        let wordings = [
            title.clone(),
            title.to_lowercase(),
            format!("{title} is implemented"),
            format!("The task to {title} is done."),
        ];
        entries(&leaf.fields.acceptance)
            .iter()
            .flat_map(|item| wordings.clone().map(|wording| (item, wording)))
            .map(|(item, wording)| {
                base.mutant("circular-acceptance", leaf, wording.clone(), base.replaced(item.span, &wording))
            })
            .collect()
    })
}

fn no_boundary(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let guardrails = entries(&leaf.fields.guardrails);
        let Some(boundary) = guardrails.iter().find(|item| item.text.contains("modify files outside")) else {
            return Vec::new();
        };
        ["Do NOT touch other files", "Leave the rest alone", "Modify files outside: src"]
            .map(|text| base.mutant("missing-file-boundary", leaf, text, base.replaced(boundary.span, text)))
            .into()
    })
}

fn few_and_many_hints(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let hints = ["Begin here", "Begin here; a; b; c; d", "Begin here; a; b; c; d; e; f"];
        hints
            .map(|hints| {
                base.mutant("hint-count", leaf, hints, base.with_value(leaf, FieldKind::Hints, hints))
            })
            .into()
    })
}

fn uncovered_requirements(base: &Base) -> Vec<Mutant> {
    let root = base.plan.root.map(|root| &base.plan.tasks[root]);
    of_leaves(base, |leaf| {
        let (Some(root), Some(span)) = (root, field(leaf, FieldKind::Covers)) else { return Vec::new() };
        [
            ("covers nothing", base.without(span)),
            ("covers none", base.replaced(span, "Covers: none")),
            ("covers R9", base.replaced(span, "Covers: R9")),
        ]
        .map(|(what, text)| {
            let mutant = base.mutant("uncovered-requirement", leaf, what, text);
            Mutant { at: At::Task(root.id.clone()), ..mutant }
        })
        .into()
    })
}

fn leaking_scope(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let lists = [&leaf.fields.acceptance, &leaf.fields.hints];
        let words = lists.into_iter().filter_map(|list| entries(list).first());
        let told = words.map(|item| (item.span, format!("Use a {EXCLUDED} for it")));
        let file =
            entries(&leaf.fields.files).first().map(|item| (item.span, format!("src/{EXCLUDED}/x.rs (new)")));
        let end = base.text[..leaf.span.end].rfind(&leaf.description).unwrap() + leaf.description.len();
        let title = (Span::new(end, end), format!(" with a {}", EXCLUDED.to_uppercase()));
        told.chain(file)
            .chain([title])
            .map(|(span, text)| base.mutant("scope-leak", leaf, text.clone(), base.replaced(span, &text)))
            .collect()
    })
}

fn unknown_fields(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let added = [
            "Owner: me",
            "Effort: 3",
            "Depends on: 1",
            "Estimated time: two days",
            "담당: 민아",
            "Größe: klein",
        ];
        let added = added.map(|line| base.mutant("unknown-field", leaf, line, base.with_field(leaf, line)));
        let risk = "Risk: extreme";
        let risk =
            base.mutant("unknown-field", leaf, risk, base.with_value(leaf, FieldKind::Risk, "extreme"));
        let renamed = [FieldKind::Acceptance, FieldKind::Files, FieldKind::Hints, FieldKind::Guardrails];
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

fn fields_given_twice(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let given = FieldKind::ALL.into_iter().filter_map(|kind| Some((kind, field(leaf, kind)?)));
        given
            .map(|(kind, span)| {
                let lines = lines_of(&base.text, span);
                let mut copy = base.text[lines.start..lines.end].to_owned();
                if !copy.ends_with('\n') {
                    copy.insert_str(0, base.plan.newline.as_str());
                }
                let text = base.replaced(Span::new(lines.end, lines.end), &copy);
                base.mutant("duplicate-field", leaf, format!("{} twice", kind.label()), text)
            })
            .collect()
    })
}

fn parents(base: &Base) -> impl Iterator<Item = &Task> {
    base.plan.tasks.iter().filter(|task| !task.is_leaf() && !task.synthetic)
}

fn fields_of_parents(base: &Base) -> Vec<Mutant> {
    parents(base)
        .flat_map(|parent| {
            ["Files: src", "Dependencies: none", "Acceptance: Prints 1", "Tests Required: no", "Risk: low"]
                .map(|line| base.mutant("parent-fields", parent, line, base.with_field(parent, line)))
        })
        .collect()
}

fn one_child(base: &Base) -> Vec<Mutant> {
    let inner = parents(base).filter(|parent| parent.parent.is_some() && parent.children.len() == 2);
    inner
        .flat_map(|parent| {
            let children = parent.children.iter().map(|&child| &base.plan.tasks[child]);
            children.map(|child| {
                let text = base.without(child.extent);
                base.mutant("subtask-count", parent, format!("without {}", child.id), text)
            })
        })
        .collect()
}

fn six_children(base: &Base) -> Vec<Mutant> {
    let inner = parents(base).filter(|parent| parent.parent.is_some());
    inner
        .flat_map(|parent| {
            let last = &base.plan.tasks[parent.children[parent.children.len() - 1]];
            let lines = lines_of(&base.text, last.extent);
            let files = field(last, FieldKind::Files).unwrap();
            let own = format!(
                "{}Files: none{}",
                &base.text[lines.start..files.start],
                &base.text[files.end..lines.end]
            );
            [6, 7, 12].map(|count| {
                let ids: Vec<String> = (parent.children.len() + 1..=count)
                    .map(|number| format!("{}.{number}", parent.id))
                    .collect();
                let more: String = ids
                    .iter()
                    .map(|id| {
                        own.replacen(&format!("{}]", last.id), &format!("{id}]"), 1)
                            + base.plan.newline.as_str()
                    })
                    .collect();
                let text = base.replaced(Span::new(lines.end, lines.end), &more);
                let mutant = base.mutant("subtask-count", parent, format!("{count} children"), text);
                let touched = ids.into_iter().chain([parent.id.clone()]).collect();
                Mutant { touched, ..mutant }
            })
        })
        .collect()
}

fn no_tree(base: &Base) -> Vec<Mutant> {
    // Comments don't nest.
    let text = base.text.trim_start_matches('\u{feff}').replace("<!--", "").replace("-->", "");
    let quoted: String = text.split_inclusive('\n').map(|line| format!("> {line}")).collect();
    let cases = [
        ("in a fence", format!("```text\n{text}\n```\n")),
        ("in another fence", format!("~~~~\n{text}\n~~~~\n")),
        ("quoted", quoted),
        ("in a comment", format!("<!--\n{text}\n-->\n").replace("\n\n", "\n")),
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

/// Lines that start like a task and aren't one.
fn broken_heads(base: &Base) -> Vec<Mutant> {
    let lines = Lines::new(&base.text);
    let tasks = base.plan.tasks.iter().filter(|task| !task.synthetic && task.complexity.is_some());
    tasks
        .flat_map(|task| {
            let line = lines_of(&base.text, task.span);
            let head = &base.text[line.start..line.end];
            let id = format!("[ID: {}]", task.id);
            let number = lines.position(task.span.start).line;
            let changes: Vec<(&str, String)> = if base.is_heading(task) {
                vec![("unclosed", head.replacen(&format!("[{}]", task.id), &format!("[{}", task.id), 1))]
            } else {
                vec![
                    ("no colon", head.replacen(&id, &format!("[ID {}]", task.id), 1)),
                    ("no label", head.replacen(&id, &format!("[{}]", task.id), 1)),
                    ("unclosed", head.replacen(&id, &format!("[ID: {}", task.id), 1)),
                    ("round", head.replacen(&id, &format!("(ID: {})", task.id), 1)),
                    ("curly", head.replacen(&id, &format!("{{ID: {}}}", task.id), 1)),
                    ("no brackets", head.replacen(&id, &format!("ID: {}", task.id), 1)),
                    ("no id", head.replacen(&id, "[ID: ]", 1)),
                    ("equals", head.replacen(&id, &format!("[ID={}]", task.id), 1)),
                    ("no title", head.replacen(&format!(" {}", task.description), "", 1)),
                    ("no bullet", head.replacen("- [ID", "[ID", 1).replacen("* [ID", "[ID", 1)),
                ]
            };
            changes
                .into_iter()
                .filter(|(_, changed)| changed != head)
                .map(|(what, changed)| {
                    let mutant = base.mutant("syntax", task, what, base.replaced(line, &changed));
                    // The finding is about the line, whatever can be made out of its id.
                    let touched = BTreeSet::from([task.id.clone(), String::new()]);
                    Mutant { at: At::Line(number), touched, ..mutant }
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// A fence that is opened in front of a task and never closed.
fn open_fences(base: &Base) -> Vec<Mutant> {
    of_leaves(base, |leaf| {
        let start = lines_of(&base.text, leaf.span).start;
        ["```", "~~~", "```rust"]
            .map(|fence| {
                let line = format!("{fence}{}", base.plan.newline.as_str());
                let mutant =
                    base.mutant("syntax", leaf, fence, base.replaced(Span::new(start, start), &line));
                Mutant { at: At::Anywhere, ..mutant }
            })
            .into()
    })
}
