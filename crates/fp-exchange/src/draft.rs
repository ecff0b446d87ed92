//! Turns a portable plan into the text of a task tree, and into a record of where each task came from.
//!
//! Untrusted text can contain any Markdown. So each task is written, read back and compared. A text that would be read
//! as something else is kept in `import.json` instead of the tree.

use std::collections::{HashMap, HashSet};

use fp_plan::plan::id::TaskId;
use fp_plan::plan::meaning::difference;
use fp_plan::plan::{FieldForm, FieldKind, Item, Plan, Task, parse, write};
use fp_plan::text::one_line;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::formats::SourceFormat;
use crate::portable::{PortablePlan, PortableTask, TaskWork, text_item};
use crate::settle::{children_of, fit_to_tree};

/// The key in `ext` for texts that can't be written in a tree.
const UNWRITTEN: &str = "unwritten";
/// Longest source id to keep: a longer one is of no use in a tree.
const MAX_OWN_ID: usize = 40;

/// A tree that can be written to `tasks.md`, and the record of its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanDraft {
    /// The settled plan. The `ext` of a task keeps texts that the tree can't hold.
    pub plan: PortablePlan,
    /// The tree in canonical form.
    pub text: String,
    /// Each task's id in `text`.
    pub ids: Vec<String>,
}

impl PlanDraft {
    pub fn new(mut plan: PortablePlan) -> Self {
        fit_to_tree(&mut plan);
        let ids = assign_ids(&plan);
        let text = write_readable(&mut plan, &ids);
        let unwritten = plan.tasks.iter().filter_map(|task| {
            let fields = task.ext.get(UNWRITTEN)?.as_object()?.keys();
            let fields = fields.map(String::as_str).collect::<Vec<_>>().join(", ");
            let id = &task.id;
            Some(format!(
                "{id}: a tree can't hold this, so import.json keeps it: {fields}"
            ))
        });
        let unwritten: Vec<String> = unwritten.collect();
        unwritten.into_iter().for_each(|text| plan.add_notice(text));
        Self { plan, text, ids }
    }

    /// The leaves that are done: their ids and titles in the tree, and the commits that the source names.
    pub fn done(&self) -> Vec<(TaskId, String, Option<String>)> {
        let (tree, _) = parse(&self.text);
        let titles = tree.leaves().map(|leaf| (&*leaf.id, &*leaf.description));
        let titles: HashMap<&str, &str> = titles.collect();
        let tasks = self.plan.tasks.iter().zip(&self.ids);
        let done = tasks.filter_map(|(task, id)| {
            let TaskWork::Done { commit } = &task.work else {
                return None;
            };
            let title = (*titles.get(id.as_str())?).to_owned();
            Some((TaskId::new(id.as_str()).ok()?, title, commit.clone()))
        });
        done.collect()
    }

    /// The text of `import.json` for an import from `path` in the format `from`: where the plan came from, and
    /// everything in its source for which the tree has no field.
    pub fn origin(&self, from: SourceFormat, path: &str, at: Timestamp) -> String {
        let with_ext = |mut json: Value, ext: &Map<String, Value>| {
            if !ext.is_empty() {
                json["ext"] = json!(ext);
            }
            json
        };
        // Keyed by the ids in `tasks.md`, each task with its id in the source.
        let tasks = self.ids.iter().cloned().zip(&self.plan.tasks);
        let tasks = tasks.map(|(id, task)| (id, with_ext(json!({ "id": task.id }), &task.ext)));
        let origin = json!({
            "schemaVersion": 1,
            "from": from,
            "path": path,
            "importedAt": at,
            "tasks": tasks.collect::<Map<_, _>>(),
        });
        format!("{:#}\n", with_ext(origin, &self.plan.ext))
    }
}

/// Returns an id for each task: the source's own if all of them can be ids of a tree, else numbers.
fn assign_ids(plan: &PortablePlan) -> Vec<String> {
    let own: Option<Vec<String>> = plan.tasks.iter().map(own_id).collect();
    own.filter(|ids| are_valid_ids(plan, ids))
        .unwrap_or_else(|| new_numbers(plan))
}

fn own_id(task: &PortableTask) -> Option<String> {
    let is_id = TaskId::new(task.id.as_str()).is_ok() && task.id.len() <= MAX_OWN_ID;
    // These words mean something else where an id can appear.
    let is_word = ["none", "and", "root", "task", "id"].contains(&task.id.to_lowercase().as_str());
    (is_id && !is_word).then(|| task.id.clone())
}

/// True if each id is used only once, even on case-insensitive disks, and extends its parent's id.
fn are_valid_ids(plan: &PortablePlan, ids: &[String]) -> bool {
    let mut seen = HashSet::new();
    let unique = ids
        .iter()
        .all(|id| id != "root" && seen.insert(id.to_lowercase()));
    let extends = |(task, id): (&PortableTask, &String)| match task.parent {
        Some(parent) => id
            .strip_prefix(ids[parent].as_str())
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|rest| !rest.is_empty() && !rest.contains('.')),
        None => !id.contains('.'),
    };
    unique && plan.tasks.iter().zip(ids).all(extends)
}

fn new_numbers(plan: &PortablePlan) -> Vec<String> {
    let mut ids: Vec<String> = Vec::with_capacity(plan.tasks.len());
    let mut next = vec![1_u32; plan.tasks.len() + 1];
    for task in &plan.tasks {
        let number = &mut next[task.parent.unwrap_or(plan.tasks.len())];
        let id = match task.parent {
            Some(parent) => format!("{}.{number}", ids[parent]),
            None => number.to_string(),
        };
        *number += 1;
        ids.push(id);
    }
    ids
}

/// Converts `portable` into a task of the tree, keeping only the texts that survive being written and read. The rest
/// stay in the `ext` of `portable`, and so do a parent's fields except description and complexity. The caller sets the
/// dependencies.
fn readable_task(portable: &mut PortableTask, id: &str, is_parent: bool) -> Task<'static> {
    let title = one_line(&portable.title);
    let mut task = Task {
        id: id.to_owned().into(),
        description: readable_title(&title, id).into(),
        ..Task::default()
    };
    if task.description != title && !title.is_empty() {
        let title = portable.title.clone();
        keep_unwritten(portable, "title", title.into());
    }
    for kind in FieldKind::ALL {
        let Some(field) = portable.fields.get(kind) else {
            continue;
        };
        let mut items: Vec<Item<'static>> = field
            .items
            .iter()
            .filter_map(|item| clean_item(kind, item))
            .filter(|item| kind != FieldKind::Description || item.text != title)
            .collect();
        let said = items.len();
        let is_of_leaves = ![FieldKind::Complexity, FieldKind::Description].contains(&kind);
        let is_ignored = is_parent && is_of_leaves;
        if is_ignored {
            items.clear();
        } else {
            retain_readable(&task, kind, &mut items);
        }
        if items.len() < said {
            keep_field(portable, kind);
        }
        if !items.is_empty() || kind.form().is_list() && said == 0 && !is_ignored {
            set_items(&mut task, kind, items);
        }
    }
    task
}

fn set_items(task: &mut Task<'static>, kind: FieldKind, items: Vec<Item<'static>>) {
    if kind == FieldKind::Complexity {
        task.complexity = items.first().and_then(|item| item.text.parse().ok());
    }
    *task.fields.slot(kind) = Some(items.into());
}

/// Retains those `items` that are read back as intended from the field `kind` of `task`, a field that is still empty.
fn retain_readable(task: &Task<'static>, kind: FieldKind, items: &mut Vec<Item<'static>>) {
    let is_readable = |items: &[Item<'static>]| {
        let mut alone = titled_task(&task.id, &task.description);
        set_items(&mut alone, kind, items.to_vec());
        reads_back(&alone)
    };
    if kind == FieldKind::Description && !is_readable(items) {
        for item in items.iter_mut() {
            item.text = one_line(&item.text).into();
        }
    }
    items.retain(|item| is_readable(std::slice::from_ref(item)));
}

fn keep_field(task: &mut PortableTask, kind: FieldKind) {
    let value = task.field_json(kind).unwrap_or_default();
    keep_unwritten(task, &kind.key(), value);
}

/// Stores a value that the tree can't hold.
fn keep_unwritten(task: &mut PortableTask, name: &str, value: Value) {
    let unwritten = task
        .ext
        .entry(UNWRITTEN)
        .or_insert_with(|| Map::new().into());
    unwritten[name] = value;
}

/// `item` in a form that a tree can hold; `None` if it has no content.
fn clean_item(kind: FieldKind, item: &Item<'_>) -> Option<Item<'static>> {
    let text = match kind.form() {
        FieldForm::Prose => clean_lines(&item.text),
        FieldForm::Choice(_) => one_line(&item.text).to_lowercase(),
        _ => one_line(&item.text),
    };
    let note = item.note.as_deref().map(one_line);
    let note = note.filter(|note| !note.is_empty());
    (!says_nothing(&text)).then(|| Item {
        note: note.map(Into::into),
        ..text_item(text)
    })
}

/// True if the task, and another one written after it, are both read back as intended.
fn reads_back(task: &Task<'static>) -> bool {
    let next = titled_task("next", "The task behind it");
    let root = titled_task("root", "Plan");
    text_of(&tree_of(root, vec![(task.clone(), None), (next, None)])).is_some()
}

/// The text of `plan`; `None` if it would be read back as a different plan.
fn text_of(plan: &Plan<'_>) -> Option<String> {
    let text = write(plan);
    let (again, findings) = parse(&text);
    let is_same = findings.is_empty() && difference(plan, &again).is_none();
    is_same.then_some(text)
}

fn titled_task(id: &str, title: &str) -> Task<'static> {
    Task {
        id: id.to_owned().into(),
        description: title.to_owned().into(),
        ..Task::default()
    }
}

/// A title that is read back as a title: `text`, `text` in quotation marks, or one made from the id.
fn readable_title(text: &str, id: &str) -> String {
    let forms = [text.to_owned(), format!("“{text}”")];
    forms
        .into_iter()
        .find(|title| !text.is_empty() && reads_back(&titled_task(id, title)))
        .unwrap_or_else(|| format!("Task {id}"))
}

/// Builds the tree of `tasks` below `root`, in document order. Each task comes with the position of its parent in
/// `tasks`.
fn tree_of(root: Task<'static>, tasks: Vec<(Task<'static>, Option<usize>)>) -> Plan<'static> {
    let mut all = vec![root];
    for (task, parent) in tasks {
        let (index, parent) = (all.len(), parent.map_or(0, |parent| parent + 1));
        let depth = all[parent].depth + 1;
        all[parent].children.push(index);
        all.push(Task {
            parent: Some(parent),
            depth,
            ..task
        });
    }
    Plan {
        tasks: all,
        root: Some(0),
        ..Plan::default()
    }
}

/// Returns the text of the whole tree. If it would be read as a different tree although each task alone is read
/// correctly, the tasks lose all fields except their dependencies.
fn write_readable(plan: &mut PortablePlan, ids: &[String]) -> String {
    let title = one_line(&plan.title);
    let title = if title.is_empty() {
        "Imported plan".to_owned()
    } else {
        readable_title(&title, "root")
    };
    let mut root = titled_task("root", &title);
    let about = plan.ext.get("root");
    if let Some(complexity) = about.and_then(|root| root.get("complexity")?.as_u64()) {
        let complexity = text_item(complexity.to_string());
        set_items(&mut root, FieldKind::Complexity, vec![complexity]);
    }
    let setup = about.and_then(|root| root.get("setup")?.as_array());
    let setup = setup.into_iter().flatten().filter_map(|line| line.as_str());
    let setup = setup.filter_map(|line| clean_item(FieldKind::Setup, &text_item(line.to_owned())));
    let mut setup: Vec<Item<'static>> = setup.collect();
    retain_readable(&root, FieldKind::Setup, &mut setup);
    if !setup.is_empty() {
        set_items(&mut root, FieldKind::Setup, setup);
    }
    let mut positions = HashMap::new();
    for (at, task) in plan.tasks.iter().enumerate() {
        positions.entry(task.id.clone()).or_insert(at);
    }
    let mut drafted = Vec::with_capacity(plan.tasks.len());
    let children = children_of(plan);
    for (at, portable) in plan.tasks.iter_mut().enumerate() {
        let mut task = readable_task(portable, &ids[at], !children[at].is_empty());
        let known = |list: &Vec<String>| -> Vec<Item<'static>> {
            let known = list.iter().filter_map(|id| positions.get(id));
            known.map(|&at| text_item(ids[at].clone())).collect()
        };
        let edges = [
            (FieldKind::Dependencies, &portable.dependencies),
            (FieldKind::After, &portable.after),
        ];
        for (kind, list) in edges {
            *task.fields.slot(kind) = list.as_ref().map(|list| known(list).into());
        }
        drafted.push((task, portable.parent));
    }
    if let Some(text) = text_of(&tree_of(root.clone(), drafted.clone())) {
        return text;
    }
    for ((task, _), portable) in drafted.iter_mut().zip(&mut plan.tasks) {
        for kind in FieldKind::ALL {
            if portable.fields.get(kind).is_some() {
                keep_field(portable, kind);
                *task.fields.slot(kind) = None;
            }
        }
    }
    write(&tree_of(root, drafted))
}

/// True if a tree reads this text as an empty field.
fn says_nothing(text: &str) -> bool {
    let bare = text.trim().trim_matches(['*', '_', '`', '(', ')', '.']);
    bare.is_empty() || bare.eq_ignore_ascii_case("none")
}

/// `text` with its line breaks, but without control characters and without trailing or surrounding blanks.
fn clean_lines(text: &str) -> String {
    let text = text
        .replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\t', "    ");
    let lines = text
        .split('\n')
        .map(|line| line.replace(char::is_control, " ").trim_end().to_owned());
    lines
        .skip_while(String::is_empty)
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use fp_plan::plan::format;

    /// Parses the tree of a draft, and asserts that it is canonical.
    fn tree(draft: &PlanDraft) -> Plan<'_> {
        let (tree, findings) = parse(&draft.text);
        assert_eq!(findings, [], "{}", draft.text);
        assert_eq!(format(&draft.text).as_ref(), Ok(&draft.text));
        tree
    }

    fn task(id: &str, title: &str) -> PortableTask {
        PortableTask {
            id: id.into(),
            title: title.into(),
            ..PortableTask::default()
        }
    }

    fn with_texts(mut task: PortableTask, kind: FieldKind, texts: &[&str]) -> PortableTask {
        task.add_texts(kind, texts.iter().map(|text| (*text).to_owned()));
        task
    }

    #[test]
    fn a_plan_without_a_title_has_one() {
        let plan = PortablePlan {
            tasks: vec![task("1", "")],
            ..PortablePlan::default()
        };
        let draft = PlanDraft::new(plan);
        assert_eq!(
            draft.text,
            "# Task Decomposition\n\n## Root Task\n- [ID: root] Imported plan\n\n### Subtasks\n- [ID: 1] Task 1\n"
        );
    }

    #[test]
    fn what_can_not_be_written_is_kept() {
        let hostile = task("x", "(Complexity: 99)");
        let hostile = with_texts(hostile, FieldKind::Risk, &["cosmic"]);
        let hostile = with_texts(
            hostile,
            FieldKind::Acceptance,
            &["It is there", "none", "  "],
        );
        let plan = PortablePlan {
            title: "T".into(),
            tasks: vec![hostile],
            ..PortablePlan::default()
        };
        let draft = PlanDraft::new(plan);
        let tree = tree(&draft);
        assert_eq!(
            tree.tasks[1].acceptance().collect::<Vec<_>>(),
            ["It is there"]
        );
        let origin = draft.origin(SourceFormat::Json, "x.json", Timestamp::UNIX_EPOCH);
        let origin: Value = serde_json::from_str(&origin).unwrap();
        assert_eq!(
            origin["tasks"]["x"]["ext"][UNWRITTEN],
            json!({ "title": "(Complexity: 99)" })
        );
        // `fp validate` reports that it isn't a valid risk.
        let risk = tree.tasks[1].fields.value(FieldKind::Risk);
        assert_eq!(risk.map(|item| &*item.text), Some("cosmic"));
        assert_eq!(draft.plan.notices.len(), 1);
    }

    #[test]
    fn a_long_description_stays_whole() {
        let long = "a line of words\n".repeat(100_000);
        let plan = PortablePlan {
            tasks: vec![with_texts(task("1", "A"), FieldKind::Description, &[&long])],
            ..PortablePlan::default()
        };
        let draft = PlanDraft::new(plan);
        let tree = tree(&draft);
        assert_eq!(
            tree.tasks[1].fields.text(FieldKind::Description),
            Some(long.trim())
        );
    }

    #[test]
    fn done_leaves_are_named_as_in_the_tree() {
        let done = |task: PortableTask| PortableTask {
            work: TaskWork::Done {
                commit: Some("abc".into()),
            },
            ..task
        };
        let plan = PortablePlan {
            tasks: vec![
                done(task("p", "P")),
                done(PortableTask {
                    parent: Some(0),
                    ..task("q", "# Q  q")
                }),
            ],
            ..PortablePlan::default()
        };
        let done = PlanDraft::new(plan).done();
        assert_eq!(
            done,
            [(
                TaskId::new("1.1").unwrap(),
                "# Q q".into(),
                Some("abc".into())
            )]
        );
    }

    /// Texts with a meaning in Markdown or in a tree, and arbitrary ones.
    fn any_text() -> impl Strategy<Value = String> {
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

    fn any_field() -> impl Strategy<Value = (FieldKind, Vec<Item<'static>>)> {
        let notes = prop::option::of(any_text());
        let items = prop::collection::vec((any_text(), notes), 0..3);
        let kind = prop::sample::select(FieldKind::ALL.to_vec());
        (kind, items, 0..12_u32).prop_map(|(kind, items, number)| {
            let items = items.into_iter().map(|(text, note)| Item {
                note: note.filter(|_| kind == FieldKind::Files).map(Into::into),
                ..text_item(text)
            });
            let most = if kind.form().is_list() { 3 } else { 1 };
            match kind.form() {
                FieldForm::Number => (kind, vec![text_item(number.to_string())]),
                FieldForm::Choice(words) => {
                    let word = words[number as usize % words.len()][0];
                    (kind, vec![text_item(word.to_owned())])
                }
                _ => (kind, items.take(most).collect()),
            }
        })
    }

    fn any_task() -> impl Strategy<Value = PortableTask> {
        let fields = prop::collection::vec(any_field(), 0..8);
        let target = prop_oneof![Just("a".to_owned()), Just("1".to_owned()), any_text()];
        let targets = prop::collection::vec(target, 0..3);
        let parent = any::<prop::sample::Index>();
        (any_text(), any_text(), fields, targets, parent).prop_map(
            |(id, title, fields, targets, parent)| {
                let mut task = PortableTask {
                    parent: Some(parent.index(4)),
                    dependencies: Some(targets),
                    ..task(&id, &title)
                };
                for (kind, items) in fields {
                    let is_list = kind.form().is_list();
                    if kind.form() != FieldForm::Ids && (is_list || !items.is_empty()) {
                        *task.fields.slot(kind) = Some(items.into());
                    }
                }
                task
            },
        )
    }

    pub(crate) fn any_plan() -> impl Strategy<Value = PortablePlan> {
        (any_text(), prop::collection::vec(any_task(), 1..6)).prop_map(|(title, mut tasks)| {
            for (at, task) in tasks.iter_mut().enumerate() {
                task.parent = task.parent.filter(|parent| *parent < at);
            }
            PortablePlan {
                title,
                tasks,
                ..PortablePlan::default()
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// Whatever a plan says, its draft is a canonical tree of the same shape, and everything that isn't in the tree
        /// is kept.
        #[test]
        fn any_plan_is_drafted_and_read_back(plan in any_plan()) {
            let draft = PlanDraft::new(plan);
            let plan = &draft.plan;
            let (tree, findings) = parse(&draft.text);
            prop_assert!(findings.is_empty(), "{:?}\n{}", findings, draft.text);
            let formatted = format(&draft.text);
            prop_assert_eq!(formatted.as_ref(), Ok(&draft.text));
            prop_assert_eq!(tree.tasks.len(), plan.tasks.len() + 1, "{}", draft.text);
            for (task, id) in plan.tasks.iter().zip(&draft.ids) {
                let found = tree.find(id);
                prop_assert!(found.is_some(), "{} is gone:\n{}", id, draft.text);
                let Some(found) = found else { continue };
                let parent = task.parent.map_or("root", |parent| draft.ids[parent].as_str());
                prop_assert_eq!(found.parent.map(|parent| &*tree.tasks[parent].id), Some(parent));
                let complexity = task.fields.text(FieldKind::Complexity).and_then(|text| text.parse().ok());
                prop_assert_eq!(found.complexity, complexity);
                let kept = serde_json::to_string(&task.ext).unwrap_or_default();
                for criterion in task.fields.items(FieldKind::Acceptance).iter().map(|item| &*item.text) {
                    let line = one_line(criterion);
                    let encoded = json!(criterion).to_string();
                    prop_assert!(says_nothing(&line) || found.acceptance().any(|text| text == line) || kept.contains(&encoded), "{:?} is lost:\n{}", criterion, draft.text);
                }
            }
        }
    }

    #[test]
    fn the_ids_of_the_source_where_they_are_right() {
        let check = |tasks: &[(&str, Option<usize>)], expect: &[&str]| {
            let task = |(id, parent): &(&str, Option<usize>)| PortableTask {
                id: (*id).into(),
                parent: *parent,
                ..PortableTask::default()
            };
            let plan = PortablePlan {
                tasks: tasks.iter().map(task).collect(),
                ..PortablePlan::default()
            };
            let expect: Vec<String> = expect.iter().map(|id| (*id).to_owned()).collect();
            assert_eq!(assign_ids(&plan), expect, "{tasks:?}");
        };
        check(
            &[("1", None), ("1.1", Some(0)), ("2", None)],
            &["1", "1.1", "2"],
        );
        check(&[("T001", None), ("T002", None)], &["T001", "T002"]);
        check(
            &[("PLAN-001", None), ("IMPL-001", None)],
            &["PLAN-001", "IMPL-001"],
        );
        check(
            &[("bd-a1b2", None), ("bd-a1b2.1", Some(0))],
            &["bd-a1b2", "bd-a1b2.1"],
        );
        check(&[("bd-a1b2", None), ("bd-c3", Some(0))], &["1", "1.1"]);
        check(&[("a", None), ("A", None)], &["1", "2"]);
        check(&[("x y", None), ("../..", None)], &["1", "2"]);
        check(&[("1", None), ("1", None)], &["1", "2"]);
        check(&[("none", None)], &["1"]);
    }
}
