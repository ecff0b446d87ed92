//! What is drafted is read back as it was meant, whatever it says.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::exchange::check::settle;
use crate::exchange::portable::PortableFile;
use crate::plan::format;

/// The tree of a draft, which has to be canonical.
fn tree(draft: &Draft) -> Plan<'_> {
    let (tree, findings) = parse(&draft.text);
    assert_eq!(findings, [], "{}", draft.text);
    assert_eq!(format(&draft.text).as_ref(), Ok(&draft.text));
    tree
}

fn task(id: &str, title: &str) -> PortableTask {
    PortableTask { id: id.into(), title: title.into(), ..PortableTask::default() }
}

#[test]
fn a_plan_without_a_title_has_one() {
    let plan = PortablePlan { tasks: vec![task("1", "")], ..PortablePlan::default() };
    let draft = Draft::of(&plan);
    assert_eq!(
        draft.text,
        "# Task Decomposition\n\n## Root Task\n- [ID: root] Imported plan\n\n### Subtasks\n- [ID: 1] Task 1\n"
    );
}

#[test]
fn what_can_not_be_written_is_kept() {
    let hostile = PortableTask {
        risk: Some("cosmic".into()),
        acceptance: Some(vec!["It is there".into(), "none".into(), "  ".into()]),
        ..task("x", "(Complexity: 99)")
    };
    let plan = PortablePlan { title: "T".into(), tasks: vec![hostile], ..PortablePlan::default() };
    let draft = Draft::of(&plan);
    let tree = tree(&draft);
    assert_eq!(tree.tasks[1].acceptance().collect::<Vec<_>>(), ["It is there"]);
    let origin = draft.origin(&plan, "json", "x.json", Timestamp::UNIX_EPOCH);
    assert_eq!(origin.tasks["x"].ext[UNWRITTEN], json!({ "risk": "cosmic", "title": "(Complexity: 99)" }));
    assert_eq!(draft.notices.len(), 1);
}

#[test]
fn a_long_description_stays_whole() {
    let long = "a line of words\n".repeat(100_000);
    let plan = PortablePlan {
        tasks: vec![PortableTask { description: Some(long.clone()), ..task("1", "A") }],
        ..PortablePlan::default()
    };
    let draft = Draft::of(&plan);
    let tree = tree(&draft);
    assert_eq!(tree.tasks[1].fields.text(crate::plan::field::FieldKind::Description), Some(long.trim()));
}

#[test]
fn done_leaves_are_named_as_in_the_tree() {
    let done = |task: PortableTask| PortableTask { work: Work::Done { commit: Some("abc".into()) }, ..task };
    let plan = PortablePlan {
        tasks: vec![done(task("p", "P")), done(PortableTask { parent: Some(0), ..task("q", "# Q  q") })],
        ..PortablePlan::default()
    };
    let done = Draft::of(&plan).done(&plan);
    assert_eq!(done, [Done { id: "1.1".into(), title: "# Q q".into(), commit: Some("abc".into()) }]);
}

/// Texts that mean something in Markdown or in a tree, and any others.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9 ]{0,12}",
        2 => prop::sample::select(vec![
            "- [ID: 1] x", "\n", "\n\n", "```", "~~~", "<!--", "-->", "## [2] y", "Files: a", "(Complexity: 3)", "none", "`", "[", "](", "|",
            "---", "===", "> ", "1. ", "    ", "\t", "\r\n", "\u{0}", "\u{1b}[1m", "한글", "; ", ", ", "and", "\\", "*", "<div>", "[a]: b",
            "Dependencies: 1", "- Complexity: x", "\u{feff}", "\u{2028}", "&amp;", "../x", "“", "#",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn texts() -> impl Strategy<Value = Option<Vec<String>>> {
    prop::option::of(prop::collection::vec(text(), 0..3))
}

fn any_task() -> impl Strategy<Value = PortableTask> {
    let head =
        (text(), text(), prop::option::of(text()), prop::option::of(0..12_u32), any::<prop::sample::Index>());
    let lists = (
        texts(),
        texts(),
        texts(),
        texts(),
        texts(),
        prop::collection::vec(prop_oneof![Just("a".to_owned()), Just("1".to_owned()), text()], 0..3),
    );
    let others = (
        prop::option::of(prop::collection::vec((text(), prop::option::of(text())), 0..3)),
        prop::option::of(text()),
        prop::option::of(text()),
        prop::option::of(any::<bool>()),
    );
    (head, lists, others).prop_map(|((id, title, description, complexity, parent), lists, others)| {
        PortableTask {
            id,
            title,
            description,
            complexity,
            parent: Some(parent.index(4)),
            acceptance: lists.0,
            hints: lists.1,
            guardrails: lists.2,
            references: lists.3,
            test_commands: lists.4,
            dependencies: Some(lists.5),
            files: others
                .0
                .map(|files| files.into_iter().map(|(path, note)| PortableFile { path, note }).collect()),
            group: others.1,
            verify: others.2,
            tests_required: others.3,
            ..PortableTask::default()
        }
    })
}

fn any_plan() -> impl Strategy<Value = PortablePlan> {
    (text(), prop::collection::vec(any_task(), 1..6)).prop_map(|(title, mut tasks)| {
        for (at, task) in tasks.iter_mut().enumerate() {
            task.parent = task.parent.filter(|parent| *parent < at);
        }
        PortablePlan { title, tasks, ..PortablePlan::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whatever a plan says, its draft is a canonical tree of the same shape, and what is not in it is kept.
    #[test]
    fn any_plan_is_drafted_and_read_back(mut plan in any_plan()) {
        let _ = settle(&mut plan);
        let draft = Draft::of(&plan);
        let (tree, findings) = parse(&draft.text);
        prop_assert!(findings.is_empty(), "{:?}\n{}", findings, draft.text);
        let formatted = format(&draft.text);
        prop_assert_eq!(formatted.as_ref(), Ok(&draft.text));
        prop_assert_eq!(tree.tasks.len(), plan.tasks.len() + 1, "{}", draft.text);
        let origin = draft.origin(&plan, "json", "x", Timestamp::UNIX_EPOCH);
        for (task, id) in plan.tasks.iter().zip(&draft.ids) {
            let found = tree.find(id);
            prop_assert!(found.is_some(), "{} is gone:\n{}", id, draft.text);
            let Some(found) = found else { continue };
            let parent = task.parent.map_or("root", |parent| draft.ids[parent].as_str());
            prop_assert_eq!(found.parent.map(|parent| &*tree.tasks[parent].id), Some(parent));
            prop_assert_eq!(found.complexity, task.complexity);
            let kept = serde_json::to_string(&origin.tasks[id]).unwrap_or_default();
            for criterion in task.acceptance.iter().flatten().map(|text| one_line(text)).filter(|text| !is_nothing(text)) {
                let encoded = json!(criterion).to_string();
                prop_assert!(found.acceptance().any(|text| text == criterion) || kept.contains(&encoded), "{:?} is lost:\n{}", criterion, draft.text);
            }
        }
    }
}
