//! The laws of exporting: it never fails, what is JSON parses, and whoever reads it back has the same plan.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::exchange::import::{Source, read, recognise};
use crate::exchange::portable::{PortableFile, PortableTask, Work};

/// The formats that can be read too.
const BOTH_WAYS: [(Target, Source); 5] = [
    (Target::Ccw, Source::Ccw),
    (Target::TaskMaster, Source::TaskMaster),
    (Target::SpecKit, Source::SpecKit),
    (Target::Beads, Source::Beads),
    (Target::Json, Source::Json),
];

fn come_back(target: Target, source: Source, plan: &PortablePlan, from: Option<&str>) -> PortablePlan {
    let folder = export(target, plan, from);
    let (back, _) = read(source, &folder).unwrap_or_else(|error| panic!("{target:?}: {error}\n{folder:#?}"));
    back
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zA-Z0-9 ./_-]{0,12}",
        2 => "[-a1 `*_#<>\\[\\](){}&~|!:;,.\"'$=+@\\\\\n\t한글]{0,16}",
        1 => any::<String>(),
        1 => Just("none".to_owned()),
        1 => Just("true".to_owned()),
        1 => Just("- [ ] T001 [P] x in src/a.rs".to_owned()),
    ]
}

fn list() -> impl Strategy<Value = Option<Vec<String>>> {
    prop::option::of(prop::collection::vec(text(), 0..3))
}

fn work() -> impl Strategy<Value = Work> {
    prop_oneof![
        Just(Work::Todo),
        Just(Work::Running),
        prop::option::of(text()).prop_map(|commit| Work::Done { commit }),
        prop::option::of(text()).prop_map(|reason| Work::Failed { reason }),
        Just(Work::Skipped),
    ]
}

fn ext() -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof![
        "[a-z]{1,3}",
        prop::sample::select(vec![
            "status",
            "id",
            "details",
            "description",
            "convergence",
            "tags",
            "parallel",
            "design",
            "metadata",
            "dependencies",
            "subtasks",
            "summary",
            "sections",
            "effort",
            "files",
            "fp",
            "title",
        ])
        .prop_map(str::to_owned),
    ];
    let value = prop_oneof![
        text().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(json!({ "a": [1, null], "verification": "x" })),
        Just(json!(["x", { "type": "related" }])),
    ];
    prop::collection::btree_map(key, value, 0..3).prop_map(|map| map.into_iter().collect())
}

fn task() -> impl Strategy<Value = PortableTask> {
    let file = (
        text(),
        prop::option::of(prop_oneof![Just("(new)".to_owned()), Just("(new: all)".to_owned()), text()]),
    );
    let files = prop::option::of(prop::collection::vec(
        file.prop_map(|(path, note)| PortableFile { path, note }),
        0..3,
    ));
    let lists = (list(), list(), list(), list(), list(), list());
    let texts = (text(), prop::option::of(text()), prop::option::of(text()), prop::option::of(text()));
    let others = (
        prop::option::of(text()),
        prop::option::of(text()),
        prop::option::of(0..12_u32),
        any::<Option<bool>>(),
    );
    (lists, texts, others, files, work(), ext()).prop_map(|(lists, texts, others, files, work, ext)| {
        PortableTask {
            title: texts.0,
            description: texts.1,
            complexity: others.2,
            acceptance: lists.0,
            files,
            tests_required: others.3,
            hints: lists.1,
            references: lists.2,
            guardrails: lists.3,
            test_commands: lists.4,
            verify: texts.2,
            covers: lists.5,
            group: texts.3,
            risk: others.0,
            priority: others.1,
            work,
            ext,
            ..PortableTask::default()
        }
    })
}

/// Plans whose tasks have different ids, each parent right before its children.
fn plan() -> impl Strategy<Value = PortablePlan> {
    let id = prop_oneof![
        "[0-9]",
        "[1-3]\\.[1-9]",
        "IMPL-[0-9]{1,2}",
        "T00[0-9]",
        "bd-[a-f]{2}",
        "[a-z한/. ]{1,4}"
    ];
    let node =
        (id, 0..4_usize, task(), prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..3));
    let nodes = prop::collection::vec(node, 1..6);
    (nodes, text(), prop::option::of(text()), ext()).prop_map(|(nodes, title, goal, ext)| {
        let mut ids: Vec<String> = Vec::new();
        for (id, ..) in &nodes {
            let mut id = id.clone();
            while ids.contains(&id) {
                id.push('x');
            }
            ids.push(id);
        }
        let mut way: Vec<usize> = Vec::new();
        let mut tasks = Vec::new();
        for (at, (_, depth, task, waits)) in nodes.into_iter().enumerate() {
            way.truncate(depth.min(way.len()));
            let known = |(index, known): &(prop::sample::Index, bool)| match known {
                true => index.get(&ids).clone(),
                false => "gone".to_owned(),
            };
            let dependencies = if depth == 3 { None } else { Some(waits.iter().map(known).collect()) };
            tasks.push(PortableTask {
                id: ids[at].clone(),
                parent: way.last().copied(),
                dependencies,
                ..task
            });
            way.push(at);
        }
        PortablePlan { title, goal, tasks, ext }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_exported_is_the_same_plan_when_it_is_read(plan in plan(), home in any::<bool>()) {
        for (target, source) in BOTH_WAYS {
            let from = home.then_some(target.name());
            let back = come_back(target, source, &plan, from);
            prop_assert_eq!(&back, &plan, "{:?} {:#?}", target, export(target, &plan, from));
        }
    }

    #[test]
    fn what_is_exported_is_known_for_what_it_is(plan in plan()) {
        for (target, source) in BOTH_WAYS {
            let folder = export(target, &plan, None);
            let known = recognise(&folder).map(|known| known.source).map_err(|error| error.to_string());
            prop_assert_eq!(known, Ok(source), "{:#?}", folder);
        }
    }

    #[test]
    fn what_is_json_parses(plan in plan()) {
        for target in Target::ALL {
            for (path, text) in export(target, &plan, None).iter() {
                if path.ends_with(".json") {
                    prop_assert!(serde_json::from_str::<Value>(text).is_ok(), "{text}");
                } else if path.ends_with(".jsonl") {
                    prop_assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
                }
            }
        }
    }
}

/// What somebody changes in another system counts when it comes back, and the rest is as it was.
mod edited {
    use super::*;

    fn sample() -> PortablePlan {
        let text = |text: &str| Some(text.to_owned());
        let list = |items: &[&str]| Some(items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>());
        let task = |id: &str, parent: Option<usize>| PortableTask {
            id: id.to_owned(),
            parent,
            title: format!("Do {id}"),
            description: text("First.\n\nSecond."),
            complexity: Some(4),
            acceptance: list(&["`a` is there", "b"]),
            dependencies: list(&[]),
            files: Some(vec![PortableFile { path: "src/a.rs".into(), note: text("(new)") }]),
            tests_required: Some(false),
            hints: list(&["One way", "Another"]),
            guardrails: list(&["Not this"]),
            verify: text("test -f src/a.rs"),
            ..PortableTask::default()
        };
        let parent = PortableTask { id: "1".into(), title: "Part".into(), ..PortableTask::default() };
        let mut last = task("2", None);
        last.dependencies = list(&["1"]);
        PortablePlan {
            title: "Whole".into(),
            goal: text("Goal\nin lines"),
            tasks: vec![parent, task("1.1", Some(0)), task("1.2", Some(0)), last],
            ..PortablePlan::default()
        }
    }

    /// The plan after `from` was replaced by `to`, once, in the file at `path`.
    fn after(target: Target, source: Source, path: &str, from: &str, to: &str) -> PortablePlan {
        let folder = export(target, &sample(), None);
        assert!(folder.text(path).unwrap().contains(from), "{folder:#?}");
        let files = folder
            .iter()
            .map(|(at, text)| (at, if at == path { text.replacen(from, to, 1) } else { text.to_owned() }));
        read(source, &files.collect()).unwrap().0
    }

    #[test]
    fn a_state() {
        let check = |target, source, path: &str, from: &str, to: &str, at: usize| {
            let mut expect = sample();
            expect.tasks[at].work = Work::Done { commit: None };
            assert_eq!(after(target, source, path, from, to), expect, "{target:?}");
        };
        let (from, to) = ("- [ ] **IMPL-1.1**", "- [x] **IMPL-1.1**");
        check(Target::Ccw, Source::Ccw, "TODO_LIST.md", from, to, 1);
        check(Target::SpecKit, Source::SpecKit, "tasks.md", "- [ ] T002", "- [x] T002", 2);
        check(Target::Beads, Source::Beads, "issues.jsonl", r#""status":"open""#, r#""status":"closed""#, 0);
        check(Target::TaskMaster, Source::TaskMaster, "tasks.json", "\"pending\"", "\"done\"", 0);
    }

    #[test]
    fn a_text_that_was_kept_beside() {
        let check = |target, source, path: &str| {
            let found = after(target, source, path, "Second.", "Third.");
            let description = found.tasks[1].description.as_deref().unwrap();
            assert!(description.starts_with("First.\n\nThird."), "{target:?}: {description}");
            let rest =
                PortableTask { description: sample().tasks[1].description.clone(), ..found.tasks[1].clone() };
            assert_eq!(rest, sample().tasks[1], "{target:?}");
        };
        check(Target::Ccw, Source::Ccw, ".task/IMPL-1.1.json");
        check(Target::Beads, Source::Beads, "issues.jsonl");
        check(Target::TaskMaster, Source::TaskMaster, "tasks.json");
        check(Target::SpecKit, Source::SpecKit, "tasks.md");
    }

    #[test]
    fn a_field_of_the_systems_own() {
        let (from, to) = ("\"effort\": \"medium\"", "\"effort\": \"large\", \"rationale\": \"why\"");
        let mut expect = sample();
        expect.tasks[1].ext = [("effort".to_owned(), json!("large")), ("rationale".to_owned(), json!("why"))]
            .into_iter()
            .collect();
        assert_eq!(after(Target::Ccw, Source::Ccw, ".task/IMPL-1.1.json", from, to), expect);
    }

    #[test]
    fn a_key_that_another_program_has_too_is_left_to_it() {
        let line = r#"{"id":"bd-1","title":"A","status":"open","issue_type":"task","fp":{"color":"red"}}"#;
        let (plan, _) = read(Source::Beads, &[("issues.jsonl", line)].into_iter().collect()).unwrap();
        assert_eq!(plan.tasks[0].ext["fp"], json!({ "color": "red" }));
    }
}
